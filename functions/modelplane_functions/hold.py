"""The desired form of observed children, for a composer that holds what runs.

Crossplane deletes a composed resource that is absent from desired. A composer that cannot decide therefore repeats what
it observes. It repeats only the parts that a composer may have written. The API server refuses the other parts
(managedFields), or Crossplane would take ownership of fields that other clients wrote.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias, TypeVar

from modelplane import seen
from modelplane.errors import InvalidInput
from modelplane.render import external_names
from modelplane_functions.exchange import Child, Ready, Resource

Json: TypeAlias = Any
T = TypeVar("T")

# Crossplane writes labels and annotations of its own on every composed resource. Annotations are also the notebook
# of clients and controllers; labels are what selectors live on, so of them we keep whatever is not Crossplane's.
# An external name that was chosen here is repeated: without it a provider would make a second object.
_CROSSPLANE = ("crossplane.io",)
_FOREIGN = (*_CROSSPLANE, "kubernetes.io", "k8s.io", "helm.sh", "argoproj.io", "fluxcd.io", "keda.sh")


def held(child: Resource) -> dict[str, Json]:
    """Return the desired form of an observed child: the fields that a composer may have written.

    The result has no status and no `spec.crossplane`. Of the metadata it has the name, the namespace, labels and
    annotations.
    """
    desired: dict[str, Json] = {
        key: value for key, value in child.items() if key not in {"metadata", "status"} and value is not None
    }
    desired["metadata"] = _metadata(child.get("metadata") or {})
    spec = child.get("spec")
    if isinstance(spec, Mapping) and "crossplane" in spec:
        desired["spec"] = {key: value for key, value in spec.items() if key != "crossplane"}
    return desired


def hold(children: Mapping[str, Resource], judge: Callable[[Resource], Ready] | None = None) -> dict[str, Child]:
    """Return every observed child as a desired one.

    `judge` returns the readiness of an observed child. The default is the child's own Ready condition.
    """
    judge = judge or ready_by_condition
    return {key: Child(held(child), judge(child)) for key, child in sorted(children.items())}


def name_of(child: Resource | None) -> str:
    """Return the name of an observed child, which Crossplane never changes. Empty without a child."""
    return str(((child or {}).get("metadata") or {}).get("name") or "")


def standing(children: Mapping[str, Resource]) -> dict[str, str]:
    """Return the names of the observed children by key."""
    return {key: name_of(child) for key, child in sorted(children.items())}


def published(read: Callable[[], T]) -> T | None:
    """Return the value of the composite's own status, None where it cannot be read: this answer writes it anew."""
    try:
        return read()
    except InvalidInput:
        return None


def ready_by_condition(child: Resource) -> Ready:
    """Return TRUE when the object's condition Ready is True, otherwise FALSE."""
    ready = seen.condition(child.get("status"), "Ready")
    return Ready.TRUE if seen.verdict(ready) is True else Ready.FALSE


def _metadata(metadata: Mapping[str, Json]) -> dict[str, Json]:
    kept: dict[str, Json] = {key: metadata[key] for key in ("name", "namespace") if metadata.get(key)}
    for key, foreign in (("labels", _CROSSPLANE), ("annotations", _FOREIGN)):
        given = metadata.get(key)
        members = sorted(given.items()) if isinstance(given, Mapping) else ()
        entries = {k: v for k, v in members if not _belongs_to(k, foreign)}
        if key == "annotations":
            entries |= external_names.repeated(entries)
        if entries:
            kept[key] = entries
    return kept


def _belongs_to(name: str, domains: tuple[str, ...]) -> bool:
    domain, slash, _ = name.partition("/")
    return bool(slash) and any(domain == owner or domain.endswith(f".{owner}") for owner in domains)
