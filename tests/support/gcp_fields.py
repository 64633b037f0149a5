"""Strict structural check of managed resources of Google Cloud, by the facts of conformance/clouds/gcp_fields.yaml.

It refuses what the definitions of provider-gcp refuse (unknown fields, other types, missing fields, Secrets with a
namespace) and, beside them, words that no API of Google knows.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

Json = Any

FACTS = Path(__file__).resolve().parents[1] / "conformance/clouds/gcp_fields.yaml"

_POLICIES = {"Observe", "Create", "Update", "Delete", "LateInitialize", "*"}
_ALWAYS = {"region", "location"}
_NAME = re.compile(r"[a-z0-9]([-.a-z0-9]*[a-z0-9])?")
_CLOUD_NAME = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?")
_REFERENCE = {"name": "text", "namespace": "text", "policy": {"resolution": "text", "resolve": "text"}}
_SELECTOR = {"matchLabels": "labels", "matchControllerRef": "flag", "namespace": "text", "policy": _REFERENCE["policy"]}
# Least and most characters of the name in the cloud.
_LENGTHS = {
    "Cluster": (1, 40),
    "NodePool": (1, 40),
    "ServiceAccount": (6, 30),
    "Network": (1, 63),
    "Subnetwork": (1, 63),
}
# Words of Google's APIs, by the end of the path: the definitions take any text.
_WORDS = {
    "releaseChannel.channel": {"UNSPECIFIED", "RAPID", "REGULAR", "STABLE", "EXTENDED"},
    "gatewayApiConfig.channel": {"CHANNEL_DISABLED", "CHANNEL_STANDARD", "CHANNEL_EXPERIMENTAL"},
    "autoscaling.locationPolicy": {"ANY", "BALANCED"},
    "taint[].effect": {"NO_SCHEDULE", "PREFER_NO_SCHEDULE", "NO_EXECUTE"},
    "gpuDriverInstallationConfig.gpuDriverVersion": {"DEFAULT", "LATEST", "INSTALLATION_DISABLED"},
    "reservationAffinity.consumeReservationType": {"NO_RESERVATION", "ANY_RESERVATION", "SPECIFIC_RESERVATION"},
    "placementPolicy.type": {"COMPACT"},
    "upgradeSettings.strategy": {"SURGE", "BLUE_GREEN"},
    "workloadMetadataConfig.mode": {"GKE_METADATA", "GCE_METADATA"},
    "secondaryBootDisks[].mode": {"CONTAINER_IMAGE_CACHE"},
    "forProvider.routingMode": {"REGIONAL", "GLOBAL"},
    "forProvider.networkingMode": {"VPC_NATIVE"},
    "forProvider.datapathProvider": {"ADVANCED_DATAPATH", "LEGACY_DATAPATH"},
}


@functools.cache
def facts() -> Mapping[tuple[str, str], Json]:
    """Return the facts by API version and kind."""
    return {(one["apiVersion"], one["kind"]): one for one in yaml.safe_load(FACTS.read_text(encoding="utf-8"))}


def problems(resource: Mapping[str, Json]) -> list[str]:
    """Return what is wrong with a managed resource, with paths."""
    known = facts().get((resource.get("apiVersion", ""), resource.get("kind", "")))
    if known is None:
        return [f"{resource.get('apiVersion')} {resource.get('kind')}: no such kind"]
    return [*_metadata(resource), *_spec(resource.get("spec", {}), known)]


def _metadata(resource: Mapping[str, Json]) -> Iterator[str]:
    metadata = resource.get("metadata", {})
    name = metadata.get("name", "")
    if not (_NAME.fullmatch(name) and len(name) <= 63):
        yield f"metadata.name: {name!r}"
    if metadata.get("namespace") is None:
        yield "metadata.namespace: required"
    external = metadata.get("annotations", {}).get("crossplane.io/external-name")
    least, most = _LENGTHS.get(resource["kind"], (1, 253))
    if external is not None and not (_CLOUD_NAME.fullmatch(external) and least <= len(external) <= most):
        yield f"external-name: {external!r} is not within {least} to {most} characters of Google Cloud"


def _spec(spec: Json, known: Mapping[str, Json]) -> Iterator[str]:
    outer = {"forProvider", "initProvider", "managementPolicies", "providerConfigRef", "writeConnectionSecretToRef"}
    yield from (f"spec.{key}: unknown" for key in sorted(set(spec) - outer))
    policies = spec.get("managementPolicies", ["*"])
    yield from (f"spec.managementPolicies: {one!r}" for one in policies if one not in _POLICIES)
    yield from _exact(spec.get("providerConfigRef"), {"kind", "name"}, "spec.providerConfigRef")
    if "writeConnectionSecretToRef" in spec:
        yield from _exact(spec["writeConnectionSecretToRef"], {"name"}, "spec.writeConnectionSecretToRef")
    for part in ("forProvider", "initProvider"):
        yield from _value(spec.get(part, {}), known["fields"], f"spec.{part}")
    given = set(spec.get("forProvider", {}))
    if set(policies) & {"Create", "Update", "*"}:
        given |= set(spec.get("initProvider", {})) - _ALWAYS
    else:
        given |= set(known["required"]) - _ALWAYS
    yield from (f"spec.forProvider.{key}: required" for key in known["required"] if key not in given)


def _exact(value: Json, keys: set[str], path: str) -> Iterator[str]:
    if not isinstance(value, dict) or set(value) != keys or not all(isinstance(one, str) for one in value.values()):
        yield f"{path}: must have exactly {sorted(keys)}"


def _value(value: Json, kind: Json, path: str) -> Iterator[str]:
    if isinstance(kind, list):
        yield from _items(value, kind[0], path)
    elif isinstance(kind, dict):
        yield from _object(value, kind, path)
    elif kind in ("texts", "numbers", "references"):
        yield from _items(value, kind.removesuffix("s"), path)
    elif kind == "reference":
        yield from _object(value, _REFERENCE, path)
        if isinstance(value, dict) and "name" not in value:
            yield f"{path}.name: required"
    elif kind == "selector":
        yield from _object(value, _SELECTOR, path)
    elif kind == "labels":
        is_right = isinstance(value, dict) and all(isinstance(one, str) for pair in value.items() for one in pair)
        yield from () if is_right else (f"{path}: must be texts by name",)
    else:
        yield from _scalar(value, kind, path)


def _items(value: Json, kind: Json, path: str) -> Iterator[str]:
    if not isinstance(value, list):
        yield f"{path}: must be a list"
        return
    for one in value:
        yield from _value(one, kind, f"{path}[]")


def _object(value: Json, fields: Mapping[str, Json], path: str) -> Iterator[str]:
    if not isinstance(value, dict):
        yield f"{path}: must be an object"
        return
    for key, found in value.items():
        if key not in fields:
            yield f"{path}.{key}: unknown"
        else:
            yield from _value(found, fields[key], f"{path}.{key}")


def _scalar(value: Json, kind: str, path: str) -> Iterator[str]:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    types = {"text": isinstance(value, str), "number": is_number, "flag": isinstance(value, bool)}
    if not types[kind]:
        yield f"{path}: must be a {kind}, not {value!r}"
    for end, words in _WORDS.items():
        if path.endswith(end) and value not in words:
            yield f"{path}: {value!r} is none of {sorted(words)}"
