"""`python -m tests.conformance.tools [name...]`: build every program (or the named ones), with progress."""

from __future__ import annotations

import argparse
import sys
import time

from tests.conformance.tools import pins, workshop


def main() -> int:
    """Return 0 when everything that was asked for is there, 1 when something is missing, 2 for an unknown name."""
    known = [*workshop.names(), *(f"definitions/{name}" for name in pins.DEFINITIONS)]
    parser = argparse.ArgumentParser(prog="python -m tests.conformance.tools", description=__doc__)
    parser.add_argument("name", nargs="*", help=f"what to build (default: all): {', '.join(known)}")
    wanted = parser.parse_args().name or known
    unknown = sorted(set(wanted) - set(known))
    if unknown:
        _say(f"unknown: {', '.join(unknown)}; there are: {', '.join(known)}")
        return 2
    missing = 0
    for number, name in enumerate(wanted, start=1):
        _say(f"[{number}/{len(wanted)}] {name} ...")
        begun = time.monotonic()
        try:
            found = _one(name)
        except workshop.Missing as error:
            missing += 1
            _say(f"    MISSING: {error}")
        else:
            _say(f"    {found} ({time.monotonic() - begun:.0f} s)")
    if missing:
        _say(f"{missing} of {len(wanted)} missing; the reasons are above")
    return 1 if missing else 0


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def _one(name: str) -> str:
    if name.startswith("definitions/"):
        return f"{len(workshop.definitions(name.removeprefix('definitions/')))} files"
    return str(workshop.program(name).relative_to(workshop.REPOSITORY))


if __name__ == "__main__":
    sys.exit(main())
