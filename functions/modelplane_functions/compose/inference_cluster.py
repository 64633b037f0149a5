"""InferenceCluster: the access to a cluster, and the ledger of the replicas admitted to it.

Reads: the InferenceClasses of its pools, and every ModelReplica that names this cluster (by label and by spec). By
name: an admitted ModelReplica that lost its label, the ModelDeployment of a replica to admit, and the Object of a
workload whose replica is gone.
Emits: the ClusterProviderConfig for a kubeconfig Secret, and an Object that only observes the cluster's Gateway. While
the cluster is in use, a ClusterUsage, which makes Crossplane refuse to delete the InferenceCluster.
Reports: gateway address, provider configuration, pools with allocations and free devices, the replicas admitted and
refused; conditions ClusterReady, StackReady, CapacityKnown.

This function is the only writer of its cluster's ledger. A replica in `status.admitted` may run with the spec recorded
in `status.admissions`. It stays admitted whatever happens to the pool later.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeAlias, TypeVar

from modelplane import names, placement, seen
from modelplane.api import admissions, inference_class, inference_cluster
from modelplane.api.fields import Field
from modelplane.api.inference_cluster import GatewayAddress, ProviderConfigRef
from modelplane.devices.model import NodeClass
from modelplane.errors import InvalidInput
from modelplane.placement.decision import Admission, ClusterAccount, PoolAccount
from modelplane.placement.snapshot import Pool
from modelplane.render import objects, protection
from modelplane.render.cloud import PROVIDER_CONFIG_KEY, Access, Cloud
from modelplane.render.clouds import selection as clouds
from modelplane.render.manifest import Lifecycle, Manifest
from modelplane.render.schedulers import selection as schedulers
from modelplane_functions import claims, hold
from modelplane_functions.claims import Answer, Standing
from modelplane_functions.exchange import (
    Child,
    Condition,
    Event,
    Observed,
    Outcome,
    Ready,
    Requirement,
    Severity,
    Truth,
)
from modelplane_functions.memory.resources import recall

Json: TypeAlias = Any
T = TypeVar("T")

GATEWAY = "gateway"
_CLASS = "class/"
_WAITING_SECONDS, _SETTLED_SECONDS = 30, 300


@dataclass(frozen=True, slots=True)
class _Ledger:
    """The ledger of the cluster: its pools, their accounts, the sorted replicas, and the faults found on the way."""

    pools: tuple[Pool, ...]
    account: ClusterAccount
    faults: tuple[str, ...]
    standing: Standing

    @property
    def is_frozen(self) -> bool:
        """Return whether the holdings of an admitted replica are unknown, so that free capacity is unknown too."""
        return bool(self.standing.blind)

    @property
    def admitted(self) -> tuple[str, ...]:
        """Return the replicas that may run, sorted. A replica that cannot be read stays admitted."""
        found = {verdict.key for verdict in self.account.verdicts if verdict.admission is Admission.ADMITTED}
        return tuple(sorted((found | self.standing.blind) - self.standing.leaving - self.standing.uncontrolled))

    @property
    def records(self) -> Mapping[str, admissions.Record]:
        """Return the record of each counted replica: its claim when it was admitted, and the nodes it is counted on."""
        kept, offered = self.standing.kept, self.standing.offered
        changed = {verdict.key for verdict in self.account.changes if verdict.admission is Admission.ADMITTED}
        counted = {verdict.key for verdict in self.account.verdicts if verdict.admission is Admission.ADMITTED}
        found = {
            key: offered[key] if key in changed or key not in kept else kept[key]
            for key in sorted(counted - self.standing.uncontrolled)
        }
        return {key: replace(record, nodes=self.account.nodes.get(key, ())) for key, record in found.items()}

    def answers(self, admission: Admission) -> tuple[Answer, ...]:
        """Return the answers for the replicas with this admission, by name."""
        given = self.standing.refused if admission is Admission.REFUSED else self.standing.pending
        judged = [
            Answer(verdict.key, str(verdict.reason or "ClassNotUsable"), verdict.message)
            for verdict in (*self.account.verdicts, *self.account.changes)
            if verdict.admission is admission
        ]
        return tuple(sorted((*given, *judged), key=lambda answer: answer.key))


def compose(observed: Observed) -> Outcome:
    """Return the children that give access to the cluster, and its ledger."""
    requirements = _requirements(observed)
    if not requirements.keys() <= observed.required.keys():
        return Outcome(requirements=requirements)
    given = Field(observed.spec, ("spec",)).at("cluster")
    cloud = clouds.cloud(given.at("source").text("Existing"))
    access = cloud.access(observed.name, given)
    provider = _provider(observed, access)
    gateway = _gateway(observed)
    ledger = _ledger(observed)
    conditions = (
        _cluster_ready(observed, gateway),
        _stack_ready(observed),
        _capacity_known(ledger),
    )
    settled = gateway is not None and all(c.status is Truth.TRUE for c in conditions if c.type != "StackReady")
    return Outcome(
        requirements=requirements,
        children={
            GATEWAY: _gateway_child(observed, provider),
            **dict(_access_children(observed, cloud, access)),
            **_protection(observed, ledger.standing),
        },
        status={**_published(observed, access, provider), **_status(observed, gateway, ledger)},
        conditions=conditions,
        events=tuple(_events(observed, ledger)),
        ready=Ready.TRUE if settled else Ready.FALSE,
        ttl_seconds=_SETTLED_SECONDS if settled else _WAITING_SECONDS,
    )


# --- reads ------------------------------------------------------------------------------------------------------------


def _requirements(observed: Observed) -> dict[str, Requirement]:
    needed = claims.requirements(observed)
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


def _ledger(observed: Observed) -> _Ledger:
    root = Field(observed.composite)
    classes, faults = _classes(observed)
    pools = inference_cluster.decode_pools(root.at("spec"), classes, {})
    standing = claims.read(observed, pools)
    asked = standing.claims
    if standing.blind:
        asked = [replace(claim, wants=None) for claim in asked if claim.holds]
        unknown = ", ".join(sorted(standing.blind))
        why = f"the devices held by {unknown} are unknown; no other replica is admitted until it can be read"
        standing.pending += [Answer(claim.key, "LedgerFrozen", why) for claim in standing.claims if claim not in asked]
    before = frozenset(seen.text(entry.get("replica")) for entry in seen.objects(observed.status.get("asked")))
    account = placement.admit(pools, inference_cluster.decode_accounting(root), asked, before)
    return _Ledger(pools, account, faults + tuple(sorted(standing.faults)), standing)


def _gateway(observed: Observed) -> GatewayAddress | None:
    """Return the observed address of the cluster's gateway, or the last known one: an address may be briefly absent."""
    manifest = objects.observed(observed.children.get(GATEWAY))
    now = None if manifest is None else _seen_gateway(manifest, _gateway_spec(observed).at("listener").text(""))
    return now or _published_before(lambda: inference_cluster.decode_gateway(Field(observed.status).at("gateway")))


def _published_before(read: Callable[[], T]) -> T | None:
    """Return what the cluster's own status says, None where it cannot be read: this answer writes it anew."""
    try:
        return read()
    except InvalidInput:
        return None


def _seen_gateway(gateway: Mapping[str, Json], listener_name: str) -> GatewayAddress | None:
    address = next((seen.text(one.get("value")) for one in seen.objects(seen.at(gateway, "status", "addresses"))), "")
    listeners = seen.objects(seen.at(gateway, "spec", "listeners"))
    if listener_name:
        listeners = tuple(listener for listener in listeners if listener.get("name") == listener_name)
    if not address or not listeners:
        return None
    listener = listeners[0]
    secure, port = listener.get("protocol") in ("HTTPS", "TLS"), listener.get("port")
    known = (443 if secure else 80) if port is None else seen.count(port)
    if known is None:
        return None
    return GatewayAddress(
        address=address,
        port=known,
        scheme="https" if secure else "http",
        hostname=seen.text(listener.get("hostname")),
    )


# --- emits ------------------------------------------------------------------------------------------------------------


def _gateway_spec(observed: Observed) -> Field:
    return Field(observed.spec, ("spec",)).at("gateway")


def _provider(observed: Observed, access: Access) -> ProviderConfigRef:
    """Return the provider configuration. An existing one keeps its name, which an earlier version may have given."""
    standing = hold.name_of(observed.children.get(PROVIDER_CONFIG_KEY)) if access.manifests else ""
    return ProviderConfigRef(access.kind, standing or access.name)


def _access_children(observed: Observed, cloud: Cloud, access: Access) -> Iterator[tuple[str, Child]]:
    """Yield the children on the control plane that give access to the cluster."""
    for manifest in access.manifests:
        child = observed.children.get(manifest.key)
        is_ready = child is not None and cloud.is_ready(child)
        yield manifest.key, Child(manifest.resource, Ready.TRUE if is_ready else Ready.FALSE)


def _gateway_child(observed: Observed, provider: ProviderConfigRef) -> Child:
    facts = inference_cluster.decode_facts(observed.composite)
    gateway = Manifest(
        key=GATEWAY,
        resource={
            "apiVersion": "gateway.networking.k8s.io/v1",
            "kind": "Gateway",
            "metadata": {"name": facts.gateway_name, "namespace": facts.gateway_namespace},
        },
        lifecycle=Lifecycle.OBSERVE,
    )
    wrapped = objects.wrap(
        gateway, provider_config=provider.encode(), namespace=names.SYSTEM_NAMESPACE, owner=observed.name
    )
    is_seen = objects.observed(observed.children.get(GATEWAY)) is not None
    return Child(wrapped, Ready.TRUE if is_seen else Ready.FALSE)


def _protection(observed: Observed, standing: Standing) -> dict[str, Child]:
    """Return the child that protects the cluster from deletion. Nothing is returned once the cluster is unused.

    A replica that is deleted in the background is gone before its Objects, which still need the credentials. An adopted
    provider config outlives the InferenceCluster, and only admitted workloads are known then.
    """
    users = _users(observed.children.get(PROVIDER_CONFIG_KEY, {}))
    ours = 1 if GATEWAY in observed.children else 0
    manifest = protection.in_use(observed.name, standing.named, other_objects=max(users - ours, len(standing.leaving)))
    if manifest is None:
        return {}
    # Without Crossplane's webhooks nothing reports on it, and a missing protection does not keep models from serving.
    exists = manifest.key in observed.children
    return {manifest.key: Child(manifest.resource, Ready.TRUE if exists else Ready.FALSE)}


def _users(provider_config: Mapping[str, Json]) -> int:
    """Return the number of objects that use the configuration, 1 if it cannot be read, so that the cluster stays."""
    status = provider_config.get("status")
    if status is None or (isinstance(status, Mapping) and status.get("users") is None):
        return 0  # the provider reports no users as no value
    count = seen.count(seen.at(status, "users"))
    return 1 if count is None else count


# --- reports ----------------------------------------------------------------------------------------------------------


def _status(observed: Observed, gateway: GatewayAddress | None, ledger: _Ledger) -> Mapping[str, Json]:
    admitted = list(ledger.admitted)
    accounts = list(zip(ledger.pools, ledger.account.pools, strict=True))
    status: dict[str, Json] = {
        "summary": inference_cluster.encode_summary(accounts, len(admitted)),
        "pools": [_pool(observed, pool, account, is_frozen=ledger.is_frozen) for pool, account in accounts],
        "admitted": admitted,
        "admissions": admissions.encode(ledger.records),
        "refused": _told(ledger.answers(Admission.REFUSED)),
        "pending": _told(ledger.answers(Admission.PENDING)),
    }
    if ledger.account.asked:
        status["asked"] = inference_cluster.encode_asked(ledger.account)
    if gateway is not None:
        status["gateway"] = inference_cluster.encode_gateway(gateway)
    return status


def _published(observed: Observed, access: Access, provider: ProviderConfigRef) -> Mapping[str, Json]:
    """Return the reference to the provider configuration, once that belongs to this cluster.

    A configuration of another owner under the same name leads to another cluster.
    """
    before = _published_before(lambda: inference_cluster.decode_provider_config(Field(observed.status)))
    is_ours = not access.manifests or PROVIDER_CONFIG_KEY in observed.children or before == provider
    return {"providerConfigRef": provider.encode()} if is_ours else {}


def _pool(observed: Observed, pool: Pool, account: PoolAccount, *, is_frozen: bool) -> Json:
    """Return the status entry of a pool. The published entry is kept while the pool's devices or users are unknown."""
    if pool.node_class is None or is_frozen:
        for entry in seen.objects(observed.status.get("pools")):
            if entry.get("name") == pool.name:
                return entry
    return inference_cluster.encode_pool(pool, account)


def _told(answers: tuple[Answer, ...]) -> list[dict[str, str]]:
    """Return one status entry for each replica, made from its first answer."""
    first = {answer.key: answer for answer in reversed(answers)}
    return [
        {"replica": answer.key, "reason": answer.reason, "message": answer.message}
        for _, answer in sorted(first.items())
    ]


def _cluster_ready(observed: Observed, gateway: GatewayAddress | None) -> Condition:
    child = observed.children.get(GATEWAY)
    where = f"Gateway {_described(observed)}"
    synced = {} if child is None else objects.condition(child, "Synced")
    if synced.get("status") == "False":
        message = f"{where} cannot be read from the cluster: {synced.get('message', 'no reason was reported')}"
        return Condition("ClusterReady", Truth.FALSE, "Unreachable", message)
    if child is None or objects.observed(child) is None:
        return Condition(
            "ClusterReady",
            Truth.UNKNOWN,
            "Connecting",
            f"waiting for provider-kubernetes to read {where} from the cluster",
        )
    if gateway is None:
        return Condition(
            "ClusterReady",
            Truth.TRUE,
            "NoGatewayAddress",
            f"the cluster is reachable, but {where} has no address yet; replicas are placed here once it has one",
        )
    message = f"{where} has address {gateway.address} port {gateway.port}"
    return Condition("ClusterReady", Truth.TRUE, "Reachable", message)


def _described(observed: Observed) -> str:
    facts = inference_cluster.decode_facts(observed.composite)
    return names.qualified(facts.gateway_namespace, facts.gateway_name)


def _stack_ready(observed: Observed) -> Condition:
    install = Field(observed.spec, ("spec",)).at("stack", "install").flag(default=True)
    wish = "spec.stack.install is not supported yet; " if install else ""
    scheduler = inference_cluster.decode_scheduler(Field(observed.composite))
    if not schedulers.is_offered(scheduler):
        wish = f"spec.scheduler {scheduler} is not supported yet, so no new replica is placed here; {wish}"
    return Condition(
        "StackReady",
        Truth.UNKNOWN,
        "NotManaged",
        f"{wish}KServe, LeaderWorkerSet, the Gateway controller and the DRA drivers must already be installed on the "
        "cluster",
    )


def _capacity_known(ledger: _Ledger) -> Condition:
    problems = ledger.faults + tuple(
        f'pool "{pool.name}": {problem}' for pool in ledger.account.pools for problem in pool.problems
    )
    if any(pool.node_class is None for pool in ledger.pools):
        return Condition("CapacityKnown", Truth.FALSE, "ClassNotUsable", "; ".join(problems))
    if problems:
        return Condition("CapacityKnown", Truth.TRUE, "Inconsistent", "; ".join(problems))
    if ledger.account.over_committed:
        pools = ", ".join(f'pool "{pool.name}"' for pool in ledger.account.pools if pool.over_committed)
        return Condition(
            "CapacityKnown",
            Truth.TRUE,
            "OverCommitted",
            f"more is admitted than {pools} can hold now; no replica is moved: add nodes or scale down a deployment",
        )
    count = len(ledger.pools)
    message = "1 pool is counted" if count == 1 else f"{count} pools are counted"
    return Condition("CapacityKnown", Truth.TRUE, "Counted", message)


def _events(observed: Observed, ledger: _Ledger) -> Iterator[Event]:
    """Yield one event for each replica whose admission differs from the published one."""
    admitted = claims.admitted_before(observed)
    refused = {entry.get("replica") for entry in seen.objects(observed.status.get("refused"))}
    for key in ledger.admitted:
        if key not in admitted:
            yield Event(Severity.NORMAL, "ReplicaAdmitted", f"admitted ModelReplica {key}")
    for answer in ledger.answers(Admission.REFUSED):
        if answer.key not in refused:
            message = f"refused ModelReplica {answer.key}: {answer.reason}: {answer.message}"
            yield Event(Severity.WARNING, "ReplicaRefused", message)
