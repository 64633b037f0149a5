"""Parameters and cache of the attention of one layer, by kind.

Source: the model classes of transformers and vLLM for each architecture; the widths of the cache are those of vLLM's
KVCacheSpec, which a suite evaluates.
"""

from __future__ import annotations

from dataclasses import dataclass

from modelplane.sizing.fields import Fields
from modelplane.sizing.model import Attention, Cache, CacheKind, State

_INDEX_BLOCK = 128
"""Elements of an index vector with one scale of four bytes. Source: vLLM, DeepseekV32IndexerCache."""


@dataclass(frozen=True, slots=True)
class Grouped:
    """Attention with keys and values for each of `kv_heads` (MHA, GQA, MQA).

    `is_gated` is a second output of the query projection. `norms` is the parameters of norms of queries and keys, and
    of other parameters of single heads.
    """

    hidden: int
    heads: int
    kv_heads: int
    key: int
    value: int
    is_gated: bool = False
    bias: bool = False
    out_bias: bool = False
    norms: int = 0

    def layer(self, *, window: int = 0, chunk: int = 0) -> tuple[Attention, Cache]:
        """Return one layer over all tokens, over a window or over chunks of them."""
        queries = self.heads * self.key * (2 if self.is_gated else 1)
        split = self.hidden * queries + self.heads * self.value * self.hidden + (queries if self.bias else 0)
        width = self.key + self.value
        per_head = self.hidden * width + (width if self.bias else 0)
        whole = (self.hidden if self.out_bias else 0) + self.norms
        kind = CacheKind.SLIDING if window else CacheKind.CHUNKED if chunk else CacheKind.FULL
        cache = Cache(kind, self.kv_heads, self.key, self.value, window or chunk)
        return Attention(split, whole, per_head, self.kv_heads), cache


def latent(fields: Fields, hidden: int, heads: int, *, is_sparse: bool, has_index: bool) -> tuple[Attention, Cache]:
    """Return attention over compressed keys and values (MLA), with sparse attention (DSA) if `is_sparse`.

    `has_index` is false for a layer that takes the choice of another one.
    """
    low, rope = fields.size("kv_lora_rank"), fields.size("qk_rope_head_dim")
    nope, value = fields.size("qk_nope_head_dim"), fields.size("v_head_dim")
    queries = fields.size("q_lora_rank", default=0, least=0)
    split = low * heads * (nope + value) + heads * value * hidden
    whole = hidden * (low + rope) + low
    if queries:
        split += queries * heads * (nope + rope)
        whole += hidden * queries + queries
    else:
        split += hidden * heads * (nope + rope)
    beside = 0
    if has_index:
        width, index_heads = fields.size("index_head_dim"), fields.size("index_n_heads")
        whole += (queries or hidden) * index_heads * width + hidden * (width + index_heads) + 2 * width
        beside = width + width // _INDEX_BLOCK * 4
    return Attention(split, whole), Cache(CacheKind.LATENT, 1, low, rope, beside=beside, is_sparse=is_sparse)


def delta_net(fields: Fields, hidden: int) -> tuple[Attention, Cache]:
    """Return linear attention with a gated delta rule (Qwen3-Next, Qwen3.5)."""
    keys, values = fields.size("linear_num_key_heads"), fields.size("linear_num_value_heads")
    key, value = fields.size("linear_key_head_dim"), fields.size("linear_value_head_dim")
    kernel = fields.size("linear_conv_kernel_dim", most=1024)
    channels = 2 * keys * key + values * value
    split = hidden * (channels + values * value + 2 * values) + channels * kernel + 2 * values + values * value * hidden
    state = State(channels, kernel, values, key * value, _state_bytes(fields, "mamba_ssm_dtype"))
    return Attention(split, value), Cache(CacheKind.STATE, state=state)


def state_space(fields: Fields, hidden: int) -> tuple[Attention, Cache]:
    """Return a Mamba-2 layer."""
    heads, width = fields.size("mamba_num_heads"), fields.size("mamba_head_dim")
    size, groups = fields.size("ssm_state_size"), fields.size("n_groups")
    kernel = fields.size("conv_kernel", most=1024)
    inner = heads * width
    channels = inner + 2 * groups * size
    split = hidden * (inner + channels + heads) + channels * (kernel + 1) + 3 * heads + inner + inner * hidden
    state = State(
        channels, kernel, heads, width * size, _state_bytes(fields, "mamba_ssm_cache_dtype"), groups, 2 * size
    )
    return Attention(split), Cache(CacheKind.STATE, state=state)


def _state_bytes(fields: Fields, name: str) -> int:
    kinds = {"": 2, "auto": 2, "bfloat16": 2, "float16": 2, "float32": 4}
    word = fields.text(name)
    if word not in kinds:
        raise fields.wrong(f"must be one of {', '.join(kind for kind in kinds if kind)}, not {word[:40]!r}", name)
    return kinds[word]
