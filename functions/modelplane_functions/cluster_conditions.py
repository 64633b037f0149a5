"""Conditions and events of an InferenceCluster that follow from its ledger and from the software on it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from modelplane import seen
from modelplane.api import inference_cluster
from modelplane.api.fields import Field
from modelplane.placement.decision import Admission
from modelplane.render.schedulers import selection as schedulers
from modelplane.workload.site import Installed
from modelplane_functions import allowed_namespaces, claims, cluster_stack, installations
from modelplane_functions.cluster_ledger import Ledger
from modelplane_functions.exchange import Condition, Event, Observed, Severity, Truth


def stack_ready(observed: Observed, backends: tuple[Installed, ...], told: Condition | None) -> Condition:
    """Return the condition about the software on the cluster: by its ServingStack (`told`), else by what it serves."""
    scheduler, wish = inference_cluster.decode_scheduler(Field(observed.composite)), ""
    if not schedulers.is_offered(scheduler):
        wish = f"spec.scheduler {scheduler} is not supported yet, so no new replica is placed here; "
    if told is not None and (cluster_stack.KEY in observed.children or told.status is not Truth.UNKNOWN):
        return replace(told, message=wish + told.message)
    if lacking := installations.lacking(backends):
        return Condition("StackReady", Truth.FALSE, "BackendNotInstalled", lacking)
    if told is not None:
        return replace(told, message=wish + told.message)
    return Condition(
        "StackReady",
        Truth.UNKNOWN,
        "NotManaged",
        f"{wish}KServe, LeaderWorkerSet, the Gateway controller and the DRA drivers must already be installed on the "
        "cluster, or be installed by spec.stack.install",
    )


def namespaces_allowed(observed: Observed, ledger: Ledger) -> Iterator[Condition]:
    """Yield whether all who have replicas on the cluster may place them there, if not everybody may."""
    holders = (key.partition("/")[0] for key in ledger.records)
    return allowed_namespaces.condition(observed, ledger.standing.allowed, holders)


def capacity_known(observed: Observed, ledger: Ledger) -> Condition:
    """Return the condition about the ledger: counted in full, or the faults, and the pods that are waited for."""
    known, standing = _counted(ledger), ledger.standing
    told = standing.endings.told(observed.name, standing.ending, standing.changed, standing.looked_for)
    return replace(known, message=known.message + told)


def _counted(ledger: Ledger) -> Condition:
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


def events(observed: Observed, ledger: Ledger) -> Iterator[Event]:
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
