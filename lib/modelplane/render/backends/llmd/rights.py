"""Service accounts of a replica's namespace on its cluster, each with a Role of its own and nothing beyond it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from modelplane.render.manifest import Manifest

Json: TypeAlias = Any

POOLS = "inference.networking.k8s.io"
_RBAC = "rbac.authorization.k8s.io"

RESTRICTED: Mapping[str, Json] = {
    "allowPrivilegeEscalation": False,
    "capabilities": {"drop": ["ALL"]},
    "runAsNonRoot": True,
    "seccompProfile": {"type": "RuntimeDefault"},
}
"""The security context of llm-d's own containers."""


@dataclass(frozen=True, slots=True)
class Holder:
    """A service account with its Role and RoleBinding, all of one name. `key` begins those of the manifests."""

    key: str
    name: str
    namespace: str
    labels: Mapping[str, str]


def rule(group: str, resource: str, verbs: Sequence[str], *, names_: Sequence[str] = ()) -> dict[str, Json]:
    """Return a rule over one kind of object, over those of `names_` alone where there are any."""
    made: dict[str, Json] = {"apiGroups": [group], "resources": [resource], "verbs": list(verbs)}
    return {**made, "resourceNames": list(names_)} if names_ else made


def of(holder: Holder, rules: Sequence[Mapping[str, Json]], *, account: str = "") -> tuple[Manifest, ...]:
    """Return the objects. An existing `account` of somebody else gets the permissions and is not changed."""
    subject = {"kind": "ServiceAccount", "name": account or holder.name, "namespace": holder.namespace}
    role = _object(holder, f"{_RBAC}/v1", "Role", rules=[dict(one) for one in rules])
    binding = _object(
        holder,
        f"{_RBAC}/v1",
        "RoleBinding",
        roleRef={"apiGroup": _RBAC, "kind": "Role", "name": holder.name},
        subjects=[subject],
    )
    bound = (Manifest(f"{holder.key}-role", role), Manifest(f"{holder.key}-rights", binding))
    if account:
        return bound
    return (Manifest(f"{holder.key}-account", _object(holder, "v1", "ServiceAccount"), comes_first=True), *bound)


def _object(holder: Holder, api_version: str, kind: str, **fields: Json) -> dict[str, Json]:
    metadata = {"name": holder.name, "namespace": holder.namespace, "labels": dict(holder.labels)}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **fields}
