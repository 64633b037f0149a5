"""Causes for which the endpoints of a service share one cluster of Envoy, and what cannot stand together there.

A hash over one cluster (Maglev) moves few sessions when an endpoint comes or goes, and leaves out endpoints that are
ejected; it does not know the weights of groups. A hash over separate clusters (Envoy Gateway 1.9) divides sessions by
exact weights, moves most of them when the endpoints change, and does not know which are healthy. Source: Envoy Gateway
v1.9.0 (`use_hash_policy`; Maglev without locality weights), seen with a real Envoy in tests/conformance/routing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from modelplane.errors import Unsupported
from modelplane.routing.features import Feature
from modelplane.routing.model import Endpoint, Service

MAX_BACKENDS = 16


def cause(service: Service, known: Sequence[Endpoint], levels: Sequence[int], ready: int) -> str:
    """Return the reason for one cluster of all endpoints, empty if each has its own.

    `known` are the endpoints of groups that receive requests, `levels` their priorities, `ready` the number of ready
    ones.
    """
    if len(levels) > 1:
        return "failover by priority"
    wanted = service.balancing.shared_causes
    if wanted:
        return f"spec.{wanted[0]}"
    if ready > MAX_BACKENDS:
        return f"more than {MAX_BACKENDS} endpoints"
    return "spec.affinity" if _is_one_group_alike(service, known) else ""


def _is_one_group_alike(service: Service, known: Sequence[Endpoint]) -> bool:
    """Return whether a hash may run over all endpoints: one group, so no weights, and one form of all."""
    alike = len({(endpoint.credential, endpoint.address_kind) for endpoint in known}) <= 1
    return service.balancing.affinity is not None and len(_live(service)) == 1 and alike


def check(service: Service, shared: str, offered: frozenset[Feature]) -> None:
    """Check that affinity and locality can stand with the form of the rule; `shared` is the cause of a shared one.

    Raises: Unsupported, with an alternative.
    """
    balancing = service.balancing
    live = _live(service)
    if balancing.locality is not None and len(set(live)) > 1:
        raise Unsupported(
            "spec.locality together with groups of several priorities needs three levels (the client's place, other "
            "places, the standby), and this gateway has two; use one priority, since other places already stand by, "
            "or leave out locality and select by the labels of a place in groups with priorities",
            reason="TooManyPriorities",
        )
    if balancing.affinity is None:
        return
    if not shared:
        if Feature.WEIGHTED_AFFINITY not in offered:
            raise Unsupported(
                "spec.affinity over several groups, or over endpoints that differ in credentials or kind of address, "
                "needs Envoy Gateway v1.9 or later, because this version leaves the choice among them to chance; use "
                "one group of endpoints that are alike, or a later version",
                reason="NotOffered",
            )
    elif max(Counter(live).values(), default=0) > 1:
        raise Unsupported(
            f"spec.affinity together with {shared} ignores the weights of groups, because this gateway hashes over all "
            "endpoints of a level alike; use one group for each priority, or leave out one of the two",
            reason="AffinityIgnoresWeights",
        )


def home(service: Service, place: Mapping[str, str] | None) -> str:
    """Return the place of the gateway by the key of the service's locality, empty if it has none."""
    locality = service.balancing.locality
    return (place or {}).get(locality.topology_key, "") if locality is not None else ""


def notes(service: Service, used: Sequence[Endpoint], own: str) -> Iterator[str]:
    """Yield the places of the endpoints, if near ones come first; `own` is the place of the gateway, if it has one."""
    locality = service.balancing.locality
    if locality is None or not used:
        return
    found = Counter(endpoint.place.get(locality.topology_key, "") for endpoint in used)
    nowhere = found.pop("", 0)
    told = [f"{place} ({number})" for place, number in sorted(found.items())]
    if nowhere:
        told.append(f"{nowhere} without {locality.topology_key}, which only stand by for the others")
    others = f"requests without a known {locality.header} go to {own} first" if own else ""
    others = others or f"requests without a known {locality.header} go to all by weight"
    yield f"by {locality.header} the endpoints of a place come first: {', '.join(told)}, and {others}"


def _live(service: Service) -> list[int]:
    """Return the priority of each group that receives requests."""
    return [group.priority for group in service.groups if group.weight]
