"""Namespaces that may use a cluster or a gateway, by name or by their labels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class Access(StrEnum):
    """The answer to the question whether a namespace is allowed."""

    ALLOWED = "Allowed"
    REFUSED = "Refused"
    UNKNOWN = "Unknown"
    """Its labels decide, and they are not known."""


@dataclass(frozen=True, slots=True)
class Tenants:
    """The allowed namespaces: each of `names`, and each that has all of `labels`. Empty ones select nobody."""

    names: frozenset[str] = frozenset()
    labels: tuple[tuple[str, str], ...] = ()


def access(tenants: Tenants | None, namespace: str, labels: Mapping[str, str] | None) -> Access:
    """Return whether the namespace is allowed. Without `tenants` every one is; `labels` None are not known."""
    if tenants is None or namespace in tenants.names:
        return Access.ALLOWED
    if not tenants.labels:
        return Access.REFUSED
    if labels is None:
        return Access.UNKNOWN
    has_all = all(labels.get(key) == value for key, value in tenants.labels)
    return Access.ALLOWED if has_all else Access.REFUSED


def depends_on_labels(tenants: Tenants | None, namespace: str) -> bool:
    """Return whether nothing but the labels of the namespace can allow it."""
    return access(tenants, namespace, None) is Access.UNKNOWN


def refusal(answer: Access, namespace: str) -> str:
    """Return the words for a namespace that is not allowed. They name no other namespace: a tenant reads them."""
    if answer is Access.UNKNOWN:
        return f"Namespace {namespace} was not found, so whether its labels are in allowedNamespaces is not known"
    return f"namespace {namespace} is not in its allowedNamespaces"
