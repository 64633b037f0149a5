"""The start of an engine as the sizing of a model sees it: the model and the limits that its arguments say.

Only flags whose effect on the memory is sure are read. One with an effect that is not counted is named, and so is one
that no table knows: a newer engine may have it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from typing import Final

from modelplane import seen
from modelplane.errors import InvalidInput
from modelplane.render import authored, pods, weights
from modelplane.render.arguments import Words
from modelplane.sizing import catalogue
from modelplane.sizing.verdict import Start
from modelplane.workload.model import EngineType, Model, RoleSpec

_WHOLE = 10_000
_TOKENS_MAX, _SEQUENCES_MAX = 2048, 256
"""The smallest batch of an engine's defaults; a larger one that the author asks for takes more than is counted."""
_UNITS = {"": 1, "k": 1000, "m": 10**6, "g": 10**9, "K": 2**10, "M": 2**20, "G": 2**30}
_DIGITS_MAX = 9
_PARTITION = "_PP_LAYER_PARTITION"
"""The end of the variable with which engines are told how to split layers over a pipeline."""


_OF_ENCODERS: Final = frozenset({"--runner", "--is-embedding"})
"""Flags that tell an engine to embed. They change nothing of a model that can do nothing else."""


@dataclass(frozen=True, slots=True)
class _Meanings:
    """The flags of an engine that decide its memory, by what they mean; empty where it has none.

    `limits` is the flag of the longest request, `demands` whether the engine demands room for one. `lessen`, `add` and
    `change` are the flags with an effect that is not counted, and with one that is `undemanding` nobody demands room
    for the longest request. `quantized` is what values of `quantizes` make of weights of 16 bits. `most` is the share
    that the engine takes if nothing is said.
    """

    limits: str
    demands: bool
    share: str = ""
    quantizes: str = ""
    loads: str = ""
    cache: str = ""
    tokens: str = ""
    sequences: str = ""
    precision: str = ""
    most: int = _WHOLE
    lessen: frozenset[str] = frozenset()
    add: frozenset[str] = frozenset()
    change: frozenset[str] = frozenset()
    undemanding: frozenset[str] = frozenset()
    quantized: Mapping[str, str | None] = field(default_factory=dict)


_UNCLEAR: Final = ""
_PUBLISHED = dict.fromkeys(
    ("mxfp4", "gpt_oss_mxfp4", "modelopt", "modelopt_fp4", "compressed-tensors", "compressed_tensors")
)
_FORMATS: Final = frozenset(
    {"auto", "safetensors", "pt", "npcache", "fastsafetensors", "instanttensor"}
    | {"runai_streamer", "runai_streamer_sharded", "sharded_state"}
)
"""Formats of files that hold the weights as they are published."""

MEANINGS: Final[Mapping[EngineType, _Meanings]] = {
    EngineType.VLLM: _Meanings(
        limits="--max-model-len",
        demands=True,
        share="--gpu-memory-utilization",
        quantizes="--quantization",
        loads="--load-format",
        cache="--kv-cache-dtype",
        tokens="--max-num-batched-tokens",
        sequences="--max-num-seqs",
        precision="--dtype",
        most=9200,  # Source: vLLM 0.23 to 0.33, CacheConfig
        quantized={"fp8": "fp8", **_PUBLISHED},
        lessen=frozenset(
            {
                *("--cpu-offload-gb", "--cpu-offload-params", "--offload-backend", "--offload-group-size"),
                *("--offload-num-in-group", "--offload-params", "--offload-prefetch-step", "--engram-config"),
                *("--language-model-only", "--mm-encoder-only", "--limit-mm-per-prompt", "--runner", "--convert"),
            }
        ),
        add=frozenset(
            {
                *("--enable-lora", "--enable-eplb", "--eplb-config", "--speculative-config", "--spec-method"),
                *("--spec-model", "--spec-tokens", "--enable-elastic-ep", "--elastic-ep-max-dp-size", "--enable-dbo"),
                *("--ubatch-size", "--disable-hybrid-kv-cache-manager", "--kv-cache-dtype-skip-layers"),
                *("--mm-encoder-tp-mode", "--mm-ipc-gpu-memory-gb", "--max-logprobs"),
                *("--kv-cache-memory-bytes", "--num-gpu-blocks-override", "--pooler-config", "--diffusion-config"),
            }
        ),
        change=frozenset(
            {
                *("--config", "--config-format", "--hf-config-path", "--hf-overrides", "--model-class-overrides"),
                *("--model-impl", "--model-loader-extra-config", "--quantization-config", "--additional-config"),
                *("--worker-cls", "--worker-extension-cls", "--diffusion-config"),
            }
        ),
        undemanding=frozenset(
            {
                *("--kv-cache-memory-bytes", "--num-gpu-blocks-override", "--kv-sharing-fast-prefill"),
                *("--decode-context-parallel-size", "--prefill-context-parallel-size", "--disable-sliding-window"),
                *("--mamba-cache-dtype", "--mamba-ssm-cache-dtype", "--mamba-cache-mode"),
                "--swa-bounded-replay",
            }
        ),
    ),
    EngineType.SGLANG: _Meanings(
        limits="--context-length",
        demands=False,
        share="--mem-fraction-static",
        quantizes="--quantization",
        loads="--load-format",
        cache="--kv-cache-dtype",
        tokens="--chunked-prefill-size",
        sequences="--max-running-requests",
        precision="--dtype",
        quantized={"fp8": "fp8", **_PUBLISHED},
        lessen=frozenset(
            {
                *("--cpu-offload-gb", "--offload-group-size", "--offload-mode", "--offload-num-in-group"),
                *("--offload-prefetch-step", "--enable-paged-experts", "--paged-experts-num-resident"),
                *("--language-model-only", "--language-only", "--encoder-only", "--is-embedding", "--device"),
                *("--kt-weight-path", "--kt-method", "--kt-num-gpu-experts", "--dwdp-size", "--ple-offload-embedding"),
                *("--moe-dp-size", "--shared-experts-tp-size", "--enable-tp-lm-head-all-to-all"),
            }
        ),
        add=frozenset(
            {
                *("--enable-lora", "--lora-paths", "--enable-eplb", "--ep-num-redundant-experts", "--max-ep-size"),
                *("--speculative-algorithm", "--speculative-draft-model-path", "--enable-two-batch-overlap"),
                *("--moe-dense-tp-size", "--enable-dp-lm-head", "--enable-fp32-lm-head", "--enable-torch-compile"),
                *("--mm-enable-dp-encoder", "--cuda-graph-max-bs", "--max-prefill-tokens", "--enable-dp-attention"),
                *("--enable-shared-experts-attn-tp", "--disable-shared-experts-fusion"),
            }
        ),
        change=frozenset(
            {
                *("--config", "--json-model-override-args", "--model-impl", "--model-loader-extra-config"),
                *("--torchao-config", "--modelopt-quant", "--quantize-and-serve", "--rl-quant-profile"),
                *("--custom-weight-loader", "--decrypted-config-file", "--modelopt-checkpoint-restore-path"),
                *("--model-config-parser", "--flashinfer-mxfp4-moe-precision", "--enable-w4a4-mxfp4-megamoe"),
            }
        ),
    ),
    EngineType.TRTLLM: _Meanings(
        limits="--max_seq_len",
        demands=False,
        cache="--kv_cache_dtype",
        tokens="--max_num_tokens",
        sequences="--max_batch_size",
        add=frozenset(
            {"--enable_attention_dp", "--max_beam_width", "--moe_cluster_parallel_size", "--free_gpu_memory_fraction"}
        ),
        change=frozenset({"--config", "--backend", "--custom_module_dirs", "--enable_visual_gen", "--visual_gen_args"}),
    ),
}
"""The flags that decide the memory, of the engines whose memory is known."""


def of(engine: EngineType, model: Model | None, role: RoleSpec) -> Start | None:
    """Return the start of a role's engine, None where the model, or what the engine does with it, is not known."""
    meanings = MEANINGS.get(engine)
    if meanings is None:
        return None
    _, container = pods.engine_container(role)
    try:
        found = authored.read(engine, container)
    except InvalidInput:
        return None  # refused where it is rendered
    if found is None:
        return None
    named, flags = found
    repository = _repository(model, named)
    if repository is None or catalogue.published(repository) is None:
        return None
    return _read(repository, meanings, flags, engine, role)


def repository(engine: EngineType, model: Model | None, role: RoleSpec) -> str | None:
    """Return the Hugging Face repository that a role's engine fetches, None for another source and an unknown one."""
    named = None
    if weights.source(model).scheme == "":
        try:
            named = authored.served_model(engine, pods.engine_container(role)[1])
        except InvalidInput:
            return None  # refused where it is rendered
    return _repository(model, named)


def _repository(model: Model | None, named: str | None) -> str | None:
    source = weights.source(model)
    path = source.path if source.scheme == weights.HUGGING_FACE else None if source.scheme else named
    return path if path and "$(" not in path else None


def _read(repository: str, meanings: _Meanings, flags: Words, engine: EngineType, role: RoleSpec) -> Start:
    stated = _Stated(flags)
    unknown = {one.spelt.partition("=")[0] for one in flags.given if one.option is None}
    unknown |= stated.any_of(meanings.change)
    _, container = pods.engine_container(role)
    unknown |= {
        name for one in seen.objects(container.get("env")) if (name := seen.text(one.get("name"))).endswith(_PARTITION)
    }
    lessens, adds = stated.any_of(meanings.lessen), stated.any_of(meanings.add)
    entry = catalogue.published(repository)
    if entry is not None and entry.is_encoder and stated.within("--runner", ("pooling", "auto")):
        lessens -= _OF_ENCODERS
    quantized = _quantized(meanings, stated)
    if quantized is _UNCLEAR:
        unknown.add(meanings.quantizes)
    if not stated.within(meanings.loads, _FORMATS):
        unknown.add(meanings.loads)
    if not stated.within(meanings.precision, {"auto", "half", "float16", "bfloat16"}):
        adds.add(meanings.precision)
    for flag, most in ((meanings.tokens, _TOKENS_MAX), (meanings.sequences, _SEQUENCES_MAX)):
        if stated.has(flag) and not 0 < (_tokens(stated.value(flag)) or 0) <= most:
            adds.add(flag)
    if engine is not EngineType.VLLM:
        # Other engines split layers over a pipeline, and experts over data ranks, by rules of their own.
        unknown |= {f"workers.topology.{name}" for name in ("data", "pipeline") if getattr(role.topology, name) > 1}
    context, is_limited = _context(meanings, stated)
    element, is_element = _element(meanings, stated)
    demands = meanings.demands and is_limited and is_element and not stated.any_of(meanings.undemanding)
    return Start(
        repository=repository,
        quantized=quantized or None,
        context=context,
        element=element,
        share=_share(stated.value(meanings.share)),
        share_most=_WHOLE if stated.any_of(meanings.undemanding) or stated.has(meanings.share) else meanings.most,
        lessens=tuple(sorted(lessens | unknown)),
        adds=tuple(sorted(adds | unknown)),
        context_flag=meanings.limits if demands else "",
    )


@dataclass(frozen=True, slots=True)
class _Stated:
    """The flags that the author states. A flag without a name is never stated."""

    flags: Words

    def has(self, flag: str) -> bool:
        """Return whether the flag is stated, and not denied."""
        return bool(flag) and any(not one.negated for one in self.flags.all_of(flag))

    def any_of(self, names: Iterable[str]) -> set[str]:
        """Return those of the flags that are stated."""
        return {name for name in names if self.has(name)}

    def value(self, flag: str) -> str | None:
        """Return the one literal value of a flag, None where it has none."""
        given = self.flags.all_of(flag) if flag else ()
        if not given or not given[-1].is_readable or given[-1].part or len(given[-1].values) != 1:
            return None
        return given[-1].values[0]

    def within(self, flag: str, values: Iterable[str]) -> bool:
        """Return whether the flag is not stated, or has one of the values."""
        return not self.has(flag) or (self.value(flag) or "").lower() in values


def _quantized(meanings: _Meanings, stated: _Stated) -> str | None:
    """Return the precision that the engine makes, None for the published one, `_UNCLEAR` where it is not known."""
    if not stated.has(meanings.quantizes):
        return None
    return meanings.quantized.get((stated.value(meanings.quantizes) or "").lower(), _UNCLEAR)


def _context(meanings: _Meanings, stated: _Stated) -> tuple[int | None, bool]:
    """Return the longest request, and whether it is known: None with True is that of the model."""
    if not stated.has(meanings.limits):
        return None, True
    found = _tokens(stated.value(meanings.limits))
    return found, found is not None


def _element(meanings: _Meanings, stated: _Stated) -> tuple[int | None, bool]:
    """Return the bytes of an element of the cache, None where the model decides, and whether that is known."""
    value = (stated.value(meanings.cache) or "").lower()
    if not stated.has(meanings.cache) or value == "auto":
        return None, True
    if value.startswith("fp8"):
        return 1, True
    return (2, True) if value in ("bfloat16", "bf16", "float16") else (None, False)


def _tokens(text: str | None) -> int | None:
    """Return the number of a text such as 8192, 8k (thousands) or 8K (times 1024), None for another text."""
    if not text:
        return None
    unit = text[-1] if text[-1] in _UNITS else ""
    digits = text.removesuffix(unit) if unit else text
    is_number = digits.isascii() and digits.isdecimal() and len(digits) <= _DIGITS_MAX
    return int(digits) * _UNITS[unit] if is_number and int(digits) else None


def _share(text: str | None) -> int | None:
    """Return the hundredths of a percent that a fraction is, None for a text that is none."""
    try:
        found = Decimal(text) if text is not None and len(text) <= _DIGITS_MAX else None
    except InvalidOperation:
        return None
    if found is None or not found.is_finite() or not 0 < found <= 1:
        return None
    return math.ceil(found * _WHOLE)
