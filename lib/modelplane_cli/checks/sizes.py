"""Warnings about models that cannot fit: of documents on the classes of their fleet, of replicas on their pools."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from modelplane import names, seen, words
from modelplane.api import inference_class, inference_cluster, llm_inference, replica, workload
from modelplane.devices import memory
from modelplane.devices.model import Device, NodeClass
from modelplane.errors import ModelplaneError
from modelplane.render import fits
from modelplane.render.fits import Judged
from modelplane.sizing import verdict
from modelplane.sizing.fit import Fitting, Hardware
from modelplane.sizing.verdict import Start
from modelplane.workload.model import Role, Workload
from modelplane_cli.checks.acceptance import Checked
from modelplane_cli.documents.reading import WARNING, Document, Problem
from modelplane_cli.simulator.store import Key, controller_of

Json: TypeAlias = Any
Objects: TypeAlias = Mapping[Key, Mapping[str, Json]]

_DEPLOYMENT, _SHORT = "ModelDeployment", "LLMInference"
_CLASSES_SHOWN = 5


def warn(checked: Checked, placed: Objects | None = None) -> list[Problem]:
    """Return a warning for each role with a known model that surely does not fit, at the field of its topology.

    `placed` are the ModelReplicas of a plan. The replicas of a deployment are judged on their pools, and a deployment
    without a replica on all classes of the fleet that can serve it.
    """
    classes = tuple(_classes(checked.objects))
    replicas = _by_deployment(placed or {})
    found: list[Problem] = []
    for key, resource in checked.objects.items():
        if key.group != names.GROUP or key.kind not in (_DEPLOYMENT, _SHORT) or controller_of(resource) is not None:
            continue
        standing = replicas.get((key.namespace, key.name), [])
        wanted = None if standing else _workload(key, resource)
        if standing:
            found += _of_replicas(standing, checked.sources[key], classes)
        elif wanted is not None:
            found += _of_classes(wanted, checked.sources[key], classes)
    return list(dict.fromkeys(found))


def _classes(objects: Objects) -> Iterator[NodeClass]:
    """Yield the classes of the pools; without any cluster all classes."""
    clusters = [one for key, one in objects.items() if (key.group, key.kind) == (names.GROUP, inference_cluster.KIND)]
    used = {
        seen.text(pool.get("className")) for one in clusters for pool in seen.objects(seen.at(one, "spec", "nodePools"))
    }
    for key, resource in sorted(objects.items()):
        if key.kind != inference_class.KIND or key.group != names.GROUP or (clusters and key.name not in used):
            continue
        try:
            yield inference_class.decode(resource)
        except ModelplaneError:
            continue  # said by the checks, with its place


def _by_deployment(placed: Objects) -> dict[tuple[str, str], list[Mapping[str, Json]]]:
    found: dict[tuple[str, str], list[Mapping[str, Json]]] = {}
    for key, resource in sorted(placed.items()):
        owner = seen.text(seen.at(resource, "spec", "deploymentRef", "name"))
        found.setdefault((key.namespace, owner), []).append(resource)
    return found


def _workload(key: Key, resource: Mapping[str, Json]) -> Workload | None:
    """Return the workload of a deployment, or of the one that an LLMInference composes; None where it is refused."""
    try:
        if key.kind == _SHORT:
            wanted = llm_inference.decode(resource)
            if wanted.gpu is None:
                return None  # its function derives a size that fits, or refuses it
            resource = llm_inference.encode_unsized(wanted)
        return workload.decode(resource.get("spec") or {}, namespace=key.namespace, deployment=key.name)
    except ModelplaneError:
        return None


def _of_replicas(
    standing: Sequence[Mapping[str, Json]], document: Document, classes: tuple[NodeClass, ...]
) -> Iterator[Problem]:
    """Yield one warning for each pool on which a role does not fit."""
    told: set[tuple[Role, str, str]] = set()
    for resource in standing:
        try:
            bound = replica.decode(resource)
        except ModelplaneError:
            continue
        pools = {one.spec.role: one.pool for one in bound.roles}
        for judged in fits.of_replica(bound):
            place = (judged.role, bound.cluster, pools[judged.role])
            if judged.verdict.holds is False and place not in told:
                told.add(place)
                where = f"it is placed on pool {pools[judged.role]} of cluster {bound.cluster}"
                yield _problem(document, judged, where, classes, ())


def _of_classes(wanted: Workload, document: Document, classes: tuple[NodeClass, ...]) -> Iterator[Problem]:
    """Yield a warning for each role that fits on none of the classes that can serve it."""
    judged = [(node_class.name, one) for node_class in classes for one in fits.of_class(wanted, node_class)]
    for role in wanted.roles:
        found = [(name, one) for name, one in judged if one.role is role.role]
        if not found or any(one.verdict.holds is not False for _, one in found):
            continue
        nearest = min((one for _, one in found), key=lambda one: one.verdict.missing)
        shown = words.first([name for name, _ in found], _CLASSES_SHOWN)
        where = f"it fits on no class that its nodeSelector matches ({shown})"
        yield _problem(document, nearest, where, classes, tuple((name, one.devices) for name, one in found))


def _problem(
    document: Document,
    judged: Judged,
    where: str,
    classes: Iterable[NodeClass],
    matched: tuple[tuple[str, tuple[Device, ...]], ...],
) -> Problem:
    flag = ""
    if judged.verdict.instead:
        flag = f"; write {judged.verdict.instead} or less"
    message = f"{judged.verdict.message}; {where}{flag}{_instead(judged.start, classes, matched)}"
    return document.problem(message, _path(document, judged.role), WARNING)


def _path(document: Document, role: Role) -> tuple[str | int, ...]:
    if document.data.get("kind") == _SHORT:
        has_size = seen.at(document.data, "spec", "gpu") is not None
        return ("spec", "gpu") if has_size else ("spec", "model")
    return (*role.path, "workers", "topology")


def _instead(start: Start, classes: Iterable[NodeClass], matched: tuple[tuple[str, tuple[Device, ...]], ...]) -> str:
    """Return the smallest topology that holds the model: on the classes that are matched, else on one of the fleet."""
    every = tuple((one.name, one.devices) for one in classes)
    for offers in (matched, every):
        found = [
            (fitting, name)
            for name, devices in offers
            for device in devices
            if (fitting := _suited(start, device)) is not None
        ]
        if found:
            best, name = min(found, key=lambda entry: _order(entry[0], entry[1]))
            return f"; the smallest that holds it is {_sizes(best)} on {name}"
    return "; no topology on the classes of the fleet holds it" if every else ""


def _suited(start: Start, device: Device) -> Fitting | None:
    amount = memory.published(device)
    if not amount or not device.count or device.is_shared:
        return None
    return verdict.suited(start, Hardware(amount, device.count, "profile" in dict(device.attributes)))


def _order(one: Fitting, name: str) -> tuple[int, int, str]:
    return (one.topology.devices, one.topology.nodes, name)


def _sizes(one: Fitting) -> str:
    wanted = one.topology
    words = [f"tensor {wanted.tensor}"]
    words += [f"pipeline {wanted.pipeline}"] if wanted.pipeline > 1 else []
    words += [f"data {wanted.data} with dataLocal {wanted.data_local} and expert"] if wanted.expert else []
    return " x ".join(words)
