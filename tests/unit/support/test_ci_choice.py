"""Suites that a run chooses: by what was changed, by the day, by name; and the table they are chosen from."""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterable
from datetime import date, timedelta
from pathlib import Path

import pytest

from tests.conformance.tools import workshop
from tests.support.ci import choice, suites
from tests.support.ci.suites import EVERYTHING, GROUPS, SUITES, Suite

REPOSITORY = Path(__file__).resolve().parents[3]
NOBODY: frozenset[str] = frozenset()
# A day whose turn is that of group 0.
DAY = date.fromordinal(GROUPS * 250_000)


def suite(name: str, group: int, minutes: float = 1, *paths: str, parts: tuple[str, ...] = ()) -> Suite:
    return Suite(name, (name,), paths or (f"{name}/",), group, minutes, limit_minutes=9, parts=parts)


A, B, C = suite("a", 0, 5), suite("b", 1, 3, "b/", "both/"), suite("c", 2, 1, "c/", "both/", parts=("c1", "c2"))

CASES: tuple[tuple[str, set[str] | None, int, set[str], list[str]], ...] = (
    ("only the turn of the day", {"README.md"}, 0, set(), ["a"]),
    ("the next day another", {"README.md"}, 1, set(), ["b"]),
    ("the turn comes again", {"README.md"}, GROUPS, set(), ["a"]),
    ("what is touched comes first", {"both/x"}, 0, set(), ["b", "c", "a"]),
    ("a name that only begins alike is another", {"bother"}, 0, set(), ["a"]),
    ("the turn of the day comes first of what is touched", {"a/x", "both/x"}, 2, set(), ["c", "a", "b"]),
    ("unknown is touched", None, 1, set(), ["b", "c", "a"]),
    ("what touches everything", {EVERYTHING[0]}, 0, set(), ["a", "b", "c"]),
    ("left out by name, touched or not", {"both/x", "a/x"}, 0, {"b"}, ["a", "c"]),
    ("left out by all of its parts", None, 0, {"c1", "c2"}, ["a", "b"]),
    ("not by some", None, 0, {"c1"}, ["a", "b", "c"]),
)


@pytest.mark.parametrize(("changed", "days", "skip", "run"), [pytest.param(*row[1:], id=row[0]) for row in CASES])
def test_choice(changed: set[str] | None, days: int, skip: set[str], run: list[str]) -> None:
    files = None if changed is None else frozenset(changed)
    chosen = choice.choose((A, B, C), files, DAY + timedelta(days=days), frozenset(skip))
    assert [one.suite.name for one in chosen.run] == run
    assert sorted([*run, *(one.name for one in chosen.left_out)]) == ["a", "b", "c"], "each runs or is left out, said"


def test_what_is_left_out_says_why_and_when_its_turn_is() -> None:
    chosen = choice.choose((A, B, C), frozenset({"x"}), date(2026, 3, 1), frozenset({"c"}))
    words = {one.name: one.why for one in chosen.left_out}
    assert words["c"] == "named by MODELPLANE_SKIP"
    days = [date.fromisoformat(why.rpartition(" ")[2]) for name, why in words.items() if name != "c"]
    assert all(date(2026, 3, 1) < day < date(2026, 3, 1) + timedelta(days=GROUPS) for day in days)


def test_each_suite_has_its_turn_within_the_groups_and_only_once() -> None:
    turns = [
        one.suite.name
        for number in range(GROUPS)
        for one in choice.choose(SUITES, frozenset({"README.md"}), DAY + timedelta(days=number), NOBODY).run
    ]
    assert sorted(turns) == sorted(one.name for one in SUITES)


def test_what_is_first_when_all_is_touched_changes_by_the_day() -> None:
    first = {
        choice.choose(SUITES, None, DAY + timedelta(days=number), NOBODY).run[0].suite.group for number in range(9)
    }
    assert first == set(range(GROUPS))


def test_all_of_them_in_the_order_of_the_table() -> None:
    chosen = choice.everything(SUITES, frozenset({"e2e"}))
    assert [one.suite.name for one in chosen.run] == [one.name for one in SUITES if one.name != "e2e"]
    assert [one.name for one in chosen.left_out] == ["e2e"]


# --- the table -------------------------------------------------------------------------------------------------------


def test_names_differ_and_groups_exist() -> None:
    names = [one.name for one in SUITES]
    assert len(set(names)) == len(names)
    assert {one.group for one in SUITES} == set(range(GROUPS))


@pytest.mark.parametrize("one", SUITES, ids=lambda one: one.name)
def test_paths_and_programs_of_a_suite_exist(one: Suite) -> None:
    for path in one.paths:
        assert (REPOSITORY / path).exists(), f"{path} was moved: correct it in tests/support/ci/suites.py"
        assert path.endswith("/") == (REPOSITORY / path).is_dir(), path
    assert set(one.programs) <= set(workshop.names())
    assert 0 < one.minutes < one.limit_minutes


def test_every_conformance_folder_with_tests_is_a_suite_or_among_the_tests() -> None:
    folders = {path.parent.name for path in (REPOSITORY / "tests" / "conformance").glob("*/test_*.py")}
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))
    command = project["tool"]["hatch"]["envs"]["default"]["scripts"]["test"]
    always = {
        path.name for path in (REPOSITORY / "tests" / "conformance").iterdir() if f"conformance/{path.name}" in command
    }
    assert (
        folders == {one.name for one in SUITES if (REPOSITORY / "tests" / "conformance" / one.name).is_dir()} | always
    )


@pytest.mark.parametrize("one", SUITES, ids=lambda one: one.name)
def test_a_suite_depends_on_what_its_tests_import(one: Suite) -> None:
    """What a suite's own files import from the product must touch it; support that all share need not."""
    folder = REPOSITORY / "tests" / "conformance" / one.name
    wanted = {name for path in folder.glob("*.py") for name in _imports(path)}
    for name in sorted(wanted):
        path = _path(name)
        if path is not None and not path.startswith("tests/support/"):
            assert path.startswith((*one.paths, "tests/conformance/__init__.py")), f"{name} does not touch {one.name}"


def test_every_file_of_the_product_touches_a_suite() -> None:
    prefixes = tuple(path for one in SUITES for path in one.paths)
    files = [path.relative_to(REPOSITORY).as_posix() for top in ("lib", "functions", "apis") for path in _files(top)]
    assert [name for name in files if not name.startswith(prefixes)] == []


def test_the_seed_is_the_day() -> None:
    assert suites.seed(date(2026, 1, 2)) == 20260102


def _files(top: str) -> Iterable[Path]:
    return (path for path in (REPOSITORY / top).rglob("*.*") if "__pycache__" not in path.parts)


def _imports(path: Path) -> Iterable[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _path(name: str) -> str | None:
    """Return the file of a module of ours that a dotted name leads to."""
    parts = name.split(".")
    for end in range(len(parts), 0, -1):
        for root in ("lib", "functions", "."):
            for tail in (".py", "/__init__.py"):
                path = Path(root) / ("/".join(parts[:end]) + tail)
                if (REPOSITORY / path).is_file():
                    return path.as_posix()
    return None
