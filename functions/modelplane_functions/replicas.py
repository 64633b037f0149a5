"""Observed ModelReplicas: the replicas of a deployment, and the claim of one replica on its cluster.

Decoded values are cached with the replica. A deployment sees all of its replicas in every call and a cluster sees all
that name it, and few of them change between two calls.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial

from kubecel.caches import Answers
from modelplane import names, seen
from modelplane.api import admissions, inference_cluster, replica, replica_status
from modelplane.api import workload as workloads
from modelplane.api.admissions import Record
from modelplane.api.fields import Field
from modelplane.errors import InvalidInput
from modelplane.placement import binding, demand
from modelplane.placement.snapshot import Cluster, Current, CurrentReplica, Holding, PodShape
from modelplane.workload.model import Replica
from modelplane_functions import replica_outage, replica_repair
from modelplane_functions.exchange import Observed, Resource
from modelplane_functions.memory.resources import recall
from modelplane_functions.replica_repair import Decision, Repair

TRUE = "true"
"""An annotation that is set."""
KEY = "replica-"
"""The prefix of the composition key of a deployment's ModelReplica. The replica's name follows."""


@dataclass(frozen=True, slots=True)
class Asked:
    """The claim of a replica on its cluster: the part of its spec that an admission reads.

    `digest` covers everything that the replica is rendered from, `workload` what its deployment says of it. `replica`
    is one replica with this claim. Replicas that share the claim differ only in their names.
    """

    holdings: tuple[Holding, ...]
    priority: int
    digest: str
    workload: str
    replica: Replica

    def record(self, uid: str) -> Record:
        """Return the record of the claim's admission, for the replica with this digest of its uid."""
        return Record(uid, self.digest, self.holdings, workload=self.workload)


ASKED_MAX, ASKED_CHARACTERS_MAX = 256, 16_384
_ASKED = Answers[str, Asked](ASKED_MAX, longest=ASKED_CHARACTERS_MAX, name=f"{__name__}.asked")
"""The claims of replicas by their whole spec."""


@dataclass(frozen=True, slots=True)
class Own:
    """The replicas of a deployment for its placement, and the repairs of changed ones by name."""

    current: Current
    repairs: Mapping[str, Repair]


@dataclass(frozen=True, slots=True)
class _Bound:
    """A decoded replica, its holdings, and the digest of everything that it is rendered from."""

    replica: Replica
    holdings: tuple[Holding, ...]
    digest: str


def asked(resource: Resource) -> Asked:
    """Return the replica's claim on its cluster. Raises: InvalidInput for a replica that cannot be read."""
    return recall(resource, "asked", partial(_asked, resource))


def _asked(resource: Resource) -> Asked:
    """Return the claim. Replicas of one deployment on one pool have the same claim, and it is decoded once.

    `spec.crossplane` differs for each replica and is not read.
    """
    spec = resource.get("spec")
    own = {key: value for key, value in spec.items() if key != "crossplane"} if isinstance(spec, dict) else spec
    says = repr(own)
    known = _ASKED.get(says)
    if known is None:
        found = replica.decode(resource)
        digests = replica.fingerprint(found), replica.workload_digest(found)
        known = _ASKED.keep(says, Asked(demand.held(found), found.priority, *digests, found))
    return known


def observed_of(observed: Observed) -> dict[str, Resource]:
    """Return the observed ModelReplicas of a deployment by name."""
    return {
        str(child["metadata"]["name"]): child for key, child in sorted(observed.children.items()) if key.startswith(KEY)
    }


def living_of(observed: Observed) -> dict[str, Resource]:
    """Return the observed ModelReplicas of a deployment that are not being deleted, by name."""
    replicas = observed_of(observed)
    return {name: child for name, child in replicas.items() if not child["metadata"].get("deletionTimestamp")}


def cluster_of(child: Resource) -> str:
    """Return the cluster of an observed ModelReplica. Raises: as `current`."""
    try:
        return Field(child).at("spec", "clusterName").text()
    except InvalidInput as error:
        raise _unreadable(child, error) from None


def serves(child: Resource) -> bool:
    """Return whether the replica serves with its current spec. A status of an older generation does not count."""
    return inference_cluster.condition(child, "Serving") == "True" and replica_status.is_current(child)


def own(observed: Observed, decision: Decision, namesakes: Iterable[Resource], clusters: Mapping[str, Resource]) -> Own:
    """Return the deployment's replicas and the names that they and `namesakes` use.

    The record that the cluster wrote when it admitted a replica decides, whatever was written into the replica since.
    `clusters` are the documents by name.
    Raises: InvalidInput for a replica that cannot be read and has no record. Its holdings are unknown, so everything is
    held.
    """
    found, repairs = [], {}
    for name, child in living_of(observed).items():
        place = cluster_of(child)
        record = _record(child, clusters.get(place))
        replica_now, repair = _standing(child, decision, record, decision.clusters.get(place))
        found.append(replica_now)
        if repair is not None:
            repairs[name] = repair
    taken = frozenset(observed_of(observed)) | {str(one["metadata"]["name"]) for one in namesakes}
    return Own(Current(tuple(found), taken), repairs)


def judged(observed: Observed, found: Own, recovery: int | None) -> Own:
    """Return the replicas with what keeps them down, where their deployment wants that they are moved for it."""
    if recovery is None:
        return found
    living = living_of(observed)
    current = tuple(
        dataclasses.replace(
            one,
            down=replica_outage.is_down(living[one.name]),
            failing=replica_outage.failing(living[one.name], recovery, observed.minute),
        )
        for one in found.current.replicas
    )
    return dataclasses.replace(found, current=dataclasses.replace(found.current, replicas=current))


def _record(child: Resource, cluster: Resource | None) -> Record | None:
    """Return the record of the replica's admission. A record of an earlier replica with the same name is ignored."""
    status = None if cluster is None else cluster.get("status")
    if not isinstance(status, Mapping):
        return None
    metadata = child["metadata"]
    key = names.qualified(str(metadata.get("namespace", "")), str(metadata["name"]))
    found = recall(cluster, f"admission {key}", partial(admissions.find, Field(status), key))
    return found if found is not None and found.uid == admissions.uid_of(child) else None


def _standing(
    child: Resource, decision: Decision, record: Record | None, cluster: Cluster | None
) -> tuple[CurrentReplica, Repair | None]:
    try:
        known = recall(child, "bound", partial(_bound, child))
    except InvalidInput:
        if record is not None:
            return _changed(child, None, decision, record)
        repair = replica_repair.as_proposed(child, cluster_of(child), decision, tuple(_places(child)))
        if repair is None or repair.written is None:
            raise
        return _current(child, demand.held(repair.written), decision.backend, outdated=False), repair
    if record is None:
        return _unrecorded(child, known, decision, cluster)
    if known.digest != record.digest:
        return _changed(child, known, decision, record)
    outdated = not binding.runs_same(known.replica, decision.workload)
    return _current(child, _held(record), known.replica.backend, outdated=outdated), None


def _changed(
    child: Resource, known: _Bound | None, decision: Decision, record: Record
) -> tuple[CurrentReplica, Repair | None]:
    """Return a replica with another spec than was admitted; None is one that cannot be read. The record decides."""
    held = _held(record)
    repair = replica_repair.as_admitted(child, cluster_of(child), decision, record)
    if repair.written is not None:
        return _current(child, held, repair.written.backend, outdated=False), repair
    if known is not None and _is_ours(known.replica, decision):
        return _current(child, held, known.replica.backend, outdated=False), None
    if record.workload:
        outdated = replica_repair.is_outdated(child, cluster_of(child), decision, record)
    else:
        outdated = known is not None  # an earlier version recorded no digest: what can be read decides
    # A backend that somebody else wrote is no reason to move.
    return _current(child, held, "", outdated=outdated), repair


def _is_ours(written: Replica, decision: Decision) -> bool:
    """Return whether the deployment wrote this, which the cluster has not admitted yet. It changes no backend."""
    return written.backend == decision.backend and binding.runs_same(written, decision.workload)


def _unrecorded(
    child: Resource, known: _Bound, decision: Decision, cluster: Cluster | None
) -> tuple[CurrentReplica, Repair | None]:
    """Return a replica of which its cluster has no record.

    One that runs nevertheless was admitted a moment ago, or its cluster cannot be read, or somebody wrote that it runs.
    Its spec may be anybody's, so it starts no move and ends none.
    """
    if replica_status.is_bound(child):
        key = names.qualified(decision.workload.namespace, str(child["metadata"]["name"]))
        # Versions that kept no records admitted by name.
        by_name = cluster is not None and key in cluster.admitted
        outdated = by_name and not binding.runs_same(known.replica, decision.workload)
        found = _current(child, known.holdings, known.replica.backend, outdated=outdated)
        return dataclasses.replace(found, doubted=not by_name), None
    repair = replica_repair.as_proposed(child, cluster_of(child), decision, known.holdings)
    if repair is None or repair.written is None:
        outdated = not binding.runs_same(known.replica, decision.workload)
        return _current(child, known.holdings, known.replica.backend, outdated=outdated), None
    is_the_same = replica.fingerprint(repair.written) == known.digest
    found = _current(child, demand.held(repair.written), repair.written.backend, outdated=False)
    return found, None if is_the_same else repair


def _held(record: Record) -> tuple[Holding, ...]:
    """Return what counts for a replica, in the form of one holding for each role."""
    return record.held if len(record.held) == len(record.holdings) else record.holdings


def _current(child: Resource, holdings: tuple[Holding, ...], backend: str, *, outdated: bool) -> CurrentReplica:
    root = Field(child)
    return CurrentReplica(
        name=str(child["metadata"]["name"]),
        cluster=cluster_of(child),
        backend=backend,
        holdings=holdings,
        created=seen.text(seen.at(child, "metadata", "creationTimestamp")),
        ready=serves(child),
        bound=replica_status.is_bound(child),
        outdated=outdated,
        replaces=root.at("metadata", "annotations", names.ANNOTATION_REPLACES).optional(),
        makes_room=root.at("metadata", "annotations", names.ANNOTATION_MAKES_ROOM).optional() == TRUE,
        asks=root.at("metadata", "annotations", names.ANNOTATION_ASKS).optional() == TRUE,
    )


def _places(child: Resource) -> Iterator[Holding]:
    """Yield the pools that an unreadable replica names. The amounts are unknown."""
    for role, place in workloads.roles_in(Field(child).at("spec")):
        if place.is_set:
            yield Holding(role, place.at("pool").text(), 0, PodShape())


def _bound(child: Resource) -> _Bound:
    try:
        found = replica.decode(child)
        return _Bound(found, demand.held(found), replica.fingerprint(found))
    except InvalidInput as error:
        raise _unreadable(child, error) from None


def _unreadable(child: Resource, error: InvalidInput) -> InvalidInput:
    name = child["metadata"]["name"]
    said = f'ModelReplica "{name}" of this deployment cannot be read ({error})'
    return InvalidInput(f"{said}; restore its spec, or delete it to have it placed again")
