"""Corrections of misspelt names in documents, each rehearsed before it is named.

The name of a class, a cluster or an attribute may not exist while a similar one does. No count and no label helps then,
so the matcher knows no change. For a label that no cluster has it knows one, but a similar label is more likely meant.
Each correction is made in a fork of the world, which the functions settle. It is named only if fewer replicas then lack
a place.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from modelplane import names
from modelplane.api import inference_class, inference_cluster, workload
from modelplane.placement.decision import Closest
from modelplane_cli.planning import amendments
from modelplane_cli.planning.amendments import Amendment, Documents
from modelplane_cli.planning.patches import Operation, patched
from modelplane_cli.planning.plan import DeploymentRow, Plan
from modelplane_cli.planning.rehearsal import Rehearsal
from modelplane_cli.planning.replicas import Deployment
from modelplane_cli.simulator.store import Key, Store

Json: TypeAlias = Any
Path: TypeAlias = tuple[str | int, ...]

TRIED_MAX = 8
"""Limit of the corrections that are rehearsed."""
DEPLOYMENTS_MAX = 4
"""Limit of the deployments for which corrections are rehearsed; one mistake is often the cause of all."""
_ALIKE = 0.6
_MEMBER = re.compile(r'\[\s*"[^"]*"\s*\]\s*\.\s*([A-Za-z_][A-Za-z0-9_]*)')


@dataclass(frozen=True, slots=True)
class Correction:
    """The `value` that replaces an unknown name at `path` of an object."""

    key: Key
    path: Path
    value: Json
    miss: str
    words: str
    cluster: str = ""
    pool: str = ""


def of(rehearsal: Rehearsal, deployment: Deployment, documents: Documents) -> tuple[Closest, Amendment] | None:
    """Return the first correction that gives a replica of the deployment a place, None if none does.

    Cost: a fork of the world settled for each that is tried.
    """
    missing = _missing(rehearsal.store, deployment)
    if not missing:
        return None
    before = {replica.id for replica in rehearsal.replicas().values()}
    for _, correction in zip(range(TRIED_MAX), _corrections(rehearsal.store, deployment), strict=False):
        operation = Operation(correction.key, "replace", correction.path, correction.value)
        fork = rehearsal.fork()
        fork.store.put(patched(fork.store.get(correction.key) or {}, operation))
        act = fork.settle()
        if _missing(fork.store, deployment) >= missing:
            continue
        placed = [
            replica for id_, replica in act.after.items() if id_ not in before and replica.deployment == deployment
        ]
        cluster = correction.cluster or next((replica.cluster for replica in placed), "")
        pool = correction.pool or next((role.pool for replica in placed[:1] for role in replica.roles), "")
        return Closest(cluster, pool, (correction.miss,), correction.words, ()), _amendment(operation, documents)
    return None


def corrected(rehearsal: Rehearsal, plan: Plan, documents: Documents | None = None) -> Plan:
    """Return the plan with a correction as the closest miss of deployments that need one; without `documents` of what
    now stands in the world.
    """
    written = amendments.authored(rehearsal.store) if documents is None else documents
    rehearsed = 0
    rows: list[DeploymentRow] = []
    for row in plan.deployments:
        missing = row.unschedulable
        if missing is None or rehearsed == DEPLOYMENTS_MAX or not _is_wanting(rehearsal.store, row):
            rows.append(row)
            continue
        rehearsed += 1
        found = of(rehearsal, row.id, written)
        closest = missing.closest if found is None else amendments.encoded(*found)
        rows.append(replace(row, unschedulable=replace(missing, closest=closest)))
    return replace(plan, deployments=tuple(rows))


def _is_wanting(store: Store, row: DeploymentRow) -> bool:
    """Return whether nothing is known that helps, or only a label which no cluster has, and something reads alike."""
    is_helpless = row.unschedulable is not None and row.unschedulable.closest is None
    return is_strange(store, row.id) or (is_helpless and next(_corrections(store, row.id), None) is not None)


def is_strange(store: Store, deployment: Deployment) -> bool:
    """Return whether a deployment selects a label that no cluster has, and a similar label exists."""
    return next(_label_keys(store, deployment), None) is not None


def _amendment(operation: Operation, documents: Documents) -> Amendment:
    key = operation.key
    if key in documents:
        return Amendment((operation,), ())
    shown = names.qualified(key.namespace, key.name) if key.namespace else key.name
    return Amendment((), (f"{key.kind} {shown} is not among the documents, or another object composes it",))


def _missing(store: Store, deployment: Deployment) -> int:
    resource = store.get(deployment.key) or {}
    wanted = (resource.get("spec") or {}).get("replicas", 1)
    return int((resource.get("status") or {}).get("unscheduledReplicas", wanted))


def _corrections(store: Store, deployment: Deployment) -> Iterator[Correction]:
    yield from _cluster_names(store, deployment)
    yield from _label_keys(store, deployment)
    yield from _class_names(store)
    yield from _attributes(store, deployment)


def _near(word: str, known: Iterable[str]) -> str | None:
    """Return the name that is most similar to an unknown word."""
    every = sorted(known)
    return None if word in every else next(iter(difflib.get_close_matches(word, every, n=1, cutoff=_ALIKE)), None)


def _class_names(store: Store) -> Iterator[Correction]:
    known = [key.name for key in store.of_kind(names.GROUP, inference_class.KIND)]
    for key in store.of_kind(names.GROUP, inference_cluster.KIND):
        for position, pool in enumerate(((store.get(key) or {}).get("spec") or {}).get("nodePools") or ()):
            was = str(pool.get("className"))
            near = _near(was, known)
            if near is not None:
                called = str(pool.get("name"))
                yield Correction(
                    key,
                    ("spec", "nodePools", position, "className"),
                    near,
                    miss=f"InferenceClass {was} of pool {called} does not exist",
                    words=f"pool {called} were of class {near}, which exists",
                    cluster=key.name,
                    pool=called,
                )


def _cluster_selector(store: Store, deployment: Deployment) -> Json:
    return ((store.get(deployment.key) or {}).get("spec") or {}).get("clusterSelector") or {}


def _cluster_names(store: Store, deployment: Deployment) -> Iterator[Correction]:
    known = [key.name for key in store.of_kind(names.GROUP, inference_cluster.KIND)]
    selector = _cluster_selector(store, deployment)
    for path, was in _named(selector):
        near = _near(was, known)
        if near is not None:
            yield Correction(
                deployment.key,
                ("spec", "clusterSelector", *path),
                near,
                miss=f"there is no InferenceCluster {was}",
                words=f"clusterSelector asked for the cluster {near}, which exists",
                cluster=near,
            )


def _label_keys(store: Store, deployment: Deployment) -> Iterator[Correction]:
    """Yield the labels by which a deployment selects clusters, called as one that clusters have."""
    clusters = [store.get(key) or {"metadata": {}} for key in store.of_kind(names.GROUP, inference_cluster.KIND)]
    known = {names.LABEL_CLUSTER, *(str(name) for one in clusters for name in one["metadata"].get("labels") or {})}
    selector = _cluster_selector(store, deployment)
    labels = selector.get("matchLabels") or {}
    for was in sorted(labels):
        near = _near(str(was), known)
        if near is not None and near not in labels:
            renamed = {near if name == was else name: value for name, value in labels.items()}
            yield _label_key(deployment, ("matchLabels",), renamed, str(was), near)
    for number, expression in enumerate(selector.get("matchExpressions") or ()):
        was, near = str(expression.get("key")), _near(str(expression.get("key")), known)
        if near is not None:
            yield _label_key(deployment, ("matchExpressions", number, "key"), near, was, near)


def _label_key(deployment: Deployment, path: Path, value: Json, was: str, near: str) -> Correction:
    return Correction(
        deployment.key,
        ("spec", "clusterSelector", *path),
        value,
        miss=f"no InferenceCluster has the label {was}",
        words=f"clusterSelector asked for the label {near}, which clusters have",
    )


def _named(selector: Json) -> Iterator[tuple[Path, str]]:
    """Yield each place of a cluster selector where a cluster is asked for by name."""
    labels = selector.get("matchLabels") or {}
    if names.LABEL_CLUSTER in labels:
        yield ("matchLabels", names.LABEL_CLUSTER), str(labels[names.LABEL_CLUSTER])
    for number, expression in enumerate(selector.get("matchExpressions") or ()):
        if expression.get("key") == names.LABEL_CLUSTER and expression.get("operator") == "In":
            for position, value in enumerate(expression.get("values") or ()):
                yield ("matchExpressions", number, "values", position), str(value)


def _attributes(store: Store, deployment: Deployment) -> Iterator[Correction]:
    """Yield the selectors in which a member that no device has is written as the one that is most like it.

    Whether the text still means something is for the rehearsal to say, as with every other text of an author.
    """
    known = _members(store)
    spec = (store.get(deployment.key) or {}).get("spec") or {}
    for field in workload.selectors(spec):
        text = field.text("")
        for found in _MEMBER.finditer(text):
            near = _near(found[1], known)
            if near is not None:
                made = text[: found.start(1)] + near + text[found.end(1) :]
                yield Correction(
                    deployment.key,
                    field.path,
                    made,
                    miss=f"no device has {found[1]}",
                    words=f"the selector were {made}",
                )


def _members(store: Store) -> set[str]:
    """Return the names of all attributes and capacities of devices, without their domains."""
    classes = (store.get(key) or {} for key in store.of_kind(names.GROUP, inference_class.KIND))
    devices = (device for one in classes for device in (one.get("spec") or {}).get("devices") or ())
    return {
        str(name).rpartition("/")[2]
        for device in devices
        for part in ("attributes", "capacity")
        for name in device.get(part) or {}
    }
