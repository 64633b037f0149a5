"""The decision about one replica that its cluster has published: whether the replica may run, and why not."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from modelplane import names
from modelplane.api import admissions, inference_cluster, replica_status
from modelplane.api import replica as replicas
from modelplane.api.fields import Field
from modelplane.errors import InvalidInput
from modelplane.render.progress import Known
from modelplane.workload.model import Replica
from modelplane_functions import admissible
from modelplane_functions.exchange import (
    Observed,
    Resource,
)
from modelplane_functions.memory.resources import recall

CLUSTER = "cluster"


@dataclass(frozen=True, slots=True)
class Verdict:
    """The cluster's decision about the replica, with its reason.

    `renders` is true when the replica may run with its current spec. Otherwise its existing objects are held because of
    `holds`, and no object is created.
    """

    known: Known
    reason: str
    message: str
    renders: bool = False
    holds: str = ""


@dataclass(frozen=True, slots=True)
class ReplicaCluster:
    """The replica's cluster. Without `resource` it cannot be used; `absence` and `remedy` say why and what to do."""

    resource: Resource | None
    reason: str = ""
    absence: str = ""
    remedy: str = ""


def cluster(observed: Observed, replica: Replica) -> ReplicaCluster:
    """Return the replica's cluster. One that cannot be read is reported and does not refuse the replica."""
    resource = next(iter(observed.required[CLUSTER]), None)
    if resource is None:
        absence = f"InferenceCluster {replica.cluster} does not exist"
        remedy = "create it, or let the deployment place the replica on another cluster"
        return ReplicaCluster(None, "ClusterMissing", absence, remedy)
    why = recall(resource, "unreadable", partial(_unreadable, resource))
    if why:
        absence = f"InferenceCluster {replica.cluster} cannot be read ({why})"
        return ReplicaCluster(None, "ClusterUnreadable", absence, "correct that field")
    return ReplicaCluster(resource)


def _unreadable(resource: Resource) -> str:
    """Return why the cluster cannot be read, empty when it can."""
    status = Field(resource).at("status")
    try:
        admissible.check_other(inference_cluster.KIND, resource)
        inference_cluster.decode_facts(resource)
        inference_cluster.decode_gateway(status.at("gateway"))
        inference_cluster.decode_provider_config(status)
        status.at("admitted").items()
        for told in ("refused", "pending"):
            replica_status.answer(status.at(told), "")
    except InvalidInput as error:
        return str(error)
    return ""


def of(observed: Observed, replica: Replica, cluster: ReplicaCluster) -> Verdict:
    """Return whether the replica may run: its cluster has admitted it, or it has been rendered before.

    An admission covers one object with one spec. It does not cover a later object with the same name, or a later
    spec. A cluster of a version that kept no records admits by name.
    """
    key = names.qualified(replica.namespace, replica.name)
    status = Field(cluster.resource or {}).at("status")
    if any(entry.value == key for entry in status.at("admitted").items()):
        record = admissions.find(status, key)
        uid = admissions.uid_of(observed.composite)
        if record is None or (record.uid, record.digest) == (uid, fingerprint(observed, replica)):
            return Verdict(Known.YES, "Admitted", f"cluster {replica.cluster} has admitted the replica", renders=True)
        if record.uid == uid:
            return _edited(observed, replica, key, status)
    why = _why_not(replica, key, cluster, status)
    if observed.children:
        message = f"the replica keeps running, although {why.message}"
        return Verdict(Known.YES, "Bound", message, holds=why.message)
    return why


def fingerprint(observed: Observed, replica: Replica) -> str:
    """Return the digest of the replica's spec that its cluster records. Cost: once per spec."""
    return recall(observed.spec, "fingerprint", partial(replicas.fingerprint, replica))


def _edited(observed: Observed, replica: Replica, key: str, status: Field) -> Verdict:
    """Return the decision about a replica whose spec differs from the admitted one."""
    kept = "the admitted workload is kept" if observed.children else "nothing is rendered"
    holds = f"cluster {replica.cluster} has not admitted its current spec"
    since = f"the replica was changed after cluster {replica.cluster} admitted it, and {kept}"
    for told, known in (("refused", Known.NO), ("pending", Known.UNKNOWN)):
        answer = replica_status.answer(status.at(told), key)
        if answer is not None:
            return Verdict(known, answer.reason, f"{since}: {answer.message}", holds=holds)
    message = f"{since}; waiting for the cluster to admit the change"
    return Verdict(Known.UNKNOWN, "WaitingForAdmission", message, holds=holds)


def _why_not(replica: Replica, key: str, cluster: ReplicaCluster, status: Field) -> Verdict:
    if cluster.resource is None:
        return Verdict(Known.UNKNOWN, cluster.reason, f"{cluster.absence}; {cluster.remedy}")
    refused = replica_status.answer(status.at("refused"), key)
    if refused is not None:
        message = f"cluster {replica.cluster} does not admit the replica: {refused.message}"
        return Verdict(Known.NO, refused.reason, message)
    message = f"waiting for cluster {replica.cluster} to admit the replica"
    pending = replica_status.answer(status.at("pending"), key)
    waits = "" if pending is None else f": {pending.message}"
    return Verdict(Known.UNKNOWN, "WaitingForAdmission", message + waits)
