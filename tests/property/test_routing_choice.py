"""Laws of the choice of endpoints: each rule has every endpoint once, weights are exact, and edits lose no request."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from modelplane import names
from modelplane.api import endpoint, service
from modelplane.errors import Unsupported
from modelplane.routing import features, plan
from modelplane.routing.features import GatewayType
from modelplane.routing.plan import MAX_BACKENDS, Plan, Variant
from modelplane_functions.exchange import Outcome
from tests.support import laws, routing
from tests.support.serving import Running

Json = Any
OFFERED = features.features(GatewayType.ENVOY)
REGIONS = st.sampled_from(["", "eu", "us", "ap"])
CHOICES: st.SearchStrategy[Any] = st.fixed_dictionaries(
    {},
    optional={
        "locality": st.just({}),
        "affinity": st.sampled_from([{}, {"type": "ClientAddress"}]),
        "ejection": st.just({}),
    },
)


def _placed(name: str, region: str, *, ready: bool, keyed: bool) -> Json:
    more: Json = {"auth": {"secretRef": {"name": "key"}}} if keyed else {}
    document = routing.replica_endpoint(name, "llama", ready=ready, **more)
    if region:
        document["metadata"]["labels"][names.LABEL_REGION] = region
    return document


@st.composite
def situations(draw: st.DrawFn) -> tuple[Json, list[list[Json]], str]:
    """Draw a service of up to three groups over endpoints at places, and the place of the gateway."""
    keyed = draw(st.sampled_from([False, False, True]))
    endpoints = [
        _placed(f"r-{number}", draw(REGIONS), ready=draw(st.booleans()), keyed=keyed and draw(st.booleans()))
        for number in range(draw(st.integers(0, 20)))
    ]
    groups = [
        routing.group(deployment=f"d{number}", weight=draw(st.integers(0, 10)))
        for number in range(draw(st.integers(1, 3)))
    ]
    matched = [[each for each in endpoints if draw(st.booleans())] for _ in groups]
    chosen: Json = draw(CHOICES)
    return routing.model_service(*groups, **chosen), matched, draw(REGIONS)


def _decided(situation: tuple[Json, list[list[Json]], str]) -> Plan | None:
    document, matched, home = situation
    candidates = [[endpoint.candidate(each) for each in group] for group in matched]
    try:
        return plan.decide(service.decode(document), candidates, OFFERED, {names.LABEL_REGION: home})
    except Unsupported as error:
        assert error.reason
        assert len(error.message) > 40, "a refusal says what to do"
        return None


@given(situations())
def test_each_rule_has_every_endpoint_once_and_near_ones_first(situation: tuple[Json, list[list[Json]], str]) -> None:
    decided = _decided(situation)
    if decided is None or decided.variant is Variant.PER_ENDPOINT:
        return
    used = sorted(target.endpoint.name for target in decided.targets)
    for place, bundles in [("", decided.bundles), *((area.place, area.bundles) for area in decided.areas)]:
        assert sorted(each.name for bundle in bundles for each in bundle.endpoints) == used
        assert len(bundles) <= MAX_BACKENDS
        assert len({bundle.key for bundle in bundles}) == len(bundles)
        assert all(bundle.weight > 0 and bundle.endpoints for bundle in bundles)
        assert not bundles or not all(bundle.standby for bundle in bundles), "somebody is first"
        if place:
            for bundle in bundles:
                regions = {each.place.get(names.LABEL_REGION) for each in bundle.endpoints}
                assert place not in regions if bundle.standby else regions == {place}


@given(situations())
def test_weights_are_exact_inside_every_place(situation: tuple[Json, list[list[Json]], str]) -> None:
    decided = _decided(situation)
    if decided is None:
        return
    groups = service.decode(situation[0]).groups
    own = {target.endpoint.name: groups[target.group].weight for target in decided.targets}
    for area in decided.areas:
        near = [bundle for bundle in area.bundles if not bundle.standby]
        total = sum(bundle.weight for bundle in near)
        asked = sum(own[bundle.endpoints[0].name] for bundle in near)
        for bundle in near:
            assert Fraction(bundle.weight, total) == Fraction(own[bundle.endpoints[0].name], asked)


@given(situations(), st.randoms(use_true_random=False))
def test_a_plan_with_choices_is_the_same_in_any_order(
    situation: tuple[Json, list[list[Json]], str], dice: random.Random
) -> None:
    document, matched, home = situation
    shuffled = [dice.sample(group, len(group)) for group in matched]
    assert _decided((document, shuffled, home)) == _decided(situation)


EDITS = st.one_of(
    st.tuples(st.just("choose"), CHOICES),
    st.tuples(st.just("ready"), st.tuples(st.sampled_from(["llama-0", "llama-1", "spare-0"]), st.booleans())),
    st.tuples(st.just("move"), st.tuples(st.sampled_from(["llama-0", "llama-1", "spare-0"]), REGIONS)),
    st.tuples(st.just("home"), REGIONS),
    st.tuples(st.just("groups"), st.integers(0, 1)),
)


def _edit(running: Running, kind: str, what: Any) -> None:
    if kind == "choose":
        for field in ("locality", "affinity", "ejection"):
            running.service["spec"].pop(field, None)
        running.service["spec"] |= what
    elif kind == "ready":
        running.endpoint(what[0])["status"]["ready"] = what[1]
    elif kind == "move":
        running.endpoint(what[0])["metadata"]["labels"][names.LABEL_REGION] = what[1]
    elif kind == "home":
        running.store[0]["metadata"]["labels"] = {names.LABEL_REGION: what}
    else:
        running.service["spec"]["endpoints"] = running.service["spec"]["endpoints"][what:] or [
            routing.group(deployment="llama")
        ]


def _step(running: Running) -> Outcome:
    """Take one step of Crossplane's loop, and check what requests see between it and the next."""
    had = {child["metadata"]["name"] for child in running.children.values()}
    before = "route" in running.children
    outcome = running.compose()
    route = outcome.children.get("route")
    assert route is not None or not before, "a route that serves is never taken away"
    kept = {child.resource["metadata"]["name"] for child in outcome.children.values()}
    if route is not None:
        refs = [ref["name"] for rule in route.resource["spec"]["rules"] for ref in rule["backendRefs"]]
        own = [name for name in refs if name not in {"llama-0", "llama-1", "spare-0"}]
        assert set(own) <= kept
        assert not before or set(own) <= had, "the route refers to what is there already"
        assert len(route.resource["spec"]["rules"]) <= 16
    if before:
        running_refs = {ref["name"] for rule in running.route["rules"] for ref in rule["backendRefs"]}
        assert running_refs & had <= kept | {"llama-0", "llama-1", "spare-0"}, "what the old route uses is kept"
    running.children = routing.observed(outcome)
    return outcome


@settings(max_examples=laws.in_proportion(60), deadline=None)
@given(st.lists(st.tuples(EDITS, st.integers(1, 3)), min_size=1, max_size=8))
def test_no_edit_leaves_a_moment_without_endpoints(edits: list[tuple[tuple[str, Any], int]]) -> None:
    running = Running()
    running.store[0] = routing.inference_gateway(clients={"addressFrom": "Connection"})
    for (kind, what), steps in edits:
        _edit(running, kind, what)
        for _ in range(steps):
            _step(running)
    running.settle()
