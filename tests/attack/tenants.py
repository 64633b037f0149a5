"""Attacks of one tenant on what belongs to another: its cluster, its gateway, and the host names of its replicas."""

from __future__ import annotations

from typing import Any

from tests.attack import documents as of
from tests.attack import steps
from tests.attack.documents import TEAM
from tests.attack.leaving import PUBLIC_ADDRESS
from tests.attack.plane import Plane, Refused
from tests.attack.play import Play, Theft, after, must, runs

Json = Any
OTHER = "other"
ANY_TAINT = [{"operator": "Exists"}]
HOSTS = (
    *("first-0.other.modelplane.internal", "FIRST-0.Other.Modelplane.Internal", "first-0.other.modelplane.internal."),
    *("x.first-0.other.modelplane.internal", f"{TEAM}.other.modelplane.internal", "modelplane.internal"),
    *("first-0.other.svc", "first-0.other.svc.cluster.local", "FIRST.OTHER.SVC", f"first.other.svc.{TEAM}"),
)
"""Names of replicas and Services of another namespace, and one that only begins like them."""
FOREIGN = tuple(one for one in HOSTS if not one.endswith(TEAM))


def cluster_of_another(play: Play) -> str:
    """A tenant deploys with every toleration and priority, names the cluster, and copies replicas of its owner."""
    cluster = of.cluster(nodes=4, allowedNamespaces={"names": [TEAM]})
    plane = play.settled(of.node_class(), cluster, of.gateway(), of.deployment(), of.service())
    named = {"matchLabels": {"modelplane.ai/cluster": "east"}}

    def deployed(made: Plane) -> None:
        wanted: Json = {"priority": 1000, "tolerations": ANY_TAINT, "clusterSelector": named}
        made.create(of.deployment(replicas=1, namespace=OTHER, **wanted))

    def copied(made: Plane) -> None:
        one = made.get("ModelReplica", TEAM, "first-0")
        own = made.get("ModelDeployment", OTHER, "first")
        for name, is_owned in (("first-0", True), ("forged", False)):
            forged = of.copied(one, name, is_owned=is_owned, priority=1000)
            forged["metadata"]["namespace"] = OTHER
            if is_owned:
                forged["metadata"]["ownerReferences"][0]["uid"] = own["metadata"]["uid"]
            made.create(forged)

    for ended in steps.in_steps(plane, deployed, copied):
        must(OTHER not in {key[1] for key in ended.remote[of.place()]}, "the other tenant runs on the cluster")
    return "nothing of the other tenant is proposed or admitted"


def list_narrowed(play: Play) -> str:
    """The list of a cluster is narrowed while a tenant runs there, which then scales, grows, and is allowed again."""
    plane = play.settled(
        of.node_class(), of.cluster(nodes=6, allowedNamespaces={"names": [TEAM]}), of.gateway(), of.deployment()
    )

    def allowed(*names: str) -> Theft:
        return lambda made: made.edit(
            "InferenceCluster", "", "east", lambda one: one["spec"].update(allowedNamespaces={"names": [*names]})
        )

    def scaled(made: Plane) -> None:
        made.edit("ModelDeployment", TEAM, "first", lambda one: one["spec"].update(replicas=4))

    def grown(made: Plane) -> None:
        made.edit("ModelReplica", TEAM, "first-0", lambda one: one["spec"]["workers"].update(count=2))

    for ended in after(plane, allowed("somebody")):
        must(runs(ended, "first-0") and runs(ended, "first-1"), "a narrowed list stopped what ran")
    for ended in steps.in_steps(plane, allowed("somebody"), scaled, grown):
        must(runs(ended, "first-0") and runs(ended, "first-1"), "what ran is gone")
        must(not runs(ended, "first-2") and not runs(ended, "first-3"), "somebody new runs")
    for ended in steps.in_steps(plane, allowed("somebody"), scaled, allowed(TEAM)):
        must(runs(ended, "first-3"), "who is allowed again is not placed")
    return "what ran runs on; nothing new until it is allowed again"


def host_of_another(play: Play) -> str:
    """An endpoint by hand has the name of another tenant's replica or Service: as URL, as host and as server name."""
    taken = 0
    for host in FOREIGN:
        ways: tuple[tuple[str, Json], ...] = (
            (f"http://{host}", {}),
            (PUBLIC_ADDRESS, {"host": host}),
            (f"https://{PUBLIC_ADDRESS.partition('://')[2]}", {"tls": {"sni": host}}),
            ("https://api.example.com", {"host": host}),
            ("https://api.example.com", {"tls": {"sni": host}}),
        )
        for url, spec in ways:
            for past_schema in (False, True):
                plane = play.settled(of.gateway())
                try:
                    plane.create(of.endpoint("foreign", url, **spec), past_schema=past_schema)
                except Refused:
                    continue
                plane.create(of.service("foreign", selector={"endpoint": "foreign"}))
                plane.settle()
                must(("ModelEndpoint", TEAM, "foreign") in plane.fatal, f"{url} with {spec} is not refused")
                taken += 1
    return f"{len(FOREIGN)} names refused in five places each, {taken} of them by the function after the schema"
