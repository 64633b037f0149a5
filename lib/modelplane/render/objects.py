"""Manifests wrapped into provider-kubernetes Objects, and back.

Source: provider-kubernetes v1.2, kubernetes.m.crossplane.io/v1alpha1 (namespaced Object).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from modelplane import names, seen
from modelplane.render.manifest import Lifecycle, Manifest, Purpose

Json: TypeAlias = Any
Resource: TypeAlias = Mapping[str, Json]

API_VERSION = "kubernetes.m.crossplane.io/v1alpha1"
KIND = "Object"

# Everything but Delete, and everything but writing; LateInitialize would copy the cluster's defaults into what we own.
_KEEP = ("Observe", "Create", "Update")
_OBSERVE = ("Observe",)


def wrap(manifest: Manifest, *, provider_config: Mapping[str, str], namespace: str, owner: str) -> dict[str, Json]:
    """Return the Object that keeps the manifest on its cluster.

    It stands in `namespace` of the control plane and is named after `owner` and the manifest's key. `provider_config`
    is {kind, name} of the configuration that reaches the cluster.
    """
    spec: dict[str, Json] = {
        "forProvider": {"manifest": dict(manifest.resource)},
        "providerConfigRef": {"kind": provider_config["kind"], "name": provider_config["name"]},
        "watch": True,
        "readiness": _readiness(manifest),
    }
    if manifest.lifecycle is not Lifecycle.OWN:
        spec["managementPolicies"] = list(_KEEP if manifest.lifecycle is Lifecycle.KEEP else _OBSERVE)
    return {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "metadata": {
            "name": name_of(owner, manifest.key),
            "namespace": namespace,
            "annotations": {names.ANNOTATION_PURPOSE: str(manifest.purpose)},
        },
        "spec": spec,
    }


def name_of(owner: str, key: str) -> str:
    """Return the name of the Object that keeps the manifest `key` of `owner`."""
    return names.bounded(owner, key)


def unwrap(wrapped: Resource) -> Resource:
    """Return the bare manifest that an Object, desired or observed, puts on its cluster; empty where it has none."""
    manifest = seen.at(wrapped, "spec", "forProvider", "manifest")
    return manifest if isinstance(manifest, Mapping) else {}


def is_object(resource: Resource) -> bool:
    """Return whether the resource is such an Object."""
    return resource.get("kind") == KIND and str(resource.get("apiVersion", "")).startswith(
        "kubernetes.m.crossplane.io/"
    )


def purpose(wrapped: Resource) -> Purpose | None:
    """Return the part that what the Object carries plays for its replica, None where the Object does not say it."""
    said = ((wrapped.get("metadata") or {}).get("annotations") or {}).get(names.ANNOTATION_PURPOSE)
    return next((one for one in Purpose if one.value == said), None)


def observed(wrapped: Resource | None) -> Resource | None:
    """Return the remote object as it was last seen, None when it was not seen (yet)."""
    if wrapped is None:
        return None
    manifest = seen.at(wrapped, "status", "atProvider", "manifest")
    return manifest if isinstance(manifest, Mapping) and manifest else None


def condition(wrapped: Resource, kind: str) -> Resource:
    """Return a condition of the Object, empty when it has none of that type."""
    return seen.conditions(wrapped.get("status")).get(kind, {})


def is_ready(wrapped: Resource) -> bool:
    """Return whether the provider calls the Object ready, and in step with its spec."""
    synced = condition(wrapped, "Synced").get("status")
    return condition(wrapped, "Ready").get("status") == "True" and synced != "False"


def _readiness(manifest: Manifest) -> dict[str, Json]:
    if manifest.readiness.cel:
        return {"policy": "DeriveFromCelQuery", "celQuery": manifest.readiness.cel}
    return {"policy": "SuccessfulCreate"}
