"""Turn of an upgrade: one part at a time, in the order of the waves, the next when the one before works again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from modelplane import seen

Json: TypeAlias = Any
Resource: TypeAlias = Mapping[str, Json]

_PATIENCE = "waitTimeout"


def differs(release: Resource, wanted: Resource) -> bool:
    """Return whether an observed Release installs something else than the wanted one.

    What others have added to the spec, such as defaults, does not count, and neither does the time that Helm waits.
    The provider drops what is false or empty.
    """
    before = seen.at(release, "spec", "forProvider")
    after: Resource = wanted["spec"]["forProvider"]
    chart: Resource = after["chart"]
    return any(seen.at(before, "chart", name) != one for name, one in chart.items()) or any(
        (seen.at(before, key) or None) != (value or None)
        for key, value in after.items()
        if key not in ("chart", _PATIENCE)
    )


def standing(release: Resource, wanted: Resource) -> dict[str, Json]:
    """Return the wanted Release with what the observed one installs, for one whose turn has not come."""
    return {**wanted, "spec": {**wanted["spec"], "forProvider": release["spec"]["forProvider"]}}


def whose(
    order: Sequence[str], changed: frozenset[str], working: Mapping[str, bool], required: frozenset[str], before: str
) -> str:
    """Return the part that may change now, empty if none may.

    `order` are the installed parts by wave, `changed` those of them that are to be something else. `before` is the part
    whose turn it was. It keeps the turn until it works.
    """
    if before in working and not working[before]:
        return before
    if not changed:
        return ""
    idle = [key for key in order if not working[key]]
    waited_for = [key for key in idle if key in required]
    for key in order:
        if key in changed and all(other == key for other in waited_for):
            return key
    # What does not work may be mended by another version, and nothing else is being changed.
    return next((key for key in idle if key in changed), "")
