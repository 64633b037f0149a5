"""KServe backend: one LLMInferenceService per replica, with its claims, stand-in presets and route.

The text of a user must never be interpreted as a template, a shell command or YAML. A preset must never change what the
author asked for.

Source: KServe v0.20.0 (serving.kserve.io/v1alpha2), whose objects are accepted from v0.17.0 on.
"""

from modelplane.render.backends.kserve.assumption import KINDS, assume
from modelplane.render.backends.kserve.capability import CAPABILITIES, DEFINITIONS, PATCHABLE, check
from modelplane.render.backends.kserve.service import render
from modelplane.render.backends.kserve.status import SHAPES, observe

__all__ = ["CAPABILITIES", "DEFINITIONS", "KINDS", "PATCHABLE", "SHAPES", "assume", "check", "observe", "render"]
