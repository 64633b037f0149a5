"""The permissions we ship, as data: the files under examples, and what their roles allow."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

Document = dict[str, Any]
Allowed = Mapping[tuple[str, str], frozenset[str]]
"""Verbs by group and resource (with its subresource)."""

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
CONTROL_PLANE = EXAMPLES / "rbac"
ENVOY_GATEWAY = CONTROL_PLANE / "envoy-gateway"
AI_GATEWAY = CONTROL_PLANE / "ai-gateway"
OBSERVER = EXAMPLES / "rbac-workload-observer.yaml"
WORKLOAD = (EXAMPLES / "rbac-workload.yaml", EXAMPLES / "rbac-workload-llmd.yaml")
PERSONS = ("modelplane-tenant", "modelplane-viewer", "modelplane-fleet-viewer", "modelplane-platform")


def documents(*paths: Path) -> list[Document]:
    """Return the documents of files, and of the files that a folder itself holds, as `kubectl apply -f` reads them."""
    files = [file for path in paths for file in (sorted(path.glob("*.yaml")) if path.is_dir() else [path])]
    return [one for file in files for one in yaml.safe_load_all(file.read_text()) if one]


def of_kind(found: Iterable[Document], kind: str) -> dict[str, Document]:
    """Return the documents of a kind by name."""
    return {one["metadata"]["name"]: one for one in found if one["kind"] == kind}


def allowed(roles: Iterable[Document]) -> Allowed:
    """Return what roles allow together."""
    verbs: dict[tuple[str, str], set[str]] = defaultdict(set)
    for rule in (rule for role in roles for rule in role["rules"]):
        for group in rule["apiGroups"]:
            for resource in rule["resources"]:
                verbs[group, resource].update(rule["verbs"])
    return {key: frozenset(found) for key, found in verbs.items()}


def aggregated(found: Sequence[Document], name: str) -> list[Document]:
    """Return the ClusterRoles that a ClusterRole is the sum of."""
    roles = of_kind(found, "ClusterRole")
    selectors = [one["matchLabels"] for one in roles[name]["aggregationRule"]["clusterRoleSelectors"]]
    return [one for one in roles.values() if any(_selects(selector, one) for selector in selectors)]


def matched(policy: Document) -> Iterator[tuple[str, str, frozenset[str]]]:
    """Yield group, resource and operations of what a ValidatingAdmissionPolicy judges."""
    for rule in policy["spec"]["matchConstraints"]["resourceRules"]:
        for group in rule["apiGroups"]:
            for resource in rule["resources"]:
                yield group, resource, frozenset(rule["operations"])


def _selects(selector: Mapping[str, str], role: Document) -> bool:
    labels: Mapping[str, str] = role["metadata"].get("labels", {})
    return selector.items() <= labels.items()
