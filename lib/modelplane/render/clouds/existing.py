"""Existing cluster, reached with a kubeconfig in a Secret or with an existing provider configuration."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from modelplane.render import cloud, protection
from modelplane.render.cloud import Access, Given

Json: TypeAlias = Any


def access(cluster: str, given: Given) -> Access:
    """Return the adopted configuration, else the one that is composed for the kubeconfig."""
    adopted, secret = given.at("existing", "providerConfigRef"), given.at("existing", "secretRef")
    if adopted.is_set:
        return Access(adopted.at("kind").text(cloud.PROVIDER_CONFIG_KIND), adopted.at("name").text())
    name = secret.at("name").text()
    composed = cloud.provider_config(
        cluster,
        namespace=secret.at("namespace").text(),
        secret=name,
        key=secret.at("key").text("kubeconfig"),
    )
    return Access(cloud.PROVIDER_CONFIG_KIND, protection.name_of(cluster), (composed,))


def is_ready(observed: Mapping[str, Json]) -> bool:
    """Return True, because a provider configuration has no status; an existing one is ready."""
    return True
