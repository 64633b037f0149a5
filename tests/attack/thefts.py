"""Attacks on the ledger, on what is composed and on what is observed."""

from __future__ import annotations

from typing import Any

from tests.attack import documents as of
from tests.attack import judge
from tests.attack.documents import GPU, PLUGIN, TEAM
from tests.attack.plane import Plane, Refused, identity
from tests.attack.play import Play, Theft, after, each, must, runs

Json = Any
LABEL = "modelplane.ai/cluster"


def label_taken_off(play: Play) -> str:
    """Three replicas of a node each want two nodes; the label of one that runs is taken off."""
    plane = play.fleet(of.deployment("second", replicas=1))
    for ended in after(plane, _edit("first-0", lambda one: one["metadata"]["labels"].pop(LABEL))):
        label = ended.get("ModelReplica", TEAM, "first-0")["metadata"]["labels"].get(LABEL)
        must(label == "east", "the label is not put back")
        must(not runs(ended, "second-0"), "the second deployment has the devices")
    return "the replica counts, its label is put back, the second deployment waits"


def grown(play: Play) -> str:
    """An admitted replica of four devices on sixteen is edited to nine workers, and to other shapes that do not fit."""
    plane = play.settled(of.node_class(), of.cluster(), of.deployment(replicas=1, gpus=4))
    edits = [
        _edit("first-0", lambda one: one["spec"]["workers"].update(count=9)),
        _edit("first-0", lambda one: one["spec"]["devices"][0].update(count=8)),
        _edit("first-0", lambda one: one["spec"]["workers"]["topology"].update(pipeline=3)),
    ]
    for ended in each(plane, edits):
        must(ended.get("ModelReplica", TEAM, "first-0")["spec"]["workers"]["count"] == 1, "it stays edited")
    return "what was admitted runs on, the replica is written back"


def says_it_runs(play: Play) -> str:
    """A ModelReplica is written on a full cluster, with a status of Running, with and without an owner."""
    plane = play.fleet()

    def forged(*, is_owned: bool, **spec: Json) -> Theft:
        def theft(made: Plane) -> None:
            document = of.copied(made.get("ModelReplica", TEAM, "first-0"), "forged", is_owned=is_owned, **spec)
            made.create(document)

        return theft

    thefts = [forged(is_owned=False), forged(is_owned=True), forged(is_owned=True, priority=1000)]
    for ended in each(plane, thefts):
        must(not runs(ended, "forged"), "the forged replica runs")
    return "not admitted, with or without the owner reference of a deployment"


def next_of_its_name(play: Play) -> str:
    """A replica goes, and a larger one of its name is there before its cluster looks."""
    plane = play.fleet()

    def larger(*, is_owned: bool) -> Theft:
        def theft(made: Plane) -> None:
            one = made.get("ModelReplica", TEAM, "first-0")
            made.delete("ModelReplica", TEAM, "first-0")
            made.create(of.copied(one, "first-0", is_owned=is_owned))
            made.edit("ModelReplica", TEAM, "first-0", lambda it: it["spec"]["workers"].update(count=9))

        return theft

    def anew(made: Plane) -> None:
        made.delete("ModelDeployment", TEAM, "first")
        made.create(of.deployment(workers={"count": 2, "topology": {"tensor": 8}, "template": of.template()}))

    for ended in each(plane, [larger(is_owned=True), larger(is_owned=False), anew], keep=False):
        must(runs(ended, "first-1") or not ended.get("ModelReplica", TEAM, "first-1"), "the other replica is gone")
    return "judged as new; never over capacity"


def silent_for_a_moment(play: Play) -> str:
    """The status of the workload, of its route, of both, or all of an Object's status is missing, then back."""
    plane = play.fleet()

    def silent(*kinds: str) -> Theft:
        def theft(made: Plane) -> None:
            made.is_silent = lambda manifest: manifest["kind"] in kinds

        return theft

    def wiped(made: Plane) -> None:
        for key, one in made.objects.items():
            if key[0] in ("Object", "ModelEndpoint", "HTTPRoute", "Backend"):
                made.objects[key] = {name: value for name, value in one.items() if name != "status"}

    thefts = [silent("LLMInferenceService"), silent("HTTPRoute"), silent("LLMInferenceService", "HTTPRoute"), wiped]
    for ended in each(plane, thefts):
        ended.is_silent = lambda _manifest: False
        ended.settle()
    return "endpoints, Backends and routes stand through it"


def sidecar_asks_for_devices(play: Play) -> str:
    """A sidecar's limits ask for the resource of the class's device plugin."""
    taken = []
    for past_schema in (False, True):
        plane = play.settled(
            of.node_class(claim="DevicePlugin", resourceName=PLUGIN, deviceClassName=None), of.cluster()
        )
        sidecar = {"name": "side", "image": "busybox", "resources": {"limits": {PLUGIN: "8"}}}
        pod = of.template()
        pod["spec"]["containers"].append(sidecar)
        greedy = of.deployment("greedy", gpus=1, workers={"topology": {"tensor": 1}, "template": pod})
        try:
            plane.create(greedy, past_schema=past_schema)
        except Refused as refused:
            taken.append(f"refused: {str(refused)[:70]}")
            continue
        plane.settle()
        for workload, count in judge.pods(plane, of.place()):
            must(count <= 1, f"{workload} asks for {count} devices and was counted as one")
        taken.append("refused by the function" if plane.fatal else "rendered without the sidecar's devices")
    return "; ".join(taken)


def cheap_device(play: Play) -> str:
    """A replica names a cheap device and claims the DeviceClass of the dear one, by hand and by an edit."""
    cheap = {"name": "cheap", "driver": "cheap.example.com", "deviceClassName": "cheap.example.com", "count": 64}
    both = of.node_class()
    both["spec"]["devices"].append(cheap)
    wants = {"devices": [{"name": "one", "count": 1, "selectors": [{"cel": _CHEAP}]}]}
    plane = play.settled(both, of.cluster(nodes=3), of.deployment(gpus=1, nodeSelector=wants))
    must(judge.classes(plane, of.place()) == {"cheap.example.com"}, "the fleet does not use the cheap device")

    def dear(one: Json) -> None:
        for device in one["spec"]["devices"]:
            device.update(deviceClassName=GPU, count=8)

    def forged(made: Plane) -> None:
        for number in range(5):
            made.create(of.copied(made.get("ModelReplica", TEAM, "first-0"), f"forged-{number}", is_owned=number > 2))
            made.edit("ModelReplica", TEAM, f"forged-{number}", dear)

    for ended in each(plane, [_edit("first-0", dear), forged]):
        must(GPU not in judge.classes(ended, of.place()), "the dear device is claimed")
    return "nothing claims the dear device"


_CHEAP = 'device.driver == "cheap.example.com"'


def unreadable_value(play: Play) -> str:
    """An admitted replica gets values that the schema takes and nobody can read; another deployment comes then."""
    plane = play.settled(of.node_class(), of.cluster(), of.deployment(replicas=1))

    def memory(one: Json) -> None:
        container = one["spec"]["workers"]["template"]["spec"]["containers"][0]
        container["resources"] = {"requests": {"memory": "1e99999"}}

    for ended in after(plane, _edit("first-0", memory), lambda made: made.create(of.deployment("second", replicas=1))):
        must(runs(ended, "second-0"), "the next deployment waits for ever")
    return "the next deployment is placed and runs"


def emptied_and_edited(play: Play) -> str:
    """The devices of a composed replica are emptied, its Object says 50 workers of another image."""
    plane = play.fleet()
    before = plane.get("ModelReplica", TEAM, "first-0")["spec"]["devices"]
    wrapped = plane.get("Object", TEAM, "first-0-workload")["spec"]["forProvider"]

    def workers(one: Json) -> None:
        spec = one["spec"]["forProvider"]["manifest"]["spec"]
        spec["replicas"] = 50
        spec["template"]["containers"][0]["image"] = "evil.example.com/miner:1"

    def edited(made: Plane) -> None:
        made.edit("Object", TEAM, "first-0-workload", workers)

    emptied = _edit("first-0", lambda one: one["spec"].update(devices=[]))
    for theft in (emptied, edited):
        for ended in after(plane, theft, keep=theft is emptied):
            must(ended.get("ModelReplica", TEAM, "first-0")["spec"]["devices"] == before, "the devices stay away")
            there = ended.get("Object", TEAM, "first-0-workload")["spec"]["forProvider"]
            must(there == wrapped, "the Object stays edited")
    return "both are put back"


def past_a_taint(play: Play) -> str:
    """A replica is written by hand on a cluster with a NoExecute taint that nobody tolerates."""
    taint = {"key": "maintenance", "value": "now", "effect": "NoExecute"}
    plane = play.settled(
        *(of.node_class(), of.cluster(), of.cluster("west", taints=[taint]), of.gateway()),
        *(of.deployment(), of.service()),
    )

    def moved(*, is_owned: bool) -> Theft:
        def theft(made: Plane) -> None:
            one = made.get("ModelReplica", TEAM, "first-0")
            made.create(of.copied(one, "forged", is_owned=is_owned, clusterName="west"))
            made.edit("ModelReplica", TEAM, "forged", lambda it: it["metadata"]["labels"].update({LABEL: "west"}))

        return theft

    for ended in each(plane, [moved(is_owned=True), moved(is_owned=False)]):
        must(not list(judge.pods(ended, of.place("west"))), "it runs on the tainted cluster")
    return "not admitted"


def two_at_once(play: Play) -> str:
    """Two attackers: one takes labels off, the other writes replicas and grows them, while the ledger is wiped."""
    plane = play.fleet(of.deployment("second", replicas=1))

    def forged(made: Plane) -> None:
        for number in range(3):
            made.create(of.copied(made.get("ModelReplica", TEAM, "first-0"), f"forged-{number}", is_owned=True))
        made.edit("ModelReplica", TEAM, "first-1", lambda one: one["spec"]["workers"].update(count=9))

    def wiped(made: Plane) -> None:
        made.edit("InferenceCluster", "", "east", lambda one: one.pop("status"), past_schema=True)

    def unlabelled(made: Plane) -> None:
        for one in list(made.of_kind("ModelReplica")):
            made.edit(*identity(one), lambda it: it["metadata"].update(labels={}))

    for thefts in ((forged, unlabelled), (wiped, forged), (wiped, unlabelled)):
        for ended in after(plane, *thefts):
            must(not runs(ended, "second-0"), "the second deployment has the devices")
    return "what was admitted runs, nothing else does"


def native(play: Play) -> str:
    """The backend Native: labels off, replicas by hand, an Object of 50 pods, and silence about its pods."""
    plane = play.settled(
        *(of.node_class(), of.cluster(backends=["Native"]), of.gateway(), of.deployment(), of.service()),
        of.deployment("second", replicas=1),
    )
    must(any(key[0] == "Deployment" for key in plane.remote[of.place()]), "nothing of the backend Native runs")
    (wrapped,) = (
        one
        for one in plane.of_kind("Object")
        if one["spec"]["forProvider"]["manifest"]["kind"] == "Deployment"
        and one["metadata"]["name"].startswith("first-0")
    )

    def forged(made: Plane) -> None:
        made.create(of.copied(made.get("ModelReplica", TEAM, "first-0"), "forged", is_owned=True))

    def silent(made: Plane) -> None:
        made.is_silent = lambda manifest: manifest["kind"] in ("Deployment", "HTTPRoute")

    def pods(one: Json) -> None:
        one["spec"]["forProvider"]["manifest"]["spec"]["replicas"] = 50

    unlabelled = _edit("first-0", lambda one: one["metadata"]["labels"].pop(LABEL))
    for ended in each(plane, [unlabelled, forged, silent]):
        must(not runs(ended, "forged") and not runs(ended, "second-0"), "somebody else has the devices")
    for ended in after(plane, lambda made: made.edit(*identity(wrapped), pods), keep=False):
        there = ended.get(*identity(wrapped))["spec"]["forProvider"]
        must(there == wrapped["spec"]["forProvider"], "the Object stays edited")
    return "what was admitted runs, nothing else does"


def made_room_for_nobody(play: Play) -> str:
    """Replicas may move to make room: one by hand, or one that was never admitted and is edited, makes none move."""
    allowed = {"rebalance": "Allowed"}
    plane = play.settled(
        *(of.node_class(), of.cluster(nodes=1), of.cluster("west", nodes=1), of.gateway()),
        *(of.deployment(gpus=4, placement=allowed), of.service()),
    )

    def forged(*, is_owned: bool) -> Theft:
        def theft(made: Plane) -> None:
            for name in ("first-0", "first-1"):
                one = of.copied(made.get("ModelReplica", TEAM, name), f"forged-{name}", is_owned=is_owned, priority=900)
                one["spec"]["devices"][0]["count"] = 8
                made.create(one)

        return theft

    for ended in each(plane, [forged(is_owned=True), forged(is_owned=False)]):
        must(not runs(ended, "forged-first-0") and not runs(ended, "forged-first-0", "west"), "the forged one runs")
    return "nobody moves for a replica that no deployment controls"


def _edit(name: str, change: Any) -> Theft:
    return lambda plane: plane.edit("ModelReplica", TEAM, name, change)
