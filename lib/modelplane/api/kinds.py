"""Kinds of this API, each described once for the server, the tree and the checks.

To add a kind, add its definition under apis/, a module here for its wire form, a composer, and an entry of `KINDS`. No
other module may repeat a fact about a kind.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from modelplane.api import summary

Json: TypeAlias = Any
Resource: TypeAlias = Mapping[str, Json]
Steps: TypeAlias = tuple[str, ...]
"""A path into a document; "*" stands for every item of a list."""


@dataclass(frozen=True, slots=True)
class Reference:
    """A field that names another object of this API."""

    path: Steps
    kind: str


@dataclass(frozen=True, slots=True)
class SecretUse:
    """A field that refers to a Secret, and the purpose of the Secret in words."""

    path: Steps
    purpose: str


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of this API.

    `condition` is the condition that tells the author about a required change. `describe` returns one line about an
    object, `parts` the lines below it. `cluster_of` is the cluster of the objects that it composes, None for kinds that
    compose nothing on a cluster.
    """

    name: str
    condition: str
    describe: Callable[[Resource], str]
    parts: Callable[[Resource], Iterator[summary.Part]] = summary.no_parts
    references: tuple[Reference, ...] = ()
    secrets: tuple[SecretUse, ...] = ()
    cluster_of: Callable[[Resource], str | None] | None = None
    is_namespaced: bool = True

    @property
    def module(self) -> str:
        """Return the name of the module that composes the kind: LLMInference -> llm_inference."""
        return re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", self.name).lower()


def _own_name(resource: Resource) -> str | None:
    return str(resource["metadata"]["name"])


def _named_cluster(resource: Resource) -> str | None:
    name = (resource.get("spec") or {}).get("clusterName")
    return str(name) if name else None


_CACHED = Reference(("spec", "modelCacheRef", "name"), "ModelCache")
_METRICS = Reference(("spec", "scaling", "gatewayRef", "name"), "InferenceGateway")

# In the order in which a reader asks: the service and its model first, what it stands on last.
_ALL = (
    Kind(
        "LLMInference",
        "Accepted",
        summary.llm_inference,
        references=(Reference(("spec", "clusterName"), "InferenceCluster"), _CACHED, _METRICS),
    ),
    Kind(
        "ModelService",
        "Accepted",
        summary.model_service,
        references=(Reference(("spec", "gatewayRef", "name"), "InferenceGateway"),),
        secrets=(SecretUse(("spec", "auth", "apiKeys", "secretRef"), "the keys of its callers"),),
    ),
    Kind(
        "ModelDeployment",
        "ReplicasScheduled",
        summary.model_deployment,
        references=(_CACHED, _METRICS),
    ),
    Kind("ModelReplica", "WorkloadReady", summary.model_replica, cluster_of=_named_cluster),
    Kind(
        "ModelEndpoint",
        "EndpointResolved",
        summary.model_endpoint,
        secrets=(SecretUse(("spec", "auth", "secretRef"), "the credential of the endpoint"),),
    ),
    Kind(
        "InferenceGateway",
        "Accepted",
        summary.inference_gateway,
        secrets=(SecretUse(("spec", "gateway", "tls", "certificateRefs", "*"), "the certificate of the gateway"),),
        is_namespaced=False,
    ),
    Kind(
        "InferenceCluster",
        "ClusterReady",
        summary.inference_cluster,
        parts=summary.pools,
        references=(Reference(("spec", "nodePools", "*", "className"), "InferenceClass"),),
        secrets=(SecretUse(("spec", "cluster", "existing", "secretRef"), "the kubeconfig of the cluster"),),
        cluster_of=_own_name,
        is_namespaced=False,
    ),
    Kind(
        "ServingStack",
        "StackReady",
        summary.serving_stack,
        references=(Reference(("spec", "clusterName"), "InferenceCluster"),),
        cluster_of=_named_cluster,
        is_namespaced=False,
    ),
    Kind("InferenceClass", "Accepted", summary.inference_class, is_namespaced=False),
    Kind("CloudNetwork", "Provisioned", summary.cloud_part, is_namespaced=False),
    Kind("CloudCluster", "Provisioned", summary.cloud_part, is_namespaced=False),
    Kind("CloudNodePool", "Provisioned", summary.cloud_part, is_namespaced=False),
    Kind(
        "InferenceQuota",
        "Accepted",
        summary.inference_quota,
        references=(Reference(("spec", "limits", "devices", "*", "className"), "InferenceClass"),),
        is_namespaced=False,
    ),
    Kind("BackendRules", "Accepted", summary.backend_rules, is_namespaced=False),
    Kind("ModelCache", "Staged", summary.model_cache),
    Kind("ModelCacheCopy", "Staged", summary.model_cache_copy, cluster_of=_named_cluster),
)

KINDS: dict[str, Kind] = {kind.name: kind for kind in _ALL}
"""The kinds by name, in the order of the documentation."""


def values_at(
    value: Json, steps: Steps, path: tuple[str | int, ...] = ()
) -> Iterator[tuple[tuple[str | int, ...], Json]]:
    """Yield each value at the path `steps`, with its exact path; nothing if a step does not exist."""
    if not steps:
        yield path, value
    elif steps[0] == "*":
        for index, item in enumerate(value if isinstance(value, list) else ()):
            yield from values_at(item, steps[1:], (*path, index))
    elif isinstance(value, Mapping) and steps[0] in value:
        yield from values_at(value[steps[0]], steps[1:], (*path, steps[0]))
