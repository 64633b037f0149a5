"""The nodes of a cluster's pools: their number, the labels that select them, and the pools that may have the same."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from modelplane import seen
from modelplane.api.fields import Field
from modelplane.names import LABEL_POOL
from modelplane.placement.snapshot import NodeCounts

Json: TypeAlias = Any

_UNPUBLISHED = Field(None)


def selector(pool: Field) -> dict[str, str]:
    """Return the labels of the pool's nodes; the default is the label with the pool's name."""
    written = pool.members().get("nodeSelector")
    if written is None:
        return _default(pool.text_at("name"))
    own = {key: str(value) for key, value in sorted(pool.at("nodeSelector").members().items())}
    return own or _default(pool.text_at("name"))


def counts(pool: Field, status: Field) -> NodeCounts:
    """Return the numbers of nodes of a pool; `status` is what was published of it, unset if nothing was.

    Of a pool whose cloud says how many nodes it will add, no more than these count.
    """
    nodes = status.at("nodes") if status.is_set else _UNPUBLISHED
    observed, growable = nodes.integer_at("observed", -1), nodes.integer_at("growable", -1)
    allocatable = nodes.integer_at("allocatable", -1)
    maximum = pool.integer_at("maxNodeCount", -1)
    if growable >= 0 and maximum >= 0:
        told = max(observed, 0) + growable
        maximum = told if allocatable < 0 else min(maximum, told)
    return NodeCounts(
        declared=pool.integer_at("nodeCount", pool.integer_at("minNodeCount", 0)),
        observed=observed if observed >= 0 else None,
        maximum=maximum if maximum >= 0 else None,
        allocatable=allocatable if allocatable >= 0 else None,
    )


def check_counted_once(spec: Field) -> None:
    """Raise InvalidInput for a pool that selects all nodes of another one: these would be counted twice.

    Selectors that only might have a node in common are believed; the nodes are not read.
    """
    entries = list(spec.at("nodePools").items())
    labels = [selector(entry).items() for entry in entries]
    if len(set().union(*labels)) == sum(map(len, labels)):
        return  # no two have a label in common
    with_label: dict[tuple[str, str], list[int]] = {}
    for index, selected in enumerate(labels):
        for label in selected:
            with_label.setdefault(label, []).append(index)
    for index, selected in enumerate(labels):
        narrower = (other for other in with_label[min(selected)] if other != index and selected <= labels[other])
        for other in narrower:
            first, second = sorted((index, other))
            raise (
                entries[second]
                .at("nodeSelector")
                .wrong(
                    f'pools "{entries[first].text_at("name")}" and "{entries[second].text_at("name")}" select the same '
                    f"nodes ({_written(selected)}), which would be counted twice; write labels that tell them apart"
                )
            )


def _written(labels: Iterable[tuple[str, str]]) -> str:
    return ", ".join(f"{key}={value}" for key, value in sorted(labels))


def published_selectors(status: Mapping[str, Json]) -> dict[str, dict[str, str]]:
    """Return the published node selectors of pools, those that are declared no longer included.

    A pool with the default has none. What cannot be read says nothing.
    """
    found: dict[str, dict[str, str]] = {}
    for entry in seen.objects(status.get("pools")):
        labels = entry.get("nodeSelector")
        if isinstance(labels, Mapping) and all(isinstance(value, str) for value in labels.values()):
            found[seen.text(entry.get("name"))] = dict(labels)
    return {name: labels for name, labels in found.items() if name and labels}


def published_heirs(status: Mapping[str, Json]) -> dict[str, tuple[str, ...]]:
    """Return the pools that were published to count what holds a pool which is not declared, by the name of that."""
    found = {seen.text(entry.get("name")): entry.get("countedOn") for entry in seen.objects(status.get("pools"))}
    return {name: tuple(filter(seen.text, heirs)) for name, heirs in found.items() if isinstance(heirs, list)}


def gaining(spec: Field, status: Mapping[str, Json]) -> frozenset[str]:
    """Return the pools that may have nodes which they did not have when the status was published.

    They are new there, select otherwise, or declare more nodes.
    """
    entries = {seen.text(entry.get("name")): entry for entry in seen.objects(status.get("pools"))}
    selectors = published_selectors(status)
    gained = set()
    for pool in spec.at("nodePools").items():
        name = pool.text_at("name")
        before = seen.count(seen.at(entries.get(name), "nodes", "declared"))
        is_same = selector(pool) == selectors.get(name, _default(name))
        if before is None or not is_same or counts(pool, _UNPUBLISHED).declared > before:
            gained.add(name)
    return frozenset(gained)


def same_nodes(
    name: str, declared: Mapping[str, Mapping[str, str]], published: Mapping[str, Mapping[str, str]]
) -> str | None:
    """Return the declared pool with the nodes of the pool `name`: itself, or one with the node selector that it had.

    None where neither is declared. Pods stay on nodes of their selector, whatever the pool is called.
    """
    if name in declared:
        return name
    had = published.get(name, _default(name))
    return next((other for other, labels in declared.items() if labels == had), None)


def _default(name: str) -> dict[str, str]:
    return {LABEL_POOL: name}
