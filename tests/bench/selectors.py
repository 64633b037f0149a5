"""Prints how fast and how right selectors are answered, ours and, where they are installed, those of others.

With cel-python and cel-expr-python: hatch run cel:compare. "Right" counts the 145 answers of Kubernetes' own code in
tests/unit/devices/cel_vectors.json: what is refused when it is written, and what is not. Of the others only the
compilers are asked: cel-python's knows no types, and neither knows costs.
"""

from __future__ import annotations

import importlib.util
import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from modelplane import units
from modelplane.devices import matching, selector
from modelplane.errors import InvalidSelector
from tests.bench import arguments, cel_expr
from tests.support.selectors import device_from_slice

VECTORS = json.loads((Path(__file__).parents[1] / "unit" / "devices" / "cel_vectors.json").read_text())
EVALUATIONS = 50_000
COMPILATIONS = 3_000
MANY = 1_000_000
MEMORY_AND_ARCHITECTURE = (
    'device.capacity["gpu.nvidia.com"].memory.compareTo(quantity("{number}Mi")) >= 0'
    ' && device.attributes["gpu.nvidia.com"].architecture == "Hopper"'
)


def main(given: Sequence[str] | None = None) -> int:
    """Print the tables; return 0."""
    arguments.parser("selectors", __doc__, example="").parse_args(given)
    cases = VECTORS["cases"]
    others = _cel_python() if importlib.util.find_spec("celpy") is not None else None
    google = cel_expr.compiler() if importlib.util.find_spec("cel_expr_python") is not None else None
    print(f"{'refused or taken when it is written':<44} {'right':>7} {'wrongly refused':>16} {'wrongly taken':>14}")
    print(_row("modelplane.devices.selector", cases, _ours))
    if others is not None:
        print(_row("cel-python", cases, others))
    if google is not None:
        print(_row("cel-expr-python", cases, google))
        deep = cel_expr.deep()
        print(f"\n{cel_expr.DEEP} parentheses: ours {_word(_ours(deep))}, cel-expr-python {_word(google(deep))}")
    print()
    texts = [MEMORY_AND_ARCHITECTURE.format(number=number) for number in range(COMPILATIONS)]
    # a comment makes another text of the same expression: nothing is found in a cache, and nothing more is to be done
    varied = [f"{case['expression']} // {turn}" for turn in range(20) for case in cases]
    rivals = [takes for takes in (others, google) if takes is not None]
    names = [name for name, takes in (("cel-python", others), ("cel-expr", google)) if takes is not None]
    print(f"{'per CPU second':<44} {'ours':>12} " + " ".join(f"{name:>12}" for name in names))
    print(_rate("compiled, memory and architecture", texts, rivals))
    print(_rate("compiled, the 145 in turn", varied, rivals))
    _evaluations(others=others is not None)
    return 0


def _evaluations(*, others: bool) -> None:
    device = device_from_slice(VECTORS["driver"], VECTORS["device"])
    compiled = selector.compile(MEMORY_AND_ARCHITECTURE.format(number=80_000))
    rates = [_per_second(EVALUATIONS, lambda: compiled.evaluate(device))]
    if others:
        rates.append(_per_second(EVALUATIONS // 50, _cel_python_program(compiled.expression)))
    print(f"{'evaluated, memory and architecture':<44} " + " ".join(f"{rate:>12,.0f}" for rate in rates))
    wanted = ((compiled.expression,), device_from_slice(VECTORS["driver"], VECTORS["device"]))
    matching.answer(*wanted)
    again = _per_second(EVALUATIONS, lambda: matching.answer(*wanted))
    print(f"{'asked again of an equal device':<44} {again:>12,.0f}")
    before = _resident_kib()
    for _ in range(MANY):
        compiled.evaluate(device)
    print(f"\nmemory grew by {_resident_kib() - before} KiB over {MANY:,} evaluations")


def _cel_python_program(expression: str) -> Callable[[], object]:
    """Return its evaluation of the same expression; it knows no quantities, so they are ours, read anew each time."""
    import celpy  # noqa: PLC0415 - only in the environment "cel"
    from celpy import celtypes  # noqa: PLC0415 - as above

    def compare(left: object, right: object) -> object:
        return celtypes.IntType(units.quantity(str(left)).compare(units.quantity(str(right))))

    functions = {"quantity": celtypes.StringType, "compareTo": compare}
    environment = celpy.Environment()
    program = environment.program(environment.compile(expression), functions=functions)
    (domain, driver) = ("gpu.nvidia.com", VECTORS["driver"])
    device = {
        "driver": driver,
        "capacity": {domain: {"memory": "81559Mi"}},
        "attributes": {domain: {"architecture": "Hopper"}},
    }
    bound = {"device": celpy.json_to_cel(device)}
    return lambda: program.evaluate(bound)


def _word(taken: bool) -> str:  # noqa: FBT001 - the answer itself
    return "takes it" if taken else "refuses it"


def _rate(name: str, texts: list[str], rivals: list[Callable[[str], bool]]) -> str:
    """Return a row: how many different texts each engine compiles in a second of CPU."""
    rates = [_compiled(texts, _ours)]
    rates += [_compiled(texts[:: max(1, len(texts) // 300)], takes) for takes in rivals]
    return f"{name:<44} " + " ".join(f"{rate:>12,.0f}" for rate in rates)


def _compiled(texts: list[str], takes: Callable[[str], bool]) -> float:
    started = time.process_time()
    for text in texts:
        takes(text)
    return len(texts) / (time.process_time() - started)


def _per_second(count: int, act: Callable[[], object]) -> float:
    started = time.process_time()
    for _ in range(count):
        act()
    return count / (time.process_time() - started)


def _resident_kib() -> int:
    """Return the memory this process holds now, where the system says."""
    status = Path("/proc/self/status")
    lines = status.read_text().splitlines() if status.exists() else []
    return next((int(line.split()[1]) for line in lines if line.startswith("VmRSS:")), 0)


def _row(name: str, cases: list[dict[str, Any]], takes: Callable[[str], bool]) -> str:
    right = refused = taken = 0
    for case in cases:
        answer, wanted = takes(case["expression"]), case["apiServerAccepts"]
        right += answer == wanted
        refused += wanted and not answer
        taken += answer and not wanted
    return f"{name:<44} {right:>7} {refused:>16} {taken:>14}"


def _ours(expression: str) -> bool:
    try:
        selector.compile(expression)
    except InvalidSelector:
        return False
    return True


def _cel_python() -> Callable[[str], bool]:
    import celpy  # noqa: PLC0415 - only in the environment "cel"

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
