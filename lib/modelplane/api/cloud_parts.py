"""CloudNetwork, CloudCluster and CloudNodePool: the parts of a cluster that is created.

Shape: the whole resource as plain JSON. An InferenceCluster writes the specs, with copies of the blocks that its author
and the authors of its classes wrote, so that a part reads nothing but itself and is not called for each admission.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from modelplane import seen
from modelplane.api import intent, pool_nodes
from modelplane.api.fields import Field
from modelplane.devices.model import Claim, NodeClass
from modelplane.workload.created import Nodes, NodeTaint, PoolSpec, Site

Json: TypeAlias = Any
Resource: TypeAlias = Mapping[str, Json]

NETWORK_KIND, CLUSTER_KIND, POOL_KIND = "CloudNetwork", "CloudCluster", "CloudNodePool"
KEPT, DELETED = "Orphan", "Delete"
"""The deletionPolicy that leaves everything in the cloud, and the default one."""
_MOST_NODES = 15000
_MOST_DEVICES = 65536


def is_kept(spec: Json) -> bool | None:
    """Return whether a `deletionPolicy` leaves everything in the cloud, None where it cannot be read."""
    if not isinstance(spec, Mapping):
        return None
    written = spec.get("deletionPolicy", DELETED)
    return written == KEPT if written in (KEPT, DELETED) else None


def block_of(source: str) -> str:
    """Return the name of the block with the settings of a cloud: GKE -> gke."""
    return source.lower()


def site(cluster: Resource, source: str) -> Site:
    """Return the site of an InferenceCluster. Raises: InvalidInput with the path from the document's root."""
    root = Field(cluster)
    spec = root.at("spec")
    zones = {zone for pool in spec.at("nodePools").items() for zone in pool.at("zones").texts()}
    return Site(
        cluster=root.at("metadata", "name").text(),
        settings=spec.at("cluster", block_of(source)),
        zones=tuple(sorted(zones)),
        is_kept=spec.at("cluster", "deletionPolicy").text("") == KEPT,
        external_name=spec.at("cluster", "externalName").text(""),
    )


def pool(entry: Field, resource: Resource, node_class: NodeClass, source: str) -> PoolSpec:
    """Return a pool with the recipe of its class, given as the resource and as it was decoded.

    Raises: InvalidInput about the entry, also where the class has no recipe for the cloud.
    """
    recipe = Field(resource).at("spec", "provisioning", block_of(source))
    if not recipe.is_set:
        raise entry.at("className").wrong(
            f'InferenceClass "{node_class.name}" has no spec.provisioning.{block_of(source)}, so {source} cannot make '
            "its nodes; add it to the class, or name a class that has it"
        )
    claimed = [device for device in node_class.devices if device.claim is not Claim.SYNTHETIC]
    return PoolSpec(
        name=entry.text_at("name"),
        class_name=node_class.name,
        at=entry,
        recipe=recipe,
        labels=tuple(sorted(pool_nodes.selector(entry).items())),
        drivers=tuple(sorted({device.driver for device in claimed if device.claim is Claim.DRA})),
        devices=sum(device.count for device in claimed if not device.draws),
        **_size(entry),
        **_place(entry),
    )


def encode(site: Site, source: str) -> dict[str, Json]:
    """Return the spec that all parts of a cluster have in common."""
    spec: dict[str, Json] = {
        "clusterName": site.cluster,
        "provider": source,
        "settings": site.settings.value,
        "deletionPolicy": KEPT if site.is_kept else DELETED,
    }
    if site.external_name:
        spec["externalName"] = site.external_name
    if site.zones:
        spec["zones"] = list(site.zones)
    return spec


def encode_pool(pool: PoolSpec, facts: Mapping[str, str]) -> dict[str, Json]:
    """Return the part of the spec that a CloudNodePool has beside that."""
    made: dict[str, Json] = {"name": pool.name, "className": pool.class_name, "labels": dict(pool.labels)}
    if pool.declared is not None:
        made["nodeCount"] = pool.declared
    else:
        made |= {"minNodeCount": pool.least, "maxNodeCount": pool.most}
    if pool.zones:
        made["zones"] = list(pool.zones)
    if pool.taints:
        made["taints"] = [{"key": one.key, "value": one.value, "effect": one.effect} for one in pool.taints]
    return {
        "pool": made,
        "recipe": pool.recipe.value,
        "drivers": list(pool.drivers),
        "devices": pool.devices,
        **({"facts": dict(sorted(facts.items()))} if facts else {}),
    }


def decode(part: Resource) -> tuple[str, Site]:
    """Return the cloud service and the site of a part. Raises: InvalidInput with the path from the document's root."""
    spec = Field(part).at("spec")
    found = Site(
        cluster=spec.at("clusterName").text(),
        settings=spec.at("settings"),
        zones=spec.at("zones").texts(),
        is_kept=spec.at("deletionPolicy").text("") == KEPT,
        external_name=spec.at("externalName").text(""),
    )
    return spec.at("provider").text(), found


def decode_pool(part: Resource) -> tuple[PoolSpec, dict[str, str]]:
    """Return the pool of a CloudNodePool, and the facts of its cluster.

    Raises: InvalidInput with the path from the document's root.
    """
    spec = Field(part).at("spec")
    entry = spec.at("pool")
    found = PoolSpec(
        name=entry.at("name").text(),
        class_name=entry.at("className").text(),
        at=entry,
        recipe=spec.at("recipe"),
        labels=tuple(sorted((key, str(value)) for key, value in entry.at("labels").members().items())),
        drivers=spec.at("drivers").texts(),
        devices=spec.at("devices").count(0, least=0, most=_MOST_DEVICES),
        **_size(entry),
        **_place(entry),
    )
    return found, _facts(spec)


def facts(cluster: Resource | None) -> dict[str, str]:
    """Return the published facts of an observed CloudCluster, none where it has none."""
    return _texts(seen.at(cluster, "status", "facts"))


def nodes(pool: Resource | None) -> Nodes | None:
    """Return the published nodes of an observed CloudNodePool, None where it has published none."""
    found = seen.at(pool, "status", "nodes")
    if not isinstance(found, Mapping):
        return None
    return Nodes(seen.count(found.get("observed")), seen.count(found.get("growable")) or 0)


def encode_nodes(nodes: Nodes) -> dict[str, Json]:
    """Return status.nodes of a CloudNodePool."""
    counted = {} if nodes.observed is None else {"observed": nodes.observed}
    return {**counted, "growable": nodes.growable}


def _facts(spec: Field) -> dict[str, str]:
    return _texts(spec.at("facts").value)


def _texts(value: Json) -> dict[str, str]:
    members = value.items() if isinstance(value, Mapping) else ()
    return {key: text for key, found in sorted(members) if (text := seen.text(found))}


def _size(entry: Field) -> dict[str, Any]:
    """Return the declared number of nodes and its bounds. A pool with maxNodeCount scales."""
    declared = entry.at("nodeCount").count(0, least=0, most=_MOST_NODES)
    if not entry.at("maxNodeCount").is_set:
        return {"declared": declared, "least": declared, "most": declared}
    most = entry.at("maxNodeCount").count(least=0, most=_MOST_NODES)
    least = entry.at("minNodeCount").count(0, least=0, most=_MOST_NODES)
    if least > most:
        raise entry.at("minNodeCount").wrong("must not be above maxNodeCount; lower one or raise the other")
    return {"declared": None, "least": least, "most": most}


def _place(entry: Field) -> dict[str, Any]:
    taints = (intent.decode_taint(one) for one in entry.at("taints").items())
    return {
        "zones": tuple(sorted(entry.at("zones").texts())),
        "taints": tuple(NodeTaint(one.key, one.value, str(one.effect)) for one in taints),
    }
