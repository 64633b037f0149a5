"""Random damage to valid documents, judged by the real validator and by us.

`python -m tests.conformance.crd.fuzz COUNT [SEED]` prints every difference and ends with 1 if there is one. Needs Go.
"""

from __future__ import annotations

import copy
import random
import sys
from typing import Any

from modelplane.api import catalogue
from tests.conformance.crd import cases, documents, judgement, server

Json = Any
Path = tuple[str | int, ...]

_VALUES: tuple[Json, ...] = (
    *(
        None,
        True,
        False,
        0,
        1,
        -1,
        2,
        7,
        2**31,
        2**53,
        1.5,
        "",
        "a",
        "A b",
        "1",
        "1Gi",
        "true",
        "a.b",
        "x" * 70,
        "ü",
    ),
    *(
        "hf://a/b",
        "https://a.b/v1",
        "http://x",
        "10s",
        "modelplane.ai/x",
        "MODELPLANE_X",
        "KServe",
        "DRA",
        "engine",
        "-",
    ),
    *([], [None], ["a", "a"], [1], {}, {"a": 1}, {"name": "a"}, {"modelplane.ai/a": "b"}, {"a b": "c"}),
)

_KEYS = ("unknown", "on", "name", "cel", "devices", "tls", "prefill", "topology", "auth", "kind", "value")


def main(count: int, seed: int) -> int:
    """Return 1 when the two disagree on any of `count` documents."""
    chance = random.Random(seed)  # noqa: S311 - reproducible, not secret
    asked = {str(number): _document(chance) for number in range(count)}
    theirs = server.judged({name: {"document": document, "old": None} for name, document in asked.items()})
    differences = 0
    for name, document in asked.items():
        ours, real = judgement.ours(document, None), judgement.theirs(theirs[name], document["kind"])
        stored = catalogue.structural_kind(document["kind"]).stored(document)
        if ours != real or stored != theirs[name]["defaulted"]:
            differences += 1
            print(f"{document}\n  we: {sorted(ours - real)}\n  they: {sorted(real - ours)}")  # noqa: T201 - a report
    print(f"{count} documents, {differences} differences")  # noqa: T201 - a report
    return 1 if differences else 0


def _document(chance: random.Random) -> Json:
    accepted = chance.choice(cases.ACCEPTED)
    document = documents.document(accepted.kind, *accepted.changes)
    for _ in range(chance.randint(1, 3)):
        _damage(document, chance)
    return document


def _damage(document: Json, chance: random.Random) -> None:
    """Change one random place below spec."""
    places = list(_places(document.get("spec")))
    if not places:
        document["spec"] = _value(chance)
        return
    holder, key = chance.choice(places)
    kind = chance.random()
    if kind < 0.15:
        holder.pop(key, None) if isinstance(holder, dict) else holder.pop(key)
    elif kind < 0.3 and isinstance(holder, dict):
        holder[chance.choice(_KEYS)] = _value(chance)
    elif kind < 0.4 and isinstance(holder, list):
        holder.append(copy.deepcopy(holder[key]))
    else:
        holder[key] = _value(chance)


def _value(chance: random.Random) -> Json:
    return copy.deepcopy(chance.choice(_VALUES))


def _places(node: Json) -> Any:
    entries = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, value in list(entries):
        yield node, key
        yield from _places(value)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1))
