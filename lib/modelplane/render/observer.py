"""The observer of a cluster: a Deployment that counts nodes and devices, and the ConfigMap that it writes.

provider-kubernetes reads an object by its name and lists nothing in one answer. So a small program on the cluster lists
nodes and ResourceSlices, and one object with a summary is read. Its rights are the platform's to give
(examples/rbac-workload-observer.yaml): whoever writes a ClusterRole must hold what it grants.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from modelplane import names
from modelplane.devices.model import Claim, NodeClass
from modelplane.placement.snapshot import Pool
from modelplane.render import observer_program, pods
from modelplane.render.manifest import Lifecycle, Manifest, Purpose
from modelplane.workload.site import ClusterFacts, Observer

Json: TypeAlias = Any

KEY, MAP_KEY = "observer", "observation"
"""The composition keys of the Deployment and of the ConfigMap."""
NAMESPACE, NAME, MAP_NAME = "modelplane", "modelplane-observer", "modelplane-observation"
DEFAULT_IMAGE = "kserve/storage-initializer:v0.20.0"
"""An image with Python, the one that stages the files of a ModelCache: one less to mirror."""
SECONDS = 60
_LATE_SECONDS = 5 * SECONDS
_USER = 1000
_PROBE = "import os, sys, time; sys.exit(time.time() - os.path.getmtime(sys.argv[1]) > float(sys.argv[2]))"
_LABELS = {"app.kubernetes.io/name": NAME, names.LABEL_NAMESPACE: NAMESPACE}


def question(pools: Iterable[Pool], facts: ClusterFacts) -> dict[str, Json]:
    """Return the question about the pools: their nodes, and the devices that their classes have.

    `asked` is a digest of the rest of an entry, by which an answer is known to be one to this question.
    """
    return {"pools": [_asked(pool, facts) for pool in pools]}


def digests(asked: Mapping[str, Json]) -> dict[str, str]:
    """Return the digest of each question by pool."""
    return {entry["name"]: entry["asked"] for entry in asked["pools"]}


def _asked(pool: Pool, facts: ClusterFacts) -> dict[str, Json]:
    tolerated = [
        [entry["key"], entry.get("value", ""), entry.get("effect", "")]
        for entry in pods.tolerations(facts.pool_taints.get(pool.name, ()))
    ]
    entry: dict[str, Json] = {
        "labels": dict(facts.pool_node_selector.get(pool.name) or {names.LABEL_POOL: pool.name}),
        "taints": tolerated,
        "drivers": _drivers(pool.node_class),
        "resources": _resources(pool.node_class),
    }
    return {"name": pool.name, "asked": names.digest(json.dumps(entry, sort_keys=True)), **entry}


def _drivers(node_class: NodeClass | None) -> dict[str, Json]:
    found: dict[str, dict[str, set[str]]] = {}
    for device in () if node_class is None else node_class.devices:
        if device.claim is Claim.DRA:
            asked = found.setdefault(device.driver, {"attributes": set(), "capacity": set()})
            for what, values in (("attributes", device.attributes), ("capacity", device.capacity)):
                asked[what] |= {name.removeprefix(f"{device.driver}/") for name, _ in values}
    return {driver: {what: sorted(has) for what, has in asked.items()} for driver, asked in sorted(found.items())}


def _resources(node_class: NodeClass | None) -> list[str]:
    devices = () if node_class is None else node_class.devices
    return sorted({one.resource_name for one in devices if one.claim is Claim.DEVICE_PLUGIN})


def deployment(observer: Observer, asked: Mapping[str, Json], facts: ClusterFacts) -> Manifest:
    """Return the Deployment. A pod that is replaced ends before the next one starts: two would answer in turns."""
    spec = {
        "replicas": 1,
        "strategy": {"type": "Recreate"},
        "revisionHistoryLimit": 1,
        "selector": {"matchLabels": dict(_LABELS)},
        "template": {"metadata": {"labels": dict(_LABELS)}, "spec": _pod(observer, asked, facts)},
    }
    resource = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": _metadata(NAME), "spec": spec}
    return Manifest(KEY, resource, Purpose.SUPPORT)


def config_map() -> Manifest:
    """Return the ConfigMap, which is made where it is missing and never written again: its data is the observer's."""
    resource = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": _metadata(MAP_NAME)}
    return Manifest(MAP_KEY, resource, Purpose.SHARED, lifecycle=Lifecycle.KEEP)


def _metadata(name: str) -> dict[str, Json]:
    return {"name": name, "namespace": NAMESPACE, "labels": dict(_LABELS)}


def _pod(observer: Observer, asked: Mapping[str, Json], facts: ClusterFacts) -> dict[str, Json]:
    elsewhere = pods.outside_of_pools(facts)
    return {
        "serviceAccountName": NAME,
        "enableServiceLinks": False,
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": _USER,
            "runAsGroup": _USER,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        **({"affinity": {"nodeAffinity": elsewhere}} if elsewhere else {}),
        "containers": [_container(observer, asked)],
        "volumes": [{"name": "tmp", "emptyDir": {"sizeLimit": "1Mi"}}],
    }


def _container(observer: Observer, asked: Mapping[str, Json]) -> dict[str, Json]:
    text = json.dumps(asked, sort_keys=True, separators=(",", ":"))
    probe = ["python3", "-I", "-c", _PROBE, observer_program.SEEN, str(_LATE_SECONDS)]
    return {
        "name": "observer",
        "image": observer.image or DEFAULT_IMAGE,
        "command": ["python3", "-I", "-c", observer_program.TEXT],
        # The kubelet expands $(NAME) in arguments, and a doubled $ is one.
        "args": [text.replace("$", "$$"), f"{NAMESPACE}/{MAP_NAME}", str(SECONDS)],
        "readinessProbe": {"exec": {"command": probe}, "periodSeconds": SECONDS, "timeoutSeconds": 10},
        "resources": {"requests": {"cpu": "50m", "memory": "128Mi"}, "limits": {"memory": "512Mi"}},
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
            "readOnlyRootFilesystem": True,
        },
        "volumeMounts": [{"name": "tmp", "mountPath": "/tmp"}],  # noqa: S108
    }
