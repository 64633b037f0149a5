"""The ledger of a cluster as its function publishes it: who is admitted with what, and who is not and why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from modelplane.api import admissions
from modelplane.placement.decision import Admission, ClusterAccount
from modelplane.placement.snapshot import Pool
from modelplane_functions import cluster_observation, cluster_queue
from modelplane_functions.standing import Answer, Standing


@dataclass(frozen=True, slots=True)
class Ledger:
    """The ledger of the cluster: its pools, their accounts, the sorted replicas, and the faults found on the way.

    `counted_on` has the declared pools that count what holds a pool which is not declared.
    """

    pools: tuple[Pool, ...]
    account: ClusterAccount
    faults: tuple[str, ...]
    standing: Standing
    counted_on: Mapping[str, tuple[str, ...]]
    queue: cluster_queue.Read
    """The quota of the queue of the cluster, as it was read last."""
    observation: cluster_observation.Read = cluster_observation.NOBODY
    """The nodes and devices of the pools as they are observed."""

    @property
    def is_frozen(self) -> bool:
        """Return whether the holdings of an admitted replica are unknown, so that free capacity is unknown too."""
        return bool(self.standing.frozen)

    @property
    def admitted(self) -> tuple[str, ...]:
        """Return the replicas that may run, sorted. A replica that cannot be read stays admitted."""
        found = {verdict.key for verdict in self.account.verdicts if verdict.admission is Admission.ADMITTED}
        return tuple(sorted((found | self.standing.blind) - self.standing.leaving - self.standing.uncontrolled))

    @property
    def records(self) -> Mapping[str, admissions.Record]:
        """Return the record of each counted replica: its claim when it was admitted, and the nodes it is counted on."""
        kept, offered = self.standing.kept, self.standing.offered
        changed = self._changed
        counted = {verdict.key for verdict in self.account.verdicts if verdict.admission is Admission.ADMITTED}
        found = {
            key: offered[key] if key in changed or key not in kept else kept[key]
            for key in sorted(counted - self.standing.uncontrolled)
        }
        return {key: self._counted(key, record, is_changed=key in changed) for key, record in found.items()}

    @property
    def followed(self) -> set[str]:
        """Return the changed replicas whose pods are listed. What was listed says nothing of a change of this call."""
        return self.standing.followed - self._changed

    @property
    def _changed(self) -> set[str]:
        return {verdict.key for verdict in self.account.changes if verdict.admission is Admission.ADMITTED}

    def _counted(self, key: str, record: admissions.Record, *, is_changed: bool) -> admissions.Record:
        """Return the record with what counts. The ledger may know a pool by another name than the replica does."""
        counted = record.counted
        if is_changed:
            pools = {one.role: one.pool for one in record.holdings}
            found = self.account.counted.get(key, ())
            counted = tuple(replace(one, pool=pools.get(one.role, one.pool)) for one in found)
        claimed = record.claimed if counted else ()
        return replace(record, nodes=self.account.nodes.get(key, ()), counted=counted, claimed=claimed)

    def answers(self, admission: Admission) -> tuple[Answer, ...]:
        """Return the answers for the replicas with this admission, by name."""
        given = self.standing.refused if admission is Admission.REFUSED else self.standing.pending
        judged = [
            Answer(verdict.key, str(verdict.reason or "ClassNotUsable"), verdict.message)
            for verdict in (*self.account.verdicts, *self.account.changes)
            if verdict.admission is admission and not verdict.fits
        ]
        return tuple(sorted((*given, *judged), key=lambda answer: answer.key))
