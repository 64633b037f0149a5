"""The engine of Prometheus, which says what queries give over series that a test writes down."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.support import gobinaries

_SECONDS = 60
_AT_SECONDS = 900
"""Fifteen samples after the first one, so that a rate over two minutes has what it needs."""


class Wrong(Exception):
    """A query that is not valid, or that gives more than the one element that a scaler reads."""


def ask(series: Mapping[str, str], queries: Sequence[str]) -> list[float | None]:
    """Return the value of each query, None without a series. `series` has samples of each minute, as in promqltest.

    Cost: minutes for the first build, then a tenth of a second. Raises: Wrong.
    """
    binary = gobinaries.build(Path(__file__).parent / "promql", ".", "promql")
    lines = "\n".join(["load 1m", *(f"  {name} {samples}" for name, samples in sorted(series.items()))])
    text = json.dumps({"series": lines, "queries": list(queries), "seconds": _AT_SECONDS})
    done = subprocess.run([str(binary)], input=text, capture_output=True, text=True, timeout=_SECONDS, check=True)
    answers = json.loads(done.stdout)
    wrong = [f"{query}: {one['error']}" for query, one in zip(queries, answers, strict=True) if one.get("error")]
    if wrong:
        raise Wrong("; ".join(wrong))
    return [one["value"] for one in answers]


def gauge(value: float) -> str:
    """Return the samples of a gauge that stays."""
    return f"{value}x30"


def counter(per_second: float) -> str:
    """Return the samples of a counter."""
    return f"0+{per_second * 60}x30"
