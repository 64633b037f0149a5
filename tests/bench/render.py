"""Prints how long `modelplane render` takes: cold starts as a person waits for them, and growth with the fleet.

Times are CPU seconds of the process (user and system), because a shared machine makes the clock on the wall say more
about its neighbours.
"""

from __future__ import annotations

import copy
import os
import resource
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.bench import arguments
from tests.support import rendering

ROOT = Path(__file__).resolve().parents[2]
TARGET_COLD_SECONDS = 3.0


def main(given: Sequence[str] | None = None) -> int:
    """Print the tables; return 0, since a slow machine is no failure."""
    made = arguments.parser("render", __doc__, example="--quick")
    made.add_argument("--quick", action="store_true", help="only the two smallest fleets")
    is_quick = made.parse_args(given).quick
    say("cold start of the command (target: quickstart below 3 s of CPU)")
    say(f"{'command':<42} {'cpu s':>7} {'wall s':>7} {'rss MB':>7}")
    for line in (
        ["--help"],
        ["validate", "examples/quickstart"],
        ["render", "examples/quickstart"],
        ["render", "examples/frontier", "-o", "yaml"],
    ):
        cpu, wall, rss = _cold(line)
        note = "  over the target" if cpu > TARGET_COLD_SECONDS else ""
        say(f"{' '.join(line):<42} {cpu:7.2f} {wall:7.2f} {rss:7.0f}{note}")
    say("")
    say("a settled fleet in one process (each deployment: 3 replicas, one service)")
    say(f"{'clusters':>8} {'deployments':>11} {'objects':>8} {'rounds':>6} {'cpu s':>8} {'ms/object':>9}")
    sizes = [(2, 2), (10, 10)] if is_quick else [(2, 2), (10, 10), (30, 30), (100, 100)]
    for clusters, deployments in sizes:
        documents = fleet(clusters, deployments)
        started = time.process_time()
        world = rendering.world(documents)
        took = time.process_time() - started
        count = len(world.store)
        assert not world.settled.record.bugs, list(world.settled.record.bugs)
        row = f"{clusters:>8} {deployments:>11} {count:>8} {world.settled.rounds:>6}"
        say(f"{row} {took:>8.2f} {took / count * 1000:>9.2f}")
    return 0


def say(line: str) -> None:
    print(line)


def _cold(arguments: list[str]) -> tuple[float, float, float]:
    """Return CPU seconds, wall seconds and peak memory in MB of one run in a process of its own."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    started = time.perf_counter()
    subprocess.run(
        [sys.executable, "-m", "modelplane_cli", *arguments],
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=True,
        env={**os.environ, "NO_COLOR": "1"},
    )
    wall = time.perf_counter() - started
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return cpu, wall, after.ru_maxrss / 1024


def fleet(clusters: int, deployments: int) -> list[dict[str, Any]]:
    """Return the quickstart's documents, multiplied."""
    given = rendering.example("quickstart")
    by_kind = {kind: [one for one in given if one["kind"] == kind] for kind in {one["kind"] for one in given}}
    made = [*by_kind["InferenceClass"], *by_kind["InferenceGateway"]]
    for index in range(clusters):
        template = by_kind["InferenceCluster"][index % 2]
        made.append(_renamed(template, f"cluster-{index}"))
        made[-1]["spec"]["nodePools"][0]["nodeCount"] = 3 * deployments
    for index in range(deployments):
        for kind in ("ModelDeployment", "ModelService"):
            made.append(_renamed(by_kind[kind][0], f"model-{index}"))
            if kind == "ModelDeployment":
                made[-1]["spec"]["replicas"] = 3
            else:
                made[-1]["spec"]["endpoints"][0]["selector"]["matchLabels"] = {
                    "modelplane.ai/deployment": f"model-{index}"
                }
    return made


def _renamed(template: dict[str, Any], name: str) -> dict[str, Any]:
    made = copy.deepcopy(template)
    made["metadata"]["name"] = name
    return made


if __name__ == "__main__":
    raise SystemExit(main())
