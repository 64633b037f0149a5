"""Parameters of published models against what their authors say, and config.json files that are wrong."""

from __future__ import annotations

import copy
import json
import re
from typing import Any

import pytest

from modelplane.errors import InvalidInput, Unsupported
from modelplane.sizing import architecture, catalogue, need, precision
from modelplane.sizing.model import CacheKind, Model

Json = Any
MODELS = catalogue.read()
LLAMA = {
    "model_type": "llama",
    "hidden_size": 4096,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "intermediate_size": 14336,
    "vocab_size": 128256,
    "max_position_embeddings": 131072,
}


def read(name: str) -> Model:
    return architecture.read(MODELS[name].config)


def test_the_catalogue_has_forty_models_with_a_source() -> None:
    assert len(MODELS) >= 40
    ours = re.compile(r"as in (aiconfigurator-core [\d.]+ of 20[\d-]+|https://github\.com/\S+ at [0-9a-f]{40})$")
    assert all(ours.search(one.source) for one in MODELS.values())


# Billions of parameters as the model's card says them, and those that one token passes where it does.
@pytest.mark.parametrize(
    ("name", "total", "active"),
    [
        ("meta-llama/Meta-Llama-3.1-8B", 8.03, None),
        ("meta-llama/Meta-Llama-3.1-70B", 70.55, None),
        ("meta-llama/Meta-Llama-3.1-405B", 405.85, None),
        ("meta-llama/Llama-4-Maverick-17B-128E-Instruct", 400, 17),
        ("mistralai/Mixtral-8x7B-v0.1", 46.7, 12.9),
        ("mistralai/Mixtral-8x22B-v0.1", 140.6, 39.1),
        ("Qwen/Qwen3-0.6B", 0.6, None),
        ("Qwen/Qwen3-8B", 8.19, None),
        ("Qwen/Qwen3-32B", 32.8, None),
        ("Qwen/Qwen3-30B-A3B", 30.5, 3.3),
        ("Qwen/Qwen3-235B-A22B", 235, 22),
        ("Qwen/Qwen3-Coder-480B-A35B-Instruct", 480, 35),
        ("Qwen/Qwen3-VL-8B-Instruct", 8.77, None),
        ("Qwen/Qwen3.5-397B-A17B", 397, 17),
        ("Qwen/Qwen3.5-122B-A10B", 122, 10),
        ("Qwen/Qwen3.5-35B-A3B", 35, None),
        ("deepseek-ai/DeepSeek-V3", 671, 37),
        ("moonshotai/Kimi-K2-Instruct", 1026, 32),
        ("openai/gpt-oss-120b", 116.8, None),
        ("openai/gpt-oss-20b", 20.9, None),
        ("MiniMaxAI/MiniMax-M2.7", 229, None),
        ("XiaomiMiMo/MiMo-V2-Flash", 309, 15),
        ("zai-org/GLM-5", 744, None),
        ("nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16", 31.6, 3.6),
        ("nvidia/NVIDIA-Nemotron-3-Ultra-550B-A55B-BF16", 550, 55),
        ("nvidia/Nemotron-H-56B-Base-8K", 56, None),
        ("google/gemma-4-26B-A4B", 25.8, 3.8),
        ("BAAI/bge-m3", 0.568, None),
        ("BAAI/bge-large-en-v1.5", 0.335, None),
        ("BAAI/bge-small-en-v1.5", 0.0334, None),
        ("intfloat/multilingual-e5-base", 0.278, None),
        ("sentence-transformers/all-MiniLM-L6-v2", 0.0227, None),
        ("google/embeddinggemma-300m", 0.303, None),
    ],
)
def test_parameters_are_those_of_the_model_card(name: str, total: float, active: float | None) -> None:
    model = read(name)
    assert sum(model.parameters().values()) / 1e9 == pytest.approx(total, rel=0.01)
    if active is not None:
        assert model.active / 1e9 == pytest.approx(active, rel=0.035)


# Bytes of the safetensors files. Source: KAITO 0.12, which lists them in GiB, and the index of the model's files.
@pytest.mark.parametrize(
    ("name", "gibibytes"),
    [
        ("moonshotai/Kimi-K2.5", 554.3),
        ("MiniMaxAI/MiniMax-M2.7", 214.3),
        ("meta-llama/Meta-Llama-3.1-70B", 131.42),
        ("meta-llama/Meta-Llama-3.1-8B", 14.96),
    ],
)
def test_weights_are_within_one_percent_of_the_published_files(name: str, gibibytes: float) -> None:
    model = read(name)
    wanted = need.Need(model, precision.published(MODELS[name].config, model), 2)
    assert sum(wanted.weights().values()) / 2**30 == pytest.approx(gibibytes, rel=0.01)


@pytest.mark.parametrize("name", sorted(MODELS))
def test_every_model_of_the_catalogue_can_be_computed(name: str) -> None:
    model = read(name)
    held = need.Need(model, precision.published(MODELS[name].config, model), 2).weights()
    assert 0 < sum(held.values()) < 2 * sum(model.parameters().values()) + len(held)
    assert all(rule.refusal(1, expert=False) == "" for rule in model.rules)


@pytest.mark.parametrize("given", ["Qwen/Qwen3-8B", "qwen3-8b", "someone/QWEN3-8B-Instruct", "Qwen3-8B-Base"])
def test_a_model_is_found_by_what_matters_of_its_name(given: str) -> None:
    assert catalogue.find(given).name == "Qwen/Qwen3-8B"


def test_a_quantized_model_is_not_taken_for_another() -> None:
    assert catalogue.find("Qwen3-32B-FP8").name == "Qwen/Qwen3-32B-FP8"
    assert catalogue.find("Llama-3.1-8B-Instruct").name == "meta-llama/Meta-Llama-3.1-8B"
    with pytest.raises(InvalidInput, match=r"no model 'Qwen3-7B' .* did you mean Qwen/"):
        catalogue.find("Qwen3-7B")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        pytest.param({"hidden_size": None}, "hidden_size: is missing", id="missing"),
        pytest.param(
            {"hidden_size": "4096"}, "hidden_size: must be a whole number from 1 to .*, not '4096'", id="text"
        ),
        pytest.param({"hidden_size": 4096.0}, "must be a whole number .* not 4096.0", id="float"),
        pytest.param({"hidden_size": float("nan")}, "must be a whole number .* not nan", id="not a number"),
        pytest.param({"hidden_size": True}, "must be a whole number .* not true", id="boolean"),
        pytest.param({"num_hidden_layers": -1}, "num_hidden_layers: must be a whole number .* not -1", id="negative"),
        pytest.param({"num_hidden_layers": 10**400}, "not a number of 401 digits", id="huge"),
        pytest.param({"num_hidden_layers": 10**5000}, "not a number of 5001 digits", id="too long to write"),
        pytest.param({"num_attention_heads": 0}, "num_attention_heads: must be a whole number from 1", id="zero"),
        pytest.param(
            {"num_attention_heads": 33}, "head_dim: is missing, and hidden_size 4096 is no multiple", id="heads"
        ),
        pytest.param({"layer_types": ["full_attention"]}, "layer_types: has 1 entries for 32 layers", id="short list"),
        pytest.param({"layer_types": [[]] * 32}, r"layer_types\[0\]: is an unknown kind of attention", id="odd entry"),
        pytest.param({"layer_types": "full"}, "layer_types: must be a list, not 'full'", id="no list"),
        pytest.param({"layer_types": ["sliding_attention"] * 32}, "sliding_window: is missing", id="no window"),
        pytest.param({"tie_word_embeddings": "yes"}, "tie_word_embeddings: must be true or false", id="flag"),
        pytest.param({"text_config": []}, "text_config: must be an object, not a list", id="no object"),
        pytest.param({"vision_config": {"depth": 1}}, r"vision_config.hidden_size: is missing \(or vt_", id="vision"),
        pytest.param({"model_type": None}, "model_type: is missing", id="no architecture"),
        pytest.param({"model_type": 7}, "model_type: must be text, not 7", id="architecture of another type"),
        pytest.param(
            {"model_type": "mixtral", "num_local_experts": 4, "num_experts_per_tok": 8}, "more than the 4", id="experts"
        ),
    ],
)
def test_a_wrong_field_is_named(change: dict[str, Json], said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        architecture.read({**LLAMA, **change})


@pytest.mark.parametrize("kind", ["deepseek_v4", "kimi_k3", "nemotron-nas", "modernbert", "invented", "\ud800\n"])
def test_an_unknown_architecture_says_what_is_lacking(kind: str) -> None:
    with pytest.raises(Unsupported, match=r"whose memory is not known here: it lacks .*; known are ") as error:
        architecture.read({**LLAMA, "model_type": kind})
    assert str(error.value).isprintable()


def test_a_field_of_the_text_stands_below_it() -> None:
    with pytest.raises(InvalidInput, match=r"^text_config\.vocab_size: is missing"):
        architecture.read({"text_config": {**LLAMA, "vocab_size": None}})


@pytest.mark.parametrize(
    ("name", "kinds"),
    [
        ("openai/gpt-oss-20b", {CacheKind.SLIDING: 12, CacheKind.FULL: 12}),
        ("Qwen/Qwen3.5-35B-A3B", {CacheKind.STATE: 30, CacheKind.FULL: 10}),
        ("google/gemma-4-26B-A4B", {CacheKind.SLIDING: 25, CacheKind.FULL: 5}),
        ("deepseek-ai/DeepSeek-V3.2", {CacheKind.LATENT: 61}),
        ("meta-llama/Llama-4-Scout-17B-16E-Instruct", {CacheKind.CHUNKED: 36, CacheKind.FULL: 12}),
        ("nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16", {CacheKind.STATE: 23, CacheKind.FULL: 6, CacheKind.NONE: 23}),
    ],
)
def test_only_layers_that_keep_tokens_grow(name: str, kinds: dict[CacheKind, int]) -> None:
    found: dict[CacheKind, int] = {}
    for layer in read(name).layers:
        found[layer.cache.kind] = found.get(layer.cache.kind, 0) + 1
    assert found == kinds


def test_reading_changes_nothing() -> None:
    config = copy.deepcopy(dict(MODELS["moonshotai/Kimi-K2.5"].config))
    text = json.dumps(config)
    precision.published(config, architecture.read(config))
    assert json.dumps(config) == text


# --- embedding models -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "context"),
    [
        pytest.param("BAAI/bge-m3", 8192, id="RoBERTa counts from behind the padding"),
        pytest.param("BAAI/bge-small-en-v1.5", 512, id="BERT does not"),
        pytest.param("google/embeddinggemma-300m", 2048, id="EmbeddingGemma"),
    ],
)
def test_an_encoder_keeps_nothing_of_a_request(name: str, context: int) -> None:
    model = read(name)
    assert {layer.cache.kind for layer in model.layers} == {CacheKind.NONE}
    assert model.context == context
    assert "keeps nothing" in model.attention
    assert model.head == 0


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        pytest.param({"is_decoder": True}, "is_decoder: a decoder", id="a decoder"),
        pytest.param({"position_embedding_type": "relative_key"}, "positions that are not absolute", id="positions"),
        pytest.param({"model_type": "gemma3_text"}, "as an encoder alone", id="Gemma 3 as a chat model"),
    ],
)
def test_what_only_looks_like_an_encoder_is_refused(changed: dict[str, Any], said: str) -> None:
    config = {**MODELS["BAAI/bge-m3"].config, **changed}
    with pytest.raises(Unsupported, match=said):
        architecture.read(config)
