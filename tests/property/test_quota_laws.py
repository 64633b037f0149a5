"""Laws of quotas under any order of control loops that read old snapshots.

`MODELPLANE_SCHEDULE=<number> pytest tests/property/test_quota_laws.py` runs one schedule alone, and
`MODELPLANE_SCHEDULES=<count>` as many as wanted.
"""

# Schedules need to be the same tomorrow, and no secret.
# ruff: noqa: S311

from __future__ import annotations

import copy
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any
from unittest import mock

import pytest

from modelplane.api import quota_asks
from modelplane_functions import quotas
from tests.property.test_interleaving import numbers
from tests.support import quota_fleet
from tests.support.quota_fleet import PRICE, QuotaFleet, quota

Json = Any
DEFAULT, LONG = 250, 2500
STEPS = 32
RESTED = 3
"""Every so many schedules come to rest at the end, which takes longer than the schedule."""
HOPPER = [{"cel": 'device.attributes["gpu.nvidia.com"].architecture == "Hopper"'}]


def limits(rng: random.Random) -> Json:
    """Return one to three limits, some of which are in the way."""
    count = rng.choice([2, 4, 8, 12, 16])
    every = {
        "devices": [{"name": "any", "count": count, **rng.choice([{"className": "h100-8x"}, {"selectors": HOPPER}])}],
        "replicas": rng.randint(1, 5),
        "costPerHour": {"amount": str(PRICE * count / 8), "currency": "USD"},
    }
    chosen = rng.sample(sorted(every), rng.randint(1, 3))
    return {name: every[name] for name in chosen}


def loan(rng: random.Random) -> Json:
    """Return what may be borrowed from the first quota, in half of the cases. A limit that is not there is refused."""
    amounts = {"any": rng.choice(["1", "4", "8"]), "replicas": "2", "costPerHour": "20.5"}
    return {"borrowing": {"from": "team", "limit": amounts}} if rng.random() < 0.5 else {}


def lends(world: QuotaFleet, document: Json) -> bool:
    """Return whether the lender of a quota is there, borrows nothing, and selects all its namespaces."""
    lender = world.quotas.get(document["spec"].get("borrowing", {}).get("from"))
    return (
        lender is not None
        and "borrowing" not in lender["spec"]
        and governed(world, document) <= governed(world, lender)
    )


def world_of(number: int) -> QuotaFleet:
    """Return a fleet with one or two quotas, the second of which may be of one namespace alone, or borrow."""
    rng = random.Random(number)
    wanted, clusters = quota_fleet.contended(rng)
    found = {"team": quota("team", limits=limits(rng))}
    if rng.random() < 0.5:
        block = {"names": [rng.choice(quota_fleet.NAMESPACES)]}
        found[rng.choice(["all", "zone"])] = quota("other", limits=limits(rng), namespaces=block, **loan(rng))
    for name, one in found.items():
        one["metadata"]["name"] = name
        known(one)
    return QuotaFleet(rng, wanted, clusters, classes=[quota_fleet.priced()], quotas=found, checked=number % 8 == 0)


@dataclass
class Watch:
    """Asks after every action whether a law was broken. `kept` is whether nothing may be stopped."""

    world: QuotaFleet
    kept: bool = True
    trace: list[str] = field(default_factory=list)
    granted: dict[str, set[str]] = field(default_factory=dict)
    """The uids that each quota has granted."""
    open: dict[str, list[tuple[str, int]]] = field(default_factory=dict)
    """The uid and the devices of each question that is granted and open, by quota."""
    before: dict[tuple[str, str], Fraction] = field(default_factory=dict)
    ran: dict[str, tuple[str, int]] = field(default_factory=dict)

    def run(self, steps: int) -> None:
        for _ in range(steps):
            self.trace.append(self.world.step())
            self.look()

    def look(self) -> None:
        self._note()
        for name in self.world.quotas:
            self._limits(name)
        if self.kept:
            self._nothing_stopped()

    def _note(self) -> None:
        """Note who is granted, and what the open grants of each quota are about."""
        asks = {
            (cluster, key, one.number): (one.uid, sum(h.pods * n for h in one.holdings for _, n in h.shape.devices))
            for cluster, document in self.world.clusters.items()
            for key, one in quota_asks.decode(document.get("status", {}))[1].items()
        }
        for name, document in self.world.quotas.items():
            given = document.get("status", {}).get("grants", ())
            found = [asks.get((one["cluster"], one["replica"], one["number"])) for one in given]
            self.open[name] = [one for one in found if one is not None]
            self.granted.setdefault(name, set()).update(uid for uid, _ in self.open[name])

    def change(self, made: Callable[[QuotaFleet], None]) -> None:
        """Let somebody change something. What a quota granted before is what it begins with."""
        before = {name: governed(self.world, document) for name, document in self.world.quotas.items()}
        made(self.world)
        self.world.remember()
        self.trace.append(made.__name__)
        for name, document in self.world.quotas.items():
            now = governed(self.world, document)
            stayed = {uid for namespace, uid, _ in self.world.holders() if namespace in now & before[name]}
            opened = {uid for uid, _ in self.open.get(name, ())}
            self.granted[name] = self.granted.get(name, set()) & (stayed | opened)
            for limit, _, amount in measures(self.world, document):
                self.before[name, limit] = self._carried(name, amount)

    def _limits(self, name: str) -> None:
        """Law: what was granted and may run never grows above the limit."""
        for limit, most, amount in measures(self.world, self.world.quotas[name]):
            now = self._carried(name, amount)
            allowed = max(most, self.before.get((name, limit), Fraction(0)))
            assert now <= allowed, f"{name} carries {now} of {most} {limit} after {self.trace[-12:]}"
            self.before[name, limit] = now

    def _carried(self, name: str, amount: Callable[[int], Fraction]) -> Fraction:
        """Return what runs or may run by grants of a quota, and what is granted to it."""
        held: dict[str, Fraction] = {}
        granted = self.granted.get(name, set())
        running = [(uid, devices) for _, uid, devices in self.world.holders() if uid in granted]
        for uid, devices in (*running, *self.open.get(name, ())):
            held[uid] = max(held.get(uid, Fraction(0)), amount(devices))
        return sum(held.values(), Fraction(0))

    def _nothing_stopped(self) -> None:
        now = {name: (place, devices) for name, place, devices in self.world.rendered()}
        for name, was in self.ran.items():
            assert now.get(name) == was, f"{name} ran as {was} and is {now.get(name)} after {self.trace[-12:]}"
        self.ran = now


def known(document: Json) -> None:
    """Leave of a loan what there are limits for: another name would be refused as a whole."""
    spec = document["spec"]
    if "borrowing" in spec:
        there = {"any" if name == "devices" else name for name in spec["limits"]}
        amounts = {name: one for name, one in spec["borrowing"]["limit"].items() if name in there}
        spec["borrowing"] = {**spec["borrowing"], "limit": amounts}


def measures(world: QuotaFleet, document: Json) -> list[tuple[str, Fraction, Callable[[int], Fraction]]]:
    """Return the limits of a quota with their amount and what a replica of some devices takes of each.

    What may be borrowed now is part of the amount.
    """
    found = _measures(document)
    if not lends(world, document):
        return found
    amounts = document["spec"]["borrowing"]["limit"]
    return [(name, most + Fraction(amounts.get(name, "0")), amount) for name, most, amount in found]


def _measures(document: Json) -> list[tuple[str, Fraction, Callable[[int], Fraction]]]:
    spec = document["spec"]["limits"]
    found: list[tuple[str, Fraction, Callable[[int], Fraction]]] = []
    if "devices" in spec:
        found.append(("any", Fraction(spec["devices"][0]["count"]), Fraction))
    if "replicas" in spec:
        found.append(("replicas", Fraction(spec["replicas"]), lambda _devices: Fraction(1)))
    if "costPerHour" in spec:
        found.append(
            ("costPerHour", Fraction(spec["costPerHour"]["amount"]), lambda devices: Fraction(devices * PRICE, 8))
        )
    return found


def governs(world: QuotaFleet, document: Json, namespace: str) -> bool:
    block = document["spec"]["namespaces"]
    labels = world.namespaces[namespace]["metadata"]["labels"]
    wanted = block.get("matchLabels", {})
    return namespace in block.get("names", ()) or bool(wanted and wanted.items() <= labels.items())


def governed(world: QuotaFleet, document: Json) -> set[str]:
    return {name for name in world.namespaces if governs(world, document, name)}


def used(world: QuotaFleet, document: Json, amount: Callable[[int], Fraction]) -> Fraction:
    held: dict[str, Fraction] = {}
    for namespace, uid, devices in world.holders():
        if governs(world, document, namespace):
            held[uid] = max(held.get(uid, Fraction(0)), amount(devices))
    return sum(held.values(), Fraction(0))


def everything_is_placed_or_nothing_fits(world: QuotaFleet) -> None:
    """Law: once all has come to rest nobody waits for room that is there."""
    for name, one in world.deployments.items():
        status, spec = one["status"], one["spec"]
        if not status["unscheduledReplicas"]:
            continue
        devices = spec["workers"]["topology"]["tensor"]
        has_room = any(world.capacity(place) - world.used(place) >= devices for place in world.clusters)
        stopped = [
            f"{quota_name}/{limit}"
            for quota_name, document in world.quotas.items()
            if governs(world, document, one["metadata"]["namespace"])
            for limit, most, amount in measures(world, document)
            if used(world, document, amount) + amount(devices) > most
        ]
        assert stopped or not has_room, f"{name} misses a place: {status['unschedulable']['message']}"
        if has_room:
            said = status["unschedulable"]["message"] + str(one["status"]["conditions"])
            assert any(each.split("/")[0] in said for each in stopped), (
                f"{name} is stopped by {stopped} and says {said}"
            )


def each(schedules: int, law: Callable[[int], None]) -> None:
    for number in numbers(schedules):
        try:
            law(number)
        except AssertionError as error:
            raise AssertionError(f"schedule {number}: {error}") from error


def contend(number: int) -> None:
    world = world_of(number)
    watch = Watch(world)
    watch.run(STEPS)
    if number % RESTED:
        return
    world.settle()
    watch.look()
    for name, document in world.quotas.items():
        published = {one["name"]: Fraction(one["used"]) for one in document["status"]["limits"]}
        for limit, _, amount in measures(world, document):
            assert published[limit] == used(world, document, amount), f"{name} does not count what runs of {limit}"
    everything_is_placed_or_nothing_fits(world)


def unrest(number: int) -> None:
    """Change everything that may change, in the middle of everything."""
    world = world_of(number)
    rng, watch = world.rng, Watch(world, kept=False)
    for _ in range(5):
        watch.run(STEPS // 5)
        watch.change(rng.choice([scale, edit, delete, lower, select_by_label, relabel, drop]))
    watch.run(STEPS // 5)
    rest(watch, number)


def rest(watch: Watch, number: int) -> None:
    if number % RESTED == 0:
        watch.world.settle()
        watch.look()
        everything_is_placed_or_nothing_fits(watch.world)


def calm(number: int) -> None:
    """Change what quotas say, and nothing that a deployment says: nothing that runs is stopped."""
    world = world_of(number)
    rng, watch = world.rng, Watch(world)
    for _ in range(4):
        watch.run(STEPS // 4)
        watch.change(rng.choice([lower, select_by_label, relabel, drop]))
    rest(watch, number)


def _any(world: QuotaFleet, objects: dict[str, Json]) -> str | None:
    return world.rng.choice(sorted(objects)) if objects else None


def scale(world: QuotaFleet) -> None:
    one = world.deployments[world.rng.choice(sorted(world.deployments))]
    one["spec"]["replicas"] = world.rng.randint(0, 4)


def edit(world: QuotaFleet) -> None:
    name = world.rng.choice(sorted(world.deployments))
    one = world.deployments[name]
    workers = {**one["spec"]["workers"], "topology": {**one["spec"]["workers"]["topology"]}}
    workers["topology"]["tensor"] = world.rng.choice([1, 2, 4, 8])
    world.deployments[name] = {**one, "spec": {**one["spec"], "workers": workers}}


def delete(world: QuotaFleet) -> None:
    living = sorted(name for name, one in world.replicas.items() if not one["metadata"].get("deletionTimestamp"))
    if living:
        world._delete(world.rng.choice(living))


def lower(world: QuotaFleet) -> None:
    name = _any(world, world.quotas)
    if name is not None:
        one = world.quotas[name]
        changed = copy.deepcopy({**one, "spec": {**one["spec"], "limits": limits(world.rng)}})
        if "borrowing" in changed["spec"]:
            changed["spec"] |= loan(world.rng)
        known(changed)
        world.quotas[name] = changed


def select_by_label(world: QuotaFleet) -> None:
    name = _any(world, world.quotas)
    if name is not None:
        one = world.quotas[name]
        world.quotas[name] = {**one, "spec": {**one["spec"], "namespaces": {"matchLabels": {"team": "gold"}}}}


def relabel(world: QuotaFleet) -> None:
    name = world.rng.choice(quota_fleet.NAMESPACES)
    world.namespaces[name] = quota_fleet.namespace(name, team=world.rng.choice(["gold", "lead"]))


def drop(world: QuotaFleet) -> None:
    name = _any(world, world.quotas)
    if name is not None and world.rng.random() < 0.5:
        del world.quotas[name]


def test_nothing_is_granted_above_a_limit_and_all_settles() -> None:
    each(DEFAULT * 2, contend)


def test_nothing_is_granted_above_a_limit_while_everything_changes() -> None:
    each(DEFAULT, unrest)


def test_no_quota_stops_what_runs() -> None:
    each(DEFAULT, calm)


def test_the_law_can_be_broken() -> None:
    """A cluster that waits for no grant is caught, so the schedules above do contend."""
    broken = 0
    with mock.patch.object(quotas, "gate"):
        for number in range(DEFAULT // 5):
            world = world_of(number)
            world.settle()
            for document in world.quotas.values():
                broken += any(used(world, document, amount) > most for _, most, amount in measures(world, document))
    assert broken > 0, "no schedule tells a quota that is kept from one that is not"


@pytest.mark.slow
@pytest.mark.parametrize("law", [contend, unrest, calm], ids=lambda law: law.__name__)
def test_thousands_of_schedules(law: Callable[[int], None]) -> None:
    each(LONG, law)
