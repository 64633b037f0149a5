"""Prints what each hostile input costs: processor seconds, the most memory held, and the answer its author reads.

Each row runs in a process of its own that may take `--memory` megabytes and `--seconds` of the processor, and four
times as long of the clock; a row that is ended there says so. The inputs are those of `tests/support/hostile.py`; the
tests ask the same of each.
"""

from __future__ import annotations

import contextlib
import io
import os
import resource
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from modelplane.devices import matching
from modelplane_cli import __main__ as command
from tests.bench import arguments
from tests.support import commands, hostile

Json = Any
Row = Callable[[], str]
FILE_BYTES = 10_000_000
HUGE = 10**15
GIANT = "1e99999"
ANSWER_WIDTH = 150
CLOCK = 4
"""Seconds of the clock for one of the processor that a row may take."""


def main(given: Sequence[str] | None = None) -> int:
    """Print the table, called with `given` or as it is; return 1 when a row had to be ended or ended by itself."""
    made = arguments.parser("hostile", __doc__, example="--seconds 60")
    made.add_argument("--seconds", type=arguments.positive, default=60, help="of the processor, for one row (60)")
    made.add_argument("--memory", type=arguments.positive, default=4096, help="megabytes, for one row (4096)")
    made.add_argument("--only", default="", metavar="TEXT", help="only rows whose name holds the text")
    made.add_argument("--row", choices=sorted(ROWS), help="one row, in this process and without bounds")
    options = made.parse_args(given)
    if options.row:
        print(ROWS[options.row]())
        return 0
    print(f"{'input':<46} {'CPU s':>7} {'MB':>6}  answer")
    bad = [_run(name, options.seconds, options.memory) for name in ROWS if options.only in name]
    return 1 if any(bad) else 0


def _run(name: str, seconds: int, megabytes: int) -> bool:
    """Print one row; return whether it gave no answer."""
    with tempfile.TemporaryFile("w+") as said:
        running = subprocess.Popen(
            [sys.executable, "-m", "tests.bench.hostile", "--row", name],
            stdout=said,
            stderr=subprocess.STDOUT,
            preexec_fn=lambda: _bound(seconds, megabytes * 2**20),  # noqa: PLW1509 - no other thread yet
        )
        killer = threading.Timer(CLOCK * seconds, running.kill)
        killer.start()
        _, status, used = os.wait4(running.pid, 0)
        killer.cancel()
        running.returncode = os.waitstatus_to_exitcode(status)
        said.seek(0)
        lines = said.read().strip().splitlines() or [""]
    answer = lines[-1][:ANSWER_WIDTH]
    if running.returncode < 0:
        answer = f"NO ANSWER in {seconds} s"
    elif running.returncode:
        answer = f"ENDED WITH {answer}"
    print(f"{name:<46} {used.ru_utime + used.ru_stime:>7.2f} {used.ru_maxrss // 1024:>6}  {answer}", flush=True)
    return running.returncode != 0


def _bound(seconds: int, memory_bytes: int) -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))


# --- the function -----------------------------------------------------------------------------------------------------


def _asked(kind: str, place: Sequence[str | int], value: Json) -> Row:
    """Return the row that asks about the object of a kind with the value at `place` of that or of the class changed."""

    def row() -> str:
        objects = hostile.world()
        at, *path = place
        index = next(i for i, one in enumerate(objects) if one["kind"] == at)
        objects[index] = hostile.changed(objects[index], tuple(path), value)
        return hostile.told(hostile.answered(objects, kind))

    return row


def _selectors(width: int) -> Row:
    def row() -> str:
        objects = hostile.world(nodeSelector=hostile.many_selectors(width=width))
        return hostile.told(hostile.answered(objects, "ModelDeployment"))

    return row


def _matching() -> str:
    found = matching.match(hostile.eight_kinds(), hostile.one_unsatisfiable())
    return f"{len(found.options)} options; {found.miss and found.miss.detail}"


SHARED = [{"name": "gpu", "count": HUGE, "counters": {"memory": {"value": "4"}}}]
PARTS = [
    {
        "name": f"part{size}",
        "driver": hostile.GPU,
        "deviceClassName": hostile.GPU,
        "consumesCounters": [{"counterSet": "gpu", "counters": {"memory": {"value": str(size)}}}],
    }
    for size in (1, 2, 3)
]


def _counters() -> str:
    objects = hostile.world()
    objects[0]["spec"] |= {"sharedCounters": SHARED, "devices": PARTS}
    said = hostile.told(hostile.answered(objects, "ModelDeployment"))
    return f"{hostile.told(hostile.answered(objects, 'InferenceClass'))} | {said}"


# --- the command ------------------------------------------------------------------------------------------------------


def _validated(make: Callable[[Path], None]) -> Row:
    """Return the row that gives `modelplane validate` what `make` puts into a folder."""

    def row() -> str:
        with tempfile.TemporaryDirectory() as folder:
            make(Path(folder))
            said = io.StringIO()
            with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
                code = command.main(["validate", folder])
            lines = said.getvalue().replace(f"{folder}/", "").splitlines() or [""]
            return f"exit {code}; {lines[0]} (of {len(lines)} lines)"

    return row


def _file(text: Callable[[], str], name: str = "x.yaml") -> Row:
    def write(folder: Path) -> None:
        (folder / name).write_text(text())

    return _validated(write)


def _repeated(part: str, before: str = "", after: str = "") -> Callable[[], str]:
    return lambda: before + part * (FILE_BYTES // len(part)) + after


def _numbered(line: Callable[[int], str], before: str = "", after: str = "", join: str = "") -> Callable[[], str]:
    return lambda: before + join.join(line(i) for i in range(FILE_BYTES // len(line(100_000)))) + after


def _documents() -> str:
    return _numbered(lambda i: "---\n" + commands.DEPLOYMENT.replace("name: m, names", f"name: m{i}, names"))()


FILES: Mapping[str, Row] = {
    "file: 10 MB of keys": _file(_numbered(lambda i: f"k{i}: v\n")),
    "file: 10 MB of keys, the last one twice": _file(_numbered(lambda i: f"k{i}: v\n", after="k1: v\n")),
    "file: 10 MB of JSON keys": _file(_numbered(lambda i: f'"k{i}":1', "{", "}", ","), "x.json"),
    "file: 10 MB of JSON keys, the last one twice": _file(
        _numbered(lambda i: f'"k{i}":1', "{", ',"k1":1}', ","), "x.json"
    ),
    "file: 10 MB of opening brackets": _file(_repeated("[")),
    "file: 10 MB of opening braces as JSON": _file(_repeated('{"a":'), "x.json"),
    "file: 10 MB of one text": _file(_repeated("x", "a: ")),
    "file: 10 MB of one line of words": _file(_repeated("x ", "a: ")),
    "file: 10 MB of quotes": _file(_repeated("'")),
    "file: 10 MB of dashes": _file(_repeated("- ")),
    "file: 10 MB of question marks": _file(_repeated("? ")),
    "file: 10 MB of empty documents": _file(_repeated("---\n")),
    "file: 10 MB of small documents": _file(_repeated("---\na: 1\n")),
    "file: 10 MB of small objects": _file(
        _numbered(lambda i: f"---\n{{apiVersion: v1, kind: C, metadata: {{name: a{i}}}}}\n")
    ),
    "file: 10 MB of ModelDeployments": _file(_documents),
    "file: 10 MB of one list in a flow": _file(_repeated("1,", "a: [", "1]")),
    "file: 10 MB of digits": _file(_repeated("9", "a: ")),
    "file: 10 MB of digits as JSON": _file(_repeated("9", '{"a":', "}"), "x.json"),
    "file: 10 MB of octal digits": _file(_repeated("7", "a: 0")),
    "file: 10 MB of anchors": _file(_numbered(lambda i: f"- &a{i} x\n")),
    "file: 10 MB of merges": _file(_repeated("  <<: *a\n", "a: &a {x: 1}\nb:\n")),
    "file: 10 MB of comments": _file(_repeated("# x\n")),
    "file: 10 MB of spaces": _file(_repeated(" ", after="a: 1")),
    "file: 10 MB of colons": _file(_repeated(":")),
    "file: 10 MB of ampersands": _file(_repeated("&")),
    "file: 10 MB that end too soon": _file(_repeated("a,", "a: [")),
    "file: 10 MB of zeros": _file(_repeated("\0")),
    "folder: a pipe that nobody writes": _validated(lambda folder: os.mkfifo(folder / "x.yaml")),
    "folder: a link to itself": _validated(lambda folder: (folder / "x").symlink_to(folder)),
    "folder: a device": _validated(lambda folder: (folder / "x.yaml").symlink_to("/dev/zero")),
}
NUMBERS: Mapping[str, tuple[str, Sequence[str | int], Json]] = {
    "replicas": ("ModelDeployment", ("ModelDeployment", "spec", "replicas"), HUGE),
    "replicas below zero": ("ModelDeployment", ("ModelDeployment", "spec", "replicas"), -HUGE),
    "workers.count": ("ModelDeployment", ("ModelDeployment", "spec", "workers", "count"), HUGE),
    "topology.pipeline": ("ModelDeployment", ("ModelDeployment", "spec", "workers", "topology", "pipeline"), HUGE),
    "topology.data": ("ModelDeployment", ("ModelDeployment", "spec", "workers", "topology", "data"), HUGE),
    "nodeCount": ("ModelDeployment", ("InferenceCluster", "spec", "nodePools", 0, "nodeCount"), HUGE),
    "nodeCount, of the cluster": ("InferenceCluster", ("InferenceCluster", "spec", "nodePools", 0, "nodeCount"), HUGE),
    "devices[].count": ("ModelDeployment", ("InferenceClass", "spec", "devices", 0, "count"), HUGE),
    "published nodes": ("ModelDeployment", ("InferenceCluster", "status", "pools", 0, "nodes", "observed"), HUGE),
    "published pods": (
        "ModelDeployment",
        ("InferenceCluster", "status", "pools", 0, "allocations"),
        [{"pods": HUGE, "devices": {"kind0": 3}}, {"pods": HUGE, "devices": {"kind0": 2, "kind1": 1}}],
    ),
    "capacity 1e99999": (
        "ModelDeployment",
        ("InferenceClass", "spec", "devices", 0, "capacity"),
        {"memory": {"value": GIANT}},
    ),
    "node.cpu 1e99999": ("ModelDeployment", ("InferenceClass", "spec", "node"), {"cpu": GIANT}),
    "cost 1e99999": ("ModelDeployment", ("InferenceClass", "spec", "cost"), {"perNodeHour": GIANT}),
    "published memory 1e99999": (
        "ModelDeployment",
        ("InferenceCluster", "status", "pools", 0, "allocations"),
        [{"pods": 1, "devices": {"kind0": 1}, "memory": GIANT}],
    ),
    "requests.memory 1e99999": (
        "ModelDeployment",
        ("ModelDeployment", "spec", "workers", "template", "spec", "containers", 0, "resources"),
        {"requests": {"memory": GIANT}},
    ),
}
ROWS: Mapping[str, Row] = {
    "1,024 selectors near the cost limit": _selectors(15),
    "1,024 selectors, each a tenth of it": _selectors(9),
    "32 requests, eight kinds, one cannot be met": _matching,
    "sharedCounters.count 10^15": _counters,
    **{f"number: {name}": _asked(*asked) for name, asked in NUMBERS.items()},
    **FILES,
}


if __name__ == "__main__":
    raise SystemExit(main())
