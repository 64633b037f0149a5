"""The choice among seven backends, row by row: five that are rendered, two that are stood in for by what they can.

Pools are claimed by DRA unless a row says otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import pytest

from modelplane.devices.model import Claim
from modelplane.errors import InvalidInput
from modelplane.placement.snapshot import ANY_BACKEND, Ways
from modelplane.render.backend import Capabilities, Shape
from modelplane.render.backends import kaito, kserve, llmd, native, selection, vllmstack
from modelplane.render.backends.selection import Offer, Standing
from modelplane.topology.shape import Topology
from modelplane.workload.model import EngineType, Model, Role, Workload
from modelplane.workload.rule import Rule
from tests.support import choosing
from tests.support import replicas as build

K, L, N, V, D, A, R = "KServe", "LLMD", "Native", "VLLMStack", "Dynamo", "KAITO", "KubeRay"
VLLM, SGLANG, TRTLLM, LLAMACPP, CUSTOM = (
    EngineType.VLLM, EngineType.SGLANG, EngineType.TRTLLM, EngineType.LLAMACPP, EngineType.CUSTOM,
)  # fmt: skip

IMAGE, MODEL = "lmcache/vllm-openai:v0.3.13", Model("llama", "hf://meta-llama/Llama-3.1-8B-Instruct")
Able = Callable[[Workload], str]


class _Standin:
    def __init__(self, able: Able, name: str = "", claims: frozenset[Claim] = frozenset(Claim)) -> None:
        self._able = able
        none = frozenset[EngineType]()
        self.CAPABILITIES = Capabilities(name, frozenset(Shape), frozenset({"hf"}), none, none, claims)

    def check(self, workload: Workload) -> None:
        if why := self._able(workload):
            raise InvalidInput(why)


def _able(engines: set[EngineType], gangs: set[EngineType], split: set[EngineType]) -> Able:
    """Return a check by engines: which at all, which over nodes, which with prefill and decode apart."""

    def check(workload: Workload) -> str:
        if workload.engine not in engines:
            return "cannot start this engine"
        if len(workload.roles) > 1 and workload.engine not in split:
            return "cannot split prefill and decode"
        if any(role.topology.is_gang for role in workload.roles) and workload.engine not in gangs:
            return "single node only"
        return ""

    return check


STANDINS = {
    D: _able({VLLM, SGLANG, TRTLLM}, {VLLM, SGLANG}, {VLLM, SGLANG}),
    R: _able({VLLM}, {VLLM}, {VLLM}),
}
PLUGIN_ONLY = frozenset({Claim.DEVICE_PLUGIN, Claim.SYNTHETIC})
DRA, PLUGIN = (frozenset({frozenset({claim})}) for claim in (Claim.DRA, Claim.DEVICE_PLUGIN))


def offers_of(lists: Iterable[Iterable[str]], ways: Ways = DRA, roles: int = 1) -> list[Offer]:
    return [Offer(tuple(names), (ways,) * roles) for names in lists]


@pytest.fixture
def seven(monkeypatch: pytest.MonkeyPatch) -> None:
    table: dict[str, Any] = {K: kserve, L: llmd, N: native, A: kaito, V: vllmstack}
    table |= {name: _Standin(able, name) for name, able in STANDINS.items()}
    monkeypatch.setattr(selection, "BACKENDS", table)


def _workload(engine: EngineType = VLLM, topology: Topology | None = None, **more: Any) -> Workload:
    container = {"command": ["/start"]} if engine is CUSTOM else {}
    role = build.role(topology=topology, pod_template=build.template(IMAGE, engine=container)).spec
    return Workload("ml-team", "llama", MODEL, engine, (role,), **more)


def _split(engine: EngineType) -> Workload:
    whole = _workload(engine)
    return replace(whole, roles=(*whole.roles, build.role(Role.PREFILL).spec))


def _spec(workload: Workload) -> dict[str, Any]:
    topology = workload.roles[0].topology
    sizes = {"tensor": topology.tensor, "pipeline": topology.pipeline, "data": topology.data}
    spec: dict[str, Any] = {"engine": {"type": str(workload.engine)}, "workers": {"topology": sizes}}
    return {**spec, "prefill": {}} if len(workload.roles) > 1 else spec


SECRET = {"name": "API_KEY", "valueFrom": {"secretKeyRef": {"name": "hf", "key": "token"}}}
WITH_SECRET = replace(
    _workload(), roles=(build.role(pod_template=build.template(IMAGE, engine={"env": [SECRET]})).spec,)
)
BOTH = Topology(pipeline=2, data=2)


@pytest.mark.usefixtures("seven")
@pytest.mark.parametrize(
    ("workload", "standing", "lists", "chosen", "says"),
    [
        pytest.param(_workload(), Standing(), [[K]], K, "1 of 1 clusters", id="1 the only one"),
        pytest.param(_workload(), Standing(K), [[L]], K, "names", id="2 named, though not offered"),
        pytest.param(_workload(), Standing(None, K, is_placed=True), [[L, K]] * 3, K, "is kept", id="3 chosen before"),
        pytest.param(_workload(), Standing(L, K), [[K, L]], L, "names", id="4 named beats chosen before"),
        pytest.param(_workload(), Standing(), [[K], [L, K]], K, "first by name", id="5 a tie goes by name"),
        pytest.param(_workload(), Standing(), [[K], [L, K], [L]], L, "2 of 3", id="6 most votes"),
        # In the table rows 7 and 8 have KServe, which moves the cache of SGLang by now; KubeRay does not.
        pytest.param(_split(SGLANG), Standing(), [[R, L]], L, "1 of 1", id="7 the cache of SGLang"),
        pytest.param(_split(SGLANG), Standing(), [[K, L]], K, "1 of 1", id="7 KServe moves it by now"),
        pytest.param(
            _split(SGLANG), Standing(None, R, is_placed=True), [[R, L]], L, "1 of 1", id="8 no longer capable"
        ),
        pytest.param(_split(TRTLLM), Standing(), [[K, L], [N]], None, "", id="9 nobody"),
        pytest.param(_workload(VLLM, BOTH), Standing(), [[K, L]], L, "1 of 1", id="10 both at once"),
        pytest.param(_workload(VLLM, BOTH), Standing(), [[K, N]], N, "1 of 1", id="10 both at once with Native"),
        pytest.param(_workload(VLLM, Topology(pipeline=2)), Standing(), [[V, A, K]], K, "1 of 1", id="11 nodes"),
        pytest.param(_workload(), Standing(), [[V, K]], K, "1 of 1", id="13 V cannot claim by DRA"),
        pytest.param(_workload(CUSTOM), Standing(), [[D, R, N]], N, "1 of 1", id="15 an unknown engine"),
        pytest.param(_workload(CUSTOM, Topology(pipeline=2)), Standing(), [[D, A, L]], L, "1 of 1", id="16 its gang"),
        pytest.param(_workload(TRTLLM, Topology(pipeline=2)), Standing(), [[K, L, N]], None, "", id="17 MPI"),
        pytest.param(_workload(), Standing(), [[D, R], [R, D]], D, "preferred for vLLM", id="18 vLLM"),
        pytest.param(
            _workload(VLLM, Topology(tensor=8)), Standing(), [[D, R], [R, D]], R, "several devices", id="19 tensor 8"
        ),
        pytest.param(_split(VLLM), Standing(), [[D, R], [R, D]], D, "prefill and decode apart", id="20 apart"),
        pytest.param(_workload(LLAMACPP), Standing(), [[A], [N]], A, "preferred for llama.cpp", id="21 llama.cpp"),
        pytest.param(_workload(model_cache="c"), Standing(), [[K, N]], K, "1 of 1", id="22 K offers caches by now"),
        pytest.param(_workload(), Standing(None, K, is_placed=True), [[L]], K, "is kept", id="25 it runs and stays"),
        pytest.param(_workload(), Standing(None, K), [[L]], L, "1 of 1", id="25 nothing runs and nobody offers it"),
        pytest.param(_workload(), Standing(), [], D, "preferred for vLLM", id="26 no cluster in sight"),
        pytest.param(_workload(), Standing(None, K), [], K, "is kept", id="26 nor does one change the choice"),
    ],
)
def test_the_choice(
    workload: Workload, standing: Standing, lists: list[list[str]], chosen: str | None, says: str
) -> None:
    offers = offers_of(lists, roles=len(workload.roles))
    choice = choosing.select(workload, replace(standing, spec=_spec(workload)), offers)
    assert choice.backend == chosen
    assert says in choice.why
    if chosen is None:
        asked = sorted({name for names in lists for name in names})
        assert sorted(choice.refusals) == asked
        assert [line.partition(": ")[0] for line in choice.message.splitlines()] == asked
        assert all(str(error) for error in choice.refusals.values())


BOTH_WAYS = DRA | PLUGIN
MIXED = frozenset({frozenset({Claim.DRA, Claim.DEVICE_PLUGIN})})
NO_DEVICE = frozenset({frozenset[Claim]()})
NO_POOL: Ways = frozenset()


@pytest.mark.usefixtures("seven")
@pytest.mark.parametrize(
    ("workload", "named", "offers", "chosen"),
    [
        pytest.param(_workload(), None, [([V, K], PLUGIN)], V, id="12 a device plugin"),
        pytest.param(_workload(), None, [([V, K], DRA)], K, id="13 DRA"),
        pytest.param(_workload(), V, [([V], DRA)], V, id="14 named: placement refuses"),
        pytest.param(WITH_SECRET, None, [([V, N], PLUGIN)], N, id="23 a Secret"),
        pytest.param(_workload(), None, [([V, K], BOTH_WAYS)], V, id="one pool of several is enough"),
        pytest.param(_workload(), None, [([V, K], MIXED)], K, id="both ways on one pool are both needed"),
        pytest.param(_workload(), None, [([V, K], NO_DEVICE)], V, id="nothing is claimed"),
        pytest.param(_workload(), None, [([V], DRA)], None, id="none can claim"),
        pytest.param(_workload(), None, [([V], DRA), ([V], DRA), ([K], DRA)], K, id="two that cannot do not count"),
        pytest.param(_workload(), None, [([V], NO_POOL), ([V], NO_POOL), ([K], DRA)], K, id="no pool, no vote"),
        pytest.param(_workload(), None, [([V], NO_POOL), ([V], NO_POOL), ([K], NO_POOL)], V, id="unless none has one"),
    ],
)
def test_how_devices_are_claimed(
    workload: Workload, named: str | None, offers: list[tuple[list[str], Ways]], chosen: str | None
) -> None:
    listed = [Offer(tuple(names), (ways,)) for names, ways in offers]
    choice = choosing.select(workload, Standing(named, spec=_spec(workload)), listed)
    assert choice.backend == chosen
    if chosen is None:
        assert "VLLMStack: cannot claim devices by DRA" in choice.message
    assert choice.is_guess == all(ways == NO_POOL for _, ways in offers)


@pytest.mark.usefixtures("seven")
def test_each_role_needs_a_pool_whose_devices_can_be_claimed(monkeypatch: pytest.MonkeyPatch) -> None:
    able = _Standin(_able({VLLM}, set(), {VLLM}), V, PLUGIN_ONLY)
    monkeypatch.setitem(selection.BACKENDS, V, able)
    for prefill, chosen in ((PLUGIN, V), (DRA, K)):
        choice = choosing.select(_split(VLLM), Standing(), [Offer((V, K), (PLUGIN, prefill))])
        assert choice.backend == chosen


@pytest.mark.usefixtures("seven")
def test_a_cache_goes_to_the_backend_that_offers_caches() -> None:
    """Row 22 with a backend that mounts no volume in the place of KServe, which offers caches by now."""
    choice = choosing.select(_workload(model_cache="c"), Standing(), offers_of([[V, N]]))
    assert choice.backend == N
    assert "mounts no volume" in next(one.message for one in choice.ballots if one.backend == V)


ANY = [ANY_BACKEND]


@pytest.mark.usefixtures("seven")
@pytest.mark.parametrize(
    ("engine", "lists", "rules", "chosen"),
    [
        pytest.param(VLLM, [ANY], (), D, id="the shipped rules"),
        pytest.param(LLAMACPP, [ANY], (), A, id="for llama.cpp"),
        pytest.param(CUSTOM, [ANY], (), A, id="no rule holds: the name"),
        pytest.param(VLLM, [ANY, ANY, [K]], (), D, id="each votes as others do"),
        pytest.param(VLLM, [ANY, [K], [K]], (), K, id="and is outvoted"),
        pytest.param(VLLM, [ANY], (Rule(L, 60, "true", "ours", "fleet"),), L, id="the platform's is higher"),
        pytest.param(VLLM, [ANY], (Rule(L, 40, "true", "ours", "fleet"),), D, id="the platform's is lower"),
        pytest.param(VLLM, [ANY], (Rule(L, 50, "true", "ours", "fleet"),), D, id="equal: the name"),
        pytest.param(VLLM, [[K], [L]], (Rule(L, 1, "true", "ours", "fleet"),), L, id="between equal votes"),
        pytest.param(VLLM, [[K], [L], [K]], (Rule(L, 9, "true", "ours", "fleet"),), K, id="never against votes"),
        pytest.param(SGLANG, [ANY], (Rule(K, 101, "spec.engine.type == 'sglang'", "ours", "fleet"),), K, id="the spec"),
        pytest.param(VLLM, [[K], [L]], (Rule(K, -1, "true", "ours", "fleet"),), L, id="below those without a rule"),
    ],
)
def test_rules_decide_for_a_cluster_that_offers_all(
    engine: EngineType, lists: list[list[str]], rules: tuple[Rule, ...], chosen: str
) -> None:
    workload = _workload(engine)
    choice = choosing.select(workload, Standing(spec=_spec(workload), rules=rules), offers_of(lists))
    assert choice.backend == chosen


@pytest.mark.usefixtures("seven")
def test_a_rule_that_is_wrong_is_reported_and_disturbs_no_other() -> None:
    rules = (
        Rule(K, 900, "spec.engine.type ==", "half", "fleet"),
        Rule(K, 800, "spec.nothing.there == 1", "absent", "fleet"),
        Rule(K, 700, "1 + 1", "a number", "fleet"),
        Rule(L, 60, "spec.engine.type == 'vllm'", "right", "fleet"),
    )
    choice = choosing.select(_workload(), Standing(spec=_spec(_workload()), rules=rules), offers_of([ANY]))
    assert choice.backend == L
    said = "\n".join(choice.failures)
    assert "rule half of BackendRules fleet counts as no match: it does not compile: line 1, column 20: " in said
    assert "rule absent of BackendRules fleet counts as no match: " in said
    assert "rule a number of BackendRules fleet counts as no match: " in said
    assert "right" not in said


@pytest.mark.usefixtures("seven")
def test_every_backend_that_was_asked_is_told_of() -> None:
    workload = replace(_workload(), engine=VLLM)
    choice = choosing.select(workload, Standing(spec=_spec(workload)), offers_of([[V, K], [K], [R, K], [D]]))
    said = {one.backend: one.message for one in choice.ballots}
    assert choice.backend == K
    assert said[K] == "2 votes"
    assert said[D] == "1 vote, preferred by 50 for vLLM"
    assert said[R] == "1 vote"
    assert said[V].startswith("no vote: cannot claim devices by DRA")


def test_a_backend_that_is_not_rendered_is_refused_with_those_that_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """Row 24."""
    rendered = {name: one for name, one in selection.BACKENDS.items() if name != D}
    monkeypatch.setattr(selection, "BACKENDS", rendered)
    choice = choosing.select(_workload(), Standing(D), offers_of([[K]]))
    assert choice.backend is None
    (refusal,) = choice.refusals.values()
    assert refusal.reason == "BackendUnavailable"  # type: ignore[attr-defined]  # of Unsupported
    assert f"use one of {', '.join(sorted(selection.BACKENDS))}" in str(refusal)


def test_a_refusal_names_the_backend_that_could() -> None:
    choice = choosing.select(_workload(VLLM, BOTH), Standing(K), offers_of([[K]]))
    assert choice.message.endswith("Native can run the deployment as it is")
    assert "Native can" not in choosing.select(_split(SGLANG), Standing(K), offers_of([[K]])).message


@pytest.mark.usefixtures("seven")
@pytest.mark.parametrize("spec", [{}, {"workers": 3}, {"engine": {"type": 1}}, {"workers": {"topology": {}}}])
def test_a_rule_that_cannot_be_evaluated_does_not_hold(spec: dict[str, Any]) -> None:
    choice = choosing.select(_workload(), Standing(spec=spec), offers_of([[D], [R]]))
    assert (choice.backend, choice.why.endswith("comes first by name")) == (D, True)


GANGS, OWN = "leaderworkerset.x-k8s.io/v1", "serving.kserve.io/v1alpha2"


def _lacking(workload: Workload, lists: list[tuple[list[str], set[str]]]) -> list[Offer]:
    ways = (DRA,) * len(workload.roles)
    return [Offer(tuple(names), ways, selection.lacks(workload, frozenset(gone))) for names, gone in lists]


@pytest.mark.parametrize(
    ("workload", "standing", "lists", "chosen"),
    [
        pytest.param(_workload(), Standing(), [([K, N], {OWN})], N, id="the first is not installed"),
        pytest.param(_workload(), Standing(), [([K], {OWN}), ([K], set())], K, id="it is on another cluster"),
        pytest.param(_workload(), Standing(), [([K, N], {GANGS})], K, id="nothing spans nodes"),
        pytest.param(
            _workload(VLLM, Topology(pipeline=2)), Standing(), [([K, N], {GANGS}), ([N, K], set())], N, id="gangs"
        ),
        pytest.param(_workload(VLLM, Topology(pipeline=2)), Standing(), [([K, N], {GANGS})], None, id="none has gangs"),
        pytest.param(_workload(), Standing(), [([ANY_BACKEND], {OWN})], L, id="any backend but that one"),
        pytest.param(_workload(), Standing(K), [([K], {OWN})], K, id="named: placement refuses"),
        pytest.param(_workload(), Standing(None, K), [([K, N], {OWN})], N, id="chosen before, and nothing runs"),
        pytest.param(
            _workload(), Standing(None, K, is_placed=True), [([K, N], {OWN})], K, id="chosen before, and it runs"
        ),
    ],
)
def test_a_cluster_does_not_vote_for_what_is_not_installed_there(
    workload: Workload,
    standing: Standing,
    lists: list[tuple[list[str], set[str]]],
    chosen: str | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(selection, "BACKENDS", {K: kserve, L: llmd, N: native})
    choice = choosing.select(workload, replace(standing, spec=_spec(workload)), _lacking(workload, lists))
    assert choice.backend == chosen
    if chosen is None:
        assert {getattr(error, "reason", "") for error in choice.refusals.values()} == {"BackendNotInstalled"}
        assert all("LeaderWorkerSet 0.8 or later there" in line for line in choice.message.splitlines())
