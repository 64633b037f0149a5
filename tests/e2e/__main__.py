"""`hatch run e2e up|test|steady|fleet|chaos|down`: a fleet of real API servers on this machine, without Docker.

up      bring up a control plane and two workload clusters and leave them to you; logs in .cache/conformance/e2e
test    play the story of the quickstart, on what is up or else on a machine of its own
steady  count function calls and API writes while nobody changes anything
fleet   count function calls, API writes and processor time by event, on a control plane with a fleet of any size
chaos   kill and freeze programs, edit and delete at random, and check all the time that nothing is lost
down    stop everything
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import pytest

from tests.bench import arguments
from tests.conformance.tools import workshop
from tests.e2e import chaos, fleet, machine, steady, story

STORY = Path(__file__).with_name("test_story.py")
ABOUT = """\
  hatch run e2e up                         three API servers, Crossplane, providers, KServe, kwok nodes with GPUs
  hatch run e2e test                       the whole story; it must begin on an empty fleet
  hatch run e2e test --until routed        apply the quickstart, and stop when it serves
  hatch run e2e test --from drain          go on from there
  hatch run e2e steady --seconds 1800      what half an hour without a change costs
  hatch run e2e fleet --clusters 12 --deployments 60       what one replica more, a new cluster, a drain cost there
  hatch run e2e chaos --minutes 60 --seed 7                an hour of it; the seed draws the actions
  hatch run e2e down
"""


def main() -> int:
    """Return 0 when it went well, 1 when a step failed, 2 when a program is missing."""
    options = _options()
    say = machine.begun()
    try:
        return _run(options, say)
    except workshop.Missing as error:
        say(f"missing: {error}")
    except FileNotFoundError as error:
        say(str(error))
    return 2


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="hatch run e2e", description=__doc__, epilog=ABOUT, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("command", choices=("up", "test", "steady", "fleet", "chaos", "down"))
    steps = story.names()
    parser.add_argument("--from", dest="first", metavar="STEP", choices=steps, help="test: begin here, on what is up")
    parser.add_argument("--until", metavar="STEP", choices=steps, help=f"test: end here; the steps: {', '.join(steps)}")
    parser.add_argument("--seconds", type=float, default=600, help="steady: for how long (default: 600)")
    parser.add_argument("--clusters", type=arguments.positive, default=12, help="fleet: how many (default: 12)")
    parser.add_argument("--deployments", type=arguments.positive, default=60, help="fleet: how many (default: 60)")
    parser.add_argument("--at-once", action="store_true", help="fleet: every deployment asks for the whole fleet")
    parser.add_argument("--minutes", type=float, default=10, help="chaos: for how long (default: 10)")
    parser.add_argument("--seed", type=int, default=1, help="chaos: what draws the actions (default: 1)")
    return parser.parse_args()


def _run(options: argparse.Namespace, say: machine.Say) -> int:
    if options.command == "up":
        _up(say)
    elif options.command == "down":
        machine.down(say)
    elif options.command == "steady":
        steady.measure(machine.attach(), options.seconds, say)
    elif options.command == "fleet":
        fleet.measure(options.clusters, options.deployments, say, at_once=options.at_once)
    elif options.command == "chaos":
        return _chaos(options, say)
    else:
        steps = story.names()
        chosen = steps[steps.index(options.first or steps[0]) : steps.index(options.until or steps[-1]) + 1]
        return int(pytest.main(["-m", "slow", *(f"{STORY}::test_step[{name}]" for name in chosen)]))
    return 0


def _chaos(options: argparse.Namespace, say: machine.Say) -> int:
    try:
        chaos.run(options.minutes, options.seed, say)
    except AssertionError as error:
        say(str(error))
        return 1
    return 0


def _up(say: machine.Say) -> None:
    try:
        found = machine.up(say)
    except BaseException:
        # Half a machine helps nobody, and its ports would be taken.
        machine.down(say)
        raise
    kubectl = workshop.program("kubectl")
    lines = ["", "It runs until `hatch run e2e down`. To look at it:", "", f'  alias kubectl="{kubectl}"']
    for name, plane in found.planes.items():
        lines.append(f'  alias k-{name}="{kubectl} --kubeconfig={plane.kubeconfig}"')
    lines += [
        "",
        "  # Nothing is applied yet. This is examples/quickstart, with the Envoy Gateway that runs here already:",
        f"  k-fleet apply -f {machine.APPLIED.relative_to(workshop.REPOSITORY)}",
        "  k-fleet get icl,ic,ig,md,mr,ms,me -A",
        "  k-gke-us get llmisvc,pods,resourceclaims -A -o wide",
        "",
        f"Logs: {machine.FOLDER.relative_to(workshop.REPOSITORY)}/<cluster>/*.log",
    ]
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    sys.exit(main())
