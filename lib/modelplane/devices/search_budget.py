"""Budget for the search for one object's claims on all classes of its clusters together.

The search on one class is bounded (`matching.STEPS_MAX`). A fleet may have a thousand classes, so the sum is limited
too. It is counted in the steps that the search of each class takes, remembered or not, and no further class is searched
once it is above the limit. So the answer depends only on the object and the fleet.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from modelplane.devices import matching
from modelplane.devices.model import Constraint, NodeClass, Request

STEPS_MAX = 100_000
"""Limit of the steps of the search for all pods of one object on all classes, about three seconds. A pod of eight
requests takes some 150 on a class of eight kinds."""
SHOWN = 3
"""The number of classes that the error names."""


def over_steps(pods: Iterable[tuple[tuple[Request, ...], tuple[Constraint, ...]]], classes: Iterable[NodeClass]) -> str:
    """Return the error about the search for the claims of pods on all classes, empty if it is within the limit.

    Raises: InvalidSelector for one that does not compile. Cost: a look-up for each class that was searched before.
    """
    asked, found, total = tuple(pods), Counter[str](), 0
    for node_class in classes:
        steps = sum(matching.match(node_class, requests, constraints).steps for requests, constraints in asked)
        found[node_class.name] += steps
        total += steps
        if total > STEPS_MAX:
            return _told(found)
    return ""


def _told(found: Counter[str]) -> str:
    largest = sorted(found, key=lambda name: (-found[name], name))[:SHOWN]
    most = ", ".join(f'"{name}" {found[name]}' for name in largest)
    return (
        f"the search for its devices takes {found.total()} steps on {len(found)} classes of the fleet (most on "
        f"InferenceClass {most}), the limit is {STEPS_MAX} for all; use fewer requests or selectors that fit fewer "
        "kinds of device, or select fewer clusters with spec.clusterSelector"
    )
