"""Bytes of the cache: of each kind of attention, on each rank, block for block."""

from __future__ import annotations

import pytest

from modelplane.errors import InvalidInput
from modelplane.sizing import architecture, cache, catalogue
from modelplane.sizing.model import Cache, CacheKind

MODELS = catalogue.read()


# Bytes of one token in bf16. Source: the formula of each architecture with the numbers of its config.json, by hand.
@pytest.mark.parametrize(
    ("name", "amount"),
    [
        ("meta-llama/Meta-Llama-3.1-8B", 2 * 32 * 8 * 128 * 2),
        ("meta-llama/Meta-Llama-3.1-405B", 516096),
        ("Qwen/Qwen3-8B", 147456),
        ("Qwen/Qwen3-235B-A22B", 192512),
        ("deepseek-ai/DeepSeek-V3", 61 * (512 + 64) * 2),
        ("deepseek-ai/DeepSeek-V3.2", 61 * ((512 + 64) * 2 + 128 + 4)),
        ("zai-org/GLM-5.2", 78 * (512 + 64) * 2 + 21 * 132),
        ("openai/gpt-oss-120b", 2 * 36 * 8 * 64 * 2),
        ("Qwen/Qwen3.5-397B-A17B", 2 * 15 * 2 * 256 * 2),
        ("nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16", 2 * 6 * 2 * 128 * 2),
        ("XiaomiMiMo/MiMo-V2-Flash", (9 * 4 + 39 * 8) * (192 + 128) * 2),
    ],
)
def test_a_token_takes(name: str, amount: int) -> None:
    layers = architecture.read(MODELS[name].config).layers
    assert sum(cache.token_bytes(layer.cache, 1, 2) for layer in layers) == amount


FULL = Cache(CacheKind.FULL, heads=4, key=128, value=128)
LATENT = Cache(CacheKind.LATENT, heads=1, key=512, value=64)


@pytest.mark.parametrize(("tensor", "heads"), [(1, 4), (2, 2), (4, 1), (8, 1), (16, 1)])
def test_each_rank_has_a_head_however_many_ranks_there_are(tensor: int, heads: int) -> None:
    assert cache.token_bytes(FULL, tensor, 2) == heads * 256 * 2


def test_a_latent_vector_stands_on_every_rank() -> None:
    assert {cache.token_bytes(LATENT, tensor, 2) for tensor in (1, 2, 8)} == {1152}


def test_a_sparse_one_is_packed_when_it_is_quantized() -> None:
    sparse = Cache(CacheKind.LATENT, heads=1, key=512, value=64, beside=132, is_sparse=True)
    assert cache.token_bytes(sparse, 1, 1) == 656 + 132
    assert cache.token_bytes(LATENT, 1, 1) == 576


@pytest.mark.parametrize(
    ("kind", "window", "tokens", "blocks"),
    [
        pytest.param(CacheKind.FULL, 0, 1, 1, id="one token takes a block"),
        pytest.param(CacheKind.FULL, 0, 16, 1, id="a full block"),
        pytest.param(CacheKind.FULL, 0, 17, 2, id="one more"),
        pytest.param(CacheKind.SLIDING, 128, 10_000, 9, id="the window, and the block it begins in"),
        pytest.param(CacheKind.SLIDING, 128, 16, 2, id="less than the window"),
        pytest.param(CacheKind.CHUNKED, 8192, 100_000, 513, id="the chunk"),
    ],
)
def test_blocks_of_a_sequence(kind: CacheKind, window: int, tokens: int, blocks: int) -> None:
    assert cache.blocks(Cache(kind, 1, 1, 1, window), tokens) == blocks


def test_a_state_has_one_size_and_is_split() -> None:
    (linear, *_) = architecture.read(MODELS["Qwen/Qwen3.5-397B-A17B"].config).layers
    whole = cache.sequence_bytes(linear.cache, 1, 1, 2)
    assert whole == 12288 * 3 * 2 + 64 * 128 * 128 * 4 == cache.sequence_bytes(linear.cache, 10**6, 1, 2)
    assert cache.sequence_bytes(linear.cache, 1, 8, 2) * 8 == whole


def test_groups_of_a_state_are_copied_where_there_are_fewer_than_ranks() -> None:
    (mamba, *_) = architecture.read(MODELS["nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16"].config).layers
    assert mamba.cache.state is not None
    assert cache.state_bytes(mamba.cache.state, 8) == (6144 // 8) * 3 * 2 + 8 * 64 * 128 * 4
    assert cache.state_bytes(mamba.cache.state, 16) == ((6144 + 8 * 256) // 16) * 3 * 2 + 4 * 64 * 128 * 4


def test_an_unknown_precision_is_refused() -> None:
    with pytest.raises(InvalidInput, match="precision of the cache must be one of bf16, fp8, not 'fp3'"):
        cache.element_bytes("fp3")
