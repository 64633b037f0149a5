"""Other hardware as documents can express it: a pool of a known InferenceClass.

Two things may never happen here: a class that describes devices which its nodes do not have, and a pool that is named
and does not make the replica fit.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from modelplane.placement import ClusterTrial
from modelplane.placement.decision import Change, Closest
from modelplane.placement.diagnosis.changes import MoreNodes, OtherHardware
from modelplane.placement.snapshot import NodeCounts, Pool, RoleDemand
from modelplane_cli.planning.decision import Decision
from modelplane_functions.deployment_facts import Facts

TRIED_MAX = 64
"""Limit of the choices of classes that are tried."""
_NAME_MAX = 63


def is_needed(closest: Closest) -> bool:
    """Return whether a closest miss needs devices that the nodes of its pools do not have."""
    return any(isinstance(change, OtherHardware) for change in closest.changes)


def others(closest: Closest) -> tuple[Change, ...]:
    """Return the changes that remain once the cluster has pools of other hardware."""
    swapped = {change.pool for change in closest.changes if isinstance(change, OtherHardware)}
    return tuple(
        change
        for change in closest.changes
        if not isinstance(change, OtherHardware) and not (isinstance(change, MoreNodes) and change.pool in swapped)
    )


def pools(closest: Closest, facts: Facts, known: Iterable[str]) -> tuple[Pool, ...]:
    """Return pools of `known` classes with which, and with the other changes, the cluster takes the replica.

    They have the fewest nodes. The result is empty if no class helps. Classes that some cluster has come first.
    Cost: a trial of one cluster for each choice, and a few to find the fewest nodes.
    """
    trial = ClusterTrial.of(Decision(facts).snapshot, closest.cluster, others(closest))
    used = {pool.class_name for cluster in facts.fleet.clusters for pool in cluster.pools}
    classes = sorted((name for name in known if name in facts.classes), key=lambda name: (name not in used, name))
    roles = _roles(closest, trial.roles)
    choices = itertools.product(classes, repeat=len(roles))
    for chosen in itertools.islice(choices, TRIED_MAX):
        found = tuple(_named(trial.pools, facts, chosen, [role.pods for role in roles]))
        if trial.fits(found):
            return _smallest(trial, found)
    return ()


def _roles(closest: Closest, roles: Sequence[RoleDemand]) -> list[RoleDemand]:
    """Return the roles that need other hardware."""
    named = {change.role for change in closest.changes if isinstance(change, OtherHardware)}
    return [role for role in roles if role.role in named]


def _named(present: Sequence[Pool], facts: Facts, classes: Sequence[str], nodes: Sequence[int]) -> Iterator[Pool]:
    """Yield a pool of each class, called as it is, or with a number where a pool of the cluster is called so."""
    taken = {pool.name for pool in present}
    for class_name, count in zip(classes, nodes, strict=True):
        stem = class_name.replace(".", "-")
        numbered = (f"{stem[: _NAME_MAX - len(str(number)) - 1].rstrip('-')}-{number}" for number in itertools.count(2))
        name = next(one for one in itertools.chain((stem,), numbered) if one not in taken)
        taken.add(name)
        yield Pool(name, class_name, facts.classes[class_name], NodeCounts(count))


def _smallest(trial: ClusterTrial, found: tuple[Pool, ...]) -> tuple[Pool, ...]:
    """Return the pools with as few nodes as do, one after another."""
    for position in range(len(found)):
        low, high = 0, found[position].nodes.declared
        while high - low > 1:
            middle = (low + high) // 2
            if trial.fits(_with_nodes(found, position, middle)):
                high = middle
            else:
                low = middle
        found = _with_nodes(found, position, high)
    return found


def _with_nodes(found: tuple[Pool, ...], position: int, count: int) -> tuple[Pool, ...]:
    changed = replace(found[position], nodes=NodeCounts(count))
    return (*found[:position], changed, *found[position + 1 :])
