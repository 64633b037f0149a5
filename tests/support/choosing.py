"""The choice of a backend as a deployment's function makes it: what is settled, else the vote."""

from __future__ import annotations

from collections.abc import Iterable

from modelplane.render.backends import selection
from modelplane.render.backends.selection import Choice, Offer, Standing
from modelplane.workload.model import Workload


def select(workload: Workload, standing: Standing, offers: Iterable[Offer]) -> Choice:
    """Return the backend for a workload among clusters with these offers."""
    listed = tuple(offers)
    found = selection.settled(workload, standing, listed)
    return selection.vote(workload, standing, listed) if found is None else found
