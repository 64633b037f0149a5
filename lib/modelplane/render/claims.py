"""Claims of a role: one ResourceClaimTemplate, resource limits for device plugins, and nothing for Synthetic devices.

Source: resource.k8s.io/v1 of Kubernetes v1.36. The spec of a claim template is immutable, so its name has a digest of
the spec.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import count
from typing import Any, TypeAlias

from modelplane import names
from modelplane.devices.model import Claim, Mode, Request
from modelplane.render.backend import IsThere
from modelplane.render.manifest import NOTHING, Manifest, Purpose
from modelplane.workload.model import BoundRole, Replica, ResolvedRequest

Json: TypeAlias = Any

# It tells the contents of one role of one replica apart, one after another; the rest of the name says whose they are.
_CONTENT_DIGITS, _FORMER_DIGITS = 10, 5

_NAME_MAX = 63
"""Characters of the name of a request."""
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
    claimed = tuple(_named(bound))
    if not claimed:
        return PodDevices(None, limits)
    spec: dict[str, Json] = {"requests": [_request(name, device, bound.served(device)) for name, device in claimed]}
    parts: dict[str, list[str]] = {}
    for name, device in claimed:
        parts.setdefault(device.name, []).append(name)
    constraints = _constraints(bound, parts)
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


def _named(bound: BoundRole) -> Iterator[tuple[str, ResolvedRequest]]:
    """Yield what is claimed, with the name of each request in the claim.

    One that several kinds of device serve is as many requests, each pinned to its kind; one that wants all devices is
    one, whatever their kinds.
    """
    taken = {request.name for request in bound.spec.requests}
    seen: set[str] = set()
    for device in bound.devices:
        if device.claim is not Claim.DRA:
            continue
        if device.name not in seen:
            seen.add(device.name)
            yield device.name, device
        elif bound.served(device).mode is not Mode.ALL:
            name = next(name for name in _further(device.name) if name not in taken)
            taken.add(name)
            yield name, device


def _further(name: str) -> Iterator[str]:
    for number in count(2):
        end = f"-{number}"
        yield f"{name[: _NAME_MAX - len(end)]}{end}"


def _request(name: str, device: ResolvedRequest, served: Request) -> dict[str, Json]:
    exactly: dict[str, Json] = {"deviceClassName": device.device_class, "allocationMode": str(served.mode)}
    if served.mode is Mode.EXACT_COUNT:
        exactly["count"] = device.count
    selectors = [{"cel": {"expression": text}} for text in device.selectors if not _is_ours(text)]
    if selectors:
        exactly["selectors"] = selectors
    if served.tolerations:
        exactly["tolerations"] = [one.as_written() for one in served.tolerations]
    if served.capacity:
        exactly["capacity"] = {"requests": dict(served.capacity)}
    return {"name": name, "exactly": exactly}


def _is_ours(text: str) -> bool:
    """Return whether a selector speaks of attributes that only our classes have.

    No driver publishes them, so on a cluster the expression would be an error and abort scheduling. The pool was
    chosen by it and the pod is pinned to the pool, so that leaving it out admits no other device kind.
    """
    return names.GROUP in text


def _constraints(bound: BoundRole, parts: Mapping[str, list[str]]) -> list[Json]:
    """Return the constraints that hold between claimed devices; one over fewer than one of them says nothing.

    `parts` are the requests of the claim by the author's request. What speaks of an alternative that is not served says
    nothing either.
    """
    named = dict(parts)
    for device in bound.devices:
        if device.alternative and device.name in parts:
            named[f"{device.name}/{device.alternative}"] = parts[device.name]
    kept: list[Json] = []
    for constraint in bound.spec.constraints:
        requests = list(dict.fromkeys(part for name in constraint.requests for part in named.get(name, ())))
        if constraint.attribute.startswith(f"{names.GROUP}/") or (constraint.requests and not requests):
            continue
        entry: dict[str, Json] = {str(constraint.relation): constraint.attribute}
        if requests:
            entry["requests"] = requests
        kept.append(entry)
    return kept
