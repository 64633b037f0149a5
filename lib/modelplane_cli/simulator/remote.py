"""Objects on workload clusters as their Objects of provider-kubernetes describe them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from modelplane import names
from modelplane.api import kinds
from modelplane_cli.simulator.store import Key, Store, controller_of, group_of

Json: TypeAlias = Any

KUBERNETES = "kubernetes.m.crossplane.io"

Identity: TypeAlias = tuple[str, str, str, str]
"""Group, kind, namespace and name of an object on a workload cluster."""


def manifest_of(resource: Mapping[str, Json]) -> dict[str, Json]:
    """Return the remote object as provider-kubernetes makes it: its name defaults to the Object's."""
    manifest = dict((resource.get("spec") or {}).get("forProvider", {}).get("manifest") or {})
    metadata = dict(manifest.get("metadata") or {})
    metadata.setdefault("name", resource["metadata"]["name"])
    return {**manifest, "metadata": metadata}


def kind_of(manifest: Mapping[str, Json]) -> tuple[str, Json]:
    """Return the group and kind of a manifest."""
    return group_of(str(manifest.get("apiVersion") or "")), manifest.get("kind")


def identity(manifest: Mapping[str, Json]) -> Identity:
    """Return the identity in the manifest of an Object. The manifest of a bad dump may have none."""
    metadata = manifest["metadata"]
    group = group_of(str(manifest.get("apiVersion") or ""))
    return group, str(manifest.get("kind")), str(metadata.get("namespace") or ""), str(metadata["name"])


def cluster_of(resource: Mapping[str, Json], store: Store) -> str:
    """Return the InferenceCluster an Object stands on: of its owner, else the name of its provider config."""
    owner = owner_of(resource)
    kind = None if owner is None else kinds.KINDS.get(owner.kind)
    if owner is not None and kind is not None and kind.cluster_of is not None:
        cluster = kind.cluster_of(store.get(owner) or {"metadata": {"name": owner.name}})
        if cluster:
            return cluster
    return str(((resource.get("spec") or {}).get("providerConfigRef") or {}).get("name") or "default")


def owner_of(resource: Mapping[str, Json]) -> Key | None:
    """Return the key of the composite that controls an Object, None for one that is not composed by ours."""
    owner = controller_of(resource) or {}
    kind = str(owner.get("kind"))
    if group_of(str(owner.get("apiVersion") or "")) != names.GROUP or kind not in kinds.KINDS:
        return None
    namespace = str(resource["metadata"].get("namespace") or "") if kinds.KINDS[kind].is_namespaced else ""
    return Key(names.GROUP, kind, namespace, str(owner.get("name")))
