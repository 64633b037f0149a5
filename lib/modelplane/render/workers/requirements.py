"""The definition that LeaderWorkerSets need, and the fields of workloads that an override may write."""

from __future__ import annotations

from modelplane.render.backend import Definition, for_gangs

LEADER_WORKER_SETS = Definition(
    "leaderworkerset.x-k8s.io", "v1", "LeaderWorkerSet", "LeaderWorkerSet 0.8", is_needed=for_gangs
)

_OF_PODS = ("dnsConfig", "hostAliases", "terminationGracePeriodSeconds")
_TEMPLATES = ("leaderTemplate", "workerTemplate")
PATCHABLE: frozenset[str] = frozenset(
    {
        "Deployment.spec.minReadySeconds",
        "Deployment.spec.progressDeadlineSeconds",
        "Deployment.spec.revisionHistoryLimit",
        *(f"Deployment.spec.template.spec.{field}" for field in _OF_PODS),
        *(
            f"LeaderWorkerSet.spec.leaderWorkerTemplate.{template}.spec.{field}"
            for template in _TEMPLATES
            for field in _OF_PODS
        ),
    }
)
"""The fields of a Deployment or a LeaderWorkerSet that Modelplane neither counts nor selects by."""
