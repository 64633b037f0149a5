"""The ways in which devices are claimed: what each matching pool needs, and what a backend can use of it.

DRA or device plugin is a property of a pool's devices. A backend that cannot claim them cannot serve there, however
well they match.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from modelplane.devices import matching
from modelplane.devices.matching import Match, Miss, MissKind, Option
from modelplane.devices.model import Claim, NodeClass
from modelplane.placement.scheduling import filters
from modelplane.placement.snapshot import ANY_CLAIM, Demand, Fleet, Intent, Ways


def usable(match: Match, node_class: NodeClass, claims: frozenset[Claim]) -> Match:
    """Return the match without the options that the backend cannot claim."""
    if claims >= ANY_CLAIM or not match.options:
        return match
    needed = {option: _needed(option, node_class) for option in match.options}
    kept = tuple(option for option in match.options if needed[option] <= claims)
    if kept:
        return replace(match, options=kept)
    asked, able = _told(frozenset().union(*needed.values()) - claims), _told(claims)
    return Match(
        (), Miss(MissKind.UNCLAIMABLE, "", f"its devices are claimed by {asked}, the backend claims by {able}")
    )


def ways(fleet: Fleet, demand: Demand, intent: Intent) -> Mapping[str, tuple[Ways, ...]]:
    """Return the clusters that the deployment may use, and what each needs to claim for every role.

    The backends of a cluster and the caches on it are not asked for: who asks this has no backend yet.
    Raises: InvalidSelector (the author's fault).
    """
    found: dict[str, tuple[Ways, ...]] = {}
    nothing = tuple(frozenset[frozenset[Claim]]() for _ in demand.roles)
    # A fleet has many classes and clusters, but few ways to claim: each combination of ways is united once.
    of_class: dict[int, tuple[Ways, ...]] = {id(None): nothing}
    united: dict[frozenset[tuple[Ways, ...]], tuple[Ways, ...]] = {}
    of_backends: dict[tuple[str, ...], Intent] = {}
    for name, cluster in filters.by_name(fleet.clusters).items():
        asked = of_backends.get(cluster.backends)
        if asked is None:
            asked = of_backends[cluster.backends] = replace(intent, backends=cluster.backends, cache=None)
        if filters.refusal(cluster, asked) is not None:
            continue
        for pool in cluster.pools:
            if id(pool.node_class) not in of_class and pool.node_class is not None:
                of_class[id(pool.node_class)] = _ways_of_class(pool.node_class, demand)
        ways_there = frozenset([of_class[id(pool.node_class)] for pool in cluster.pools])
        if ways_there not in united:
            columns = zip(nothing, *ways_there, strict=True)
            united[ways_there] = tuple(frozenset[frozenset[Claim]]().union(*column) for column in columns)
        found[name] = united[ways_there]
    return found


def _ways_of_class(node_class: NodeClass, demand: Demand) -> tuple[Ways, ...]:
    matches = (matching.match(node_class, role.requests, role.constraints) for role in demand.roles)
    return tuple(frozenset(_needed(option, node_class) for option in match.options) for match in matches)


def _needed(option: Option, node_class: NodeClass) -> frozenset[Claim]:
    """Return how the devices of an option are claimed. Synthetic ones are not."""
    claims = {device.name: device.claim for device in node_class.devices}
    return frozenset(claims[pick.device] for pick in option.picks) - {Claim.SYNTHETIC}


def _told(claims: frozenset[Claim]) -> str:
    words = {Claim.DRA: "DRA", Claim.DEVICE_PLUGIN: "device plugin"}
    return " and ".join(words[claim] for claim in sorted(claims & words.keys())) or "nothing"
