"""Memory that a rank needs under a topology: weights, cache and what the engine takes beside them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from modelplane.sizing import cache
from modelplane.sizing.model import Layer, Model, Part
from modelplane.sizing.precision import Precision
from modelplane.topology.shape import Topology

GIB: Final = 2**30
UTILIZATION_PERCENT: Final = 90
"""The share of a device's memory that the engine may use. Source: llm-d-planner; vLLM 0.23 to 0.33 take 92."""
RUNTIME_BYTES: Final = 23 * GIB // 10
"""Graphs, workspaces and fragmentation of one rank. Source: KAITO 0.12, the reserve of its estimator (2.3 GiB)."""
ALONE_BYTES: Final = 15 * GIB // 100
TOGETHER_BYTES: Final = 60 * GIB // 100
"""Buffers outside the engine's pool, of a rank that is alone and of one that talks to others. Source: llm-d-planner."""
_ACTIVATION_BYTES = 2
_LOGIT_BYTES = 4 + 4
"""The logits of a sequence, and their sorted copy."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Tokens and sequences that an engine computes at once."""

    tokens: int
    sequences: int


def batch(memory: int) -> Batch:
    """Return the engine's batch on a device with this memory. Source: vLLM 0.33, the defaults of its API server."""
    if memory >= 160 * GIB:
        return Batch(16384, 1024)
    return Batch(8192, 1024) if memory >= 70 * GIB else Batch(2048, 256)


def reserve(model: Model, memory: int, ranks: int) -> int:
    """Return the bytes of one of `ranks` ranks that hold neither weights nor cache."""
    found = batch(memory)
    activations = found.tokens * model.widest * _ACTIVATION_BYTES
    logits = found.sequences * model.vocabulary * _LOGIT_BYTES
    return RUNTIME_BYTES + (TOGETHER_BYTES if ranks > 1 else ALONE_BYTES) + activations + logits


def usable(memory: int) -> int:
    """Return the bytes of a device that the engine may use."""
    return memory * UTILIZATION_PERCENT // 100


@dataclass(frozen=True, slots=True)
class Stage:
    """The layers of one pipeline stage: the position of each kind of layer, and how many of it."""

    counts: tuple[tuple[int, int], ...]
    is_first: bool
    is_last: bool


@dataclass(frozen=True, slots=True)
class Need:
    """The memory of a model in one precision, asked for many topologies. Equal layers are computed once."""

    model: Model
    precision: Precision
    element: int
    kinds: tuple[Layer, ...] = field(init=False)
    order: tuple[int, ...] = field(init=False)
    _stages: dict[int, tuple[Stage, ...]] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        places: dict[Layer, int] = {}
        order = tuple(places.setdefault(layer, len(places)) for layer in self.model.layers)
        object.__setattr__(self, "kinds", tuple(places))
        object.__setattr__(self, "order", order)

    def weights(self) -> dict[Part, int]:
        """Return the bytes of all weights by class."""
        return {part: self.precision.bytes(part, count) for part, count in self.model.parameters().items()}

    def stages(self, pipeline: int) -> tuple[Stage, ...]:
        """Return the different stages of a pipeline."""
        if pipeline not in self._stages:
            found: dict[Stage, None] = {}
            start = 0
            for rank, size in enumerate(split(len(self.order), pipeline)):
                counts: dict[int, int] = {}
                for place in self.order[start : start + size]:
                    counts[place] = counts.get(place, 0) + 1
                found[Stage(tuple(sorted(counts.items())), rank == 0, rank == pipeline - 1)] = None
                start += size
            self._stages[pipeline] = tuple(found)
        return self._stages[pipeline]

    def weights_on_rank(self, stage: Stage, topology: Topology) -> int:
        """Return the bytes of the weights of one rank of the stage."""
        tensor = topology.tensor
        layers = sum(count * self._layer(self.kinds[place], topology) for place, count in stage.counts)
        return layers + self._ends(stage, tensor)

    def _layer(self, layer: Layer, topology: Topology) -> int:
        """Return the bytes of one layer on one rank. Tensor and data ranks share the experts: whole ones, or slices."""
        bits, tensor = self.precision.bytes, topology.tensor
        slices = tensor * topology.data
        if topology.expert and slices > 1:
            experts = bits(Part.EXPERTS, layer.expert * -(-layer.experts // slices))
        else:
            experts = bits(Part.EXPERTS, -(-layer.expert * layer.experts // slices))
        return (
            bits(Part.ATTENTION, layer.attention.on_rank(tensor))
            + bits(Part.MLP, -(-layer.mlp // tensor))
            + bits(Part.SHARED, -(-layer.shared // tensor))
            + bits(Part.OTHER, layer.other)
            + experts
        )

    def _ends(self, stage: Stage, tensor: int) -> int:
        """Return the bytes of what stands before the first layer and after the last."""
        model = self.model
        parameters = 0
        if stage.is_first:
            parameters += model.embedding
        if stage.is_last and (model.head or not stage.is_first):
            parameters += model.head or model.embedding
        found = self.precision.bytes(Part.EMBEDDING, -(-parameters // tensor))
        if stage.is_first:
            found += self.precision.bytes(Part.VISION, -(-model.vision // tensor))
        return found + (self.precision.bytes(Part.OTHER, model.other) if stage.is_last else 0)

    def sequence(self, stage: Stage, tensor: int, context: int) -> int:
        """Return the bytes of one sequence on one rank of the stage."""
        return sum(
            count * cache.sequence_bytes(self.kinds[place].cache, context, tensor, self.element)
            for place, count in stage.counts
        )

    def computing(self, stage: Stage, tensor: int, tokens: int) -> int:
        """Return the bytes on one rank that a batch takes in layers with a window."""
        return sum(
            count * cache.batch_bytes(self.kinds[place].cache, tokens, tensor, self.element)
            for place, count in stage.counts
        )


def split(layers: int, pipeline: int) -> list[int]:
    """Return the number of layers of each stage. Source: vLLM, get_pp_indices: the last stages but one take more."""
    sizes = [layers // pipeline] * pipeline
    for place in range(2, layers % pipeline + 2):
        sizes[-place] += 1
    return sizes
