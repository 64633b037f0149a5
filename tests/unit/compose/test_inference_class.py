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
        pytest.param([H200, H200], "spec.devices[1]: duplicate device name gpu", id="same-name-twice"),
        pytest.param(
            [device(attributes={"gpu-type": {"string": "x"}})],
            'spec.devices[0].attributes.gpu-type: must consist of at most 32 letters, digits and "_"',
            id="name-no-selector-can-write",
        ),
        pytest.param(
            [device(capacity={"Example.com/memory": {"value": "1Gi"}})],
            "spec.devices[0].capacity.Example.com/memory: must consist of at most 32 letters",
            id="domain-in-upper-case",
        ),
        pytest.param(
            [device(attributes={"a" * 33: {"int": 1}})],
            "at most 32 letters",
            id="name-too-long",
        ),
        pytest.param(
            [device(capacity={"memory": {"value": "1Gi"}, "gpu.nvidia.com/memory": {"value": "2Gi"}})],
            "spec.devices[0].capacity.gpu.nvidia.com/memory: duplicates memory",
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
    assert "duplicate device name" in message and "a-b" in message


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
    assert f"write {publishes}" in memory.message
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
            {"attributes": {"productName": {"string": "NVIDIA H100"}}, "capacity": {"memory": {"value": "96Gi"}}},
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


SET: Json = {"name": "gpu", "count": 2, "counters": {"memory": {"value": "80Gi"}, "slice-0": {"value": "1"}}}


def parted_class(sets: Json, *devices: Json) -> Outcome:
    resource = inference_class_of(*devices)
    resource["spec"]["sharedCounters"] = sets
    return inference_class.compose(Observed(resource))


def taking(*takes: Json, **changes: Json) -> Json:
    return device(name="part", consumesCounters=list(takes), count=1, **changes)


def test_parts_of_one_physical_device_are_claimable_as_often_as_they_fit() -> None:
    """Two devices with one place for a slice each, and their whole: two can be held at once, not four."""
    whole = device(name="whole", consumesCounters=[{"counterSet": "gpu"}], count=1)
    part = taking({"counterSet": "gpu", "counters": {"memory": {"value": "10Gi"}}, "placements": [["slice-0"]]})
    outcome = parted_class([SET], whole, part, device(name="apart", count=3))
    assert outcome.status == {"devices": 2 + 3}
    assert condition(outcome, "Accepted").message == "each node has 5 claimable devices"


@pytest.mark.parametrize(
    ("sets", "takes", "changes", "says"),
    [
        pytest.param(
            [SET],
            [{"counterSet": "gpus"}],
            {},
            'consumesCounters[0].counterSet: counter set "gpus" is not in spec.sharedCounters, which has gpu',
            id="unknown-set",
        ),
        pytest.param(
            [SET],
            [{"counterSet": "gpu", "counters": {"cores": {"value": "1"}}}],
            {},
            'counters.cores: counter set gpu has no counter "cores"; it has memory, slice-0',
            id="unknown-counter",
        ),
        pytest.param(
            [SET],
            [{"counterSet": "gpu", "placements": [["slice-0"], ["slice-1"]]}],
            {},
            'placements[1][0]: counter set gpu has no counter "slice-1"',
            id="unknown-counter-of-a-place",
        ),
        pytest.param(
            [SET],
            [{"counterSet": "gpu", "counters": {"memory": {"value": "81Gi"}}}],
            {},
            "counters.memory: must be at most 80Gi, the amount of counter set gpu, not 81Gi; no device would fit",
            id="more-than-there-is",
        ),
        pytest.param(
            [SET],
            [{"counterSet": "gpu", "counters": {"memory": {"value": "10GB"}}}],
            {},
            "consumesCounters[0].counters.memory.value",
            id="unknown-unit",
        ),
        pytest.param([SET], [{"counterSet": "gpu"}] * 2, {}, "has two entries for one counter set", id="set-twice"),
        pytest.param(
            [SET, {**SET, "name": "nic", "count": 4}],
            [{"counterSet": "gpu"}, {"counterSet": "nic"}],
            {},
            "consumes counters of sets with different counts (gpu 2, nic 4)",
            id="sets-of-different-count",
        ),
        pytest.param(
            [SET], [{"counterSet": "gpu"}], {"claim": "Synthetic"}, 'goes with "claim: DRA" only', id="not-claimed"
        ),
        pytest.param([{**SET, "count": 0}], [{"counterSet": "gpu"}], {}, "must be at least 1, not 0", id="no-device"),
        pytest.param(
            [{"name": "gpu", "counters": {f"c{i}": {"value": "1"} for i in range(32)}}],
            [{"counterSet": "gpu", "placements": [[f"c{i}"] for i in range(32)]}],
            {},
            "spec.sharedCounters: has too many possible partitions to be counted; list fewer devices or",
            id="too-many-ways",
        ),
    ],
)
def test_counters_that_cannot_be_are_refused(sets: Json, takes: list[Json], changes: Json, says: str) -> None:
    outcome = parted_class(sets, taking(*takes, **changes))
    assert says in condition(outcome, "Accepted").message
    assert outcome.fatal is not None and says in outcome.fatal


@pytest.mark.parametrize(
    ("profile", "declared", "publishes"),
    [("1g.10gb", "10Gi", "9984Mi"), ("3g.40gb", "40Gi", "40448Mi"), ("7g.80gb", "80G", "81152Mi")],
)
def test_nominal_memory_of_a_slice_is_a_warning(profile: str, declared: str, publishes: str) -> None:
    attributes = {"productName": {"string": "NVIDIA H100 80GB HBM3"}, "profile": {"string": profile}}
    outcome = composed(device(attributes=attributes, capacity={"memory": {"value": declared}}))
    memory = condition(outcome, "MemoryAsPublished")
    assert f"publishes {publishes} for H100 {profile}; write {publishes}" in memory.message
