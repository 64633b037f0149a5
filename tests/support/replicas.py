"""Builders of replicas, their documents and their roles; every argument has a plain default."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from modelplane.devices.model import Claim, Constraint, Request
from modelplane.topology.shape import Topology
from modelplane.workload.model import (
    BoundRole,
    EngineType,
    Model,
    Replica,
    ResolvedRequest,
    Role,
    RoleSpec,
)

MEMORY_80GB = 81559 * 1024**2


def template(
    image: str = "vllm/vllm-openai:v0.23.0",
    *,
    engine: Mapping[str, Any] | None = None,
    sidecars: Sequence[Mapping[str, Any]] = (),
    metadata: Mapping[str, Any] | None = None,
    **pod: Any,
) -> dict[str, Any]:
    """Return a pod template; `engine` are further fields of its container, `pod` further fields of the pod."""
    built: dict[str, Any] = {
        "spec": {"containers": [{"name": "engine", "image": image, **(engine or {})}, *sidecars], **pod}
    }
    if metadata is not None:
        built["metadata"] = dict(metadata)
    return built


def device(
    name: str = "gpu",
    count: int = 1,
    *,
    claim: Claim = Claim.DRA,
    selectors: tuple[str, ...] = (),
    **fields: Any,
) -> ResolvedRequest:
    """Return a resolved request for an 80 GB accelerator, or for what `fields` say."""
    given: dict[str, Any] = {
        "device": name,
        "driver": "gpu.nvidia.com",
        "device_class": "gpu.nvidia.com" if claim is Claim.DRA else "",
        "resource_name": "nvidia.com/gpu" if claim is Claim.DEVICE_PLUGIN else "",
        "memory_bytes": MEMORY_80GB,
    }
    return ResolvedRequest(name=name, count=count, claim=claim, selectors=selectors, **{**given, **fields})


def role(
    which: Role = Role.DECODE,
    *,
    workers: int = 1,
    topology: Topology | None = None,
    pool: str = "h100",
    devices: tuple[ResolvedRequest, ...] | None = None,
    constraints: tuple[Constraint, ...] = (),
    pod_template: Mapping[str, Any] | None = None,
) -> BoundRole:
    """Return a bound role whose requests agree with its devices."""
    shape = topology or Topology()
    bound = devices if devices is not None else (device(count=shape.devices_per_node),)
    requests = tuple(Request(d.name, d.count, d.selectors) for d in bound)
    spec = RoleSpec(which, workers, shape, requests, constraints, pod_template or template())
    return BoundRole(spec, pool, bound)


def replica(
    *roles: BoundRole,
    name: str = "llama-0",
    namespace: str = "ml-team",
    engine: EngineType = EngineType.VLLM,
    model: Model | None = Model("llama", "hf://meta-llama/Llama-3.1-8B-Instruct"),  # noqa: B008 - frozen
    **fields: Any,
) -> Replica:
    """Return a replica of deployment `llama` on cluster `gke-us`."""
    given: dict[str, Any] = {"deployment": "llama", "cluster": "gke-us", "backend": "KServe"}
    return Replica(
        namespace=namespace,
        name=name,
        model=model,
        engine=engine,
        roles=roles or (role(),),
        **{**given, **fields},
    )
