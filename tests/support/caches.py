"""Documents of model caches, and a small world in which they are staged: what the control plane would hold."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from typing import Any

from modelplane import names
from modelplane.api import model_cache

Json = Any
COMMIT = "a" * 40
NAMESPACE, NAME = "ml-team", "llama"


def cache(*, revision: str = COMMIT, labels: Mapping[str, str] | None = None, **spec: Json) -> dict[str, Json]:
    """Return a ModelCache; without labels it follows its replicas."""
    selector = {} if labels is None else {"clusterSelector": {"matchLabels": dict(labels)}}
    return {
        "apiVersion": names.API_VERSION,
        "kind": "ModelCache",
        "metadata": {"name": NAME, "namespace": NAMESPACE, "uid": "uid-mc"},
        "spec": {
            "source": {"huggingFace": {"repo": "owner/model", "revision": revision}},
            "size": "100Gi",
            "placement": "Require",
            "retention": "Delete",
            **selector,
            **spec,
        },
    }


def key_of(resource: Mapping[str, Json]) -> str:
    """Return the key of a cache's present source."""
    return model_cache.decode(resource).key


def told(resource: Mapping[str, Json], entries: Iterable[tuple[str, str, str]]) -> dict[str, Json]:
    """Return the cache with copies in its status: cluster, key and phase of each."""
    listed = [{"name": cluster, "key": key, "phase": phase} for cluster, key, phase in entries]
    return {**resource, "status": {"clusters": listed}}


def replica(
    name: str, cluster: str, *, key: str = "", mounted: Iterable[str] = (), cache: str = NAME
) -> dict[str, Json]:
    """Return as much of a ModelReplica as a cache reads."""
    spec: dict[str, Json] = {"clusterName": cluster, "modelCacheRef": {"name": cache}}
    return {
        "apiVersion": names.API_VERSION,
        "kind": "ModelReplica",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {**spec, **({"cacheKey": key} if key else {})},
        "status": {"mountedCaches": [f"{cache}/{one}" for one in mounted]},
    }


def as_observed(child: Mapping[str, Json], **status: Json) -> dict[str, Json]:
    """Return a composed child as it is observed later, with a status."""
    return {**copy.deepcopy(dict(child)), "status": status}
