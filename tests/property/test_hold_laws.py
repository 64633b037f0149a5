"""Law of holding: a child is repeated as it was composed, whatever the API server and others wrote into it."""

from __future__ import annotations

import copy
from typing import Any

from modelplane_functions import hold
from tests.support import situations

Json = Any

_SERVER = {"uid": "u", "resourceVersion": "7", "generation": 3, "creationTimestamp": "2026-01-01T00:00:00Z"}
_NOTES = {
    "crossplane.io/composition-resource-name": "key",
    "crossplane.io/external-create-pending": "2026-01-01T00:00:00Z",
    "kubectl.kubernetes.io/last-applied-configuration": "{}",
}


def _stored(resource: Json) -> Json:
    """Return a composed resource as an API server has it after a provider and Crossplane wrote their notes."""
    made = copy.deepcopy(dict(resource))
    made["metadata"] = {**made["metadata"], **_SERVER}
    made["metadata"]["annotations"] = {**made["metadata"].get("annotations", {}), **_NOTES}
    made["metadata"]["labels"] = {**made["metadata"].get("labels", {}), "crossplane.io/composite": "x"}
    made["status"] = {"conditions": []}
    return made


def test_what_is_held_is_what_was_composed() -> None:
    """An annotation that falls out is removed: by external-name a provider finds its object, and makes a second one."""
    asked = 0
    for one in situations.running():
        for key, child in one.rest.children.items():
            wanted = copy.deepcopy(dict(child.resource))
            held = hold.held(_stored(wanted))
            about = f"{one}: {key}"
            for part in ("name", "namespace", "labels", "annotations"):
                assert held["metadata"].get(part) == wanted["metadata"].get(part), about
            assert held.get("spec") == wanted.get("spec"), about
            asked += 1
    assert asked > 500


def test_a_name_that_a_provider_assigned_is_not_repeated() -> None:
    made = {"kind": "VPC", "metadata": {"name": "a", "annotations": {"crossplane.io/external-name": "vpc-0abc"}}}
    assert "annotations" not in hold.held(made)["metadata"]
