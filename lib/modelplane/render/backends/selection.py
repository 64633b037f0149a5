"""Selection of the backend of a workload: the one that its author names, else the first capable one of the clusters.

A selected backend is kept as long as it can run the workload, because another one would restart all replicas.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from modelplane.errors import InvalidInput, ModelplaneError, Unsupported
from modelplane.render.backend import Backend
from modelplane.render.backends import kserve
from modelplane.workload.model import Workload

BACKENDS: dict[str, Backend] = {"KServe": kserve}
"""The backends by name; their order does not matter."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The selected backend, None if none is capable. `refusals` has the error of each backend that was checked."""

    backend: str | None
    refusals: Mapping[str, ModelplaneError] = field(default_factory=dict)

    @property
    def message(self) -> str:
        """Return the refusals of all backends."""
        return "; ".join(f"{name}: {error}" for name, error in sorted(self.refusals.items()))


def backend(name: str) -> Backend:
    """Return the backend with that name.

    Raises: Unsupported for a backend of the API that is not offered yet.
    """
    found = BACKENDS.get(name)
    if found is None:
        offered = ", ".join(sorted(BACKENDS))
        raise Unsupported(f'backend "{name}" is not offered; use one of {offered}', reason="BackendUnavailable")
    return found


def select(workload: Workload, *, named: str | None, current: str | None, offers: Iterable[Sequence[str]]) -> Choice:
    """Return the backend for a workload.

    `offers` are the backends of each cluster in its order of preference. A named backend is selected or refused, never
    replaced. The `current` one is kept while it is capable. Otherwise every cluster votes for its first capable
    backend; the most votes win, then the name. Without clusters every offered backend is checked.
    """
    if named is not None:
        refusal = _refusal(workload, named)
        return Choice(named) if refusal is None else Choice(None, {named: refusal})
    if current is not None and _refusal(workload, current) is None:
        return Choice(current)
    preferences = [tuple(offer) for offer in offers] or [tuple(sorted(BACKENDS))]
    # A fleet of a thousand clusters offers the same few names: each is asked once.
    asked = {name: _refusal(workload, name) for name in sorted({name for offer in preferences for name in offer})}
    votes = Counter(
        name
        for preference in preferences
        if (name := next((name for name in preference if asked[name] is None), None)) is not None
    )
    if not votes:
        return Choice(None, {name: error for name, error in asked.items() if error is not None})
    return Choice(min(votes, key=lambda name: (-votes[name], name)))


def _refusal(workload: Workload, name: str) -> ModelplaneError | None:
    try:
        backend(name).check(workload)
    except (InvalidInput, Unsupported) as error:
        return error
    return None
