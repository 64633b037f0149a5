"""Scheduler of KServe, which chooses a worker for each request: its configuration, its pool and the routing sidecar.

The configuration is always written, because KServe keeps what a running scheduler was started with: an author who takes
spec.endpointPicker back would still have it.

Source: KServe v0.20.0 (llmisvc/scheduler.go, config/llmisvcconfig), whose scheduler is llm-d-router v0.9.0.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from modelplane.render import picking
from modelplane.render.backends.kserve import launching
from modelplane.workload.model import EngineType, Replica, Role

Json: TypeAlias = Any

SIDECAR = "llm-d-routing-sidecar"
SIDECAR_IMAGE = "ghcr.io/llm-d/llm-d-router-disagg-sidecar:v0.9.0"
# A custom engine in both roles is one of vLLM's kin: SGLang's protocol needs its own bootstrap server.
_NIXL = "nixlv2"
CONNECTORS = {EngineType.VLLM: _NIXL, EngineType.CUSTOM: _NIXL, EngineType.SGLANG: "sglang"}

_API_VERSION = "inference.networking.x-k8s.io/v1alpha1"
_PICKER_PORT = 9002

# KServe's own, by the metrics of vLLM. For other engines the scheduler counts what it has sent by itself: it reads
# their metrics only from pods with a label, and another label would restart pods that run.
_UNIFIED: picking.Scorers = (
    ("queue-scorer", 2),
    ("kv-cache-utilization-scorer", 2),
    ("prefix-cache-scorer", 3),
    ("no-hit-lru-scorer", 2),
)
_UNIFIED_UNREAD: picking.Scorers = (
    ("active-request-scorer", 2),
    ("prefix-cache-scorer", 3),
    ("no-hit-lru-scorer", 2),
)
_PREFILL: picking.Scorers = (("prefix-cache-scorer", 3), ("queue-scorer", 2), ("kv-cache-utilization-scorer", 2))
_DECODE: picking.Scorers = (("active-request-scorer", 2), ("prefix-cache-scorer", 3))


def is_required(replica: Replica) -> bool:
    """Return whether KServe shall run a scheduler for the replica.

    Workers of one role serve without one, and on every gateway. The author asks for it (spec.endpointPicker), because
    it needs a gateway that knows InferencePools. Besides, a route follows a new version of Modelplane at once, and the
    service of pods that run does not: the route would lead to a pool that nobody has made.
    """
    several = sum(bound.spec.workers for bound in replica.roles) > 1
    return replica.is_disaggregated or (several and replica.endpoint_picker is not None)


def connector(engine: EngineType) -> str:
    """Return the protocol by which the sidecar of a decode pod asks a prefill pod."""
    return CONNECTORS.get(engine, _NIXL)


def pool_name(service: str) -> str:
    """Return the name of the InferencePool that KServe makes for a service."""
    return f"{service}-inference-pool"


def of(replica: Replica, service: str) -> dict[str, Json]:
    """Return spec.router.scheduler of a service with the name `service`."""
    scheduler: dict[str, Json] = {"config": {"inline": configuration(replica)}}
    if replica.is_disaggregated and replica.engine is not EngineType.VLLM:
        scheduler["pool"] = {"spec": _closed_pool(service)}
    return scheduler


def configuration(replica: Replica) -> dict[str, Json]:
    """Return the EndpointPickerConfig."""
    asked = replica.endpoint_picker or picking.NOTHING_ASKED
    picks = asked.picker or picking.BEST
    if not replica.is_disaggregated:
        scorers = asked.scorers or (_UNIFIED if replica.engine is EngineType.VLLM else _UNIFIED_UNREAD)
        plugins = [{"type": "single-profile-handler"}, *_plugins((scorers,)), {"type": picks}]
        return picking.configuration(_API_VERSION, plugins, [picking.profile("default", (), scorers, picks)])
    by_role = {role: asked.scorers or _default(replica.engine, role) for role in (Role.PREFILL, Role.DECODE)}
    plugins = [{"type": "disagg-headers-handler"}, *({"type": _filter(role)} for role in by_role)]
    plugins += [
        *_plugins(tuple(by_role.values())),
        {"type": picks},
        *picking.prefill_handler(asked.uncached_tokens),
    ]
    return picking.configuration(
        _API_VERSION,
        plugins,
        [picking.profile(str(role), (_filter(role),), by_role[role], picks) for role in by_role],
    )


def sidecar_arguments(replica: Replica, service: str) -> list[str]:
    """Return the arguments of the sidecar that takes port 8000 of a decode pod and asks a prefill pod first."""
    return [
        f"--port={launching.SERVICE_PORT}",
        f"--vllm-port={launching.DECODE_BEHIND_SIDECAR_PORT}",
        f"--kv-connector={connector(replica.engine)}",
        "--enable-ssrf-protection=true",
        "--pool-group=inference.networking.x-k8s.io",
        f"--inference-pool={replica.namespace}/{pool_name(service)}",
        "--secure-proxy=false",
    ]


def _default(engine: EngineType, role: Role) -> picking.Scorers:
    return _PREFILL if role is Role.PREFILL and engine is EngineType.VLLM else _DECODE


def _filter(role: Role) -> str:
    return f"{role}-filter"


def _plugins(scorers: Sequence[picking.Scorers]) -> list[Json]:
    """Return each plugin once; two profiles may refer to the same."""
    return [{"type": kind} for kind in dict.fromkeys(kind for profile in scorers for kind, _ in profile)]


def _closed_pool(service: str) -> dict[str, Json]:
    """Return the pool of KServe's preset, but closed while the scheduler does not answer.

    A prefill worker of vLLM is a complete engine. Those of others answer nothing alone, so that not any pod will do.
    """
    labels = {
        "app.kubernetes.io/name": service,
        "app.kubernetes.io/part-of": "llminferenceservice",
        "kserve.io/component": "workload",
    }
    return {
        "selector": {"matchLabels": labels},
        "targetPorts": [{"number": launching.SERVICE_PORT}],
        "endpointPickerRef": {
            "kind": "Service",
            "name": f"{service}-epp-service",
            "port": {"number": _PICKER_PORT},
            "failureMode": "FailClose",
        },
    }
