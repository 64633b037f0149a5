"""Manifests in provider-kubernetes Objects, and back."""

from __future__ import annotations

from typing import Any

import pytest

from modelplane.api import inference_cluster
from modelplane.render import objects
from modelplane.render.backends import selection
from modelplane.render.manifest import Lifecycle, Manifest, Purpose, Readiness
from tests.support import any_backend

RESOURCE = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}
CONFIG = {"kind": "ClusterProviderConfig", "name": "gke-us"}


def _wrap(**fields: Any) -> dict[str, Any]:
    manifest = Manifest(key="route", resource=RESOURCE, **fields)
    return objects.wrap(manifest, provider_config=CONFIG, namespace="ml-team", owner="llama-0")


def test_a_manifest_is_wrapped_and_watched() -> None:
    assert _wrap() == {
        "apiVersion": "kubernetes.m.crossplane.io/v1alpha1",
        "kind": "Object",
        "metadata": {
            "name": "llama-0-route",
            "namespace": "ml-team",
            "annotations": {"modelplane.ai/purpose": "support"},
        },
        "spec": {
            "forProvider": {"manifest": RESOURCE},
            "providerConfigRef": CONFIG,
            "watch": True,
            "readiness": {"policy": "SuccessfulCreate"},
        },
    }
    assert objects.unwrap(_wrap()) == RESOURCE
    assert objects.is_object(_wrap())


@pytest.mark.parametrize(
    ("lifecycle", "policies"),
    [
        pytest.param(Lifecycle.OWN, None, id="own: the default is everything"),
        pytest.param(Lifecycle.KEEP, ["Observe", "Create", "Update"], id="keep: others may live in it"),
        pytest.param(Lifecycle.OBSERVE, ["Observe"], id="observe"),
    ],
)
def test_what_may_be_done_to_it(lifecycle: Lifecycle, policies: list[str] | None) -> None:
    assert _wrap(lifecycle=lifecycle)["spec"].get("managementPolicies") == policies


def test_an_object_that_outlives_its_pods_is_deleted_in_the_foreground() -> None:
    wrapped = _wrap(outlives_pods=True)
    assert wrapped["spec"]["forProvider"]["manifest"]["metadata"] == {"name": "a", "finalizers": ["foregroundDeletion"]}
    assert objects.outlives_pods(wrapped)
    assert not objects.outlives_pods(_wrap())
    assert objects.unwrap(wrapped) == RESOURCE, "the finalizer is no part of what was rendered"


@pytest.mark.parametrize("metadata", [None, 7, "x", [], {"finalizers": None}, {"finalizers": ["others"]}], ids=repr)
def test_metadata_of_another_type_is_wrapped_all_the_same(metadata: Any) -> None:
    odd = Manifest(key="route", resource={"metadata": metadata}, outlives_pods=True)
    wrapped = objects.wrap(odd, provider_config=CONFIG, namespace="ml-team", owner="llama-0")
    assert objects.outlives_pods(wrapped)


@pytest.mark.parametrize("name", sorted(selection.BACKENDS))
def test_what_runs_pods_outlives_them_where_its_controller_lets_it(name: str) -> None:
    found = []
    for replica in any_backend.plain(name):
        facts = inference_cluster.decode_facts(any_backend.cluster(replica))
        found += [one for one in selection.BACKENDS[name].render(replica, facts) if one.purpose is Purpose.WORKLOAD]
    assert found
    assert {one.outlives_pods for one in found} == {name not in ("KAITO", "KubeRay", "VLLMStack")}


def test_readiness_may_be_a_query() -> None:
    wrapped = _wrap(readiness=Readiness("object.spec.x == 1"))
    assert wrapped["spec"]["readiness"] == {"policy": "DeriveFromCelQuery", "celQuery": "object.spec.x == 1"}


@pytest.mark.parametrize(
    ("conditions", "ready"),
    [
        pytest.param({"Ready": "True", "Synced": "True"}, True, id="ready"),
        pytest.param({"Ready": "True"}, True, id="not synced yet"),
        pytest.param({"Ready": "True", "Synced": "False"}, False, id="ready as it was before the last change"),
        pytest.param({"Ready": "False", "Synced": "True"}, False, id="not ready"),
        pytest.param({}, False, id="nothing said"),
    ],
)
def test_ready_means_ready_as_wanted(conditions: dict[str, str], ready: bool) -> None:  # noqa: FBT001 - a table's column
    status = {"conditions": [{"type": kind, "status": value} for kind, value in conditions.items()]}
    assert objects.is_ready({**_wrap(), "status": status}) is ready


@pytest.mark.parametrize(
    ("status", "seen"),
    [
        pytest.param({"atProvider": {"manifest": RESOURCE}}, RESOURCE, id="seen"),
        pytest.param({"atProvider": {"manifest": {}}}, None, id="empty"),
        pytest.param({"atProvider": {}}, None, id="not yet"),
        pytest.param(None, None, id="no status"),
    ],
)
def test_the_remote_object_as_last_seen(status: Any, seen: Any) -> None:
    assert objects.observed({**_wrap(), "status": status}) == seen
    assert objects.observed(None) is None
