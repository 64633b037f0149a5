"""ServingStack, encoded and decoded, and what the author of an InferenceCluster says about it.

An InferenceCluster composes the ServingStack of its name and decides what the cluster needs; the ServingStack reads
itself alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from modelplane import names, seen
from modelplane.api.fields import Field
from modelplane.workload.stack import Component, Lifeline, Mode, Reference, Report, Stack

Json: TypeAlias = Any
Resource: TypeAlias = Mapping[str, Json]

KIND = "ServingStack"
CONDITION = "StackReady"
GATEWAY = "gateway"
"""The component of the Gateway."""
DEFAULT_DRIVER_ROOT = "/"
_CONFIG_KIND = "ClusterProviderConfig"
_GATEWAY, _NAMESPACE, _LISTENER = "modelplane", names.SYSTEM_NAMESPACE, "http"


def decode(resource: Resource) -> Stack:
    """Return the stack of a ServingStack. Raises: InvalidInput with the path from the document's root."""
    root = Field(resource)
    spec, status = root.at("spec"), root.at("status")
    gateway = spec.at("gateway")
    return Stack(
        name=root.at("metadata", "name").text(),
        cluster=spec.at("clusterName").text(),
        kubernetes=_reference(spec.at("kubernetesConfig")),
        helm=_reference(spec.at("helmConfig")),
        components=tuple(_component(one) for one in spec.at("components").items()),
        gateway_name=gateway.text_at("name", _GATEWAY),
        gateway_namespace=gateway.text_at("namespace", _NAMESPACE),
        gateway_listener=gateway.text_at("listener", _LISTENER),
        gateway_plaintext=gateway.at("plaintext").flag(default=True),
        gateway_certificate=gateway.text_at("certificate", ""),
        driver_root=spec.at("gpuDriverRoot").text(DEFAULT_DRIVER_ROOT),
        limits_critical_pods=spec.at("criticalPriorityQuota").flag(default=False),
        is_abandoned=spec.at("abandon").flag(default=False),
        modes=_modes(status.value),
        upgrading=seen.text(seen.at(status.value, "upgrading")),
        lifelines=tuple(_lifeline(one) for one in spec.at("lifelines").items()),
    )


def encode(stack: Stack) -> dict[str, Json]:
    """Return the ServingStack."""
    gateway: dict[str, Json] = {
        "name": stack.gateway_name,
        "namespace": stack.gateway_namespace,
        "listener": stack.gateway_listener,
    }
    if not stack.gateway_plaintext:
        gateway["plaintext"] = False
    if stack.gateway_certificate:
        gateway["certificate"] = stack.gateway_certificate
    spec: dict[str, Json] = {
        "clusterName": stack.cluster,
        "kubernetesConfig": {"kind": stack.kubernetes.kind, "name": stack.kubernetes.name},
        "helmConfig": {"kind": stack.helm.kind, "name": stack.helm.name},
        "components": [_encoded(one) for one in stack.components],
        "gateway": gateway,
        "gpuDriverRoot": stack.driver_root,
    }
    if stack.limits_critical_pods:
        spec["criticalPriorityQuota"] = True
    if stack.is_abandoned:
        spec["abandon"] = True
    if stack.lifelines:
        spec["lifelines"] = [
            {"apiVersion": one.api_version, "kind": one.kind, "name": one.name} for one in stack.lifelines
        ]
    return {
        "apiVersion": names.API_VERSION,
        "kind": KIND,
        "metadata": {"name": stack.name, "labels": {names.LABEL_CLUSTER: stack.cluster}},
        "spec": spec,
    }


def encode_status(reports: Iterable[Report], upgrading: str, objects: int) -> dict[str, Json]:
    """Return the status. `objects` is how many Objects of the stack use the cluster's provider configuration."""
    listed = list(reports)
    ready = sum(report.phase in ("Ready", "External") for report in listed)
    status: dict[str, Json] = {
        "components": [_told(one) for one in listed],
        "summary": f"{ready}/{len(listed)}",
        "objects": objects,
    }
    if upgrading:
        status["upgrading"] = upgrading
    return status


def decode_standing(resource: Resource) -> tuple[Component, ...]:
    """Return the components of a ServingStack that exists. An entry that cannot be read says nothing."""
    listed = seen.objects(seen.at(resource, "spec", "components"))
    return tuple(
        Component(seen.text(one.get("name")), variants=_texts(one.get("variants")))
        for one in listed
        if seen.text(one.get("name"))
    )


def decode_wishes(cluster: Field) -> tuple[dict[str, Mode], dict[str, str]]:
    """Return the modes and versions of components that an InferenceCluster names. `cluster` is its root.

    Raises: InvalidInput with the path from the document's root.
    """
    given = cluster.at("spec", "stack")
    modes = {name: given.at("components", name).choice(Mode) for name in sorted(given.at("components").members())}
    versions = {name: given.at("versions", name).text() for name in sorted(given.at("versions").members())}
    return modes, versions


def decode_listeners(resource: Resource) -> tuple[bool, bool]:
    """Return whether the Gateway of a ServingStack has a listener without TLS, and one with client certificates."""
    gateway = seen.at(resource, "spec", "gateway")
    return seen.at(gateway, "plaintext") is not False, bool(seen.text(seen.at(gateway, "certificate")))


def gateway_mode(resource: Resource) -> Mode | None:
    """Return by whom the Gateway of a ServingStack is installed, None while that is not decided."""
    listed = seen.objects(seen.at(resource, "status", "components"))
    told = next((seen.text(one.get("mode")) for one in listed if one.get("name") == GATEWAY), "")
    return next((mode for mode in Mode if mode.value == told), None)


def users(resource: Resource) -> int:
    """Return how many Objects of a stack use the provider configuration of its cluster."""
    return seen.count(seen.at(resource, "status", "objects")) or 0


def _lifeline(entry: Field) -> Lifeline:
    return Lifeline(entry.at("apiVersion").text(), entry.at("kind").text(), entry.at("name").text())


def _component(entry: Field) -> Component:
    mode = entry.at("mode")
    return Component(
        name=entry.at("name").text(),
        mode=mode.choice(Mode) if mode.is_set else None,
        version=entry.at("version").text(""),
        variants=entry.at("variants").texts(),
    )


def _encoded(one: Component) -> dict[str, Json]:
    entry: dict[str, Json] = {"name": one.name}
    if one.mode is not None:
        entry["mode"] = str(one.mode)
    if one.version:
        entry["version"] = one.version
    if one.variants:
        entry["variants"] = list(one.variants)
    return entry


def _told(report: Report) -> dict[str, Json]:
    entry: dict[str, Json] = {"name": report.name, "phase": str(report.phase)}
    if report.mode is not None:
        entry["mode"] = str(report.mode)
    for key, text in (("version", report.version), ("reason", report.reason), ("message", report.message)):
        if text:
            entry[key] = text
    return entry


def _modes(status: Json) -> dict[str, Mode]:
    """Return the modes that were published. What cannot be read is decided again."""
    listed = seen.objects(seen.at(status, "components"))
    known = {str(mode): mode for mode in Mode}
    told = {seen.text(one.get("name")): known.get(seen.text(one.get("mode"))) for one in listed}
    # A component that was disabled by its author is looked for again once that is taken back.
    return {name: mode for name, mode in told.items() if mode is not None and mode is not Mode.DISABLED}


def _reference(field: Field) -> Reference:
    return Reference(field.at("kind").text(_CONFIG_KIND), field.at("name").text())


def _texts(value: Json) -> tuple[str, ...]:
    return tuple(one for one in value if isinstance(one, str)) if isinstance(value, list | tuple) else ()
