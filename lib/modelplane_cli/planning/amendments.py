"""The edits that make the closest miss fit: JSON Patch operations on the documents that were given.

The matcher has checked the changes. Each is made again here to find its value, so that document and checked snapshot
agree. A change that no author can write (a cluster's status, an object that another composite composes) is described
in words instead.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from modelplane import names, units
from modelplane.api import inference_class, inference_cluster, quota
from modelplane.placement.decision import Change, Closest, World
from modelplane.placement.diagnosis import changes
from modelplane.placement.snapshot import Cluster, Pool, RoleDemand
from modelplane.units import Format, Quantity
from modelplane.workload import allowance
from modelplane.workload.allowance import Measure
from modelplane.workload.model import Role
from modelplane_cli.documents.reading import Document
from modelplane_cli.planning import hardware, patches
from modelplane_cli.planning.patches import Edit, Operation, Path
from modelplane_cli.planning.replicas import Deployment
from modelplane_cli.simulator.store import Key, Store, controller_of, group_of
from modelplane_functions.deployment_facts import Facts

Json: TypeAlias = Any
Documents: TypeAlias = Mapping[Key, Mapping[str, Json]]
"""The documents that people wrote, by identity. Composed objects are not among them."""


@dataclass(frozen=True, slots=True)
class Amendment:
    """The operations in order, and descriptions of the changes that no given document can make."""

    operations: tuple[Operation, ...]
    beyond: tuple[str, ...]


def of(closest: Closest, facts: Facts, documents: Documents) -> Amendment:
    """Return the edits that make the changes of a closest miss in the documents from which they were found.

    A change of hardware is a pool of a class among the documents. Without such a class there is no operation.
    """
    cluster = next(one for one in facts.fleet.clusters if one.name == closest.cluster)
    if not hardware.is_needed(closest):
        return _amendment(closest.changes, (), cluster, facts, documents)
    if _cluster_key(cluster) not in documents:
        return Amendment((), (_not_given(_cluster_key(cluster)),))
    known = [key.name for key in documents if (key.group, key.kind) == (names.GROUP, inference_class.KIND)]
    pools = hardware.pools(closest, facts, known)
    if not pools:
        return Amendment((), (_NO_CLASS.format(cluster=cluster.name),))
    return _amendment(hardware.others(closest), pools, cluster, facts, documents)


def _amendment(
    changed: Sequence[Change], pools: Sequence[Pool], cluster: Cluster, facts: Facts, documents: Documents
) -> Amendment:
    """Return the operations of the changes, in order, followed by those that add the pools to the cluster."""
    world = World(cluster, facts.demand, facts.intent)
    found = dict(documents)
    operations: list[Operation] = []
    beyond: list[str] = []

    def make(edit: Edit) -> None:
        operation = patches.operation(found[edit.key], edit)
        operations.append(operation)
        found[edit.key] = patches.patched(found[edit.key], operation)

    for change in changed:
        after = change.apply(world)
        missing = _missing(change, facts, world, found)
        if missing:
            beyond.append(missing)
        else:
            for edit in EDITS[type(change)](change, world, after, found):
                make(edit)
        world = after
    for pool in pools:
        entry = {"name": pool.name, "className": pool.class_name, "nodeCount": pool.nodes.declared}
        make(Edit(_cluster_key(cluster), ("spec", "nodePools", patches.APPEND), entry))
    return Amendment(tuple(operations), tuple(beyond))


def written(given: Iterable[Document], namespace: str, objects: Documents) -> Documents:
    """Return the documents, as given and without defaults, of the objects that nothing composes."""
    found: dict[Key, Mapping[str, Json]] = {}
    for document in given:
        metadata = document.data["metadata"]
        spaces = dict.fromkeys(
            (str(metadata.get("namespace") or ""), "" if metadata.get("namespace") else namespace, "")
        )
        kind = (group_of(str(document.data["apiVersion"])), str(document.data["kind"]))
        for space in spaces:
            key = Key(*kind, space, str(metadata["name"]))
            if key in objects and controller_of(objects[key]) is None:
                found.setdefault(key, document.data)
                break
    return found


def authored(store: Store) -> Documents:
    """Return the objects of a store that nothing composes."""
    objects = ((key, store.get(key) or {"metadata": {}}) for key in store)
    return {key: resource for key, resource in objects if controller_of(resource) is None}


def encode_closest(closest: Closest, facts: Facts, documents: Documents) -> dict[str, Json]:
    """Return the closest miss and its operations as JSON."""
    return encoded(closest, of(closest, facts, documents))


def encoded(closest: Closest, amendment: Amendment) -> dict[str, Json]:
    """Return the same for known operations."""
    return {
        "cluster": closest.cluster,
        "pool": closest.pool,
        "misses": list(closest.misses),
        "wouldFitIf": closest.would_fit_if,
        "change": encode(amendment),
        "notInDocuments": list(amendment.beyond),
    }


def encode(amendment: Amendment) -> list[dict[str, Json]]:
    """Return the operations as JSON, each with its document. Those of one document are a JSON Patch."""
    return [
        {
            "document": {
                "kind": one.key.kind,
                **({"namespace": one.key.namespace} if one.key.namespace else {}),
                "name": one.key.name,
            },
            "op": one.op,
            "path": one.pointer,
            **({} if one.op == patches.REMOVE else {"value": one.value}),
        }
        for one in amendment.operations
    ]


# --- whose document ---------------------------------------------------------------------------------------------------

_NOBODYS: Mapping[type[Change], str] = {
    changes.Ready: "no change of a document makes {cluster} ready; see status.conditions of its InferenceCluster",
    changes.Installs: "no change of a document installs a backend on {cluster}; install it there",
    changes.HasAddress: "no change of a document gives {cluster} an address; the Gateway on the cluster must get one",
    changes.HasCache: "no change of a document makes a ModelCache ready; its download must finish",
    changes.Pardoned: "no change of a document withdraws a refusal; {cluster} decides again when its replicas change",
}
_NO_CLASS = (
    "no InferenceClass among the documents would serve on {cluster}; "
    "add one with the devices as their driver publishes them, and a pool of that class"
)
_OF_CLUSTER = (
    *(changes.HasLabel, changes.NoLabel, changes.AllowsNamespace),
    *(changes.OffersBackend, changes.MoreNodes),
)


def _missing(change: Change, facts: Facts, world: World, found: Documents) -> str:
    """Return why none of the documents can make the change, empty where one can."""
    if type(change) in _NOBODYS:
        return _NOBODYS[type(change)].format(cluster=world.cluster.name)
    if type(change) not in EDITS:
        return f"no change of a document is known for it: {change.describe(roles=len(world.demand.roles))}"
    keys = [_target(change, facts, world)]
    if isinstance(change, changes.Tolerated):
        keys.append(_cluster_key(world.cluster))
    if any(key in found for key in keys):
        return ""
    return _not_given(keys[0])


def _not_given(key: Key) -> str:
    return f"{key.kind} {_shown(key)} is not among the documents, or another object composes it"


def _target(change: Change, facts: Facts, world: World) -> Key:
    if isinstance(change, changes.MoreQuota):
        return _quota_key(change)
    if isinstance(change, _OF_CLUSTER):
        return _cluster_key(world.cluster)
    return Deployment(facts.intent.namespace, facts.intent.deployment).key


def _shown(key: Key) -> str:
    return names.qualified(key.namespace, key.name) if key.namespace else key.name


def _cluster_key(cluster: Cluster) -> Key:
    return Key(names.GROUP, inference_cluster.KIND, "", cluster.name)


def _quota_key(change: changes.MoreQuota) -> Key:
    return Key(names.GROUP, quota.KIND, "", change.quota)


def _deployment_key(world: World) -> Key:
    return Deployment(world.intent.namespace, world.intent.deployment).key


def _pool(cluster: Cluster, name: str) -> Pool:
    return next(pool for pool in cluster.pools if pool.name == name)


def _place(items: Sequence[Mapping[str, Json]], name: str) -> int:
    return next(position for position, item in enumerate(items) if item.get("name") == name)


# --- what is written --------------------------------------------------------------------------------------------------


def _label(change: changes.HasLabel, world: World, _after: World, _found: Documents) -> Iterator[Edit]:
    yield Edit(_cluster_key(world.cluster), ("metadata", "labels", change.key), change.value)


def _no_label(change: changes.NoLabel, world: World, _after: World, _found: Documents) -> Iterator[Edit]:
    yield Edit(_cluster_key(world.cluster), ("metadata", "labels", change.key), None)


def _namespace(change: changes.AllowsNamespace, world: World, _after: World, found: Documents) -> Iterator[Edit]:
    key = _cluster_key(world.cluster)
    names_written = found[key]["spec"]["allowedNamespaces"].get("names") or []
    yield Edit(key, ("spec", "allowedNamespaces", "names"), [*names_written, change.namespace])


def _quota(change: changes.MoreQuota, _world: World, _after: World, found: Documents) -> Iterator[Edit]:
    """Yield the higher limit; what is smaller than a millionth is rounded up."""
    key, limits = _quota_key(change), ("spec", "limits")
    if change.limit.measure is Measure.COST:
        yield Edit(key, (*limits, "costPerHour", "amount"), allowance.written(change.most))
        return
    whole = math.ceil(change.most)
    if change.limit.measure is Measure.REPLICAS:
        yield Edit(key, (*limits, "replicas"), whole)
        return
    place = _place(found[key]["spec"]["limits"]["devices"], change.limit.name)
    yield Edit(key, (*limits, "devices", place, "count"), whole)


def _taint(change: changes.Tolerated, world: World, _after: World, found: Documents) -> Iterator[Edit]:
    """Yield a toleration; where another object writes the deployment, the taint goes instead."""
    key, taint = _deployment_key(world), change.taint
    if key in found:
        toleration = {"key": taint.key, "operator": "Equal", "value": taint.value, "effect": str(taint.effect)}
        yield Edit(key, ("spec", "tolerations", patches.APPEND), toleration)
        return
    cluster = _cluster_key(world.cluster)
    for position, one in enumerate(found[cluster]["spec"]["taints"]):
        if (one["key"], one.get("value", ""), one["effect"]) == (taint.key, taint.value, str(taint.effect)):
            yield Edit(cluster, ("spec", "taints", position), None)
            return


def _backend(change: changes.OffersBackend, world: World, _after: World, found: Documents) -> Iterator[Edit]:
    key = _cluster_key(world.cluster)
    written = found[key]["spec"].get("backends")
    yield Edit(key, ("spec", "backends"), [*(world.cluster.backends if written is None else written), change.backend])


def _limit(change: changes.ReplicaLimit, world: World, _after: World, _found: Documents) -> Iterator[Edit]:
    yield Edit(_deployment_key(world), ("spec", "placement", "maxReplicasPerCluster"), change.limit)


def _spread(change: changes.MaxSkew, world: World, _after: World, found: Documents) -> Iterator[Edit]:
    key = _deployment_key(world)
    for position, entry in enumerate(found[key]["spec"]["placement"]["spread"]):
        if entry["topologyKey"] == change.topology_key:
            yield Edit(key, ("spec", "placement", "spread", position, "maxSkew"), change.max_skew)


def _nodes(change: changes.MoreNodes, world: World, after: World, found: Documents) -> Iterator[Edit]:
    """Yield the count that the pool is to have; where nodes are observed only a pool that may grow promises more."""
    key, nodes = _cluster_key(world.cluster), _pool(world.cluster, change.pool).nodes
    entries = found[key]["spec"]["nodePools"]
    position = _place(entries, change.pool)
    grows = nodes.maximum is not None or nodes.observed is not None
    field = "maxNodeCount" if grows else "nodeCount"
    count = _pool(after.cluster, change.pool).nodes.usable + nodes.resting
    yield Edit(key, ("spec", "nodePools", position, field), count)


def _selector(change: changes.OtherSelectors, world: World, after: World, found: Documents) -> Iterator[Edit]:
    key = _deployment_key(world)
    was, now = _role(world, change.role).requests, _role(after, change.role).requests
    at: Path = (*_path(change.role), "nodeSelector")
    short = "cel" in _at(found[key], at)
    for request, (old, new) in enumerate(zip(was, now, strict=True)):
        for number, (before, text) in enumerate(zip(old.selectors, new.selectors, strict=True)):
            if before != text:
                below: Path = ("cel",) if short else ("devices", request, "selectors", number, "cel")
                yield Edit(key, (*at, *below), text)


def _topology(change: changes.OtherTopology, world: World, _after: World, found: Documents) -> Iterator[Edit]:
    """Yield the sizes, and the number of devices of a pod where it is written beside them."""
    key, at = _deployment_key(world), _path(change.role)
    for field in ("tensor", "pipeline"):
        yield Edit(key, (*at, "workers", "topology", field), getattr(change.topology, field))
    listed = _at(found[key], at)["nodeSelector"].get("devices") or ()
    if any("count" in one for one in listed[:1]):
        yield Edit(key, (*at, "nodeSelector", "devices", 0, "count"), change.topology.devices_per_node)


def _resources(
    change: changes.LowerCpu | changes.LowerMemory, world: World, after: World, found: Documents
) -> Iterator[Edit]:
    """Yield lower requests of containers, the one that asks for most first, until they add up to what a node has."""
    key, resource = _deployment_key(world), "cpu" if isinstance(change, changes.LowerCpu) else "memory"
    was, now = (_asked(_role(one, change.role), resource) for one in (world, after))
    place: Path = (*_path(change.role), "workers", "template", "spec", "containers")
    containers = _at(found[key], place)
    amounts = [_amount(container, resource) for container in containers]
    too_many = was - now
    for position in sorted(range(len(amounts)), key=lambda position: (-amounts[position], position)):
        less = min(too_many, amounts[position])
        if less > 0:
            yield Edit(
                key,
                (*place, position, "resources", "requests", resource),
                _quantity(amounts[position] - less, resource),
            )
        too_many -= less


def _path(role: Role | None) -> Path:
    return (role or Role.DECODE).path


def _at(document: Json, path: Path) -> Json:
    for key in path:
        document = document[key]
    return document


def _role(world: World, role: Role | None) -> RoleDemand:
    return next(one for one in world.demand.roles if one.role is role)


def _asked(role: RoleDemand, resource: str) -> int:
    return role.cpu_millis if resource == "cpu" else role.memory_bytes


def _amount(container: Mapping[str, Json], resource: str) -> int:
    """Return what a container asks for, in millis of cpu or bytes; its limit counts where it names no request."""
    resources = container.get("resources") or {}
    for kind in ("requests", "limits"):
        text = (resources.get(kind) or {}).get(resource)
        if text is not None:
            amount = units.quantity(str(text))
            return Quantity(amount.unscaled, amount.exponent + (3 if resource == "cpu" else 0)).ceil()
    return 0


def _quantity(amount: int, resource: str) -> str:
    if resource == "cpu":
        return f"{amount}m" if amount % 1000 else str(amount // 1000)
    return Quantity.of(amount, Format.BINARY_SI).canonical()


EDITS: dict[type[Change], Callable[[Any, World, World, Documents], Iterator[Edit]]] = {
    changes.HasLabel: _label,
    changes.NoLabel: _no_label,
    changes.AllowsNamespace: _namespace,
    changes.MoreQuota: _quota,
    changes.Tolerated: _taint,
    changes.OffersBackend: _backend,
    changes.ReplicaLimit: _limit,
    changes.MaxSkew: _spread,
    changes.MoreNodes: _nodes,
    changes.OtherSelectors: _selector,
    changes.OtherTopology: _topology,
    changes.LowerCpu: _resources,
    changes.LowerMemory: _resources,
}
"""The edits of documents for a change, by its class. Each function takes the change, the world before and after it, and
    the documents that were given."""
