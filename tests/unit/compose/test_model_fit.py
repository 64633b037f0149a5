"""The condition Fits: what a replica, its deployment and its LLMInference say of a known model, and nothing else."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import pytest

from modelplane.api import replica as replicas
from modelplane.render import fits
from modelplane.workload.model import BoundRole, Model, Replica, Role
from modelplane_functions.compose import llm_inference
from modelplane_functions.exchange import Condition, Observed, Outcome, Ready, Truth
from modelplane_functions.memory.resources import Remembered
from tests.support import replica_world as world
from tests.support import replicas as build
from tests.unit.compose.test_model_deployment import Running

Json = Any

KIMI, LLAMA = "hf://moonshotai/Kimi-K2-Instruct", "hf://meta-llama/Llama-3.1-8B-Instruct"
UNKNOWN = Model("m", "hf://x/y")


def made(uri: str, *roles: Any, **fields: Any) -> Replica:
    return world.replica(*roles, model=Model("m", uri), **fields)


def mixed(*sizes: int) -> BoundRole:
    """Return a role whose one request is served by devices of several sizes."""
    found = world.role(devices=(build.device(count=len(sizes)),))
    kinds = (replace(found.devices[0], device=f"gpu-{size}", count=1, memory_bytes=size) for size in sizes)
    return replace(found, devices=tuple(kinds))


def outcome(value: Replica, **status: Json) -> Outcome:
    document, children = world.running(value)
    document["status"] = {**document.get("status", {}), **status}
    return world.compose(document, world.cluster(), children=children)


def told(found: Outcome) -> Condition | None:
    return next((one for one in found.conditions if one.type == "Fits"), None)


@pytest.mark.parametrize(
    ("value", "truth", "reason"),
    [
        pytest.param(made(LLAMA), Truth.TRUE, "Fits", id="it fits"),
        pytest.param(made(KIMI), Truth.FALSE, "WeightsTooLarge", id="it does not"),
        pytest.param(world.replica(model=UNKNOWN), None, None, id="nobody knows the model"),
        pytest.param(
            made(LLAMA, world.role(devices=(build.device(memory_bytes=None),))),
            Truth.UNKNOWN,
            "MemoryUnknown",
            id="nobody knows the memory",
        ),
        pytest.param(
            made(LLAMA, world.role(devices=(build.device(consumes=(("memory", "10Gi"),)),))),
            Truth.UNKNOWN,
            "DevicesShared",
            id="others have a part of the device",
        ),
        pytest.param(
            made(
                KIMI,
                mixed(10**13, 80 * 10**9),
                world.role(Role.PREFILL, devices=(build.device(memory_bytes=10**13),)),
            ),
            Truth.FALSE,
            "WeightsTooLarge",
            id="the smaller device and the worse role decide",
        ),
    ],
)
def test_a_replica(value: Replica, truth: Truth | None, reason: str | None) -> None:
    found = told(outcome(value))
    assert (found and found.status, found and found.reason) == (truth, reason)


def test_nothing_else_differs() -> None:
    small, unknown = outcome(made(KIMI)), outcome(world.replica(model=UNKNOWN))
    assert told(small) is not None
    assert small.ready is unknown.ready is Ready.TRUE
    assert [one for one in small.conditions if one.type != "Fits"] == list(unknown.conditions)
    assert small.children.keys() == unknown.children.keys()
    assert (small.events, small.ttl_seconds) == (unknown.events, unknown.ttl_seconds)


def test_a_verdict_that_is_not_known_any_more_does_not_stay() -> None:
    before = {"conditions": [{"type": "Fits", "status": "False", "reason": "WeightsTooLarge"}]}
    found = told(outcome(world.replica(model=UNKNOWN), **before))
    assert found is not None
    assert (found.status, found.reason) == (Truth.UNKNOWN, "ModelUnknown")


def test_it_is_computed_once_for_a_spec(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[Replica] = []
    real = fits.of_replica

    def counted(value: Replica) -> Any:
        calls.append(value)
        return real(value)

    monkeypatch.setattr(fits, "of_replica", counted)
    document, children = world.running(made(KIMI))
    calls.clear()
    document["spec"] = Remembered(document["spec"])
    several = [world.compose(document, world.cluster(), children=children) for _ in range(3)]
    assert len(calls) == 1
    assert [told(one) for one in several] == 3 * [told(several[0])]


def verdict(truth: str, message: str) -> Json:
    return {
        "type": "Fits",
        "status": truth,
        "reason": "WeightsTooLarge" if truth == "False" else "Fits",
        "message": message,
    }


@pytest.mark.parametrize(
    ("truths", "expected"),
    [
        pytest.param((None, None), None, id="none tells"),
        pytest.param(("True", "True"), (Truth.TRUE, "-0 on a: m; and 1 more"), id="both fit"),
        pytest.param(("True", "False"), (Truth.FALSE, "-1 on b: m"), id="one does not"),
        pytest.param(("False", None), (Truth.FALSE, "-0 on a: m"), id="one does not, and one does not tell"),
        pytest.param(("Unknown", "True"), (Truth.UNKNOWN, "-0 on a: m"), id="one is not sure"),
    ],
)
def test_a_deployment_tells_what_its_replicas_tell(
    truths: tuple[str | None, ...], expected: tuple[Truth, str] | None
) -> None:
    running = Running()
    before = running.step()
    for key, truth in zip(sorted(key for key in running.children if key.startswith("replica-")), truths, strict=True):
        if truth is not None:
            running.children[key]["status"]["conditions"].append(verdict(truth, "m"))
    after = running.step()
    found = told(after)
    assert (found and (found.status, found.message.replace("llama", ""))) == expected
    assert (after.ready, after.children, after.status) == (before.ready, before.children, before.status)


def test_an_inference_tells_what_its_deployment_tells() -> None:
    spec = {"model": "moonshotai/Kimi-K2-Instruct", "gpu": 1}
    document = {"metadata": {"name": "k2", "namespace": "ml"}, "spec": spec}
    child = {"metadata": {"name": "k2"}, "status": {"conditions": [verdict("False", "k2-0 on a: m")]}}
    plain = llm_inference.compose(Observed(document, {"deployment": {**child, "status": {}}}))
    found = llm_inference.compose(Observed(document, {"deployment": copy.deepcopy(child)}))
    assert told(plain) is None
    assert told(found) == Condition("Fits", Truth.FALSE, "WeightsTooLarge", "k2-0 on a: m")
    assert (found.ready, found.children) == (plain.ready, plain.children)


def test_a_bound_replica_is_read_as_it_is_written() -> None:
    value = made(KIMI)
    assert [one.verdict for one in fits.of_replica(replicas.decode(replicas.encode(value)))] == [
        one.verdict for one in fits.of_replica(value)
    ]
