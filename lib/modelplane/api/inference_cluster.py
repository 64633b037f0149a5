"""InferenceCluster, decoded for placement and rendering, and its ledger encoded into status.

Shape: the whole resource as plain JSON. The devices of a pool are those of its class and stand in no status: a fleet
of a thousand clusters has to stay a small request.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias

from modelplane.api import intent
from modelplane.api.fields import Field
from modelplane.devices.model import Claim, NodeClass
from modelplane.errors import InvalidQuantity
from modelplane.names import LABEL_POOL, SYSTEM_NAMESPACE
from modelplane.placement.model import (
    Accounting,
    Allocation,
    Cluster,
    NodeCounts,
    PodShape,
    Pool,
    RefusalNote,
)
from modelplane.placement.plan import PoolAccount
from modelplane.units import Format, Quantity
from modelplane.workload.site import ClusterFacts

Json: TypeAlias = Any

KIND = "InferenceCluster"
DEFAULT_BACKEND = "KServe"
DEFAULT_GATEWAY = "modelplane"
NO_QUEUE = "None"
ALLOCATIONS_MAX = 4096
_ALLOCATIONS: dict[str, Allocation] = {}
"""Entries of status.pools[].allocations by all that they say; a memory of a pure function."""


@dataclass(frozen=True, slots=True)
class ProviderConfigRef:
    """The provider-kubernetes configuration that reaches a cluster."""

    kind: str
    name: str

    def encode(self) -> dict[str, Json]:
        """Return it as an object reference."""
        return {"kind": self.kind, "name": self.name}


@dataclass(frozen=True, slots=True)
class GatewayAddress:
    """Where a cluster's gateway is reached; `address` is an IP address or a host name."""

    address: str
    port: int
    scheme: str = "http"
    hostname: str = ""


def decode(resource: Mapping[str, Json], classes: Mapping[str, NodeClass]) -> Cluster:
    """Return the cluster as its spec and its published status say, with the `classes` that are known.

    Raises: InvalidInput with the path from the document's root.
    """
    root = Field(resource)
    status = root.at("status")
    published = {entry.at("name").text(): entry for entry in status.at("pools").items()}
    return Cluster(
        name=root.at("metadata", "name").text(),
        pools=decode_pools(root.at("spec", "nodePools"), classes, published),
        labels={key: str(value) for key, value in sorted(root.at("metadata", "labels").members().items())},
        taints=tuple(intent.decode_taint(entry) for entry in root.at("spec", "taints").items()),
        ready=condition(resource, "ClusterReady") == "True",
        address_known=decode_gateway(status.at("gateway")) is not None,
        capacity_known=status.at("pools").is_set,
        backends=tuple(entry.text() for entry in root.at("spec", "backends").items()) or (DEFAULT_BACKEND,),
        accounting=decode_accounting(root),
        queued_by=decode_queue(root),
        admitted=frozenset(entry.text() for entry in status.at("admitted").items()),
        refused={
            entry.at("replica").text(): RefusalNote(entry.at("reason").text(""), entry.at("message").text(""))
            for entry in status.at("refused").items()
        },
    )


def decode_accounting(root: Field) -> Accounting:
    """Return what a pod is charged for on this cluster."""
    return root.at("spec", "accounting").choice(Accounting, Accounting.DEVICE)


def decode_queue(root: Field) -> str:
    """Return what queues pods on this cluster beside kube-scheduler, empty where nothing does."""
    found = root.at("spec", "scheduler", "type").text("")
    return "" if found == NO_QUEUE else found


def decode_pools(declared: Field, classes: Mapping[str, NodeClass], published: Mapping[str, Field]) -> tuple[Pool, ...]:
    """Return the pools in the order of the spec, each with the allocations published for it."""
    pools = []
    for entry in declared.items():
        name = entry.at("name").text()
        status = published.get(name, Field(None))
        class_name = entry.at("className").text()
        pools.append(
            Pool(
                name=name,
                class_name=class_name,
                node_class=classes.get(class_name),
                nodes=_nodes(entry, status),
                allocations=tuple(_allocation(item) for item in status.at("allocations").items()),
            )
        )
    return tuple(pools)


def decode_gateway(status: Field) -> GatewayAddress | None:
    """Return the published address, None while there is none."""
    address = status.at("address").optional()
    if address is None:
        return None
    return GatewayAddress(
        address=address,
        port=status.at("port").integer(80),
        scheme=status.at("scheme").text("http"),
        hostname=status.at("hostname").text(""),
    )


def encode_gateway(gateway: GatewayAddress) -> dict[str, Json]:
    """Return status.gateway."""
    block: dict[str, Json] = {"address": gateway.address, "port": gateway.port, "scheme": gateway.scheme}
    if gateway.hostname:
        block["hostname"] = gateway.hostname
    return block


def decode_facts(resource: Mapping[str, Json]) -> ClusterFacts:
    """Return what a renderer may know of the cluster."""
    root = Field(resource)
    gateway = root.at("spec", "gateway")
    selectors: dict[str, dict[str, str]] = {}
    taints: dict[str, tuple[tuple[str, str, str], ...]] = {}
    for pool in root.at("spec", "nodePools").items():
        name = pool.at("name").text()
        own = {key: str(value) for key, value in sorted(pool.at("nodeSelector").members().items())}
        selectors[name] = own or {LABEL_POOL: name}
        found = tuple(intent.decode_taint(entry) for entry in pool.at("taints").items())
        taints[name] = tuple((taint.key, taint.value, str(taint.effect)) for taint in found)
    return ClusterFacts(
        name=root.at("metadata", "name").text(),
        gateway_name=gateway.at("name").text(DEFAULT_GATEWAY),
        gateway_namespace=gateway.at("namespace").text(SYSTEM_NAMESPACE),
        gateway_listener=gateway.at("listener").text(""),
        pool_node_selector=selectors,
        pool_taints=taints,
    )


def decode_provider_config(status: Field) -> ProviderConfigRef | None:
    """Return the configuration that the cluster's function published, None before it did."""
    reference = status.at("providerConfigRef")
    name = reference.at("name").optional()
    return None if name is None else ProviderConfigRef(reference.at("kind").text("ClusterProviderConfig"), name)


def condition(resource: Mapping[str, Json], kind: str) -> str:
    """Return the status of a condition: True, False or Unknown."""
    for entry in Field(resource).at("status", "conditions").items():
        if entry.at("type").text("") == kind:
            return entry.at("status").text("Unknown")
    return "Unknown"


def encode_pool(pool: Pool, account: PoolAccount) -> dict[str, Json]:
    """Return one entry of status.pools."""
    nodes: dict[str, Json] = {"declared": pool.nodes.declared}
    if pool.nodes.observed is not None:
        nodes["observed"] = pool.nodes.observed
    entry: dict[str, Json] = {
        "name": pool.name,
        "className": pool.class_name,
        "nodes": nodes,
        "allocations": [_encode_allocation(allocation) for allocation in account.allocations],
        "free": dict(account.free),
    }
    if account.over_committed:
        entry["overcommitted"] = True
    return entry


def accelerator(node_class: NodeClass) -> str | None:
    """Return the name of the class's accelerator: its first device that can be claimed, None when it has none."""
    return next((device.name for device in node_class.devices if device.claim is not Claim.SYNTHETIC), None)


def encode_summary(pools: Iterable[tuple[Pool, PoolAccount]], replicas: int) -> dict[str, Json]:
    """Return the totals for people: pools, accelerators on nodes present now, those free, and replicas admitted."""
    count = devices = free = 0
    for pool, account in pools:
        count += 1
        name = accelerator(pool.node_class) if pool.node_class is not None else None
        if pool.node_class is None or name is None:
            continue
        devices += pool.nodes.present * next(d.count for d in pool.node_class.devices if d.name == name)
        free += dict(account.free).get(name, 0)
    return {"pools": count, "devices": devices, "free": free, "replicas": replicas}


def _nodes(entry: Field, status: Field) -> NodeCounts:
    maximum = entry.at("maxNodeCount").integer(-1)
    observed = status.at("nodes", "observed").integer(-1)
    return NodeCounts(
        declared=entry.at("nodeCount").integer(entry.at("minNodeCount").integer(0)),
        observed=observed if observed >= 0 else None,
        maximum=maximum if maximum >= 0 else None,
    )


def _allocation(entry: Field) -> Allocation:
    """Return one count per shape. Equal ones are read once: a fleet publishes thousands, and few that differ."""
    says = repr(entry.value)
    known = _ALLOCATIONS.get(says)
    if known is None:
        known = _read_allocation(entry)
        if len(_ALLOCATIONS) >= ALLOCATIONS_MAX:
            _ALLOCATIONS.clear()
        _ALLOCATIONS[says] = known
    return known


def _read_allocation(entry: Field) -> Allocation:
    devices = entry.at("devices")
    return Allocation(
        shape=PodShape(
            devices=tuple((name, devices.at(name).integer()) for name in sorted(devices.members())),
            cpu_millis=_ceil(entry.at("cpu"), power=3),
            memory_bytes=_ceil(entry.at("memory"), power=0),
        ),
        pods=entry.at("pods").integer(),
        nodes_per_worker=entry.at("nodesPerWorker").integer(1),
    )


def _encode_allocation(allocation: Allocation) -> dict[str, Json]:
    shape = allocation.shape
    entry: dict[str, Json] = {"pods": allocation.pods, "devices": dict(shape.devices)}
    if allocation.nodes_per_worker > 1:
        entry["nodesPerWorker"] = allocation.nodes_per_worker
    if shape.cpu_millis:
        entry["cpu"] = f"{shape.cpu_millis}m" if shape.cpu_millis % 1000 else str(shape.cpu_millis // 1000)
    if shape.memory_bytes:
        entry["memory"] = Quantity.of(shape.memory_bytes, Format.BINARY_SI).canonical()
    return entry


def _ceil(field: Field, *, power: int) -> int:
    """Return an amount times ten to `power`, rounded up as Kubernetes rounds a request; 0 when it is not said."""
    if not field.is_set:
        return 0
    try:
        return _amount(str(field.value), power)
    except InvalidQuantity as error:
        raise error.under(*field.path) from None


@lru_cache(maxsize=1024)
def _amount(text: str, power: int) -> int:
    amount = Quantity.parse(text)
    return Quantity(amount.unscaled, amount.exponent + power).ceil()
