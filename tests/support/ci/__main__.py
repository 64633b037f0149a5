"""`.ci/run` and `.ci/full` end up here: `python -m tests.support.ci [--full] [--began SECONDS] [--day DATE]`."""

from __future__ import annotations

import argparse
import os
import sys
import time
from datetime import UTC, date, datetime
from pathlib import Path

from tests.support import live
from tests.support.ci import change, choice, record
from tests.support.ci.choice import Choice
from tests.support.ci.programs import Background
from tests.support.ci.running import UNHURRIED, Clock, Run
from tests.support.ci.steps import Here
from tests.support.ci.suites import AGAIN, ALWAYS, SUITES, seed

REPOSITORY = Path(__file__).resolve().parents[3]
CACHE = REPOSITORY / ".cache" / "ci"


def main() -> int:
    """Return 0 when everything that ran passed, 1 when something failed."""
    options = _options()
    machine = Here(REPOSITORY, CACHE, options.began)
    skip = frozenset(name.strip() for name in os.environ.get(live.VARIABLE, "").split(",") if name.strip())
    changes = change.since_landing(change.here(REPOSITORY), options.base)
    chosen = _chosen(options, changes, skip)
    machine.say(f"=== {options.day}, seed of random questions {seed(options.day)}; compared with {changes.against}")
    for one in chosen.run:
        machine.say(f"    {one.suite.name}: {one.why}")
    for other in chosen.left_out:
        machine.say(f"    left out, {other.name}: {other.why}")
    always = tuple(step for step in ALWAYS if step[0] not in skip)
    if options.dry_run:
        return 0
    builder = Background(REPOSITORY, REPOSITORY / ".cache" / "programs.log", machine.say)
    run = Run(machine, builder, UNHURRIED if options.full else Clock(), seed(options.day), AGAIN)
    try:
        run.all(always, chosen)
    finally:
        builder.stop()
    for line in run.summary():
        machine.say(line)
    code = record.replay(run.reports)
    return 1 if code or run.failed else 0


def _chosen(options: argparse.Namespace, changes: change.Change, skip: frozenset[str]) -> Choice:
    if options.full:
        return choice.everything(SUITES, skip)
    return choice.choose(SUITES, changes.files, options.day, skip)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.support.ci", description=__doc__)
    parser.add_argument("--full", action="store_true", help="every suite, however long it takes")
    parser.add_argument("--began", type=float, default=time.time(), help="when the run began, in seconds of the clock")
    parser.add_argument(
        "--day", type=date.fromisoformat, default=datetime.now(UTC).date(), help="the day that decides whose turn it is"
    )
    parser.add_argument("--base", default="", help="the commit that the change is compared with")
    parser.add_argument("--dry-run", action="store_true", help="say what would run, and why")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
