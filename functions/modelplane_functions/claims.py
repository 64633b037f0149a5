"""The claims of ModelReplicas on their cluster, and the evidence for each.

Users of a namespace may edit its ModelReplicas, their labels and their status. A cluster therefore trusts the record
that it wrote when it admitted a replica (`api.admissions`: the uid of the object, a digest of its spec, its holdings).
Every other claim needs evidence from another object: a ModelDeployment that controls and references the replica and has
the same spec, a class with the devices that the replica names, or an Object that shows its workload on the cluster. An
admitted replica counts until a lookup by name shows that the replica and its workload are gone.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeAlias

from modelplane import names, placement, seen
from modelplane.api import admissions, intent, replica
from modelplane.api import workload as workloads
from modelplane.api.admissions import Record
from modelplane.api.fields import Field
from modelplane.errors import InvalidInput
from modelplane.placement import binding
from modelplane.placement.decision import Reason
from modelplane.placement.snapshot import Effect, Pool, ReplicaClaim, Toleration
from modelplane.render import objects
from modelplane.workload.model import Workload
from modelplane_functions import replicas
from modelplane_functions.exchange import Observed, Requirement, Resource
from modelplane_functions.memory.resources import recall

Json: TypeAlias = Any

REPLICAS = "replicas"
NOT_CONTROLLED, NOT_AS_DEPLOYED = "NotControlled", "NotAsDeployed"
_REPLICA, _WORKLOAD, _DEPLOYMENT = "replica/", "workload/", "deployment/"
_WORKLOAD_KEY = "workload"
_DEPLOYMENT_KIND = "ModelDeployment"
_FORBIDDING = (Effect.NO_SCHEDULE, Effect.NO_EXECUTE)


@dataclass(frozen=True, slots=True)
class Answer:
    """The reason why a replica (`namespace/name`) is not admitted with its current spec."""

    key: str
    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class _Said:
    """The parts of a ModelDeployment that its replicas are compared with."""

    workload: Workload
    tolerations: tuple[Toleration, ...]


@dataclass(slots=True)
class Standing:
    """All replicas of a cluster, sorted by how the ledger treats them.

    `claims` are counted. `refused` and `pending` are answered without being counted. `named` name the cluster now.
    `leaving` are deleted, but their workload still exists. `kept` are the existing records. `offered` are the records
    to write once the claims are admitted. `uncontrolled` run and are counted, but they are not admitted. `blind` were
    admitted by a version that kept no records, and they cannot be read.
    """

    claims: list[ReplicaClaim] = field(default_factory=list)
    named: list[str] = field(default_factory=list)
    leaving: set[str] = field(default_factory=set)
    kept: dict[str, Record] = field(default_factory=dict)
    offered: dict[str, Record] = field(default_factory=dict)
    uncontrolled: set[str] = field(default_factory=set)
    blind: set[str] = field(default_factory=set)
    refused: list[Answer] = field(default_factory=list)
    pending: list[Answer] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)


# --- asks -------------------------------------------------------------------------------------------------------------


def requirements(observed: Observed) -> dict[str, Requirement]:
    """Return the objects that must be fetched: the replicas by label, and the evidence for claims without a record.

    A settled fleet needs the replicas by label alone.
    """
    labels = {names.LABEL_CLUSTER: observed.name}
    needed = {REPLICAS: Requirement(names.API_VERSION, replica.KIND, labels=labels)}
    if REPLICAS not in observed.required:
        return needed
    before = _before(observed)
    listed = dict(_naming(observed, observed.required[REPLICAS]))
    for key in sorted(before.keys() - listed.keys()):
        needed[_REPLICA + key] = _by_name(names.API_VERSION, replica.KIND, key)
        needed[_WORKLOAD + key] = _workload(key)
    for key, resource in sorted(_living(observed, before).items()):
        if _is_as_admitted(key, before, resource):
            continue
        needed[_WORKLOAD + key] = _workload(key)
        deployment = _deployment_of(resource)
        if deployment is not None:
            needed[_DEPLOYMENT + deployment] = _by_name(names.API_VERSION, _DEPLOYMENT_KIND, deployment)
    return needed


def _by_name(api_version: str, kind: str, key: str) -> Requirement:
    namespace, _, name = key.partition("/")
    return Requirement(api_version, kind, name=name, namespace=namespace)


def _workload(key: str) -> Requirement:
    namespace, _, name = key.partition("/")
    return _by_name(objects.API_VERSION, objects.KIND, f"{namespace}/{objects.name_of(name, _WORKLOAD_KEY)}")


def _deployment_of(resource: Resource) -> str | None:
    root = Field(resource)
    try:
        name = root.at("spec", "deploymentRef", "name").text()
        return names.qualified(root.at("metadata", "namespace").text(), name)
    except InvalidInput:
        return None


# --- reads ------------------------------------------------------------------------------------------------------------


def admitted_before(observed: Observed) -> frozenset[str]:
    """Return the replicas in the cluster's published list of admitted replicas; an unreadable entry names nobody."""
    told = observed.status.get("admitted")
    return frozenset(key for key in told if seen.text(key)) if isinstance(told, list) else frozenset()


def _before(observed: Observed) -> dict[str, Record | None]:
    """Return the admitted replicas with their records. A replica admitted by a version without records has None."""
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


def _living(observed: Observed, before: Mapping[str, Record | None]) -> dict[str, Resource]:
    """Return the existing replicas. One that lost its label is found by its name."""
    found = dict(_naming(observed, observed.required[REPLICAS]))
    for key in before:
        if key not in found:
            found.update(_naming(observed, observed.required.get(_REPLICA + key, ())))
    return found


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


def _shows_workload(observed: Observed, key: str, uid: str) -> bool:
    """Return whether the workload's Object exists and the replica of this uid controls it."""
    return any(
        reference.get("controller") is True and admissions.uid_digest(str(reference.get("uid"))) == uid
        for found in observed.required.get(_WORKLOAD + key, ())
        for reference in found["metadata"].get("ownerReferences") or ()
    )


# --- decides ----------------------------------------------------------------------------------------------------------


def read(observed: Observed, pools: tuple[Pool, ...]) -> Standing:
    """Return the replicas of a cluster with these pools, sorted. Every required object must have been fetched."""
    reader = _Reader(observed, pools)
    for key in sorted(reader.before.keys() | reader.living.keys()):
        reader.judge(key)
    return reader.standing


class _Reader:
    """The state of sorting the replicas of one cluster."""

    def __init__(self, observed: Observed, pools: tuple[Pool, ...]) -> None:
        self.standing = Standing()
        self.before = _before(observed)
        self.living = _living(observed, self.before)
        self._observed = observed
        self._pools = {pool.name: pool for pool in pools}
        self._misbound: dict[int, str | None] = {}
        self._taints = tuple(
            intent.decode_taint(entry) for entry in Field(observed.spec, ("spec",)).at("taints").items()
        )

    def judge(self, key: str) -> None:
        """Sort one replica in."""
        resource, record = self.living.get(key), self.before.get(key)
        if resource is not None:
            self.standing.named.append(key)
        is_the_same = record is None or (resource is not None and record.uid == admissions.uid_of(resource))
        if record is not None and not is_the_same and _shows_workload(self._observed, key, record.uid):
            self._leave(key, record, resource)
        elif resource is not None and key in self.before and is_the_same:
            self._hold(key, resource, record)
        elif resource is not None:
            self._ask(key, resource)

    def _leave(self, key: str, record: Record, successor: Resource | None) -> None:
        self.standing.leaving.add(key)
        self.standing.kept[key] = record
        self.standing.claims.append(ReplicaClaim(key, record.holdings, holds=True, nodes=record.nodes))
        if successor is not None:
            message = "the workload of an earlier replica with this name still exists; waiting until it is deleted"
            self.standing.pending.append(Answer(key, "NameInUse", message))

    def _hold(self, key: str, resource: Resource, record: Record | None) -> None:
        """Count the admitted holdings. Claim the holdings of the current spec where they differ."""
        asked = self._asked(key, resource, is_admitted=True, is_written=record is not None)
        if record is None and asked is not None:
            record = Record(admissions.uid_of(resource), asked.digest, asked.holdings)
        if record is None:
            self.standing.blind.add(key)
            return
        self.standing.kept[key] = record
        claim = _claim(key, resource, record, asked, holds=True)
        if asked is not None and asked.digest != record.digest:
            answer = self._objection(key, resource, asked, record)
            if answer is None:
                self.standing.offered[key] = Record(record.uid, asked.digest, asked.holdings)
                claim = dataclasses.replace(claim, wants=asked.holdings)
        self.standing.claims.append(claim)

    def _ask(self, key: str, resource: Resource) -> None:
        """Claim the holdings of a replica that was never admitted. One whose workload exists is always counted."""
        asked = self._asked(key, resource, is_admitted=False, is_written=False)
        if asked is None:
            return
        record = Record(admissions.uid_of(resource), asked.digest, asked.holdings)
        runs = _shows_workload(self._observed, key, record.uid)
        answer = self._control(key, resource, asked) if runs else self._objection(key, resource, asked, None)
        if answer is not None and not runs:
            return
        if answer is not None:
            self.standing.uncontrolled.add(key)
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
            answer = self._untolerated(key, resource)
        elif {(one.role, one.pool) for one in record.holdings} != {(one.role, one.pool) for one in asked.holdings}:
            message = "the replica names other pools than those it was admitted to; a move needs a new replica"
            return self._refuse(key, str(Reason.NO_MATCHING_DEVICE), message)
        said = self._not_as_bound(asked)
        if answer is None and said is not None:
            answer = self._refuse(key, str(Reason.NO_MATCHING_DEVICE), said)
        return answer

    def _control(self, key: str, resource: Resource, asked: replicas.Asked) -> Answer | None:
        """Return why the replica lacks a ModelDeployment that controls it and has the same spec, None otherwise."""
        deployment = _deployment_of(resource) or ""
        name = deployment.partition("/")[2]
        reference = _controller(resource)
        if (reference.get("kind"), reference.get("name")) != (_DEPLOYMENT_KIND, name) or not _is_ours(reference):
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
        if resource["metadata"]["name"] not in recall(found, "referred", partial(_referred, found)):
            return self._wait(key, NOT_CONTROLLED, f"ModelDeployment {name} does not reference the replica")
        try:
            said = recall(found, "said", partial(_said, found))
        except InvalidInput as error:
            return self._wait(key, NOT_AS_DEPLOYED, f"ModelDeployment {name} cannot be read: {error}")
        if not binding.runs_same(asked.replica, said.workload):
            message = f"the replica differs from the current spec of ModelDeployment {name}"
            return self._wait(key, NOT_AS_DEPLOYED, message)
        return None

    def _deployment(self, key: str) -> Resource | None:
        return next(iter(self._observed.required.get(_DEPLOYMENT + key, ())), None)

    def _untolerated(self, key: str, resource: Resource) -> Answer | None:
        found = self._deployment(_deployment_of(resource) or "")
        tolerations = () if found is None else recall(found, "said", partial(_said, found)).tolerations
        taint = placement.untolerated(self._taints, tolerations, _FORBIDDING)
        if taint is None:
            return None
        message = f"the cluster has taint {taint}:{taint.effect}, which the ModelDeployment does not tolerate"
        return self._refuse(key, str(Reason.UNTOLERATED_TAINT), message)

    def _not_as_bound(self, asked: replicas.Asked) -> str | None:
        """Return how a replica's devices differ from its pools' classes, None when they agree."""
        # Replicas of one deployment share one `asked`.
        if id(asked) not in self._misbound:
            self._misbound[id(asked)] = next(self._misbound_roles(asked), None)
        return self._misbound[id(asked)]

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


def _said(deployment: Resource) -> _Said:
    metadata, spec = deployment["metadata"], Field(deployment).at("spec")
    namespace, name = str(metadata.get("namespace")), str(metadata["name"])
    workload = workloads.decode(spec.members(), namespace=namespace, deployment=name)
    return _Said(workload, intent.decode_tolerations(spec.at("tolerations")))


def _claim(key: str, resource: Resource, record: Record, asked: replicas.Asked | None, *, holds: bool) -> ReplicaClaim:
    created = Field(resource).at("metadata", "creationTimestamp").text("")
    offered = Field(resource).at("metadata", "annotations", names.ANNOTATION_MAY_LEAVE).optional() == replicas.TRUE
    leaves = (_deployment_of(resource) or "") if offered and holds else ""
    priority = 0 if asked is None else asked.priority
    return ReplicaClaim(key, record.holdings, priority, created, holds, leaves=leaves, nodes=record.nodes)


def _controller(resource: Resource) -> Mapping[str, Json]:
    for reference in resource["metadata"].get("ownerReferences") or ():
        if isinstance(reference, Mapping) and reference.get("controller") is True:
            return reference
    return {}


def _is_ours(reference: Mapping[str, Json]) -> bool:
    return str(reference.get("apiVersion", "")).partition("/")[0] == names.GROUP


def _referred(deployment: Resource) -> frozenset[str]:
    """Return the replicas in the deployment's resource references, which Crossplane writes.

    Crossplane writes the reference before it creates the child. A replica without a reference was created by another
    client, or it is newer than the cached deployment.
    """
    try:
        references = list(Field(deployment).at("spec", "crossplane", "resourceRefs").items())
        noted = [one.at("name").value for one in references if one.at("kind").value == replica.KIND]
    except InvalidInput:
        return frozenset()
    return frozenset(name for name in noted if isinstance(name, str))
