"""Attacks on devices that several pods share, and on nodes whose devices one pod takes all of."""

from __future__ import annotations

import copy
from typing import Any

from tests.attack import documents as of
from tests.attack import judge, steps
from tests.attack.documents import TEAM
from tests.attack.plane import Plane
from tests.attack.play import Play, Theft, after, must, runs

Json = Any
KUBERNETES = "1.36"
SHARED: Json = {"capacity": {"memory": {"value": "80Gi"}}, "allowMultipleAllocations": True}


def parts_of_devices(play: Play) -> str:
    """Two replicas have 30 GiB of each device of a node, and one waits for 30: forged, edited and hidden replicas."""
    fleet = [of.node_class(**SHARED), _cluster(1), of.deployment(nodeSelector=_part("30Gi"))]
    _attacked(play, fleet, of.deployment("second", replicas=1, nodeSelector=_part("30Gi")), _as_it_is, _parts("1"))
    return "what was admitted keeps its parts; nobody has a part that is not free, or by hand one that is"


def all_of_a_node(play: Play) -> str:
    """Two replicas have all devices of their nodes, and one waits for one: forged, edited and hidden replicas."""
    fleet = [of.node_class(), _cluster(2), of.deployment(nodeSelector=_EVERY)]
    _attacked(play, fleet, of.deployment("second", replicas=1, gpus=1), _as_it_is, _count(1))
    return "a replica with all devices of a node counts as all of them, whatever it says"


_EVERY = {"devices": [{"name": "gpu", "allocationMode": "All", "selectors": [{"cel": "true"}]}]}


def _part(memory: str) -> Json:
    selectors = [{"cel": "true"}]
    return {
        "devices": [{"name": "gpu", "count": 8, "selectors": selectors, "capacity": {"requests": {"memory": memory}}}]
    }


def _cluster(nodes: int) -> Json:
    made = of.cluster(nodes=nodes)
    made["spec"]["cluster"]["existing"]["kubernetesVersion"] = KUBERNETES
    return made


def _attacked(play: Play, fleet: list[Json], second: Json, fitting: Any, smaller: Any) -> None:
    """Play a full fleet on which a second deployment waits, and one with room that nobody has asked for.

    `fitting` makes a replica one that has room there; `smaller` makes it say that it has less than it claims.
    """
    plane = play.settled(*fleet, of.gateway(), of.service(), second)
    must(runs(plane, "first-1") and not runs(plane, "second-0"), "the fleet is not full; the attack proves nothing")
    forged, hidden = _forged(fitting), steps.unlabelled
    shrunk = steps.edited("first-0", lambda one: smaller(one["spec"]))
    for thefts in ((hidden,), (shrunk,), (forged, hidden), (_wiped, shrunk), (_wiped, forged), (shrunk, hidden)):
        for ended in after(plane, *thefts):
            must(not runs(ended, "second-0"), "the second deployment has the devices")
            must(not runs(ended, "forged"), "the forged replica runs")
    roomy = copy.deepcopy(fleet)
    roomy[1]["spec"]["nodePools"][0]["nodeCount"] += 1
    for ended in after(play.settled(*roomy, of.gateway(), of.service()), forged):
        must(not runs(ended, "forged"), "the forged replica runs")
    for number in (3, 9):
        for ended in steps.in_steps(plane, steps.scaled(number), shrunk, steps.scaled(2)):
            judge.within_capacity(ended)


def _forged(fitting: Any) -> Theft:
    def theft(made: Plane) -> None:
        document = of.copied(made.get("ModelReplica", TEAM, "first-0"), "forged", is_owned=True)
        fitting(document["spec"])
        made.create(document)

    return theft


def _wiped(made: Plane) -> None:
    made.edit("InferenceCluster", "", "east", lambda one: one.pop("status"), past_schema=True)


def _parts(memory: str) -> Any:
    def change(spec: Json) -> None:
        for device in spec["devices"]:
            for key in ("consumes", "capacity"):
                if key in device:
                    device[key] = _written(device[key], memory)

    return change


def _written(value: Json, memory: str) -> Json:
    if isinstance(value, dict):
        return {key: memory if key == "memory" else _written(one, memory) for key, one in value.items()}
    return value


def _count(count: int) -> Any:
    def change(spec: Json) -> None:
        for device in spec["devices"]:
            device["count"] = count

    return change


def _as_it_is(_spec: Json) -> None:
    """Leave the copy as it is."""
