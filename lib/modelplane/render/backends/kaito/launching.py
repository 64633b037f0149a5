"""The names, port and weights that an engine is told in a pod of KAITO.

The Service that KAITO gives each member leads to port 5000.
"""

from __future__ import annotations

from dataclasses import replace

from modelplane.render.engines import Launch, Member
from modelplane.render.workers import launching
from modelplane.workload.model import EngineType, Model, RoleSpec

PORT = 5000


def launch(engine: EngineType, model: Model | None, role: RoleSpec) -> Launch:
    """Return the parameters of the engine, which has a pod for itself."""
    return replace(launching.launch(engine, model, role, Member.ALONE), port=PORT)
