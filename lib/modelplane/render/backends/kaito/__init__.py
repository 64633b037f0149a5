"""KAITO: an InferenceSet per replica, whose members run the engine's pods as they are rendered here.

May never happen here: a change of pods under the same name, which KAITO would ignore, or a name that KAITO gives one of
its own objects (it deletes a Deployment that has the name of a member).

Source: KAITO v0.11.0 (kaito.sh/v1beta1), v0.12.0 as far as its reasons go.
"""

from modelplane.render.backends.kaito.assumption import KINDS, assume
from modelplane.render.backends.kaito.capability import CAPABILITIES, DEFINITIONS, PATCHABLE, check
from modelplane.render.backends.kaito.service import render
from modelplane.render.backends.kaito.status import SHAPES, observe

__all__ = ["CAPABILITIES", "DEFINITIONS", "KINDS", "PATCHABLE", "SHAPES", "assume", "check", "observe", "render"]
