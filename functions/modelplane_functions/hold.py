"""Re-emitting what runs: the answer to a missing, late or mistyped input.

A composed resource that is absent from desired is deleted, so a composer that cannot decide repeats what it
observes. Repeating an object word for word would be refused (managedFields) and would take ownership of what others
wrote into it, so only the parts that a composer may have written are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from modelplane.render import seen
from modelplane_functions.exchange import Child, Ready, Resource

Json: TypeAlias = Any

# Crossplane writes labels and annotations of its own on every composed resource. Annotations are also the notebook
# of clients and controllers; labels are what selectors live on, so of them we keep whatever is not Crossplane's.
_CROSSPLANE = ("crossplane.io",)
_FOREIGN = (*_CROSSPLANE, "kubernetes.io", "k8s.io", "helm.sh", "argoproj.io", "fluxcd.io")


def held(child: Resource) -> dict[str, Json]:
    """Return the desired form of an observed child: what a composer may have written, nothing else.

    `spec.crossplane` of a composed composite belongs to Crossplane and is left out, as are status and every metadata
    field but identity, labels and annotations.
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

    `judge` says whether an observed child is ready; without it the child's own Ready condition does.
    """
    judge = judge or ready_by_condition
    return {key: Child(held(child), judge(child)) for key, child in sorted(children.items())}


def name_of(child: Resource | None) -> str:
    """Return the name under which a child stands, which Crossplane never changes; empty where it does not."""
    return str(((child or {}).get("metadata") or {}).get("name") or "")


def standing(children: Mapping[str, Resource]) -> dict[str, str]:
    """Return the names under which the children stand, by key."""
    return {key: name_of(child) for key, child in sorted(children.items())}


def ready_by_condition(child: Resource) -> Ready:
    """Return TRUE when the object's condition Ready is True, FALSE in every other case, also when it has none."""
    ready = seen.conditions(child.get("status")).get("Ready")
    return Ready.TRUE if seen.verdict(ready) is True else Ready.FALSE


def _metadata(metadata: Mapping[str, Json]) -> dict[str, Json]:
    kept: dict[str, Json] = {key: metadata[key] for key in ("name", "namespace") if metadata.get(key)}
    for key, foreign in (("labels", _CROSSPLANE), ("annotations", _FOREIGN)):
        given = metadata.get(key)
        members = sorted(given.items()) if isinstance(given, Mapping) else ()
        entries = {k: v for k, v in members if not _belongs_to(k, foreign)}
        if entries:
            kept[key] = entries
    return kept


def _belongs_to(name: str, domains: tuple[str, ...]) -> bool:
    domain, slash, _ = name.partition("/")
    return bool(slash) and any(domain == owner or domain.endswith(f".{owner}") for owner in domains)
