"""The managed resources of a part of a cluster that is created: what is emitted of them, and what they report.

A managed resource that was composed once is kept until its composite is deleted: what a provisioner does not render any
more is repeated as it is observed. Nothing new is made while the control plane does not serve a kind of it, because
Crossplane applies nothing of a composite that meets such a child.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from modelplane import seen, words
from modelplane.api import cloud_parts
from modelplane.render import objects, pod_errors, provisioning
from modelplane.render.manifest import Manifest
from modelplane.render.provisioning import Provisioner
from modelplane_functions import hold
from modelplane_functions.exchange import (
    Child,
    Condition,
    Event,
    Kind,
    Observed,
    Outcome,
    Ready,
    Resource,
    Severity,
    Truth,
)

CONDITION = "Provisioned"
_WAITING_SECONDS, _SETTLED_SECONDS = 30, 300
_SERVED = "serves/"
_TOLD = 3
# Crossplane's references are resolved one after the other: that one is not there yet is no error of the cloud.
_WAITING_FOR = ("cannot resolve references", "referenced field was empty", "no resources matched selector")
_USAGE = "usage-"
_FACTS = "what the cluster reports of itself"


@dataclass(frozen=True, slots=True)
class Failure:
    """A managed resource with an error, and the error with what would help."""

    kind: str
    name: str
    message: str

    def encode(self) -> dict[str, str]:
        """Return an entry of status.failed."""
        return {"kind": self.kind, "name": self.name, "message": self.message}

    def __str__(self) -> str:
        return f"{self.kind} {self.name}: {self.message}"


def kinds(cloud: Provisioner) -> dict[str, Kind]:
    """Return the questions whether the control plane serves the managed resources of a cloud."""
    return {_SERVED + _written(one.api_version, one.kind): Kind(one.api_version, one.kind) for one in cloud.served()}


def outcome(observed: Observed, cloud: Provisioner, rendered: tuple[Manifest, ...], status: Resource) -> Outcome:
    """Return the children, and a status with `status` beside what is common to all parts."""
    missing = tuple(_missing(observed, cloud, rendered))
    children = _children(observed, cloud, () if missing else rendered)
    failures = tuple(_failures(observed, cloud))
    wanted = [key for key in children if not key.startswith(_USAGE)]
    made = sum(children[key].ready is Ready.TRUE for key in wanted)
    # Without a resource at all the part still waits for a fact of another one.
    is_ready = not missing and 0 < made == len(wanted) and all(one.key in observed.children for one in rendered)
    condition = _condition(observed, missing, failures, is_ready=is_ready, waiting=tuple(_waiting(wanted, children)))
    return Outcome(
        kinds=kinds(cloud),
        children=children,
        status={
            **status,
            "phase": condition.reason if condition.reason in ("Ready", "Failed", "Creating") else "Waiting",
            "message": condition.message,
            "made": f"{made}/{len(wanted)}",
            **({"failed": [one.encode() for one in failures]} if failures else {}),
        },
        conditions=(condition,),
        events=tuple(_events(observed, condition)),
        ready=Ready.TRUE if is_ready else Ready.FALSE,
        ttl_seconds=_SETTLED_SECONDS if is_ready else _WAITING_SECONDS,
    )


def _children(observed: Observed, cloud: Provisioner, rendered: tuple[Manifest, ...]) -> dict[str, Child]:
    """Return the rendered children, and as they are observed those that are not rendered any more.

    Only a right that is not asked for any more is left out, in two steps where its deletion would have left it.
    """
    made = {one.key: Child(one.resource, _judge(observed.children.get(one.key), one.key)) for one in rendered}
    rights = cloud.rights() if rendered else ()
    kept: dict[str, Child] = {}
    for key, child in sorted(observed.children.items()):
        is_right = key.startswith(rights)
        if key not in made and not (is_right and objects.is_removable(child)):
            kept[key] = Child(_held(observed, child, key, is_right=is_right), _judge(child, key))
    return {**made, **kept}


def _held(observed: Observed, child: Resource, key: str, *, is_right: bool) -> Resource:
    """Return a child as it is observed, with the fate in the cloud that is wanted now: a right is never left there."""
    held, is_kept = hold.held(child), cloud_parts.is_kept(observed.spec)
    if key.startswith(_USAGE) or is_kept is None or seen.at(held, "spec", "forProvider") is None:
        return held
    return provisioning.fated(held, is_kept=is_kept and not is_right)


def _judge(child: Resource | None, key: str) -> Ready:
    # A Usage reports on the deletion of others, and nothing waits for that.
    is_ready = child is not None and (key.startswith(_USAGE) or provisioning.is_ready(child))
    return Ready.TRUE if is_ready else Ready.FALSE


def _missing(observed: Observed, cloud: Provisioner, rendered: tuple[Manifest, ...]) -> Iterator[str]:
    """Yield the packages of kinds that are known not to be served; a caller that cannot say serves all of them."""
    needed = {_written(one.resource["apiVersion"], one.resource["kind"]) for one in rendered}
    packages = {
        one.package
        for one in cloud.served()
        if (name := _written(one.api_version, one.kind)) in needed and observed.served.get(_SERVED + name) is False
    }
    yield from sorted(packages)


def _failures(observed: Observed, cloud: Provisioner) -> Iterator[Failure]:
    for key, child in sorted(observed.children.items()):
        said = "" if key.startswith(_USAGE) else provisioning.error(child)
        if not said or any(text in said for text in _WAITING_FOR):
            continue
        advice = cloud.advice(said)
        message = pod_errors.cut(said) + (f"; {advice}" if advice else "")
        yield Failure(str(child.get("kind")), hold.name_of(child), message)


def _waiting(wanted: list[str], children: Mapping[str, Child]) -> Iterator[str]:
    for key in wanted:
        resource = children[key].resource
        if children[key].ready is not Ready.TRUE:
            yield f"{resource['kind']} {hold.name_of(resource)}"


def _condition(
    observed: Observed,
    missing: tuple[str, ...],
    failures: tuple[Failure, ...],
    *,
    is_ready: bool,
    waiting: tuple[str, ...],
) -> Condition:
    if missing:
        return Condition(
            CONDITION,
            Truth.FALSE,
            "ProviderNotInstalled",
            f"the control plane does not serve the managed resources of {', '.join(missing)}; install these packages "
            "(docs/clouds.md) and activate their kinds",
        )
    if is_ready:
        return Condition(CONDITION, Truth.TRUE, "Ready", f"all {len(observed.children)} resources are ready")
    if failures:
        return Condition(CONDITION, Truth.FALSE, "Failed", words.first(failures, _TOLD, "; "))
    return Condition(CONDITION, Truth.FALSE, "Creating", f"waiting for {words.first(waiting, _TOLD) or _FACTS}")


def _events(observed: Observed, condition: Condition) -> Iterator[Event]:
    """Yield an event when the part becomes ready or fails, and none while an error stays the same."""
    before = seen.text(observed.status.get("phase"))
    if condition.reason == before or condition.reason not in ("Ready", "Failed"):
        return
    severity = Severity.NORMAL if condition.status is Truth.TRUE else Severity.WARNING
    yield Event(severity, f"Provisioned{condition.reason}", condition.message)


def with_usage(rendered: tuple[Manifest, ...], key: str, of: Resource | None) -> tuple[Manifest, ...]:
    """Return the manifests with the Usage that keeps `of` until the one called `key` is gone."""
    by = next((one.resource for one in rendered if one.key == key), None)
    return rendered if by is None or of is None else (*rendered, provisioning.usage(of, by))


def _written(api_version: str, kind: str) -> str:
    return f"{api_version}/{kind}"
