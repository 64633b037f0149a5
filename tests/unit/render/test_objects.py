"""Manifests in provider-kubernetes Objects, and back."""

from __future__ import annotations

from typing import Any

import pytest

from modelplane.render import objects
from modelplane.render.manifest import Lifecycle, Manifest, Readiness

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
