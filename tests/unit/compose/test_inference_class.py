"""InferenceClass: what a schema cannot check, and that a doubtful class still serves."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from modelplane.errors import InvalidInput
from modelplane_functions.compose import inference_class
from modelplane_functions.exchange import Condition, Observed, Outcome, Ready, Truth

Json = Any

H200: Json = {
    "name": "gpu",
    "driver": "gpu.nvidia.com",
    "deviceClassName": "gpu.nvidia.com",
    "count": 8,
    "attributes": {"productName": {"string": "NVIDIA H200"}, "architecture": {"string": "Hopper"}},
    "capacity": {"memory": {"value": "143771Mi"}},
}


def inference_class_of(*devices: Json, status: Json = None) -> Json:
    resource = {
        "apiVersion": "modelplane.ai/v1alpha1",
        "kind": "InferenceClass",
        "metadata": {"name": "h200-8x"},
        "spec": {"devices": list(devices)},
    }
    return resource if status is None else {**resource, "status": status}


def device(**changes: Json) -> Json:
    return {**copy.deepcopy(H200), **changes}


def composed(*devices: Json, status: Json = None) -> Outcome:
    return inference_class.compose(Observed(inference_class_of(*devices, status=status)))


def condition(outcome: Outcome, kind: str) -> Condition:
    (found,) = [entry for entry in outcome.conditions if entry.type == kind]
    return found


def test_sound_class_is_ready() -> None:
    outcome = composed(H200)
    assert outcome.ready is Ready.TRUE
    assert condition(outcome, "Accepted").status is Truth.TRUE
    assert condition(outcome, "MemoryAsPublished").status is Truth.TRUE
    assert outcome.status == {"devices": 8}
    assert (outcome.children, outcome.events, outcome.fatal) == ({}, (), None)


def test_synthetic_devices_are_not_claimable() -> None:
    nic = device(name="nic", driver="dra.net", claim="Synthetic", capacity={}, count=4)
    assert composed(H200, nic).status == {"devices": 8}


@pytest.mark.parametrize(
    ("devices", "says"),
    [
        pytest.param([H200, H200], "spec.devices[1]: gpu is the name of an earlier device", id="same-name-twice"),
        pytest.param(
            [device(attributes={"gpu-type": {"string": "x"}})],
            'spec.devices[0].attributes.gpu-type: must be letters, digits and "_"',
            id="name-no-selector-can-write",
        ),
        pytest.param(
            [device(capacity={"Example.com/memory": {"value": "1Gi"}})],
            "spec.devices[0].capacity.Example.com/memory: must be letters",
            id="domain-in-upper-case",
        ),
        pytest.param(
            [device(attributes={"a" * 33: {"int": 1}})],
            "at most 32 of them",
            id="name-too-long",
        ),
        pytest.param(
            [device(capacity={"memory": {"value": "1Gi"}, "gpu.nvidia.com/memory": {"value": "2Gi"}})],
            "spec.devices[0].capacity.gpu.nvidia.com/memory: is the same as memory",
            id="one-name-in-two-spellings",
        ),
        pytest.param(
            [device(capacity={"memory": {"value": "141GB"}})],
            "spec.devices[0].capacity.memory.value",
            id="unknown-unit",
        ),
        pytest.param(
            [device(attributes={"cudaComputeCapability": {"version": "9.0"}})],
            "spec.devices[0].attributes.cudaComputeCapability.version",
            id="not-a-semantic-version",
        ),
        pytest.param(
            [device(attributes={"a": {"int": 1, "string": "b"}})],
            "spec.devices[0].attributes.a",
            id="two-values",
        ),
    ],
)
def test_refused(devices: list[Json], says: str) -> None:
    outcome = composed(*devices)
    accepted = condition(outcome, "Accepted")
    assert accepted.status is Truth.FALSE
    assert accepted.reason in {"InvalidInput", "InvalidQuantity"}
    assert says in accepted.message
    assert outcome.fatal is not None and says in outcome.fatal
    assert outcome.ready is Ready.FALSE


def test_every_problem_of_names_is_told_at_once() -> None:
    message = condition(composed(H200, device(attributes={"a-b": {"int": 1}})), "Accepted").message
    assert "earlier device" in message and "a-b" in message


@pytest.mark.parametrize(
    ("changes", "publishes"),
    [
        pytest.param({"capacity": {"memory": {"value": "141Gi"}}}, "143771Mi", id="binary-unit"),
        pytest.param({"capacity": {"memory": {"value": "141G"}}}, "143771Mi", id="decimal-unit"),
        pytest.param({"capacity": {"memory": {"value": 151397597184}}}, "143771Mi", id="bytes"),
        pytest.param(
            {"attributes": {"architecture": {"string": "Hopper"}}, "capacity": {"memory": {"value": "80Gi"}}},
            "81559Mi",
            id="by-architecture",
        ),
        pytest.param(
            {
                "driver": "gpu.amd.com",
                "attributes": {"productName": {"string": "AMD_Instinct_MI300X_OAM"}},
                "capacity": {"memory": {"value": "192Gi"}},
            },
            "196592Mi",
            id="amd",
        ),
    ],
)
def test_nominal_memory_is_a_warning(changes: Json, publishes: str) -> None:
    outcome = composed(device(**changes))
    memory = condition(outcome, "MemoryAsPublished")
    assert (memory.status, memory.reason) == (Truth.FALSE, "NominalMemory")
    assert f"so write {publishes}" in memory.message
    assert outcome.ready is Ready.TRUE, "a doubtful class still serves"
    assert outcome.status["warnings"] == [memory.message]
    assert [event.message for event in outcome.events] == [memory.message]


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"capacity": {}}, id="no-memory"),
        pytest.param(
            {
                "attributes": {"productName": {"string": "NVIDIA A100-SXM4-80GB"}},
                "capacity": {"memory": {"value": "80Gi"}},
            },
            id="an-a100-really-has-80Gi",
        ),
        pytest.param({"attributes": {}, "capacity": {"memory": {"value": "80Gi"}}}, id="might-be-an-a100"),
        pytest.param(
            {"attributes": {"productName": {"string": "NVIDIA H100 NVL"}}, "capacity": {"memory": {"value": "94Gi"}}},
            id="unknown-size",
        ),
        pytest.param({"driver": "gpu.example.com", "capacity": {"memory": {"value": "141Gi"}}}, id="other-driver"),
    ],
)
def test_no_warning_without_knowledge(changes: Json) -> None:
    assert condition(composed(device(**changes)), "MemoryAsPublished").status is Truth.TRUE


def test_known_warning_makes_no_second_event() -> None:
    nominal = device(capacity={"memory": {"value": "141Gi"}})
    first = composed(nominal)
    assert composed(nominal, status=first.status).events == ()


def test_reserved_word_is_a_warning() -> None:
    outcome = composed(device(attributes={"example.com/namespace": {"string": "a"}}))
    assert 'selectors must write ["namespace"]' in outcome.status["warnings"][0]
    assert outcome.ready is Ready.TRUE


def test_broken_amount_of_the_node_is_refused() -> None:
    resource = inference_class_of(H200)
    resource["spec"]["node"] = {"memory": "lots"}
    try:
        outcome = inference_class.compose(Observed(resource))
    except InvalidInput:
        pytest.fail("the author's mistake must become a condition")
    assert "spec.node.memory" in condition(outcome, "Accepted").message
