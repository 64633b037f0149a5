"""Laws of devices that pods share: what a ledger promises of their capacity is there, whatever came and went before.

The cluster is the plainest there can be: devices with so much left of each capacity. A pod takes any node with room and
any devices of it, and stays there; other pods come and go in an order drawn by chance. Nothing here packs anything.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field

from hypothesis import given, settings
from hypothesis import strategies as st

from modelplane.devices import matching
from modelplane.devices.model import Device, NodeClass, Policy, Range, Request
from modelplane.placement.capacity import dimensions, ledger
from modelplane.placement.packing.load import Answer
from modelplane.placement.snapshot import Accounting, NodeCounts, PodShape, Pool
from modelplane.units import Quantity
from modelplane.units import quantity as parsed
from tests.support import laws

GPU, NIC = "gpu", "nic"
DRIVER = "gpu.example.com"
MEMORY, CORES = 24, 8
STEPS = 60


@dataclass(frozen=True)
class Wish:
    """Pods that each take so much of so many GPUs, and so many whole NICs; `span` of them stand on different nodes."""

    gpus: int
    memory: int
    cores: int
    nics: int
    pods: int
    span: int


def gi(number: int) -> Quantity:
    return parsed(f"{number}Gi")


@st.composite
def fleets(draw: st.DrawFn) -> tuple[NodeClass, int, list[Wish]]:
    units = draw(st.integers(1, 3))
    policy = draw(st.sampled_from([(), (("memory", Policy(gi(1), Range(gi(1), None, gi(draw(st.integers(1, 5)))))),)]))
    gpu = Device(
        GPU,
        DRIVER,
        units,
        device_class=GPU,
        capacity=(("cores", str(CORES)), ("memory", f"{MEMORY}Gi")),
        allow_multiple_allocations=True,
        policies=policy,
    )
    nic = Device(NIC, "nic.example.com", draw(st.integers(1, 3)), device_class=NIC)
    wishes = [
        Wish(
            gpus=draw(st.integers(0, units)),
            memory=draw(st.sampled_from([1, 3, 5, 6, 8, 11, 12, 13, 24])),
            cores=draw(st.sampled_from([0, 0, 1, 2, 3])),
            nics=draw(st.sampled_from([0, 0, 0, 1])),
            pods=draw(st.integers(1, 3)) * (span := draw(st.sampled_from([1, 1, 1, 2]))),
            span=span,
        )
        for _ in range(draw(st.integers(2, 8)))
    ]
    return NodeClass("class", (gpu, nic)), draw(st.integers(1, 3)), wishes


def requests(wish: Wish) -> tuple[Request, ...]:
    found = []
    if wish.gpus:
        amounts = (("cores", str(wish.cores)), ("memory", f"{wish.memory}Gi"))
        found.append(Request(GPU, wish.gpus, ('device.driver == "gpu.example.com"',), capacity=amounts))
    if wish.nics:
        found.append(Request(NIC, wish.nics, ('device.driver == "nic.example.com"',)))
    return tuple(found)


@dataclass
class Pod:
    """A promised pod; `gang` is shared by those that stand on different nodes."""

    gang: int
    gpus: int
    memory: int
    cores: int
    nics: int
    node: int = -1
    units: tuple[int, ...] = ()


@dataclass
class Cluster:
    """The nodes: what each GPU has left, as (memory, cores), and how many NICs are free."""

    units: int
    number: int
    nics: int
    pods: list[Pod] = field(default_factory=list)

    def left(self, node: int) -> tuple[list[list[int]], int]:
        gpus, nics = [[MEMORY, CORES] for _ in range(self.units)], self.nics
        for pod in self.pods:
            if pod.node == node:
                nics -= pod.nics
                for unit in pod.units:
                    gpus[unit][0] -= pod.memory
                    gpus[unit][1] -= pod.cores
        return gpus, nics

    def places(self, pod: Pod) -> Iterator[tuple[int, list[int]]]:
        """Yield each node with room, and its GPUs with room."""
        for node in range(self.number):
            gpus, nics = self.left(node)
            able = [at for at, (memory, cores) in enumerate(gpus) if memory >= pod.memory and cores >= pod.cores]
            apart = all(other.node != node or other.gang != pod.gang for other in self.pods)
            if nics >= pod.nics and len(able) >= pod.gpus and apart:
                yield node, able


def promised(node_class: NodeClass, nodes: int, wishes: list[Wish]) -> list[Pod]:
    """Return the pods that the ledger promises, one wish after the other."""
    what = dimensions.of(node_class, Accounting.DEVICE)
    state = ledger.of(Pool("pool", "class", node_class, NodeCounts(nodes)), what)
    found: list[Pod] = []
    gangs = 0
    for wish in wishes:
        asked = requests(wish)
        options = matching.match(node_class, asked).options if asked else ()
        if not options:
            continue
        shape = PodShape(options[0].counted, consumed=options[0].consumed)
        trial = ledger.trial(state, shape, wish.pods, wish.span)
        if trial.answer is not Answer.FITS:
            continue
        state = trial.after
        taken = dict(options[0].consumed)
        memory = taken.get(f"{GPU}/memory", 0) // 10**9 // 2**30 // max(1, wish.gpus)
        assert memory >= wish.memory * bool(wish.gpus)  # rounded up by the policy, if at all
        for number in range(wish.pods):
            gangs += number % wish.span == 0
            found.append(Pod(gangs, wish.gpus, memory, wish.cores, wish.nics))
    return found


@given(fleets(), st.integers(0, 2**32))
@settings(max_examples=laws.in_proportion(200), deadline=None)
def test_promised_shares_find_their_devices_whatever_came_and_went(
    fleet: tuple[NodeClass, int, list[Wish]], seed: int
) -> None:
    node_class, nodes, wishes = fleet
    waiting = promised(node_class, nodes, wishes)
    cluster = Cluster(node_class.devices[0].count, nodes, node_class.devices[1].count)
    chance = random.Random(seed)  # noqa: S311 - the same order for the same seed
    for _ in range(STEPS):
        if cluster.pods and (not waiting or chance.random() < 0.3):
            gone = cluster.pods.pop(chance.randrange(len(cluster.pods)))
            gone.node, gone.units = -1, ()
            waiting.append(gone)
        elif waiting:
            pod = waiting.pop(chance.randrange(len(waiting)))
            able = list(cluster.places(pod))
            assert able, (pod, cluster, waiting)
            pod.node, units = chance.choice(able)
            pod.units = tuple(chance.sample(units, pod.gpus))
            cluster.pods.append(pod)


def alike(memory: int, *, gpus: int, units: int, nodes: int) -> int:
    """Return how many pods with parts of so many GPUs each a pool is promised."""
    has = (("memory", f"{MEMORY}Gi"),)
    gpu = Device(GPU, DRIVER, units, device_class=GPU, capacity=has, allow_multiple_allocations=True)
    node_class = NodeClass("class", (Device(NIC, "nic", 1), gpu))
    asked = (Request(GPU, gpus, ('device.driver == "gpu.example.com"',), capacity=(("memory", f"{memory}Gi"),)),)
    (option,) = matching.match(node_class, asked).options
    state = ledger.of(
        Pool("pool", "class", node_class, NodeCounts(nodes)), dimensions.of(node_class, Accounting.DEVICE)
    )
    number = 0
    while True:
        trial = ledger.trial(state, PodShape(option.counted, consumed=option.consumed), 1, 1)
        if trial.answer is not Answer.FITS:
            return number
        state, number = trial.after, number + 1


@given(st.integers(1, MEMORY), st.integers(1, 3), st.integers(1, 3))
@settings(max_examples=laws.in_proportion(60), deadline=None)
def test_equal_shares_fill_every_device(memory: int, units: int, nodes: int) -> None:
    """No device is left over that could have been promised: the count is that of plain division."""
    assert alike(memory, gpus=1, units=units, nodes=nodes) == MEMORY // memory * units * nodes
    assert alike(memory, gpus=units, units=units, nodes=nodes) == MEMORY // memory * nodes
