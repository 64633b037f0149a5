"""InferenceCluster: the access to a cluster, and the ledger of the replicas admitted to it.

Reads: the InferenceClasses of its pools, and every ModelReplica that names this cluster (by label and by spec). By
name: an admitted ModelReplica that lost its label, the ModelDeployment of a replica to admit, and the Object of a
workload whose replica is gone. The InferenceQuotas, where a replica is to be admitted. The Namespaces of replicas,
where the cluster allows or a quota selects namespaces by label. The InferenceGateways, where the cluster's gateway asks
its clients for a certificate, and while endpoints move to or from that the Backends of the control plane.
Emits: the parts of a cluster that is created; the ClusterProviderConfig for its kubeconfig, and the ServingStack where
one is installed; Objects that only observe the cluster's Gateway, the quota of its queue, and each API version that an
offered backend needs; where it is asked for, the observer of nodes and devices and the ConfigMap that this writes; the
certificate of the gateway and the policy on who may come in; collections that list the pods of deleted replicas. While
the cluster is in use, a ClusterUsage, which makes Crossplane refuse to delete the InferenceCluster.
Reports: gateway address, its transport, provider configuration, installed backends, pools with allocations and free
devices, the replicas admitted and refused; conditions ClusterReady, StackReady, CapacityKnown, NamespacesAllowed where
not everybody may place replicas, MutualTLSReady where the gateway asks for certificates, and CapacityObserved where
nodes and devices are observed.

This function is the only writer of its cluster's ledger. A replica in `status.admitted` may run with the spec recorded
in `status.admissions`. It stays admitted whatever happens to the pool later.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeAlias

from modelplane import names, placement, seen
from modelplane.api import admissions, inference_class, inference_cluster, installation
from modelplane.api.fields import Field
from modelplane.api.inference_cluster import GatewayAddress, ProviderConfigRef
from modelplane.devices.model import NodeClass
from modelplane.errors import InvalidInput
from modelplane.placement.decision import Admission, ClusterAccount, PoolAccount
from modelplane.placement.queue_room import QueueRoom
from modelplane.placement.snapshot import Accounting, Pool, ReplicaClaim
from modelplane.render import protection
from modelplane.render.cloud import PROVIDER_CONFIG_KEY, Access
from modelplane.render.clouds import selection as clouds
from modelplane.workload.created import Nodes
from modelplane_functions import (
    allowed_namespaces,
    claims,
    cluster_cloud,
    cluster_conditions,
    cluster_gateway,
    cluster_observation,
    cluster_protection,
    cluster_queue,
    cluster_recovery,
    cluster_stack,
    cluster_tls,
    held_pools,
    hold,
    installations,
    quotas,
)
from modelplane_functions.cluster_ledger import Ledger
from modelplane_functions.exchange import (
    Child,
    Observed,
    Outcome,
    Ready,
    Requirement,
    Truth,
)
from modelplane_functions.memory.resources import recall
from modelplane_functions.standing import Answer

Json: TypeAlias = Any

_CLASS = "class/"
_UNSETTLING = frozenset(
    {"StackReady", allowed_namespaces.CONDITION, cluster_tls.CONDITION, cluster_observation.CONDITION}
)
"""The conditions that say something and change nothing of the cluster's readiness."""
_WAITING_SECONDS, _SETTLED_SECONDS = 30, 300


@dataclass(frozen=True, slots=True)
class _Decoded:
    """The decoded pools, and what they were decoded from."""

    classes: Mapping[str, NodeClass]
    nodes: Mapping[str, Nodes]
    observed: Mapping[str, Mapping[str, Json]]
    pools: tuple[Pool, ...]


@dataclass(frozen=True, slots=True)
class _Terms:
    """The unit of accounting, and the quota of the queue, None where it sets no limit."""

    accounting: Accounting
    queue: QueueRoom | None


def compose(observed: Observed) -> Outcome:
    """Return the children that give access to the cluster, and its ledger."""
    requirements = _requirements(observed)
    if not requirements.keys() <= observed.required.keys():
        return Outcome(requirements=requirements, kinds=claims.kinds(observed))
    access = _access(observed)
    provider = None if access is None else _provider(observed, access)
    tls = cluster_tls.read(observed, provider)
    gateway = cluster_gateway.read(observed, tls.serving, tls.trusted)
    ledger = _ledger(observed)
    standing = ledger.standing
    created = _created(observed, ledger, is_reached=access is not None)
    backends = installations.read(observed)
    given = cluster_stack.Given(ledger.pools, cluster_stack.Door(tls.listeners, tls.secret))
    stack = cluster_stack.read(observed, access, provider, cluster_gateway.facts(observed), given)
    conditions = (
        *created.conditions,
        *([] if access is None else [cluster_gateway.ready(observed, gateway)]),
        cluster_conditions.stack_ready(observed, backends, stack.condition),
        cluster_conditions.capacity_known(observed, ledger),
        *cluster_conditions.namespaces_allowed(observed, ledger),
        *cluster_observation.condition(ledger.observation),
        *tls.conditions,
    )
    settled = gateway is not None and all(c.status is Truth.TRUE for c in conditions if c.type not in _UNSETTLING)
    return Outcome(
        requirements=requirements,
        kinds={**claims.kinds(observed), **stack.kinds},
        children={
            **created.children,
            **stack.children,
            **_reached(observed, ledger, access, provider),
            **tls.children,
            **cluster_protection.read(observed, standing, stack.users),
        },
        status={
            **_published(observed, access, provider),
            **created.status,
            **stack.status,
            **tls.status,
            **_recalled_status(observed, gateway, ledger),
            "backends": installation.encode(backends),
        },
        conditions=conditions,
        events=tuple(cluster_conditions.events(observed, ledger)),
        ready=Ready.TRUE if settled else Ready.FALSE,
        # Nobody is told when the last pod of a deleted or changed replica ends, or the last Object of its workload.
        ttl_seconds=_SETTLED_SECONDS
        if settled and tls.is_settled and not (standing.ending or standing.changed)
        else _WAITING_SECONDS,
    )


# --- reads ------------------------------------------------------------------------------------------------------------


def _requirements(observed: Observed) -> dict[str, Requirement]:
    needed = claims.requirements(observed) | cluster_tls.requirements(observed)
    for entry in Field(observed.spec, ("spec",)).at("nodePools").items():
        class_name = entry.at("className").text()
        needed[_CLASS + class_name] = Requirement(names.API_VERSION, inference_class.KIND, name=class_name)
    return needed


def _classes(observed: Observed) -> tuple[dict[str, NodeClass], tuple[str, ...]]:
    """Return the usable classes, and a message for each unusable one."""
    classes: dict[str, NodeClass] = {}
    faults: list[str] = []
    for key, found in sorted(observed.required.items()):
        if not key.startswith(_CLASS):
            continue
        class_name = key.removeprefix(_CLASS)
        if not found:
            faults.append(f'InferenceClass "{class_name}" does not exist; create it or correct className')
            continue
        try:
            classes[class_name] = recall(found[0], "class", partial(inference_class.decode, found[0]))
        except InvalidInput as error:
            faults.append(f'InferenceClass "{class_name}" is not usable: {error}')
    return classes, tuple(faults)


# --- decides ----------------------------------------------------------------------------------------------------------


def _ledger(observed: Observed) -> Ledger:
    root = Field(observed.composite)
    classes, faults = _classes(observed)
    observation = _observation(observed, classes)
    pools = _pools(observed, classes, observation)
    standing = claims.read(observed, pools)
    asked = standing.claims
    frozen = standing.frozen
    if frozen:
        asked = [replace(claim, wants=None) for claim in asked if claim.holds]
        standing.pending += [
            Answer(claim.key, "LedgerFrozen", frozen) for claim in standing.claims if claim not in asked
        ]
    standing_on = held_pools.read(observed, pools, asked)
    standing.uncontrolled |= standing_on.copies
    before = frozenset(seen.text(entry.get("replica")) for entry in seen.objects(observed.status.get("asked")))
    queue = cluster_queue.read(observed)
    account = _account(
        observed,
        pools,
        _Terms(inference_cluster.decode_accounting(root), queue.room),
        tuple(standing_on.claims),
        before,
    )
    quotas.settle(observed, standing, account)
    faults += (*sorted(standing.faults), *standing_on.told, *queue.faults)
    return Ledger(pools, account, faults, standing, standing_on.counted_on, queue, observation)


def _observation(observed: Observed, classes: dict[str, NodeClass]) -> cluster_observation.Read:
    """Return what is known of nodes and devices of the pools as they are declared."""
    if cluster_gateway.facts(observed).observer is None:
        return cluster_observation.NOBODY
    spec = Field(observed.composite).at("spec")
    # What a class has does not depend on whether a pool is empty.
    some = {entry.text_at("name"): Field({"nodes": {"observed": 1}}) for entry in spec.at("nodePools").items()}
    return cluster_observation.read(observed, inference_cluster.decode_pools(spec, classes, some))


def _pools(
    observed: Observed, classes: dict[str, NodeClass], observation: cluster_observation.Read
) -> tuple[Pool, ...]:
    """Return the declared pools. They are decoded once per version of the cluster while their classes are the same."""

    nodes = cluster_observation.growing(observation, cluster_cloud.nodes(observed))

    def read() -> _Decoded:
        published = cluster_observation.nodes(observation, cluster_cloud.published(nodes))
        pools = inference_cluster.decode_pools(Field(observed.composite).at("spec"), classes, published)
        return _Decoded(classes, nodes, observation.pools, pools)

    def still(known: _Decoded) -> bool:
        given = known.classes
        is_same = given.keys() == classes.keys() and all(given[name] is classes[name] for name in classes)
        return is_same and (known.nodes, known.observed) == (nodes, observation.pools)

    return recall(observed.composite, "pools", read, still).pools


def _account(
    observed: Observed,
    pools: tuple[Pool, ...],
    terms: _Terms,
    asked: tuple[ReplicaClaim, ...],
    before: frozenset[str],
) -> ClusterAccount:
    """Return the verdicts and the ledger. Equal claims on equal pools are judged once per version of the cluster."""
    given = (pools, terms, asked, before)
    return recall(
        observed.composite,
        "account",
        lambda: (given, placement.admit(pools, terms.accounting, asked, before, terms.queue)),
        lambda known: known[0] == given,
    )[1]


# --- emits ------------------------------------------------------------------------------------------------------------


def _access(observed: Observed) -> Access | None:
    """Return the access to the cluster, None while a cluster that is created has none."""
    if cluster_cloud.is_created(observed):
        return cluster_cloud.access(observed)
    given = Field(observed.spec, ("spec",)).at("cluster")
    return clouds.access(given.at("source").text("Existing"), observed.name, given)


def _created(observed: Observed, ledger: Ledger, *, is_reached: bool) -> cluster_cloud.Created:
    """Return the parts of a cluster that is created, nothing for another one."""
    if not cluster_cloud.is_created(observed):
        return cluster_cloud.Created()
    held = {holding.pool for record in ledger.records.values() for holding in record.holdings}
    known = {pool.name: pool for pool in ledger.pools}
    in_use = frozenset(known if ledger.is_frozen else held)
    classes = {
        name: (found[0], decoded)
        for name, decoded in _classes(observed)[0].items()
        if (found := observed.required[_CLASS + name])
    }
    return cluster_cloud.compose(observed, classes, in_use, is_reached=is_reached)


def _reached(
    observed: Observed, ledger: Ledger, access: Access | None, provider: ProviderConfigRef | None
) -> dict[str, Child]:
    """Return the children for which the cluster must be reached. Without access they are kept as they are."""
    if access is None or provider is None:
        standing = {key: child for key, child in observed.children.items() if not cluster_cloud.is_part(key)}
        return hold.hold({key: child for key, child in standing.items() if key != protection.IN_USE_KEY})
    standing_replicas, config = ledger.standing, provider.encode()
    return {
        cluster_gateway.KEY: cluster_gateway.child(observed, provider),
        **cluster_queue.children(observed, provider),
        **cluster_observation.children(observed, ledger.observation, provider),
        **dict(installations.children(observed, config)),
        **dict(standing_replicas.endings.children(observed, standing_replicas.lingering, ledger.followed, config)),
        **dict(_access_children(observed, access)),
    }


def _provider(observed: Observed, access: Access) -> ProviderConfigRef:
    """Return the provider configuration. An existing one keeps its name, which an earlier version may have given."""
    standing = hold.name_of(observed.children.get(PROVIDER_CONFIG_KEY)) if access.manifests else ""
    return ProviderConfigRef(access.kind, standing or access.name)


def _access_children(observed: Observed, access: Access) -> Iterator[tuple[str, Child]]:
    """Yield the children on the control plane that give access to the cluster."""
    for manifest in access.manifests:
        child = observed.children.get(manifest.key)
        is_ready = child is not None and access.is_ready(child)
        yield manifest.key, Child(manifest.resource, Ready.TRUE if is_ready else Ready.FALSE)


# --- reports ----------------------------------------------------------------------------------------------------------


def _recalled_status(observed: Observed, gateway: GatewayAddress | None, ledger: Ledger) -> Mapping[str, Json]:
    """Return the status of the ledger, encoded once while the ledger and the nodes of its pools are equal."""
    given = (gateway, ledger, cluster_observation.growing(ledger.observation, cluster_cloud.nodes(observed)))
    status: Mapping[str, Json] = recall(
        observed.composite, "status", lambda: (given, _status(observed, *given)), lambda known: known[0] == given
    )[1]
    # Whose turn it is depends on the time as well.
    return {**status, **cluster_recovery.encode(observed, ledger.standing.claims)}


def _status(
    observed: Observed, gateway: GatewayAddress | None, ledger: Ledger, nodes: Mapping[str, Nodes]
) -> Mapping[str, Json]:
    admitted = list(ledger.admitted)
    accounts = list(zip(ledger.pools, ledger.account.pools, strict=True))
    status: dict[str, Json] = {
        "summary": inference_cluster.encode_summary(accounts, len(admitted)),
        "pools": [
            *(_pool(observed, pool, account, nodes, ledger) for pool, account in accounts),
            *held_pools.encode(observed, ledger.records.values(), ledger.counted_on),
        ],
        "admitted": admitted,
        "admissions": admissions.encode(ledger.records),
        "refused": _told(ledger.answers(Admission.REFUSED)),
        "pending": _told(ledger.answers(Admission.PENDING)),
        **quotas.encode(ledger.standing),
    }
    status |= cluster_queue.encode(ledger.queue, [one for record in ledger.records.values() for one in record.holdings])
    if ledger.account.asked:
        status["asked"] = inference_cluster.encode_asked(ledger.account)
    if gateway is not None:
        status["gateway"] = inference_cluster.encode_gateway(gateway)
    return status


def _published(observed: Observed, access: Access | None, provider: ProviderConfigRef | None) -> Mapping[str, Json]:
    """Return the reference to the provider configuration, once that belongs to this cluster.

    A configuration of another owner under the same name leads to another cluster.
    """
    before = hold.published(lambda: inference_cluster.decode_provider_config(Field(observed.status)))
    if access is None or provider is None:
        return {} if before is None else {"providerConfigRef": before.encode()}
    is_ours = not access.manifests or PROVIDER_CONFIG_KEY in observed.children or before == provider
    return {"providerConfigRef": provider.encode()} if is_ours else {}


def _pool(observed: Observed, pool: Pool, account: PoolAccount, nodes: Mapping[str, Nodes], ledger: Ledger) -> Json:
    """Return the status entry of a pool. The published entry is kept while the pool's devices or users are unknown."""
    made = inference_cluster.encode_pool(pool, account)
    if pool.name in nodes:
        made["nodes"] = {**made["nodes"], "growable": nodes[pool.name].growable}
    looked_at = ledger.observation.pools.get(pool.name, {})
    made |= {**looked_at, "nodes": {**made["nodes"], **looked_at.get("nodes", {})}}
    if pool.node_class is None or ledger.is_frozen:
        known = (one for one in seen.objects(observed.status.get("pools")) if one.get("name") == pool.name)
        made = {key: value for key, value in next(known, made).items() if key != "nodeSelector"}
    selector = cluster_gateway.facts(observed).pool_node_selector[pool.name]
    return made if selector == {names.LABEL_POOL: pool.name} else {**made, "nodeSelector": dict(selector)}


def _told(answers: tuple[Answer, ...]) -> list[dict[str, str]]:
    """Return one status entry for each replica, made from its first answer."""
    first = {answer.key: answer for answer in reversed(answers)}
    return [
        {"replica": answer.key, "reason": answer.reason, "message": answer.message}
        for _, answer in sorted(first.items())
    ]
