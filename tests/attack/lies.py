"""Attacks by what is observed: ledgers between two reads, clusters that lie, and a platform that changes its mind."""

from __future__ import annotations

import copy
from typing import Any

from tests.attack import documents as of
from tests.attack import judge, steps
from tests.attack.plane import Plane, identity
from tests.attack.play import Play, Theft, copy_of, must, runs

Json = Any
LIES = (
    *("169.254.169.254", "127.0.0.1", "::1", "localhost", "kubernetes.default.svc", "metadata.google.internal"),
    *("0x7f000001", "[::ffff:127.0.0.1]", "", "a b", "x" * 300, "gateway.example.com/other/path", "user@10.0.0.1"),
)
ODD: tuple[Json, ...] = (
    None,
    -1,
    10**18,
    True,
    "",
    "text",
    [],
    {},
    ["text"],
    {"text": "text"},
    "1e99999",
    "x" * 70_000,
)


def ledger_between_reads(play: Play) -> str:
    """A cluster's status says that everything is free, or odd things, while deployments look; then it is as it was."""
    plane = play.fleet(of.deployment("second", replicas=1))

    def free(status: Json) -> None:
        for pool in status["pools"]:
            pool["allocations"] = []
            pool["free"] = {"gpu": 99}

    for change in (free, lambda status: status.update(admissions={}), lambda status: status.update(admitted=[])):
        for ended in steps.in_steps(plane, _told(change), _told(change)):
            must(not runs(ended, "second-0"), "the second deployment has the devices")
    for odd in ODD:
        for ended in steps.in_steps(plane, _told(lambda status, odd=odd: status.update(pools=odd, admissions=odd))):
            must(not runs(ended, "second-0"), f"{odd!r:.20}: the second deployment has the devices")
    return f"{3 + len(ODD)} ledgers by hand give nobody anything"


def _told(change: Any) -> Theft:
    """Return an edit of a cluster's status that deployments and replicas see before the cluster does."""

    def theft(made: Plane) -> None:
        made.edit("InferenceCluster", "", "east", lambda one: change(one["status"]), past_schema=True)
        for key in list(made.objects):
            if key[0] in ("ModelDeployment", "ModelReplica"):
                made.reconcile(*key)

    return theft


def cluster_that_lies(play: Play) -> str:
    """A workload cluster says odd things of its workloads and routes, one after the other, and then the truth."""
    plane = play.fleet(of.deployment("second", replicas=1))

    def said(odd: Json) -> Theft:
        def theft(made: Plane) -> None:
            made.is_silent = lambda _manifest: True
            for key, one in list(made.objects.items()):
                if key[0] == "Object" and one["spec"]["forProvider"]["manifest"]["kind"] != "Gateway":
                    lie = {"replicas": odd, "readyReplicas": odd, "conditions": odd, "parents": odd, "url": odd}
                    made.objects[key] = {**one, "status": {"atProvider": {"manifest": {"status": lie}}}}

        return theft

    def truth(made: Plane) -> None:
        made.is_silent = lambda _manifest: False

    for ended in steps.in_steps(plane, *(said(odd) for odd in ODD), truth):
        must(not runs(ended, "second-0"), "the second deployment has the devices")
    return f"{len(ODD)} lies take nothing out of traffic"


def gateway_that_lies(play: Play) -> str:
    """A workload cluster that was taken over says that its gateway is at an address inside the control plane."""
    plane = play.settled(of.node_class(), of.cluster(), of.gateway(), of.deployment(replicas=1), of.service())
    taken = []
    for lie in LIES:
        for ended in steps.in_steps(plane, _gateway_at(lie), keep=False):
            for backend in ended.of_kind("Backend"):
                for one in backend["spec"]["endpoints"]:
                    host = (one.get("ip") or {}).get("address") or (one.get("fqdn") or {}).get("hostname")
                    must(host != lie and not _is_local(str(host)), f"requests go to {host}")
            taken.append(lie)
    return f"{len(LIES)} addresses: requests go to none"


def _is_local(host: str) -> bool:
    return host.startswith(("127.", "169.254.", "::1", "fe80")) or host.endswith(("localhost", ".svc", ".internal"))


def _gateway_at(address: str) -> Theft:
    def theft(made: Plane) -> None:
        made.is_silent = lambda manifest: manifest["kind"] == "Gateway"
        for key, one in list(made.objects.items()):
            manifest = one["spec"].get("forProvider", {}).get("manifest", {}) if key[0] == "Object" else {}
            if manifest.get("kind") == "Gateway":
                seen = copy.deepcopy(one["status"]["atProvider"]["manifest"])
                seen["status"]["addresses"] = [{"type": "IPAddress", "value": address}]
                made.objects[key] = {**one, "status": {**one["status"], "atProvider": {"manifest": seen}}}
        made.guards.append(lambda now: _pinned(now, address))

    return theft


def _pinned(made: Plane, address: str) -> None:
    """Keep what the cluster says, which a report would write over."""
    for key, one in list(made.objects.items()):
        seen = ((one.get("status") or {}).get("atProvider") or {}).get("manifest") or {}
        if key[0] == "Object" and seen.get("kind") == "Gateway" and seen.get("status", {}).get("addresses"):
            seen["status"]["addresses"] = [{"type": "IPAddress", "value": address}]


def cluster_renamed(play: Play) -> str:
    """A cluster in use is deleted, to be made again under another name with the same credentials."""
    plane = play.fleet()
    kept = [one for one in plane.objects.values() if one["kind"] in ("Usage", "ClusterUsage")]
    used = [one for one in kept if one["spec"]["of"]["resourceRef"]["name"] == "east"]
    must(used, "nothing keeps a cluster in use from being deleted")
    anew = of.cluster("anew", nodes=2)
    for ended in steps.in_steps(
        plane, lambda made: made.create(anew), steps.scaled(3), steps.unlabelled, steps.scaled(2), keep=False
    ):
        kept = [one for one in ended.objects.values() if one["kind"] in ("Usage", "ClusterUsage")]
        must(any(one["spec"]["of"]["resourceRef"]["name"] == "east" for one in kept), "its protection is gone")
    return "what is in use is kept from being deleted, whatever its replicas say"


def pool_renamed(play: Play) -> str:
    """A pool in use gets another name, and another again, or has no nodes for a while; another deployment waits.

    Its nodes stay: by labels of the platform, and by those that are the default of its first name.
    """
    for labels in ({"example.com/pool": "h100"}, {"modelplane.ai/pool": "gpu"}):
        plane = play.fleet(of.deployment("second", replicas=1))
        _pooled(labels, "gpu")(plane)
        plane.settle()
        elsewhere = _pooled({"example.com/pool": "other"}, "other", nodeCount=0)
        back = _pooled(labels, "main", nodeCount=2)
        for names in ([back], [back, _pooled(labels, "third"), _pooled(labels, "gpu")], [elsewhere, back]):
            made = copy_of(plane)
            made.guards.remove(judge.within_capacity)  # it reads what is declared, and nothing is for a while
            for ended in steps.in_steps(made, *names, steps.scaled(3)):
                judge.within_capacity(ended)
                must(not runs(ended, "second-0"), "the second deployment has the devices")
    return "its nodes are counted under any name"


def pool_relabelled(play: Play) -> str:
    """A pool in use gets another name and other labels, at once or in steps; its nodes are the same.

    Then another pool has its labels, and those of its name.
    """
    plane = play.fleet(of.deployment("second", replicas=1))
    away = _pools([])
    other = {"name": "main", "className": "h100", "nodeCount": 2, "nodeSelector": {"example.com/pool": "main"}}
    for names in ([_pools([other])], [away, _pools([other])], [_pools([{**other, "nodeCount": 0}]), _pools([other])]):
        made = copy_of(plane)
        made.guards.remove(judge.within_capacity)  # it reads what is declared, and nothing is for a while
        for ended in steps.in_steps(made, *names, steps.scaled(3)):
            judge.within_capacity(ended)
            must(not runs(ended, "second-0"), "the second deployment has the devices")
    for twice in ({"modelplane.ai/pool": "gpu"}, {"modelplane.ai/pool": "gpu", "zone": "a"}):
        pool = {**other, "nodeSelector": twice}
        for ended in steps.in_steps(
            plane, _pools([*plane.get("InferenceCluster", "", "east")["spec"]["nodePools"], pool])
        ):
            must(not runs(ended, "second-0"), "the second deployment has the devices")
    return "its nodes are counted under any name and labels, and once"


def _pools(found: Json) -> Theft:
    return lambda made: made.edit("InferenceCluster", "", "east", lambda one: one["spec"].update(nodePools=found))


def _pooled(labels: Json, name: str, **more: Json) -> Theft:
    said = {"name": name, "nodeSelector": labels, **more}
    return lambda made: made.edit("InferenceCluster", "", "east", lambda one: one["spec"]["nodePools"][0].update(said))


def class_replaced(play: Play) -> str:
    """The class of a pool changes while replicas run: fewer devices, another driver, another DeviceClass, none."""
    plane = play.fleet(of.deployment("second", replicas=1))

    def changed(**device: Json) -> Theft:
        def theft(made: Plane) -> None:
            made.guards.remove(judge.within_capacity)  # it reads what is declared
            made.edit(
                "InferenceClass", "", "h100", lambda one: one["spec"]["devices"][0].update(device), past_schema=True
            )

        return theft

    def gone(made: Plane) -> None:
        made.guards.remove(judge.within_capacity)
        made.objects.pop(("InferenceClass", "", "h100"))

    changes: list[Json] = [
        {"count": 4},
        {"driver": "other.example.com"},
        {"deviceClassName": "other"},
        {"name": "renamed"},
    ]
    for change in [*(changed(**one) for one in changes), gone]:
        for ended in steps.in_steps(plane, change, steps.scaled(3)):
            must(not runs(ended, "second-0") and not runs(ended, "first-2"), "more runs than is there")
    return "what runs stays, and counts as what it holds"


def three_at_once(play: Play) -> str:
    """The ledger is wiped, replicas are edited and the cluster is silent, all before anybody looks."""
    plane = play.fleet(of.deployment("second", replicas=1))

    def all_of_it(made: Plane) -> None:
        made.edit("InferenceCluster", "", "east", lambda one: one.pop("status"), past_schema=True)
        for one in list(made.of_kind("ModelReplica")):
            made.edit(*identity(one), lambda it: it["spec"]["workers"].update(count=3))
        made.is_silent = lambda _manifest: True

    def speaks(made: Plane) -> None:
        made.is_silent = lambda _manifest: False

    for ended in steps.in_steps(plane, all_of_it, steps.unlabelled, speaks):
        must(not runs(ended, "second-0"), "the second deployment has the devices")
    return "what was admitted runs, nothing else does"


def pool_breathes(play: Play) -> str:
    """A pool shrinks, grows and is selected otherwise while another deployment waits for each free node."""
    plane = play.fleet(of.deployment("second", replicas=1))

    def nodes(count: int, **more: Json) -> Theft:
        def theft(made: Plane) -> None:
            if judge.within_capacity in made.guards:
                made.guards.remove(judge.within_capacity)
            made.edit(
                "InferenceCluster", "", "east", lambda one: one["spec"]["nodePools"][0].update(nodeCount=count, **more)
            )

        return theft

    for ended in steps.in_steps(plane, nodes(1), nodes(0), nodes(2), nodes(1, nodeSelector={"a": "b"}), nodes(2)):
        must(not runs(ended, "second-0"), "the second deployment has the devices")
        judge.within_capacity(ended)
    return "what runs stays, and nobody takes its place"


def drained_again_and_again(play: Play) -> str:
    """A cluster is drained, undrained and drained while its status is silent and the deployment is scaled."""
    plane = steps.two_clusters(play, of.deployment("second", replicas=1))

    def silent(made: Plane) -> None:
        made.is_silent = lambda _manifest: True

    def speaks(made: Plane) -> None:
        made.is_silent = lambda _manifest: False

    attempts = (
        silent,
        steps.drained("NoExecute"),
        steps.undrained,
        steps.drained("NoExecute"),
        steps.scaled(4),
        steps.undrained,
        speaks,
    )
    for _ in steps.in_steps(plane, *attempts, keep=False):
        pass
    return "never over capacity"
