"""docs/security.md names guards and tests that exist."""

from __future__ import annotations

import re
from pathlib import Path

from tests.support import permissions

REPOSITORY = Path(__file__).resolve().parents[3]
PAGE = (REPOSITORY / "docs" / "security.md").read_text()
THREATS = PAGE.split("## Threats", 1)[1].split("## What is not guaranteed", 1)[0]
QUOTED = re.findall(r"`([^`]+)`", THREATS)


def test_every_policy_and_role_of_the_page_is_shipped_and_every_one_shipped_is_on_the_page() -> None:
    found = permissions.documents(permissions.CONTROL_PLANE, permissions.ENVOY_GATEWAY, *permissions.WORKLOAD)
    shipped = set(permissions.of_kind(found, "ValidatingAdmissionPolicy"))
    assert {one for one in QUOTED if one.startswith("modelplane-")} == shipped
    assert all(f"`{person}`" in PAGE for person in permissions.PERSONS)


def test_every_attack_and_test_of_the_page_exists() -> None:
    folders = ("tests/conformance/permissions", "tests/unit/compose", "tests/conformance/crossplane")
    code = "\n".join(path.read_text() for folder in folders for path in sorted((REPOSITORY / folder).glob("*.py")))
    named = [one for one in QUOTED if re.fullmatch(r"test_\w+(\.\.\.)?|[a-z]+(-[a-z]+)*(-\*)?|\*-status", one)]
    attacks = [one for one in named if not one.startswith(("test_", "modelplane-"))]
    missing = [one for one in named if one.startswith("test_") and f"def {one.removesuffix('...')}" not in code]
    missing += [
        one for one in attacks if not re.search(f'"{re.escape(one).replace(chr(92) + "*", "[a-z-]+")}": ', code)
    ]
    assert len(attacks) > 10
    assert missing == []


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
