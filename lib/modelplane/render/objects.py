"""Objects of provider-kubernetes, which wrap manifests.

Source: provider-kubernetes v1.2, kubernetes.m.crossplane.io/v1alpha1 (namespaced Object). It deletes an object without
a propagation policy, so that a finalizer on the object chooses one (Kubernetes v1.36, apiserver, registry/store.go).
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
YIELDS = ("Observe", "Create", "Delete")
"""The management policies of an Object whose fields are left to another owner: no update."""
FOREGROUND = "foregroundDeletion"
"""The finalizer that keeps an object until the garbage collector has seen its dependents end, its pods at last."""


def wrap(manifest: Manifest, *, provider_config: Mapping[str, str], namespace: str, owner: str) -> dict[str, Json]:
    """Return the Object that applies the manifest to its cluster.

    The Object is in `namespace` of the control plane and has its name from `owner` and the key of the manifest.
    `provider_config` is {kind, name} of the configuration that reaches the cluster.
    """
    bare = dict(manifest.resource)
    if manifest.outlives_pods:
        metadata = bare.get("metadata")
        bare["metadata"] = {**(metadata if isinstance(metadata, Mapping) else {}), "finalizers": [FOREGROUND]}
    spec: dict[str, Json] = {
        "forProvider": {"manifest": bare},
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


def outliving(wrapped: Resource, *, is_kept: bool) -> dict[str, Json]:
    """Return an Object that is repeated, whose object outlives it or ends with it. One that only looks stays so."""
    spec = wrapped["spec"]
    if spec.get("managementPolicies") == list(_OBSERVE):
        return dict(wrapped)
    others = {key: value for key, value in spec.items() if key != "managementPolicies"}
    return {**wrapped, "spec": {**others, **({"managementPolicies": list(_KEEP)} if is_kept else {})}}


def yielding(wrapped: Resource) -> dict[str, Json]:
    """Return the Object without the right to update: what another client writes there stays."""
    return {**wrapped, "spec": {**wrapped["spec"], "managementPolicies": list(YIELDS)}}


def is_yielded(wrapped: Resource) -> bool:
    """Return whether the fields of the object are left to another owner."""
    return bool(seen.at(wrapped, "spec", "managementPolicies") == list(YIELDS))


def name_of(owner: str, key: str) -> str:
    """Return the name of the Object for the manifest `key` of `owner`."""
    return names.bounded(owner, key)


def unwrap(wrapped: Resource) -> Resource:
    """Return the bare manifest of a desired or observed Object, empty if it has none.

    The finalizer says how the Object deletes it and is no part of it.
    """
    manifest = seen.at(wrapped, "spec", "forProvider", "manifest")
    if not isinstance(manifest, Mapping):
        return {}
    if not outlives_pods(wrapped):
        return manifest
    metadata = {key: value for key, value in manifest["metadata"].items() if key != "finalizers"}
    return {**manifest, "metadata": metadata}


def outlives_pods(wrapped: Resource) -> bool:
    """Return whether the object is deleted in the foreground."""
    return bool(seen.at(wrapped, "spec", "forProvider", "manifest", "metadata", "finalizers") == [FOREGROUND])


def is_object(resource: Resource) -> bool:
    """Return whether the resource is an Object of provider-kubernetes."""
    return resource.get("kind") == KIND and str(resource.get("apiVersion", "")).startswith(
        "kubernetes.m.crossplane.io/"
    )


def purpose(wrapped: Resource) -> Purpose | None:
    """Return the purpose of the wrapped object, None if the Object does not have it."""
    said = ((wrapped.get("metadata") or {}).get("annotations") or {}).get(names.ANNOTATION_PURPOSE)
    return next((one for one in Purpose if one.value == said), None)


def observed(wrapped: Resource | None) -> Resource | None:
    """Return the last observed remote object, None if it has not been observed."""
    if wrapped is None:
        return None
    manifest = seen.at(wrapped, "status", "atProvider", "manifest")
    return manifest if isinstance(manifest, Mapping) and manifest else None


def condition(wrapped: Resource, kind: str) -> Resource:
    """Return the condition of that type of the Object, empty if it has none."""
    return seen.condition(wrapped.get("status"), kind)


def is_current(wrapped: Resource) -> bool:
    """Return whether the provider has applied the Object as it is now."""
    synced, generation = condition(wrapped, "Synced"), seen.count(seen.at(wrapped, "metadata", "generation"))
    return generation is not None and synced.get("status") == "True" and synced.get("observedGeneration") == generation


def is_ready(wrapped: Resource) -> bool:
    """Return whether the provider reports the Object as ready and synced."""
    synced = condition(wrapped, "Synced").get("status")
    return condition(wrapped, "Ready").get("status") == "True" and synced != "False"


def _readiness(manifest: Manifest) -> dict[str, Json]:
    if manifest.readiness.cel:
        return {"policy": "DeriveFromCelQuery", "celQuery": manifest.readiness.cel}
    return {"policy": "SuccessfulCreate"}


def is_removable(resource: Resource) -> bool:
    """Return whether the deletion of a managed resource, a Release or an Object removes what it stands for."""
    policies = seen.at(resource, "spec", "managementPolicies")
    return not isinstance(policies, list) or not policies or "*" in policies or "Delete" in policies
