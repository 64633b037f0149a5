"""The seam between an InferenceCluster and what the cluster comes from: made elsewhere, or made by a cloud.

A cloud is a module under `render.clouds` that offers what `Cloud` lists; clouds know nothing of each other. None of
them may read anything but its arguments, nor a credential: a Secret is referenced and never copied.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from modelplane.render import protection
from modelplane.render.manifest import Manifest

Json: TypeAlias = Any

PROVIDER_CONFIG_KIND = "ClusterProviderConfig"
PROVIDER_CONFIG_KEY = "provider-config"
"""Key of the provider configuration that is composed for a cluster, whatever its cloud."""


class Given(Protocol):
    """A part of the author's document; what is missing in it is refused with its path."""

    @property
    def is_set(self) -> bool:
        """Return whether the document has it."""

    def at(self, *keys: str) -> Given:
        """Return the part below."""

    def text(self, default: str | None = None) -> str:
        """Return its text. Raises: InvalidInput where there is none and no default."""


@dataclass(frozen=True, slots=True)
class Access:
    """How a cluster is reached: kind and name of its provider-kubernetes configuration.

    `manifests` are composed on the control plane for it; an adopted configuration is not among them.
    """

    kind: str
    name: str
    manifests: tuple[Manifest, ...] = ()


class Cloud(Protocol):
    """The offer of a cloud."""

    def access(self, cluster: str, given: Given) -> Access:
        """Return how the cluster is reached; `given` is spec.cluster.

        Raises: InvalidInput for what its author must change.
        """

    def is_ready(self, observed: Mapping[str, Json]) -> bool:
        """Return whether an object of `manifests` is ready, as it is observed."""


def provider_config(cluster: str, *, namespace: str, secret: str, key: str) -> Manifest:
    """Return the configuration that reaches a cluster with a kubeconfig in a Secret of the control plane."""
    return Manifest(
        PROVIDER_CONFIG_KEY,
        {
            "apiVersion": "kubernetes.m.crossplane.io/v1alpha1",
            "kind": PROVIDER_CONFIG_KIND,
            "metadata": {"name": protection.name_of(cluster)},
            "spec": {
                "credentials": {
                    "source": "Secret",
                    "secretRef": {"namespace": namespace, "name": secret, "key": key},
                }
            },
        },
    )
