"""The production server with composers of our own: what they do is asked for in the composite's spec.

Run as a program by the contract tests; the registry is the only thing that differs from what is shipped.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from pathlib import Path

from kubecel import interruption
from modelplane.errors import InvalidInput, Unsupported
from modelplane_functions import __main__ as server
from modelplane_functions import registry
from modelplane_functions.exchange import (
    Child,
    Condition,
    Event,
    Observed,
    Outcome,
    Ready,
    Requirement,
    Severity,
    Truth,
)

BUSY_SECONDS_MAX = 120
"""What ends a computation that nobody ends: only a test that fails comes so far."""


def compose_echo(observed: Observed) -> Outcome:
    """Compose one child that counts what was seen."""
    seen = {"seen": _count(observed)}
    return Outcome(children={"echo": _thing(seen)}, status=seen, ready=Ready.TRUE)


def compose_chain(observed: Observed) -> Outcome:
    """Ask for one object after another: what the first names, then the class that the second names."""
    requirements = {"first": Requirement("v1", "Thing", name="first")}
    if first := observed.required.get("first"):
        requirements["second"] = Requirement("v1", "Thing", name=first[0]["spec"]["next"])
    if "first" in observed.required and not observed.required["first"]:
        return Outcome(
            requirements=requirements,
            conditions=(Condition("Accepted", Truth.FALSE, "FirstMissing", "create Thing first"),),
            children={key: Child(child) for key, child in observed.children.items()},
            ready=Ready.FALSE,
        )
    found = sorted(item["metadata"]["name"] for items in observed.required.values() for item in items)
    return Outcome(requirements=requirements, children={"found": _thing({"found": found})}, ready=Ready.TRUE)


def compose_busy(observed: Observed) -> Outcome:
    """Make the file `spec.begun`, and compute without ever waiting until there is the file `spec.enough`."""
    Path(observed.spec["begun"]).touch()
    enough, until = Path(observed.spec["enough"]), time.monotonic() + BUSY_SECONDS_MAX
    turns = 0
    while time.monotonic() < until and (turns % 10_000 or not enough.exists()):
        turns += 1
    return Outcome(status={"turns": turns}, ready=Ready.TRUE)


def compose_long(observed: Observed) -> Outcome:
    """Compute for `spec.seconds` as the library does, with checkpoints on the way."""
    until = time.monotonic() + float(observed.spec["seconds"])
    while time.monotonic() < until:
        interruption.checkpoint()
    return Outcome(ready=Ready.TRUE)


def compose_large(observed: Observed) -> Outcome:
    """Answer with `spec.bytes` of text."""
    return Outcome(children={"large": _thing({"text": "x" * int(observed.spec["bytes"])})})


def compose_refuse(observed: Observed) -> Outcome:
    """Refuse as `spec.how` says."""
    how = observed.spec["how"]
    if how == "invalid":
        raise InvalidInput("is wrong", path=("spec", "how"))
    if how == "unsupported":
        raise Unsupported("not here; use another", reason="NotHere")
    if how == "fatal":
        return Outcome(
            conditions=(Condition("Accepted", Truth.FALSE, "Told", "as told"),),
            events=(Event(Severity.WARNING, "Told", "as told"),),
            children={"never": _thing({})},
            fatal="as told",
        )
    raise ValueError(f"a bug with a secret in it: {how}")


def _thing(spec: Mapping[str, object]) -> Child:
    return Child({"apiVersion": "v1", "kind": "Thing", "spec": spec})


def _count(observed: Observed) -> int:
    return len(observed.children) + sum(len(items) for items in observed.required.values())


class Probe(registry.Composer):
    """A composer of this file."""

    def load(self) -> registry.Compose:
        compose: registry.Compose = globals()[self.module]
        return compose


PROBES = {
    "Echo": Probe("compose_echo", "Accepted"),
    "Chain": Probe("compose_chain", "Accepted"),
    "Busy": Probe("compose_busy", "Accepted"),
    "Long": Probe("compose_long", "Accepted"),
    "Large": Probe("compose_large", "Accepted"),
    "Refuse": Probe("compose_refuse", "Accepted"),
}


if __name__ == "__main__":
    find, known = registry.find, registry.composers()
    registry.find = lambda kind: PROBES.get(kind) or find(kind)
    registry.composers = lambda: {**known, **PROBES}
    sys.exit(server.main(sys.argv[1:]))
