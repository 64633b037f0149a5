"""`python -m tests.e2e up|test|down`: the story of the quickstart on real components, on this machine.

up    bring up a control plane and two workload clusters (minutes; logs in .cache/conformance/e2e)
test  play the story on what is up; without `up` before it, bring everything up and take it down afterwards
down  stop everything
"""

from __future__ import annotations

import argparse
import sys

from tests.conformance.tools import workshop
from tests.e2e import machine, story


def main() -> int:
    """Return 0 when the story was played to its end, 1 when a step failed, 2 when a program is missing."""
    parser = argparse.ArgumentParser(prog="python -m tests.e2e", description=__doc__)
    parser.add_argument("command", choices=("up", "test", "down"))
    steps = ", ".join(story.names())
    parser.add_argument("--from", dest="first", metavar="STEP", choices=story.names(), help="begin here, on what is up")
    parser.add_argument("--until", metavar="STEP", choices=story.names(), help=f"end here; the steps: {steps}")
    options = parser.parse_args()
    say = machine.begun()
    try:
        if options.command == "up":
            machine.up(say)
            return 0
        if options.command == "down":
            machine.down(say)
            return 0
        return _test(say, options.first, options.until)
    except workshop.Missing as error:
        say(f"missing: {error}")
        return 2


def _test(say: machine.Say, first: str | None, until: str | None) -> int:
    try:
        found, is_ours = machine.attach(), False
    except FileNotFoundError:
        found, is_ours = machine.up(say), True
    try:
        return story.play(found, say, first, until)
    finally:
        if is_ours:
            machine.down(say)


if __name__ == "__main__":
    sys.exit(main())
