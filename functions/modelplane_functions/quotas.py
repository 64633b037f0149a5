"""InferenceQuotas as a cluster and a deployment meet them: which limit a namespace, and what they have answered.

A cluster asks the quotas of a replica that would fit (`status.quotas.asks`) and admits it once all have granted exactly
this question. It asks one after the other, in the order of their names, so two replicas never wait for each other. Only
a cluster that has something to admit reads quotas.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, TypeAlias

from modelplane.api import inference_cluster, quota, quota_asks
from modelplane.api.fields import Field
from modelplane.api.quota_asks import Asked
from modelplane.names import API_VERSION
from modelplane.placement import granting, snapshot
from modelplane.placement.charging import Charge, Charger
from modelplane.placement.decision import ClusterAccount, Reason
from modelplane.placement.granting import QuotaQuestion
from modelplane.placement.snapshot import Holding, Pool, ReplicaClaim
from modelplane.workload.allowance import Budget, Quota
from modelplane.workload.tenancy import Access
from modelplane_functions import allowed_namespaces
from modelplane_functions.exchange import Observed, Requirement, Resource
from modelplane_functions.memory.resources import recall
from modelplane_functions.standing import Answer, Gate, Standing

Json: TypeAlias = Any

QUOTAS = "quotas"
WAITING = "WaitingForQuota"


# --- asks -------------------------------------------------------------------------------------------------------------


def requirements(observed: Observed, namespaces: Iterable[str]) -> dict[str, Requirement]:
    """Return the quotas, and the Namespaces whose labels decide about them; nothing without namespaces."""
    asking = sorted(set(namespaces))
    if not asking:
        return {}
    needed = {QUOTAS: Requirement(API_VERSION, quota.KIND)}
    listed = observed.required.get(QUOTAS, ())
    return needed | allowed_namespaces.requirements([_read(one).tenants for one in listed], asking)


# --- reads ------------------------------------------------------------------------------------------------------------


def _read(resource: Resource) -> Quota:
    return recall(resource, "quota", lambda: quota.readable(resource))


def _answers(resource: Resource) -> tuple[frozenset[QuotaQuestion], Mapping[QuotaQuestion, str]]:
    return recall(resource, "answers", lambda: (quota.questions(resource), quota.refusals(resource)))


def _governing(observed: Observed, namespace: str) -> tuple[tuple[Resource, ...], bool]:
    """Return the quotas of a namespace by name, and whether it is known of all that they are or are not."""
    found = observed.required.get(QUOTAS, ())
    if not found:
        return (), True
    labels = allowed_namespaces.labels(observed, namespace)
    access = [(one, _read(one).governs(namespace, labels)) for one in found]
    governing = [one for one, answer in access if answer is Access.ALLOWED]
    governing.sort(key=lambda one: str(one["metadata"]["name"]))
    return tuple(governing), all(answer is not Access.UNKNOWN for _, answer in access)


def budgets(observed: Observed, namespace: str) -> tuple[Budget, ...]:
    """Return the quotas of a namespace with what they have published, for the placement of a deployment.

    Where the labels of the namespace are not known, nobody knows whether a quota limits it, and nothing is proposed.
    """
    labels = allowed_namespaces.labels(observed, namespace)
    found = []
    for one in sorted(observed.required.get(QUOTAS, ()), key=lambda one: str(one["metadata"]["name"])):
        read = _read(one)
        answer = read.governs(namespace, labels)
        if answer is Access.UNKNOWN:
            why = f"it selects namespaces by label, and Namespace {namespace} was not found"
            read = replace(read, limits=(), unreadable=why)
        if answer is not Access.REFUSED:
            found.append(quota.budget(one, read))
    return tuple(found)


# --- decides ----------------------------------------------------------------------------------------------------------


def gate(observed: Observed, standing: Standing, pools: tuple[Pool, ...]) -> None:
    """Hold back the new claims that a quota has not granted, and let no priority count for more than it may."""
    if observed.required.get(QUOTAS):
        keeper = _Keeper(observed, standing, pools)
        standing.claims[:] = [one for claim in standing.claims if (one := keeper.judged(claim)) is not None]


class _Keeper:
    """The state of holding back the claims of one cluster."""

    def __init__(self, observed: Observed, standing: Standing, pools: tuple[Pool, ...]) -> None:
        self._observed = observed
        self._standing = standing
        self._pools = {pool.name: pool for pool in pools}
        self._before = quota_asks.decode(observed.status)[1]

    def judged(self, claim: ReplicaClaim) -> ReplicaClaim | None:
        """Return the claim as it is judged, None where it is not judged at all."""
        wanted = claim.wants if claim.holds else claim.holdings
        if wanted is None:
            return claim
        namespace = claim.key.partition("/")[0]
        governing, is_known = _governing(self._observed, namespace)
        priority = min([claim.priority, *(_read(one).counted(claim.priority) for one in governing)])
        judged = replace(claim, priority=priority)
        if claim.holds and snapshot.within(wanted, claim.holdings):
            return judged
        if not is_known:
            message = f"Namespace {namespace} was not found, so whether a quota limits it is not known"
            answer = Answer(claim.key, allowed_namespaces.UNKNOWN, f"{message}; the replica waits for it")
            self._standing.pending.append(answer)
            return replace(judged, wants=None) if claim.holds else None
        found = self._gate(claim, wanted, governing)
        if found is None:
            return judged
        self._standing.gates[claim.key] = found
        return replace(judged, gated=True)

    def _gate(self, claim: ReplicaClaim, wanted: tuple[Holding, ...], governing: tuple[Resource, ...]) -> Gate | None:
        """Return what the claim waits for, None once all its quotas have granted it.

        A question that one quota refuses while another has granted it is taken back, so that nobody holds room of one
        quota while it waits for another. It is asked again when all of them have room.
        """
        record, earlier = self._standing.offered[claim.key], self._before.get(claim.key)
        if earlier is not None and (earlier.uid, earlier.digest) != (record.uid, record.digest):
            earlier = None
        question = None if earlier is None else QuotaQuestion(self._observed.name, claim.key, earlier.number)
        waits_for = next((one for one in governing if question is None or question not in _answers(one)[0]), None)
        if waits_for is None:
            return None
        name, unreadable = str(waits_for["metadata"]["name"]), _read(waits_for).unreadable
        borrows = self._borrows(claim, wanted, governing)
        asked = Asked(0, record.uid, record.digest, wanted, claim.priority, claim.created, name, borrows)
        if question is None or earlier is None:
            full = "" if len(governing) == 1 else self._full(claim, wanted, governing)
            return Gate(asked, None, full, unreadable, is_asked=not full)
        refusal = _answers(waits_for)[1].get(question, "")
        holds = any(question in _answers(one)[0] for one in self._observed.required[QUOTAS])
        return Gate(asked, earlier.number, refusal, unreadable, is_asked=not (holds and (refusal or unreadable)))

    def _full(self, claim: ReplicaClaim, wanted: tuple[Holding, ...], governing: tuple[Resource, ...]) -> str:
        """Return why one of several quotas has no room, by what they have published; empty where all have."""
        for one in governing:
            budget = quota.budget(one, _read(one))
            if budget.quota.unreadable:
                return f"InferenceQuota {budget.quota.name} cannot be read ({budget.quota.unreadable})"
            found = granting.refusal(budget.quota, budget.taken, self._charge(claim, wanted, budget.quota))
            if found is not None:
                return found[1]
        return ""

    def _borrows(self, claim: ReplicaClaim, wanted: tuple[Holding, ...], governing: tuple[Resource, ...]) -> bool:
        """Return whether a quota that borrows has no room of its own, by what it has published.

        Its lender answers others first. Nothing else rests on that, so a use that is old by now does no harm.
        """
        for one in governing:
            if not _read(one).lender:
                continue
            budget = quota.budget(one, _read(one))
            own, charge = budget.quota.without_loan(), self._charge(claim, wanted, budget.quota)
            if granting.refusal(own, budget.taken, charge) is not None:
                return True
        return False

    def _charge(self, claim: ReplicaClaim, wanted: tuple[Holding, ...], limiting: Quota) -> Charge:
        """Return what a claim takes of the limits of a quota beside what it holds already."""
        accounting = inference_cluster.decode_accounting(Field(self._observed.composite))
        charger = Charger(limiting.limits)
        charge = charger.of(wanted, self._pools, accounting)
        return charge.beyond(charger.of(claim.holdings, self._pools, accounting)) if claim.holds else charge


def settle(observed: Observed, standing: Standing, account: ClusterAccount) -> None:
    """Keep the questions of the claims that would fit, ask those that are new, and say what they wait for."""
    last = quota_asks.decode(observed.status)[0]
    fitting = {verdict.key for verdict in (*account.verdicts, *account.changes) if verdict.fits}
    for key in sorted(fitting & standing.gates.keys()):
        gate = standing.gates[key]
        if gate.is_asked:
            last += gate.number is None
            standing.asks[key] = replace(gate.asked, number=last if gate.number is None else gate.number)
        if gate.refusal:
            standing.refused.append(Answer(key, str(Reason.QUOTA_EXCEEDED), gate.refusal))
        else:
            why = f", which cannot be read ({gate.unreadable})" if gate.unreadable else ""
            message = f"waiting for a grant of InferenceQuota {gate.asked.waits_for}{why}"
            standing.pending.append(Answer(key, WAITING, message))
    standing.last_ask = last


def encode(standing: Standing) -> dict[str, Json]:
    """Return the questions of the cluster for its status, nothing where it never asked any."""
    return {"quotas": quota_asks.encode(standing.last_ask, standing.asks)} if standing.last_ask else {}
