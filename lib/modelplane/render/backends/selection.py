"""The backend of a workload: the one its author names, else the one chosen before, else what most clusters prefer.

A choice once made is kept while it can run the workload and something runs with it: another would move everything.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from modelplane.errors import InvalidInput, ModelplaneError, Unsupported
from modelplane.render.backend import Backend
from modelplane.render.backends import kserve, kuberay, native, preference
from modelplane.workload.model import Workload

Json: TypeAlias = Any

BACKENDS: dict[str, Backend] = {"KServe": kserve, "KubeRay": kuberay, "Native": native}
"""Every backend by name; the order does not matter."""


@dataclass(frozen=True, slots=True)
class Standing:
    """The choices that precede the vote of the clusters.

    `named` stands in the deployment, `current` was chosen before, and `is_placed` says whether any replica is there.
    Rules are asked of `spec`, the deployment's, with its engine.
    """

    named: str | None = None
    current: str | None = None
    is_placed: bool = False
    spec: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Choice:
    """The chosen backend and the reason, or None and in `refusals` why each backend that was asked cannot."""

    backend: str | None
    reason: str = ""
    why: str = ""
    refusals: Mapping[str, ModelplaneError] = field(default_factory=dict)

    @property
    def message(self) -> str:
        """Return the refusals of all backends."""
        return "; ".join(f"{name}: {error}" for name, error in sorted(self.refusals.items()))


def backend(name: str) -> Backend:
    """Return the backend of that name.

    Raises: Unsupported for one that is known to the API and not offered yet.
    """
    found = BACKENDS.get(name)
    if found is None:
        offered = ", ".join(sorted(BACKENDS))
        raise Unsupported(f'backend "{name}" is not offered; use one of {offered}', reason="BackendUnavailable")
    return found


def select(workload: Workload, standing: Standing, offers: Iterable[Sequence[str]]) -> Choice:
    """Return the backend for a workload.

    `offers` are the clusters' backends in each one's order of preference. A named backend is taken or refused, never
    replaced. The current one stays while it can, and only where nothing runs does it give way to clusters of which none
    offers it. Otherwise every cluster votes for its first capable backend. Without clusters all backends are asked.
    """
    if standing.named is not None:
        return _named(workload, standing.named)
    listed = [tuple(offer) for offer in offers]
    if standing.current is not None and _refusal(workload, standing.current) is None:
        is_offered = any(standing.current in offer for offer in listed)
        if standing.is_placed or is_offered or not listed:
            return Choice(standing.current, "Kept", f"backend {standing.current} was selected before and is kept")
    return _voted(workload, standing.spec, listed)


def _named(workload: Workload, name: str) -> Choice:
    refusal = _refusal(workload, name)
    if refusal is None:
        return Choice(name, "Named", f"spec.backend names {name}")
    others = [other for other in sorted(BACKENDS) if other != name and _refusal(workload, other) is None]
    if others and isinstance(refusal, InvalidInput):
        said = f"{refusal.message}; {' and '.join(others)} can run the deployment as it is"
        refusal = InvalidInput(said, path=refusal.path)
    return Choice(None, refusals={name: refusal})


def _voted(workload: Workload, spec: Mapping[str, Json], offers: Sequence[tuple[str, ...]]) -> Choice:
    """Return the backend that most clusters would take; between equals the rules decide, then the name."""
    # A fleet of a thousand clusters offers the same few lists: each backend is asked once.
    asked = {
        name: _refusal(workload, name) for name in sorted({name for offer in offers for name in offer} or BACKENDS)
    }
    capable = [name for name, refusal in asked.items() if refusal is None]
    firsts = (next((name for name in offer if name in capable), None) for offer in offers)
    votes = Counter(name for name in firsts if name is not None) if offers else Counter(capable)
    if not votes:
        return Choice(None, refusals={name: error for name, error in asked.items() if error is not None})
    most = max(votes.values())
    tied = sorted(name for name, count in votes.items() if count == most)
    preferred = {name: preference.of(name, spec) for name in tied} if len(tied) > 1 else {}
    winner = min(tied, key=lambda name: (-preferred[name].priority, name)) if preferred else tied[0]
    return Choice(winner, "ByCapability", _told(winner, tied, preferred, f"{most} of {len(offers)}" if offers else ""))


def _told(winner: str, tied: Sequence[str], preferred: Mapping[str, preference.Preferred], share: str) -> str:
    """Return how the vote went: `share` of the clusters would take the winner, and as many each of the tied ones."""
    said = f"backend {winner} supports the workload" + (f", and {share} clusters would take it" if share else "")
    if len(tied) == 1:
        return said
    others = " or ".join(name for name in tied if name != winner)
    text = preferred[winner].text
    because = f"is preferred for {text}" if text else "comes first by name"
    return f"{said}; as many would take {others}, and {winner} {because}"


def _refusal(workload: Workload, name: str) -> ModelplaneError | None:
    try:
        backend(name).check(workload)
    except (InvalidInput, Unsupported) as error:
        return error
    return None
