"""Classes that were found on a cluster beside those that are written already: which are used again, and which lie."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from modelplane.api import class_document, inference_class, pool_nodes
from modelplane.api.fields import Field
from modelplane.devices.model import NodeClass
from modelplane.errors import InvalidInput
from modelplane.inventory import comparison, naming
from modelplane.inventory.grouping import FoundPool
from modelplane.inventory.model import Node
from modelplane.inventory.survey import Survey
from modelplane.names import LABEL_POOL

Json: TypeAlias = Any


@dataclass(frozen=True, slots=True)
class Found:
    """The survey with the classes that are to be written, the names of those used again, and what was noticed.

    `lies` are lines about classes that are written already and declare what the devices do not publish.
    """

    survey: Survey
    reused: frozenset[str]
    lies: tuple[str, ...]


def beside(
    found: Survey, written: Sequence[NodeClass], cluster: Mapping[str, Json] | None, nodes: Sequence[Node]
) -> Found:
    """Return the survey beside the classes in `written` and the InferenceCluster of that name, if there is one."""
    classes: list[NodeClass] = []
    renamed: dict[str, str] = {}
    reused: set[str] = set()
    lies: list[str] = []
    notes = list(found.notes)
    taken = {one.name for one in written}
    for one in found.classes:
        try:
            counted = inference_class.decode(class_document.encode(one))
        except InvalidInput as error:
            notes.append(f"class {one.name} left out, with its pools: {error}")
            renamed[one.name] = ""
            continue
        same = [each for each in written if comparison.describes(each, counted)]
        if same:
            best = max(same, key=lambda each: (sum(len(device.attributes) for device in each.devices), each.name))
            renamed[one.name] = best.name
            reused.add(best.name)
            continue
        lies += _lies(found, one.name, counted, written, _declared(found, one.name, cluster, nodes))
        name = naming.beside(one.name, repr(one)) if one.name in taken else one.name
        renamed[one.name] = name
        classes.append(replace(one, name=name))
    pools = tuple(replace(one, class_name=renamed[one.class_name]) for one in found.pools if renamed[one.class_name])
    if cluster is not None:
        pools = _as_declared(pools, cluster, nodes)
        name = Field(cluster).at("metadata", "name").text()
        notes.append(
            f"InferenceCluster {name} is among the documents: a pool with the nodes of one that it declares keeps its "
            "name; its other fields are not repeated, so compare before you apply"
        )
    survey = replace(found, classes=tuple(classes), pools=pools, notes=tuple(notes))
    return Found(survey, frozenset(reused), tuple(dict.fromkeys(lies)))


def _as_declared(
    pools: Sequence[FoundPool], cluster: Mapping[str, Json], nodes: Sequence[Node]
) -> tuple[FoundPool, ...]:
    """Return the pools; one with the nodes of a declared pool has its name and labels, for replicas name their pool."""
    declared: dict[frozenset[str], tuple[str, dict[str, str]]] = {}
    for pool in Field(cluster).at("spec", "nodePools").items():
        selected = pool_nodes.selector(pool)
        mine = frozenset(node.name for node in nodes if selected.items() <= dict(node.labels).items())
        declared.setdefault(mine, (pool.at("name").text(), selected))
    made = []
    names = {name for name, _ in declared.values()}
    for one in pools:
        name, selected = declared.get(frozenset(one.nodes), ("", {}))
        if name:
            is_default = selected == {LABEL_POOL: name}
            made.append(replace(one, name=name, labels=None if is_default else tuple(sorted(selected.items()))))
        else:
            made.append(replace(one, name=naming.beside(one.name, repr(one.nodes))) if one.name in names else one)
    return tuple(sorted(made, key=lambda one: one.name))


def _lies(
    found: Survey, name: str, counted: NodeClass, written: Sequence[NodeClass], declared: frozenset[str]
) -> list[str]:
    """Return the lies of classes that were meant for these nodes, of the first node with each lie."""
    lines: dict[tuple[str, str], str] = {}
    for node in (node for pool in found.pools if pool.class_name == name for node in pool.nodes):
        published = found.published.get(node, ())
        for each in written if published else ():
            told = comparison.lies(each, published)
            if not told or not (each.name in (name, *declared) or comparison.is_meant(each, counted, told)):
                continue
            for lie in told:
                lines.setdefault((each.name, str(lie)), f"InferenceClass {each.name}: {lie} (node {node})")
    return [lines[key] for key in sorted(lines)]


def _declared(found: Survey, name: str, cluster: Mapping[str, Json] | None, nodes: Sequence[Node]) -> frozenset[str]:
    """Return the classes that the InferenceCluster declares for nodes of a class that was found."""
    mine = {node for pool in found.pools if pool.class_name == name for node in pool.nodes}
    labels = [node.labels for node in nodes if node.name in mine]
    names = set()
    for pool in Field(cluster or {}).at("spec", "nodePools").items():
        selected = pool_nodes.selector(pool)
        if any(selected.items() <= dict(each).items() for each in labels):
            names.add(pool.at("className").text())
    return frozenset(names)
