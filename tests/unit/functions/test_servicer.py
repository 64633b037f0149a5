"""What the servicer answers, without a server."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from crossplane.function.proto.v1 import run_function_pb2 as fnv1

from kubecel import interruption
from modelplane.errors import InvalidInput, InvalidSelector, Unsupported
from modelplane_functions import registry, responder, servicer
from modelplane_functions.exchange import Child, Condition, Event, Observed, Outcome, Requirement, Severity, Truth


class Fixed:
    """A composer that answers as told."""

    condition = "ReplicasScheduled"

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def load(self) -> Any:
        return self

    def __call__(self, observed: Observed) -> Outcome:
        if isinstance(self.answer, Exception):
            raise self.answer
        outcome = self.answer(observed) if callable(self.answer) else self.answer
        assert isinstance(outcome, Outcome)
        return outcome


CONTAINER: dict[str, Any] = {"name": "engine", "image": "vllm/vllm-openai:v0.23.0"}
SPEC: dict[str, Any] = {"nodeSelector": {"cel": "true"}, "workers": {"template": {"spec": {"containers": [CONTAINER]}}}}


def request_of(kind: str = "ModelDeployment", *, name: str = "llama", namespace: str = "ml") -> fnv1.RunFunctionRequest:
    request = fnv1.RunFunctionRequest(meta=fnv1.RequestMeta(tag="t"))
    metadata = {key: value for key, value in (("name", name), ("namespace", namespace)) if value}
    request.observed.composite.resource.update(
        {"apiVersion": "modelplane.ai/v1alpha1", "kind": kind, "metadata": metadata, "spec": SPEC}
    )
    return request


def answer(request: fnv1.RunFunctionRequest, outcome: Any) -> fnv1.RunFunctionResponse:
    return responder.answer(request, find=lambda _version, _kind: Fixed(outcome))  # type: ignore[arg-type, return-value]


def fatal(response: fnv1.RunFunctionResponse) -> str:
    (result,) = [r for r in response.results if r.severity == fnv1.SEVERITY_FATAL]
    return result.message


CHILD = Child({"apiVersion": "v1", "kind": "Thing"})


@pytest.mark.parametrize(
    ("error", "reason", "says"),
    [
        pytest.param(
            InvalidSelector("undeclared reference to 'x'", path=("spec", "nodeSelector", "cel")),
            "InvalidNodeSelector",
            "spec.nodeSelector.cel: undeclared reference to 'x'",
            id="selector",
        ),
        pytest.param(
            InvalidInput("is required", path=("spec", "url")), "InvalidInput", "spec.url: is required", id="field"
        ),
        pytest.param(
            Unsupported("KAITO has no pipelines; use KServe", reason="ShapeUnsupported"),
            "ShapeUnsupported",
            "KAITO has no pipelines; use KServe",
            id="unsupported: the message says what to use instead",
        ),
    ],
)
def test_the_authors_mistake_is_a_condition_and_fatal(error: Exception, reason: str, says: str) -> None:
    request = request_of()
    request.observed.resources["replica-llama-0"].resource.update({"apiVersion": "v1", "kind": "Thing"})
    response = answer(request, error)
    (condition,) = response.conditions
    assert (condition.type, condition.status, condition.reason) == (
        "ReplicasScheduled",
        fnv1.STATUS_CONDITION_FALSE,
        reason,
    )
    assert condition.message == says
    assert fatal(response) == f"ModelDeployment ml/llama: {says}; what runs is kept as it is"
    assert not response.desired.resources


def test_a_bug_is_an_error_and_no_answer() -> None:
    with pytest.raises(KeyError):
        answer(request_of(), KeyError("oops"))


def outstanding(fetched: set[str]) -> fnv1.RunFunctionResponse:
    request = request_of()
    for key in fetched:
        request.required_resources[key].SetInParent()
    outcome = Outcome(
        requirements={"clusters": Requirement("v1", "Cluster"), "classes": Requirement("v1", "Class")},
        children={"c": CHILD},
        status={"replicas": 0},
        conditions=(Condition("ReplicasScheduled", Truth.FALSE, "NoMatchingCluster"),),
        events=(Event(Severity.WARNING, "Bad", "bad"),),
        fatal="nothing there",
        ttl_seconds=7,
    )
    return answer(request, outcome)


@pytest.mark.parametrize(
    "fetched",
    [
        pytest.param(set(), id="first-call"),
        pytest.param({"clusters"}, id="second-level: one is there and one is not"),
        pytest.param({"old-name"}, id="seeded: what was wanted last time is not what is wanted now"),
    ],
)
def test_an_outstanding_requirement_leaves_nothing_else_to_say(fetched: set[str]) -> None:
    response = outstanding(fetched)
    assert sorted(response.requirements.resources) == ["classes", "clusters"]
    assert response.meta.ttl.seconds == 7
    assert not response.desired.resources
    assert not response.conditions
    assert not response.results


def test_an_answer_is_whole_once_all_was_fetched() -> None:
    response = outstanding({"clusters", "classes"})
    assert fatal(response) == "nothing there"
    assert sorted(response.requirements.resources) == ["classes", "clusters"]


@pytest.mark.parametrize(
    ("capabilities", "reasons"),
    [
        pytest.param([], [], id="older-crossplane-says-nothing"),
        pytest.param([fnv1.CAPABILITY_CAPABILITIES, fnv1.CAPABILITY_REQUIRED_RESOURCES], [], id="fetches"),
        pytest.param([fnv1.CAPABILITY_CAPABILITIES], ["CrossplaneTooOld"], id="would-apply-our-question-and-delete"),
    ],
)
def test_a_caller_that_cannot_fetch_is_refused(capabilities: list[Any], reasons: list[str]) -> None:
    request = request_of()
    request.meta.capabilities.extend(capabilities)
    response = answer(request, Outcome(requirements={"clusters": Requirement("v1", "Cluster")}))
    assert [c.reason for c in response.conditions] == reasons
    assert [r.reason for r in response.results if r.severity == fnv1.SEVERITY_FATAL] == reasons


def of_size(total: int) -> Outcome:
    """Return an outcome whose response has exactly `total` bytes."""

    def outcome(filling: int) -> Outcome:
        big = Child({"apiVersion": "v1", "kind": "Thing", "spec": {"text": "x" * filling}})
        return Outcome(children={"replica-big": big, "replica-small": CHILD})

    start = total - 1000
    return outcome(start + total - answer(request_of(), outcome(start)).ByteSize())


def test_the_largest_answer_that_arrives_is_sent() -> None:
    response = answer(request_of(), of_size(responder.RESPONSE_MAX_BYTES))
    assert response.ByteSize() == responder.RESPONSE_MAX_BYTES
    assert sorted(response.desired.resources) == ["replica-big", "replica-small"]


def test_one_byte_more_is_refused_before_anything_is_applied() -> None:
    response = answer(request_of(), of_size(responder.RESPONSE_MAX_BYTES + 1))
    assert [c.reason for c in response.conditions] == ["ResponseTooLarge"]
    message = fatal(response)
    assert "4194305 bytes in 2 resources" in message
    assert "replica-big" in message.split("replica-small")[0]
    assert "split the object" in message
    assert response.ByteSize() < 2000


@pytest.mark.parametrize(
    ("request_", "says"),
    [
        pytest.param(fnv1.RunFunctionRequest(), "a request without a composite resource", id="empty-request"),
        pytest.param(request_of("Gadget"), "modelplane.ai/v1alpha1, Kind=Gadget", id="unknown-kind"),
    ],
)
def test_an_unknown_kind_is_told_which_are_known(request_: fnv1.RunFunctionRequest, says: str) -> None:
    response = responder.answer(request_)
    assert [c.reason for c in response.conditions] == ["UnknownKind"]
    message = fatal(response)
    assert says in message
    assert all(kind in message for kind in registry.composers())


def test_a_composite_without_a_name_is_refused() -> None:
    assert "metadata.name: is required" in fatal(responder.answer(request_of(name="")))


def test_another_version_of_a_known_kind_is_unknown() -> None:
    request = request_of()
    request.observed.composite.resource.update({"apiVersion": "modelplane.ai/v9"})
    assert "modelplane.ai/v9, Kind=ModelDeployment" in fatal(responder.answer(request))


def test_a_missing_composer_is_refused_and_breaks_no_other() -> None:
    lost = registry.Composer("no_such_module", "Accepted")
    response = responder.answer(request_of(), find=lambda _version, _kind: lost)
    assert "no composer 'no_such_module'" in fatal(response)


def test_a_composer_that_cannot_be_imported_is_a_bug(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    (tmp_path / "broken_composer.py").write_text("import a_module_that_is_not_there\n")
    import modelplane_functions.compose as package  # noqa: PLC0415 - its path is what this test extends

    monkeypatch.setattr(package, "__path__", [*package.__path__, str(tmp_path)])
    with pytest.raises(ModuleNotFoundError, match="a_module_that_is_not_there"):
        registry.Composer("broken_composer", "Accepted").load()


def test_every_composer_is_prepared_whatever_becomes_of_one(monkeypatch: pytest.MonkeyPatch) -> None:
    prepared: list[str] = []
    fails = {"broken": RuntimeError("a bug"), "not_built": Unsupported("this build has none")}

    class Noted(registry.Composer):
        def prepare(self) -> None:
            prepared.append(self.module)
            if self.module in fails:
                raise fails[self.module]

    kinds = {name: Noted(name, "Accepted") for name in ("a", "broken", "not_built", "z")}
    monkeypatch.setattr(registry, "composers", lambda: kinds)
    runner = servicer.FunctionRunner()
    asyncio.run(runner.prepare())
    runner.close()
    assert prepared == ["a", "broken", "not_built", "z"]


def test_composers_of_this_build_can_be_prepared() -> None:
    for composer in registry.composers().values():
        composer.prepare()


def test_more_objects_than_a_fleet_has_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(responder, "OBJECTS_MAX", 3)
    request = request_of()
    for number in range(2):
        request.observed.resources[f"child{number}"].resource.update({"kind": "Thing"})
    assert not answer(request, Outcome()).results
    request.required_resources["clusters"].items.add().resource.update({"kind": "Thing"})
    response = answer(request, Outcome())
    assert "4 objects have to be read for it, and the limit is 3" in fatal(response)
    assert [condition.reason for condition in response.conditions] == ["OverBudget"]
    assert not response.desired.resources


def test_an_interruption_is_no_answer() -> None:
    with pytest.raises(interruption.Interrupted):
        answer(request_of(), interruption.Interrupted())
