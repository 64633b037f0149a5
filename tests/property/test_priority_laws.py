"""Priorities in a race: when a lower one may come first, and never else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from hypothesis import given

from modelplane import placement
from modelplane.placement.snapshot import Cluster, Fleet
from tests.property.test_placement_promises import bound, rivals, slots
from tests.support import placements as given_
from tests.support.laws import LAW
from tests.support.races import Deployed, Race


def admitted(seen: Mapping[str, Cluster]) -> set[tuple[str, str]]:
    """Cluster and key of everything that is admitted."""
    return {(name, key) for name, cluster in seen.items() for key in cluster.admitted}


def fits_once_more(cluster: Cluster, one: Deployed) -> bool:
    """Whether one replica more fits a cluster, nothing being refused yet."""
    fleet = Fleet((replace(cluster, refused={}),))
    intent = replace(one.intent, replicas=1, max_replicas_per_cluster=0)
    return bool(placement.schedule(fleet, one.demand, intent, given_.NOTHING).placed)


@LAW
@given(slots(), rivals((1, 2, 4, 8)))
def test_a_lower_priority_comes_first_only_while_the_higher_one_is_refused_elsewhere(
    clusters: list[Cluster], racing: list[Deployed]
) -> None:
    """For each round in which it does, the higher one was proposed anew where another of its rank or above came first.

    So a replica loses places to lower ones in no more rounds than replicas of at least its rank are admitted.
    """
    race = Race({cluster.name: cluster for cluster in clusters}, racing)
    for _ in range(bound(racing)):
        before = dict(race.seen)
        names = {one.key: {r.name for r in one.current.replicas} for one in race.deployments}
        race.run_round()
        new = admitted(race.seen) - admitted(before)
        ranks = {
            (r.cluster, f"{one.intent.namespace}/{r.name}"): one.intent.priority
            for one in race.deployments
            for r in one.current.replicas
        }
        for one in race.deployments:
            refused = {
                r.cluster
                for r in one.current.replicas
                if r.name not in names[one.key] and f"{one.intent.namespace}/{r.name}" in race.seen[r.cluster].refused
            }
            if race.placed()[one.key] >= one.intent.replicas:
                continue
            lower = [where for where in new if ranks[where] < one.intent.priority]
            keys = {key for _, key in lower}
            passed = [where for where in lower if fits_once_more(race.without(where[0], keys), one)]
            if passed:
                assert any(where[0] in refused and ranks[where] >= one.intent.priority for where in new), (one, passed)
