"""The protection of an InferenceCluster from deletion while something needs its credentials."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from modelplane import seen
from modelplane.render import protection
from modelplane.render.cloud import PROVIDER_CONFIG_KEY
from modelplane_functions import cluster_gateway, cluster_observation, cluster_queue, cluster_tls, installations
from modelplane_functions.exchange import Child, Observed, Ready
from modelplane_functions.standing import Standing

Json: TypeAlias = Any


def read(observed: Observed, standing: Standing, of_stack: int) -> dict[str, Child]:
    """Return the child that protects the cluster from deletion. Nothing is returned once the cluster is unused.

    A replica that is deleted in the background is gone before its Objects, which still need the credentials. An adopted
    provider config outlives the InferenceCluster, and only admitted workloads are known then.
    """
    users = _users(observed.children.get(PROVIDER_CONFIG_KEY, {}))
    looked_at = (cluster_gateway.KEY in observed.children) + cluster_queue.users(observed)
    looked_at += cluster_observation.users(observed)
    ours = looked_at + installations.users(observed) + of_stack + cluster_tls.users(observed)
    # Nothing is deleted of replicas of which only pods may be left, and on a lost cluster nobody sees these end.
    left = len(standing.leaving - standing.lingering)
    manifest = protection.in_use(observed.name, standing.named, other_objects=max(users - ours, left))
    if manifest is None:
        return {}
    # Without Crossplane's webhooks nothing reports on it, and a missing protection does not keep models from serving.
    exists = manifest.key in observed.children
    return {manifest.key: Child(manifest.resource, Ready.TRUE if exists else Ready.FALSE)}


def _users(provider_config: Mapping[str, Json]) -> int:
    """Return the number of objects that use the configuration, 1 if it cannot be read, so that the cluster stays."""
    status = provider_config.get("status")
    if status is None or (isinstance(status, Mapping) and status.get("users") is None):
        return 0  # the provider reports no users as no value
    count = seen.count(seen.at(status, "users"))
    return 1 if count is None else count
