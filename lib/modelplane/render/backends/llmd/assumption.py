"""The status that controllers give the objects of a replica that comes up, for worlds without a cluster."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from modelplane.render.backend import IsThere
from modelplane.render.backends.llmd import pool, rights
from modelplane.render.workers import assumption

Json: TypeAlias = Any
Resource: TypeAlias = Mapping[str, Json]

KINDS = assumption.KINDS | {(rights.POOLS, pool.KIND)}


def assume(resource: Resource, gateway: str, is_there: IsThere) -> dict[str, Json]:
    """Return the status of workers that are up, or of a pool that the cluster's gateway has taken."""
    if resource.get("kind") != pool.KIND:
        return assumption.assume(resource, gateway, is_there)
    parent = {"group": "gateway.networking.k8s.io", "kind": "Gateway", "name": "assumed"}
    conditions = [_condition("Accepted", "Accepted"), _condition("ResolvedRefs", "ResolvedRefs")]
    return {"parents": [{"parentRef": parent, "conditions": conditions}]}


def _condition(kind: str, reason: str) -> dict[str, Json]:
    return {"type": kind, "status": "True", "reason": reason, "message": "assumed"}
