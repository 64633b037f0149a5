"""Plan of a route through the relay, for endpoints that no single rule can hold.

A rule of Envoy Gateway fails over by priority only while it is one cluster of Envoy, with one credential, one path and
one kind of address. Where endpoints differ in these, they are gathered into legs: endpoints of one group that one rule
can hold. Each leg has a route of its own at the relay, which sets its credential, path and TLS. The rule of the service
is one cluster again, because all its endpoints are the relay, asked for one leg or another by Host.

A rule has one priority in use and one standby. Where there are more, the standby of the service's rule is a chain: a
leg with a rule of its own at the relay, which has the second priority in use, and as its standby the third or the next
chain. So each priority after the second is one more hop away, and costs that only when all before it fail.

A leg judges its endpoints: it leaves out those that fail, and answers 503 at once when none is left or when all are
full. The rule of the service ejects nothing; it repeats what failed at the next priority. So a full endpoint still gets
as many requests as it can serve, and an answer that has begun is never repeated, as in any rule.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from modelplane import names
from modelplane.errors import Unsupported
from modelplane.routing import plan
from modelplane.routing.features import RELAYED, Feature
from modelplane.routing.model import Endpoint, Gateway, Relay, Retries, Service
from modelplane.routing.plan import Bundle, Candidate, Leg, Plan, Target, Variant
from modelplane.routing.url import AddressKind, Scheme, Url

HEADER = "x-modelplane-relay"
"""The header with the token; no endpoint receives it, and no credential may have its name (`headers`)."""
PORT = 8080
_DOMAIN = f"relay.{names.INTERNAL_DOMAIN}"
_CURED = frozenset({"PathPrefixConflict", "CredentialConflict", "AddressKindConflict", "TooManyPriorities"})
_LIMIT = "spec.endpoints[].maxRequests"
# The relay answers with it where it could not send a request to any endpoint of a leg.
_UNSENT = 503


def decide(
    service: Service, matched: Sequence[Sequence[Candidate]], offered: frozenset[Feature], gateway: Gateway
) -> Plan:
    """Return the plan of the route of `service`: that of one rule if there is one, else one through the relay.

    An AI gateway needs no relay, because its rule takes endpoints of any credential and path.

    Raises: Unsupported if the gateway cannot express it, with the reason of a condition and a correction.
    """
    if Feature.MODEL_ROUTING in offered:
        _check_unlimited(service)
        return plan.decide(service, matched, offered, gateway.place)
    try:
        plain = plan.decide(service, matched, offered, gateway.place)
    except Unsupported as error:
        if error.reason not in _CURED or _wishes(service):
            raise
        relay = _relay(service, gateway, error)
    else:
        if not any(group.max_requests for group in service.groups):
            return plain
        if _wishes(service):
            raise Unsupported(
                f"{_LIMIT} needs a relay, which stands before the choice of {', '.join(_wishes(service))}; "
                "leave out one of them, or use a separate ModelService",
                reason="NotOffered",
            )
        relay = _relay(
            service,
            gateway,
            Unsupported(f"{_LIMIT} needs a relay, and the gateway has none for this namespace", reason="NotOffered"),
        )
    _check(service)
    return _through(service, relay, plan.decide(service, matched, offered | RELAYED))


def without(decided: Plan, refused: Mapping[str, str], service: Service, relay: Relay | None) -> Plan:
    """Return the plan without the legs whose route the gateway refuses; `refused` has its words by the leg's key.

    Requests that worked go on that way. If the gateway refuses all legs, the plan stays as it is.
    """
    chained = {leg.priority: refused[leg.key] for leg in decided.legs if leg.is_chain and leg.key in refused}
    # Without its chain a priority is the last.
    last = min(chained, default=max((leg.priority for leg in decided.legs), default=0))
    ends = [leg for leg in decided.legs if not leg.is_chain]
    left = [leg for leg in ends if leg.key not in refused and leg.priority <= last]
    if not left or len(left) == len(ends) or relay is None:
        return decided
    gone = [leg for leg in ends if leg not in left]
    notes = [
        f"{', '.join(_members(leg))}: the gateway refuses the route at the relay: "
        f"{refused.get(leg.key) or chained[last]}; left out of the service until this is corrected"
        for leg in gone
    ]
    names_gone = {name for leg in gone for name in _members(leg)}
    whole = replace(
        decided,
        targets=tuple(target for target in decided.targets if target.endpoint.name not in names_gone),
        notes=(*decided.notes, *notes),
        is_complete=False,
    )
    found = _with_ways(whole, ends, left, (service, relay))
    known = {leg.key for leg in found.legs}
    # A chain that nothing asks for now stays, as the legs do, so that it stands when it is asked for again.
    return replace(found, legs=(*found.legs, *(leg for leg in decided.legs if leg.is_chain and leg.key not in known)))


def domain(namespace: str) -> str:
    """Return the domain of the legs of a namespace at the relay."""
    return f"{namespace}.{_DOMAIN}"


def seen_header(service: Service) -> str:
    """Return the header of requests that passed the service; one that comes back with it went in a circle."""
    return f"x-modelplane-seen-{names.digest('seen', service.namespace, service.name)}"


def outer(retries: Retries) -> Retries:
    """Return the retries of the service's rule, to which an endpoint that could not be reached is an answer of 503."""
    codes = {*retries.status_codes, *((_UNSENT,) if retries.triggers else ())}
    return replace(retries, status_codes=tuple(sorted(codes)))


def inner(retries: Retries, endpoints: int) -> Retries:
    """Return the retries of a leg, at others of its endpoints.

    Two, because Envoy takes the endpoint with the fewest requests, which until it is left out is the one that fails.
    With two a chain asks the next one once: with more, each chain would multiply the requests of those behind it.
    """
    return replace(retries, attempts=min(retries.attempts, 2) if endpoints > 1 else 0)


def _check_unlimited(service: Service) -> None:
    if any(group.max_requests for group in service.groups):
        raise Unsupported(
            f"{_LIMIT} needs {Feature.SATURATION}, which this gateway does not offer: remove it, or use an "
            "InferenceGateway of type Envoy with a relay",
            reason="NotOffered",
        )


def _wishes(service: Service) -> list[str]:
    """Return the fields by which endpoints are compared with each other. Before a relay only legs can be."""
    balancing = service.balancing
    affinity = ["spec.affinity"] if balancing.affinity is not None else []
    return [*affinity, *(f"spec.{name}" for name in balancing.shared_causes)]


def _relay(service: Service, gateway: Gateway, cause: Unsupported) -> Relay:
    """Return the relay that the service may use. Raises: Unsupported for `cause` if there is none."""
    relay = gateway.relay
    if relay is None or service.namespace not in relay.namespaces:
        raise Unsupported(
            f"{cause.message}; or ask the platform team to add namespace {service.namespace} to InferenceGateway "
            f'"{gateway.name}" spec.relay.namespaces',
            reason=cause.reason,
        )
    if not relay.is_ready:
        raise Unsupported(
            f'the service needs the relay of InferenceGateway "{gateway.name}", which is not programmed yet; see its '
            "condition Relay",
            reason="RelayNotReady",
        )
    return relay


def _check(service: Service) -> None:
    retries, groups = service.retries, [group for group in service.groups if group.weight]
    fails_over = len({group.priority for group in groups}) > 1 or any(group.max_requests for group in groups)
    if fails_over and not (retries.attempts and (retries.triggers or _UNSENT in retries.status_codes)):
        raise Unsupported(
            "the endpoints differ in credential, path, kind of address or maxRequests, and such a service fails over "
            'by retries; set spec.retries.attempts to at least 1 and add connect-failure or "503" to "on"',
            reason="RetriesNeeded",
        )
    if not service.uid:
        raise Unsupported("the ModelService has no metadata.uid yet; it is created once it is stored", reason="Waiting")


def _through(service: Service, relay: Relay, decided: Plan) -> Plan:
    gathered: dict[tuple[int, str], list[Target]] = {}
    for target in decided.targets:
        gathered.setdefault((target.group, _shape(target.endpoint)), []).append(target)
    if len(gathered) > plan.MAX_BACKENDS:
        raise Unsupported(
            f"the endpoints differ in {len(gathered)} ways (credential, path, kind of address); a rule allows "
            f"{plan.MAX_BACKENDS}; use fewer groups, or one Secret and path for more of them",
            reason="TooManyEndpoints",
        )
    legs = [_leg(service, relay, decided, members, shape) for (_, shape), members in gathered.items()]
    whole = replace(
        decided,
        variant=Variant.RELAYED,
        prefix="",
        credential=None,
        health=None,
        notes=(*decided.notes, *(note for leg in legs for note in leg.plan.notes)),
        token=names.digest("relay", service.uid, service.namespace, service.name, digits=64),
    )
    return _with_ways(whole, legs, legs, (service, relay))


def _with_ways(whole: Plan, legs: Sequence[Leg], used: Sequence[Leg], own: tuple[Service, Relay]) -> Plan:
    """Return the plan with the rules that ask for the `used` ones of its legs: that of the service, and the chains."""
    service, relay = own
    levels = sorted({leg.priority for leg in used})
    chains: list[Leg] = []
    for level in reversed(levels[1:-1]):
        chains.append(_chain(own, whole, _ways(used, level, chains), level))
    ways = _ways(used, levels[0], chains) if levels else ()
    return replace(
        whole,
        bundles=_standing([(leg, _hop(service, relay, leg)) for leg in ways]),
        legs=(*legs, *reversed(chains)),
    )


def _ways(legs: Sequence[Leg], level: int, chains: Sequence[Leg]) -> tuple[Leg, ...]:
    """Return what one rule asks for: the legs of a priority, and as standby those of the last or the next chain."""
    after = [leg for leg in legs if leg.priority > level]
    following = min((leg.priority for leg in after), default=level)
    standby = [chain for chain in chains if chain.priority == following] or after
    return (*(leg for leg in legs if leg.priority == level), *standby)


def _chain(own: tuple[Service, Relay], whole: Plan, ways: Sequence[Leg], level: int) -> Leg:
    """Return the leg that stands for all endpoints from a priority on."""
    service, relay = own
    key = names.digest("chain", str(level))
    name = names.hashed(service.name, of=("leg", key))
    asked = replace(
        whole,
        targets=tuple(target for target in whole.targets if target.priority >= level),
        bundles=_standing([(leg, _hop(service, relay, leg)) for leg in ways]),
        notes=(),
        # What asked for the chain has set the token, and the legs behind it remove it.
        token="",
    )
    return Leg(key, name, f"{name}.{domain(service.namespace)}", weight=1, priority=level, plan=asked)


def _leg(service: Service, relay: Relay, decided: Plan, members: Sequence[Target], shape: str) -> Leg:
    group = service.groups[members[0].group]
    endpoints = [member.endpoint for member in members]
    key = names.digest("leg", group.selector.text(), shape)
    name = names.hashed(service.name, of=("leg", key))
    alike = {endpoint.health for endpoint in endpoints}
    targets = tuple(replace(member, weight=1, priority=0) for member in members)
    through_one = -(-group.max_requests * len(endpoints) // relay.replicas)
    return Leg(
        key=key,
        name=name,
        host=f"{name}.{domain(service.namespace)}",
        weight=sum(member.weight for member in members),
        priority=members[0].priority,
        plan=replace(
            decided,
            variant=Variant.SHARED,
            prefix=endpoints[0].url.prefix,
            targets=targets,
            bundles=plan.bundles(service.groups, targets),
            credential=endpoints[0].credential,
            health=next(iter(alike)) if len(alike) == 1 else None,
            notes=tuple(plan.unchecked(endpoints, is_shared=True)),
            max_parallel=through_one,
        ),
    )


def _shape(endpoint: Endpoint) -> str:
    """Return what the endpoints of one rule have in common. Their TLS settings may differ: each Backend has its own."""
    return "|".join((endpoint.url.prefix, endpoint.address_kind.value, plan.credential_text(endpoint.credential)))


def _hop(service: Service, relay: Relay, leg: Leg) -> Bundle:
    """Return the relay as the only endpoint of a Backend, asked for `leg`."""
    url = Url(Scheme.HTTP, AddressKind.FQDN, relay.host, PORT)
    endpoint = Endpoint(namespace=service.namespace, name=leg.name, url=url, host=leg.host)
    return Bundle(leg.key, (endpoint,), leg.weight, standby=False, tls=None)


def _standing(hops: Sequence[tuple[Leg, Bundle]]) -> tuple[Bundle, ...]:
    """Return the Backends; the lowest priority that has any is the one in use."""
    in_use = min((leg.priority for leg, _ in hops), default=0)
    return tuple(replace(bundle, standby=leg.priority > in_use) for leg, bundle in hops)


def _members(leg: Leg) -> list[str]:
    return [target.endpoint.name for target in leg.plan.targets]
