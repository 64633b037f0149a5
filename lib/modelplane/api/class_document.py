"""InferenceClass and the pools of an InferenceCluster as documents, from what was found on a cluster.

What `inference_class.decode` reads in a class that was written here are the same devices, counted as it counts parts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from modelplane import names
from modelplane.api import inference_class
from modelplane.devices.model import Attribute, Claim, CounterSet, Device, Draw, NodeClass, Policy
from modelplane.inventory.grouping import FoundPool

Json: TypeAlias = Any

_MI = 1 << 20


def encode(node_class: NodeClass, description: str = "") -> dict[str, Json]:
    """Return the InferenceClass. The count of a device that consumes counters is that at each place (`Draw.alike`)."""
    spec: dict[str, Json] = {"description": description} if description else {}
    if node_class.counter_sets:
        spec["sharedCounters"] = [_counter_set(one) for one in node_class.counter_sets]
    sets = {one.name: one.counters for one in node_class.counter_sets}
    spec["devices"] = [_device(one, sets) for one in node_class.devices]
    node = {}
    if node_class.cpu_millis is not None:
        whole, rest = divmod(node_class.cpu_millis, 1000)
        node["cpu"] = f"{node_class.cpu_millis}m" if rest else str(whole)
    if node_class.memory_bytes is not None:
        node["memory"] = f"{node_class.memory_bytes // _MI}Mi"
    if node:
        spec["node"] = node
    return _document(inference_class.KIND, {"name": node_class.name}, spec)


def encode_cluster(
    name: str, pools: Sequence[FoundPool], existing: Mapping[str, Json], labels: Mapping[str, str]
) -> dict[str, Json]:
    """Return the InferenceCluster with its pools. `existing` is how it is reached and what it runs."""
    metadata: dict[str, Json] = {"name": name}
    if labels:
        metadata["labels"] = dict(labels)
    spec = {
        "cluster": {"source": "Existing", "existing": dict(existing)},
        "nodePools": [_pool(one) for one in pools],
    }
    return _document("InferenceCluster", metadata, spec)


def _document(kind: str, metadata: dict[str, Json], spec: dict[str, Json]) -> dict[str, Json]:
    return {"apiVersion": names.API_VERSION, "kind": kind, "metadata": metadata, "spec": spec}


def _pool(one: FoundPool) -> dict[str, Json]:
    found: dict[str, Json] = {"name": one.name, "className": one.class_name, "nodeCount": one.counted}
    if one.labels is not None:
        found["nodeSelector"] = dict(one.labels)
    if one.taints:
        found["taints"] = [
            {"key": each.key, **({"value": each.value} if each.value else {}), "effect": each.effect}
            for each in one.taints
        ]
    return found


def _counter_set(one: CounterSet) -> dict[str, Json]:
    return {"name": one.name, "count": one.count, "counters": _counters(one.counters)}


def _counters(amounts: Sequence[tuple[str, str]]) -> dict[str, Json]:
    return {name: {"value": text} for name, text in amounts}


def _device(one: Device, sets: Mapping[str, tuple[tuple[str, str], ...]]) -> dict[str, Json]:
    found: dict[str, Json] = {"name": one.name, "driver": one.driver, "claim": str(one.claim)}
    if one.claim is Claim.DEVICE_PLUGIN:
        found["resourceName"] = one.resource_name
    else:
        found["deviceClassName"] = one.device_class
    found["count"] = one.draws[0].alike if one.draws else one.count
    if one.draws:
        found["consumesCounters"] = [_draw(each, sets) for each in one.draws]
    if one.allow_multiple_allocations:
        found["allowMultipleAllocations"] = True
    if one.taints:
        found["taints"] = [
            {"key": each.key, **({"value": each.value} if each.value else {}), "effect": str(each.effect)}
            for each in one.taints
        ]
    if one.attributes:
        found["attributes"] = {name: _attribute(value) for name, value in one.attributes}
    policies = dict(one.policies)
    if one.capacity:
        found["capacity"] = {
            name: {"value": text, **({"requestPolicy": _policy(policies[name])} if name in policies else {})}
            for name, text in one.capacity
        }
    return found


def _draw(one: Draw, sets: Mapping[str, tuple[tuple[str, str], ...]]) -> dict[str, Json]:
    """Return the draw. One of everything that the set has says no counters."""
    found: dict[str, Json] = {"counterSet": one.counter_set}
    if one.amounts and (one.placements or one.amounts != sets[one.counter_set]):
        found["counters"] = _counters(one.amounts)
    if one.placements:
        found["placements"] = [list(place) for place in one.placements]
    return found


def _attribute(value: Attribute) -> dict[str, Json]:
    return {str(value.kind): list(value.value) if isinstance(value.value, tuple) else value.value}


def _policy(one: Policy) -> dict[str, Json]:
    found: dict[str, Json] = {} if one.default is None else {"default": one.default.canonical()}
    if one.valid_values:
        found["validValues"] = [each.canonical() for each in one.valid_values]
    if one.valid_range is not None:
        bounds = (("min", one.valid_range.minimum), ("max", one.valid_range.maximum), ("step", one.valid_range.step))
        found["validRange"] = {name: amount.canonical() for name, amount in bounds if amount is not None}
    return found
