"""The names, ports and weights that an engine is told behind llm-d's endpoint picker.

Port 8000 is that of the pool. In a decode pod of a disaggregated replica the routing sidecar listens on it, and the
engine listens on 8200.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeAlias

from modelplane.render.engines import Launch, Member
from modelplane.render.workers import launching
from modelplane.workload.model import EngineType, Model, Role, RoleSpec

Json: TypeAlias = Any

PORT = launching.PORT
BEHIND_SIDECAR_PORT = 8200
_NIXL_PORT = 5600


def port(role: Role, *, is_disaggregated: bool) -> int:
    """Return the port on which the engine listens."""
    return BEHIND_SIDECAR_PORT if is_disaggregated and role is Role.DECODE else PORT


def launch(
    engine: EngineType, model: Model | None, role: RoleSpec, member: Member, *, is_disaggregated: bool
) -> Launch:
    """Return the parameters of one engine process of the role."""
    return replace(
        launching.launch(engine, model, role, member),
        port=port(role.role, is_disaggregated=is_disaggregated),
        is_disaggregated=is_disaggregated,
        has_metrics=True,
    )


def env(engine: EngineType, *, is_disaggregated: bool) -> tuple[Mapping[str, Json], ...]:
    """Return the variables by which vLLM offers its KV cache to others: it listens on localhost unless told."""
    if not is_disaggregated or engine is not EngineType.VLLM:
        return ()
    return (
        {"name": "VLLM_NIXL_SIDE_CHANNEL_HOST", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}},
        {"name": "VLLM_NIXL_SIDE_CHANNEL_PORT", "value": str(_NIXL_PORT)},
    )
