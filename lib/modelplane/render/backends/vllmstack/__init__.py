"""VLLMStack: a VLLMRuntime of the vLLM production stack per replica, whose operator makes a Deployment and a Service.

May never happen here: a spec on which the operator panics or updates for ever, a change that it would not roll out, or
a label that changes on a VLLMRuntime (the operator writes them all into a selector, which cannot).

Source: production-stack.vllm.ai/v1alpha1, vllm-project/production-stack at a6c01db (operator/internal/controller).
"""

from modelplane.render.backends.vllmstack.assumption import KINDS, assume
from modelplane.render.backends.vllmstack.capability import CAPABILITIES, DEFINITIONS, PATCHABLE, check
from modelplane.render.backends.vllmstack.service import render
from modelplane.render.backends.vllmstack.status import SHAPES, observe

__all__ = ["CAPABILITIES", "DEFINITIONS", "KINDS", "PATCHABLE", "SHAPES", "assume", "check", "observe", "render"]
