"""Workload of one replica: roles, workers, engine and template, before and after a placement.

A `Workload` is the request of the author. A `Replica` is a workload bound to a cluster and, per role, to a pool, with
its requests resolved to devices of the pool's class. The module knows neither a fleet nor a serving technology.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeAlias

from modelplane.devices.model import Claim, Constraint, Request
from modelplane.topology.shape import Topology

Json: TypeAlias = Any


class Role(StrEnum):
    """The role of a worker. `decode` is also the only role of a unified deployment."""

    DECODE = "decode"
    PREFILL = "prefill"

    @property
    def path(self) -> tuple[str, ...]:
        """Return the path of the role from the root of a deployment or a replica."""
        return ("spec", "prefill") if self is Role.PREFILL else ("spec",)


class EngineType(StrEnum):
    """The engines whose flags Modelplane knows; `custom` is opaque."""

    VLLM = "vllm"
    SGLANG = "sglang"
    TRTLLM = "trtllm"
    LLAMACPP = "llamacpp"
    CUSTOM = "custom"


@dataclass(frozen=True, slots=True)
class Model:
    """The name of the served model and the optional URI of its weights (hf:// s3:// gs:// oci:// pvc://)."""

    name: str
    uri: str | None = None


@dataclass(frozen=True, slots=True)
class EndpointPicker:
    """The author's choice of how requests find a worker of a replica; what is empty or None is the backend's to choose.

    `scorers` are plugins with weights, `picker` takes one worker by the scores. `uncached_tokens` is the length of a
    prompt from which on a prefill worker is asked.
    """

    scorers: tuple[tuple[str, int], ...] = ()
    picker: str = ""
    uncached_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Override:
    """The author's patch of the workload objects that `backend` renders, as plain JSON from the root of the object."""

    backend: str
    patch: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class RoleSpec:
    """A role as the author wrote it, with a number of `workers` of one `topology`.

    `requests` are the device requests of one pod, that of the engine's devices first. `template` is the PodTemplateSpec
    subset of the API as plain JSON; exactly one of its containers is named `engine`.
    """

    role: Role
    workers: int
    topology: Topology
    requests: tuple[Request, ...]
    constraints: tuple[Constraint, ...]
    template: Mapping[str, Json]

    @property
    def pods(self) -> int:
        """Return the number of pods of this role in one replica."""
        return self.workers * self.topology.nodes


@dataclass(frozen=True, slots=True)
class Workload:
    """The workload of one replica. `model` is None if the arguments of the engine name the model."""

    namespace: str
    deployment: str
    model: Model | None
    engine: EngineType
    roles: tuple[RoleSpec, ...]
    model_cache: str | None = None
    endpoint_picker: EndpointPicker | None = None
    overrides: tuple[Override, ...] = ()
    cache_key: str = ""
    """The key of the files of `model_cache` that it mounts, empty if it fetches `model` itself or no key is known."""
    cache_uri: str = ""
    """The URI by which KServe knows these files, where it keeps them on the disks of nodes; empty in a claim."""

    def overrides_of(self, backend: str) -> tuple[Override, ...]:
        """Return the overrides that have an effect with the backend."""
        return tuple(one for one in self.overrides if one.backend == backend)


@dataclass(frozen=True, slots=True)
class ResolvedRequest:
    """A device request, bound to a device of the pool's class, or a part of it if several kinds serve it.

    `alternative` is the name of the alternative that serves it, empty if it has none. `memory_bytes` is the published
    memory of the device, None if it publishes none.
    """

    name: str
    device: str
    driver: str
    claim: Claim
    count: int
    device_class: str = ""
    resource_name: str = ""
    selectors: tuple[str, ...] = ()
    memory_bytes: int | None = None
    alternative: str = ""
    consumes: tuple[tuple[str, str], ...] = ()
    """The capacity that it takes of each device if pods share it, as (name, quantity) pairs."""


@dataclass(frozen=True, slots=True)
class BoundRole:
    """A role, bound to its pool."""

    spec: RoleSpec
    pool: str
    devices: tuple[ResolvedRequest, ...]

    def served(self, bound: ResolvedRequest) -> Request:
        """Return the request, or the alternative of it, that a bound device serves.

        A device of no request, which somebody wrote into a composed replica, is asked for as it is bound.
        """
        plain = Request(bound.name, bound.count, bound.selectors)
        request = next((one for one in self.spec.requests if one.name == bound.name), plain)
        return next((one for one in request.alternatives if one.name == bound.alternative), request)


@dataclass(frozen=True, slots=True)
class Replica:
    """A replica: all workers of all roles, on one cluster."""

    namespace: str
    name: str
    deployment: str
    cluster: str
    backend: str
    model: Model | None
    engine: EngineType
    roles: tuple[BoundRole, ...]
    priority: int = 0
    model_cache: str | None = None
    endpoint_picker: EndpointPicker | None = None
    overrides: tuple[Override, ...] = ()
    cache_key: str = ""
    """The key of the files of `model_cache` that it mounts, empty if it fetches `model` itself or no key is known."""
    cache_uri: str = ""
    """The URI by which KServe knows these files, where it keeps them on the disks of nodes; empty in a claim."""

    def role(self, role: Role) -> BoundRole | None:
        """Return the bound role, None if the replica does not have it."""
        return next((bound for bound in self.roles if bound.spec.role is role), None)

    @property
    def is_disaggregated(self) -> bool:
        """Return whether the replica has a prefill role."""
        return self.role(Role.PREFILL) is not None
