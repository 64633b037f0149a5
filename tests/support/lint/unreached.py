"""The check that programs reach all of `lib` and `functions`: `python -m tests.support.lint.unreached`.

Its entry points are what people and machines start: the command with its sub-commands, the function server with its
composers, the programs that build the package, and the package that is of use without the others.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from modelplane_cli import shorts
from modelplane_cli.__main__ import COMMANDS
from modelplane_cli.output import models
from modelplane_functions import registry
from tests.support.lint import reach
from tests.support.lint.code import Module, Symbol

REPOSITORY = Path(__file__).resolve().parents[3]
ROOTS = ("lib", "functions", "functions/package")
PROJECT = REPOSITORY / "pyproject.toml"
KEPT = Path(__file__).with_name("unreached.toml")
SERVER = "modelplane_functions.__main__"
_SCRIPT = re.compile(r"python functions/package/(\w+)\.py")
FRONT_DOORS = ("kubecel", "kubecel.environment", "kubecel.rules", "kubecel.check", "kubecel.syntax", "kubecel.values")


@dataclass(frozen=True, slots=True)
class Kept:
    """A symbol that stays although no program reaches it, and why."""

    name: str
    reason: str


def entries(known: Mapping[str, Module]) -> list[str]:
    """Return the entry points; modules that are loaded by name are asked for the functions their loader calls."""
    found = [*programs(tomllib.loads(PROJECT.read_text(encoding="utf-8"))), SERVER]
    found += [door for door in FRONT_DOORS if door in known]
    modules = [shorts.module(name) for name in COMMANDS]
    found += [f"modelplane_cli.commands.{name}.main" for name in modules]
    found += [f"modelplane_cli.parsers.{name}.parser" for name in modules if f"modelplane_cli.parsers.{name}" in known]
    found += [f"{models.__name__}.{shorts.module(command)}.{model}" for command, model in models.ANSWERS.items()]
    for composer in registry.composers().values():
        module = f"modelplane_functions.compose.{composer.module}"
        found.append(f"{module}.compose")
        found += [f"{module}.prepare"] if module in known and f"{module}.prepare" in known[module].symbols else []
    return found


def programs(project: Mapping[str, Any]) -> list[str]:
    """Return what the project's file starts: its commands, and scripts of hatch under functions/package."""
    commands = [target.replace(":", ".") for target in project["project"]["scripts"].values()]
    scripts = str(project["tool"]["hatch"]["envs"]["default"]["scripts"])
    return [*(target.rpartition(".")[0] for target in commands), *commands, *sorted(set(_SCRIPT.findall(scripts)))]


def exceptions(path: Path) -> list[Kept]:
    """Return the list of exceptions. Raises: ValueError for one without a reason."""
    rows = tomllib.loads(path.read_text(encoding="utf-8")).get("kept", [])
    for row in rows:
        if not str(row.get("reason", "")).strip():
            raise ValueError(f"{path.name}: {row.get('name')} needs a reason")
    return [Kept(row["name"], row["reason"]) for row in rows]


def complaints(known: Mapping[str, Module], started: Sequence[str], kept: Iterable[Kept], below: Path) -> list[str]:
    """Return what is wrong, a line each: what nothing reaches, what nothing gives, exceptions that are not needed."""
    excused = {one.name for one in kept}
    missed = reach.unreached(known, started)
    bare = reach.never_given(known, started)
    lines = [
        f"{_place(one, below)}: no program reaches {one.kind} {one.name}" for one in missed if _is_new(one, excused)
    ]
    lines += [f"{_place(one, below)}: no program gives {one.name} a value" for one in bare if _is_new(one, excused)]
    found = {one.name for one in (*missed, *bare)}
    return lines + [f"{KEPT.name}: the exception {name} is not needed" for name in sorted(excused - found)]


def main() -> int:
    """Return the exit code: 0 when all is reached, given or excused."""
    known = reach.modules(REPOSITORY / root for root in ROOTS)
    wrong = complaints(known, entries(known), exceptions(KEPT), REPOSITORY)
    for line in wrong:
        print(line)  # noqa: T201 - a check speaks to people
    if wrong:
        print(f"delete it, move it to the tests that use it, or give a reason in {KEPT.relative_to(REPOSITORY)}")  # noqa: T201
        return 1
    return 0


def _is_new(symbol: Symbol, excused: set[str]) -> bool:
    return symbol.name not in excused


def _place(symbol: Symbol, below: Path) -> str:
    return f"{symbol.path.relative_to(below)}:{symbol.line}"


if __name__ == "__main__":
    sys.exit(main())
