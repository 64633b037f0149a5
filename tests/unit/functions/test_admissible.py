"""A composite's spec is held to its definition before it is computed with."""

from __future__ import annotations

import copy
import threading
from typing import Any

import pytest
from crossplane.function.proto.v1 import run_function_pb2 as fnv1

from modelplane import structural
from modelplane.errors import InvalidInput
from modelplane_functions import admissible, responder, wire
from modelplane_functions.exchange import Observed
from tests.support import situations

Json = Any


def _deployment(**spec: Json) -> dict[str, Json]:
    found = next(one for one in situations.running() if one.kind == "ModelDeployment")
    document = copy.deepcopy(found.composite)
    document["spec"].update(spec)
    return dict(document)


@pytest.mark.parametrize(
    ("spec", "path"),
    [
        pytest.param({"replicas": -1}, ("spec", "replicas"), id="a number below its bound, which would remove all"),
        pytest.param({"workers": []}, ("spec", "workers"), id="a list for an object"),
        pytest.param({"placement": {"strategy": "Pile"}}, ("spec", "placement", "strategy"), id="no word of the API"),
    ],
)
def test_what_the_api_server_refuses_is_refused_with_its_field(spec: dict[str, Json], path: tuple[str, ...]) -> None:
    with pytest.raises(InvalidInput) as refused:
        admissible.check(Observed(_deployment(**spec)))
    assert refused.value.path == path


def test_what_an_example_says_is_taken_and_an_unknown_field_is_not_read() -> None:
    admissible.check(Observed(_deployment()))
    admissible.check(Observed(_deployment(colour="blue")))


def test_a_spec_is_judged_once_for_each_object_and_again_when_it_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    judged: list[str] = []
    real, here = structural.Kind.problems, threading.get_ident()

    def problems(kind: structural.Kind, document: dict[str, Json]) -> Json:
        if threading.get_ident() == here:  # a server of an earlier test may still be loading its composers
            judged.append(document["metadata"]["name"])
        return real(kind, document)

    monkeypatch.setattr(structural.Kind, "problems", problems)

    def ask(name: str, call: int, **spec: Json) -> None:
        made = _deployment(**spec)
        made["metadata"] |= {"name": name, "annotations": {"call": str(call)}}
        request = fnv1.RunFunctionRequest()
        request.observed.composite.resource.update(made)
        admissible.check(wire.decode(request))

    for call in range(3):
        ask("judged-once", call)
    assert judged == ["judged-once"]
    ask("another", 3)
    ask("judged-once", 4)
    assert judged == ["judged-once", "another"], "objects with equal specs keep their verdicts"
    for _ in range(2):
        with pytest.raises(InvalidInput):
            ask("judged-once", 5, replicas=-1)


def test_a_refusal_holds_what_runs() -> None:
    request = fnv1.RunFunctionRequest()
    request.observed.composite.resource.update(_deployment(replicas=-1))
    response = responder.answer(request)
    assert [result.severity for result in response.results] == [fnv1.SEVERITY_FATAL]
    assert "spec.replicas" in response.results[0].message
    assert [condition.type for condition in response.conditions] == ["ReplicasScheduled"]
