"""The endpoint picker of a replica: Deployment, Service, configuration and rights.

It has one pod, which ends before its successor starts: of two pods, each would know half of the workers' caches.
Source: llm-d-router v0.10.0 (cmd/epp).
"""

from __future__ import annotations

from typing import Any, TypeAlias

from modelplane import names
from modelplane.render import pods
from modelplane.render.backends.llmd import configuration, images, rights, tracing
from modelplane.render.manifest import Manifest, Purpose, Readiness
from modelplane.render.workers import manifests
from modelplane.workload.model import Replica
from modelplane.workload.site import ClusterFacts

Json: TypeAlias = Any

KEY = "picker"
PORT, METRICS_PORT_NAME = 9002, "http-metrics"
_HEALTH_PORT, _METRICS_PORT = 9003, 9090
# The time that requests in flight may take when the picker is replaced; it lets them end before it does.
_GRACE_SECONDS = 130


def name(replica: Replica) -> str:
    """Return the name of the picker's objects."""
    return names.bounded(replica.name, "epp")


def selector(replica: Replica) -> dict[str, str]:
    """Return the labels by which the picker's pod is found."""
    return {names.LABEL_PICKER: replica.name}


def render(replica: Replica, facts: ClusterFacts) -> tuple[Manifest, ...]:
    """Return the picker's objects."""
    text = configuration.text(replica)
    config = _object(replica, "v1", "ConfigMap", data={configuration.FILE: text})
    return (
        *rights.of(_holder(replica), _rules(replica)),
        Manifest("picker-config", config),
        Manifest("picker-service", _service(replica), Purpose.ROUTE),
        Manifest(KEY, _deployment(replica, facts, text), readiness=Readiness(manifests.DEPLOYMENT_READY)),
    )


def _holder(replica: Replica) -> rights.Holder:
    return rights.Holder(KEY, name(replica), replica.namespace, pods.base_labels(replica))


def _rules(replica: Replica) -> tuple[dict[str, Json], ...]:
    """Return the rules for what the picker reads: its pool, and the pods and objectives of the namespace."""
    read = ("get", "list", "watch")
    return (
        rights.rule(rights.POOLS, "inferencepools", read, names_=(replica.name,)),
        rights.rule("", "pods", read),
        *(
            rights.rule(group, resource, read)
            for group in ("llm-d.ai", "inference.networking.x-k8s.io")
            for resource in ("inferenceobjectives", "inferencemodelrewrites")
        ),
    )


def _object(replica: Replica, api_version: str, kind: str, **fields: Json) -> dict[str, Json]:
    metadata = {"name": name(replica), "namespace": replica.namespace, "labels": pods.base_labels(replica)}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **fields}


def _service(replica: Replica) -> dict[str, Json]:
    # Gateways speak gRPC to it.
    asked = {"name": "grpc-ext-proc", "port": PORT, "targetPort": PORT, "protocol": "TCP"}
    ports = [
        {**asked, "appProtocol": "kubernetes.io/h2c"},
        {"name": METRICS_PORT_NAME, "port": _METRICS_PORT, "targetPort": _METRICS_PORT, "protocol": "TCP"},
    ]
    return _object(replica, "v1", "Service", spec={"selector": selector(replica), "ports": ports})


def _deployment(replica: Replica, facts: ClusterFacts, text: str) -> dict[str, Json]:
    pod = {
        "metadata": {
            "labels": {**pods.base_labels(replica), **selector(replica)},
            # It reads its configuration once.
            "annotations": {names.ANNOTATION_CONFIGURATION: names.digest(text)},
        },
        "spec": {
            "serviceAccountName": name(replica),
            "terminationGracePeriodSeconds": _GRACE_SECONDS,
            "containers": [_container(replica, facts)],
            "volumes": [{"name": "config", "configMap": {"name": name(replica)}}],
        },
    }
    spec = {
        "replicas": 1,
        "strategy": {"type": "Recreate"},
        "selector": {"matchLabels": selector(replica)},
        "template": pod,
    }
    return _object(replica, "apps/v1", "Deployment", spec=spec)


def _container(replica: Replica, facts: ClusterFacts) -> dict[str, Json]:
    health = {"grpc": {"port": _HEALTH_PORT, "service": "inference-extension"}}
    return {
        "name": "epp",
        "image": images.picker(facts),
        "args": [
            f"--pool-name={replica.name}",
            f"--pool-namespace={replica.namespace}",
            f"--pool-group={rights.POOLS}",
            f"--config-file=/config/{configuration.FILE}",
            # With it the picker would need a right over the whole cluster: to have tokens reviewed.
            "--metrics-endpoint-auth=false",
            "--zap-encoder=json",
            *tracing.arguments(facts),
        ],
        **tracing.env("llm-d-router/epp", facts),
        "ports": [
            {"name": "grpc-ext-proc", "containerPort": PORT, "protocol": "TCP"},
            {"name": "grpc-health", "containerPort": _HEALTH_PORT, "protocol": "TCP"},
            {"name": METRICS_PORT_NAME, "containerPort": _METRICS_PORT, "protocol": "TCP"},
        ],
        "livenessProbe": {**health, "initialDelaySeconds": 5, "periodSeconds": 10},
        "readinessProbe": {**health, "periodSeconds": 2},
        "resources": {"requests": {"cpu": "1", "memory": "1Gi"}, "limits": {"memory": "8Gi"}},
        "securityContext": dict(rights.RESTRICTED),
        "volumeMounts": [{"name": "config", "mountPath": "/config", "readOnly": True}],
    }
