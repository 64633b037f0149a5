"""Bits of the parameters of each class of tensor: as a config.json has them quantized, or as they are asked for.

Quantization names modules that stay as they are, in one of several languages of patterns. A class of tensors counts as
left out when an entry names the module, or a large part of it, in every layer; routers, norms, embeddings and heads are
never quantized.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from modelplane.errors import InvalidInput, Unsupported
from modelplane.sizing.fields import Fields
from modelplane.sizing.model import Model, Part, Rule

GRAIN = 2**14
"""Parts of one bit in which all sizes are whole numbers: a scale of 32 bits for a block of 128 x 128."""
LINEAR = (Part.ATTENTION, Part.MLP, Part.EXPERTS, Part.SHARED)
ASKED = ("bf16", "fp8", "int4")
_IGNORED = ("ignore", "modules_to_not_convert", "exclude_modules", "ignored_layers")
_GROUP_MAX = 2**14
_MOST_PERCENT, _FEW_PERCENT = 80, 5
"""The share of layers that counts as all of them, since some have no such module, and the share that counts as none."""
_MODULES = {
    Part.ATTENTION: ("self_attn", "linear_attn", "attn", "mixer"),
    Part.SHARED: ("shared_experts", "shared_expert", "shared_mlp"),
    Part.EXPERTS: ("experts",),
    Part.MLP: ("mlp",),
}
_WHOLE = frozenset(
    {"", "o_proj", "q_proj", "q_b_proj", "kv_b_proj", "in_proj", "out_proj", "gate_proj", "down_proj"}
    | {"(gate|up|gate_up|down)_proj"}
)
"""The ends of an entry, after the name of a module, that leave out all of it."""


@dataclass(frozen=True, slots=True)
class Precision:
    """Bits of one parameter by class, in grains of a bit. `block` is the side of a quantized block, 0 without one."""

    name: str
    grains: Mapping[Part, int]
    block: int = 0

    def bits(self, part: Part) -> int:
        """Return the grains of a bit of one parameter of the class."""
        return self.grains.get(part, 16 * GRAIN)

    def bytes(self, part: Part, parameters: int) -> int:
        """Return the bytes of that many parameters, rounded up."""
        return -(-parameters * self.bits(part) // (8 * GRAIN))


def asked(name: str) -> Precision:
    """Return the precision that is asked for. Raises: InvalidInput for another word."""
    if name not in ASKED:
        raise InvalidInput(f"precision must be one of {', '.join(ASKED)}, not {name[:40]!r}")
    if name == "bf16":
        return Precision(name, {})
    # fp8 with a scale of 32 bits for a block of 128 x 128; int4 with a scale and a zero point for a group of 128
    bits = 8 * GRAIN + 32 if name == "fp8" else 4 * GRAIN + (16 + 4) * GRAIN // 128
    return Precision(name, dict.fromkeys(LINEAR, bits))


def published(config: Mapping[str, object], model: Model) -> Precision:
    """Return the precision of a config.json. Raises: InvalidInput, and Unsupported for an unknown quantization."""
    whole = Fields(config)
    text = whole.inner("text_config")
    fields = whole.inner("quantization_config") or whole.inner("compression_config")
    if fields is None and text is not None:
        fields = text.inner("quantization_config")
    if fields is None:
        return _unquantized(whole, text)
    method = fields.text("quant_method").lower() or _producer(fields)
    made = _methods(fields, method)
    parts = [part for part in LINEAR if part not in _left_out(fields, len(model.layers))]
    if method == "mxfp4":
        parts = [Part.EXPERTS]
    return replace(made, grains={part: made.grains[part] for part in parts})


def beside(config: Mapping[str, object], quantization: Mapping[str, object]) -> dict[str, object]:
    """Return a config.json with the quantization of the hf_quant_config.json beside it, which ModelOpt writes.

    Raises: InvalidInput where the file has no quantization.
    """
    found = Fields(quantization).inner("quantization")
    if found is None:
        raise Fields(quantization).wrong("is missing", "quantization")
    return {**config, "quantization_config": {**found.data, "quant_method": "modelopt"}}


def rules(model: Model, precision: Precision) -> tuple[Rule, ...]:
    """Return the demands of the model on the tensor size with those of a block-wise quantization."""
    if not precision.block:
        return model.rules
    widths = ("intermediate_size", "intermediate_size_mlp", "the width of an expert")
    return tuple(replace(rule, block=precision.block) if rule.field in widths else rule for rule in model.rules)


def _unquantized(whole: Fields, text: Fields | None) -> Precision:
    known = {"bfloat16": 16, "float16": 16, "float32": 32, "": 16}
    for fields in (whole, text):
        for name in ("torch_dtype", "dtype"):
            if fields is not None and fields.has(name):
                word = fields.text(name).removeprefix("torch.")
                if word not in known:
                    raise fields.wrong(f"must be bfloat16, float16 or float32, not {word[:40]!r}", name)
                # engines load float32 weights as 16 bits
                return Precision("fp16" if word == "float16" else "bf16", {})
    return Precision("bf16", {})


def _producer(fields: Fields) -> str:
    producer = fields.inner("producer")
    return producer.text("name").lower() if producer is not None else ""


def _methods(fields: Fields, method: str) -> Precision:
    """Return what the method makes of every linear layer."""
    if method == "fp8":
        block = fields.items("weight_block_size")
        if not block:
            return Precision("fp8", dict.fromkeys(LINEAR, 8 * GRAIN))
        side = Fields({"weight_block_size": block[0]}, fields.path).size("weight_block_size", most=_GROUP_MAX)
        return Precision("fp8", dict.fromkeys(LINEAR, 8 * GRAIN + -(-32 * GRAIN // (side * side))), side)
    if method == "mxfp4":
        return Precision("mxfp4", dict.fromkeys(LINEAR, 4 * GRAIN + 8 * GRAIN // 32))
    if method in ("gptq", "awq"):
        bits = fields.size("bits", "w_bit", most=16)
        group = fields.size("group_size", "q_group_size", default=128, most=_GROUP_MAX)
        return Precision(f"int{bits}", dict.fromkeys(LINEAR, bits * GRAIN + -(-(16 + bits) * GRAIN // group)))
    if method in ("compressed-tensors", "compressed_tensors", "modelopt", "modelopt_fp4"):
        return _groups(fields)
    raise Unsupported(
        f"quantization_config.quant_method: the size of {method[:40]!r} is not known; "
        f"give --precision {', '.join(ASKED)} to compute with that"
    )


def _groups(fields: Fields) -> Precision:
    """Return the precision of the one group of weights. Raises: Unsupported for several, which differ by module."""
    groups = fields.inner("config_groups")
    if groups is None:
        return _algorithm(fields)
    if len(groups.data) != 1:
        raise Unsupported(
            f"quantization_config.config_groups: {len(groups.data)} groups differ by module, which is not counted; "
            "give --precision to compute with one"
        )
    (name,) = groups.data
    group = groups.inner(str(name))
    weights = group.inner("weights") if group is not None else None
    if weights is None:
        raise groups.wrong("must have an object weights", str(name))
    bits = weights.size("num_bits", most=16)
    width = weights.size("group_size", default=0, least=0, most=_GROUP_MAX)
    is_float = weights.text("type") == "float"
    # a group of floats of 4 bits has a scale of 8 bits (NVFP4, MXFP4); a group of integers one of 16
    scale = (8 if is_float else 16) if width else 0
    word = f"{'fp' if is_float else 'int'}{bits}"
    return Precision(word, dict.fromkeys(LINEAR, bits * GRAIN + (-(-scale * GRAIN // width) if width else 0)))


def _algorithm(fields: Fields) -> Precision:
    word = fields.text("quant_algo").upper()
    known = {"FP8": 8 * GRAIN, "NVFP4": 4 * GRAIN + 8 * GRAIN // 16}
    if word not in known:
        raise Unsupported(
            f"quantization_config.quant_algo: the size of {word[:40]!r} is not known; "
            "give --precision to compute with one"
        )
    return Precision("fp8" if word == "FP8" else "fp4", dict.fromkeys(LINEAR, known[word]))


# --- what stays as it is ----------------------------------------------------------------------------------------------


def _left_out(fields: Fields, layers: int) -> set[Part]:
    """Return the classes that are not quantized: named for all layers at once, or for nearly each of them.

    Raises: Unsupported where a class is left out in some layers, so that it has no one precision.
    """
    whole: set[Part] = set()
    named: dict[Part, set[str]] = {}
    for name in _IGNORED:
        for entry in fields.items(name) or ():
            part = meaning(entry) if isinstance(entry, str) else None
            if part is None:
                continue
            layer = next((word for word in entry.split(".") if word.isdecimal()), "")
            if layer:
                named.setdefault(part, set()).add(layer)
            else:
                whole.add(part)
    for part, found in named.items():
        if 100 * len(found) >= _MOST_PERCENT * layers:
            whole.add(part)
        elif part not in whole and 100 * len(found) > _FEW_PERCENT * layers:
            raise Unsupported(
                f"quantization_config: {part} is quantized in some layers only ({len(found)} of {layers} are left out)"
                ", which is not counted; give --precision to compute with one"
            )
    return whole


def meaning(entry: str) -> Part | None:
    """Return the class of tensors that an entry leaves out as a whole, None for anything else."""
    words = _words(entry)
    for part, modules in _MODULES.items():
        for module in modules:
            if module in words:
                rest = "".join(words[words.index(module) + 1 :])
                return part if rest in _WHOLE else None
    return None


def _words(entry: str) -> list[str]:
    """Return the parts of a dotted name or pattern, without what matches anything."""
    plain = entry[:500].removeprefix("re:").replace("\\.", ".").replace("$", "").replace("^", "")
    words: Iterable[str] = (word.strip("*") for word in plain.split("."))
    return [word for word in words if word]
