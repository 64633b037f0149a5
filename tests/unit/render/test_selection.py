"""Which backend renders a workload."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from modelplane.errors import InvalidInput, Unsupported
from modelplane.render.backend import Backend
from modelplane.render.backends import kserve, selection
from modelplane.render.backends.selection import Offer, Standing
from modelplane.workload.model import EngineType, Workload
from tests.support import choosing
from tests.support import replicas as build

WORKLOAD = Workload("ml-team", "llama", None, EngineType.VLLM, (build.role().spec,))


def _offered(lists: Iterable[tuple[str, ...]]) -> list[Offer]:
    return [Offer(names) for names in lists]


class _Able:
    """A backend that can do everything, beside the real one."""

    CAPABILITIES = kserve.CAPABILITIES

    def check(self, workload: Workload) -> None: ...

    def render(self, *_: Any) -> tuple[Any, ...]:
        raise AssertionError

    observe = render


class _Unable(_Able):
    def check(self, workload: Workload) -> None:
        raise InvalidInput("not this one", path=("spec", "prefill"))


@pytest.fixture(autouse=True)
def backends(monkeypatch: pytest.MonkeyPatch) -> dict[str, Backend]:
    table: dict[str, Any] = {"KServe": kserve, "A": _Able(), "B": _Able(), "Never": _Unable()}
    monkeypatch.setattr(selection, "BACKENDS", table)
    return table


@pytest.mark.parametrize(
    ("named", "current", "offers", "chosen"),
    [
        pytest.param("B", "A", [("A",)], "B", id="named wins"),
        pytest.param(None, "B", [("A",)], "B", id="a choice once made stays"),
        pytest.param(None, "Never", [("B",)], "B", id="unless it cannot run the workload any more"),
        pytest.param(None, None, [("B", "A"), ("B",), ("A",)], "B", id="most clusters"),
        pytest.param(None, None, [("B",), ("A",)], "A", id="then the name"),
        pytest.param(None, None, [("Never", "B"), ("Never",)], "B", id="filtered by what it can do"),
        pytest.param(None, None, [("Dynamo", "A")], "A", id="one that is not offered is passed over"),
        pytest.param(None, None, [], "A", id="without clusters every one is asked"),
    ],
)
def test_choice(named: str | None, current: str | None, offers: list[tuple[str, ...]], chosen: str) -> None:
    standing = Standing(named, current, is_placed=True)
    assert choosing.select(WORKLOAD, standing, _offered(offers)).backend == chosen


def test_a_named_backend_is_refused_and_never_replaced() -> None:
    choice = choosing.select(WORKLOAD, Standing("Never", "A"), _offered([("A",)]))
    assert choice.backend is None
    assert choice.message == "Never: spec.prefill: not this one; A and B and KServe can run the deployment as it is"


def test_all_refusals_are_told() -> None:
    choice = choosing.select(WORKLOAD, Standing(), _offered([("Never", "Dynamo")]))
    assert choice.backend is None
    assert sorted(choice.refusals) == ["Dynamo", "Never"]
    assert "use one of A, B, KServe, Never" in choice.message


def test_an_unknown_backend_is_unsupported_with_its_reason() -> None:
    with pytest.raises(Unsupported) as caught:
        selection.backend("KubeRay")
    assert caught.value.reason == "BackendUnavailable"


def _mounting(volume: str, **fields: Any) -> Workload:
    template = build.template(engine={"volumeMounts": [{"name": volume, "mountPath": "/x"}]}, **fields)
    return Workload("ml-team", "llama", None, EngineType.VLLM, (build.role(pod_template=template).spec,))


def test_a_mount_that_names_no_volume_is_refused_whatever_the_backend() -> None:
    found = choosing.select(_mounting("data"), Standing(), _offered([("A",)]))
    assert found.backend is None
    refusal = found.refusals["A"]
    assert isinstance(refusal, InvalidInput)
    assert refusal.path[-3:] == ("volumeMounts", 0, "name")
    assert 'no volume is named "data"; write it in volumes' in refusal.message


@pytest.mark.parametrize(
    "workload",
    [
        pytest.param(_mounting("data", volumes=[{"name": "data", "emptyDir": {}}]), id="a volume of the template"),
        pytest.param(_mounting("dshm"), id="a volume that every pod has"),
    ],
)
def test_a_mount_of_a_volume_that_is_there_is_taken(workload: Workload) -> None:
    assert choosing.select(workload, Standing(), _offered([("A",)])).backend == "A"
