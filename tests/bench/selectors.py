"""Prints how fast and how right selectors are answered, ours and, where it is installed, those of cel-python.

Run: python -m tests.bench.selectors, or with cel-python: hatch run cel:compare. "Right" counts the 145 answers of
Kubernetes' own code in tests/unit/devices/cel_vectors.json: what is refused when it is written, and what is not. For
cel-python only its compiler is asked, which knows no types and no costs.
"""

from __future__ import annotations

import importlib.util
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from modelplane.devices import cel
from modelplane.errors import InvalidSelector
from tests.support.selectors import device_from_slice

VECTORS = json.loads((Path(__file__).parents[1] / "unit" / "devices" / "cel_vectors.json").read_text())
EVALUATIONS = 50_000


def main() -> int:
    """Print the tables; return 0."""
    cases = VECTORS["cases"]
    print(f"{'refused or taken when it is written':<38} {'right':>7} {'wrongly refused':>16} {'wrongly taken':>14}")
    print(_row("modelplane.devices.cel", cases, _ours))
    if importlib.util.find_spec("celpy") is not None:
        print(_row("cel-python", cases, _cel_python()))
    print()
    device = device_from_slice(VECTORS["driver"], VECTORS["device"])
    expression = next(case["expression"] for case in cases if case["id"] == "bench")
    selector = cel.compile(expression)
    started = time.process_time()
    for _ in range(EVALUATIONS):
        selector.evaluate(device)
    evaluated = EVALUATIONS / (time.process_time() - started)
    started = time.process_time()
    count = sum(_ours(f"{case['expression']} && {number} == {number}") is not None for number, case in enumerate(cases))
    compiled = count / (time.process_time() - started)
    print(f"{'compiled per CPU second':<38} {compiled:>10,.0f}")
    print(f"{'evaluated per CPU second (bench case)':<38} {evaluated:>10,.0f}")
    return 0


def _row(name: str, cases: list[dict[str, Any]], takes: Callable[[str], bool]) -> str:
    right = refused = taken = 0
    for case in cases:
        answer, wanted = takes(case["expression"]), case["apiServerAccepts"]
        right += answer == wanted
        refused += wanted and not answer
        taken += answer and not wanted
    return f"{name:<38} {right:>7} {refused:>16} {taken:>14}"


def _ours(expression: str) -> bool:
    try:
        cel.compile(expression)
    except InvalidSelector:
        return False
    return True


def _cel_python() -> Callable[[str], bool]:
    import celpy  # type: ignore[import-not-found]  # noqa: PLC0415 - only in the environment "cel"

    environment = celpy.Environment()

    def takes(expression: str) -> bool:
        try:
            environment.program(environment.compile(expression), functions={})
        except Exception:
            return False
        return True

    return takes


if __name__ == "__main__":
    raise SystemExit(main())
