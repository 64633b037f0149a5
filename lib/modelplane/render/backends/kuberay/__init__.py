"""KubeRay: a RayService per replica, whose Ray cluster runs vLLM through Ray Serve LLM.

May never happen here: a word of an author in Ray's start command (KubeRay runs a shell), a second Ray cluster beside
the first (there are no devices for it), or a change of pods that KubeRay would ignore.

Source: KubeRay v1.6.2 (ray.io/v1), Ray 2.60.0 (ray.serve.llm) with vLLM 0.29.0.
"""

from modelplane.render.backends.kuberay.assumption import KINDS, assume
from modelplane.render.backends.kuberay.capability import CAPABILITIES, DEFINITIONS, PATCHABLE, check
from modelplane.render.backends.kuberay.service import render
from modelplane.render.backends.kuberay.status import SHAPES, observe

__all__ = ["CAPABILITIES", "DEFINITIONS", "KINDS", "PATCHABLE", "SHAPES", "assume", "check", "observe", "render"]
