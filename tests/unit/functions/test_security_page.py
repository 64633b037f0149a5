"""docs/security.md names guards and tests that exist."""

from __future__ import annotations

import functools
import re
from pathlib import Path

from tests.attack import lines
from tests.support import permissions

REPOSITORY = Path(__file__).resolve().parents[3]
PAGE = (REPOSITORY / "docs" / "security.md").read_text()
THREATS = PAGE.split("## Threats", 1)[1].split("## What is not guaranteed", 1)[0]
FOLDERS = (
    "tests/conformance/permissions",
    "tests/conformance/crossplane",
    "tests/conformance/aigateway",
    "tests/conformance/routing",
    "tests/unit/compose",
    "tests/unit/functions",
)
QUOTED = re.findall(r"`([^`]+)`", THREATS)


def test_every_policy_and_role_of_the_page_is_shipped_and_every_one_shipped_is_on_the_page() -> None:
    found = permissions.documents(permissions.CONTROL_PLANE, permissions.ENVOY_GATEWAY, *permissions.WORKLOAD)
    shipped = set(permissions.of_kind(found, "ValidatingAdmissionPolicy"))
    assert {one for one in QUOTED if one.startswith("modelplane-")} == shipped
    assert all(f"`{person}`" in PAGE for person in permissions.PERSONS)


def test_every_attack_and_test_of_the_page_exists() -> None:
    code = _code("*.py", *FOLDERS)
    named = [one for one in QUOTED if re.fullmatch(r"test_\w+(\.\.\.)?|[a-z]+(-[a-z]+)*(-\*)?|\*-status", one)]
    attacks = [one for one in named if not one.startswith(("test_", "modelplane-"))]
    missing = [one for one in named if one.startswith("test_") and f"def {one.removesuffix('...')}" not in code]
    missing += [
        one for one in attacks if not re.search(f'"{re.escape(one).replace(chr(92) + "*", "[a-z-]+")}": ', code)
    ]
    assert len(attacks) > 10
    assert missing == []


def test_every_threat_names_in_its_last_cell_a_test_or_an_attack_that_exists() -> None:
    rows = [row.strip().strip("|").split(" | ") for row in THREATS.splitlines() if row.startswith("| ")][1:]
    assert len(rows) > 15
    assert {len(row) for row in rows} == {4}
    unnamed = [row[1] for row in rows if not any(_proves(word) for word in re.findall(r"`([^`]+)`", row[3]))]
    assert unnamed == []
    wrong = [word for row in rows for word in re.findall(r"`([^`]+)`", row[3]) if not (_proves(word) or _is_said(word))]
    assert wrong == []


def test_every_path_of_the_page_exists() -> None:
    links = re.findall(r"\]\(([^)#]+)\)", PAGE)
    paths = re.findall(r"`((?:tests|examples)/[^`*]+)`", PAGE)
    assert [one for one in links if not (REPOSITORY / "docs" / one).exists()] == []
    assert [one for one in paths if not (REPOSITORY / one).exists()] == []


def test_every_test_that_the_page_names_is_in_the_suites() -> None:
    named = set(re.findall(r"`(test_\w+)(?:\[[^`]*\])?`", PAGE))
    written = "\n".join(path.read_text() for path in sorted((REPOSITORY / "tests").rglob("test_*.py")))
    defined = set(re.findall(r"def (test_\w+)", written))
    assert len(named) > 50
    assert sorted(named - defined) == []


def test_every_attack_beyond_the_first_table_is_on_the_page_by_its_function() -> None:
    table = PAGE.split("### In several steps", 1)[1].split("## Admission", 1)[0]
    cells = [row.split("|")[1] for row in table.splitlines() if row.startswith("| ")]
    named = {name for cell in cells for group in re.findall(r"\(((?:`\w+`(?:, )?)+)\)", cell) for name in _words(group)}
    assert named == {line.name for line in lines.LINES if line.severity == "beyond"}


def test_the_attacks_are_as_many_as_it_is_said() -> None:
    beyond = sum(line.severity == "beyond" for line in lines.LINES)
    said = f"{len(lines.LINES) - beyond} attacks that once succeeded and {beyond} more"
    assert said in (REPOSITORY / "docs" / "proven.md").read_text()


def _proves(word: str) -> bool:
    """Return whether a word is a test, a file of tests, an attack on policies or a line of the attack table."""
    if word in {line.name for line in lines.LINES}:
        return True
    if word.endswith(".py"):
        return any(path.as_posix().endswith(f"/{word}") for path in (REPOSITORY / "tests").rglob("test_*.py"))
    if word.startswith("test_"):
        name = re.escape(word.removesuffix("...")) + ("" if word.endswith("...") else r"\(")
        return bool(re.search(f"def {name}", _code("test_*.py", "tests")))
    if word.startswith("tests/"):
        return word not in FOLDERS and any((REPOSITORY / word).glob("test_*.py"))
    key = re.escape(word).replace(r"\*", "[a-z-]+")
    return bool(re.search(f'"{key}": ', _code("*.py", "tests/conformance/permissions")))


def _is_said(word: str) -> bool:
    """Return whether a word says where a test is, or how it is run."""
    return (REPOSITORY / word).is_dir() or word.startswith("hatch run ")


@functools.cache
def _code(pattern: str, *folders: str) -> str:
    return "\n".join(path.read_text() for folder in folders for path in sorted((REPOSITORY / folder).rglob(pattern)))


def _words(group: str) -> list[str]:
    return re.findall(r"`(\w+)`", group)
