"""Nodes with the same hardware as classes, and the pools that clouds and tools make of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from modelplane.devices.model import CounterSet, Device, NodeClass
from modelplane.inventory import naming, pool_labels
from modelplane.inventory.model import Node, NodeTaint
from modelplane.names import LABEL_POOL

_NEARLY: Final = 20
"""Nodes of one class differ by less than a twentieth in CPU and in memory; the class has the least of them."""
NODES_SHOWN: Final = 3
_PASSING: Final = (
    "node.kubernetes.io/",
    "node.cloudprovider.kubernetes.io/",
    "node.cilium.io/",
    "DeletionCandidate",
    "ToBeDeleted",
)
"""Beginnings of keys of taints that say something of a moment and not of a node."""
_TOLERATED: Final = frozenset({"nvidia.com/gpu", "amd.com/gpu"})

Content: TypeAlias = tuple[tuple[Device, ...], tuple[CounterSet, ...]]
"""The devices of one node, and the counter sets that they draw from."""


@dataclass(frozen=True, slots=True)
class FoundPool:
    """A pool: its class, its nodes, the number of those that count, their labels (None is the default) and taints."""

    name: str
    class_name: str
    nodes: tuple[str, ...]
    counted: int
    labels: tuple[tuple[str, str], ...] | None
    taints: tuple[NodeTaint, ...]


def grouped(
    found: Mapping[str, Content], nodes: Mapping[str, Node], said: list[str]
) -> tuple[tuple[NodeClass, ...], tuple[FoundPool, ...]]:
    """Return the classes and pools of the nodes in `found`, by their content. Lines about pools are added to `said`.

    `nodes` are all nodes of the cluster: the labels of a pool must select none of the others.
    """
    by_content: dict[Content, list[Node]] = {}
    for name, content in sorted(found.items()):
        by_content.setdefault(content, []).append(nodes[name])
    sizes = [
        (content, group)
        for content, members in sorted(by_content.items(), key=lambda one: repr(one[0]))
        for group in _sized(members)
    ]
    names = naming.unique(
        [naming.class_name(content[0], _counts(content)) for content, _ in sizes],
        [repr((content, _shape(group))) for content, group in sizes],
    )
    classes = tuple(_class(name, content, group) for name, (content, group) in zip(names, sizes, strict=True))
    pools = [
        (name, key, members)
        for name, (_, group) in zip(names, sizes, strict=True)
        for key, members in sorted(_by_pool(group).items(), key=lambda one: repr(one[0]))
    ]
    titles = naming.unique(
        [naming.slug(value) or class_name for class_name, (_, value, _), _ in pools],
        [repr((class_name, key)) for class_name, key, _ in pools],
    )
    made = [
        _pool((title, class_name), members, tuple(nodes.values()), said)
        for title, (class_name, _, members) in zip(titles, pools, strict=True)
    ]
    return classes, tuple(sorted(made, key=lambda one: one.name))


def _class(name: str, content: Content, group: Sequence[Node]) -> NodeClass:
    labelled = zip(content[0], naming.device_names(content[0]), strict=True)
    return NodeClass(
        name=name,
        devices=tuple(replace(device, name=title) for device, title in labelled),
        cpu_millis=_least(node.cpu_millis for node in group),
        memory_bytes=_least(node.memory_bytes for node in group),
        counter_sets=content[1],
    )


def _by_pool(group: Sequence[Node]) -> dict[tuple[str, str, tuple[NodeTaint, ...]], list[Node]]:
    found: dict[tuple[str, str, tuple[NodeTaint, ...]], list[Node]] = {}
    for node in sorted(group, key=lambda one: one.name):
        found.setdefault((*pool_labels.pool_name(node), _lasting(node)), []).append(node)
    return found


def _counts(content: Content) -> list[int]:
    units = {one.name: one.count for one in content[1]}
    return [units[device.draws[0].counter_set] if device.draws else device.count for device in content[0]]


def _shape(group: Sequence[Node]) -> str:
    """Return what tells classes with equal devices apart, rounded so that a node more does not change it."""
    types = sorted({node.labels.get(pool_labels.INSTANCE_TYPE, "") for node in group})
    if any(types):
        return ",".join(types)
    memory = _least(node.memory_bytes for node in group) or 0
    return f"{memory >> 34},{(_least(node.cpu_millis for node in group) or 0) // 4000}"


def _least(amounts: Iterable[int | None]) -> int | None:
    known = [one for one in amounts if one is not None]
    return min(known, default=None)


def _sized(nodes: Sequence[Node]) -> list[list[Node]]:
    """Return the nodes in groups of nearly equal CPU and memory, the smallest first."""
    groups = _near(nodes, lambda node: node.cpu_millis or 0)
    return [each for group in groups for each in _near(group, lambda node: node.memory_bytes or 0)]


def _near(nodes: Sequence[Node], size: Callable[[Node], int]) -> list[list[Node]]:
    groups: list[list[Node]] = []
    for node in sorted(nodes, key=lambda one: (size(one), one.name)):
        least = size(groups[-1][0]) if groups else 0
        if groups and (size(node) - least) * _NEARLY <= least:
            groups[-1].append(node)
        else:
            groups.append([node])
    return groups


def _lasting(node: Node) -> tuple[NodeTaint, ...]:
    lasting = (one for one in node.taints if not one.key.startswith(_PASSING) and one.key not in _TOLERATED)
    return tuple(sorted(lasting, key=str))


def _pool(named: tuple[str, str], members: Sequence[Node], every: Sequence[Node], said: list[str]) -> FoundPool:
    """Return the pool of a (name, class)."""
    name, class_name = named
    labels = pool_labels.selecting(members, every)
    away = [node for node in members if node.is_cordoned or not node.is_ready]
    if away:
        why = some([f"{node.name} is {'cordoned' if node.is_cordoned else 'not ready'}" for node in away])
        said.append(
            f"pool {name}: {len(away)} of {len(members)} nodes not counted: {why}; write nodeCount: {len(members)} "
            "when they are back"
        )
    taints = _lasting(members[0])
    if taints:
        listed = ", ".join(map(str, taints))
        said.append(
            f"pool {name}: its nodes have the taint {listed}, which replicas will tolerate; remove the pool if these "
            "nodes are for others"
        )
    if labels is None:
        nodes = " ".join(node.name for node in members[:NODES_SHOWN]) + (" ..." if len(members) > NODES_SHOWN else "")
        said.append(
            f"pool {name}: no label tells its nodes from others; label them: "
            f"kubectl label node {nodes} {LABEL_POOL}={name}"
        )
    is_default = labels is None or labels == {LABEL_POOL: name}
    return FoundPool(
        name=name,
        class_name=class_name,
        nodes=tuple(node.name for node in members),
        counted=len(members) - len(away),
        labels=None if is_default else tuple(sorted((labels or {}).items())),
        taints=taints,
    )


def some(names: Sequence[str]) -> str:
    """Return the first of the names, with the number of the others."""
    more = len(names) - NODES_SHOWN
    return ", ".join(names[:NODES_SHOWN]) + (f", and {more} more" if more > 0 else "")
