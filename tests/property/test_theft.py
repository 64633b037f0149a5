"""Laws of propose, admit, bind while somebody edits what is composed, its labels and its status, and writes his own.

Schedules are those of test_interleaving, with a thief among the control loops. Pods are counted by what was rendered,
whatever the ModelReplicas say. `MODELPLANE_SCHEDULE=<number> pytest tests/property/test_theft.py` runs one alone.
"""

# Schedules need to be the same tomorrow, and no secret.
# ruff: noqa: S311

from __future__ import annotations

import copy
import random
from collections.abc import Callable
from typing import Any, TypeAlias

import pytest

from modelplane import names
from modelplane_functions import claims
from tests.property.test_interleaving import STEPS, Watch, contended, numbers
from tests.support.interleaving import NAMESPACE, Fleet

Json = Any
Edit: TypeAlias = Callable[[Json], None]
DEFAULT, LONG = 60, 2000


def _memory(replica: Json) -> None:
    container = replica["spec"]["workers"]["template"]["spec"]["containers"][0]
    container["resources"] = {"requests": {"memory": "1e99999"}}


def _image(replica: Json) -> None:
    replica["spec"]["workers"]["template"]["spec"]["containers"][0]["image"] = "vllm/vllm-openai:v0.1.0"


def _devices(**fields: Json) -> Edit:
    def change(replica: Json) -> None:
        for device in replica["spec"]["devices"]:
            device.update(fields)

    return change


EDITS: dict[str, Edit] = {
    "takes a label off": lambda r: r["metadata"]["labels"].pop(names.LABEL_CLUSTER, None),
    "takes all labels off": lambda r: r["metadata"].pop("labels", None),
    "asks for nine times as much": lambda r: r["spec"]["workers"].update(count=9),
    "asks for a little more": lambda r: r["spec"]["workers"].update(count=2),
    "empties the devices": lambda r: r["spec"].update(devices=[]),
    "has more devices bound": _devices(count=8),
    "has fewer devices bound": _devices(count=1),
    "claims another DeviceClass": _devices(deviceClassName="all.example.com"),
    "drops the pins": _devices(selectors=[]),
    "writes what cannot be read": _memory,
    "takes another image": _image,
    "says it runs": lambda r: r.update(status={**r.get("status", {}), "phase": "Running"}),
    "wipes the status": lambda r: r.pop("status", None),
    "lets go of its owner": lambda r: r["metadata"].pop("ownerReferences", None),
}


class Thief:
    """Somebody who may write every ModelReplica of the namespace."""

    def __init__(self, world: Fleet) -> None:
        self._world = world
        self._rng = world.rng
        self._made = 0

    def act(self) -> str:
        """Change one replica or write one, and return what was done."""
        world = self._world
        living = sorted(key for key, one in world.replicas.items() if not one["metadata"].get("deletionTimestamp"))
        if not living:
            return "nothing"
        name = self._rng.choice(living)
        changed = copy.deepcopy(world.replicas[name])
        word = self._rng.choice([*sorted(EDITS), "writes his own", "writes his own"])
        if word == "writes his own":
            self._made += 1
            changed["metadata"] |= {"name": f"made-{self._made}", "uid": f"uid-made-{self._made}"}
            if self._rng.random() < 0.5:
                changed["metadata"].pop("ownerReferences", None)
            if self._rng.random() < 0.5:
                changed["spec"]["priority"] = 1000
            name = f"made-{self._made}"
        else:
            before = changed["spec"]
            changed["spec"] = copy.deepcopy(before)
            EDITS[word](changed)
            changed["metadata"].setdefault("labels", {})
            if changed["spec"] != before:
                changed["metadata"]["generation"] += 1
        world.replicas[name] = changed
        world.remember()
        return f"the thief {word}: {name}"

    def leave(self) -> None:
        """Delete what he wrote himself; what he changed is for others to mend."""
        for name in [name for name in self._world.replicas if name.startswith("made-")]:
            assert not self._world.children.get(name), f"{name} is rendered"
            del self._world.replicas[name]
        self._world.remember()


def steal(number: int) -> None:
    """Run one schedule with a thief in it."""
    world = contended(random.Random(number), 2)
    watch, thief = Watch(world), Thief(world)
    for _ in range(STEPS):
        watch.trace.append(thief.act() if world.rng.random() < 0.2 else world.step())
        watch.look()
    thief.leave()
    world.settle()
    watch.look()
    for name in world.clusters:
        published = world.clusters[name]["status"]["pools"][0]
        used = sum(entry["pods"] * entry["devices"].get("gpu", 0) for entry in published["allocations"])
        assert used == world.used(name), f"the ledger of {name} is what runs"
    for name, replica in world.replicas.items():
        labels = replica["metadata"]["labels"]
        assert labels.get(names.LABEL_CLUSTER) == replica["spec"]["clusterName"], f"{name} has its label again"
        wanted = world.deployments[replica["spec"]["deploymentRef"]["name"]]["spec"]
        template = replica["spec"]["workers"]["template"]
        assert (template, replica["spec"]["workers"]["count"]) == (wanted["workers"]["template"], 1), "it is put back"


def run(count: int) -> None:
    for number in numbers(count):
        try:
            steal(number)
        except AssertionError as error:
            raise AssertionError(f"schedule {number}: {error}") from error


def test_nothing_is_taken_and_everything_is_put_back() -> None:
    """Laws: never-overcommit; bound stays bound; nothing written by hand runs; the end is as without a thief."""
    run(DEFAULT)


@pytest.mark.parametrize(
    "number",
    [
        pytest.param(5947, id="a name was used again while a replica without labels was still going"),
        pytest.param(446, id="a replica that cannot be read any more was thought to need no move after all"),
        pytest.param(6425, id="who said that an edited replica runs began a move before its cluster's record was seen"),
        pytest.param(20078, id="a running replica whose status was wiped had been refused before it was admitted"),
    ],
)
def test_what_was_lost_once_stays(number: int) -> None:
    steal(number)


@pytest.mark.parametrize("belief", ["_control", "_not_as_bound"])
def test_the_law_can_be_broken(belief: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cluster that believes whoever asks, or whatever devices are named, is caught."""
    monkeypatch.setattr(claims._Reader, belief, lambda *_args, **_more: None)
    with pytest.raises(AssertionError, match="schedule"):
        run(DEFAULT)


@pytest.mark.slow
def test_thousands_of_schedules() -> None:
    run(LONG)


def test_a_replica_of_the_name_of_one_that_went_inherits_nothing() -> None:
    world = contended(random.Random(0), 2)
    world.settle()
    name, place, devices = next(world.rendered())
    replica = copy.deepcopy(world.replicas[name])
    world.children.pop(name)
    replica["metadata"] |= {"uid": "uid-of-the-next", "namespace": NAMESPACE}
    replica["spec"]["workers"]["count"] = 9
    world.replicas[name] = replica
    world.remember()
    world.reconcile_cluster(place, fresh=True)
    world.reconcile_replica(name, fresh=True)
    assert not world.children.get(name)
    assert devices < 9 * devices
