"""What is repeated of an observed child, and what is left to its writers."""

from __future__ import annotations

from typing import Any

import pytest

from modelplane_functions import hold
from modelplane_functions.exchange import Ready

OBSERVED: dict[str, Any] = {
    "apiVersion": "modelplane.ai/v1alpha1",
    "kind": "ModelReplica",
    "metadata": {
        "name": "llama-0",
        "namespace": "ml-team",
        "uid": "4711",
        "resourceVersion": "12",
        "generateName": "llama-",
        "finalizers": ["composite.apiextensions.crossplane.io"],
        "ownerReferences": [{"kind": "ModelDeployment", "name": "llama"}],
        "managedFields": [{"manager": "apiextensions.crossplane.io/composed"}],
        "labels": {
            "crossplane.io/composite": "llama",
            "modelplane.ai/cluster": "gke-us",
            "topology.kubernetes.io/zone": "a",
        },
        "annotations": {
            "crossplane.io/composition-resource-name": "replica-llama-0",
            "kubectl.kubernetes.io/last-applied-configuration": "{}",
            "modelplane.ai/note": "kept",
        },
    },
    "spec": {"clusterName": "gke-us", "crossplane": {"resourceRefs": [{"name": "x"}]}},
    "status": {"conditions": [{"type": "Ready", "status": "True"}]},
}


def test_held_keeps_what_a_composer_writes_and_nothing_else() -> None:
    assert hold.held(OBSERVED) == {
        "apiVersion": "modelplane.ai/v1alpha1",
        "kind": "ModelReplica",
        "metadata": {
            "name": "llama-0",
            "namespace": "ml-team",
            "labels": {"modelplane.ai/cluster": "gke-us", "topology.kubernetes.io/zone": "a"},
            "annotations": {"modelplane.ai/note": "kept"},
        },
        "spec": {"clusterName": "gke-us"},
    }


def test_held_leaves_the_observed_object_alone() -> None:
    before = repr(OBSERVED)
    hold.held(OBSERVED)
    assert repr(OBSERVED) == before


def test_held_is_idempotent() -> None:
    assert hold.held(hold.held(OBSERVED)) == hold.held(OBSERVED)


def test_held_repeats_data_of_objects_without_a_spec() -> None:
    assert hold.held({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"k": "v"}})[
        "data"
    ] == {"k": "v"}


@pytest.mark.parametrize(
    ("status", "ready"),
    [
        pytest.param({"conditions": [{"type": "Ready", "status": "True"}]}, Ready.TRUE, id="its condition says so"),
        pytest.param({"conditions": [{"type": "Ready", "status": "Unknown"}]}, Ready.FALSE, id="unknown is not ready"),
        pytest.param(
            {"conditions": [{"type": "Synced", "status": "True"}]}, Ready.FALSE, id="another condition says nothing"
        ),
        pytest.param({}, Ready.FALSE, id="nothing observed"),
        pytest.param(None, Ready.FALSE, id="no status"),
    ],
)
def test_readiness_of_a_held_child_is_earned(status: object, ready: Ready) -> None:
    child = {**OBSERVED, "status": status}
    assert hold.hold({"replica-llama-0": child})["replica-llama-0"].ready is ready


def test_hold_repeats_every_child_also_one_that_is_being_deleted() -> None:
    dying = {**OBSERVED, "metadata": {**OBSERVED["metadata"], "deletionTimestamp": "2026-01-01T00:00:00Z"}}
    assert sorted(hold.hold({"b": dying, "a": OBSERVED})) == ["a", "b"]
