"""examples/rbac.yaml allows Crossplane everything that the composers compose."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml

REPOSITORY = Path(__file__).resolve().parents[3]
DOCUMENTS = list(yaml.safe_load_all((REPOSITORY / "examples" / "rbac.yaml").read_text()))
# Granted by Crossplane itself: its own kinds, ours, and those of its providers.
GRANTED = re.compile(r"(^|\.)(crossplane\.io|modelplane\.ai)$")
WANTED = {"get", "list", "watch", "create", "update", "patch", "delete"}


def composed_kinds() -> set[tuple[str, str]]:
    """Return (group, kind) of every object in a golden outcome that a composer composes."""
    found: set[tuple[str, str]] = set()

    def walk(value: Any) -> None:
        if isinstance(value, dict):
            if isinstance(value.get("resource"), dict) and "kind" in value["resource"]:
                resource = value["resource"]
                found.add((str(resource["apiVersion"]).rpartition("/")[0], str(resource["kind"])))
                return
            for one in value.values():
                walk(one)
        elif isinstance(value, list):
            for one in value:
                walk(one)

    for path in sorted((REPOSITORY / "tests" / "golden").rglob("*.yaml")):
        for document in yaml.safe_load_all(path.read_text()):
            walk(document)
    return found


def allowed() -> dict[tuple[str, str], set[str]]:
    (role,) = [one for one in DOCUMENTS if one["kind"] == "ClusterRole"]
    assert role["metadata"]["labels"] == {"rbac.crossplane.io/aggregate-to-crossplane": "true"}
    return {
        (group, plural): set(rule["verbs"])
        for rule in role["rules"]
        for group in rule["apiGroups"]
        for plural in rule["resources"]
    }


def plural(kind: str) -> str:
    """Return the resource name of a kind, as the Gateway API and Envoy Gateway form it."""
    lower = kind.lower()
    return lower + "es" if lower.endswith("s") else re.sub("([^aeiou])y$", r"\1ie", lower) + "s"


def test_every_composed_kind_is_allowed() -> None:
    composed = {(group, kind) for group, kind in composed_kinds() if not GRANTED.search(group)}
    assert ("gateway.networking.k8s.io", "HTTPRoute") in composed, (
        "the golden outcomes hold no route: nothing is proved"
    )
    missing = {one for one in composed if not allowed().get((one[0], plural(one[1])), set()) >= WANTED}
    assert missing == set()


def test_nothing_is_allowed_that_is_not_composed() -> None:
    """Least privilege: a kind that nobody composes any more leaves the role as well."""
    used = {(group, plural(kind)) for group, kind in composed_kinds()}
    listed = {entry for entry in allowed() if entry[0] != "modelplane.ai"}
    assert listed - used == set()
