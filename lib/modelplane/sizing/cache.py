"""Bytes of the cache: of one token, of one sequence, on one rank.

Source: vLLM 0.33, KVCacheSpec and its subclasses (v1/kv_cache_interface.py), block for block. The padding that makes
the pages of different layers equal is not counted.
"""

from __future__ import annotations

from typing import Final

from modelplane.errors import InvalidInput
from modelplane.sizing.model import Cache, CacheKind, State

BLOCK: Final = 16
"""Tokens of a block, in which engines give out the cache. Source: vLLM, the default of --block-size."""
ELEMENT_BYTES: Final = {"bf16": 2, "fp8": 1}
_STATE_CONVOLUTION_BYTES = 2
_SCALED = 128
"""Elements of a packed latent vector with one scale of four bytes. Source: vLLM, fp8_ds_mla."""


def element_bytes(precision: str) -> int:
    """Return the bytes of one element of the cache. Raises: InvalidInput for an unknown precision."""
    found = ELEMENT_BYTES.get(precision)
    if found is None:
        raise InvalidInput(f"precision of the cache must be one of {', '.join(ELEMENT_BYTES)}, not {precision[:40]!r}")
    return found


def token_bytes(cache: Cache, tensor: int, element: int) -> int:
    """Return the bytes that one token takes in this layer on one of `tensor` ranks.

    Each rank has at least one of the key-value heads. A latent vector stands whole on every rank.
    """
    if cache.kind in (CacheKind.STATE, CacheKind.NONE):
        return 0
    if cache.kind is CacheKind.LATENT:
        if cache.is_sparse and element == 1:
            return cache.key + -(-cache.key // _SCALED) * 4 + cache.value * 2 + cache.beside
        return (cache.key + cache.value) * element + cache.beside
    return max(1, cache.heads // tensor) * (cache.key + cache.value) * element


def blocks(cache: Cache, tokens: int, in_flight: int = 1) -> int:
    """Return the blocks of one sequence of so many tokens, of which `in_flight` are being computed."""
    if cache.kind is CacheKind.SLIDING:
        return -(-min(cache.window - 1 + in_flight, tokens) // BLOCK) + 1
    if cache.kind is CacheKind.CHUNKED:
        return -(-min(cache.window + in_flight, tokens) // BLOCK)
    return -(-tokens // BLOCK)


def sequence_bytes(cache: Cache, tokens: int, tensor: int, element: int) -> int:
    """Return the bytes of one sequence in this layer on one of `tensor` ranks."""
    if cache.state is not None:
        return state_bytes(cache.state, tensor)
    return blocks(cache, tokens) * BLOCK * token_bytes(cache, tensor, element)


def batch_bytes(cache: Cache, batch: int, tensor: int, element: int) -> int:
    """Return the bytes that a batch of tokens takes beside the windows of its sequences: freed when it is computed."""
    if cache.kind not in (CacheKind.SLIDING, CacheKind.CHUNKED):
        return 0
    return -(-batch // BLOCK) * BLOCK * token_bytes(cache, tensor, element)


def state_bytes(state: State, tensor: int) -> int:
    """Return the bytes of a state on one of `tensor` ranks. Groups are copied so that each rank has all it needs."""
    missing = tensor - state.groups if state.groups and state.groups % tensor else 0
    channels = -(-(state.convolved + missing * state.group_width) // tensor)
    heads = -(-state.heads // tensor)
    return channels * (state.kernel - 1) * _STATE_CONVOLUTION_BYTES + heads * state.per_head * state.element_bytes
