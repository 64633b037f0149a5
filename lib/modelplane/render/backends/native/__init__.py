"""Native: the workloads of Kubernetes itself, a Deployment or a LeaderWorkerSet per replica, a Service and a route.

May never happen here: an object that Kubernetes and LeaderWorkerSet do not know (see render.workers).
"""

from modelplane.render.backends.native.capability import CAPABILITIES, DEFINITIONS, PATCHABLE, check
from modelplane.render.backends.native.service import render
from modelplane.render.backends.native.status import SHAPES, observe
from modelplane.render.workers.assumption import KINDS, assume

__all__ = ["CAPABILITIES", "DEFINITIONS", "KINDS", "PATCHABLE", "SHAPES", "assume", "check", "observe", "render"]
