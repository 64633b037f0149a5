"""Fleets whose deployments use the whole grammar of device requests, and a world in which things happen in any order.

Deployments propose from snapshots of any age, clusters admit at any moment, authors edit and scale, and clusters are
drained. The laws of `tests/property/test_grammar_fleets` ask the copy of the allocator about what is admitted, and
`tests/conformance/scheduler/test_grammar` asks kube-scheduler.
"""

# Seeded shuffles need no cryptography.

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from hypothesis import strategies as st

from modelplane import placement, units
from modelplane.devices import locality, matching, sharing
from modelplane.devices.model import Attribute, AttributeKind, Constraint, Device, NodeClass, Request
from modelplane.placement.decision import Admission
from modelplane.placement.snapshot import (
    Cluster,
    Current,
    CurrentReplica,
    Demand,
    Effect,
    Fleet,
    Holding,
    Intent,
    NodeCounts,
    Pool,
    ReplicaClaim,
    RoleDemand,
    Taint,
)
from modelplane.workload.model import Role
from tests.support import device_questions as grammar
from tests.support import mig
from tests.support import placements as given_

DRAIN = Taint("drain", Effect.NO_EXECUTE)
MINORS = (35, 36, 36, 36)
LISTS = 36
ROLES = (Role.DECODE, Role.PREFILL)
ODD = (1, 1, 2, 3, 5, 6, 8)
PRODUCTS = ("A30", "A100-80GB", "H100")

Question: TypeAlias = tuple[NodeClass, tuple[Request, ...], tuple[Constraint, ...]]


@dataclass(frozen=True)
class Part:
    """The pods of one role: `pods` gangs of `span`, and what each asks for."""

    requests: tuple[Request, ...]
    constraints: tuple[Constraint, ...]
    pods: int
    span: int


@dataclass(frozen=True)
class Wanted:
    """What one replica of a deployment is, role by role, decode first."""

    parts: tuple[Part, ...]

    def demand(self) -> Demand:
        return Demand(
            tuple(
                RoleDemand(role, one.pods * one.span, one.span, one.requests, one.constraints)
                for role, one in zip(ROLES, self.parts, strict=False)
            )
        )

    def part(self, role: Role) -> Part:
        return self.parts[ROLES.index(role)]


@dataclass
class Deployment:
    """A deployment, its replicas, and what each was placed for."""

    wanted: Wanted
    replicas: int
    current: Current = field(default_factory=Current)
    asked: dict[tuple[str, tuple[Holding, ...]], Wanted] = field(default_factory=dict)


@st.composite
def odd(draw: st.DrawFn) -> Question:
    """Draw a node of eight devices, by chance with a few of another kind, and a size that need not divide eight."""
    marked = dict(grammar.CLASS_A)
    kinds = [_eight("gpu", 8, marked)]
    requests = [Request("gpu", draw(st.sampled_from(ODD)), (f'device.attributes["{grammar.DRIVER}"].model == "gpu"',))]
    if draw(st.booleans()):
        kinds.append(_eight("nic", 4, marked))
        if draw(st.booleans()):
            selector = f'device.attributes["{grammar.DRIVER}"].model == "nic"'
            requests.append(Request("nic", draw(st.integers(1, 3)), (selector,)))
    return NodeClass("class", tuple(kinds)), tuple(requests), ()


def _eight(name: str, count: int, marked: dict[str, Attribute]) -> Device:
    attributes = {**marked, "model": Attribute(AttributeKind.STRING, name)}
    return Device(
        name=name,
        driver=grammar.DRIVER,
        count=count,
        device_class=grammar.CLASSES[0],
        attributes=tuple(sorted(attributes.items())),
        capacity=(("memory", "80Gi"),),
    )


@st.composite
def parted(draw: st.DrawFn) -> Question:
    """Draw a node of GPUs that MIG parts, and one or two slices of a profile, or a whole GPU."""
    made = mig.node_class(draw(st.sampled_from(PRODUCTS)), draw(st.integers(1, 2)))
    kinds = tuple(
        replace(
            one,
            driver=grammar.DRIVER,
            device_class=grammar.CLASSES[0],
            attributes=tuple(sorted({**dict(one.attributes), **dict(grammar.CLASS_A)}.items())),
        )
        for one in made.devices
    )
    profile = dict(draw(st.sampled_from(kinds)).attributes)["profile"].value
    selector = f'device.attributes["{grammar.DRIVER}"].profile == "{profile}"'
    request = Request("gpu", draw(st.sampled_from([1, 1, 2])), (selector,))
    return replace(made, devices=kinds), (request,), ()


@st.composite
def parts(draw: st.DrawFn, questions: list[Question]) -> Part:
    _, requests, constraints = draw(st.sampled_from(questions))
    # Most ask for little, so that many stand beside one another.
    if draw(st.booleans()):
        requests = tuple(
            replace(one, count=1, alternatives=tuple(replace(each, count=1) for each in one.alternatives))
            for one in requests
        )
    return Part(requests, constraints, draw(st.integers(1, 2)), draw(st.sampled_from([1, 1, 1, 2])))


@st.composite
def wishes(draw: st.DrawFn, questions: list[Question]) -> Wanted:
    return Wanted(tuple(draw(parts(questions)) for _ in range(draw(st.sampled_from([1, 1, 1, 2])))))


rules = st.lists(st.tuples(st.sampled_from(["", grammar.DRIVER, "other.example.com"]), grammar.taints), max_size=2)
"""DeviceTaintRules, as a pool declares them."""


@dataclass(frozen=True)
class Published:
    """What drivers publish on the nodes of a pool, and the DeviceTaintRules about them."""

    node_class: NodeClass
    rules: locality.Rules


@dataclass(frozen=True)
class Drawn:
    """A fleet: what deployments want at first, and what their authors may come to want.

    `published` has what stands behind a pool, by the name of the pool's class.
    """

    clusters: list[Cluster]
    wanted: list[Wanted]
    edits: list[Wanted]
    published: dict[str, Published]


@st.composite
def pools(draw: st.DrawFn, name: str, published: Published, minor: int, *, lists: bool) -> Pool:
    there = locality.on_cluster(
        replace(published.node_class, name=name), published.rules, minor, lists_are_on=lists and minor >= LISTS
    )
    return Pool(name.rpartition("-")[2], name, there, NodeCounts(draw(st.integers(1, 3))))


@st.composite
def fleets(draw: st.DrawFn, minors: tuple[int, ...] = MINORS, *, newest: bool = True) -> Drawn:
    """Draw a fleet; with `newest` also what a gate turns on: lists, and DeviceTaintRules."""
    drawn = st.one_of(grammar.questions(lists=newest), grammar.questions(lists=newest), odd(), parted())
    questions = draw(st.lists(drawn.filter(is_served), min_size=1, max_size=3))
    found, published = [], {}
    for name in ("c0", "c1"):
        lists, minor = newest and draw(st.booleans()), draw(st.sampled_from(minors))
        mine = []
        for number in range(draw(st.integers(1, 2))):
            node_class, _, _ = draw(st.sampled_from(questions))
            declared = draw(rules) if newest and draw(st.integers(0, 3)) == 0 else []
            called = f"{name}-p{number}"
            published[called] = Published(node_class, tuple(declared))
            mine.append(draw(pools(called, published[called], minor, lists=lists)))
        found.append(given_.cluster(name, *mine))
    wanted = draw(st.lists(wishes(questions), min_size=2, max_size=4))
    return Drawn(found, wanted, draw(st.lists(wishes(questions), min_size=1, max_size=2)), published)


def is_served(question: Question) -> bool:
    return _is_stored(question[0]) and bool(matching.match(*question).options)


def _is_stored(node_class: NodeClass) -> bool:
    """Return whether an API server stores the policies of the class."""
    return not any(
        sharing.fault(policy, units.quantity(dict(kind.capacity)[name]))
        for kind in node_class.devices
        for name, policy in kind.policies
    )


@dataclass(frozen=True)
class Standing:
    """A replica that its cluster admitted, and what it was placed for."""

    deployment: int
    replica: CurrentReplica
    wanted: Wanted

    @property
    def name(self) -> str:
        return f"{self.deployment}-{self.replica.name}"


class World:
    """Deployments and clusters whose reconciles happen in any order, from snapshots of any age."""

    def __init__(self, found: list[Cluster], wanted: list[Wanted], chance: random.Random) -> None:
        self.base = {one.name: one for one in found}
        self.seen = dict(self.base)
        self.deployments = [Deployment(one, chance.randint(1, 3)) for one in wanted]
        self.snapshots = [Fleet(tuple(found)) for _ in wanted]
        self.chance = chance

    def look(self, number: int) -> None:
        self.snapshots[number] = Fleet(tuple(self.seen.values()))

    def propose(self, number: int) -> None:
        mine = self.deployments[number]
        intent = Intent(f"ns{number}", "d", mine.replicas)
        plan = placement.schedule(self.snapshots[number], mine.wanted.demand(), intent, mine.current)
        before = {one.name: one for one in mine.current.replicas}
        mine.current = given_.as_current(plan, mine.current, ready=True)
        for one in mine.current.replicas:
            if before.get(one.name) is not one:
                mine.asked[one.name, one.holdings] = mine.wanted

    def edit(self, number: int, wanted: Wanted) -> None:
        mine = self.deployments[number]
        mine.wanted = wanted
        mine.current = Current(tuple(replace(one, outdated=True) for one in mine.current.replicas))

    def drain(self, name: str) -> None:
        taints = () if self.base[name].taints else (DRAIN,)
        self.base[name] = replace(self.base[name], taints=taints)
        self.seen[name] = replace(self.seen[name], taints=taints)

    def admit(self, name: str) -> None:
        base = self.base[name]
        account = placement.admit(base.pools, base.accounting, self._claims_on(name))
        assert not account.over_committed
        books = zip(base.pools, account.pools, strict=True)
        admitted = frozenset(v.key for v in account.verdicts if v.admission is Admission.ADMITTED)
        self.seen[name] = replace(
            base,
            pools=tuple(replace(p, allocations=book.allocations) for p, book in books),
            admitted=admitted,
            refused={v.key: given_.note(v.message) for v in account.verdicts if v.admission is Admission.REFUSED},
        )

    def _claims_on(self, name: str) -> list[ReplicaClaim]:
        admitted = self.seen[name].admitted
        return [
            ReplicaClaim(key, one.holdings, 0, one.created, key in admitted)
            for number, mine in enumerate(self.deployments)
            for one in mine.current.replicas
            for key in [f"ns{number}/{one.name}"]
            if one.cluster == name
        ]

    def admitted(self, name: str) -> Iterator[Standing]:
        """Yield the replicas that stand on a cluster."""
        for number, mine in enumerate(self.deployments):
            for one in mine.current.replicas:
                if one.cluster == name and f"ns{number}/{one.name}" in self.seen[name].admitted:
                    yield Standing(number, one, mine.asked[one.name, one.holdings])

    def step(self, edits: list[Wanted]) -> str | None:
        """Let one thing happen; the cluster that admitted is returned."""
        chance = self.chance
        number, name = chance.randrange(len(self.deployments)), chance.choice(sorted(self.base))
        match chance.choice(["look", "propose", "propose", "admit", "admit", "edit", "drain", "scale"]):
            case "look":
                self.look(number)
            case "propose":
                self.propose(number)
            case "admit":
                self.admit(name)
                return name
            case "edit" if chance.random() < 0.4:
                self.edit(number, chance.choice(edits))
            case "drain" if chance.random() < 0.3:
                self.drain(name)
            case "scale":
                self.deployments[number].replicas = chance.randint(0, 4)
        return None

    def propose_all(self) -> None:
        """Let every deployment propose from a fresh look."""
        for number in range(len(self.deployments)):
            self.look(number)
            self.propose(number)


def option_of(held: Holding, wanted: Wanted, node_class: NodeClass) -> matching.Option:
    """Return the option of the matching that a holding takes."""
    part = wanted.part(held.role)
    options = matching.match(node_class, part.requests, part.constraints).options
    return next(one for one in options if one.takes == (held.shape.devices, held.shape.consumed))


def kind_of(device: str, node_class: NodeClass) -> str:
    """Return the kind of a device of a node by its name. Source: `documents.of_class` gives them."""
    for kind in node_class.devices:
        if device.rsplit("-", 3 if kind.draws else 1)[0] == kind.name:
            return kind.name
    raise AssertionError(f"{device} is of no kind of {node_class.name}")
