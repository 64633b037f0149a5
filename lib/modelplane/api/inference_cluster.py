"""InferenceCluster, decoded for placement and rendering, and its ledger encoded into status.

Shape: the whole resource as plain JSON. The devices of a pool are those of its class and are in no status, so that a
fleet of a thousand clusters stays a small request.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeAlias

from kubecel import interruption
from modelplane import names, seen
from modelplane.api import allocations, device_requests, installation, intent, pool_nodes, tenants
from modelplane.api.fields import Field
from modelplane.devices import locality, versions
from modelplane.devices.model import ASSUMED_MINOR, Claim, NodeClass
from modelplane.errors import InvalidInput
from modelplane.names import SYSTEM_NAMESPACE
from modelplane.placement.decision import ClusterAccount, PoolAccount
from modelplane.placement.queue_room import QueueRoom
from modelplane.placement.snapshot import (
    Accounting,
    Cluster,
    Pool,
    RefusalNote,
)
from modelplane.workload import authorities
from modelplane.workload.site import ClusterFacts, Observer, Quota, Tracing

Json: TypeAlias = Any

KIND = "InferenceCluster"
EXISTING = "Existing"
"""The source of a cluster that was created elsewhere."""
DEFAULT_BACKEND = "KServe"
DEFAULT_GATEWAY = "modelplane"
DEFAULT_SCHEDULER = "None"
_DEVICES_MAX = 1 << 40
# Kueue v0.19 (pkg/dra): a claim whose selector matches no device of the cluster is inadmissible. Its pods stay gated,
# so that no autoscaler makes a node for them.
_SEES_DEVICES_FIRST = frozenset({"Kueue"})
_UNSEEN = (
    "is on no node of the pool yet, and {scheduler} admits no claim before a device matches its selector; set "
    "minNodeCount to 1 or more"
)
DEFAULT_SAMPLING_PERCENT = 10
_VERSION = re.compile(r"v?1\.(?P<minor>[0-9]{1,3})(?![0-9])")
_UNPUBLISHED = Field(None)


@dataclass(frozen=True, slots=True)
class ProviderConfigRef:
    """The provider-kubernetes configuration that reaches a cluster."""

    kind: str
    name: str

    def encode(self) -> dict[str, Json]:
        """Return the object reference."""
        return {"kind": self.kind, "name": self.name}


class MutualTls(StrEnum):
    """The certificates that a cluster's gateway asks its clients for."""

    REQUIRED = "Required"
    """The fleet's gateways show theirs, and nobody else is served."""
    DISABLED = "Disabled"
    """None: whoever reaches the gateway is served."""


@dataclass(frozen=True, slots=True)
class GatewayAddress:
    """The address of a cluster's gateway. `address` is an IP address or a host name.

    `server_name` is the name in its certificate and `authorities` (PEM) are those that sign it, empty where the gateway
    asks its clients for no certificate.
    """

    address: str
    port: int
    scheme: str = "http"
    hostname: str = ""
    server_name: str = ""
    authorities: str = ""


def decode(resource: Mapping[str, Json], classes: Mapping[str, NodeClass]) -> Cluster:
    """Return the cluster from its spec and its published status, with the known `classes`.

    Raises: InvalidInput with the path from the document's root.
    """
    interruption.checkpoint()
    root = Field(resource)
    metadata, spec, status = root.at("metadata"), root.at("spec"), root.at("status")
    published = {entry.text_at("name"): entry for entry in status.at("pools").items()}
    return Cluster(
        name=metadata.text_at("name"),
        pools=decode_pools(spec, classes, published),
        labels={key: str(value) for key, value in sorted(metadata.at("labels").members().items())},
        taints=tuple([intent.decode_taint(entry) for entry in spec.at("taints").items()]),
        ready=condition(resource, "ClusterReady") == "True",
        address_known=decode_gateway(status.at("gateway")) is not None,
        capacity_known=status.at("pools").is_set,
        backends=decode_backends(root),
        accounting=decode_accounting(root),
        scheduler=decode_scheduler(root),
        admitted=frozenset(status.at("admitted").texts()),
        refused={
            entry.text_at("replica"): RefusalNote(entry.text_at("reason", ""), entry.text_at("message", ""))
            for entry in status.at("refused").items()
        },
        asked=_asked(status),
        recovering=frozenset(status.at("recovering").texts()),
        missing=installation.missing(status),
        tenants=tenants.decode(root),
        queue=decode_queue(status.at("queue")) if spec.at("scheduler", "quota").is_set else None,
    )


def _asked(status: Field) -> dict[str, frozenset[str]]:
    """Return the replicas that a cluster asks to leave, and the pools that are to be free then."""
    return {entry.text_at("replica"): frozenset(entry.at("keepFree").texts()) for entry in status.at("asked").items()}


def encode_asked(account: ClusterAccount) -> list[dict[str, Json]]:
    """Return status.asked."""
    return [{"replica": key, "keepFree": list(pools)} for key, pools in account.asked]


def illegible(resource: Mapping[str, Json], why: InvalidInput) -> Cluster:
    """Return the placeholder for a cluster that `decode` refuses: it takes no new replica and keeps those it has."""
    admitted = Field(resource).at("status").value
    told = admitted.get("admitted") if isinstance(admitted, Mapping) else None
    return Cluster(
        name=Field(resource).at("metadata").text_at("name"),
        ready=False,
        ambiguous=True,
        admitted=frozenset(key for key in told if isinstance(key, str)) if isinstance(told, list) else frozenset(),
        unreadable=str(why),
    )


def decode_accounting(root: Field) -> Accounting:
    """Return the accounting of this cluster."""
    return root.at("spec", "accounting").choice(Accounting, Accounting.DEVICE)


def decode_backends(root: Field) -> tuple[str, ...]:
    """Return the backends that the cluster offers, in its order."""
    return root.at("spec", "backends").texts() or (DEFAULT_BACKEND,)


def decode_scheduler(root: Field) -> str:
    """Return the name of the cluster scheduler; "None" is kube-scheduler alone."""
    return root.at("spec", "scheduler").text_at("type", DEFAULT_SCHEDULER)


def decode_pools(spec: Field, classes: Mapping[str, NodeClass], published: Mapping[str, Field]) -> tuple[Pool, ...]:
    """Return the pools in the order of the spec, each with the allocations published for it.

    Raises: InvalidInput, also for a name that is listed twice, because its devices would be ambiguous.
    """
    pools: dict[str, Pool] = {}
    scheduler = spec.at("scheduler").text_at("type", DEFAULT_SCHEDULER)
    minor = _cluster_minor(spec.at("cluster"))
    lists_are_on = _lists_are_on(spec.at("cluster", "existing", "featureGates"), minor)
    for entry in spec.at("nodePools").items():
        name = _label(entry.at("name"))
        if name in pools:
            raise entry.at("name").wrong(f'pool "{name}" is listed twice; pool names must be unique')
        status = published.get(name, _UNPUBLISHED)
        class_name = entry.text_at("className")
        nodes = pool_nodes.counts(entry, status)
        node_class = _class_on(classes.get(class_name), entry, minor, lists_are_on=lists_are_on)
        is_empty = nodes.present == 0 and not nodes.observed
        if node_class is not None and is_empty and scheduler in _SEES_DEVICES_FIRST:
            node_class = locality.without_nodes(node_class, _UNSEEN.format(scheduler=scheduler))
        pools[name] = Pool(
            name=name,
            class_name=class_name,
            node_class=node_class,
            nodes=nodes,
            allocations=allocations.decode_all(status.at("allocations")),
        )
    pool_nodes.check_counted_once(spec)
    return tuple(pools.values())


def class_names(resource: Mapping[str, Json]) -> tuple[str, ...]:
    """Return the names of the classes of a cluster's pools, each once, in the order of the spec.

    A pool that names none is left out: it is for the one who reads the pools to refuse it.
    """
    pools = seen.objects(seen.at(resource, "spec", "nodePools"))
    return tuple(dict.fromkeys(name for pool in pools if (name := seen.text(pool.get("className")))))


def decode_gateway(status: Field) -> GatewayAddress | None:
    """Return the published address of the gateway, None while there is none."""
    address = status.text_at("address", "")
    if not address:
        return None
    return GatewayAddress(
        address=address,
        port=status.integer_at("port", 80),
        scheme=status.text_at("scheme", "http"),
        hostname=status.text_at("hostname", ""),
        server_name=status.text_at("serverName", ""),
        authorities=authorities.bundle([status.text_at("authorities", "")]),
    )


def encode_gateway(gateway: GatewayAddress) -> dict[str, Json]:
    """Return status.gateway."""
    block: dict[str, Json] = {"address": gateway.address, "port": gateway.port, "scheme": gateway.scheme}
    if gateway.hostname:
        block["hostname"] = gateway.hostname
    if gateway.server_name:
        block |= {"serverName": gateway.server_name, "authorities": gateway.authorities}
    return block


def decode_facts(resource: Mapping[str, Json]) -> ClusterFacts:
    """Return the facts of the cluster that renderers may read."""
    root = Field(resource)
    gateway = root.at("spec", "gateway")
    selectors: dict[str, dict[str, str]] = {}
    taints: dict[str, tuple[tuple[str, str, str], ...]] = {}
    for pool in root.at("spec", "nodePools").items():
        name = pool.text_at("name")
        selectors[name] = pool_nodes.selector(pool)
        found = tuple(intent.decode_taint(entry) for entry in pool.at("taints").items())
        taints[name] = tuple((taint.key, taint.value, str(taint.effect)) for taint in found)
    return ClusterFacts(
        name=root.at("metadata", "name").text(),
        gateway_name=gateway.text_at("name", DEFAULT_GATEWAY),
        gateway_namespace=_label(gateway.at("namespace"), SYSTEM_NAMESPACE),
        gateway_listener="" if _moves_listeners(root) else gateway.text_at("listener", ""),
        pool_node_selector=selectors,
        pool_taints=taints,
        scheduler=decode_scheduler(root),
        queue=root.at("spec", "scheduler").text_at("queueName", ""),
        quota=_quota(root.at("spec", "scheduler", "quota")),
        priority_classes=tuple(
            (entry.at("minimum").integer(), entry.text_at("name"))
            for entry in root.at("spec", "scheduler", "priorityClasses").items()
        ),
        gateway_implementation=gateway.text_at("implementation", ""),
        has_pod_monitors=root.at("spec", "monitoring", "podMonitors").flag(default=False),
        tracing=_tracing(root.at("spec", "monitoring", "tracing")),
        versions={key: str(value) for key, value in sorted(root.at("spec", "stack", "versions").members().items())},
        ingress_class="" if _moves_listeners(root) else gateway.text_at("ingressClassName", ""),
        observer=_observer(root.at("spec", "observe")),
    )


def _moves_listeners(root: Field) -> bool:
    """Return whether the listener may be another one than the named one: then routes are on all of the Gateway.

    One who asks for client certificates names no listener, but by default a cluster may have a name and ask for them.
    """
    told = seen.at(root.value, "status", "mutualTLS")
    return seen.text(seen.at(told, "mode")) == MutualTls.REQUIRED or bool(seen.text(seen.at(told, "phase")))


def _observer(field: Field) -> Observer | None:
    return Observer(field.text_at("image", "")) if field.is_set else None


def _quota(field: Field) -> Quota | None:
    return Quota(field.at("resource").text(), field.text_at("clusterQueueName", "")) if field.is_set else None


def decode_queue(status: Field) -> QueueRoom | None:
    """Return the published quota of the cluster's queue, None where none is known."""
    limit = status.at("limit")
    if not limit.is_set:
        return None
    return QueueRoom(
        status.text_at("name", ""),
        limit.count(least=0, most=_DEVICES_MAX),
        status.at("held").count(0, least=0, most=_DEVICES_MAX),
    )


def encode_queue(name: str, limit: int | None, held: int) -> dict[str, Json]:
    """Return status.queue. Without a limit nobody is bound by it."""
    return {"name": name, "held": held, **({} if limit is None else {"limit": limit})}


def _tracing(field: Field) -> Tracing | None:
    if not field.is_set:
        return None
    percent = field.at("samplingPercent").count(DEFAULT_SAMPLING_PERCENT, least=0, most=100)
    return Tracing(field.at("endpoint").text(), percent)


def _label(field: Field, default: str | None = None) -> str:
    """Return a name that a namespace or pool can have.

    An object past its definition may hold another. Nothing follows it: a route would lead to a namespace that no client
    named, and a replica would leave a pool that no client renamed.
    """
    name = field.text(default)
    if not names.is_label(name):
        raise field.wrong("must be at most 63 lower case letters, digits and hyphens")
    return name


def decode_provider_config(status: Field) -> ProviderConfigRef | None:
    """Return the configuration that the cluster's function published, None if it has not published one yet."""
    reference = status.at("providerConfigRef")
    name = reference.text_at("name", "") or None
    return None if name is None else ProviderConfigRef(reference.text_at("kind", "ClusterProviderConfig"), name)


def condition(resource: Mapping[str, Json], kind: str) -> str:
    """Return the status of a condition: True, False or Unknown."""
    return seen.text(seen.condition(seen.at(resource, "status"), kind).get("status")) or "Unknown"


def encode_pool(pool: Pool, account: PoolAccount) -> dict[str, Json]:
    """Return one entry of status.pools."""
    nodes: dict[str, Json] = {"declared": pool.nodes.declared}
    if pool.nodes.observed is not None:
        nodes["observed"] = pool.nodes.observed
    entry: dict[str, Json] = {
        "name": pool.name,
        "className": pool.class_name,
        "nodes": nodes,
        "allocations": [allocations.encode(allocation) for allocation in account.allocations],
        "free": dict(account.free),
    }
    if account.over_committed:
        entry["overcommitted"] = True
    return entry


def accelerator(node_class: NodeClass) -> str | None:
    """Return the name of the first device of the class that can be claimed, None if there is none."""
    return next((device.name for device in node_class.devices if device.claim is not Claim.SYNTHETIC), None)


def encode_summary(pools: Iterable[tuple[Pool, PoolAccount]], replicas: int) -> dict[str, Json]:
    """Return the totals for people: pools, devices on present nodes, free devices, and admitted replicas."""
    count = devices = free = 0
    for pool, account in pools:
        count += 1
        name = accelerator(pool.node_class) if pool.node_class is not None else None
        if pool.node_class is None or name is None:
            continue
        devices += pool.nodes.present * next(d.count for d in pool.node_class.devices if d.name == name)
        free += dict(account.free).get(name, 0)
    return {"pools": count, "devices": devices, "free": free, "replicas": replicas}


def _cluster_minor(cluster: Field) -> int:
    """Return the minor version of Kubernetes of a cluster. One that a cloud chooses is the oldest that may be."""
    source = cluster.at("source").text(EXISTING)
    version = cluster.at(source.lower(), "kubernetesVersion")
    return _minor(version) if source == EXISTING or version.is_set else versions.OLDEST


def _minor(version: Field) -> int:
    """Return the minor version of Kubernetes, the assumed one if none is declared.

    Raises: InvalidInput for one without the API of claims.
    """
    text = version.optional()
    if text is None:
        return ASSUMED_MINOR
    found = _VERSION.match(text)
    if found is None:
        raise version.wrong(f'"{text}" is not a version of Kubernetes; write for example 1.36')
    minor = int(found["minor"])
    if minor < versions.OLDEST:
        raise version.wrong(f"must be at least 1.{versions.OLDEST}, the first version with resource.k8s.io/v1")
    return minor


def _lists_are_on(gates: Field, minor: int) -> bool:
    """Return whether the cluster declares that attributes may be lists.

    Raises: InvalidInput for another feature gate, and for one that its version lacks.
    """
    declared = tuple(gates.items())
    for entry in declared:
        if entry.text() != versions.LISTS_GATE:
            raise entry.wrong(f"must be {versions.LISTS_GATE}, the only feature gate that placement knows")
        if minor < versions.LISTS:
            raise entry.wrong(f"needs Kubernetes 1.{versions.LISTS}, and the cluster runs 1.{minor}; remove it")
    return bool(declared)


def _class_on(node_class: NodeClass | None, entry: Field, minor: int, *, lists_are_on: bool) -> NodeClass | None:
    """Return the class with what the cluster changes in it; the very same object if it changes nothing."""
    declared = entry.at("deviceTaints")
    # A later version has all that the assumed one has.
    is_plain = not declared.is_set and minor >= ASSUMED_MINOR and not lists_are_on
    if node_class is None or (is_plain and not node_class.has_lists):
        return node_class
    rules = tuple((one.at("driver").text(""), device_requests.decode_taint(one)) for one in declared.items())
    return locality.on_cluster(node_class, rules, min(minor, ASSUMED_MINOR), lists_are_on=lists_are_on)
