"""The arguments of Dynamo's workers, by model and topology, as its operator reads them and its shell passes them on.

test_dynamo_flags holds each flag to the parsers of Dynamo and of the engines.
"""

from __future__ import annotations

import subprocess
from typing import Any

import pytest

from modelplane import names
from modelplane.workload.model import Model, Replica
from tests.support import dynamo, kserve

Json = Any


@pytest.mark.parametrize(
    ("shape", "component", "expected"),
    [
        pytest.param("one node", "worker", {"--tensor-parallel-size": "8", "--served-model-name": "llama"}, id="vLLM"),
        pytest.param(
            "disaggregated", "prefill",
            {
                "--disaggregation-mode": "prefill",
                "--kv-transfer-config": '{"kv_connector":"NixlConnector","kv_role":"kv_producer"}',
            },
            id="prefill",
        ),
        pytest.param(
            "disaggregated", "decode",
            {
                "--disaggregation-mode": "decode",
                "--kv-transfer-config": '{"kv_connector":"NixlConnector","kv_role":"kv_consumer"}',
            },
            id="decode",
        ),
        pytest.param(
            "disaggregated SGLang", "decode",
            {"--disaggregation-mode": "decode", "--disaggregation-transfer-backend": "nixl"},
            id="SGLang apart",
        ),
        pytest.param("SGLang over nodes", "worker", {"--tp-size": "16", "--dp-size": "16"}, id="SGLang"),
        pytest.param(
            "TensorRT-LLM", "worker",
            {"--tensor-parallel-size": "8", "--expert-parallel-size": "8"},
            id="TensorRT-LLM",
        ),
    ],
)  # fmt: skip
def test_flags_follow_from_model_and_topology(shape: str, component: str, expected: dict[str, str]) -> None:
    assert set(expected.items()) <= dynamo.pairs(dynamo.args(dynamo.SHAPES[shape], component))


def test_a_single_role_is_told_nothing_of_roles() -> None:
    for shape in ("one node", "SGLang", "TensorRT-LLM", "pipeline"):
        assert "--disaggregation-mode" not in dynamo.args(dynamo.SHAPES[shape])


@pytest.mark.parametrize(
    "given",
    [
        pytest.param(["-tp", "8", "-pp=2"], id="short"),
        pytest.param(["--tensor-parallel-size=8", "--pipeline_parallel_size", "2"], id="with = and _"),
        pytest.param([], id="left out"),
        pytest.param(["--tensor-parallel-size", "8", "--pipeline-parallel-size", "2"], id="as it reads them"),
    ],
)
def test_over_nodes_the_operator_reads_the_sizes_however_they_are_spelt(given: list[str]) -> None:
    """getFlagValue knows one spelling of a flag, and its value in the next word; without it nothing is wired."""
    role = dynamo.role(topology=kserve.GANG, pod_template=dynamo.template(engine={"args": given}))
    found = dynamo.args(dynamo.replica(role))
    assert {("--tensor-parallel-size", "8"), ("--pipeline-parallel-size", "2")} <= dynamo.pairs(found)
    assert found.count("--tensor-parallel-size") == 1


def _quoted(word: str) -> str:
    """Return a word as shellQuoteForBashC puts it into the line of a shell.

    Source: internal/dynamo/backend_common.go of the operator 1.6, restated.
    """
    if not set(word) & set(" \t\n'\"\\{}[]$`!"):
        return word
    for one, escaped in (("\\", "\\\\"), ('"', '\\"'), ("$", "\\$"), ("`", "\\`"), ("'", "'\"'\"'")):
        word = word.replace(one, escaped)
    return f'"{word}"'


@dynamo.every_shape
def test_what_we_write_survives_the_operators_shell(replica: Replica) -> None:
    for name, component in dynamo.components(replica).items():
        if name == "frontend":
            continue
        words = dynamo.main(component)["args"]
        line = f"printf '%s\\0' {' '.join(_quoted(word) for word in words)}"
        found = subprocess.run(["sh", "-c", line], capture_output=True, check=True, text=True).stdout
        assert found.split("\0")[:-1] == words


def test_what_was_added_is_told() -> None:
    said = dynamo.workload(dynamo.SHAPES["disaggregated"])["metadata"]["annotations"][names.ANNOTATION_ENGINE_ARGUMENTS]
    assert said.startswith("decode: added --model meta-llama/Llama-3.1-8B-Instruct")
    assert "prefill: added" in said


def test_a_model_that_only_flags_name_is_taken() -> None:
    role = dynamo.role(pod_template=dynamo.template(engine={"args": ["--model=a/b"]}))
    replica = dynamo.replica(role, model=None)
    assert dynamo.args(replica) == ["--model=a/b"]
    named = dynamo.replica(role, model=Model("mine"))
    assert dynamo.args(named) == ["--model=a/b", "--served-model-name", "mine"]
