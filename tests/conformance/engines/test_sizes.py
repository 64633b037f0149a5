"""The arithmetic of memory is that of vLLM's own code, and the catalogue is what its source says."""

from __future__ import annotations

import ast
import json
import random
from functools import cache as kept
from typing import Any

import pytest

from modelplane.sizing import architecture, cache, need
from modelplane.sizing import catalogue as published
from modelplane.sizing.model import Cache, CacheKind, State
from modelplane.sizing.need import GIB
from tests.conformance.engines import catalogue, sources

Json = Any
VERSIONS = sources.VERSIONS["vllm"]
every_version = pytest.mark.parametrize("version", VERSIONS)
CASES = 300
_KINDS = {
    "full": CacheKind.FULL,
    "sliding": CacheKind.SLIDING,
    "chunked": CacheKind.CHUNKED,
    "latent": CacheKind.LATENT,
}


def _chance() -> random.Random:
    return random.Random(20261123)  # noqa: S311 - the same questions every time


@kept
def _questions() -> Json:
    chance = _chance()
    return {
        "pages": [_page(chance, kind) for kind in _KINDS for _ in range(CASES)],
        "states": [_state(chance, kind) for kind in ("delta", "mamba") for _ in range(CASES)],
        "stages": [[layers := chance.randint(1, 130), chance.randint(1, min(16, layers))] for _ in range(CASES)],
    }


@kept
def _answers(version: str) -> Json:
    return sources.sizes(version, _questions())


def _page(chance: random.Random, kind: str) -> Json:
    key = chance.choice([64, 80, 128, 192, 256, 512])
    return {
        "kind": kind,
        "block": cache.BLOCK,
        "heads": 1 if kind == "latent" else chance.randint(1, 128),
        "key": key,
        "value": key if kind == "chunked" else chance.choice([64, 128, 256]),
        "bytes": chance.choice([1, 2]),
        "tokens": chance.randint(1, 300_000),
        "window": chance.choice([1, 15, 16, 17, 127, 128, 512, 1024, 8192]),
        "in_flight": chance.choice([1, 16, 2048, 8192]),
    }


def _state(chance: random.Random, kind: str) -> Json:
    tensor = chance.choice([1, 2, 4, 8, 16])
    heads, width = 16 * chance.randint(1, 16), chance.choice([64, 128])
    if kind == "delta":
        numbers = [16 * chance.randint(1, 4), heads, width, chance.choice([64, 128]), chance.randint(2, 5)]
    else:
        numbers = [heads * width, chance.choice([1, 8, 16]), heads, width, chance.choice([64, 128, 256]), 4]
    return {"kind": kind, "tensor": tensor, "numbers": numbers, "bytes": chance.choice([2, 4])}


@every_version
def test_pages_and_blocks_are_those_of_the_engine(version: str) -> None:
    for asked, said in zip(_questions()["pages"], _answers(version)["pages"], strict=True):
        one = Cache(_KINDS[asked["kind"]], asked["heads"], asked["key"], asked["value"], asked["window"])
        ours = {
            "page": cache.BLOCK * cache.token_bytes(one, 1, asked["bytes"]),
            "blocks": cache.blocks(one, asked["tokens"], asked["in_flight"]),
        }
        assert ours == said, asked


@every_version
def test_states_are_those_of_the_engine(version: str) -> None:
    for asked, said in zip(_questions()["states"], _answers(version)["states"], strict=True):
        assert cache.state_bytes(_as_state(asked), asked["tensor"]) == said, asked


def _as_state(asked: Json) -> State:
    if asked["kind"] == "delta":
        keys, values, key, value, kernel = asked["numbers"]
        return State(2 * keys * key + values * value, kernel, values, key * value, asked["bytes"])
    inner, groups, heads, width, size, kernel = asked["numbers"]
    return State(inner + 2 * groups * size, kernel, heads, width * size, asked["bytes"], groups, 2 * size)


@every_version
def test_stages_are_those_of_the_engine(version: str) -> None:
    ours = [need.split(*asked) for asked in _questions()["stages"]]
    assert ours == _answers(version)["stages"]


def test_a_packed_vector_has_the_width_of_the_engines_kernels() -> None:
    packed = {"kind": "packed", "block": 64, "heads": 1, "key": 512, "value": 64, "bytes": 1, "tokens": 64}
    (said,) = sources.sizes("0.23.0", {"pages": [packed], "states": [], "stages": []})["pages"]
    sparse = Cache(CacheKind.LATENT, 1, 512, 64, is_sparse=True)
    assert said["page"] == 64 * cache.token_bytes(sparse, 1, 1)


# --- rules that stand inside functions, read from their source --------------------------------------------------------


def _source(version: str, path: str) -> ast.Module:
    return ast.parse((sources.python_package("vllm", version) / "vllm" / path).read_text(encoding="utf-8"))


def _function(tree: ast.Module, name: str) -> ast.FunctionDef:
    return next(node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name == name)


@every_version
def test_key_value_heads_of_a_rank_are_those_of_the_engine(version: str) -> None:
    returned = list(ast.walk(_function(_source(version, "config/model.py"), "get_num_kv_heads")))
    (rule,) = [
        node.value
        for node in returned
        if isinstance(node, ast.Return) and isinstance(node.value, ast.Call) and "max" in ast.unparse(node.value.func)
    ]
    code = compile(ast.Expression(rule), "get_num_kv_heads", "eval")
    for heads in (1, 2, 4, 8, 16, 40, 128):
        for tensor in (1, 2, 4, 8, 16):
            config = type("Config", (), {"tensor_parallel_size": tensor})
            said = eval(code, {"max": max, "total_num_kv_heads": heads, "parallel_config": config})  # noqa: S307 - vLLM's
            assert cache.token_bytes(Cache(CacheKind.FULL, heads, 1, 0), tensor, 1) == said


def test_the_batch_is_the_default_of_the_engines_server() -> None:
    tree = _source(VERSIONS[-1], "engine/arg_utils.py")
    found = [
        ast.literal_eval(value)
        for node in ast.walk(_function(tree, "get_batch_defaults"))
        if isinstance(node, ast.Dict)
        for key, value in zip(node.keys, node.values, strict=True)
        if key is not None and ast.unparse(key) == "UsageContext.OPENAI_API_SERVER" and isinstance(value, ast.Constant)
    ]
    ours = [need.batch(memory * GIB) for memory in (160, 159, 70, 69)]
    assert [(one.tokens, one.sequences) for one in ours] == [(16384, 1024), (8192, 1024), (8192, 1024), (2048, 256)]
    assert {number for one in ours for number in (one.tokens, one.sequences)} <= set(found)


@every_version
def test_the_engine_uses_at_least_the_share_of_memory_that_is_counted(version: str) -> None:
    text = (sources.python_package("vllm", version) / "vllm" / "config" / "cache.py").read_text(encoding="utf-8")
    default = text.partition("gpu_memory_utilization: float = Field(default=")[2].partition(",")[0]
    assert float(default) >= need.UTILIZATION_PERCENT / 100


@pytest.mark.parametrize("version", VERSIONS[1:])
def test_an_index_has_a_scale_for_each_block(version: str) -> None:
    text = (sources.python_package("vllm", version) / "vllm/model_executor/models/deepseek_v2.py").read_text("utf-8")
    assert "head_dim=self.head_dim + self.head_dim // self.quant_block_size * 4" in text
    layer = architecture.read(published.find("DeepSeek-V3.2").config).layers[0]
    assert layer.cache.beside == 128 + 128 // 128 * 4


@every_version
def test_encoders_ask_for_no_cache(version: str) -> None:
    """The layers of BERT, RoBERTa and EmbeddingGemma are of a class that asks vLLM for nothing."""
    models = sources.python_package("vllm", version) / "vllm" / "model_executor"
    text = (models / "layers" / "attention" / "encoder_only_attention.py").read_text(encoding="utf-8")
    (spec,) = (node for node in ast.walk(ast.parse(text)) if getattr(node, "name", "") == "get_kv_cache_spec")
    assert isinstance(spec, ast.FunctionDef)
    assert [ast.unparse(one) for one in spec.body] == ["return None"]
    for name in ("bert", "gemma3"):
        assert "EncoderOnlyAttention" in (models / "models" / f"{name}.py").read_text(encoding="utf-8")


# --- the catalogue ----------------------------------------------------------------------------------------------------


def test_the_catalogue_is_what_its_source_says() -> None:
    kept_ = catalogue.FILE.read_text(encoding="utf-8")
    assert kept_ == catalogue.text(catalogue.wanted()), "run `python -m tests.conformance.engines.catalogue`"


def test_every_field_of_the_catalogue_is_in_the_published_file() -> None:
    folder = sources.model_configs(catalogue.VERSION)
    recorded = json.loads(catalogue.RECORDED.read_text(encoding="utf-8"))
    for name, entry in published.read().items():
        if name in recorded:
            assert list(_changed(entry.config, recorded[name]["config"])) == [], name
            continue
        file = folder / f"{name.replace('/', '--')}_config.json"
        assert list(_changed(entry.config, json.loads(file.read_text(encoding="utf-8")))) == [], name


def _changed(ours: Json, theirs: Json) -> Any:
    """Yield the fields that differ; lists of what is not quantized are shortened to whole modules."""
    for key, value in ours.items():
        if isinstance(value, dict):
            yield from _changed(value, theirs[key])
        elif isinstance(value, list):
            if not all(entry in theirs[key] for entry in value):
                yield key
        elif theirs[key] != value:
            yield key
