"""Laws of providers: nobody gets another's key, path or model, and shares stay exact."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from typing import Any

from hypothesis import given
from hypothesis import settings as run_settings
from hypothesis import strategies as st

from modelplane.api import endpoint, service
from modelplane.errors import Unsupported
from modelplane.routing import features, plan, providers
from modelplane.routing.features import GatewayType
from modelplane.routing.url import AddressKind
from tests.support import laws, routing

settings_of_run = run_settings(max_examples=laws.in_proportion(300), deadline=None)
OFFERED = features.features(GatewayType.ENVOY_AI)
HEADERS = ("", "x-api-key", "api-key", "x-goog-api-key")


@st.composite
def endpoints(draw: st.DrawFn, name: str) -> Any:
    """Draw an endpoint that may differ from others in everything that a provider has."""
    host = draw(st.sampled_from([f"{name}.example.com", "api.example.com", "93.184.216.34"]))
    spec: dict[str, Any] = {"api": draw(st.sampled_from([["OpenAI"], ["Anthropic"], ["Anthropic", "OpenAI"]]))}
    if draw(st.booleans()):
        spec["model"] = {"name": draw(st.sampled_from("ab"))}
    if draw(st.booleans()):
        header = draw(st.sampled_from(HEADERS))
        scheme = {"scheme": "Header", "header": header} if header else {}
        spec["auth"] = {"secretRef": {"name": draw(st.sampled_from("kl"))}, **scheme}
    url = f"http://{host}{draw(st.sampled_from(['', '/v1', '/openai']))}"
    return routing.model_endpoint(name, url, ready=draw(st.booleans()), **spec)


@st.composite
def situations(draw: st.DrawFn) -> tuple[Any, list[list[Any]]]:
    """Draw a service of up to three groups with their endpoints."""
    groups, matched = [], []
    for index in range(draw(st.integers(1, 3))):
        weight, priority = draw(st.integers(0, 10)), draw(st.integers(0, 2))
        groups.append(routing.group(deployment=f"d{index}", weight=weight, priority=priority))
        matched.append([draw(endpoints(f"e-{index}-{n}")) for n in range(draw(st.integers(0, 4)))])
    return routing.model_service(*groups), matched


def settings(one: Any) -> Any:
    return one.url.prefix, one.model, one.credential, one.tls, providers.spoken(one), one.address_kind


@settings_of_run
@given(situations())
def test_a_provider_sends_to_each_endpoint_what_is_the_endpoints_own(situation: tuple[Any, list[list[Any]]]) -> None:
    document, matched = situation
    decoded = service.decode(document)
    groups = [[endpoint.candidate(each) for each in group] for group in matched]
    try:
        decided = plan.decide(decoded, groups, OFFERED)
        found = providers.gather(decoded, groups, decided)
    except Unsupported as error:
        assert error.reason in {"AddressKindConflict", "CredentialNotOffered"}, error
        return
    for each in found:
        assert {settings(one) for one in each.endpoints} == {settings(each.endpoints[0])}
    counted = [each for each in found if each.weight]
    assert sorted(one.name for each in counted for one in each.endpoints) == sorted(
        target.endpoint.name for target in decided.targets
    )
    if len(found) > 1:
        assert all(one.address_kind is AddressKind.FQDN for each in found for one in each.endpoints)
    assert len({each.key for each in found}) == len(found)


@given(situations())
def test_shares_of_groups_are_exact_within_a_priority(situation: tuple[Any, list[list[Any]]]) -> None:
    document, matched = situation
    decoded = service.decode(document)
    groups = [[endpoint.candidate(each) for each in group] for group in matched]
    try:
        decided = plan.decide(decoded, groups, OFFERED)
        found = providers.gather(decoded, groups, decided)
    except Unsupported:
        return
    carried: dict[int, int] = defaultdict(int)
    group_of = {target.endpoint.name: target.group for target in decided.targets}
    for each in found:
        if each.weight:
            carried[group_of[each.endpoints[0].name]] += each.weight
    for level in {decoded.groups[index].priority for index in carried}:
        here = [index for index in carried if decoded.groups[index].priority == level]
        total = sum(decoded.groups[index].weight for index in here)
        for index in here:
            share = Fraction(carried[index], sum(carried[one] for one in here))
            assert share == Fraction(decoded.groups[index].weight, total)
