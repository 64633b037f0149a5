"""Configuration of Ray Serve LLM: one application with one engine, or with one for prefill and one for decode.

Source: Ray 2.60.0 (serve/schema.py: ServeDeploySchema; llm/_internal/serve: LLMConfig, LLMServingArgs,
DPOpenAiServingArgs, PDServingArgs). Unknown fields are refused there.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from modelplane.render import yaml_text
from modelplane.render.backends.kuberay.launching import Started
from modelplane.workload.model import Model, Role, RoleSpec

Json: TypeAlias = Any

APPLICATION = "llm"
PREFILL_DEPLOYMENT = "Prefill:"
"""The start of the name that Ray gives the Serve deployment of the prefill engine."""

# Far enough apart for one port per device of all engines of one pod.
_NIXL_PORTS = {Role.PREFILL: 20000, Role.DECODE: 22000}
_SHARE = 0.01


def text(model: Model, roles: Mapping[Role, tuple[RoleSpec, Started]]) -> str:
    """Return the value of serveConfigV2."""
    engines = {role: _engine(model, *found, is_apart=len(roles) > 1) for role, found in roles.items()}
    decode = engines[Role.DECODE]
    args: dict[str, Json]
    if Role.PREFILL in engines:
        path, args = "build_pd_openai_app", {"prefill_config": engines[Role.PREFILL], "decode_config": decode}
    elif roles[Role.DECODE][0].topology.data > 1:
        path, args = "build_dp_openai_app", {"llm_config": decode}
    else:
        path, args = "build_openai_app", {"llm_configs": [decode]}
    application = {
        "name": APPLICATION,
        "route_prefix": "/",
        "import_path": f"ray.serve.llm:{path}",
        "args": args,
    }
    return yaml_text.of({"applications": [application]})


def resource(role: Role) -> str:
    """Return the name of the Ray resource that the pods of a role offer, where two roles ask for the same devices."""
    return str(role)


def _engine(model: Model, role: RoleSpec, started: Started, *, is_apart: bool) -> dict[str, Json]:
    """Return the LLMConfig of one role. Its number of replicas is that of workers, each with all its ranks."""
    config: dict[str, Json] = {
        "model_loading_config": {"model_id": model.name, "model_source": started.source},
        "engine_kwargs": started.keywords,
        "placement_group_config": _placement(role, is_apart=is_apart),
        "deployment_config": {"num_replicas": role.workers},
    }
    if is_apart:
        config["experimental_configs"] = {"NIXL_SIDE_CHANNEL_PORT_BASE": _NIXL_PORTS[role.role]}
    return config


def _placement(role: RoleSpec, *, is_apart: bool) -> dict[str, Json]:
    """Return where Ray puts the ranks of one engine: in one pod, or packed over the pods of a gang.

    A share of the role's own resource keeps them on the role's pods.
    """
    bundle: dict[str, Json] = {"GPU": 1}
    if is_apart:
        bundle[resource(role.role)] = _SHARE
    topology = role.topology
    is_one_pod = topology.data == 1 and not topology.is_gang
    return {"bundle_per_worker": bundle, "strategy": "STRICT_PACK" if is_one_pod else "PACK"}
