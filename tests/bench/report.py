"""Prints what `modelplane report` costs: CPU seconds to read, to compute and to write, and milliseconds in the browser.

The fleets are those of `tests.bench.stated`, which carry statuses, so that nothing is rehearsed. `drawn` is the time
from the beginning of the navigation until the picture is complete, and `cpu` that of its main thread. `filter` is
from a choice until the next picture. `plain` is the same number of boxes made without a library, as a measure of the
browser itself.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.sync_api import CDPSession

from modelplane_cli.commands import report_data, sources
from modelplane_cli.commands.stage import Stage
from modelplane_cli.parsers import report as report_parser
from modelplane_cli.report import page
from tests.bench import arguments, stated
from tests.support import browser as browsers
from tests.support.browser import Sheet

PER_CLUSTER = 5
ROUNDS = 5
CHOICES = (
    ("#ns", "chat"),
    ("#ns", ""),
    ("#class", "h100-8x"),
    ("#class", ""),
    ("#label", "modelplane.ai/region=us-east-2"),
    ("#label", ""),
)
_CHANGE = """async ([selector, value]) => {
  const began = performance.now();
  const box = document.querySelector(selector);
  box.value = value;
  box.dispatchEvent(new Event("change", { bubbles: true }));
  // Two pictures: what comes near the window by the first is drawn in the second.
  const picture = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  await picture();
  await picture();
  return performance.now() - began;
}"""
_PLAIN = """(boxes) => {
  const began = performance.now(), root = document.body.appendChild(document.createElement("div"));
  for (let at = 0; at < boxes; at++) root.appendChild(document.createElement("i")).className = "run";
  root.offsetHeight;
  const took = performance.now() - began;
  root.remove();
  return took;
}"""


def main(given: Sequence[str] | None = None) -> int:
    """Print the table; return 0, since a slow machine is no failure."""
    made = arguments.parser("report", __doc__, example="60 1000")
    arguments.add_sizes(made, default=[60, 1000])
    sizes: list[int] = made.parse_args(given).sizes
    columns = [f"{'clusters':>8} {'replicas':>8} {'read s':>7} {'data s':>7} {'page s':>7} {'MB':>5}"]
    columns += [f"{'drawn':>6} {'cpu':>6} {'boxes':>6} {'plain':>6}", "filter cpu ms: middle, most; waited: middle"]
    print(" | ".join(columns))
    with browsers.started() as browser, tempfile.TemporaryDirectory() as folder:
        for clusters in sizes:
            source, file = Path(folder) / "fleet.json", Path(folder) / "fleet.html"
            objects = stated.objects(clusters, clusters * PER_CLUSTER)
            source.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))
            options = report_parser.parser().parse_args([str(source)])
            reading = _read(options)
            seconds, data = _computed(options)
            began = time.process_time()
            file.write_bytes(page.html_page(data, "Fleet"))
            written = time.process_time() - began
            for fragment in ("", "#zoom=nodes"):
                shown = measured(Sheet(browser), file, fragment)
                cpu = f"{reading:>7.1f} {seconds - reading:>7.1f} {written:>7.2f}"
                print(
                    f"{clusters:>8} {clusters * PER_CLUSTER:>8} {cpu} "
                    f"{file.stat().st_size / 1e6:>5.1f} | {shown} {fragment}",
                    flush=True,
                )
    return 0


def _read(options: argparse.Namespace) -> float:
    """Return the seconds to read and check the documents, which every command does."""
    began = time.process_time()
    Stage.empty().checked(sources.read(options), options.namespace)
    return time.process_time() - began


def _computed(options: argparse.Namespace) -> tuple[float, Any]:
    began = time.process_time()
    _, data = report_data.answer(options)
    if data is None:
        raise SystemExit("the fleet is refused")
    return time.process_time() - began, data


@dataclass(frozen=True, slots=True)
class Measured:
    """A page in the browser, in milliseconds. `ticks` are those of its main thread for each filter, in rounds."""

    drawn: float
    cpu: float
    boxes: int
    plain: float
    ticks: tuple[float, ...]
    waited: tuple[float, ...]

    def __str__(self) -> str:
        """Return the columns of the table."""
        filters = (
            f"{statistics.median(self.ticks):>6.0f} {max(self.ticks):>6.0f} {statistics.median(self.waited):>6.0f}"
        )
        return f"{self.drawn:>6.0f} {self.cpu:>6.0f} {self.boxes:>6} {self.plain:>6.0f} | {filters}"


def measured(sheet: Sheet, file: Path, fragment: str = "") -> Measured:
    """Return what it costs to open a page, and to choose each of CHOICES, ROUNDS times."""
    session = sheet.context.new_cdp_session(sheet.page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    shown = sheet.open(file, fragment)
    shown.wait_for_timeout(500)
    cpu = _ticks(session)
    drawn = shown.evaluate("() => performance.getEntriesByName('drawn')[0].startTime")
    boxes = shown.evaluate("() => document.querySelectorAll('*').length")
    plain = shown.evaluate(_PLAIN, boxes)
    waited, ticks = [], []
    for choice in CHOICES * ROUNDS:
        before = _ticks(session)
        waited.append(shown.evaluate(_CHANGE, list(choice)))
        ticks.append(_ticks(session) - before)
    sheet.context.close()
    return Measured(drawn, cpu, boxes, plain, tuple(ticks), tuple(waited))


def _ticks(session: CDPSession) -> float:
    """Return the CPU milliseconds of the page's main thread so far, whatever else the machine does."""
    found = session.send("Performance.getMetrics")["metrics"]
    return 1000 * float(next(one["value"] for one in found if one["name"] == "TaskDuration"))


if __name__ == "__main__":
    sys.exit(main())
