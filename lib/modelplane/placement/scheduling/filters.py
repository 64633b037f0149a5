"""Filters for clusters, which are applied before devices are matched."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import groupby
from typing import NamedTuple

from modelplane.labels import LabelSelector
from modelplane.names import LABEL_CLUSTER
from modelplane.placement.decision import Reason
from modelplane.placement.snapshot import (
    ANY_BACKEND,
    Cluster,
    Effect,
    Intent,
    Taint,
    Toleration,
    TolerationOperator,
)
from modelplane.workload import tenancy
from modelplane.workload.tenancy import Access, Tenants

_FORBIDDING = (Effect.NO_SCHEDULE, Effect.NO_EXECUTE)


class Refusal(NamedTuple):
    """A reason, its detail, and the text under which equal refusals are counted."""

    reason: Reason
    detail: str
    group: str


def refusal(cluster: Cluster, intent: Intent) -> Refusal | None:
    """Return the first refusal that does not depend on devices, None if there is none."""
    mismatch = None if cluster.unreadable else label_mismatch(cluster, intent.selector)
    if mismatch is not None:
        return Refusal(Reason.LABEL_MISMATCH, mismatch, "label mismatch")
    foreign = None if cluster.tenants is None else _foreign(cluster.tenants, intent)
    if foreign is not None:
        return foreign
    taint = untolerated(cluster.taints, intent.tolerations, _FORBIDDING) if cluster.taints else None
    if taint is not None:
        return Refusal(Reason.UNTOLERATED_TAINT, f"{taint}:{taint.effect}", f"untolerated taint {{{taint}}}")
    unready = _unready(cluster)
    if unready is not None:
        return unready
    if not cluster.address_known:
        return Refusal(Reason.NO_GATEWAY_ADDRESS, "status.gateway.address is not known yet", "no gateway address")
    unplaceable = scheduler_refusal(cluster, intent)
    if unplaceable is not None:
        return unplaceable
    if backend(cluster, intent) is None:
        wanted, offered = ", ".join(intent.backends) or "none", ", ".join(cluster.backends) or "none"
        return Refusal(
            Reason.BACKEND_UNAVAILABLE,
            f"it offers {offered}, the workload needs {wanted}",
            f"backend unavailable ({wanted})",
        )
    return _uninstalled(cluster, intent) or _uncached(cluster, intent)


def _foreign(tenants: Tenants, intent: Intent) -> Refusal | None:
    """Return the refusal of a cluster whose tenants the namespace is not, or is not known to be, among."""
    labels = None if intent.namespace_labels is None else dict(intent.namespace_labels)
    answer = tenancy.access(tenants, intent.namespace, labels)
    if answer is Access.ALLOWED:
        return None
    is_unknown, name = answer is Access.UNKNOWN, intent.namespace
    group = f"labels of Namespace {name} unknown" if is_unknown else f"namespace {name} not allowed"
    return Refusal(Reason.NAMESPACE_NOT_ALLOWED, tenancy.refusal(answer, name), group)


def _uncached(cluster: Cluster, intent: Intent) -> Refusal | None:
    """Return the refusal of a cluster without the cache that the workload requires."""
    cache = intent.cache
    if cache is not None and cache.required and cluster.name not in cache.ready_clusters:
        why = dict(cache.told).get(cluster.name)
        detail = f"ModelCache {cache.name} is not ready there" + (f": {why}" if why else "")
        return Refusal(Reason.CACHE_NOT_READY, detail, "model cache not ready")
    return None


def _uninstalled(cluster: Cluster, intent: Intent) -> Refusal | None:
    """Return the refusal of a cluster that is known not to serve what the backend needs for the workload."""
    for version, product in intent.needs if cluster.missing else ():
        if version in cluster.missing:
            detail = f"it does not serve {version}; install {product} or later there"
            return Refusal(Reason.BACKEND_NOT_INSTALLED, detail, f"backend not installed ({version})")
    return None


def scheduler_refusal(cluster: Cluster, intent: Intent) -> Refusal | None:
    """Return the refusal of a cluster whose scheduler cannot place the pods, None if it can.

    A pod without the labels of a queue would bypass the quota of the queue.
    """
    name = cluster.scheduler
    for offered, cannot in intent.schedulers:
        if offered == name:
            return (
                Refusal(Reason.BACKEND_UNAVAILABLE, cannot, f"scheduler {name} cannot place the pods")
                if cannot
                else None
            )
    detail = f"spec.scheduler is {name}, and no backend supports its queues yet"
    return Refusal(Reason.BACKEND_UNAVAILABLE, detail, f"scheduler {name} is not supported yet")


def _unready(cluster: Cluster) -> Refusal | None:
    if cluster.unreadable:
        return Refusal(Reason.CLUSTER_NOT_READY, f"it cannot be read: {cluster.unreadable}", "cluster cannot be read")
    if cluster.ambiguous:
        detail = "two InferenceClusters have this name; neither takes a replica until one is deleted"
        return Refusal(Reason.CLUSTER_NOT_READY, detail, "duplicate cluster name")
    if not cluster.ready:
        return Refusal(Reason.CLUSTER_NOT_READY, "its condition ClusterReady is not True", "cluster not ready")
    if not cluster.capacity_known:
        return Refusal(Reason.CLUSTER_NOT_READY, "it has not published its pools yet", "cluster not ready")
    return None


def backend(cluster: Cluster, intent: Intent) -> str | None:
    """Return the first backend of the cluster that can serve the workload, None if it has none."""
    if ANY_BACKEND in cluster.backends:
        return next(iter(intent.backends), None)
    for name in cluster.backends:
        if name in intent.backends:
            return name
    return None


def label_mismatch(cluster: Cluster, selector: LabelSelector) -> str | None:
    """Return the first term of the selector that the cluster's labels do not match, None if they match."""
    for key, want in selector.match_labels:
        have = label(cluster, key)
        if have != want:
            return f"{key} is {have if have is not None else 'absent'}, wants {want}"
    for expression in selector.match_expressions:
        have = label(cluster, expression.key)
        if not expression.matches(have):
            values = f" ({', '.join(expression.values)})" if expression.values else ""
            found = have if have is not None else "absent"
            return f"{expression.key} is {found}, wants {expression.operator}{values}"
    return None


def label(cluster: Cluster, key: str) -> str | None:
    """Return the value of a label. Every cluster has its name as the label `modelplane.ai/cluster`."""
    if key == LABEL_CLUSTER:
        return cluster.name
    return cluster.labels.get(key)


def untolerated(
    taints: Iterable[Taint], tolerations: tuple[Toleration, ...], effects: tuple[Effect, ...]
) -> Taint | None:
    """Return the first untolerated taint with one of the effects, by key, value and effect."""
    found = [taint for taint in taints if taint.effect in effects and not any(tolerates(t, taint) for t in tolerations)]
    return min(found, key=lambda taint: (taint.key, taint.value, taint.effect), default=None)


def tolerates(toleration: Toleration, taint: Taint) -> bool:
    """Return whether the toleration tolerates the taint.

    Source: Kubernetes core/v1 Toleration. An empty key is only valid with Exists and then tolerates every key.
    """
    if toleration.effect is not None and toleration.effect is not taint.effect:
        return False
    if toleration.operator is TolerationOperator.EXISTS:
        return toleration.key in ("", taint.key)
    return toleration.key == taint.key and toleration.value == taint.value


def disliked(cluster: Cluster, intent: Intent) -> int:
    """Return the number of untolerated PreferNoSchedule taints of the cluster."""
    return sum(
        taint.effect is Effect.PREFER_NO_SCHEDULE and not any(tolerates(t, taint) for t in intent.tolerations)
        for taint in cluster.taints
    )


def is_drained(cluster: Cluster, intent: Intent) -> Taint | None:
    """Return the untolerated NoExecute taint that moves replicas away, None when there is none."""
    return untolerated(cluster.taints, intent.tolerations, (Effect.NO_EXECUTE,))


def by_name(clusters: Iterable[Cluster]) -> Mapping[str, Cluster]:
    """Return the clusters by name, in name order. Clusters that share a name become one that takes no new replica."""
    ordered = sorted(clusters, key=lambda cluster: cluster.name)
    found = {cluster.name: cluster for cluster in ordered}
    if len(found) < len(ordered):
        for name, members in groupby(ordered, key=lambda cluster: cluster.name):
            twins = tuple(members)
            if len(twins) > 1:
                found[name] = _one_of(twins)
    return found


def _one_of(twins: tuple[Cluster, ...]) -> Cluster:
    """Return what stands for several clusters of one name, whatever the order they came in: what any admitted stays."""
    first = min(twins, key=_told)
    return replace(first, ambiguous=True, admitted=frozenset().union(*(twin.admitted for twin in twins)), refused={})


def _told(cluster: Cluster) -> str:
    """Return all that a cluster says as a text, the same in every process."""
    unordered = (sorted(cluster.labels.items()), sorted(cluster.admitted), sorted(cluster.refused.items(), key=str))
    return f"{replace(cluster, labels={}, admitted=frozenset(), refused={})!r} {unordered!r}"
