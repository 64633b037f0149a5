"""The lender of an InferenceQuota that borrows: whether it lends, and what the borrower may use of it.

A lender is a quota that selects the namespaces of the borrower among others. It must have room for every replica of
these in any case, so what is borrowed is exact by the grants that it gives. What is looked at here is whether there is
such a quota: without one a borrower would only have larger limits.
"""

from __future__ import annotations

from modelplane import names, seen, words
from modelplane.api import quota, tenants
from modelplane.workload.allowance import Quota
from modelplane_functions.exchange import Condition, Observed, Requirement, Truth
from modelplane_functions.memory.resources import recall

CONDITION = "LenderReady"
LENDER, LENDERS_NAMESPACES = "lender", "lender-namespaces"
_SHOWN = 3


def requirements(observed: Observed, found: Quota) -> dict[str, Requirement]:
    """Return the lender by its name, and the Namespaces with its labels where these decide."""
    if not found.lender:
        return {}
    needed = {LENDER: Requirement(names.API_VERSION, quota.KIND, name=found.lender)}
    lender = _lender(observed)
    if lender is not None and lender.tenants is not None and lender.tenants.labels:
        labels = dict(lender.tenants.labels)
        needed[LENDERS_NAMESPACES] = Requirement(tenants.NAMESPACE_API, tenants.NAMESPACE_KIND, labels=labels)
    return needed


def judged(observed: Observed, found: Quota, governed: set[str]) -> tuple[Quota, Condition | None]:
    """Return the quota with what it may borrow now, and the condition about its lender, if it has one.

    `governed` are its namespaces. Every required object must have been fetched.
    """
    if not found.lender:
        # Whoever borrowed once has the condition still, because conditions are not taken away.
        nothing = Condition(CONDITION, Truth.TRUE, "BorrowsNothing", "it borrows nothing")
        return found, nothing if seen.condition(observed.status, CONDITION) else None
    problem = _problem(observed, found, governed)
    if problem is None:
        said = f"what InferenceQuota {found.lender} has room for may be borrowed"
        return found, Condition(CONDITION, Truth.TRUE, "Lends", said)
    reason, message = problem
    said = f"{message}; nothing more is borrowed, and what runs is kept"
    return found.without_loan(), Condition(CONDITION, Truth.FALSE, reason, said)


def _problem(observed: Observed, found: Quota, governed: set[str]) -> tuple[str, str] | None:
    lender, named = _lender(observed), f"InferenceQuota {found.lender}"
    if lender is None:
        return "LenderNotFound", f"{named} does not exist: create it, or correct spec.borrowing.from"
    if lender.unreadable:
        return "LenderUnreadable", f"{named} cannot be read ({lender.unreadable})"
    if lender.lender:
        return "LenderBorrows", f"{named} borrows itself, from {lender.lender}: name a quota that does not"
    left = sorted(governed - _selected(observed, lender))
    if left:
        return (
            "NamespacesNotShared",
            f"{named} does not select {words.first(left, _SHOWN)}: a lender selects all namespaces of its borrowers",
        )
    return None


def _lender(observed: Observed) -> Quota | None:
    found = observed.required.get(LENDER, ())
    return recall(found[0], "quota", lambda: quota.readable(found[0])) if found else None


def _selected(observed: Observed, lender: Quota) -> set[str]:
    if lender.tenants is None:
        return set()
    by_label = (seen.text(seen.at(one, "metadata", "name")) for one in observed.required.get(LENDERS_NAMESPACES, ()))
    return {*lender.tenants.names, *filter(None, by_label)}
