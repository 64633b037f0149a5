"""What one replica runs: roles, workers, engine and template, before and after a placement.

A `Workload` is what the author asked for; a `Replica` is the same bound to a cluster and, per role, to a pool with
its device requests resolved to the devices of that pool's class. Nothing here knows a fleet or a serving
technology.
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
    """`decode` is also the only role of a unified deployment."""

    DECODE = "decode"
    PREFILL = "prefill"

    @property
    def path(self) -> tuple[str, ...]:
        """Return where the role stands, from the root of a deployment's document and of a replica's alike."""
        return ("spec", "prefill") if self is Role.PREFILL else ("spec",)


class EngineType(StrEnum):
    """Engines whose flags we know; `custom` is opaque."""

    VLLM = "vllm"
    SGLANG = "sglang"
    TRTLLM = "trtllm"
    LLAMACPP = "llamacpp"
    CUSTOM = "custom"


@dataclass(frozen=True, slots=True)
class Model:
    """The served model name and, when given, where its weights come from (hf:// s3:// gs:// oci:// pvc://)."""

    name: str
    uri: str | None = None


@dataclass(frozen=True, slots=True)
class RoleSpec:
    """One role as the author wrote it: `workers` instances of `topology`, each pod from `template`.

    `requests` are what ONE pod asks of devices, the accelerator request first. `template` is the PodTemplateSpec
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
        """Return the pods of this role in one replica."""
        return self.workers * self.topology.nodes


@dataclass(frozen=True, slots=True)
class Workload:
    """Everything one replica runs. `model` None: the engine's own arguments say what is served."""

    namespace: str
    deployment: str
    model: Model | None
    engine: EngineType
    roles: tuple[RoleSpec, ...]
    model_cache: str | None = None


@dataclass(frozen=True, slots=True)
class ResolvedRequest:
    """One device request bound to a device of the pool's class.

    `memory_bytes` is the device's published memory, None where it publishes none; rendering sizes shared memory
    with it.
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


@dataclass(frozen=True, slots=True)
class BoundRole:
    """One role on its pool."""

    spec: RoleSpec
    pool: str
    devices: tuple[ResolvedRequest, ...]


@dataclass(frozen=True, slots=True)
class Replica:
    """One complete serving instance on one cluster."""

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

    def role(self, role: Role) -> BoundRole | None:
        """Return the bound role, None where the replica does not have it."""
        return next((bound for bound in self.roles if bound.spec.role is role), None)

    @property
    def is_disaggregated(self) -> bool:
        """Return whether prefill runs apart from decode."""
        return self.role(Role.PREFILL) is not None
