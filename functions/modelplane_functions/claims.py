"""The claims of ModelReplicas on their cluster, and the evidence for each.

Users of a namespace may edit its ModelReplicas, their labels and their status. A cluster therefore trusts the record
that it wrote when it admitted a replica (`api.admissions`: the uid of the object, a digest of its spec, its holdings).
Every other claim needs evidence from another object: a ModelDeployment that controls and references the replica and has
the same spec, a class with the devices that the replica names, or an Object that shows its workload on the cluster. An
admitted replica counts until a lookup by name shows that the replica and its workload are gone.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from functools import partial

from modelplane import names, placement, seen
from modelplane.api import admissions, intent, replica, tenants
from modelplane.api.admissions import Record
from modelplane.api.fields import Field
from modelplane.errors import InvalidInput
from modelplane.placement import binding, snapshot
from modelplane.placement.decision import Reason
from modelplane.placement.snapshot import Effect, Pool, ReplicaClaim
from modelplane.render import claims as render_claims
from modelplane.workload import tenancy
from modelplane.workload.tenancy import Access
from modelplane_functions import (
    allowed_namespaces,
    changed_pods,
    control,
    ending_pods,
    quotas,
    replica_pods,
    replicas,
    workload_evidence,
)
from modelplane_functions.exchange import Kind, Observed, Requirement, Resource
from modelplane_functions.memory.resources import recall
from modelplane_functions.standing import Answer, Standing

REPLICAS = "replicas"
NOT_CONTROLLED, NOT_AS_DEPLOYED = "NotControlled", "NotAsDeployed"
_REPLICA, _DEPLOYMENT = "replica/", "deployment/"
_DEPLOYMENT_KIND = "ModelDeployment"
_FORBIDDING = (Effect.NO_SCHEDULE, Effect.NO_EXECUTE)


# --- asks -------------------------------------------------------------------------------------------------------------


def requirements(observed: Observed) -> dict[str, Requirement]:
    """Return the objects that must be fetched: the replicas by label, and the evidence for claims without a record.

    A settled fleet needs the replicas by label alone.
    """
    labels = {names.LABEL_CLUSTER: observed.name}
    needed = {REPLICAS: Requirement(names.API_VERSION, replica.KIND, labels=labels)}
    needed |= ending_pods.requirements(observed)
    if REPLICAS not in observed.required:
        return needed
    before = _before(observed)
    listed = dict(_naming(observed, observed.required[REPLICAS]))
    for key in sorted(before.keys() - listed.keys()):
        needed[_REPLICA + key] = workload_evidence.by_name(names.API_VERSION, replica.KIND, key)
        needed |= workload_evidence.requirements(key)
    asking = set()
    for key, resource in sorted(_living(observed, before, listed).items()):
        if _is_as_admitted(key, before, resource):
            if _counts_more(before.get(key)):
                needed |= workload_evidence.requirements(key)
            continue
        asking.add(key)
        needed |= workload_evidence.requirements(key)
        deployment = control.deployment_of(resource)
        if deployment is not None:
            needed[_DEPLOYMENT + deployment] = workload_evidence.by_name(
                names.API_VERSION, _DEPLOYMENT_KIND, deployment
            )
    needed |= quotas.requirements(observed, _namespaces(asking))
    rule = tenants.readable(observed.composite)
    return needed | allowed_namespaces.requirements((rule,), _namespaces((*before, *listed)))


def _namespaces(keys: Iterable[str]) -> set[str]:
    return {key.partition("/")[0] for key in keys}


def kinds(observed: Observed) -> dict[str, Kind]:
    """Return the questions for kinds: whether pods can be listed, while an admitted replica is gone or changes."""
    if REPLICAS not in observed.required:
        return {}
    before = _before(observed)
    living = _living(observed, before, dict(_naming(observed, observed.required[REPLICAS])))
    asks = (
        record is not None and (_is_another(record, living.get(key)) or _counts_more(record))
        for key, record in before.items()
    )
    changes = (not _is_as_admitted(key, before, living[key]) for key in before if key in living)
    return dict(replica_pods.COLLECTIONS) if any(asks) or any(changes) else {}


# --- reads ------------------------------------------------------------------------------------------------------------


def admitted_before(observed: Observed) -> frozenset[str]:
    """Return the replicas in the cluster's published list of admitted replicas; an unreadable entry names nobody."""
    told = observed.status.get("admitted")
    return frozenset(key for key in told if seen.text(key)) if isinstance(told, list) else frozenset()


def _before(observed: Observed) -> Mapping[str, Record | None]:
    """Return the admitted replicas with their records. A replica admitted by a version without records has None."""
    return recall(observed.composite, "before", partial(_read_before, observed))


def _read_before(observed: Observed) -> Mapping[str, Record | None]:
    unwritten: dict[str, Record | None] = dict.fromkeys(admitted_before(observed))
    return {**unwritten, **admissions.decode(Field(observed.status))}


def _naming(observed: Observed, found: tuple[Resource, ...]) -> Iterator[tuple[str, Resource]]:
    """Yield the replicas that name this cluster. The label decides for a replica that names no cluster."""
    for resource in found:
        root = Field(resource)
        spec = root.at("spec").value
        named = spec.get("clusterName") if isinstance(spec, Mapping) else None
        if not isinstance(named, str) or named == observed.name:
            metadata = root.at("metadata")
            yield names.qualified(metadata.text_at("namespace"), metadata.text_at("name")), resource


def _living(
    observed: Observed, before: Mapping[str, Record | None], listed: Mapping[str, Resource]
) -> dict[str, Resource]:
    """Return the existing replicas. One that lost its label is found by its name."""
    found = dict(listed)
    for key in before:
        if key not in found:
            found.update(_naming(observed, observed.required.get(_REPLICA + key, ())))
    return found


def _is_another(record: Record, resource: Resource | None) -> bool:
    """Return whether the replica of the record is not there. Another one may have its name."""
    return resource is None or record.uid != admissions.uid_of(resource)


def _is_as_admitted(key: str, before: Mapping[str, Record | None], resource: Resource) -> bool:
    """Return whether the replica needs no evidence. A replica admitted by a version without records is trusted once."""
    record = before.get(key)
    if record is None:
        return key in before
    if record.uid != admissions.uid_of(resource):
        return False
    try:
        return record.digest == replicas.asked(resource).digest
    except InvalidInput:
        return True  # nothing in it is trusted, so it needs no evidence


def _counts_more(record: Record | None) -> bool:
    """Return whether a replica counts for more than its spec, since pods from before a change may run."""
    return record is not None and bool(record.counted)


# --- decides ----------------------------------------------------------------------------------------------------------


def read(observed: Observed, pools: tuple[Pool, ...]) -> Standing:
    """Return the replicas of a cluster with these pools, sorted. Every required object must have been fetched."""
    reader = _Reader(observed, pools)
    for key in sorted(reader.before.keys() | reader.living.keys()):
        reader.judge(key)
    quotas.gate(observed, reader.standing, pools)
    return reader.standing


class _Reader:
    """The state of sorting the replicas of one cluster."""

    def __init__(self, observed: Observed, pools: tuple[Pool, ...]) -> None:
        self.before = _before(observed)
        self.living = _living(observed, self.before, dict(_naming(observed, observed.required[REPLICAS])))
        allowed = allowed_namespaces.read(observed, _namespaces((*self.before, *self.living)))
        self.standing = Standing(ending_pods.read(observed), allowed)
        self._observed = observed
        self._pools = {pool.name: pool for pool in pools}
        self._misbound: dict[int, tuple[replicas.Asked, str | None]] = {}
        self._taints = tuple(
            intent.decode_taint(entry) for entry in Field(observed.spec, ("spec",)).at("taints").items()
        )

    def judge(self, key: str) -> None:
        """Sort one replica in."""
        resource, record = self.living.get(key), self.before.get(key)
        if resource is not None:
            self.standing.named.append(key)
        is_another = record is not None and _is_another(record, resource)
        if record is not None and is_another and self._may_run(key, record):
            self._leave(key, record, resource)
        elif resource is not None and key in self.before and not is_another:
            self._hold(key, resource, record)
        elif resource is not None:
            self._ask(key, resource)

    def _may_run(self, key: str, record: Record) -> bool:
        """Return whether pods of a replica that is gone may run: an Object of its workload exists, or a pod may."""
        if workload_evidence.is_there(self._observed, key, record.uid):
            return True
        may_have_pods = self.standing.endings.may_have_pods(key)
        if may_have_pods:
            self.standing.lingering.add(key)
        return may_have_pods

    def _leave(self, key: str, record: Record, successor: Resource | None) -> None:
        self.standing.leaving.add(key)
        self.standing.ending.add(key)
        self.standing.kept[key] = record
        self.standing.claims.append(ReplicaClaim(key, record.held, holds=True, nodes=record.nodes))
        if successor is not None:
            message = "the workload of an earlier replica with this name still exists; waiting until it is deleted"
            self.standing.pending.append(Answer(key, "NameInUse", message))

    def _hold(self, key: str, resource: Resource, record: Record | None) -> None:
        """Count the admitted holdings. Claim the holdings of the current spec where they differ."""
        asked = self._asked(key, resource, is_admitted=True, is_written=record is not None)
        if record is None and asked is not None:
            record = asked.record(admissions.uid_of(resource))
        if record is None:
            self.standing.blind.add(key)
            return
        if asked is not None and asked.digest == record.digest:
            # Whatever was written into the record since.
            record = dataclasses.replace(record, holdings=asked.holdings, workload=asked.workload)
        if record.counted:
            record = self._followed(key, record)
        self.standing.kept[key] = record
        if resource["metadata"].get("deletionTimestamp"):
            self.standing.ending.add(key)
        claim = _claim(key, resource, record, asked, holds=True)
        if asked is not None and asked.digest != record.digest:
            answer = self._objection(key, resource, asked, record)
            if answer is None:
                claimed = tuple(render_claims.claimed(bound) for bound in asked.replica.roles)
                self.standing.offered[key] = dataclasses.replace(asked.record(record.uid), claimed=claimed)
                can_tell = self.standing.endings.is_served is not None
                claim = dataclasses.replace(claim, wants=asked.holdings, lingers=can_tell)
        self.standing.claims.append(claim)

    def _followed(self, key: str, record: Record) -> Record:
        """Return the record of a changed replica, with its holdings alone once the pods from before have ended."""
        self.standing.changed.add(key)
        if not workload_evidence.is_applied(self._observed, key, record):
            return record
        if not changed_pods.have_ended(self.standing.endings, key, record):
            self.standing.followed.add(key)
            return record
        self.standing.changed.remove(key)
        return dataclasses.replace(record, counted=(), claimed=(), nodes=())

    def _ask(self, key: str, resource: Resource) -> None:
        """Claim the holdings of a replica that was never admitted. One whose workload exists is always counted."""
        asked = self._asked(key, resource, is_admitted=False, is_written=False)
        if asked is None:
            return
        record = asked.record(admissions.uid_of(resource))
        runs = workload_evidence.is_there(self._observed, key, record.uid)
        runs_another = runs and workload_evidence.differs(self._observed, key, record)
        answer = self._control(key, resource, asked) if runs else self._objection(key, resource, asked, None)
        if answer is None and runs_another:
            answer = self._misbound_answer(key, asked)
        if answer is not None and not runs:
            return
        if answer is not None:
            self.standing.uncontrolled.add(key)
            if runs_another:
                self.standing.unknown.add(key)
        self.standing.offered[key] = record
        self.standing.claims.append(_claim(key, resource, record, asked, holds=runs))

    def _asked(self, key: str, resource: Resource, *, is_admitted: bool, is_written: bool) -> replicas.Asked | None:
        try:
            return replicas.asked(resource)
        except InvalidInput as error:
            kept = "the devices it was admitted with stay counted" if is_written else "it is kept as it is"
            said = f"ModelReplica {key} cannot be read; {kept}"
            self.standing.faults.append(f"{said} ({error})" if is_admitted and is_written else said)
            return None

    def _objection(self, key: str, resource: Resource, asked: replicas.Asked, record: Record | None) -> Answer | None:
        """Return why the claim of a replica is not counted, None when it is counted.

        `record` is the record of its admission, None for a new replica.
        """
        answer = self._control(key, resource, asked)
        if answer is not None:
            return answer
        if record is None:
            answer = self._foreign(key) or self._untolerated(key, resource)
        elif {(one.role, one.pool) for one in record.holdings} != {(one.role, one.pool) for one in asked.holdings}:
            message = "the replica names other pools than those it was admitted to; a move needs a new replica"
            return self._refuse(key, str(Reason.NO_MATCHING_DEVICE), message)
        elif not snapshot.within(asked.holdings, record.held):
            answer = self._foreign(key)
        return answer or self._misbound_answer(key, asked)

    def _misbound_answer(self, key: str, asked: replicas.Asked) -> Answer | None:
        said = self._not_as_bound(asked)
        return None if said is None else self._refuse(key, str(Reason.NO_MATCHING_DEVICE), said)

    def _control(self, key: str, resource: Resource, asked: replicas.Asked) -> Answer | None:
        """Return why the replica lacks a ModelDeployment that controls it and has the same spec, None otherwise."""
        deployment = control.deployment_of(resource) or ""
        name = deployment.partition("/")[2]
        reference = control.controller(resource)
        if (reference.get("kind"), reference.get("name")) != (_DEPLOYMENT_KIND, name) or not control.is_ours(reference):
            owner = f"ModelDeployment {name}" if name else "a ModelDeployment"
            message = (
                f"the replica is not controlled by {owner}; a ModelReplica is composed and must not be created by "
                "hand: create a ModelDeployment and delete this replica"
            )
            return self._refuse(key, NOT_CONTROLLED, message)
        found = self._deployment(deployment)
        if found is None or found["metadata"].get("uid") != reference.get("uid"):
            message = f"ModelDeployment {name}, which controls the replica, does not exist"
            return self._wait(key, NOT_CONTROLLED, message)
        if resource["metadata"]["name"] not in recall(found, "referred", partial(control.referred, found)):
            return self._wait(key, NOT_CONTROLLED, f"ModelDeployment {name} does not reference the replica")
        try:
            said = recall(found, "said", partial(control.said, found))
        except InvalidInput as error:
            return self._wait(key, NOT_AS_DEPLOYED, f"ModelDeployment {name} cannot be read: {error}")
        if not binding.runs_same(asked.replica, said.workload):
            message = f"the replica differs from the current spec of ModelDeployment {name}"
            return self._wait(key, NOT_AS_DEPLOYED, message)
        return None

    def _deployment(self, key: str) -> Resource | None:
        return next(iter(self._observed.required.get(_DEPLOYMENT + key, ())), None)

    def _foreign(self, key: str) -> Answer | None:
        """Return why the namespace of a replica may take nothing more here, None when it may."""
        namespace = key.partition("/")[0]
        access = self.standing.allowed.access(namespace)
        if access is Access.ALLOWED:
            return None
        said = tenancy.refusal(access, namespace)
        if access is Access.UNKNOWN:
            return self._wait(key, allowed_namespaces.UNKNOWN, f"{said}; the replica waits for it")
        message = f"{said}; let the platform allow it, or use another cluster"
        return self._refuse(key, str(Reason.NAMESPACE_NOT_ALLOWED), message)

    def _untolerated(self, key: str, resource: Resource) -> Answer | None:
        found = self._deployment(control.deployment_of(resource) or "")
        tolerations = () if found is None else recall(found, "said", partial(control.said, found)).tolerations
        taint = placement.untolerated(self._taints, tolerations, _FORBIDDING)
        if taint is None:
            return None
        message = f"the cluster has taint {taint}:{taint.effect}, which the ModelDeployment does not tolerate"
        return self._refuse(key, str(Reason.UNTOLERATED_TAINT), message)

    def _not_as_bound(self, asked: replicas.Asked) -> str | None:
        """Return how a replica's devices differ from its pools' classes, None when they agree."""
        # Replicas of one deployment share one `asked`, which is kept here so that no other gets its id.
        if id(asked) not in self._misbound:
            self._misbound[id(asked)] = asked, next(self._misbound_roles(asked), None)
        return self._misbound[id(asked)][1]

    def _misbound_roles(self, asked: replicas.Asked) -> Iterator[str]:
        for bound in asked.replica.roles:
            pool = self._pools.get(bound.pool)
            if pool is None or pool.node_class is None:
                continue  # reported when it is counted
            try:
                said = binding.misbound(bound, pool.node_class)
            except InvalidInput as error:
                said = str(error)
            if said is not None:
                yield f"{pool.name}: {said}"

    def _refuse(self, key: str, reason: str, message: str) -> Answer:
        answer = Answer(key, reason, message)
        self.standing.refused.append(answer)
        return answer

    def _wait(self, key: str, reason: str, message: str) -> Answer:
        answer = Answer(key, reason, message)
        self.standing.pending.append(answer)
        return answer


def _claim(key: str, resource: Resource, record: Record, asked: replicas.Asked | None, *, holds: bool) -> ReplicaClaim:
    created = seen.text(seen.at(resource, "metadata", "creationTimestamp"))
    offered = Field(resource).at("metadata", "annotations", names.ANNOTATION_MAY_LEAVE).optional() == replicas.TRUE
    leaves = (control.deployment_of(resource) or "") if offered and holds else ""
    recovers = Field(resource).at("metadata", "annotations", names.ANNOTATION_MAY_RECOVER).optional() == replicas.TRUE
    priority = 0 if asked is None else asked.priority
    claim = ReplicaClaim(key, record.held, priority, created, holds, leaves=leaves, nodes=record.nodes)
    # One that is being deleted has moved, or goes for another cause: it needs no turn.
    recovers = recovers and not resource["metadata"].get("deletionTimestamp")
    return dataclasses.replace(claim, recovers=True) if recovers and holds else claim
