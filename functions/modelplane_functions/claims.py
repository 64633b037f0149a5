"""What ModelReplicas ask of their cluster, and what of that is believed.

People of a namespace may edit its ModelReplicas, their labels and their status. So a cluster believes what it wrote
down itself when it admitted (`api.admissions`: the object by its uid, its spec by a digest, what that takes), and for
the rest what somebody else bears out: a ModelDeployment that controls the replica, refers to it and says the same, a
class that has the devices it names, an Object that shows its workload on the cluster. What was admitted counts until
the replica is seen to be gone, asked for by its name, and its workload with it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeAlias

from modelplane import names, placement
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
from modelplane_functions.remembered import recall

Json: TypeAlias = Any

REPLICAS = "replicas"
NOT_CONTROLLED, NOT_AS_DEPLOYED = "NotControlled", "NotAsDeployed"
_REPLICA, _WORKLOAD, _DEPLOYMENT = "replica/", "workload/", "deployment/"
_WORKLOAD_KEY = "workload"
_DEPLOYMENT_KIND = "ModelDeployment"
_FORBIDDING = (Effect.NO_SCHEDULE, Effect.NO_EXECUTE)


@dataclass(frozen=True, slots=True)
class Answer:
    """What is said of a replica (`namespace/name`) that is not admitted as it stands, and why."""

    key: str
    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class _Said:
    """What a ModelDeployment says, as far as its replicas are measured by it."""

    workload: Workload
    tolerations: tuple[Toleration, ...]


@dataclass(slots=True)
class Standing:
    """All replicas of a cluster, sorted into what is counted, what is asked and what is answered without counting.

    `named` name the cluster now. `leaving` are gone, and their workload is not. `kept` is what was written down,
    `offered` what is to be once the claim is admitted. `uncontrolled` run and count, and are not admitted. `blind` were
    admitted before anything was written down, and cannot be read.
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
    """Return what must be seen: the replicas by label, and whatever of them their labels and status do not prove.

    In a settled fleet that is the label alone.
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
    """Return the replicas that the cluster has said it admits."""
    return frozenset(entry.text() for entry in Field(observed.status).at("admitted").items())


def _before(observed: Observed) -> dict[str, Record | None]:
    """Return what was admitted, with what was written down of it: nothing by versions that did not."""
    unwritten: dict[str, Record | None] = dict.fromkeys(admitted_before(observed))
    return {**unwritten, **admissions.decode(Field(observed.status))}


def _naming(observed: Observed, found: tuple[Resource, ...]) -> Iterator[tuple[str, Resource]]:
    """Yield the replicas that name this cluster; one that names none at all has its label say so."""
    for resource in found:
        root = Field(resource)
        spec = root.at("spec").value
        named = spec.get("clusterName") if isinstance(spec, Mapping) else None
        if not isinstance(named, str) or named == observed.name:
            metadata = root.at("metadata")
            yield names.qualified(metadata.text_at("namespace"), metadata.text_at("name")), resource


def _living(observed: Observed, before: Mapping[str, Record | None]) -> dict[str, Resource]:
    """Return the replicas that are there, those found by their name too: a label is easily lost."""
    found = dict(_naming(observed, observed.required[REPLICAS]))
    for key in before:
        if key not in found:
            found.update(_naming(observed, observed.required.get(_REPLICA + key, ())))
    return found


def _is_as_admitted(key: str, before: Mapping[str, Record | None], resource: Resource) -> bool:
    """Return whether nothing of the replica is to be proved; what an earlier version admitted is believed once."""
    record = before.get(key)
    if record is None:
        return key in before
    if record.uid != admissions.uid_of(resource):
        return False
    try:
        return record.digest == replicas.asked(resource).digest
    except InvalidInput:
        return True  # nothing of it is believed, so nothing is to be proved


def _shows_workload(observed: Observed, key: str, uid: str) -> bool:
    """Return whether the Object of a workload is there that the replica of this uid made."""
    return any(
        reference.get("controller") is True and admissions.uid_digest(str(reference.get("uid"))) == uid
        for found in observed.required.get(_WORKLOAD + key, ())
        for reference in found["metadata"].get("ownerReferences") or ()
    )


# --- decides ----------------------------------------------------------------------------------------------------------


def read(observed: Observed, pools: tuple[Pool, ...]) -> Standing:
    """Return what is counted and asked on a cluster of these pools, everything that was required being there."""
    reader = _Reader(observed, pools)
    for key in sorted(reader.before.keys() | reader.living.keys()):
        reader.judge(key)
    return reader.standing


class _Reader:
    """The replicas of one cluster while they are sorted."""

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
        self.standing.claims.append(ReplicaClaim(key, record.holdings, holds=True))
        if successor is not None:
            message = "the workload of an earlier replica of this name is still there; it is judged once that is gone"
            self.standing.pending.append(Answer(key, "NameInUse", message))

    def _hold(self, key: str, resource: Resource, record: Record | None) -> None:
        """Count what was admitted, and ask for what is written in the replica now where that is something else."""
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
        """Ask for a replica that was never admitted; one whose workload is there counts whoever made it."""
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
            counted = "what it was admitted with is counted" if is_written else "is left as it is"
            said = f"ModelReplica {key} cannot be read and {counted}"
            self.standing.faults.append(f"{said} ({error})" if is_admitted and is_written else said)
            return None

    def _objection(self, key: str, resource: Resource, asked: replicas.Asked, record: Record | None) -> Answer | None:
        """Return why a replica is not even counted for what it asks, None where nothing speaks against it.

        `record` is what it was admitted with, None for a new one.
        """
        answer = self._control(key, resource, asked)
        if answer is not None:
            return answer
        if record is None:
            answer = self._untolerated(key, resource)
        elif {(one.role, one.pool) for one in record.holdings} != {(one.role, one.pool) for one in asked.holdings}:
            message = "it names other pools than it was admitted on; a move is a new replica"
            return self._refuse(key, str(Reason.NO_MATCHING_DEVICE), message)
        said = self._not_as_bound(asked)
        if answer is None and said is not None:
            answer = self._refuse(key, str(Reason.NO_MATCHING_DEVICE), said)
        return answer

    def _control(self, key: str, resource: Resource, asked: replicas.Asked) -> Answer | None:
        """Return why nobody answers for the replica, None where its ModelDeployment does and says what it says."""
        deployment = _deployment_of(resource) or ""
        name = deployment.partition("/")[2]
        reference = _controller(resource)
        if (reference.get("kind"), reference.get("name")) != (_DEPLOYMENT_KIND, name) or not _is_ours(reference):
            message = (
                f"no ModelDeployment {name} controls it; a ModelReplica is composed and never written by hand: "
                "write a ModelDeployment, and delete this one"
            )
            return self._refuse(key, NOT_CONTROLLED, message)
        found = self._deployment(deployment)
        if found is None or found["metadata"].get("uid") != reference.get("uid"):
            return self._wait(key, NOT_CONTROLLED, f"the ModelDeployment {name} that controls it is not there")
        if resource["metadata"]["name"] not in recall(found, "referred", partial(_referred, found)):
            return self._wait(key, NOT_CONTROLLED, f"ModelDeployment {name} does not refer to it")
        try:
            said = recall(found, "said", partial(_said, found))
        except InvalidInput as error:
            return self._wait(key, NOT_AS_DEPLOYED, f"its ModelDeployment cannot be read: {error}")
        if not binding.runs_same(asked.replica, said.workload):
            return self._wait(key, NOT_AS_DEPLOYED, f"it is not what ModelDeployment {name} says now")
        return None

    def _deployment(self, key: str) -> Resource | None:
        return next(iter(self._observed.required.get(_DEPLOYMENT + key, ())), None)

    def _untolerated(self, key: str, resource: Resource) -> Answer | None:
        found = self._deployment(_deployment_of(resource) or "")
        tolerations = () if found is None else recall(found, "said", partial(_said, found)).tolerations
        taint = placement.untolerated(self._taints, tolerations, _FORBIDDING)
        if taint is None:
            return None
        message = f"this cluster has the taint {taint}:{taint.effect}, which its ModelDeployment does not tolerate"
        return self._refuse(key, str(Reason.UNTOLERATED_TAINT), message)

    def _not_as_bound(self, asked: replicas.Asked) -> str | None:
        """Return what of a replica's devices is not as its pools' classes say. Replicas of one deployment ask alike."""
        if id(asked) not in self._misbound:
            self._misbound[id(asked)] = next(self._misbound_roles(asked), None)
        return self._misbound[id(asked)]

    def _misbound_roles(self, asked: replicas.Asked) -> Iterator[str]:
        for bound in asked.replica.roles:
            pool = self._pools.get(bound.pool)
            if pool is None or pool.node_class is None:
                continue  # told when it is counted
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
    return ReplicaClaim(key, record.holdings, 0 if asked is None else asked.priority, created, holds)


def _controller(resource: Resource) -> Mapping[str, Json]:
    for reference in resource["metadata"].get("ownerReferences") or ():
        if isinstance(reference, Mapping) and reference.get("controller") is True:
            return reference
    return {}


def _is_ours(reference: Mapping[str, Json]) -> bool:
    return str(reference.get("apiVersion", "")).partition("/")[0] == names.GROUP


def _referred(deployment: Resource) -> frozenset[str]:
    """Return the replicas that Crossplane has noted as those that it composes for the deployment.

    It notes a child before it makes it, so what is not noted was made by somebody else, or is too new for our cache.
    """
    try:
        references = list(Field(deployment).at("spec", "crossplane", "resourceRefs").items())
        noted = [one.at("name").value for one in references if one.at("kind").value == replica.KIND]
    except InvalidInput:
        return frozenset()
    return frozenset(name for name in noted if isinstance(name, str))
