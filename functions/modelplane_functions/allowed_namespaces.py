"""Namespaces that may use a cluster or a gateway: what must be fetched to know it, and the answer for one of them.

A Namespace is fetched only where its labels decide, so Crossplane needs to read none where names alone are listed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from modelplane import seen, words
from modelplane.api import tenants
from modelplane.workload import tenancy
from modelplane.workload.tenancy import Access, Tenants
from modelplane_functions.exchange import Condition, Observed, Requirement, Resource, Truth

NOT_ALLOWED, UNKNOWN = "NamespaceNotAllowed", "NamespaceUnknown"
CONDITION = "NamespacesAllowed"
_NAMESPACE = "namespace/"
_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Allowed:
    """The namespaces that a cluster allows, with the labels of those that were fetched."""

    tenants: Tenants | None
    labels: Mapping[str, Mapping[str, str]]

    def access(self, namespace: str) -> Access:
        """Return whether the namespace may place a replica on the cluster."""
        return tenancy.access(self.tenants, namespace, self.labels.get(namespace))


def requirements(rules: Iterable[Tenants | None], namespaces: Iterable[str]) -> dict[str, Requirement]:
    """Return the Namespaces whose labels decide whether one of the rules allows them."""
    listed = tuple(dict.fromkeys(rules))
    return {
        _NAMESPACE + name: Requirement(tenants.NAMESPACE_API, tenants.NAMESPACE_KIND, name=name)
        for name in sorted(set(namespaces))
        if any(tenancy.depends_on_labels(one, name) for one in listed)
    }


def labels(observed: Observed, namespace: str) -> Mapping[str, str] | None:
    """Return the labels of a fetched Namespace, None where they are not known."""
    found: Resource | None = next(iter(observed.required.get(_NAMESPACE + namespace, ())), None)
    return None if found is None else tenants.labels(found)


def read(observed: Observed, namespaces: Iterable[str]) -> Allowed:
    """Return the namespaces that the observed cluster allows."""
    found = {name: labels(observed, name) for name in namespaces}
    known = {name: one for name, one in found.items() if one is not None}
    return Allowed(tenants.readable(observed.composite), known)


def condition(observed: Observed, allowed: Allowed, holders: Iterable[str]) -> Iterator[Condition]:
    """Yield whether all who hold places are allowed still; nothing for a cluster that was always open to everybody."""
    if allowed.tenants is None:
        if CONDITION in seen.conditions(observed.status):
            yield Condition(CONDITION, Truth.TRUE, "EveryNamespace", "every namespace may place replicas here")
        return
    answers = {name: allowed.access(name) for name in sorted(set(holders))}
    foreign = [name for name, one in answers.items() if one is Access.REFUSED]
    unknown = [name for name, one in answers.items() if one is Access.UNKNOWN]
    if foreign:
        message = (
            f"replicas of {words.first(foreign, _SHOWN)} hold places, and spec.allowedNamespaces does not allow these "
            "namespaces; what runs is kept, and nothing new of them is admitted: allow them, or move the replicas"
        )
        yield Condition(CONDITION, Truth.FALSE, NOT_ALLOWED, message)
    elif unknown:
        message = (
            f"no Namespace was found for {words.first(unknown, _SHOWN)}, so its labels are not known; what runs is "
            "kept, and nothing new of it is admitted until Crossplane can read the Namespace"
        )
        yield Condition(CONDITION, Truth.UNKNOWN, UNKNOWN, message)
    else:
        yield Condition(CONDITION, Truth.TRUE, "Allowed", "all namespaces that hold places are allowed")
