"""InferenceQuota: the limits of what some namespaces take of the fleet, and the grants to the replicas that fit.

Reads: the InferenceClusters with their ledgers and questions, the InferenceClasses, and the Namespaces with the labels
of the quota; the quota that it borrows from, and the Namespaces with the labels of that.
Emits: nothing.
Reports: the use of each limit and of each namespace, the grants, the refused questions; conditions Accepted and
WithinLimits, and LenderReady where it borrows.

This function is the only writer of the quota's grants. A grant answers one question of one cluster and stands while
the question is open. What is used follows from the clusters' ledgers, so what runs is counted whoever let it run, and
nothing that runs is ever stopped by a quota.
"""

from __future__ import annotations

from collections.abc import Iterator

from modelplane import names, placement, seen, words
from modelplane.api import inference_class, inference_cluster, quota, tenants
from modelplane.api.quota import Use
from modelplane.placement.granting import Grants
from modelplane.workload.allowance import Quota
from modelplane_functions import lending, quota_facts
from modelplane_functions.exchange import Condition, Event, Observed, Outcome, Ready, Requirement, Severity, Truth
from modelplane_functions.quota_facts import Account

_SETTLED_SECONDS = 300
_SHOWN = 3


def compose(observed: Observed) -> Outcome:
    """Return the use of the quota, and the answers to what clusters ask. Raises: InvalidInput, the author's fault."""
    found = quota.decode(observed.composite)
    requirements = _requirements(found) | lending.requirements(observed, found)
    if not requirements.keys() <= observed.required.keys():
        return Outcome(requirements=requirements)
    before = quota.questions(observed.composite)
    found, lender = lending.judged(observed, found, quota_facts.namespaces(observed, found))
    account = quota_facts.read(observed, found, before)
    grants = placement.grant(found, account.total, account.asks, before, unseen=account.unseen)
    total, by_namespace = quota_facts.uses(account, grants)
    return Outcome(
        requirements=requirements,
        status=quota.encode(found, total, by_namespace, grants),
        conditions=(_accepted(found), _within(found, account, total), *(() if lender is None else (lender,))),
        events=tuple(_events(observed, grants)),
        ready=Ready.TRUE,
        ttl_seconds=_SETTLED_SECONDS,
    )


def _requirements(found: Quota) -> dict[str, Requirement]:
    needed = {
        quota_facts.CLUSTERS: Requirement(names.API_VERSION, inference_cluster.KIND),
        quota_facts.CLASSES: Requirement(names.API_VERSION, inference_class.KIND),
    }
    if found.tenants is not None and found.tenants.labels:
        labels = dict(found.tenants.labels)
        needed[quota_facts.NAMESPACES] = Requirement(tenants.NAMESPACE_API, tenants.NAMESPACE_KIND, labels=labels)
    return needed


def _accepted(found: Quota) -> Condition:
    count = len(found.limits)
    said = f"{count} {'limit is' if count == 1 else 'limits are'} kept"
    return Condition("Accepted", Truth.TRUE, "Valid", said)


def _within(found: Quota, account: Account, total: Use) -> Condition:
    exceeded, uncounted = quota.over(found, total), "; ".join(_uncounted(account))
    if exceeded:
        message = (
            f"{words.first(exceeded, _SHOWN, '; ')}; what runs is kept and nothing more is granted: raise the limit, "
            "or scale deployments down"
        )
        return Condition("WithinLimits", Truth.FALSE, "OverLimit", "; ".join(filter(None, (message, uncounted))))
    if uncounted:
        return Condition("WithinLimits", Truth.UNKNOWN, "NotCounted", uncounted)
    loans = quota.borrowed(found, total)
    if loans:
        return Condition("WithinLimits", Truth.TRUE, "Borrowing", f"borrowed from {found.lender}: {', '.join(loans)}")
    return Condition("WithinLimits", Truth.TRUE, "Within", "no limit is exceeded")


def _uncounted(account: Account) -> Iterator[str]:
    if account.unpriced:
        yield f"not counted in full: {words.first(sorted(account.unpriced), _SHOWN, '; ')}"
    if account.unseen:
        named = words.first([f"InferenceCluster {name}" for name in sorted(account.unseen)], _SHOWN)
        yield f"what {named} has admitted cannot be read, and nothing new is granted until it can"


def _events(observed: Observed, grants: Grants) -> Iterator[Event]:
    """Yield an event for each replica that was not refused in the last call."""
    entries = seen.objects(observed.status.get("refused"))
    before = {(seen.text(one.get("cluster")), seen.text(one.get("replica"))) for one in entries}
    for one in grants.refused:
        if (one.question.cluster, one.question.replica) not in before:
            message = f"refused ModelReplica {one.question.replica} on {one.question.cluster}: {one.message}"
            yield Event(Severity.WARNING, "QuotaExceeded", message)
