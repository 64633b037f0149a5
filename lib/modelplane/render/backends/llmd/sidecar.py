"""The routing sidecar of a decode pod: it has a prefill worker fill the KV cache before the engine answers.

It calls the worker that a request header names, if that is in the replica's pool, so it reads the pool and its pods.
Source: llm-d-router v0.10.0 (cmd/pd-sidecar).
"""

from __future__ import annotations

from typing import Any, TypeAlias

from modelplane import names
from modelplane.render import pods
from modelplane.render.backends.llmd import images, launching, rights, tracing
from modelplane.render.manifest import Manifest
from modelplane.workload.model import EngineType, Replica, Role
from modelplane.workload.site import ClusterFacts

Json: TypeAlias = Any

NAME = "routing-sidecar"
# A custom engine in both roles is one of vLLM's kin: SGLang's protocol needs its own bootstrap server.
CONNECTORS = {EngineType.VLLM: "nixlv2", EngineType.CUSTOM: "nixlv2", EngineType.SGLANG: "sglang"}


def container(replica: Replica, facts: ClusterFacts) -> dict[str, Json]:
    """Return the container. It runs before the engine starts and until the engine has ended."""
    probe = {"httpGet": {"path": "/health", "port": launching.PORT, "scheme": "HTTP"}, "periodSeconds": 10}
    return {
        "name": NAME,
        "image": images.sidecar(facts),
        "restartPolicy": "Always",
        "args": [
            f"--port={launching.PORT}",
            f"--model-server-port={launching.BEHIND_SIDECAR_PORT}",
            f"--kv-connector={CONNECTORS[replica.engine]}",
            "--secure-proxy=false",
            "--enable-ssrf-protection=true",
            f"--inference-pool={replica.namespace}/{replica.name}",
            *tracing.arguments(facts),
        ],
        **tracing.env("llm-d-router/pd-sidecar", facts),
        "ports": [{"name": "proxy", "containerPort": launching.PORT, "protocol": "TCP"}],
        "livenessProbe": {**probe, "failureThreshold": 6},
        "readinessProbe": probe,
        "securityContext": rights.RESTRICTED,
    }


def account_name(replica: Replica) -> str:
    """Return the name of the service account of decode pods, unless their author names one."""
    return names.bounded(replica.name, "decode")


def account(replica: Replica) -> tuple[Manifest, ...]:
    """Return the rights of decode pods: to read the pool, and the pods of their namespace.

    The workload waits for its own service account, because no pod can be created without it.
    """
    decode = replica.role(Role.DECODE)
    given = "" if decode is None else decode.spec.template["spec"].get("serviceAccountName") or ""
    rules = (
        rights.rule(rights.POOLS, "inferencepools", ("list", "watch"), names_=(replica.name,)),
        rights.rule("", "pods", ("list", "watch")),
    )
    holder = rights.Holder("sidecar", account_name(replica), replica.namespace, pods.base_labels(replica))
    return rights.of(holder, rules, account=given)
