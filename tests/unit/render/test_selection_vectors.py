"""The choice among seven backends, row by row: two that are rendered, and five that are stood in for by what they can.

Rows whose answer follows from how a pool's devices are claimed are not here: nothing that is rendered is told apart so.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from modelplane.errors import InvalidInput
from modelplane.render.backends import kserve, native, selection
from modelplane.render.backends.selection import Standing
from modelplane.topology.shape import Topology
from modelplane.workload.model import EngineType, Role, Workload
from tests.support import replicas as build

K, L, N, V, D, A, R = "KServe", "LLMD", "Native", "VLLMStack", "Dynamo", "KAITO", "KubeRay"
VLLM, SGLANG, TRTLLM, LLAMACPP, CUSTOM = (
    EngineType.VLLM, EngineType.SGLANG, EngineType.TRTLLM, EngineType.LLAMACPP, EngineType.CUSTOM,
)  # fmt: skip

Able = Callable[[Workload], str]


class _Standin:
    def __init__(self, able: Able) -> None:
        self._able = able

    def check(self, workload: Workload) -> None:
        if why := self._able(workload):
            raise InvalidInput(why)


def _able(engines: set[EngineType], gangs: set[EngineType], split: set[EngineType], more: Able = lambda _: "") -> Able:
    """Return a check by engines: which at all, which over nodes, which with prefill and decode apart."""

    def check(workload: Workload) -> str:
        if workload.engine not in engines:
            return "cannot start this engine"
        if len(workload.roles) > 1 and workload.engine not in split:
            return "cannot split prefill and decode"
        if any(role.topology.is_gang for role in workload.roles) and workload.engine not in gangs:
            return "single node only"
        return more(workload)

    return check


def _plain_env(workload: Workload) -> str:
    engine = workload.roles[0].template["spec"]["containers"][0]
    return "plain env only" if any("valueFrom" in one for one in engine.get("env", ())) else ""


STANDINS = {
    L: _able({*EngineType}, {VLLM, SGLANG, CUSTOM}, {VLLM, SGLANG, CUSTOM}),
    V: _able({VLLM}, set(), set(), _plain_env),
    D: _able({VLLM, SGLANG, TRTLLM}, {VLLM, SGLANG}, {VLLM, SGLANG}),
    A: _able({*EngineType}, set(), set()),
    R: _able({VLLM}, {VLLM}, {VLLM}),
}


@pytest.fixture
def seven(monkeypatch: pytest.MonkeyPatch) -> None:
    table: dict[str, Any] = {K: kserve, N: native, **{name: _Standin(able) for name, able in STANDINS.items()}}
    monkeypatch.setattr(selection, "BACKENDS", table)


def _workload(engine: EngineType = VLLM, topology: Topology | None = None, **more: Any) -> Workload:
    container = {"command": ["/start"]} if engine is CUSTOM else {}
    role = build.role(topology=topology, pod_template=build.template(engine=container)).spec
    return Workload("ml-team", "llama", None, engine, (role,), **more)


def _split(engine: EngineType) -> Workload:
    whole = _workload(engine)
    return replace(whole, roles=(*whole.roles, build.role(Role.PREFILL).spec))


def _spec(workload: Workload) -> dict[str, Any]:
    topology = workload.roles[0].topology
    sizes = {"tensor": topology.tensor, "pipeline": topology.pipeline, "data": topology.data}
    spec: dict[str, Any] = {"engine": {"type": str(workload.engine)}, "workers": {"topology": sizes}}
    return {**spec, "prefill": {}} if len(workload.roles) > 1 else spec


SECRET = {"name": "HF_TOKEN", "valueFrom": {"secretKeyRef": {"name": "hf", "key": "token"}}}
WITH_SECRET = replace(_workload(), roles=(build.role(pod_template=build.template(engine={"env": [SECRET]})).spec,))
BOTH = Topology(pipeline=2, data=2)


@pytest.mark.usefixtures("seven")
@pytest.mark.parametrize(
    ("workload", "standing", "offers", "chosen", "says"),
    [
        pytest.param(_workload(), Standing(), [[K]], K, "1 of 1 clusters", id="1 the only one"),
        pytest.param(_workload(), Standing(K), [[L]], K, "names", id="2 named, though not offered"),
        pytest.param(_workload(), Standing(None, K, is_placed=True), [[L, K]] * 3, K, "is kept", id="3 chosen before"),
        pytest.param(_workload(), Standing(L, K), [[K, L]], L, "names", id="4 named beats chosen before"),
        pytest.param(_workload(), Standing(), [[K], [L, K]], K, "first by name", id="5 a tie goes by name"),
        pytest.param(_workload(), Standing(), [[K], [L, K], [L]], L, "2 of 3", id="6 most votes"),
        pytest.param(_split(SGLANG), Standing(), [[K, L]], L, "1 of 1", id="7 the cache of SGLang"),
        pytest.param(
            _split(SGLANG), Standing(None, K, is_placed=True), [[K, L]], L, "1 of 1", id="8 no longer capable"
        ),
        pytest.param(_split(TRTLLM), Standing(), [[K, L], [N]], None, "", id="9 nobody"),
        pytest.param(_workload(VLLM, BOTH), Standing(), [[K, L]], L, "1 of 1", id="10 both at once"),
        pytest.param(_workload(VLLM, BOTH), Standing(), [[K, N]], N, "1 of 1", id="10 both at once with Native"),
        pytest.param(_workload(VLLM, Topology(pipeline=2)), Standing(), [[V, A, K]], K, "1 of 1", id="11 nodes"),
        pytest.param(_workload(), Standing(), [[V, K]], V, "1 of 1", id="12 the cluster's order"),
        pytest.param(_workload(CUSTOM), Standing(), [[D, R, N]], N, "1 of 1", id="15 an unknown engine"),
        pytest.param(_workload(CUSTOM, Topology(pipeline=2)), Standing(), [[D, A, L]], L, "1 of 1", id="16 its gang"),
        pytest.param(_workload(TRTLLM, Topology(pipeline=2)), Standing(), [[K, L, N]], None, "", id="17 MPI"),
        pytest.param(_workload(), Standing(), [[D, R], [R, D]], D, "preferred for vLLM", id="18 vLLM"),
        pytest.param(
            _workload(VLLM, Topology(tensor=8)), Standing(), [[D, R], [R, D]], R, "several devices", id="19 tensor 8"
        ),
        pytest.param(_split(VLLM), Standing(), [[D, R], [R, D]], D, "prefill and decode apart", id="20 apart"),
        pytest.param(_workload(LLAMACPP), Standing(), [[A], [N]], A, "preferred for llama.cpp", id="21 llama.cpp"),
        pytest.param(_workload(model_cache="c"), Standing(), [[K, N]], None, "", id="22 no cache is offered yet"),
        pytest.param(WITH_SECRET, Standing(), [[V, N]], N, "1 of 1", id="23 a Secret"),
        pytest.param(_workload(), Standing(None, K, is_placed=True), [[L]], K, "is kept", id="25 it runs and stays"),
        pytest.param(_workload(), Standing(None, K), [[L]], L, "1 of 1", id="25 nothing runs and nobody offers it"),
        pytest.param(_workload(), Standing(), [], D, "preferred for vLLM", id="26 no cluster in sight"),
        pytest.param(_workload(), Standing(None, K), [], K, "is kept", id="26 nor does one change the choice"),
    ],
)
def test_the_choice(
    workload: Workload, standing: Standing, offers: list[list[str]], chosen: str | None, says: str
) -> None:
    choice = selection.select(workload, replace(standing, spec=_spec(workload)), offers)
    assert choice.backend == chosen
    assert says in choice.why
    if chosen is None:
        assert sorted(choice.refusals) == sorted({name for offer in offers for name in offer})
        assert all(str(error) for error in choice.refusals.values())


def test_a_backend_that_is_not_rendered_is_refused_with_those_that_are() -> None:
    """Row 24."""
    choice = selection.select(_workload(), Standing(D), [[K]])
    assert choice.backend is None
    (refusal,) = choice.refusals.values()
    assert refusal.reason == "BackendUnavailable"  # type: ignore[attr-defined]  # of Unsupported
    assert f"use one of {', '.join(sorted(selection.BACKENDS))}" in str(refusal)


def test_a_refusal_names_the_backend_that_could() -> None:
    choice = selection.select(_workload(VLLM, BOTH), Standing(K), [[K]])
    assert choice.message.endswith("Native can run the deployment as it is")
    assert "Native can" not in selection.select(_split(SGLANG), Standing(K), [[K]]).message


@pytest.mark.usefixtures("seven")
@pytest.mark.parametrize("spec", [{}, {"workers": 3}, {"engine": {"type": 1}}, {"workers": {"topology": {}}}])
def test_a_rule_that_cannot_be_evaluated_does_not_hold(spec: dict[str, Any]) -> None:
    choice = selection.select(_workload(), Standing(spec=spec), [[D], [R]])
    assert (choice.backend, choice.why.endswith("comes first by name")) == (D, True)
