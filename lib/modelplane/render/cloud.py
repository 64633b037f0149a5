"""Cloud: the interface between an InferenceCluster and the source of its cluster.

A cloud is a module under `render.clouds` with the functions of `Cloud`. Clouds do not know each other and read only
their arguments. They never read a credential: a Secret is referenced and never copied.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from modelplane.render import protection
from modelplane.render.manifest import Manifest

Json: TypeAlias = Any

PROVIDER_CONFIG_KIND = "ClusterProviderConfig"
PROVIDER_CONFIG_KEY = "provider-config"
"""The key of the provider configuration that is composed for a cluster of any cloud."""


class Given(Protocol):
    """A part of the author's document. A missing field is refused with its path."""

    @property
    def is_set(self) -> bool:
        """Return whether the document has the part."""

    def at(self, *keys: str) -> Given:
        """Return the part below."""

    def text(self, default: str | None = None) -> str:
        """Return the text of the part. Raises: InvalidInput if there is neither a text nor a default."""


def _always(observed: Mapping[str, Json]) -> bool:
    """Return True: a provider configuration has no status that says more than that it exists."""
    return True


@dataclass(frozen=True, slots=True)
class Access:
    """The access to a cluster: kind and name of its provider-kubernetes configuration.

    `manifests` are composed on the control plane for it, without an adopted configuration. `is_ready` judges an
    observed one.
    """

    kind: str
    name: str
    manifests: tuple[Manifest, ...] = ()
    is_ready: Callable[[Mapping[str, Json]], bool] = _always


class Cloud(Protocol):
    """The interface of a cloud."""

    def access(self, cluster: str, given: Given) -> Access:
        """Return the access to the cluster; `given` is spec.cluster.

        Raises: InvalidInput for a field that its author must change.
        """

    def is_ready(self, observed: Mapping[str, Json]) -> bool:
        """Return whether an observed object of `manifests` is ready."""


def provider_config(
    cluster: str, *, namespace: str, secret: str, key: str, identity: Mapping[str, Json] | None = None
) -> Manifest:
    """Return the configuration that reaches a cluster with a kubeconfig in a Secret of the control plane.

    With an `identity` the provider signs each request with it.
    """
    secret_ref = {"namespace": namespace, "name": secret, "key": key}
    spec: dict[str, Json] = {"credentials": {"source": "Secret", "secretRef": secret_ref}}
    if identity is not None:
        spec["identity"] = dict(identity)
    return Manifest(
        PROVIDER_CONFIG_KEY,
        {
            "apiVersion": "kubernetes.m.crossplane.io/v1alpha1",
            "kind": PROVIDER_CONFIG_KIND,
            "metadata": {"name": protection.name_of(cluster)},
            "spec": spec,
        },
    )
