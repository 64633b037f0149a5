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

from modelplane import names, seen
from modelplane.devices.model import Claim, Mode, Request
from modelplane.render.backend import IsThere
from modelplane.render.manifest import NOTHING, Manifest, Purpose
from modelplane.workload.claimed import Claimed
from modelplane.workload.model import BoundRole, Replica, ResolvedRequest

Json: TypeAlias = Any

# It tells the contents of one role of one replica apart, one after another; the rest of the name says whose they are.
_CONTENT_DIGITS, _FORMER_DIGITS = 10, 5

_NAME_MAX = 63
"""Characters of the name of a request."""
_DIGITS_MAX = 18
"""Digits of an amount of an extended resource, an int64. Python refuses to read thousands of them."""
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
    counted, spec = limits(bound), _spec(bound)
    if spec is None:
        return PodDevices(None, counted)
    content, former = _contents(spec)
    role = str(bound.spec.role)
    if _key(role, former) in standing:
        content = former
    template = Manifest(
        key=_key(role, content),
        resource={
            "apiVersion": "resource.k8s.io/v1",
            "kind": "ResourceClaimTemplate",
            "metadata": {
                "name": _name(replica.name, role, content),
                "namespace": replica.namespace,
                "labels": dict(labels),
            },
            "spec": {"spec": {"devices": spec}},
        },
        purpose=Purpose.POD_INPUT,
    )
    return PodDevices(template, counted)


def limits(bound: BoundRole) -> dict[str, str]:
    """Return the resource limits of a pod of the role, one for each resource of a device plugin.

    A plugin counts devices of several kinds as one resource.
    """
    counts: dict[str, int] = {}
    for device in bound.devices:
        if device.claim is Claim.DEVICE_PLUGIN:
            counts[device.resource_name] = counts.get(device.resource_name, 0) + device.count
    return {name: str(count) for name, count in sorted(counts.items())}


def claimed(bound: BoundRole) -> Claimed:
    """Return the devices of the role's pods as the pods show them."""
    spec = _spec(bound)
    return Claimed(bound.spec.role, () if spec is None else _contents(spec), tuple(limits(bound).items()))


def is_current(replica: str, current: Claimed, pod: Json) -> bool:
    """Return whether a pod of the replica of this name has these devices. `pod` is its spec on the cluster.

    A pod from before a change of them claims by another template, or has other limits of extended resources.
    """
    expected = {_name(replica, current.role, digest) for digest in current.templates}
    named = [claim.get("resourceClaimTemplateName") for claim in seen.objects(seen.at(pod, "resourceClaims"))]
    if bool(named) != bool(expected) or not all(seen.text(name) in expected for name in named):
        return False
    taken: dict[str, int] = {}
    for container in seen.objects(seen.at(pod, "containers")):
        asked = seen.at(container, "resources", "limits")
        for name, amount in asked.items() if isinstance(asked, Mapping) else ():
            if "/" not in name:
                continue
            digits = str(amount)
            if not digits.isdecimal() or len(digits) > _DIGITS_MAX:
                return False
            taken[name] = taken.get(name, 0) + int(digits)
    return sorted((name, str(amount)) for name, amount in taken.items() if amount) == list(current.limits)


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


def _spec(bound: BoundRole) -> dict[str, Json] | None:
    """Return the devices of the claim, None if no device is claimed."""
    claimed = tuple(_named(bound))
    if not claimed:
        return None
    spec: dict[str, Json] = {"requests": [_request(name, device, bound.served(device)) for name, device in claimed]}
    parts: dict[str, list[str]] = {}
    for name, device in claimed:
        parts.setdefault(device.name, []).append(name)
    constraints = _constraints(bound, parts)
    if constraints:
        spec["constraints"] = constraints
    return spec


def _contents(spec: Json) -> tuple[str, str]:
    """Return the digest of what is claimed, and the one that an earlier version gave."""
    text = json.dumps(spec, sort_keys=True)
    return names.digest(text, digits=_CONTENT_DIGITS), names.digest(text, digits=_FORMER_DIGITS)


def _name(replica: str, role: str, content: str) -> str:
    return names.bounded(replica, role, content)


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
    # What is taken of a shared device is counted, so that it is asked for to the letter.
    amounts = dict(device.consumes or served.capacity)
    if amounts:
        exactly["capacity"] = {"requests": amounts}
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
