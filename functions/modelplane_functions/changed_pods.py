"""The pods of replicas that were changed in place: whether those from before the change have ended.

The devices of those pods count until then. They are looked for once the cluster has the changed workload: no controller
makes another one from then on. A collection of provider-kubernetes lists them, as it does for deleted replicas.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from modelplane import names, seen
from modelplane.api.admissions import Record
from modelplane.render import claims
from modelplane.workload.claimed import Claimed
from modelplane.workload.model import Role
from modelplane_functions.ending_pods import Endings
from modelplane_functions.exchange import Resource

_NOTHING = Claimed(Role.DECODE)


def have_ended(endings: Endings, key: str, record: Record) -> bool:
    """Return whether no pod from before the change may run any more: all have the devices of the replica as admitted.

    Without an answer whether collections are served, nobody can list pods, and the change alone decides. `key` is
    `namespace/name`.
    """
    if endings.is_served is None:
        return True
    pods = endings.pods_since_change(key)
    most = {one.role: one.pods for one in record.holdings}
    return pods is not None and are_current(key.partition("/")[2], record.claimed, most, pods)


def are_current(replica: str, claimed: Iterable[Claimed], most: Mapping[Role, int], pods: Iterable[Resource]) -> bool:
    """Return whether all pods have the devices of their role, and of each role there are no more than `most`.

    A pod of no role that has no devices, such as the head of a Ray cluster, is passed over.
    """
    known = {str(one.role): one for one in claimed}
    counts: Counter[str] = Counter()
    for pod in pods:
        role, spec = seen.text(seen.at(pod, "metadata", "labels", names.LABEL_ROLE)), pod.get("spec")
        if not isinstance(spec, Mapping) or not claims.is_current(replica, known.get(role, _NOTHING), spec):
            return False
        counts[role] += role in known
    return all(counts[role] <= number for role, number in most.items())
