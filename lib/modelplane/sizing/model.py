"""A model as its memory sees it: parameters by class of tensor, and the cache of each layer."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Part(StrEnum):
    """The classes of tensors. One class has one precision."""

    EMBEDDING = "embedding"
    """The token embedding and the output head."""
    ATTENTION = "attention"
    """The projections of attention, of linear attention and of state space layers."""
    MLP = "mlp"
    """Dense feed-forward layers."""
    EXPERTS = "experts"
    """Routed experts."""
    SHARED = "shared"
    """Experts that every token passes."""
    OTHER = "other"
    """Routers, norms, biases and convolutions."""
    VISION = "vision"
    """The encoder of pictures."""


class CacheKind(StrEnum):
    """The kinds of memory that a layer keeps for a sequence."""

    FULL = "full"
    """Keys and values of every token."""
    SLIDING = "sliding"
    """Keys and values of the last tokens, as many as the window has."""
    CHUNKED = "chunked"
    """Keys and values of the current chunk."""
    LATENT = "latent"
    """One compressed vector for each token, the same for all heads (MLA)."""
    STATE = "state"
    """A state of one size for each sequence, however long it is."""
    NONE = "none"
    """Nothing."""


@dataclass(frozen=True, slots=True)
class State:
    """The state of a layer for one sequence.

    `convolved` is the number of channels that a convolution of `kernel` remembers, `groups` of them in groups of
    `group_width` that stay whole; `heads` have `per_head` elements of `element_bytes` each.
    """

    convolved: int
    kernel: int
    heads: int
    per_head: int
    element_bytes: int
    groups: int = 0
    group_width: int = 0


@dataclass(frozen=True, slots=True)
class Cache:
    """The cache of one layer. `window` is that of SLIDING and CHUNKED.

    `key` and `value` are the widths of one head. `beside` is the bytes for each token that no precision changes: the
    index of sparse attention.
    """

    kind: CacheKind
    heads: int = 0
    key: int = 0
    value: int = 0
    window: int = 0
    beside: int = 0
    is_sparse: bool = False
    """A sparse index reads the latent vector; its kernels pack a quantized vector in a form of their own."""
    state: State | None = None


@dataclass(frozen=True, slots=True)
class Attention:
    """Parameters of the attention of one layer.

    `split` is divided by the tensor size, `whole` stands on every rank, and `per_kv_head` is that of one key-value
    head, of which each rank has at least one.
    """

    split: int = 0
    whole: int = 0
    per_kv_head: int = 0
    kv_heads: int = 0

    @property
    def total(self) -> int:
        """Return all parameters."""
        return self.split + self.whole + self.per_kv_head * self.kv_heads

    def on_rank(self, tensor: int) -> int:
        """Return the parameters of one rank, rounded up."""
        heads = max(1, -(-self.kv_heads // tensor)) if self.kv_heads else 0
        return -(-self.split // tensor) + self.whole + self.per_kv_head * heads


@dataclass(frozen=True, slots=True)
class Layer:
    """One layer. `expert` is the parameters of one routed expert, of which there are `experts`."""

    attention: Attention
    cache: Cache
    mlp: int = 0
    expert: int = 0
    experts: int = 0
    active: int = 0
    """The routed experts that one token passes."""
    shared: int = 0
    other: int = 0


@dataclass(frozen=True, slots=True)
class Rule:
    """A demand of the engine on the tensor size: it divides `size`, or `size` may also divide it."""

    field: str
    size: int
    may_replicate: bool = False
    of_experts: bool = False
    """The demand falls away where experts are spread whole (expert parallelism)."""
    block: int = 1
    """Each part is a multiple of this: the block of a block-wise quantization."""

    def refusal(self, tensor: int, *, expert: bool) -> str:
        """Return the reason why the tensor size cannot be, empty where it can."""
        if self.of_experts and expert:
            return ""
        if self.size % tensor == 0:
            part = self.size // tensor
            if part % self.block and part != self.size:
                return f"{self.field} {self.size} / {tensor} is no multiple of the quantization block {self.block}"
            return ""
        if self.may_replicate and tensor % self.size == 0:
            return ""
        ends = " or be divided by it" if self.may_replicate else ""
        return f"tensor {tensor} must divide {self.field} {self.size}{ends}"


@dataclass(frozen=True, slots=True)
class Model:
    """A model. `widest` is the elements that one token takes in the widest layer."""

    kind: str
    layers: tuple[Layer, ...]
    embedding: int
    head: int
    """Parameters of the output head; 0 where it is the embedding."""
    vision: int
    other: int
    vocabulary: int
    heads: int
    kv_heads: int
    widest: int
    context: int
    rules: tuple[Rule, ...]
    notes: tuple[str, ...] = ()

    def parameters(self) -> dict[Part, int]:
        """Return the number of parameters of each class."""
        layers = self.layers
        return {
            Part.EMBEDDING: self.embedding + self.head,
            Part.ATTENTION: sum(layer.attention.total for layer in layers),
            Part.MLP: sum(layer.mlp for layer in layers),
            Part.EXPERTS: sum(layer.expert * layer.experts for layer in layers),
            Part.SHARED: sum(layer.shared for layer in layers),
            Part.OTHER: sum(layer.other for layer in layers) + self.other,
            Part.VISION: self.vision,
        }

    @property
    def active(self) -> int:
        """Return the parameters that one token passes, the embedding and the head included."""
        idle = sum(layer.expert * (layer.experts - layer.active) for layer in self.layers)
        return sum(self.parameters().values()) - idle - self.vision

    @property
    def experts(self) -> int:
        """Return the largest number of routed experts of a layer, 0 for a dense model."""
        return max((layer.experts for layer in self.layers), default=0)

    @property
    def attention(self) -> str:
        """Return the kinds of cache of the layers in words, the most frequent first."""
        kinds: dict[str, int] = {}
        for layer in self.layers:
            if layer.cache.kind is not CacheKind.NONE:
                kinds[_word(layer.cache, self.heads)] = kinds.get(_word(layer.cache, self.heads), 0) + 1
        if not kinds:
            return "of an encoder, which keeps nothing of a request"
        ordered = sorted(kinds.items(), key=lambda entry: (-entry[1], entry[0]))
        return ", ".join(f"{word} in {count} layers" for word, count in ordered)


def _word(cache: Cache, heads: int) -> str:
    if cache.kind is CacheKind.LATENT:
        return "MLA with a sparse index" if cache.beside else "MLA"
    if cache.kind is CacheKind.STATE:
        return "a state of fixed size"
    grouping = "MQA" if cache.heads == 1 else "MHA" if cache.heads >= heads else "GQA"
    if cache.kind is CacheKind.FULL:
        return grouping
    return f"{grouping} over {'a window' if cache.kind is CacheKind.SLIDING else 'chunks'} of {cache.window}"
