"""Claims of a role: one ResourceClaimTemplate, resource limits for device plugins, and nothing for Synthetic devices.

Source: resource.k8s.io/v1 of Kubernetes v1.36. The spec of a claim template is immutable, so its name has a digest of
the spec.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from modelplane import names
from modelplane.devices.model import Claim, Constraint
from modelplane.render.backend import IsThere
from modelplane.render.manifest import NOTHING, Manifest, Purpose
from modelplane.workload.model import BoundRole, Replica, ResolvedRequest

Json: TypeAlias = Any

# It tells the contents of one role of one replica apart, one after another; the rest of the name says whose they are.
_CONTENT_DIGITS, _FORMER_DIGITS = 10, 5

POD_CLAIM = "devices"
"""The name of the claim inside the pod."""


@dataclass(frozen=True, slots=True)
class PodDevices:
    """The devices of a role's pods: the claim template, None if no device is claimed, and resource limits."""

    template: Manifest | None
    limits: Mapping[str, str]

    @property
    def pod_claims(self) -> list[Json]:
        """Return the resourceClaims of the pod."""
        if self.template is None:
            return []
        return [{"name": POD_CLAIM, "resourceClaimTemplateName": self.template.resource["metadata"]["name"]}]

    @property
    def container_claims(self) -> list[Json]:
        """Return the resources.claims of a container that uses the devices."""
        return [] if self.template is None else [{"name": POD_CLAIM}]


def of(
    replica: Replica, bound: BoundRole, labels: Mapping[str, str], standing: Mapping[str, str] = NOTHING
) -> PodDevices:
    """Return the devices of the pods of one role.

    `standing` has the names of existing objects, by key. A template with the same content keeps the name that an
    earlier version gave it, because another name would restart the pods that refer to it.
    """
    limits = {
        device.resource_name: str(device.count)
        for device in sorted(bound.devices, key=lambda device: device.resource_name)
        if device.claim is Claim.DEVICE_PLUGIN
    }
    claimed = tuple(device for device in bound.devices if device.claim is Claim.DRA)
    if not claimed:
        return PodDevices(None, limits)
    spec: dict[str, Json] = {"requests": [_request(device) for device in claimed]}
    constraints = _constraints(bound.spec.constraints, frozenset(device.name for device in claimed))
    if constraints:
        spec["constraints"] = constraints
    text, role = json.dumps(spec, sort_keys=True), str(bound.spec.role)
    content, former = (names.digest(text, digits=digits) for digits in (_CONTENT_DIGITS, _FORMER_DIGITS))
    if _key(role, former) in standing:
        content = former
    template = Manifest(
        key=_key(role, content),
        resource={
            "apiVersion": "resource.k8s.io/v1",
            "kind": "ResourceClaimTemplate",
            "metadata": {
                "name": names.bounded(replica.name, role, content),
                "namespace": replica.namespace,
                "labels": dict(labels),
            },
            "spec": {"spec": {"devices": spec}},
        },
        purpose=Purpose.POD_INPUT,
    )
    return PodDevices(template, limits)


def missing(pod_specs: Iterable[Mapping[str, Json]], namespace: str, is_there: IsThere) -> tuple[str, ...]:
    """Return the sorted claim templates that pods refer to and that are not rendered to their cluster."""
    named = {
        str(claim["resourceClaimTemplateName"])
        for spec in pod_specs
        for claim in spec.get("resourceClaims") or ()
        if claim.get("resourceClaimTemplateName")
    }
    return tuple(
        name for name in sorted(named) if not is_there("resource.k8s.io", "ResourceClaimTemplate", namespace, name)
    )


def _key(role: str, content: str) -> str:
    return f"claims-{role}-{content}"


def _request(device: ResolvedRequest) -> dict[str, Json]:
    exactly: dict[str, Json] = {
        "deviceClassName": device.device_class,
        "allocationMode": "ExactCount",
        "count": device.count,
    }
    selectors = [{"cel": {"expression": text}} for text in device.selectors if not _is_ours(text)]
    if selectors:
        exactly["selectors"] = selectors
    return {"name": device.name, "exactly": exactly}


def _is_ours(text: str) -> bool:
    """Return whether a selector speaks of attributes that only our classes have.

    No driver publishes them, so on a cluster the expression would be an error and abort scheduling. The pool was
    chosen by it and the pod is pinned to the pool, so that leaving it out admits no other device kind.
    """
    return names.GROUP in text


def _constraints(constraints: tuple[Constraint, ...], claimed: frozenset[str]) -> list[Json]:
    """Return the constraints that hold between claimed devices; one over fewer than one of them says nothing."""
    kept: list[Json] = []
    for constraint in constraints:
        requests = [name for name in constraint.requests if name in claimed]
        if constraint.match_attribute.startswith(f"{names.GROUP}/") or (constraint.requests and not requests):
            continue
        entry: dict[str, Json] = {"matchAttribute": constraint.match_attribute}
        if requests:
            entry["requests"] = requests
        kept.append(entry)
    return kept
