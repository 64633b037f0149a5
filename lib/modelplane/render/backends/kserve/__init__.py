"""KServe: one LLMInferenceService per replica, with the claims, stand-in presets and route it needs.

May never happen here: a user's text interpreted as a template, a shell command or YAML; a field left to a preset that
would change what the author asked for.

Source: KServe v0.20.0 (serving.kserve.io/v1alpha2), whose objects are accepted from v0.17.0 on.
"""

from modelplane.render.backends.kserve.assumption import KINDS, assume
from modelplane.render.backends.kserve.capability import check
from modelplane.render.backends.kserve.service import render
from modelplane.render.backends.kserve.status import SHAPES, observe

__all__ = ["KINDS", "SHAPES", "assume", "check", "observe", "render"]
