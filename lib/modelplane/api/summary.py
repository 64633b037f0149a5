"""Summary lines about objects of this API: kind, progress and address.

Shape: plain JSON documents, possibly from an incomplete dump, so that every field may be missing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, TypeAlias

from modelplane.topology.shape import Topology

Json: TypeAlias = Any
Resource: TypeAlias = Mapping[str, Json]


class Part(NamedTuple):
    """A line below an object, with a label and a detail."""

    label: str
    detail: str


def no_parts(resource: Resource) -> Iterator[Part]:
    """Yield nothing."""
    return iter(())


def model_deployment(resource: Resource) -> str:
    """Return the numbers of wanted, placed and ready replicas."""
    status, spec = resource.get("status") or {}, resource.get("spec") or {}
    wanted = spec.get("replicas", 1)
    counts = f"{status.get('replicas', 0)} of {wanted} placed, {status.get('readyReplicas', 0)} ready"
    return ", ".join(part for part in (counts, str(status.get("backend") or "")) if part)


def model_replica(resource: Resource) -> str:
    """Return the cluster and, per role, the pool, pods and devices."""
    spec = resource.get("spec") or {}
    roles = [_role("", spec)]
    if spec.get("prefill"):
        roles = [_role("decode ", spec), _role("prefill ", spec["prefill"])]
    return f"{spec.get('clusterName', '?')}: {'; '.join(roles)}"


def _role(label: str, role: Resource) -> str:
    workers = role.get("workers") or {}
    shape = workers.get("topology") or {}
    topology = Topology(
        tensor=shape.get("tensor", 1),
        pipeline=shape.get("pipeline", 1),
        data=shape.get("data", 1),
        data_local=shape.get("dataLocal", 1),
    )
    pods = workers.get("count", 1) * topology.nodes
    requests = [request for request in role.get("devices") or [] if request.get("claim") != "Synthetic"]
    devices = [f"{request.get('count', 1)} {request.get('device') or request.get('name')}" for request in requests]
    each = f" x {' + '.join(devices)}" if devices else ""
    return f"{label}{role.get('pool', '?')}, {pods} {'pod' if pods == 1 else 'pods'}{each}"


def model_endpoint(resource: Resource) -> str:
    """Return the URL."""
    return str((resource.get("spec") or {}).get("url") or "")


def model_service(resource: Resource) -> str:
    """Return the URL and the numbers of matched and ready endpoints."""
    status = resource.get("status") or {}
    counts = status.get("endpoints") or {}
    answering = f"{counts.get('ready', 0)} of {counts.get('matched', 0)} endpoints ready"
    return "  ".join(part for part in (str(status.get("url") or ""), answering) if part)


def inference_gateway(resource: Resource) -> str:
    """Return the URL of the gateway."""
    status = resource.get("status") or {}
    where = status.get("hostname") or status.get("address") or ""
    return f"{status.get('scheme', 'http')}://{where}" if where else ""


def inference_cluster(resource: Resource) -> str:
    """Return the number of admitted replicas of the cluster, and its gateway."""
    status = resource.get("status") or {}
    admitted = len(status.get("admitted") or [])
    gateway = (status.get("gateway") or {}).get("address")
    parts = [f"{admitted} {'replica' if admitted == 1 else 'replicas'}", f"gateway {gateway}" if gateway else ""]
    return ", ".join(part for part in parts if part)


def serving_stack(resource: Resource) -> str:
    """Return how many components are ready, and those that are not."""
    status = resource.get("status") or {}
    listed = [
        one for one in status.get("components") or [] if one.get("phase") not in ("Ready", "External", "Disabled")
    ]
    waiting = ", ".join(f"{one.get('name')} {one.get('phase')}" for one in listed)
    counts = f"{status['summary']} components" if status.get("summary") else ""
    return "; ".join(part for part in (counts, waiting) if part)


def inference_class(resource: Resource) -> str:
    """Return the devices of one node."""
    devices = (resource.get("spec") or {}).get("devices") or []
    return ", ".join(_device(device) for device in devices)


def backend_rules(resource: Resource) -> str:
    """Return the backends that the rules prefer."""
    rules = (resource.get("spec") or {}).get("rules") or []
    preferred = sorted({str(rule.get("backend")) for rule in rules})
    return f"{len(rules)} {'rule' if len(rules) == 1 else 'rules'} for {', '.join(preferred)}" if rules else ""


def inference_quota(resource: Resource) -> str:
    """Return the use of each limit."""
    limits = (resource.get("status") or {}).get("limits") or []
    return ", ".join(f"{one.get('name')} {one.get('used')}/{one.get('limit')}" for one in limits)


def _device(device: Resource) -> str:
    memory = ((device.get("capacity") or {}).get("memory") or {}).get("value")
    size = f" {memory}" if memory else ""
    return f"{device.get('count', 1)} x {device.get('name')}{size}"


def llm_inference(resource: Resource) -> str:
    """Return the model and its URL."""
    spec, status = resource.get("spec") or {}, resource.get("status") or {}
    return "  ".join(part for part in (str(spec.get("model") or ""), str(status.get("url") or "")) if part)


def model_cache(resource: Resource) -> str:
    """Return the source and the number of clusters that hold it."""
    status, spec = resource.get("status") or {}, resource.get("spec") or {}
    counts = status.get("summary") or {}
    staged = f"staged on {counts.get('ready', 0)} of {counts.get('wanted', 0)} clusters"
    return ", ".join(part for part in (str(status.get("source") or ""), str(spec.get("size") or ""), staged) if part)


def model_cache_copy(resource: Resource) -> str:
    """Return the cluster and the phase."""
    status, spec = resource.get("status") or {}, resource.get("spec") or {}
    return f"{spec.get('clusterName', '?')}: {status.get('phase') or 'Pending'}"


def cloud_part(resource: Resource) -> str:
    """Return the progress of a part of a cluster that is created."""
    status = resource.get("status") or {}
    nodes = (status.get("nodes") or {}).get("observed")
    counted = "" if nodes is None else f"{nodes} {'node' if nodes == 1 else 'nodes'}"
    made = f"{status.get('made')} resources" if status.get("made") else ""
    return ", ".join(part for part in (str(status.get("phase") or ""), made, counted) if part)


def pools(resource: Resource) -> Iterator[Part]:
    """Yield a line per pool of a cluster, from its published ledger."""
    for pool in (resource.get("status") or {}).get("pools") or []:
        used: dict[str, int] = {}
        for allocation in pool.get("allocations") or []:
            for device, count in (allocation.get("devices") or {}).items():
                used[device] = used.get(device, 0) + count * allocation.get("pods", 0)
        free = pool.get("free") or {}
        counts = [f"{free[device]} of {free[device] + used.get(device, 0)} {device} free" for device in sorted(free)]
        nodes = (pool.get("nodes") or {}).get("declared", 0)
        size = f"{nodes} {'node' if nodes == 1 else 'nodes'} {pool.get('className', '')}".rstrip()
        yield Part(f"pool {pool.get('name')}", ", ".join([size, *counts]))
