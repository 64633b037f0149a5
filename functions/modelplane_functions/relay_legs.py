"""The legs of a relayed service, as children of its composite: what changes when, and what the gateway says of each.

The rule of the service asks for a leg only when the relay has accepted the leg's route. A leg goes only after the rule
that asked for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeAlias

from modelplane.api import gateway_status
from modelplane.api.gateway_status import Verdict
from modelplane.render import relay as rendering
from modelplane.render import routing
from modelplane.render.manifest import Manifest
from modelplane.routing.model import Gateway
from modelplane.routing.plan import Bundle, Leg, Plan
from modelplane_functions import hold, service_facts
from modelplane_functions.exchange import Child, Observed, Ready, Resource
from modelplane_functions.service_facts import Facts

Stage: TypeAlias = Callable[[Mapping[str, Resource], Mapping[str, Manifest], Verdict, frozenset[str]], dict[str, Child]]


def refused(observed: Observed, gateway: Gateway, decided: Plan) -> dict[str, str]:
    """Return the words of the gateway about the legs whose route it refuses, by their keys."""
    found = {leg.key: _verdict(observed, gateway, leg.key) for leg in decided.legs}
    return {key: verdict.message for key, verdict in found.items() if verdict.is_good is False}


def waiting(observed: Observed, gateway: Gateway, decided: Plan) -> frozenset[str]:
    """Return the keys of the Backends that the service's rule must not refer to yet.

    One that it refers to already is not among them: a leg whose status blinks keeps its requests.
    """
    return _waiting(observed, gateway, decided, decided.bundles, observed.children)


def _waiting(
    observed: Observed, gateway: Gateway, decided: Plan, bundles: Sequence[Bundle], own: Mapping[str, Resource]
) -> frozenset[str]:
    """Return the keys of the Backends that a rule must not refer to yet; `own` are the observed objects around it.

    A chain is asked for once the relay has accepted its route and all that this asks for.
    """
    running = own.get(routing.ROUTE_KEY)
    in_use = service_facts.references(running) if running is not None else frozenset()
    legs = {rendering.hop_key(leg.key): leg for leg in decided.legs}
    return frozenset(
        key
        for bundle in bundles
        if (key := routing.bundle_key(bundle)) in legs
        and hold.name_of(own.get(key)) not in in_use
        and not all(_verdict(observed, gateway, one).is_good is True for one in _behind(legs, legs[key]))
    )


def _behind(legs: Mapping[str, Leg], leg: Leg) -> Iterator[str]:
    """Yield the key of a leg, and of a chain those that it asks for."""
    yield leg.key
    if leg.is_chain:
        for bundle in leg.plan.bundles:
            if (key := routing.bundle_key(bundle)) in legs:
                yield from _behind(legs, legs[key])


def children(observed: Observed, facts: Facts, decided: Plan, stage: Stage) -> dict[str, Child]:
    """Return the objects of each leg, in the step of their rollout that `stage` gives."""
    gateway = facts.gateway.gateway
    legs = {leg.key: leg for leg in decided.legs}
    found: dict[str, Child] = {}
    for key, wanted in rendering.leg_manifests(
        facts.service, gateway, decided, hold.standing(observed.children)
    ).items():
        own = _own(observed, key)
        bundles = legs[key].plan.bundles if legs[key].is_chain else ()
        staged = stage(
            own, wanted, _verdict(observed, gateway, key), _waiting(observed, gateway, decided, bundles, own)
        )
        found |= {f"{rendering.prefix(key)}{name}": child for name, child in staged.items()}
    return found


def leaving(
    observed: Observed, decided: Plan, kept: Mapping[str, Child], route: Verdict, judge: Callable[[Resource], Ready]
) -> dict[str, Child]:
    """Return the objects of legs that are not wanted any more and that requests may still be on their way to.

    `kept` are the other children of this step, and `route` is the verdict on the service's route. What a chain asks for
    stays as long as the chain does.
    """
    unwanted = {leg for key in observed.children if (leg := rendering.leg_of(key))} - {leg.key for leg in decided.legs}
    asked = {rendering.asked_for(key) for key in kept}
    staying: set[str] = set()
    while more := {leg for leg in unwanted - staying if leg in asked or route.is_good is None}:
        staying |= more
        asked |= {rendering.asked_for(key) for key in observed.children if rendering.leg_of(key) in more}
    return {
        key: Child(hold.held(child), judge(child))
        for key, child in sorted(observed.children.items())
        if rendering.leg_of(key) in staying
    }


def verdicts(observed: Observed, gateway: Gateway, decided: Plan) -> Iterator[Verdict]:
    """Yield what the gateway says about each object of the legs that the service's rule asks for."""
    legs = {rendering.hop_key(leg.key): leg for leg in decided.legs}
    first = (legs[key] for bundle in decided.bundles if (key := routing.bundle_key(bundle)) in legs)
    asked = {key for leg in first for key in _behind(legs, leg)}
    for leg in decided.legs:
        if leg.key not in asked:
            continue
        verdict = _verdict(observed, gateway, leg.key)
        yield verdict if verdict.is_good else Verdict(verdict.is_good, verdict.reason, _of(leg.plan, verdict.message))
        for child in _own(observed, leg.key).values():
            kind = str(child.get("kind"))
            if kind == "Backend":
                yield gateway_status.backend(child)
            elif kind == "BackendTrafficPolicy":
                yield gateway_status.policy(child, kind)


def _verdict(observed: Observed, gateway: Gateway, key: str) -> Verdict:
    return gateway_status.route(
        observed.children.get(f"{rendering.prefix(key)}{routing.ROUTE_KEY}"),
        gateway_namespace=gateway.gateway_namespace,
        gateway_name=gateway.relay.name if gateway.relay else "",
    )


def _own(observed: Observed, key: str) -> dict[str, Resource]:
    """Return the observed objects of a leg under their own keys."""
    start = rendering.prefix(key)
    return {name.removeprefix(start): child for name, child in observed.children.items() if name.startswith(start)}


def _of(plan: Plan, message: str) -> str:
    endpoints = ", ".join(target.endpoint.name for target in plan.targets)
    return f"the route of {endpoints} at the relay: {message}"
