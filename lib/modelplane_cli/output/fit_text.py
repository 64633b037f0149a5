"""The answer of `fit` for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from modelplane import words
from modelplane.sizing.fit import gib
from modelplane_cli.output import table
from modelplane_cli.output.screen import Screen

Json: TypeAlias = Any
Answer: TypeAlias = Mapping[str, Json]

_HEADINGS = (
    *("CLASS", "DEVICE", "GPUS", "NODES", "TOPOLOGY", "WEIGHTS", "CACHE", "FREE", "MAX CONTEXT", "MAX REQUESTS"),
    "PER HOUR",
    "POOLS",
)
_POOLS_MAX = 3


def lines(answer: Answer, screen: Screen, *, everything: bool) -> list[str]:
    """Return the answer as lines; without `everything` the smallest topology of each class, and one reason."""
    return [*_model(answer), "", *_classes(answer["classes"], screen, everything=everything)]


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
        yield from _without_empty(rows, screen)
        priced = "; PER HOUR is the devices' share of their nodes' price" if any(row[10] for row in rows) else ""
        yield f"WEIGHTS, CACHE and FREE are GiB of the fullest device{priced}."
    refused = [
        (one, reason)
        for one in classes
        for reason in (one["refused"] if everything else one["refused"][:1] if not one["topologies"] else ())
    ]
    for one, refusal in refused:
        yield f"not {_name(one)} with {_topology(refusal)}: {refusal['reason']}"
    if not rows:
        yield "No class holds it under this load."


def _without_empty(rows: Sequence[Sequence[str]], screen: Screen) -> list[str]:
    """Return the table without the columns that no row fills."""
    kept = [place for place in range(len(_HEADINGS)) if any(row[place] for row in rows)]
    cells = [[row[place] for place in kept] for row in rows]
    return table.lines([_HEADINGS[place] for place in kept], cells, screen=screen)


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
