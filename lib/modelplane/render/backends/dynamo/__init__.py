"""Dynamo: a DynamoGraphDeployment per replica, with a frontend that answers and a component per role.

May never happen here: a command or a rank that Dynamo's operator writes itself, a graph whose names exceed what the
operator derives from them, a change that its webhook refuses for ever, or a second generation of workers beside the
first (there are no devices for it).

Source: ai-dynamo/dynamo, deploy/operator of the lines 1.4 to 1.6 (nvidia.com/v1beta1), read and not run; the wheel
ai-dynamo 1.6.1 for the flags of its workers.
"""

from modelplane.render.backends.dynamo.assumption import KINDS, assume
from modelplane.render.backends.dynamo.capability import CAPABILITIES, DEFINITIONS, PATCHABLE, check
from modelplane.render.backends.dynamo.graph import render
from modelplane.render.backends.dynamo.status import SHAPES, observe

__all__ = ["CAPABILITIES", "DEFINITIONS", "KINDS", "PATCHABLE", "SHAPES", "assume", "check", "observe", "render"]
