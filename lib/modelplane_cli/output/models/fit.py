"""The answer of `modelplane fit -o json`."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from modelplane_cli.output.models.base import Part


class Model(Part):
    """The model."""

    name: str
    """Name in the catalogue, or the file."""
    source: str
    """The origin of its figures."""
    architecture: str
    """The word of `model_type`."""
    attention: str
    """The kinds of attention, the most frequent first."""
    parameters: int
    """Number of all parameters."""
    active_parameters: int
    """Number of the parameters that one token passes."""
    layers: int
    """Number of layers."""
    heads: int
    """Number of attention heads, which the tensor size must divide."""
    kv_heads: int
    """Number of key-value heads of the layer that has most. 1 for latent attention."""
    experts: int
    """Number of routed experts of a layer. 0 for a dense model."""
    context: int
    """Tokens of the longest context."""
    precision: str
    """Precision of the weights."""
    notes: list[str]
    """Remarks on figures that are not exact or not counted."""


class Load(Part):
    """The load that was asked for."""

    context: int
    """Tokens of one request with its answer."""
    concurrency: int
    """Requests at once."""


class WeightPart(Part):
    """One class of tensors."""

    part: Literal["embedding", "attention", "mlp", "experts", "shared", "other", "vision"]
    """The class. `shared` are experts that every token passes."""
    parameters: int
    """Number of parameters."""
    bits_per_parameter: str
    """Bits of one parameter with its share of scales, a decimal number."""
    bytes: int
    """Bytes of all of them."""


class Weights(Part):
    """The weights of the whole model."""

    bytes: int
    """Bytes of all parts."""
    formula: str
    """The formula of each part."""
    parts: list[WeightPart]
    """The classes of tensors that the model has."""


class CacheLayers(Part):
    """Layers with equal caches, on one device that holds all of them."""

    kind: Literal["full", "sliding", "chunked", "latent", "state"]
    """The kind of cache."""
    layers: int
    """Number of these layers."""
    window: int | None
    """Tokens of the window or chunk. Null for another kind."""
    bytes_per_token: int
    """Bytes of one token in all these layers. 0 for a state."""
    bytes_per_request: int
    """Bytes of one request of the asked context in all these layers."""
    formula: str
    """The formula with its numbers."""


class Cache(Part):
    """The cache on one device that holds all layers."""

    precision: str
    """Precision of its elements."""
    block_tokens: int
    """Tokens of one block, in which the cache is given out."""
    bytes_per_token: int
    """Bytes of one more token: those of layers that keep every token."""
    bytes_per_request: int
    """Bytes of one request of the asked context."""
    bytes: int
    """Bytes of all requests of the load."""
    layers: list[CacheLayers]
    """The kinds of cache."""


class Topology(Part):
    """A topology of one worker."""

    tensor: int
    """Devices that share each layer."""
    pipeline: int
    """Stages of layers, each on a node of its own."""
    data: int
    """Data-parallel ranks."""
    data_local: int
    """Data-parallel ranks of one node."""
    expert: bool
    """True when every rank has whole experts."""
    devices: int
    """Devices of the worker."""
    nodes: int
    """Nodes of the worker."""


class Fitting(Topology):
    """A topology that holds the model. Bytes are those of its fullest device."""

    weights_bytes_per_device: int
    """Bytes of the weights."""
    cache_bytes_per_device: int
    """Bytes of the cache under the load."""
    engine_bytes_per_device: int
    """Estimated bytes of activations, graphs and buffers of the engine."""
    free_bytes_per_device: int
    """Bytes that the engine may use and the load does not need."""
    max_context: int
    """The longest context at the asked concurrency."""
    max_concurrency: int
    """The most requests of the asked context."""
    cost_per_hour: str | None
    """Share of the nodes' price that the devices have, a decimal number. Null when the class names none."""


class Refused(Topology):
    """The last topology that was tried for a tensor size, none of which holds the model."""

    reason: str
    """The missing memory, or the demand of the engine that it breaks."""


class Pool(Part):
    """A node pool of the class."""

    cluster: str
    """The InferenceCluster."""
    pool: str
    """Name of the pool."""


class Class(Part):
    """One kind of device of an InferenceClass, or a well-known GPU in nodes of eight."""

    name: str
    """Name of the InferenceClass or of the GPU."""
    device: str
    """Name of the device in the class; the driver of a well-known GPU."""
    devices_per_node: int = Field(ge=1)
    """Number of these devices of one node."""
    memory_bytes: int
    """Memory that the driver publishes."""
    usable_bytes: int
    """Memory that an engine uses by default."""
    currency: str | None
    """Currency of the price. Null without a price."""
    pools: list[Pool]
    """Pools of the documents that have the class."""
    topologies: list[Fitting]
    """The smallest topology for each tensor size, the cheapest first. Empty when none holds the model."""
    refused: list[Refused]
    """Tensor sizes without a topology that holds the model."""


class Fit(Part):
    """The memory of a model, and the topologies and classes that hold it."""

    model: Model
    """The model that was asked for."""
    load: Load
    """The load that the topologies hold."""
    weights: Weights
    """Its weights."""
    cache: Cache
    """Its cache."""
    classes: list[Class]
    """Classes that hold the model, the cheapest first, and then the others."""
