"""Protection of an InferenceCluster, or of a ModelCache, from deletion while replicas use it.

Source: Crossplane v2.4.0, protection.crossplane.io/v1beta1. Its webhook refuses every deletion of the object of a
ClusterUsage or a Usage and returns the reason to the client.
"""

from __future__ import annotations

from collections.abc import Sequence

from modelplane import names, words
from modelplane.render.manifest import Manifest

GROUP = "protection.crossplane.io"
IN_USE_KEY = "in-use"
# Each change of the reason is a write and an event, and a terminal has an end.
_NAMED = 3
_UNUSED = "no replica was seen that mounts its files; the protection ends with the next look"


def name_of(cluster: str) -> str:
    """Return the name of the cluster-scoped objects of a cluster: its provider configuration and its protection."""
    return names.bounded("modelplane", cluster)


def in_use(cluster: str, replicas: Sequence[str], *, other_objects: int) -> Manifest | None:
    """Return the ClusterUsage that protects a cluster from deletion, None if it is no longer in use.

    `replicas` are the keys of all replicas that name the cluster, including those being deleted. `other_objects` is the
    number of other objects that use its credentials, such as Objects whose replica is gone. A refused deletion is not
    replayed (replayDeletion), because the client was told that it failed.
    """
    if not replicas and other_objects <= 0:
        return None
    reason = _by_replicas(cluster, sorted(replicas)) if replicas else _by_objects(cluster)
    return Manifest(
        IN_USE_KEY,
        {
            "apiVersion": f"{GROUP}/v1beta1",
            "kind": "ClusterUsage",
            "metadata": {"name": name_of(cluster)},
            "spec": {
                "of": {
                    "apiVersion": names.API_VERSION,
                    "kind": "InferenceCluster",
                    "resourceRef": {"name": cluster},
                },
                "reason": reason,
            },
        },
    )


def cache_in_use(namespace: str, cache: str, replicas: Sequence[str], *, before: str) -> Manifest | None:
    """Return the Usage that protects a ModelCache from deletion, None if no replica uses it.

    `before` is the reason of the Usage that exists, empty without one. It says once that no replica was seen before it
    goes, so that a list of replicas which is short for a moment removes no protection.
    """
    if not replicas:
        return None if before in ("", _UNUSED) else _cache_usage(namespace, cache, _UNUSED)
    count = "1 replica mounts" if len(replicas) == 1 else f"{len(replicas)} replicas mount"
    reason = (
        f"{count} its files: {words.first(sorted(replicas), _NAMED)}; remove modelCacheRef from their deployments, or "
        "delete these, and delete the cache when they are gone"
    )
    return _cache_usage(namespace, cache, reason)


def _cache_usage(namespace: str, cache: str, reason: str) -> Manifest:
    return Manifest(
        IN_USE_KEY,
        {
            "apiVersion": f"{GROUP}/v1beta1",
            "kind": "Usage",
            "metadata": {"name": names.hashed("modelcache", cache, of=(namespace,)), "namespace": namespace},
            "spec": {
                "of": {"apiVersion": names.API_VERSION, "kind": "ModelCache", "resourceRef": {"name": cache}},
                "reason": reason,
            },
        },
    )


def _by_replicas(cluster: str, replicas: Sequence[str]) -> str:
    named = words.first(replicas, _NAMED)
    if len(replicas) > _NAMED:
        named += f" (kubectl get mr -A -l {names.LABEL_CLUSTER}={cluster})"
    count = "1 replica is" if len(replicas) == 1 else f"{len(replicas)} replicas are"
    return (
        f"{count} placed on it: {named}; scale down or delete their deployments, or move them away "
        "with a taint of effect NoExecute in spec.taints, and delete the cluster when they are gone"
    )


def _by_objects(cluster: str) -> str:
    # No number: it falls with every object, and each reason is a write.
    return (
        "Objects without a replica still use its credentials, to remove what was made there (kubectl get "
        f"providerconfigusages.kubernetes.m.crossplane.io -A -l crossplane.io/provider-config={name_of(cluster)}); "
        "delete the cluster when they are gone"
    )
