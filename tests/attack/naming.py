"""Attacks by names, by values past the schema, and by documents that cannot be read."""

from __future__ import annotations

from typing import Any

from tests.attack import documents as of
from tests.attack import judge
from tests.attack.documents import TEAM
from tests.attack.plane import Plane, Refused
from tests.attack.play import Play, after, must, runs

Json = Any
# The longest names that the schema takes, and longer ones past it.
LONG, LONGER = "a" * 50, "a" * 61
TRIED, TRIED_THOROUGHLY = 60, 3_000


def shared_names(play: Play) -> str:
    """Two prefill gangs, and two clusters, whose names agree in all that a cut keeps."""
    prefill = {
        "nodeSelector": {"cel": "true"},
        "workers": {"topology": {"tensor": 8, "pipeline": 2}, "template": of.template()},
    }
    for start in (LONG, LONGER):
        gangs = [of.deployment(f"{start}-{end}", replicas=1, prefill=prefill) for end in "bc"]
        clusters = [of.cluster(f"{start}-{end}", nodes=4) for end in "xy"]
        plane = play.settled(of.node_class(), *clusters, *gangs, past_schema=True)
        secrets = [of.place(one["metadata"]["name"]) for one in clusters]
        must(sorted(plane.remote) == sorted(secrets), f"the clusters are reached as {sorted(plane.remote)}")
        judge.one_writer_each(plane)
        ran = {workload for place in secrets for workload, _ in judge.pods(plane, place)}
        must(len(ran) == len(gangs), f"{len(ran)} workloads of {len(gangs)} deployments run")
    return "each has its own objects"


def birthday(play: Play) -> str:
    """Thousands of clusters, and of endpoints of one prefix: no two share a name that was cut."""
    tried = TRIED_THOROUGHLY if play.thorough else TRIED
    named: dict[str, set[str]] = {"ClusterProviderConfig": set(), "Backend": set()}
    for number in range(tried):
        plane = Plane(play.channel)
        cluster, endpoint = f"{'c' * 46}-{number:05d}", f"{'e' * 246}-{number:05d}"
        for document in (of.node_class(), of.cluster(cluster), of.endpoint("saas", "https://api.together.xyz/v1")):
            plane.create(document)
        plane.objects["ModelEndpoint", TEAM, endpoint] = plane.objects.pop(("ModelEndpoint", TEAM, "saas"))
        plane.objects["ModelEndpoint", TEAM, endpoint]["metadata"]["name"] = endpoint
        for _ in range(2):
            plane.reconcile("InferenceCluster", "", cluster)
            plane.reconcile("ModelEndpoint", TEAM, endpoint)
        for kind, names in named.items():
            names.update(one["metadata"]["name"] for one in plane.of_kind(kind))
        must(not plane.errors, f"{plane.errors[:1]}")
    found = {kind: len(names) for kind, names in named.items()}
    must(set(found.values()) == {tried}, f"of {tried} each only {found} have names of their own")
    return f"{tried} clusters and {tried} endpoints, no two share a name"


def fewer_than_none(play: Play) -> str:
    """`replicas: -1` gets past the schema; two deployments are named so that one is as the other is cut."""
    plane = play.fleet()

    def below(made: Plane) -> None:
        made.edit("ModelDeployment", TEAM, "first", lambda one: one["spec"].update(replicas=-1), past_schema=True)

    for ended in after(plane, below):
        must(("ModelDeployment", TEAM, "first") in ended.fatal, "nobody tells the author")
    try:
        play.fleet().edit("ModelDeployment", TEAM, "first", lambda one: one["spec"].update(replicas=-1))
    except Refused:
        pass
    else:
        raise judge.Taken("the schema takes -1 replicas")
    wide = [of.node_class(), of.cluster(nodes=4)]
    for length in (51, 62):
        named = [of.deployment(f"{'d' * length}{end}", replicas=1) for end in ("", "e")]
        both = play.settled(*wide, *named, past_schema=True)
        must(len(list(judge.pods(both, of.place()))) == 2, "the second deployment does not run")
    return "refused and everything kept; both deployments run"


def unreadable_cluster(play: Play) -> str:
    """One InferenceCluster cannot be read: deployments name it, go on elsewhere and keep what they have there."""
    plane = play.settled(
        of.node_class(), of.cluster(), of.cluster("west"), of.deployment(replicas=4), of.gateway(), of.service()
    )
    damages: list[Any] = [
        lambda one: one["spec"].update(nodePools="none"),
        lambda one: one["spec"]["nodePools"][0].update(nodeCount="1e99999"),
        lambda one: one["spec"].pop("cluster"),
        lambda one: one.update(spec={}),
        lambda one: one.update(status={"pools": 7, "admissions": "x", "admitted": {}}),
    ]
    for damage in damages:

        def damaged(made: Plane, change: Any = damage) -> None:
            made.guards.remove(judge.within_capacity)  # which reads what is declared
            made.edit("InferenceCluster", "", "west", change, past_schema=True)

        for ended in after(plane, damaged):
            said = ended.fatal.get(("ModelDeployment", TEAM, "first"))
            must(said is None, f"the deployment is refused: {said}")
            must("AttributeError" not in repr(ended.errors), repr(ended.errors))
            must(not ended.errors, repr(ended.errors[:1]))
    return "the deployment goes on, what runs is kept"


def twice_and_huge(play: Play) -> str:
    """A pool is listed twice; `sharedCounters.count` is far past its definition."""
    twice = of.cluster("twice")
    twice["spec"]["nodePools"] *= 2
    plane = play.fleet()
    before = play.server.resident_mb()
    huge = of.node_class("huge")
    huge["spec"]["sharedCounters"] = [{"name": "g", "count": 10**15, "counters": {"memory": {"value": "4"}}}]
    huge["spec"]["devices"][0]["consumesCounters"] = [{"counterSet": "g", "counters": {"memory": {"value": "1"}}}]
    for document in (twice, huge, of.cluster("of-huge", class_name="huge")):
        plane.create(document, past_schema=True)
    plane.guards.append(judge.Standing(plane))
    plane.settle()
    grown = play.server.resident_mb() - before
    must(grown < 200, f"{grown:.0f} MB of memory")
    must(not plane.errors, f"a traceback: {plane.errors[:1]}")
    told = [plane.fatal.get(key, "") for key in (("InferenceCluster", "", "twice"), ("InferenceClass", "", "huge"))]
    must(all(told), f"not told: {told}")
    must(runs(plane, "first-0"), "what ran is gone")
    return f"both refused at their fields, {max(0.0, grown):.0f} MB"
