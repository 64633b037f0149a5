"""Releases of a serving stack, and the Objects around them, as they stand on the control plane.

Source: provider-helm v1.4.0 (helm.m.crossplane.io/v1beta1; its fields are also those of v1.3.0), Crossplane v2.4.0
(protection.crossplane.io/v1beta1).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from modelplane import names, seen
from modelplane.render import external_names, objects
from modelplane.render.cloud import PROVIDER_CONFIG_KIND
from modelplane.render.manifest import Lifecycle, Manifest, Purpose, Readiness
from modelplane.render.stack.part import Part, Sign
from modelplane.workload.stack import Reference, Stack

Json: TypeAlias = Any
Resource: TypeAlias = Mapping[str, Json]

API_VERSION = "helm.m.crossplane.io/v1beta1"
KIND = "Release"
CONFIG_KEY = "helm-config"

RELEASE, PROOF, LOOK, NAMESPACE, QUOTA, USAGE = "release-", "proof-", "look-", "namespace-", "quota-", "usage-"
REACH = "reach"
_CRITICAL = ["system-node-critical", "system-cluster-critical"]
# One Secret of up to a megabyte for each; three are enough to go back.
_HISTORY = 3
_KEPT = ("Observe", "Create", "Update", "LateInitialize")
_LOOKS_FOR = f"{names.GROUP}/looks-for"


def config(access: Resource) -> Manifest:
    """Return the configuration with which provider-helm reaches a cluster: as provider-kubernetes does.

    `access` is the configuration of provider-kubernetes; both have the same fields and name the same Secrets.
    """
    return Manifest(
        CONFIG_KEY,
        {
            "apiVersion": API_VERSION,
            "kind": PROVIDER_CONFIG_KIND,
            "metadata": {"name": access["metadata"]["name"]},
            "spec": access["spec"],
        },
    )


def release(stack: Stack, part: Part, version: str = "") -> dict[str, Json]:
    """Return the Release of a part at `version`, the pinned one if empty."""
    chart = {"name": part.chart.name, "repository": part.chart.repository, "version": version or part.chart.version}
    given: dict[str, Json] = {
        "chart": chart,
        "namespace": part.namespace,
        "skipCreateNamespace": True,
        "maxHistory": _HISTORY,
        "values": part.values(stack),
    }
    if part.wait:
        # The provider drops a `wait` of false when it writes a release.
        given["wait"] = True
        # As the provider writes it: it would rewrite another spelling, and each writing of ours would be another one.
        given["waitTimeout"] = f"{part.wait_minutes}m0s"
    spec: dict[str, Json] = {
        "providerConfigRef": _encoded(stack.helm),
        "rollbackLimit": part.attempts,
        "forProvider": given,
    }
    if part.owns_definitions:
        spec["managementPolicies"] = list(_KEPT)
    return {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "metadata": {
            "name": name_of(stack, part.key),
            "namespace": names.SYSTEM_NAMESPACE,
            "annotations": external_names.chosen(part.release),
        },
        "spec": spec,
    }


def proof(stack: Stack, part: Part) -> dict[str, Json]:
    """Return the Object that only reads what shows that a part works."""
    return observation(stack, f"{PROOF}{part.key}", part.proof)


def question(stack: Stack, key: str, look: Sign) -> dict[str, Json]:
    """Return the Object that looks for something that may be there already. Nothing is installed before its answer."""
    made = observation(stack, key, look)
    made["metadata"]["annotations"][_LOOKS_FOR] = look.kind
    return made


def is_question(resource: Resource) -> bool:
    """Return whether an Object looks for something that a bare cluster does not have."""
    return seen.at(resource, "metadata", "annotations", _LOOKS_FOR) is not None


def observation(stack: Stack, key: str, look: Sign) -> dict[str, Json]:
    """Return the Object that only reads an object."""
    return wrapped(stack, Manifest(key, look.resource, lifecycle=Lifecycle.OBSERVE))


def namespace(stack: Stack, part: Part) -> dict[str, Json]:
    """Return the namespace of a part. One that a part has to itself ends with it; what is in another one stays."""
    labels = {**part.namespace_labels, "modelplane.ai/stack": "true"}
    resource = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": part.namespace, "labels": labels}}
    lifecycle = Lifecycle.OWN if part.owns_namespace else Lifecycle.KEEP
    return wrapped(stack, Manifest(f"{NAMESPACE}{part.namespace}", resource, Purpose.SHARED, lifecycle=lifecycle))


def quota(stack: Stack, part: Part) -> dict[str, Json]:
    """Return the right to run critical pods in a namespace, without which GKE creates none and no release fails."""
    scope = {"scopeName": "PriorityClass", "operator": "In", "values": list(_CRITICAL)}
    resource = {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "critical-pods", "namespace": part.namespace},
        "spec": {"hard": {"pods": "100000"}, "scopeSelector": {"matchExpressions": [scope]}},
    }
    return wrapped(stack, Manifest(f"{QUOTA}{part.namespace}", resource))


def wrapped(stack: Stack, manifest: Manifest) -> dict[str, Json]:
    """Return the Object that carries a manifest to the cluster."""
    made = objects.wrap(
        manifest,
        provider_config=_encoded(stack.kubernetes),
        namespace=names.SYSTEM_NAMESPACE,
        owner=stack.name,
    )
    made["metadata"]["name"] = name_of(stack, manifest.key)
    return made


def name_of(stack: Stack, key: str) -> str:
    """Return the name of an object of the stack. Those of clusters and gateways in its namespace never have it."""
    return names.hashed(stack.name, key, of=("stack",))


def usage(stack: Stack, of: Resource, by: Resource, keys: tuple[str, str]) -> dict[str, Json]:
    """Return the Usage that keeps an object until another one, which needs it to be removed, is gone."""
    return {
        "apiVersion": "protection.crossplane.io/v1beta1",
        "kind": "Usage",
        "metadata": {
            "name": name_of(stack, usage_key(keys)),
            "namespace": names.SYSTEM_NAMESPACE,
        },
        "spec": {
            "of": _named(of),
            "by": _named(by),
            "reason": f"{keys[1]} is removed with the help of {keys[0]}, so it goes first",
            "replayDeletion": True,
        },
    }


def usage_key(keys: tuple[str, str]) -> str:
    """Return the composition key of the Usage of an object by another one, from their keys."""
    return f"{USAGE}{keys[0]}-by-{keys[1]}"


def abandoned(child: Resource) -> dict[str, Json]:
    """Return the Release or Object that is only observed: its deletion leaves the cluster as it is, or as it was."""
    return {**child, "spec": {**child["spec"], "managementPolicies": ["Observe"]}}


def taken_back(child: Resource, policies: Sequence[str]) -> dict[str, Json]:
    """Return the Release or Object that was abandoned, with its own management policies; without any it is owned."""
    spec = {key: value for key, value in child["spec"].items() if key != "managementPolicies"}
    return {**child, "spec": {**spec, **({"managementPolicies": list(policies)} if policies else {})}}


def is_abandoned(child: Resource) -> bool:
    """Return whether the deletion of the Release or Object leaves the cluster as it is."""
    return bool(seen.at(child, "spec", "managementPolicies") == ["Observe"])


def gateway_readiness() -> Readiness:
    """Return the readiness of a Gateway: it is programmed and has an address."""
    # A Gateway has no status before its controller has seen it.
    programmed = 'object.status.conditions.exists(c, c.type == "Programmed" && c.status == "True")'
    has_status = "has(object.status) && has(object.status.conditions) && has(object.status.addresses)"
    return Readiness(f"{has_status} && object.status.addresses.size() > 0 && {programmed}")


def _encoded(reference: Reference) -> dict[str, str]:
    return {"kind": reference.kind, "name": reference.name}


def _named(resource: Resource) -> dict[str, Json]:
    name = resource["metadata"]["name"]
    return {"apiVersion": resource["apiVersion"], "kind": resource["kind"], "resourceRef": {"name": name}}
