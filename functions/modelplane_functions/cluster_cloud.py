"""A cluster that is created: its parts as children of the InferenceCluster, and what these report.

The network, the cluster and each node pool are composites of their own. They are emitted at once, because their managed
resources wait for each other by themselves; the access to the cluster follows when the cluster is ready. While anything
is wrong with the documents, nothing is changed in the cloud and everything is held.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from modelplane import names, seen, words
from modelplane.api import cloud_parts
from modelplane.api.fields import Field
from modelplane.devices.model import NodeClass
from modelplane.errors import InvalidInput
from modelplane.render import protection, provisioning
from modelplane.render.cloud import PROVIDER_CONFIG_KEY, PROVIDER_CONFIG_KIND, Access
from modelplane.render.clouds import selection
from modelplane.render.provisioning import Provisioner, StackNeeds
from modelplane.workload.created import Nodes, PoolSpec, Site
from modelplane.workload.stack import Lifeline
from modelplane_functions import hold
from modelplane_functions.exchange import Child, Condition, Observed, Ready, Resource, Truth

Json: TypeAlias = Any

CONDITION = "Provisioned"
_NETWORK, _CLUSTER, _POOL = "cloud-network", "cloud-cluster", "cloud-pool-"
_TOLD = 5


@dataclass(frozen=True, slots=True)
class Created:
    """The parts of a cluster that is created, and what is said of them; nothing for another cluster."""

    children: Mapping[str, Child] = field(default_factory=dict)
    status: Resource = field(default_factory=dict)
    conditions: tuple[Condition, ...] = ()


@dataclass(frozen=True, slots=True)
class _Creation:
    """What is to be created, and why it is not, if something is wrong with it."""

    source: str
    cloud: Provisioner
    site: Site | None = None
    pools: tuple[PoolSpec, ...] = ()
    problems: tuple[str, ...] = ()


def source_of(observed: Observed) -> str:
    """Return the source of the cluster."""
    return Field(observed.spec, ("spec",)).at("cluster", "source").text("Existing")


def is_created(observed: Observed) -> bool:
    """Return whether the cluster is one that is created. Raises: Unsupported for an unknown source."""
    return selection.provisioner(source_of(observed)) is not None


def access(observed: Observed) -> Access | None:
    """Return the access to a created cluster, None while there is none. It stays once it was given."""
    cloud = selection.maker(source_of(observed))
    is_open = PROVIDER_CONFIG_KEY in observed.children or _phase(observed.children.get(_CLUSTER)) == "Ready"
    if not is_open:
        return None
    site = cloud_parts.site(observed.composite, source_of(observed))
    return Access(PROVIDER_CONFIG_KIND, protection.name_of(observed.name), (cloud.config(site),))


def stack_needs(observed: Observed) -> StackNeeds:
    """Return the needs of the serving stack on the cluster. One that exists may be one of Google's."""
    cloud = selection.provisioner(source_of(observed))
    if cloud is None:
        return StackNeeds(needs_critical_quota=True)
    return cloud.stack_needs(cloud_parts.site(observed.composite, source_of(observed)))


def lifelines(observed: Observed) -> tuple[Lifeline, ...]:
    """Return the managed resources without which nothing can be uninstalled from a created cluster."""
    cloud = selection.provisioner(source_of(observed))
    if cloud is None:
        return ()
    made = cloud.cluster(cloud_parts.site(observed.composite, source_of(observed)), {})
    found = (one.resource for one in made if one.key in cloud.lifelines())
    return tuple(Lifeline(one["apiVersion"], one["kind"], one["metadata"]["name"]) for one in found)


def nodes(observed: Observed) -> dict[str, Nodes]:
    """Return the nodes of the pools as their cloud reports them, nothing for a cluster that is not created.

    The last known ones stay, and there were none at first.
    """
    if not is_created(observed):
        return {}
    published = {
        seen.text(entry.get("name")): Nodes(
            seen.count(seen.at(entry, "nodes", "observed")), seen.count(seen.at(entry, "nodes", "growable")) or 0
        )
        for entry in seen.objects(observed.status.get("pools"))
    }
    found: dict[str, Nodes] = {}
    for entry in Field(observed.spec, ("spec",)).at("nodePools").items():
        name = entry.text_at("name")
        told = cloud_parts.nodes(observed.children.get(_POOL + name)) or published.get(name) or Nodes()
        found[name] = replace(told, observed=told.observed or 0)
    return found


def compose(
    observed: Observed,
    classes: Mapping[str, tuple[Resource, NodeClass]],
    in_use: frozenset[str],
    *,
    is_reached: bool,
) -> Created:
    """Return the parts of the cluster. `in_use` are the pools that replicas hold.

    `classes` are the usable classes by name, as resources and decoded. `is_reached` says whether there is access.
    """
    creation = _read(observed, classes, in_use)
    said = _condition(observed, creation, is_reached=is_reached)
    conditions = [said]
    if not is_reached:
        conditions.append(Condition("ClusterReady", Truth.FALSE, said.reason, said.message))
    return Created(_children(observed, creation, in_use), {"cloud": _encode(observed, said)}, tuple(conditions))


def _read(observed: Observed, classes: Mapping[str, tuple[Resource, NodeClass]], in_use: frozenset[str]) -> _Creation:
    source = source_of(observed)
    cloud = selection.maker(source)
    try:
        site = cloud_parts.site(observed.composite, source)
    except InvalidInput as error:
        return _Creation(source, cloud, problems=(str(error),))
    pools: list[PoolSpec] = []
    problems: list[str] = []
    for entry in Field(observed.composite).at("spec", "nodePools").items():
        try:
            pools.append(_pool(entry, source, classes))
        except InvalidInput as error:
            problems.append(str(error))
    pools = [_as_made(observed, pool) if pool.name in in_use else pool for pool in pools]
    problems += [str(problem) for problem in cloud.problems(site, tuple(pools))]
    return _Creation(source, cloud, site, tuple(pools), tuple(problems))


def _pool(entry: Field, source: str, classes: Mapping[str, tuple[Resource, NodeClass]]) -> PoolSpec:
    name = entry.text_at("className")
    if name not in classes:
        raise entry.at("className").wrong(f'InferenceClass "{name}" does not exist or is not usable')
    return cloud_parts.pool(entry, *classes[name], source)


def _as_made(observed: Observed, pool: PoolSpec) -> PoolSpec:
    """Return the pool with the recipe and the zones of its nodes: another one would replace them under replicas."""
    child = observed.children.get(_POOL + pool.name)
    if child is None:
        return pool
    try:
        made, _ = cloud_parts.decode_pool(child)
    except InvalidInput:
        return pool
    return replace(pool, recipe=made.recipe, zones=made.zones)


def _children(observed: Observed, creation: _Creation, in_use: frozenset[str]) -> dict[str, Child]:
    """Return the parts. Nothing changes while there are problems, and a pool that replicas hold stays."""
    standing = {key: child for key, child in observed.children.items() if is_part(key)}
    if creation.problems or creation.site is None:
        return {key: _held(observed, child) for key, child in sorted(standing.items())}
    made = dict(_parts(observed, creation, creation.site))
    for key, child in sorted(standing.items()):
        is_needed = key in (_NETWORK, _CLUSTER) or key.removeprefix(_POOL) in in_use
        if key not in made and is_needed:
            made[key] = _held(observed, child)
    return made


def _held(observed: Observed, child: Resource) -> Child:
    """Return a part as it is observed, with the fate in the cloud that its author wants now: it changes nothing there.

    Who deletes the InferenceCluster next would lose, or go on to pay for, what an earlier wish says.
    """
    kept = hold.held(child)
    is_kept = cloud_parts.is_kept(observed.spec.get("cluster"))
    if is_kept is not None and isinstance(kept.get("spec"), Mapping):
        fate = cloud_parts.KEPT if is_kept else cloud_parts.DELETED
        kept["spec"] = {**kept["spec"], "deletionPolicy": fate}
    return Child(kept, _judge(child))


def _parts(observed: Observed, creation: _Creation, site: Site) -> Iterator[tuple[str, Child]]:
    common = cloud_parts.encode(site, creation.source)
    parts = [(_CLUSTER, cloud_parts.CLUSTER_KIND, provisioning.part_name(site.cluster), common)]
    if creation.cloud.network(site):
        parts.append((_NETWORK, cloud_parts.NETWORK_KIND, provisioning.part_name(site.cluster), common))
    facts = cloud_parts.facts(observed.children.get(_CLUSTER))
    for pool in creation.pools:
        spec = {**common, **cloud_parts.encode_pool(pool, facts)}
        name = provisioning.part_name(site.cluster, pool.name)
        parts.append((_POOL + pool.name, cloud_parts.POOL_KIND, name, spec))
    for key, kind, name, spec in parts:
        labels = {names.LABEL_CLUSTER: site.cluster}
        resource = {
            "apiVersion": names.API_VERSION,
            "kind": kind,
            "metadata": {"name": name, "labels": labels},
            "spec": spec,
        }
        child = observed.children.get(key)
        yield key, Child(resource, Ready.FALSE if child is None else _judge(child))


def _condition(observed: Observed, creation: _Creation, *, is_reached: bool) -> Condition:
    """Return the condition Provisioned. `is_reached` says whether the access to the cluster exists."""
    if creation.problems:
        told = words.first(creation.problems, _TOLD, "; ")
        return Condition(CONDITION, Truth.FALSE, "Refused", f"{told}; nothing is changed in the cloud meanwhile")
    for key, reason in ((_NETWORK, "NetworkPending"), (_CLUSTER, "ClusterPending")):
        child = observed.children.get(key)
        is_wanted = key == _CLUSTER or child is not None
        if is_wanted and _phase(child) != "Ready":
            return Condition(CONDITION, Truth.FALSE, reason, _told(child))
    if not is_reached:
        message = "waiting for the configuration by which the cluster is reached"
        return Condition(CONDITION, Truth.FALSE, "AccessPending", message)
    pending = [
        f'pool "{pool.name}": {_told(observed.children.get(_POOL + pool.name))}'
        for pool in creation.pools
        if _phase(observed.children.get(_POOL + pool.name)) != "Ready"
    ]
    if pending:
        return Condition(CONDITION, Truth.FALSE, "PoolsPending", words.first(pending, _TOLD, "; "))
    message = f"the cluster and {'1 pool' if len(creation.pools) == 1 else f'{len(creation.pools)} pools'} are there"
    return Condition(CONDITION, Truth.TRUE, "Created", message)


def _encode(observed: Observed, condition: Condition) -> dict[str, Json]:
    """Return status.cloud."""
    facts = cloud_parts.facts(observed.children.get(_CLUSTER))
    known: dict[str, Json] = {key: facts[key] for key in ("version", "endpoint") if key in facts}
    return {"phase": condition.reason, **known}


def published(nodes: Mapping[str, Nodes]) -> dict[str, Field]:
    """Return the nodes of pools in the form of status.pools, from which pools are decoded."""
    return {name: Field({"nodes": cloud_parts.encode_nodes(found)}) for name, found in nodes.items()}


def _told(child: Resource | None) -> str:
    if child is None:
        return "it is not asked for yet"
    return seen.text(seen.at(child, "status", "message")) or "nothing is reported yet"


def _phase(child: Resource | None) -> str:
    return seen.text(seen.at(child, "status", "phase"))


def _judge(child: Resource) -> Ready:
    return Ready.TRUE if _phase(child) == "Ready" else Ready.FALSE


def is_part(key: str) -> bool:
    """Return whether a child is a part of a cluster that is created."""
    return key in (_NETWORK, _CLUSTER) or key.startswith(_POOL)
