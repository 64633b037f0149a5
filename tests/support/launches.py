"""Launches of engines as tests state them, and the command line that follows from one."""

from __future__ import annotations

from typing import Any

from modelplane.render import engines
from modelplane.render.engines import Launch, Member
from modelplane.topology.shape import Topology
from modelplane.workload.model import EngineType, Role

NAMES = ("llama", "publishers/ml-team/models/llama")


def launch(engine: EngineType = EngineType.VLLM, topology: Topology | None = None, **fields: Any) -> Launch:
    given: dict[str, Any] = {"role": Role.DECODE, "member": Member.ALONE, "port": 8000}
    return Launch(engine=engine, topology=topology or Topology(), **{**given, **fields})


def line(given: Launch, **container: Any) -> tuple[list[str], list[str]]:
    made = engines.command_line(given, container)
    return list(made.command), list(made.args)
