"""What Dynamo cannot run is refused at the field that would have to change."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from modelplane.devices.model import Mode, Request
from modelplane.errors import InvalidInput
from modelplane.render.backends import dynamo as backend
from modelplane.render.backends.dynamo import capability, dialects, naming
from modelplane.topology.shape import Topology
from modelplane.workload.model import EndpointPicker, EngineType, Model, Role
from tests.support import dynamo, kserve, replicas

Json = Any
PICKER = EndpointPicker(picker="random-picker")
WORKER = ("python3", "-m", "dynamo.vllm")
ENGINE = ("spec", "workers", "template", "spec", "containers", 0)


def _refused(*roles: Any, replica: Json = None, **changed: Json) -> InvalidInput:
    with pytest.raises(InvalidInput) as found:
        backend.check(dynamo.asked(dynamo.replica(*roles, **(replica or {})), **changed))
    return found.value


def _with(engine: Json, **fields: Json) -> Any:
    topology = fields.pop("topology", None)
    kind = fields.pop("kind", EngineType.VLLM)
    return dynamo.role(topology=topology, pod_template=dynamo.template(dynamo.IMAGES[kind], engine=engine, **fields))


@pytest.mark.parametrize(
    ("changed", "path", "says"),
    [
        pytest.param({"engine": EngineType.CUSTOM}, ("spec", "engine", "type"), "no worker for custom", id="custom"),
        pytest.param({"engine": EngineType.LLAMACPP}, ("spec", "engine", "type"), "use vllm, sglang", id="llama.cpp"),
        pytest.param({"model": Model("m", "s3://b/k")}, ("spec", "model", "uri"), "hf://, pvc://", id="s3"),
        pytest.param({"endpoint_picker": PICKER}, ("spec", "endpointPicker"), "no endpoint picker", id="picker"),
        pytest.param(
            {"namespace": "n" * (naming.NAMESPACE_MAX + 1)}, ("metadata", "namespace"), "and not 45", id="namespace",
        ),
        pytest.param({"model": None}, ("spec", "model", "uri"), "--model in args", id="no model"),
        pytest.param({"model": Model("m")}, ("spec", "model", "uri"), "must know the weights", id="only a name"),
    ],
)  # fmt: skip
def test_a_workload_is_refused(changed: Json, path: tuple[str, ...], says: str) -> None:
    error = _refused(**changed)
    assert error.path == path
    assert says in error.message


@pytest.mark.parametrize("engine", [EngineType.TRTLLM])
def test_prefill_apart_is_refused_where_nobody_moves_the_cache(engine: EngineType) -> None:
    roles = (dynamo.role(engine=engine), dynamo.role(Role.PREFILL, engine))
    error = _refused(*roles, replica={"engine": engine})
    assert error.path == ("spec", "prefill")
    assert "use sglang or vllm" in error.message


@pytest.mark.parametrize(
    ("engine", "topology", "field"),
    [
        pytest.param(EngineType.TRTLLM, kserve.GANG, "pipeline", id="MPI"),
        pytest.param(EngineType.TRTLLM, Topology(data=2, data_local=2), "data", id="TensorRT-LLM copies"),
        pytest.param(EngineType.VLLM, Topology(pipeline=2, data=2), "pipeline", id="both at once"),
    ],
)
def test_a_topology_is_refused(engine: EngineType, topology: Topology, field: str) -> None:
    error = _refused(dynamo.role(engine=engine, topology=topology), replica={"engine": engine})
    assert error.path == ("spec", "workers", "topology", field)


@pytest.mark.parametrize(
    "image",
    [
        pytest.param("vllm/vllm-openai:v0.23.0", id="vLLM alone"),
        pytest.param("lmsysorg/sglang:v0.5.9", id="SGLang alone"),
        pytest.param("rayproject/ray-llm:2.60.0", id="Ray"),
    ],
)
def test_an_image_without_dynamo_is_refused(image: str) -> None:
    error = _refused(dynamo.role(pod_template=dynamo.template(image)))
    assert error.path == (*ENGINE, "image")
    assert "does not contain Dynamo" in error.message


@pytest.mark.parametrize(
    ("image", "is_taken"),
    [
        # ParseImageVersion: the tag is all of a semantic version, "v" may stand before it.
        pytest.param("a/vllm-runtime:1.6.1", True, id="plain"),
        pytest.param("a/vllm-runtime:v1.6.1-rc.1+cu129", True, id="with suffixes"),
        pytest.param("localhost:5000/a/vllm-runtime:1.6.1@sha256:" + "0" * 64, True, id="with a digest"),
        pytest.param("a/vllm-runtime:1.6", False, id="two numbers"),
        pytest.param("a/vllm-runtime:1.06.1", False, id="a leading zero"),
        pytest.param("a/vllm-runtime:1.6.1-01", False, id="a leading zero behind"),
        pytest.param("a/vllm-runtime:latest", False, id="a word"),
        pytest.param("a/vllm-runtime", False, id="none"),
        pytest.param("localhost:5000/vllm-runtime", False, id="the port of a registry"),
        pytest.param("a/vllm-runtime@sha256:" + "0" * 64, False, id="a digest alone"),
    ],
)
def test_the_tag_of_an_image_tells_its_version(image: str, is_taken: bool) -> None:  # noqa: FBT001 - a table
    role = dynamo.role(pod_template=dynamo.template(image))
    if is_taken:
        backend.check(dynamo.asked(dynamo.replica(role)))
        return
    error = _refused(role)
    assert error.path == (*ENGINE, "image")
    assert capability.VERSION_ANNOTATION in error.message


@pytest.mark.parametrize("version", ["1.6", "v1.6.1", "1.6.1-rc1", "01.6.1", "10000.0.0", ""])
def test_a_declared_version_is_three_numbers(version: str) -> None:
    metadata = {"annotations": {capability.VERSION_ANNOTATION: version}}
    error = _refused(dynamo.role(pod_template=dynamo.template("a/b:latest", metadata=metadata)))
    assert error.path[-3:] == ("metadata", "annotations", capability.VERSION_ANNOTATION)


@pytest.mark.parametrize(
    ("engine", "end", "says"),
    [
        pytest.param({"command": ["vllm", "serve"]}, ("command",), "no other command", id="vllm serve"),
        pytest.param({"command": ["/bin/sh", "-c"], "args": ["x"]}, ("command",), "-m dynamo.vllm", id="a shell"),
        pytest.param({"args": ["--port", "8000"]}, ("args", 0), "the frontend answers", id="a port"),
        pytest.param({"args": ["--host=127.0.0.1"]}, ("args", 0), "the frontend answers", id="a host"),
        pytest.param({"args": ["-x", "--nnodes=2"]}, ("args", 1), "wires the ranks", id="nodes"),
        pytest.param({"args": ["--headless"]}, ("args", 0), "wires the ranks", id="headless"),
        pytest.param({"args": ["--connector", "nixl"]}, ("args", 0), "--kv-transfer-config", id="connector"),
        pytest.param({"args": ["--chat-template=x"]}, ("args", 0), "--custom-jinja-template", id="template"),
        pytest.param({"args": ["--endpoint=dyn://a.b.c"]}, ("args", 0), "find each other", id="endpoint"),
        pytest.param({"args": ["--disaggregation-mode", "prefill"]}, ("args", 0), "from spec.prefill", id="a role"),
        pytest.param({"args": ["--tensor-parallel-size=4"]}, ("args", 0), "topology.tensor says 1", id="a size"),
        pytest.param({"args": ["--served-model-name=x"]}, ("args", 0), "model.name says llama", id="a name"),
        pytest.param({"args": ["--nnod=2"]}, ("args", 0), "wires the ranks", id="a shortened name"),
        pytest.param({"args": ["-x", "--data=1"]}, ("args", 1), "is short for", id="a name that is not clear"),
        pytest.param({"args": ["-n2"]}, ("args", 0), "wires the ranks", id="a value in the same word"),
        pytest.param({"args": ["--data_parallel_rank", "1"]}, ("args", 0), "wires the ranks", id="underscores"),
        pytest.param(
            {"command": [*WORKER, "--headless"], "args": ["--seed=1"]}, ("command", 3), "flags in args", id="flags",
        ),
        pytest.param({"livenessProbe": {"periodSeconds": 1}}, ("livenessProbe",), "a port of its own", id="liveness"),
        pytest.param({"readinessProbe": {"httpGet": {"port": 1}}}, ("readinessProbe",), "of its own", id="readiness"),
        pytest.param({"startupProbe": {"exec": {}}}, ("startupProbe", "exec"), "remove the handler", id="startup"),
        pytest.param(
            {"env": [{"name": "A"}, {"name": "DYN_NAMESPACE"}]}, ("env", 1, "name"), "set by", id="a variable",
        ),
    ],
)  # fmt: skip
def test_a_field_of_the_engine_is_refused(engine: Json, end: tuple[str | int, ...], says: str) -> None:
    error = _refused(_with(engine))
    assert error.path == (*ENGINE, *end)
    assert says in error.message


@pytest.mark.parametrize("engine", dialects.DIALECTS)
def test_every_refused_flag_is_refused_with_its_reason(engine: EngineType) -> None:
    for flag, why in dialects.REFUSED[engine].items():
        for words in ([flag, "1"], [f"{flag}=1"]):
            error = _refused(_with({"args": words}, kind=engine), replica={"engine": engine})
            assert error.path == (*ENGINE, "args", 0)
            assert error.message == f"{words[0]} cannot be given with Dynamo: {why}"


@pytest.mark.parametrize(
    "word",
    ["a;b", "a|b", "a&b", "a>b", "a<b", "(a)", "*", "a?", "a#b", "~", "it's", "$(HOST)", 'say "$(HOST)"', "", "a'b c"],
)
def test_over_nodes_a_word_that_a_shell_would_change_is_refused(word: str) -> None:
    error = _refused(_with({"args": ["--new", word]}, topology=kserve.GANG))
    assert error.path == (*ENGINE, "args", 1)
    assert "line of a shell" in error.message
    backend.check(dynamo.asked(dynamo.replica(_with({"args": ["--new", word]}))))


@pytest.mark.parametrize("word", ['{"a": "b c"}', "$HOME", "a b", "`x`", "a\\b", "[1,2]", "--x=1,2:3", "a!b"])
def test_over_nodes_a_word_that_the_operator_quotes_is_taken(word: str) -> None:
    backend.check(dynamo.asked(dynamo.replica(_with({"args": ["--new", word]}, topology=kserve.GANG))))


@pytest.mark.parametrize("split", [0, 1, 2])
def test_over_nodes_the_words_behind_the_command_of_a_worker_are_held_to_the_same(split: int) -> None:
    """Dynamo's own command may be written out, in command, in args or in both."""
    written = {"command": list(WORKER[:split]), "args": [*WORKER[split:], "--new", "a;b"]}
    error = _refused(_with(written, topology=kserve.GANG))
    assert error.path == (*ENGINE, "args", len(WORKER) - split + 1)
    assert "line of a shell" in error.message
    whole = _refused(_with({"command": [*WORKER, "--new", "a;b"]}, topology=kserve.GANG))
    assert whole.path == (*ENGINE, "command", len(WORKER))
    backend.check(dynamo.asked(dynamo.replica(_with({"command": list(WORKER), "args": ["--seed", "1"]}))))


def test_over_nodes_the_devices_of_a_node_are_those_of_its_ranks() -> None:
    """The operator compares the sizes with the devices that a claim or a limit says."""
    role = dynamo.role(topology=Topology(data=8, data_local=4), devices=(replicas.device(count=8),))
    error = _refused(role)
    assert error.path == ("spec", "nodeSelector", "devices", 0, "count")
    assert "8 here, and the topology has 4 per node" in error.message
    alone = dynamo.role(topology=Topology(tensor=4), devices=(replicas.device(count=8),))
    backend.check(dynamo.asked(dynamo.replica(alone)))


def test_all_devices_of_a_node_are_no_number() -> None:
    role = dynamo.role()
    spec = dataclasses.replace(role.spec, requests=(Request("gpu", 1, mode=Mode.ALL),))
    error = _refused(dataclasses.replace(role, spec=spec))
    assert error.path == ("spec", "nodeSelector", "devices", 0, "allocationMode")


def test_reserved_names_are_refused() -> None:
    template = dynamo.template(sidecars=[{"name": "main", "image": "busybox"}])
    error = _refused(dynamo.role(pod_template=template))
    assert error.path == ("spec", "workers", "template", "spec", "containers", 1, "name")
    volume = dynamo.template(volumes=[{"name": "wait-leader-script", "emptyDir": {}}])
    error = _refused(dynamo.role(topology=kserve.GANG, pod_template=volume))
    assert error.path == ("spec", "workers", "template", "spec", "volumes", 0, "name")
    backend.check(dynamo.asked(dynamo.replica(dynamo.role(pod_template=volume))))


def test_a_refusal_in_prefill_says_so() -> None:
    prefill = dynamo.role(Role.PREFILL, pod_template=dynamo.template(engine={"args": ["--port=1"]}))
    error = _refused(dynamo.role(), prefill)
    assert error.path == ("spec", "prefill", "workers", "template", "spec", "containers", 0, "args", 0)
