"""Native: the workloads of Kubernetes itself, a Deployment or a LeaderWorkerSet per replica, a Service and a route.

May never happen here: a count that somebody else may change (the ledger counts every worker), or pods of more devices
than the pool has while they are replaced.

Source: Kubernetes v1.36 (apps/v1), LeaderWorkerSet v0.8.0 to v0.10.0 (leaderworkerset.x-k8s.io/v1).
"""

from modelplane.render.backends.native.assumption import KINDS, assume
from modelplane.render.backends.native.capability import CAPABILITIES, check
from modelplane.render.backends.native.service import render
from modelplane.render.backends.native.status import SHAPES, observe

__all__ = ["CAPABILITIES", "KINDS", "SHAPES", "assume", "check", "observe", "render"]
