"""The answer of `modelplane status -o json`."""

from __future__ import annotations

from typing import Literal

from modelplane_cli.output.models.base import Part


class Complaint(Part):
    """An object that is not as wanted."""

    severity: Literal["Outage", "Degraded", "Waiting"]
    """Outage: requests are not answered, or a cluster with replicas does not answer. Waiting: it is on its way."""
    kind: str
    """Kind of the object."""
    namespace: str
    """Namespace of the object. Empty for one without."""
    name: str
    """Name of the object."""
    condition: str
    """Type of the first condition that is not as wanted. `Deleted` while the object is being deleted."""
    reason: str
    """Stable code of the reason."""
    message: str
    """The reason in words."""
    since: str | None
    """Time at which the condition changed, from the API server. Null where none was given."""
    more: int
    """Number of further conditions of the object that are not as wanted."""
    follows: str | None
    """The object that explains this one, as `KIND/NAME`. Null where it explains itself."""
    explain: str | None
    """Arguments with which `modelplane explain` says more. Null for a kind that it does not take."""


class Status(Part):
    """The situation of a fleet as its documents say it."""

    as_wanted: bool
    """True when there is no complaint."""
    counts: dict[str, int]
    """Number of objects by kind."""
    complaints: list[Complaint]
    """Objects that are not as wanted, worst first."""
