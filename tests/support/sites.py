"""Sites and pools of clusters that are created, for tests of the clouds that make them."""

from __future__ import annotations

from typing import Any

from modelplane import names
from modelplane.api.fields import Field
from modelplane.workload.created import NodeTaint, PoolSpec, Site

Json = Any
DRA = ("gpu.nvidia.com",)


def site(block: str, settings: Json, *, cluster: str = "north", **fields: Any) -> Site:
    """Return the site of a cluster; `block` is the name of the cloud's block, whose path errors have."""
    return Site(cluster, Field({"spec": {"cluster": {block: settings}}}).at("spec", "cluster", block), **fields)


def pool(
    block: str,
    recipe: Json,
    *,
    name: str = "pool",
    count: int | None = 2,
    bounds: tuple[int, int] = (0, 4),
    zones: tuple[str, ...] = (),
    **fields: Any,
) -> PoolSpec:
    """Return a pool of so many nodes, or with `count=None` one that scales within `bounds`."""
    entry: Json = {"name": name, "className": "class", "zones": list(zones)}
    entry |= {"nodeCount": count} if count is not None else {"minNodeCount": bounds[0], "maxNodeCount": bounds[1]}
    least, most = (count, count) if count is not None else bounds
    defaults: dict[str, Any] = {"labels": ((names.LABEL_POOL, name),), "drivers": DRA, "devices": 8}
    return PoolSpec(
        name=name,
        class_name="class",
        at=next(Field({"spec": {"nodePools": [entry]}}).at("spec", "nodePools").items()),
        recipe=Field({"spec": {"provisioning": {block: recipe}}}).at("spec", "provisioning", block),
        declared=count,
        least=least,
        most=most,
        zones=zones,
        **{**defaults, **fields},
    )


def taint(key: str, effect: str = "NoSchedule", value: str = "") -> NodeTaint:
    """Return a taint of nodes."""
    return NodeTaint(key, value, effect)
