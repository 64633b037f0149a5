"""The answer of `fit` for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from modelplane import words
from modelplane.sizing.fit import gib
from modelplane_cli.output import folding, table
from modelplane_cli.output.screen import Screen

Json: TypeAlias = Any
Answer: TypeAlias = Mapping[str, Json]

_HEADINGS = (
    *("CLASS", "DEVICE", "GPUS", "NODES", "TOPOLOGY", "WEIGHTS", "CACHE", "FREE", "MAX CONTEXT", "MAX REQUESTS"),
    "PER HOUR",
    "POOLS",
)
_SPARED = ("WEIGHTS", "CACHE")
"""Columns that a narrow screen goes without, the first one first."""
_POOLS_MAX = 3
_LABELS = 13
"""Columns of the labels before what is said of a model."""


def lines(answer: Answer, screen: Screen, *, everything: bool) -> list[str]:
    """Return the answer as lines; without `everything` the smallest topology of each class, and one reason."""
    model = [line for one in _model(answer) for line in _labelled(one, screen.width)]
    return [*model, "", *_classes(answer["classes"], screen, everything=everything)]


def _labelled(line: str, room: int | None) -> list[str]:
    """Return a line in the width of the screen. What follows a label stays in the column beside it."""
    if not line.startswith("  "):
        return folding.fitted(line, room)
    return folding.paragraph(line[_LABELS:], room, start=line[:_LABELS], indent=" " * _LABELS)


def _model(answer: Answer) -> Iterator[str]:
    model, weights, cache, load = answer["model"], answer["weights"], answer["cache"], answer["load"]
    active = f", {_billions(model['activeParameters'])} active" if model["experts"] else ""
    yield f"{model['name']}: {_billions(model['parameters'])} parameters{active}, {model['precision']}"
    yield f"  attention  {model['attention']}; {model['heads']} heads, longest context {model['context']}"
    yield f"  weights    {gib(weights['bytes'])} GiB"
    for part in weights["parts"]:
        size = f"{_billions(part['parameters'])} x {part['bitsPerParameter']} bits"
        yield f"             {part['part']}: {size}, {gib(part['bytes'])} GiB"
    yield f"  cache      {cache['bytesPerToken']} bytes for each token ({cache['precision']})"
    yield from (f"             {layer['kind']}: {layer['formula']}" for layer in cache["layers"])
    requests = load["concurrency"]
    each = f"{gib(cache['bytesPerRequest'])} GiB for a request of {load['context']} tokens"
    yield f"  load       {each}" + (f", {gib(cache['bytes'])} GiB for {requests} at once" if requests > 1 else "")
    yield f"  source     {model['source']}"
    yield from (f"  note       {note}" for note in model["notes"])


def _classes(classes: Sequence[Answer], screen: Screen, *, everything: bool) -> Iterator[str]:
    rows = [
        _row(one, topology)
        for one in classes
        for topology in (one["topologies"] if everything else one["topologies"][:1])
    ]
    if rows:
        yield from _table(rows, screen)
        priced = "; PER HOUR is the devices' share of their nodes' price" if any(row[10] for row in rows) else ""
        yield from folding.fitted(f"WEIGHTS, CACHE and FREE are GiB of the fullest device{priced}.", screen.width)
    refused = [
        (one, reason)
        for one in classes
        for reason in (one["refused"] if everything else one["refused"][:1] if not one["topologies"] else ())
    ]
    for one, refusal in refused:
        said = f"not {_name(one)} with {_topology(refusal)}: {refusal['reason']}"
        yield from folding.fitted(said, screen.width)
    if not rows:
        yield "No class holds it under this load."


def _table(rows: Sequence[Sequence[str]], screen: Screen) -> list[str]:
    """Return the table without the columns that no row fills, and without those for which the screen is too narrow."""
    filled = [place for place in range(len(_HEADINGS)) if any(row[place] for row in rows)]
    kept = list(filled)
    for heading in _SPARED:
        if screen.width is None or table.narrowest([_HEADINGS[place] for place in kept]) <= screen.width:
            break
        kept.remove(_HEADINGS.index(heading))
    cells = [[row[place] for place in kept] for row in rows]
    found = table.lines([_HEADINGS[place] for place in kept], cells, screen=screen)
    left_out = [_HEADINGS[place] for place in filled if place not in kept]
    if left_out:
        needed = table.narrowest([_HEADINGS[place] for place in filled])
        found += folding.fitted(
            f"{' and '.join(left_out)}: in a terminal of {needed} columns, or in -o json", screen.width
        )
    return found


def _row(one: Answer, topology: Answer) -> list[str]:
    cost = topology["costPerHour"]
    return [
        _name(one),
        f"{one['devicesPerNode']} x {gib(one['memoryBytes'])} GiB",
        str(topology["devices"]),
        str(topology["nodes"]),
        _topology(topology),
        gib(topology["weightsBytesPerDevice"]),
        gib(topology["cacheBytesPerDevice"]),
        gib(topology["freeBytesPerDevice"]),
        str(topology["maxContext"]),
        str(topology["maxConcurrency"]),
        "" if cost is None else f"{cost} {one['currency']}",
        words.first([f"{pool['cluster']}/{pool['pool']}" for pool in one["pools"]], _POOLS_MAX),
    ]


def _name(one: Answer) -> str:
    return one["name"] if "." in one["device"] else f"{one['name']}/{one['device']}"


def _topology(topology: Answer) -> str:
    """Return the fields of a topology that are not 1, as they are written in a document."""
    words = [f"{name}: {topology[name]}" for name in ("tensor", "pipeline", "data", "dataLocal") if topology[name] > 1]
    return ", ".join([*words, *(["expert: true"] if topology["expert"] else [])]) or "tensor: 1"


def _billions(count: int) -> str:
    hundredths = (count + 5_000_000) // 10_000_000
    if hundredths < 10:
        return f"{count / 1_000_000:.2f}M"
    return f"{hundredths // 100}.{hundredths % 100:02d}B"
