"""The answer of `class from-cluster` for people: a table of pools, and lines about what could not be expressed."""

from __future__ import annotations

from collections.abc import Iterator

from modelplane.devices.model import NodeClass
from modelplane_cli.output import table
from modelplane_cli.planning.found_classes import Found

_HEADINGS = ("POOL", "NODES", "COUNTED", "CLASS", "DEVICES")
_TEXT_MAX = 1024


def lines(found: Found, slices: int, nodes: int) -> Iterator[str]:
    """Yield the lines: the table, the notes, and the lies of classes that are written already."""
    survey = found.survey
    classes = {one.name: one for one in survey.classes}
    if survey.pools:
        yield from table.lines(
            _HEADINGS,
            [
                (
                    pool.name,
                    str(len(pool.nodes)),
                    str(pool.counted),
                    pool.class_name,
                    devices(classes[pool.class_name]) if pool.class_name in classes else "as declared",
                )
                for pool in survey.pools
            ],
        )
    else:
        read = f"{_counted(slices, 'ResourceSlice')} and {_counted(nodes, 'Node')} were read"
        yield f"no devices were found: {read}, and none of them offers any that a class can describe"
    yield from (f"reused: InferenceClass {name} describes what is there" for name in sorted(found.reused))
    yield from (f"note: {line}" for line in survey.notes)
    yield from (f"lie: {line}" for line in found.lies)


def _counted(number: int, kind: str) -> str:
    return f"{number} {kind}{'' if number == 1 else 's'}"


def devices(node_class: NodeClass) -> str:
    """Return the devices of one node, in the words of the table."""
    units = {one.name: one.count for one in node_class.counter_sets}
    whole = [f"{one.count} {one.name}" for one in node_class.devices if not one.draws]
    parted: dict[str, list[str]] = {}
    for one in node_class.devices:
        if one.draws:
            parted.setdefault(one.draws[0].counter_set, []).append(one.name)
    whole += [f"{units[name]} {name} in parts ({', '.join(parts)})" for name, parts in parted.items()]
    return ", ".join(whole)


def description(node_class: NodeClass) -> str:
    """Return the description of a class: its products with their numbers."""
    units = {one.name: one.count for one in node_class.counter_sets}
    counted: dict[str, int] = {}
    for one in node_class.devices:
        product = next(
            (one.attribute(f"{one.driver}/{name}") for name in ("productName", "model", "accelerator")), None
        )
        title = str(product.value) if product else one.driver
        if one.draws:
            counted[f"{title} in parts"] = units[one.draws[0].counter_set]
        else:
            counted[title] = counted.get(title, 0) + one.count
    return (", ".join(f"{count} x {title}" for title, count in counted.items()) + ", as published by the nodes")[
        :_TEXT_MAX
    ]
