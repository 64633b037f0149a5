"""Refusals of clusters while one deployment is placed: what a cluster has refused is not proposed to it again."""

from __future__ import annotations

from collections.abc import Sequence

from modelplane.placement.decision import Reason
from modelplane.placement.scheduling.assignment import Barred
from modelplane.placement.scheduling.filters import Refusal
from modelplane.placement.snapshot import CurrentReplica, Demand, Holding


class Refusals:
    """The refused replicas of the deployment, per cluster."""

    def __init__(self) -> None:
        self.on: dict[str, str] = {}
        """The clusters that refuse a replica of the deployment, with the message."""
        self._holdings: dict[str, list[tuple[Holding, ...]]] = {}
        self._itself: set[str] = set()
        """The clusters among them that refuse for a reason of their own, and not for a quota."""

    def add(self, replica: CurrentReplica, why: str, reason: str = "") -> None:
        """Record that the cluster refuses a replica, so that the same assignment is not proposed again.

        Other assignments on the cluster stay possible: another pool, or another kind of device. What a quota refuses is
        asked of it again when it has room, without a proposal.
        """
        name = replica.cluster
        if reason != str(Reason.QUOTA_EXCEEDED):
            self._itself.add(name)
        self.on[name] = f"{replica.name}: {why}"
        self._holdings.setdefault(name, []).append(replica.holdings)

    def take_back_quotas(self) -> frozenset[str]:
        """Forget what quotas refused, and return the clusters concerned."""
        found = frozenset(self.on.keys() - self._itself)
        for name in found:
            del self.on[name], self._holdings[name]
        return found

    def barred(self, name: str, pools: Sequence[str], demand: Demand) -> Barred:
        """Return the assignments that the cluster has refused as things stand: what else fits there may be tried.

        `pools` are the names of the cluster's pools in the order in which assignments count them.
        """
        refused = self._holdings.get(name)
        if not refused:
            return frozenset()
        position = {pool: index for index, pool in enumerate(pools)}
        found = []
        for holdings in refused:
            held = {(one.role, one.pods, one.nodes_per_worker): one for one in holdings}
            ours = [held.get((role.role, role.pods, role.nodes_per_worker)) for role in demand.roles]
            claim = [(position[one.pool], one.shape) for one in ours if one is not None and one.pool in position]
            if len(claim) == len(holdings) == len(ours):
                found.append(tuple(claim))
        return frozenset(found)

    def refusal(self, name: str) -> Refusal:
        """Return the refusal that the cluster published for a replica of the deployment."""
        return Refusal(Reason.REFUSED_BY_CLUSTER, self.on[name], "refused by cluster")

    def varied(self, name: str, *, same_quotas: bool) -> Refusals:
        """Return the refusals for a board of one cluster: without those of quotas where these have changed."""
        found = Refusals()
        if same_quotas or name in self._itself:
            found.on, found._holdings = dict(self.on), dict(self._holdings)
        return found
