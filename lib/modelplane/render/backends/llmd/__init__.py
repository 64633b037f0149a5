"""LLMD: the workloads of Kubernetes behind llm-d's endpoint picker, with prefill and decode apart where asked for.

Per role a Deployment or a LeaderWorkerSet; where a replica has several workers, an InferencePool over those that serve
and a picker that chooses one for each request. Two things may never happen here: a pod in the pool that cannot
answer (a headless pod of a gang), and a permission of the picker beyond the objects that it reads.

Source: llm-d-router v0.10.0 (picker, routing sidecar), inference extension v1.5 (inference.networking.k8s.io/v1).
"""

from modelplane.render.backends.llmd.assumption import KINDS, assume
from modelplane.render.backends.llmd.capability import CAPABILITIES, DEFINITIONS, PATCHABLE, check
from modelplane.render.backends.llmd.service import render
from modelplane.render.backends.llmd.status import SHAPES, observe

__all__ = ["CAPABILITIES", "DEFINITIONS", "KINDS", "PATCHABLE", "SHAPES", "assume", "check", "observe", "render"]
