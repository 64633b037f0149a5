"""Topologies that hold a model on the devices of a node, and what each then has room for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from modelplane.sizing import need, precision
from modelplane.sizing.need import GIB, Need, Stage
from modelplane.topology.shape import Topology

NODES_MAX: Final = 16
"""The largest number of nodes of one worker that is tried."""
CONCURRENCY_MAX: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class Hardware:
    """The equal devices of a node. `is_part` is true for a slice of a device, which no other slice works with."""

    memory: int
    count: int
    is_part: bool = False
    share: int = need.UTILIZATION_PERCENT * 100
    """The hundredths of a percent of the memory that the engine may use."""

    @property
    def usable(self) -> int:
        """Return the bytes of a device that the engine may use."""
        return self.memory * self.share // 10_000


@dataclass(frozen=True, slots=True)
class Load:
    """Requests at once, and the tokens of each, those of the prompt and those of the answer together."""

    context: int
    concurrency: int


@dataclass(frozen=True, slots=True)
class Fitting:
    """A topology that holds the model under the load; bytes are those of its fullest device."""

    topology: Topology
    weights: int
    cache: int
    reserve: int
    free: int
    context_max: int
    """The longest requests at the asked number of them."""
    concurrency_max: int
    """The most requests of the asked length."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """A topology that does not hold the model, and the reason."""

    topology: Topology
    reason: str
    missing: int = 0
    """The bytes that its fullest device lacks; 0 for a demand of the engine that it breaks."""


def answers(wanted: Need, load: Load, hardware: Hardware) -> Iterator[Fitting | Refusal]:
    """Yield for each tensor size the smallest topology that holds the model, or the reason why none does.

    A longer pipeline, or one with more data-parallel ranks, holds more and is not listed.
    """
    for tensor in _tensors(wanted, hardware):
        plain = [Topology(tensor, pipeline) for pipeline in _pipelines(wanted, hardware)]
        yield _smallest(wanted, load, hardware, plain)
        if wanted.model.experts and not hardware.is_part:
            spread = list(_spread(wanted, hardware, tensor))
            if spread:
                yield _smallest(wanted, load, hardware, spread)


def order(one: Fitting) -> tuple[int, int, int, bool]:
    """Return the sort key of topologies that hold: by nodes, devices, and the requests that they have room for."""
    return (one.topology.nodes, one.topology.devices, -one.concurrency_max, one.topology.expert)


def _tensors(wanted: Need, hardware: Hardware) -> list[int]:
    if hardware.is_part:
        return [1]
    most = min(hardware.count, wanted.model.heads)
    return [size for size in range(1, most + 1) if size & (size - 1) == 0 or size == hardware.count]


def _pipelines(wanted: Need, hardware: Hardware) -> range:
    return range(1, 2 if hardware.is_part else min(NODES_MAX, len(wanted.model.layers)) + 1)


def _spread(wanted: Need, hardware: Hardware, tensor: int) -> Iterator[Topology]:
    """Yield topologies with whole experts on each rank: all devices of as many nodes."""
    local = hardware.count // tensor
    for nodes in range(1, NODES_MAX + 1):
        data = local * nodes
        if 1 < tensor * data <= wanted.model.experts:
            yield Topology(tensor, data=data, data_local=local, expert=True)


def _smallest(wanted: Need, load: Load, hardware: Hardware, tried: list[Topology]) -> Fitting | Refusal:
    """Return the first topology that holds, or the reason of the last."""
    for rule in precision.rules(wanted.model, wanted.precision):
        reason = rule.refusal(tried[0].tensor, expert=tried[0].expert)
        if reason:
            return Refusal(tried[0], reason)
    found: Fitting | Refusal = Refusal(tried[0], "no topology was tried")
    for topology in tried:
        found = holding(wanted, load, hardware, topology)
        if isinstance(found, Fitting):
            return found
    return found


def holding(wanted: Need, load: Load, hardware: Hardware, topology: Topology) -> Fitting | Refusal:
    """Return whether the devices hold the model under the load, split by the topology."""
    usable = hardware.usable
    reserve = need.reserve(wanted.model, hardware.memory, topology.devices)
    room = usable - reserve
    requests = -(-load.concurrency // topology.data)
    tokens = need.batch(hardware.memory).tokens
    ranks = [_Rank.of(wanted, stage, topology, tokens) for stage in wanted.stages(topology.pipeline)]
    fullest = max(ranks, key=lambda rank: rank.bytes(load.context, requests))
    asked = fullest.bytes(load.context, requests)
    if asked > room:
        said = _shortage(fullest.weights, asked - fullest.weights, reserve, usable)
        return Refusal(topology, said, asked - room)
    return Fitting(
        topology=topology,
        weights=fullest.weights,
        cache=asked - fullest.weights,
        reserve=reserve,
        free=room - asked,
        context_max=_longest(ranks, requests, room, load.context, wanted.model.context),
        concurrency_max=min(CONCURRENCY_MAX, topology.data * min(rank.requests(load.context, room) for rank in ranks)),
    )


@dataclass(frozen=True, slots=True)
class _Rank:
    """One device of a pipeline stage."""

    wanted: Need
    stage: Stage
    tensor: int
    weights: int
    computing: int

    @classmethod
    def of(cls, wanted: Need, stage: Stage, topology: Topology, batch: int) -> _Rank:
        """Return a rank of the stage."""
        weights = wanted.weights_on_rank(stage, topology)
        return cls(wanted, stage, topology.tensor, weights, wanted.computing(stage, topology.tensor, batch))

    def bytes(self, context: int, requests: int) -> int:
        """Return the bytes of weights and cache."""
        return self.weights + self.computing + requests * self.wanted.sequence(self.stage, self.tensor, context)

    def requests(self, context: int, room: int) -> int:
        """Return how many requests the room has beside the weights."""
        one = self.wanted.sequence(self.stage, self.tensor, context)
        return (room - self.weights - self.computing) // one if one else CONCURRENCY_MAX


def _longest(ranks: list[_Rank], requests: int, room: int, holds: int, most: int) -> int:
    """Return the longest context that fits, at least `holds`, which does."""
    low, high = holds, max(holds, most)
    while low < high:
        middle = (low + high + 1) // 2
        if all(rank.bytes(middle, requests) <= room for rank in ranks):
            low = middle
        else:
            high = middle - 1
    return low


def _shortage(weights: int, cache: int, reserve: int, usable: int) -> str:
    return (
        f"needs {gib(weights + cache + reserve)} GiB on a device (weights {gib(weights)}, cache {gib(cache)}, "
        f"engine {gib(reserve)}) of which {gib(usable)} may be used"
    )


def gib(amount: int) -> str:
    """Return bytes as GiB with one digit."""
    tenths = (amount * 10 + GIB // 2) // GIB
    return f"{tenths // 10}.{tenths % 10}"
