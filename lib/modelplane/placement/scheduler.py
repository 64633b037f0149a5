"""The one entry point by which a deployment's replicas are placed."""

from __future__ import annotations

from modelplane.placement.model import Current, Demand, Fleet, Intent
from modelplane.placement.plan import Plan


def schedule(fleet: Fleet, demand: Demand, intent: Intent, current: Current) -> Plan:
    """Return the plan for one deployment: which replicas stay, which are new, moved or shed, and why any is missing.

    Shape: independent of the order of every input; scheduling the plan's outcome again changes nothing.
    Raises: InvalidSelector when a device selector does not compile (the author's fault).
    """
    raise NotImplementedError
