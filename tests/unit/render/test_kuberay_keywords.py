"""vLLM's flags as keyword arguments of Ray Serve LLM: each kind of value, and every way to be wrong."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from modelplane.errors import InvalidInput
from modelplane.render import yaml_text
from modelplane.render.backends.kuberay import flags, keywords
from modelplane.render.backends.kuberay.flags import Kind


@pytest.mark.parametrize(
    ("args", "found"),
    [
        pytest.param([], {}, id="none"),
        pytest.param(["a/b", "--dtype=auto"], {"model": "a/b", "dtype": "auto"}, id="the model without a flag"),
        pytest.param(["--max_model_len", "16k"], {"max_model_len": 16000}, id="decimal, with underscores"),
        pytest.param(["--max-model-len=16K"], {"max_model_len": 16384}, id="binary"),
        pytest.param(["--max-model-len", "25.6k"], {"max_model_len": 25600}, id="decimals"),
        pytest.param(["--max-model-len", "-1"], {"max_model_len": -1}, id="a negative number is a value"),
        pytest.param(["--max-model-len", "auto"], {"max_model_len": -1}, id="auto"),
        pytest.param(["--seed=7", "--enforce-eager"], {"seed": 7, "enforce_eager": True}, id="a switch"),
        pytest.param(["--no-async-scheduling"], {"async_scheduling": False}, id="a switch denied"),
        pytest.param(["--no_async_scheduling"], {"async_scheduling": False}, id="a switch denied with underscores"),
        pytest.param(["--watermark", "0.05"], {"watermark": 0.05}, id="a number"),
        pytest.param(["-tp", "2", "-ep"], {"tensor_parallel_size": 2, "enable_expert_parallel": True}, id="short"),
        pytest.param(["--quantization", "None"], {"quantization": None}, id="nothing"),
        pytest.param(
            ["--served-model-name", "a", "b", "--seed", "1"], {"served_model_name": ["a", "b"], "seed": 1}, id="several"
        ),
        pytest.param(["--cudagraph-capture-sizes", "1", "8"], {"cudagraph_capture_sizes": [1, 8]}, id="numbers"),
        pytest.param(
            ["--limit-mm-per-prompt", '{"image": 2}'], {"limit_mm_per_prompt": {"image": 2}}, id="an object"
        ),
        pytest.param(["--hf-overrides", '{"a": [1]}'], {"hf_overrides": {"a": [1]}}, id="either: an object"),
        pytest.param(["--pt-load-map-location=cpu"], {"pt_load_map_location": "cpu"}, id="either: a text"),
        pytest.param(["--moe-backend=DEEP-GEMM"], {"moe_backend": "deep_gemm"}, id="lowered"),
        pytest.param(["--chat-template={{ x }} = --y"], {"chat_template": "{{ x }} = --y"}, id="text is data"),
        pytest.param(["--host=0.0.0.0", "--port=8000"], {}, id="what the route says already"),
    ],
)  # fmt: skip
def test_flags_become_keywords(args: list[str], found: dict[str, Any]) -> None:
    assert keywords.of(args) == found


@pytest.mark.parametrize(
    ("args", "index", "says"),
    [
        (["--seed=1", "--frobnicate"], 1, "--frobnicate is not a flag of vLLM 0.29 that Ray Serve LLM passes on"),
        (["--seed=1", "--no-seed"], 1, "--no-seed is not a flag"),
        (["-x"], 0, "-x is not a flag"),
        (["--seed=1", "extra"], 1, "extra does not belong to a flag"),
        (["--seed=1", "--seed", "2"], 1, "--seed is given twice"),
        (["-tp=2", "--tensor-parallel-size=2"], 1, "--tensor-parallel-size is given twice"),
        (["--seed"], 0, "--seed needs one value behind it"),
        (["--seed", "--enforce-eager"], 0, "--seed needs one value behind it"),
        (["--seed=many"], 0, "--seed takes a whole number, not many"),
        (["--max-model-len=1.5K"], 0, "takes a whole number, not 1.5"),
        (["--max-model-len=" + "9" * 400 + "k"], 0, "takes a size, not 9999"),
        (["--enforce-eager=true"], 0, "--enforce-eager takes no value"),
        (["--gpu-memory-utilization=nan"], 0, "takes a number, not nan"),
        (["--gpu-memory-utilization=most"], 0, "takes a number, not most"),
        (["--compilation-config=3"], 0, "--compilation-config takes a JSON object"),
        (["--compilation-config={"], 0, "--compilation-config takes a JSON object"),
        (['--compilation-config={"a":' + "[" * 100_000], 0, "--compilation-config takes a JSON object"),
        (['--compilation-config={"a":' + "[" * 64 + "]" * 64 + "}"], 0, "takes a JSON object"),
        (['--kernel-config={"a": NaN}'], 0, "--kernel-config cannot hold NaN"),
        (["--kv-transfer-config.kv_role=kv_both"], 0, "write all of --kv-transfer-config as one object"),
        (["--dtype=$(DTYPE)"], 0, "refers to a variable"),
        (["--hf-token=hf_secret"], 0, "use HF_TOKEN in env, from a Secret"),
        (["--api-key", "k"], 0, "Ray Serve answers the requests"),
        (["--nnodes=2"], 0, "Ray wires the ranks"),
        (["--kda-decode-backend=triton"], 0, "is not a flag of vLLM 0.29"),
        (["--max-num", "8"], 0, "write one of them in full"),
        (["--distributed-executor-backend=mp"], 0, "Ray wires the ranks"),
        (["--disable-log-stats"], 0, "publishes the engine's metrics"),
    ],
)
def test_what_is_wrong_is_refused_with_its_flag(args: list[str], index: int, says: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        keywords.of(args)
    assert says in caught.value.message
    assert caught.value.path == ("args", index)
    assert "hf_secret" not in str(caught.value)


def test_a_flag_is_of_one_kind_and_passed_on_or_refused() -> None:
    named = [name for names in flags._FLAGS.values() for name in names.split()]
    assert len(named) == len(set(named)) == len(flags.KINDS)
    assert not flags.KINDS.keys() & flags.REFUSED.keys()


_WORDS = st.text(max_size=6) | st.sampled_from(
    ["--seed", "--seed=1", "-tp", "--no-enforce-eager", "--dtype", "--served-model-name", "--kernel-config", "{}", "1"]
    + [f"--{name.replace('_', '-')}" for name in list(flags.KINDS)[::9]]
)


@given(st.lists(_WORDS, max_size=6))
def test_any_words_are_taken_or_refused_at_one_of_them_and_survive_yaml(args: list[str]) -> None:
    try:
        found = keywords.of(args)
    except InvalidInput as error:
        assert error.path[0] == "args"
        assert 0 <= int(error.path[1]) < len(args)
    else:
        assert yaml.safe_load(yaml_text.of(found)) == found
        assert all(name in flags.KINDS for name in found)


@pytest.mark.parametrize("kind", list(Kind))
def test_each_kind_is_that_of_some_flag(kind: Kind) -> None:
    assert kind in flags.KINDS.values()
