"""Reach of a template beyond its own containers: keys that controllers read, and devices that the ledger counts.

A label or an annotation is data to its author and an instruction to a controller that reads it: a queue of a scheduler,
a mesh that adds a container, a network that adds an interface, a runtime that lifts a limit. So only keys are allowed
that belong to the author: plain words, and domains that no such controller owns. A resource that is not part of every
node would be allocated without the ledger. KServe would run a key with "{{" as a template, and a key cannot be escaped.

`check` applies to new templates. Running templates are read without it, so that they can be counted and held.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from modelplane.api import catalogue
from modelplane.api.fields import Field
from modelplane.errors import InvalidInput
from modelplane.structural import rules, values
from modelplane.structural.schema import Schema

Json: TypeAlias = Any

# Who reads keys under these domains, or under domains below them: Kubernetes and its SIGs, serving, meshes, networks,
# schedulers, devices, clouds, policies, injectors and deployers. The definitions say the same, and a test compares.
RESERVED_DOMAINS = frozenset(
    {
        *("k8s.io", "kubernetes.io", "x-k8s.io", "crossplane.io", "modelplane.ai", "upbound.io"),
        *("kserve.io", "knative.dev", "llm-d.ai", "kaito.sh", "vllm.ai", "ray.io", "keda.sh", "envoyproxy.io"),
        *("istio.io", "linkerd.io", "kuma.io", "solo.io", "dapr.io", "hashicorp.com", "traefik.io"),
        *("cilium.io", "projectcalico.org", "tigera.io", "cncf.io", "ovn.org", "antrea.io", "submariner.io"),
        *("volcano.sh", "kai.scheduler", "run.ai", "koordinator.sh", "apache.org", "karmada.io"),
        *("nvidia.com", "amd.com", "intel.com", "habana.ai", "google.com", "gke.io", "amazonaws.com", "azure.com"),
        *("azure.workload.identity", "oraclecloud.com", "openshift.io", "cattle.io", "vmware.com"),
        *("kyverno.io", "gatekeeper.sh", "cert-manager.io", "spiffe.io", "banzaicloud.io", "banzaicloud.com"),
        *("opentelemetry.io", "jaegertracing.io", "datadoghq.com", "dynatrace.com", "instana.io", "newrelic.com"),
        *("fluxcd.io", "argoproj.io", "helm.sh", "stakater.com", "kubevirt.io", "katacontainers.io", "crio.io"),
    }
)
# Keys under them that say something about the pod alone, or nothing to anybody but people and kubectl.
HARMLESS = frozenset(
    {
        *("app.kubernetes.io/version", "kubectl.kubernetes.io/default-container"),
        *("kubectl.kubernetes.io/default-logs-container", "cluster-autoscaler.kubernetes.io/safe-to-evict"),
    }
)
# Plain words that controllers read all the same.
RESERVED_WORDS = frozenset(
    {
        *("applicationId", "controller-revision-hash", "controller-uid", "job-name", "pod-template-generation"),
        *("pod-template-hash", "queue", "spark-app-selector"),
    }
)
_WORD = re.compile(r"[A-Za-z0-9](?:[-A-Za-z0-9_]{0,61}[A-Za-z0-9])?\Z")
_DOMAIN = re.compile(r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)+\Z")
_NAME = re.compile(r"[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?\Z")

_RESOURCE = re.compile(r"(?:cpu|memory|ephemeral-storage|hugepages-[0-9]+[KMGT]i)\Z")
_STORAGE = re.compile(r"storage\Z")
_TEMPLATE_ACTION = "{{"


def check(template: Field) -> None:
    """Check that the template has only fields of its definition and reaches nothing of other owners.

    Raises: InvalidInput with the field's path and a correction (the author's fault).
    """
    _check_known(template, _schema())
    for keys in (template.at("metadata", "labels"), template.at("metadata", "annotations")):
        for key in sorted(keys.members()):
            _check_key(keys.at(key), key)
    _check_actions(template)
    spec = template.at("spec")
    for container in spec.at("containers").items():
        for kind in ("requests", "limits"):
            _check_amounts(container.at("resources", kind), _RESOURCE)
    for volume in spec.at("volumes").items():
        _check_amounts(volume.at("ephemeral", "volumeClaimTemplate", "spec", "resources", "requests"), _STORAGE)
    found = tuple(values.problems(template.value, _schema(), ()))
    for problem in found or rules.problems(template.value, _schema(), ()):
        raise InvalidInput(problem.message, path=(*template.path, *problem.path))


def is_own_key(key: str) -> bool:
    """Return whether a label or annotation with this key can only belong to its author."""
    if key in HARMLESS:
        return True
    domain, slash, name = key.rpartition("/")
    if not slash:
        return bool(_WORD.match(name)) and name not in RESERVED_WORDS
    return bool(_DOMAIN.match(domain) and _NAME.match(name)) and not _is_reserved(domain)


def _is_reserved(domain: str) -> bool:
    labels = domain.split(".")
    return any(".".join(labels[index:]) in RESERVED_DOMAINS for index in range(len(labels)))


def _schema() -> Schema:
    schema = catalogue.structural_kind("ModelDeployment").schema
    for key in ("spec", "workers", "template"):
        schema = schema.properties[key]
    return schema


def _check_known(field: Field, schema: Schema) -> None:
    """Return when the definition knows every field: one of Kubernetes' own could give more than is meant."""
    if isinstance(field.value, Mapping):
        for key in sorted(field.value, key=str):
            below = schema.child(key)
            if below is None:
                offered = ", ".join(sorted(schema.properties))
                raise field.at(str(key)).wrong(f"is not offered in a template; allowed are {offered}")
            _check_known(field.at(key), below)
    elif isinstance(field.value, list) and schema.items is not None:
        for item in field.items():
            _check_known(item, schema.items)


def _check_key(field: Field, key: str) -> None:
    if not is_own_key(key):
        raise field.wrong(
            "is a key that controllers of the cluster may read; use a plain word, or a domain of your own such as "
            "example.com/team"
        )


def _check_actions(field: Field) -> None:
    for path in _keys_with_actions(field.value):
        raise InvalidInput(
            f'a key with "{_TEMPLATE_ACTION}" would be run as a template on the cluster; remove it',
            path=(*field.path, *path),
        )


def _keys_with_actions(value: Json) -> Iterator[tuple[str | int, ...]]:
    if isinstance(value, Mapping):
        for key, member in value.items():
            if _TEMPLATE_ACTION in str(key):
                yield (key,)
            yield from ((key, *below) for below in _keys_with_actions(member))
    elif isinstance(value, (list, tuple)):
        for index, member in enumerate(value):
            yield from ((index, *below) for below in _keys_with_actions(member))


def _check_amounts(amounts: Field, known: re.Pattern[str]) -> None:
    for resource in sorted(amounts.members()):
        if known.match(resource):
            continue
        if known is _STORAGE:
            raise amounts.at(resource).wrong("is not offered; a volume requests only storage")
        raise amounts.at(resource).wrong(
            "is not offered here, because the ledger would not count it; containers request cpu, memory, "
            "ephemeral-storage and hugepages-*; request devices in nodeSelector.devices (the platform team describes "
            "those of a device plugin in the InferenceClass)"
        )
