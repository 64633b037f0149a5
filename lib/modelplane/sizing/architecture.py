"""The model of a config.json: which fields of which architecture make its layers.

An architecture that is not in `_FAMILIES` is refused, because a formula that is nearly right is wrong by gigabytes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeAlias

from modelplane.errors import InvalidInput, Unsupported
from modelplane.sizing import attention, encoders, feedforward, vision
from modelplane.sizing.fields import CONTEXT_MAX, LAYERS_MAX, Fields, shown
from modelplane.sizing.model import Attention, Cache, CacheKind, Layer, Model, Rule

Json: TypeAlias = Any
Builder: TypeAlias = Callable[[Fields, int, int], tuple[Layer, ...]]
"""Layers of a text configuration with its hidden size and number of layers."""

_NEXTN = "its layers for predicting several tokens (MTP) are not counted: an engine loads them for speculation only"


def read(config: Json) -> Model:
    """Return the model of a config.json.

    Raises: InvalidInput with the field, and Unsupported for an architecture without a known formula.
    """
    if not isinstance(config, Mapping):
        raise InvalidInput(f"must be an object with the fields of a config.json, not {shown(config)}")
    whole = Fields(config)
    fields = whole.inner("text_config") or whole
    kind = fields.text("model_type") or whole.text("model_type")
    family = _FAMILIES.get(kind)
    if family is None:
        raise _unknown(kind, whole)
    hidden, heads = fields.size("hidden_size"), fields.size("num_attention_heads")
    layers = family(fields, hidden, _count(fields))
    vocabulary = fields.size("vocab_size")
    kv_heads = max((layer.cache.heads for layer in layers), default=0) or heads
    found = Model(
        kind=kind,
        layers=layers,
        embedding=vocabulary * hidden,
        head=0 if _is_tied(kind, fields, whole) else vocabulary * hidden,
        vision=vision.parameters(whole),
        other=hidden + encoders.beside(kind, fields, hidden),
        vocabulary=vocabulary,
        heads=heads,
        kv_heads=kv_heads,
        widest=feedforward.widest(fields, hidden, layers),
        context=encoders.context(kind, fields),
        rules=tuple(_rules(fields, heads, layers)),
    )
    return replace(found, notes=tuple(_notes(whole, fields)))


def known() -> tuple[str, ...]:
    """Return the architectures with a formula, by the word of `model_type`."""
    return tuple(sorted(_FAMILIES))


def _unknown(kind: str, whole: Fields) -> InvalidInput | Unsupported:
    if not kind:
        return whole.wrong("is missing; it names the architecture, for example llama", "model_type")
    lacking = _LACKING.get(kind, "the formula of its parameters and of its cache")
    return Unsupported(
        f"model_type: {kind[:60]!r} is an architecture whose memory is not known here: it lacks {lacking}; "
        f"known are {', '.join(known())}"
    )


def _count(fields: Fields) -> int:
    for name in ("layers_block_type", "hybrid_override_pattern"):
        value = fields.data.get(name)
        if isinstance(value, str | list) and value and not fields.has("num_hidden_layers"):
            if len(value) > LAYERS_MAX:
                raise fields.wrong(f"has {len(value)} layers; at most {LAYERS_MAX} are read", name)
            return len(value)
    return fields.size("num_hidden_layers", most=LAYERS_MAX)


def _is_tied(kind: str, fields: Fields, whole: Fields) -> bool:
    default = kind.startswith("gemma") or kind in encoders.KINDS
    return fields.flag("tie_word_embeddings", default=whole.flag("tie_word_embeddings", default=default))


def _notes(whole: Fields, fields: Fields) -> list[str]:
    found = []
    if any(fields.data.get(name) for name in ("num_nextn_predict_layers", "mtp_num_hidden_layers", "num_mtp_modules")):
        found.append(_NEXTN)
    if whole.has("vision_config"):
        found.append("the parameters of its vision encoder are computed from the widths of vision_config")
    return found


def _rules(fields: Fields, heads: int, layers: tuple[Layer, ...]) -> list[Rule]:
    """Return the demands on the tensor size, each once."""
    found = [Rule("num_attention_heads", heads)]
    for layer in layers:
        cache = layer.cache
        if cache.state is not None:
            found.append(Rule("the heads of its state", cache.state.heads))
        elif cache.kind not in (CacheKind.LATENT, CacheKind.NONE):
            found.append(Rule("num_key_value_heads", cache.heads, may_replicate=True))
    return [*dict.fromkeys(found), *feedforward.rules(fields, layers)]


# --- families ---------------------------------------------------------------------------------------------------------


def _widths(fields: Fields, hidden: int) -> tuple[int, int, int]:
    """Return heads, key-value heads and the width of a head."""
    heads = fields.size("num_attention_heads")
    kv_heads = fields.size("num_key_value_heads", default=heads)
    if fields.has("head_dim") or fields.has("attention_head_dim"):
        return heads, kv_heads, fields.size("head_dim", "attention_head_dim")
    if hidden % heads:
        raise fields.wrong(f"is missing, and hidden_size {hidden} is no multiple of {heads} heads", "head_dim")
    return heads, kv_heads, hidden // heads


def _plain(*, bias: bool = False, normed: bool = False, per_layer: bool = False) -> Builder:
    """Return the builder of layers that are all alike: llama, qwen, mixtral and their relatives."""

    def build(fields: Fields, hidden: int, count: int) -> tuple[Layer, ...]:
        heads, kv_heads, width = _widths(fields, hidden)
        norms = (width * (heads + kv_heads) if per_layer else 2 * width) if normed else 0
        is_biased = fields.flag("attention_bias", default=bias)
        made = attention.Grouped(
            hidden,
            heads,
            kv_heads,
            width,
            width,
            bias=is_biased,
            out_bias=is_biased and not bias,
            norms=norms + (heads if fields.text("model_type") == "gpt_oss" else 0),
        )
        windows = _windows(fields, count)
        return tuple(
            _layer(fields, hidden, position, made.layer(window=windows[position])) for position in range(count)
        )

    return build


def _layer(fields: Fields, hidden: int, position: int, made: tuple[Attention, Cache]) -> Layer:
    return feedforward.added(Layer(*made, other=2 * hidden), fields, hidden, position)


def _windows(fields: Fields, count: int) -> list[int]:
    """Return the window of each layer, 0 for full attention, by `layer_types`, or `sliding_window` for all."""
    window = fields.size("sliding_window", default=0, least=0, most=CONTEXT_MAX)
    kinds = fields.items("layer_types")
    if kinds is None:
        applies = fields.flag("use_sliding_window", default=fields.text("model_type") in ("mistral", "mixtral"))
        return [window if applies else 0] * count
    if len(kinds) != count:
        raise fields.wrong(f"has {len(kinds)} entries for {count} layers", "layer_types")
    found = []
    for position, kind in enumerate(kinds):
        if kind not in ("full_attention", "sliding_attention"):
            raise fields.wrong(f"is an unknown kind of attention: {shown(kind)}", "layer_types", position)
        if kind == "sliding_attention" and not window:
            raise fields.wrong("is missing, though layer_types names sliding_attention", "sliding_window")
        found.append(window if kind == "sliding_attention" else 0)
    return found


def _deepseek(fields: Fields, hidden: int, count: int) -> tuple[Layer, ...]:
    heads = fields.size("num_attention_heads")
    indexed = fields.has("index_head_dim")
    kinds = fields.items("indexer_types")
    if kinds is not None and len(kinds) != count:
        raise fields.wrong(f"has {len(kinds)} entries for {count} layers", "indexer_types")
    made = {
        has: attention.latent(fields, hidden, heads, is_sparse=indexed, has_index=has)
        for has in (False, True)[: 1 + indexed]
    }
    return tuple(
        _layer(fields, hidden, position, made[indexed and (kinds is None or kinds[position] != "shared")])
        for position in range(count)
    )


def _llama4(fields: Fields, hidden: int, count: int) -> tuple[Layer, ...]:
    heads, kv_heads, width = _widths(fields, hidden)
    made = attention.Grouped(hidden, heads, kv_heads, width, width)
    chunk = fields.size("attention_chunk_size", default=0, least=0, most=CONTEXT_MAX)
    whole = fields.items("no_rope_layers")
    if whole is not None and len(whole) not in (0, count):
        raise fields.wrong(f"has {len(whole)} entries for {count} layers", "no_rope_layers")
    found = []
    for position in range(count):
        # every fourth layer has no rotary embedding and attends to all; the list says 0 for it
        is_chunked = bool(whole[position]) if whole else (position + 1) % 4 != 0
        found.append(_layer(fields, hidden, position, made.layer(chunk=chunk if is_chunked else 0)))
    return tuple(found)


def _gemma4(fields: Fields, hidden: int, count: int) -> tuple[Layer, ...]:
    heads, kv_heads, width = _widths(fields, hidden)
    for name in ("num_kv_shared_layers", "hidden_size_per_layer_input"):
        if fields.size(name, default=0, least=0):
            raise Unsupported(f"{name}: layers that share caches or have inputs of their own have no formula here yet")
    wide = fields.size("global_head_dim", default=width)
    wide_heads = fields.size("num_global_key_value_heads", default=kv_heads)
    near = attention.Grouped(hidden, heads, kv_heads, width, width, norms=2 * width)
    far = attention.Grouped(hidden, heads, wide_heads, wide, wide, norms=2 * wide)
    found = []
    for position, window in enumerate(_windows(fields, count)):
        made = near.layer(window=window) if window else far.layer()
        layer = feedforward.added(Layer(*made, other=4 * hidden + 1), fields, hidden, position)
        found.append(feedforward.beside_experts(layer, fields, hidden))
    return tuple(found)


def _mimo_v2(fields: Fields, hidden: int, count: int) -> tuple[Layer, ...]:
    pattern = fields.items("hybrid_layer_pattern")
    if pattern is None or len(pattern) != count:
        raise fields.wrong(f"must have an entry for each of {count} layers", "hybrid_layer_pattern")
    kinds = []
    for prefix in ("", "swa_"):
        heads = fields.size(f"{prefix}num_attention_heads")
        made = attention.Grouped(
            hidden,
            heads,
            fields.size(f"{prefix}num_key_value_heads", default=heads),
            fields.size(f"{prefix}head_dim"),
            fields.size(f"{prefix}v_head_dim"),
            norms=heads if prefix else 0,
        )
        kinds.append(made.layer(window=fields.size("sliding_window", most=CONTEXT_MAX) if prefix else 0))
    return tuple(
        _layer(fields, hidden, position, kinds[1 if pattern[position] == 1 else 0]) for position in range(count)
    )


def _qwen_hybrid(fields: Fields, hidden: int, count: int) -> tuple[Layer, ...]:
    heads, kv_heads, width = _widths(fields, hidden)
    is_gated = fields.flag("attn_output_gate", default=True)
    full = attention.Grouped(hidden, heads, kv_heads, width, width, is_gated=is_gated, norms=2 * width).layer()
    linear = attention.delta_net(fields, hidden)
    interval = fields.size("full_attention_interval", default=4, most=LAYERS_MAX)
    kinds = fields.items("layer_types")
    if kinds is not None and len(kinds) != count:
        raise fields.wrong(f"has {len(kinds)} entries for {count} layers", "layer_types")
    if kinds is None:
        kinds = ["linear_attention" if (place + 1) % interval else "full_attention" for place in range(count)]
    made = {"full_attention": full, "linear_attention": linear}
    found = []
    for position, kind in enumerate(kinds):
        if not isinstance(kind, str) or kind not in made:
            raise fields.wrong(f"is an unknown kind of attention: {shown(kind)}", "layer_types", position)
        found.append(_layer(fields, hidden, position, made[kind]))
    return tuple(found)


_BLOCKS = {"M": "mamba", "*": "attention", "-": "mlp", "E": "moe"}


def _nemotron_h(fields: Fields, hidden: int, count: int) -> tuple[Layer, ...]:
    named: list[Json] | None = fields.items("layers_block_type")
    name = "layers_block_type"
    if named is None:
        name = "hybrid_override_pattern"
        named = [_BLOCKS.get(letter, letter) for letter in fields.text(name)]
    if len(named) != count:
        raise fields.wrong(f"has {len(named)} entries for {count} layers", name)
    nothing = (Attention(), Cache(CacheKind.NONE))
    made = {}
    found = []
    for position, block in enumerate(named):
        if not isinstance(block, str) or block not in _BLOCKS.values():
            raise fields.wrong(f"is an unknown kind of layer: {shown(block)}", name, position)
        if block not in made:
            made[block] = Layer(*nothing, other=hidden)
            if block == "mamba":
                made[block] = Layer(*attention.state_space(fields, hidden), other=hidden)
            elif block == "attention":
                heads, kv_heads, width = _widths(fields, hidden)
                made[block] = Layer(*attention.Grouped(hidden, heads, kv_heads, width, width).layer(), other=hidden)
            else:
                made[block] = feedforward.ungated(made[block], fields, hidden, is_dense=block == "mlp")
        found.append(made[block])
    return tuple(found)


_FAMILIES: Mapping[str, Builder] = {
    "llama": _plain(),
    "mistral": _plain(),
    "mixtral": _plain(),
    "mimo": _plain(bias=True),
    "qwen2": _plain(bias=True),
    "qwen3": _plain(normed=True),
    "qwen3_moe": _plain(normed=True),
    "qwen3_vl_text": _plain(normed=True),
    "qwen3_vl_moe_text": _plain(normed=True),
    "minimax_m2": _plain(normed=True, per_layer=True),
    "gpt_oss": _plain(),
    "llama4_text": _llama4,
    "gemma4_text": _gemma4,
    "mimo_v2_flash": _mimo_v2,
    "deepseek_v2": _deepseek,
    "deepseek_v3": _deepseek,
    "deepseek_v32": _deepseek,
    "kimi_k2": _deepseek,
    "glm_moe_dsa": _deepseek,
    "qwen3_next": _qwen_hybrid,
    "qwen3_5_text": _qwen_hybrid,
    "qwen3_5_moe_text": _qwen_hybrid,
    "nemotron_h": _nemotron_h,
    **dict.fromkeys(sorted(encoders.BERT), encoders.bert),
    "gemma3_text": encoders.gemma,
}

_LACKING: Mapping[str, str] = {
    "deepseek_v4": "the formula of caches that compress several tokens into one",
    "kimi_linear": "the formula of its latent experts and of its linear attention",
    "kimi_k3": "the formula of its latent experts and of its linear attention",
    "minimax_m3": "the formula of its sparse attention",
    "nemotron-nas": "the sizes of layers that differ one by one (block_configs)",
    "mamba": "the formula of a model without attention",
    "t5": "the formula of an encoder with a decoder",
    "modernbert": "the formula of an encoder with local attention",
    "whisper": "the formula of an encoder with a decoder",
}
