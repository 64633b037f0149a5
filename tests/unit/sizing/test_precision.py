"""Bits of weights, from the quantization of a config.json and from the flag."""

from __future__ import annotations

from typing import Any

import pytest

from modelplane.errors import InvalidInput, Unsupported
from modelplane.sizing import architecture, catalogue, precision
from modelplane.sizing.model import Part
from modelplane.sizing.precision import GRAIN

Json = Any
MODELS = catalogue.read()
MOE = MODELS["Qwen/Qwen3-30B-A3B"].config


def bits(quantization: Json) -> dict[Part, float]:
    config = {**MOE, "quantization_config": quantization}
    found = precision.published(config, architecture.read(config))
    return {part: found.bits(part) / GRAIN for part in (Part.ATTENTION, Part.EXPERTS, Part.EMBEDDING)}


def floats(number: int, group: int | None = None, **more: Json) -> Json:
    weights = {"num_bits": number, "type": "float", "group_size": group}
    return {"quant_method": "compressed-tensors", "config_groups": {"group_0": {"weights": weights}}, **more}


@pytest.mark.parametrize(
    ("quantization", "attention", "experts"),
    [
        pytest.param(None, 16, 16, id="none"),
        pytest.param({"quant_method": "fp8"}, 8, 8, id="fp8"),
        pytest.param(
            {"quant_method": "fp8", "weight_block_size": [128, 128]}, 8 + 32 / 2**14, 8 + 32 / 2**14, id="blocks"
        ),
        pytest.param({"quant_method": "mxfp4"}, 16, 4.25, id="only experts are mxfp4"),
        pytest.param({"quant_method": "gptq", "bits": 4, "group_size": 128}, 4 + 20 / 128, 4 + 20 / 128, id="gptq"),
        pytest.param(floats(4, 16), 4.5, 4.5, id="nvfp4"),
        pytest.param(floats(8), 8, 8, id="fp8 without groups"),
        pytest.param(floats(4, 16, ignore=["re:.*self_attn.*"]), 16, 4.5, id="attention left out by a pattern"),
        pytest.param(floats(4, 16, ignore=["model.layers.*.self_attn"]), 16, 4.5, id="by a wildcard"),
        pytest.param(
            floats(4, 16, ignore=[f"model.layers.{place}.self_attn*" for place in range(48)]),
            16,
            4.5,
            id="by each layer",
        ),
        pytest.param(floats(4, 16, ignore=["model.layers.0.self_attn*"]), 4.5, 4.5, id="one layer does not count"),
        pytest.param(floats(4, 16, ignore=["model.layers.*.mlp.gate", "lm_head"]), 4.5, 4.5, id="routers never count"),
        pytest.param(
            floats(4, 16, ignore=["model.layers.*.self_attn.q_norm"]), 4.5, 4.5, id="a norm is not the attention"
        ),
        pytest.param({"quant_method": "modelopt", "quant_algo": "NVFP4"}, 4.5, 4.5, id="modelopt"),
    ],
)
def test_bits_of_a_quantization(quantization: Json, attention: float, experts: float) -> None:
    assert bits(quantization) == {Part.ATTENTION: attention, Part.EXPERTS: experts, Part.EMBEDDING: 16}


@pytest.mark.parametrize(
    ("quantization", "error", "said"),
    [
        pytest.param(
            {"quant_method": "invented"}, Unsupported, "'invented' is not known; give --precision", id="method"
        ),
        pytest.param({}, Unsupported, "the size of '' is not known", id="no method"),
        pytest.param([], InvalidInput, "quantization_config: must be an object, not a list", id="list"),
        pytest.param({"quant_method": "gptq"}, InvalidInput, "quantization_config.bits: is missing", id="no bits"),
        pytest.param({"quant_method": "gptq", "bits": 10**400}, InvalidInput, "a number of 401 digits", id="huge"),
        pytest.param(floats(4, -1), InvalidInput, "weights.group_size: must be a whole number", id="negative group"),
        pytest.param(
            {"quant_method": "fp8", "weight_block_size": ["a"]}, InvalidInput, "weight_block_size: must be", id="block"
        ),
        pytest.param(
            {"quant_method": "modelopt", "config_groups": {"a": {}, "b": {}}},
            Unsupported,
            "2 groups differ",
            id="groups",
        ),
        pytest.param(
            {"quant_method": "modelopt", "quant_algo": "MIXED_PRECISION"}, Unsupported, "'MIXED_PRECISION'", id="mixed"
        ),
        pytest.param(
            {"quant_method": "modelopt", "config_groups": {"a\nb": 1}}, InvalidInput, r"'a\\nb'", id="odd key"
        ),
    ],
)
def test_a_quantization_that_is_not_known_is_refused(quantization: Json, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        bits(quantization)


@pytest.mark.parametrize(("name", "linear"), [("bf16", 16), ("fp8", 8 + 32 / 2**14), ("int4", 4 + 20 / 128)])
def test_bits_that_are_asked_for(name: str, linear: float) -> None:
    found = precision.asked(name)
    assert {found.bits(part) / GRAIN for part in precision.LINEAR} == {linear}
    assert found.bits(Part.EMBEDDING) == found.bits(Part.OTHER) == 16 * GRAIN


def test_an_unknown_word_is_refused() -> None:
    with pytest.raises(InvalidInput, match="precision must be one of bf16, fp8, int4, not 'fp3'"):
        precision.asked("fp3")
