"""Remote objects that two owners write differently: each would undo the other for ever, and nothing would show it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from modelplane_cli.simulator import remote
from modelplane_cli.simulator.record import Bug
from modelplane_cli.simulator.store import Key, Store

Json: TypeAlias = Any


def fights(store: Store) -> list[Bug]:
    """Return one bug per object of a workload cluster that several Objects want to be different things."""
    wanted: dict[tuple[str, remote.Identity], tuple[Key, Mapping[str, Json]]] = {}
    found = []
    for key in store.of_kind(remote.KUBERNETES, "Object"):
        resource = store.get(key) or {}
        spec = resource.get("spec") or {}
        if spec.get("managementPolicies") == ["Observe"]:
            continue
        manifest = remote.manifest_of(resource)
        cluster = remote.cluster_of(resource, store)
        what = remote.identity(manifest)
        first = wanted.setdefault((cluster, what), (key, manifest))
        if first[1] != manifest:
            found.append(Bug(key, f"wants {Key(*what)} on {cluster} to be another than {first[0]} does"))
    return found
