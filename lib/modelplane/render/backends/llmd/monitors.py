"""The PodMonitors of a replica, where the cluster serves them.

Source: prometheus-operator v0.85 (monitoring.coreos.com/v1). No object depends on them: a cluster without the
definition refuses them and runs everything else.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from modelplane import names
from modelplane.render import pods
from modelplane.render.backends.llmd import metrics, picker
from modelplane.render.manifest import Manifest
from modelplane.render.workers import manifests
from modelplane.render.workers.manifests import Workers
from modelplane.workload.model import Replica

Json: TypeAlias = Any


def of_role(workers: Workers, workload: Manifest) -> Manifest:
    """Return the monitor of the role's pods that serve; the others of a gang publish nothing."""
    replica, role = workers.replica, str(workers.bound.spec.role)
    selector = {names.LABEL_REPLICA: replica.name, names.LABEL_ROLE: role, names.LABEL_SERVES: manifests.SERVES}
    metadata = {
        "name": names.bounded(replica.name, role),
        "namespace": replica.namespace,
        "labels": pods.role_labels(replica, workers.bound),
    }
    endpoint = {**_port(workload, workers.launch.port), "path": metrics.path(replica.engine)}
    return _monitor(f"monitor-{role}", metadata, selector, endpoint)


def of_picker(replica: Replica) -> Manifest:
    """Return the monitor of the picker."""
    metadata = {"name": picker.name(replica), "namespace": replica.namespace, "labels": pods.base_labels(replica)}
    endpoint = {"port": picker.METRICS_PORT_NAME, "path": "/metrics"}
    return _monitor("monitor-picker", metadata, picker.selector(replica), endpoint)


def _port(workload: Manifest, number: int) -> dict[str, Json]:
    """Return the port of the engine, by its name where it has one."""
    spec = manifests.serving_pod(workload)["spec"]
    engine = next(container for container in spec["containers"] if container["name"] == pods.ENGINE)
    found = next(port for port in engine["ports"] if port["containerPort"] == number)
    return {"port": found["name"]} if found.get("name") else {"portNumber": number}


def _monitor(
    key: str, metadata: Mapping[str, Json], selector: Mapping[str, str], endpoint: Mapping[str, Json]
) -> Manifest:
    return Manifest(
        key,
        {
            "apiVersion": "monitoring.coreos.com/v1",
            "kind": "PodMonitor",
            "metadata": dict(metadata),
            "spec": {"selector": {"matchLabels": dict(selector)}, "podMetricsEndpoints": [dict(endpoint)]},
        },
    )
