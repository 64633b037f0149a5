"""The inputs of an InferenceQuota's decision: the ledgers of all clusters, and their questions.

A cluster's ledger says what is used. A question that the cluster has taken back, or that it has answered itself by an
admission, is not in its status any more. A cache never goes backwards, so what a quota has seen open and does not see
any more is never acted on later.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial

from modelplane import seen
from modelplane.api import admissions, inference_cluster, quota_asks
from modelplane.api.admissions import Record
from modelplane.api.fields import Field
from modelplane.api.quota import Use
from modelplane.api.quota_asks import Asked
from modelplane.devices.model import NodeClass
from modelplane.errors import InvalidInput
from modelplane.placement.charging import Amounts, Charge, Charger
from modelplane.placement.granting import Ask, Grants, QuotaQuestion
from modelplane.placement.snapshot import Accounting, Holding, NodeCounts, Pool
from modelplane.workload.allowance import Quota
from modelplane_functions import deployment_sight
from modelplane_functions.exchange import Observed, Resource
from modelplane_functions.memory.resources import recall

CLUSTERS, CLASSES, NAMESPACES = "clusters", "classes", "namespaces"


@dataclass(slots=True)
class Account:
    """The use and the questions of the namespaces of a quota. `used` and `replicas` are by namespace.

    `unpriced` says of what is used and cannot be counted in full why not.
    """

    quota: Quota
    used: dict[str, list[Fraction]] = field(default_factory=dict)
    replicas: dict[str, int] = field(default_factory=dict)
    asks: list[Ask] = field(default_factory=list)
    unpriced: dict[str, None] = field(default_factory=dict)
    unseen: list[str] = field(default_factory=list)
    """The clusters whose ledgers or questions cannot be read."""

    @property
    def total(self) -> Amounts:
        """Return the use of each limit by all namespaces together."""
        nothing = [Fraction(0)] * len(self.quota.limits)
        return tuple(sum(column, Fraction(0)) for column in zip(nothing, *self.used.values(), strict=True))


@dataclass(frozen=True, slots=True)
class _Ledger:
    """The part of a cluster that quotas read."""

    name: str
    pools: Mapping[str, str]
    accounting: Accounting
    records: Mapping[str, Record]
    asks: Mapping[str, Asked]
    unread: frozenset[str] | None
    """The namespaces of what cannot be read in it, None where that may be anybody's."""


def read(observed: Observed, found: Quota, before: Collection[QuotaQuestion]) -> Account:
    """Return the account of the quota, which has granted the questions `before`.

    Every required object must have been fetched.
    """
    account, governed = Account(found), namespaces(observed, found)
    for name in sorted(governed):
        account.used[name] = [Fraction(0)] * len(found.limits)
        account.replicas[name] = 0
    classes, _ = deployment_sight.classes_of(observed.required[CLASSES])
    reader = _Reader(account, Charger(found.limits), classes, before)
    for cluster in observed.required[CLUSTERS]:
        reader.read(recall(cluster, "quota ledger", partial(_ledger, cluster)))
    return account


def namespaces(observed: Observed, found: Quota) -> set[str]:
    """Return the namespaces that share the quota: those that are named, and those that were listed by their labels."""
    tenants = found.tenants
    listed = observed.required.get(NAMESPACES, ()) if tenants is not None and tenants.labels else ()
    by_label = (seen.text(seen.at(one, "metadata", "name")) for one in listed)
    return {*(() if tenants is None else tenants.names), *filter(None, by_label)}


def _ledger(cluster: Resource) -> _Ledger:
    pools = seen.objects(seen.at(cluster, "spec", "nodePools"))
    try:
        accounting = inference_cluster.decode_accounting(Field(cluster))
    except InvalidInput:
        accounting = Accounting.NODE  # the larger of both
    found = cluster.get("status")
    status = found if isinstance(found, Mapping) else {}
    records, asks = admissions.decode(Field(status)), quota_asks.decode(status)[1]
    unread = admissions.unread(Field(status), records), quota_asks.unread(status, asks)
    is_legible = found is None or isinstance(found, Mapping)
    return _Ledger(
        name=str(cluster["metadata"]["name"]),
        pools={seen.text(pool.get("name")): seen.text(pool.get("className")) for pool in pools},
        accounting=accounting,
        records=records,
        asks=asks,
        unread=None if None in unread or not is_legible else frozenset().union(*filter(None, unread)),
    )


class _Reader:
    """The state of adding up the ledgers of the fleet."""

    def __init__(
        self,
        account: Account,
        charger: Charger,
        classes: Mapping[str, NodeClass],
        before: Collection[QuotaQuestion],
    ) -> None:
        self._account = account
        self._before = before
        self._charger = charger
        self._classes = classes

    def read(self, ledger: _Ledger) -> None:
        """Add what one cluster has admitted, and what it asks."""
        pools = {
            name: Pool(name, class_name, self._classes.get(class_name), NodeCounts(0))
            for name, class_name in ledger.pools.items()
        }
        if ledger.unread is None or not ledger.unread.isdisjoint(self._account.used):
            self._account.unseen.append(ledger.name)
        known: dict[int, Charge] = {}
        for key, record in ledger.records.items():
            namespace = key.partition("/")[0]
            if namespace not in self._account.used:
                continue
            # Replicas of one entry share their holdings.
            charge = known.get(id(record.held))
            if charge is None:
                charge = known[id(record.held)] = self._charger.of(record.held, pools, ledger.accounting)
            self._use(namespace, charge)
        for key, asked in sorted(ledger.asks.items()):
            # A grant binds the quota while the question is open, though the namespace has left it.
            if (
                key.partition("/")[0] in self._account.used
                or QuotaQuestion(ledger.name, key, asked.number) in self._before
            ):
                self._ask(ledger, key, asked, pools)

    def _use(self, namespace: str, charge: Charge) -> None:
        account = self._account
        account.replicas[namespace] += 1
        used = account.used[namespace]
        for index, amount in enumerate(charge.amounts):
            used[index] += amount
        account.unpriced |= dict.fromkeys(why for why in charge.unknown if why)

    def _ask(self, ledger: _Ledger, key: str, asked: Asked, pools: Mapping[str, Pool]) -> None:
        """Add a question. What the replica holds already, before a change of it, is counted and not asked for again."""
        record = ledger.records.get(key)
        held: tuple[Holding, ...] = record.held if record is not None and record.uid == asked.uid else ()
        charge = self._charger.of(asked.holdings, pools, ledger.accounting)
        if held:
            charge = charge.beyond(self._charger.of(held, pools, ledger.accounting))
        question = QuotaQuestion(ledger.name, key, asked.number)
        is_due = asked.waits_for == self._account.quota.name
        self._account.asks.append(Ask(question, charge, asked.priority, asked.created, is_due, asked.borrows))


def uses(account: Account, grants: Grants) -> tuple[Use, dict[str, Use]]:
    """Return the use of all namespaces together, and of each."""
    charges = {ask.question: ask.charge.amounts for ask in account.asks}
    found: dict[str, Use] = {}
    for namespace, used in account.used.items():
        granted = [charges[one] for one in _of(namespace, grants.granted) if one in charges]
        refused = sum(1 for _ in _of(namespace, (one.question for one in grants.refused)))
        nothing = [Fraction(0)] * len(used)
        sums = tuple(sum(column, Fraction(0)) for column in zip(nothing, *granted, strict=True))
        found[namespace] = Use(tuple(used), sums, account.replicas[namespace] + len(granted), refused)
    counts = sum(use.replicas for use in found.values())
    return Use(account.total, grants.taken, counts, len(grants.refused)), found


def _of(namespace: str, questions: Iterable[QuotaQuestion]) -> Iterator[QuotaQuestion]:
    return (one for one in questions if one.replica.partition("/")[0] == namespace)
