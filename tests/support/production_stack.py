"""The operator of the vLLM production stack, played, because the module proxy of Go does not serve its module.

What it makes of a VLLMRuntime, what it compares before an update, and where it ends in a nil pointer, restated from
vllm-project/production-stack at a6c01db (operator/internal/controller/vllmruntime_controller.go:
deploymentForVLLMRuntime, deploymentNeedsUpdate, serviceForVLLMRuntime, updateStatus). It compares by reflect.DeepEqual;
here what an API server writes back is compared.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from typing import Any

from modelplane import units

Json = Any

CACHE = {
    "LMCACHE_USE_EXPERIMENTAL": "enabled",
    "LMCACHE_MAX_LOCAL_CPU_SIZE": "cpuOffloadingBufferSize",
    "LMCACHE_MAX_LOCAL_DISK_SIZE": "diskOffloadingBufferSize",
    "LMCACHE_REMOTE_URL": "remoteUrl",
    "LMCACHE_REMOTE_SERDE": "remoteSerde",
}
"""Variables that the operator reads back, by the field of lmCacheConfig that it compares them with."""


class Panic(Exception):
    """The operator meets a nil pointer, and does so again at every try."""


def _labels(runtime: Mapping[str, Json]) -> dict[str, str]:
    return {"app": runtime["metadata"]["name"], **(runtime["metadata"].get("labels") or {})}


def service(runtime: Mapping[str, Json]) -> dict[str, Json]:
    """Return the Service that the operator makes."""
    port = {"name": "http", "port": 80, "targetPort": runtime["spec"]["vllmConfig"]["port"], "protocol": "TCP"}
    spec = {"type": "ClusterIP", "selector": _labels(runtime), "ports": [port]}
    return {"apiVersion": "v1", "kind": "Service", "metadata": _metadata(runtime), "spec": spec}


def deployment(runtime: Mapping[str, Json]) -> dict[str, Json]:
    """Return the Deployment that the operator makes."""
    asked = runtime["spec"]["deploymentConfig"]
    amounts = dict(_amounts(asked["resources"]))
    container = {
        "name": "vllm",
        "image": f"{asked['image']['registry']}/{asked['image']['name']}",
        "imagePullPolicy": asked["image"].get("pullPolicy") or "IfNotPresent",
        "command": ["/opt/venv/bin/vllm", "serve"],
        "args": list(_args(runtime["spec"])),
        "env": list(_env(runtime["spec"])),
        "ports": [{"name": "http", "containerPort": runtime["spec"]["vllmConfig"]["port"]}],
        "resources": {"requests": dict(amounts), "limits": dict(amounts)},
        **_probes(runtime["spec"]["vllmConfig"]["port"]),
    }
    pod: dict[str, Json] = {"containers": [container], "runtimeClassName": asked.get("runtimeClass", "nvidia")}
    if asked.get("shmSize"):
        memory = {"medium": "Memory", "sizeLimit": asked["shmSize"]}
        pod["volumes"] = [{"name": "dshm", "emptyDir": memory}]
        container["volumeMounts"] = [{"name": "dshm", "mountPath": "/dev/shm"}]
    if "nodeSelectorTerms" in asked:
        required = {"nodeSelectorTerms": copy.deepcopy(asked["nodeSelectorTerms"])}
        pod["affinity"] = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}
    if "toleration" in asked:
        pod["tolerations"] = copy.deepcopy(asked["toleration"])
    if asked["image"].get("pullSecretName"):
        pod["imagePullSecrets"] = [{"name": asked["image"]["pullSecretName"]}]
    labels = _labels(runtime)
    template = {"metadata": {"labels": labels, "annotations": dict(asked.get("podAnnotations") or {})}, "spec": pod}
    spec = {
        "replicas": asked.get("replicas", 1),
        "strategy": {"type": asked.get("deploymentStrategy", "RollingUpdate")},
        "selector": {"matchLabels": labels},
        "template": template,
    }
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": _metadata(runtime), "spec": spec}


def stored(made: Mapping[str, Json]) -> dict[str, Json]:
    """Return a Deployment as an API server hands it back: quantities in their own form, and no empty list or map."""
    found = copy.deepcopy(dict(made))
    pod = found["spec"]["template"]["spec"]
    for kind in ("requests", "limits"):
        resources = pod["containers"][0]["resources"]
        amounts = {name: units.quantity(text).canonical() for name, text in resources.pop(kind).items()}
        resources |= {kind: amounts} if amounts else {}
    for key in [key for key, value in pod.items() if value == []]:
        del pod[key]
    return found


def needs_update(found: Mapping[str, Json], runtime: Mapping[str, Json]) -> bool:
    """Return whether the operator updates the Deployment that it finds.

    Raises: Panic where it would follow a nil pointer.
    """
    expected = deployment(runtime)
    there, wanted = found["spec"]["template"], expected["spec"]["template"]
    for one in (there, wanted):
        if "affinity" not in one["spec"]:
            raise Panic("nodeSelectorTerms is not set")
    left, right = there["spec"]["containers"][0], wanted["spec"]["containers"][0]
    annotations = wanted["metadata"]["annotations"]
    return (
        found["spec"]["replicas"] != expected["spec"]["replicas"]
        or left["args"][0] != runtime["spec"]["model"]["modelURL"]
        or left["ports"][0]["containerPort"] != right["ports"][0]["containerPort"]
        or any(left[key] != right[key] for key in ("image", "resources"))
        or _cache_differs(left, runtime["spec"].get("lmCacheConfig") or {})
        or any(
            there["spec"].get(key) != wanted["spec"].get(key)
            for key in ("affinity", "tolerations", "runtimeClassName", "volumes")
        )
        or any(there["metadata"]["annotations"].get(key) != value for key, value in annotations.items())
    )


def updated(found: Mapping[str, Json], runtime: Mapping[str, Json]) -> dict[str, Json]:
    """Return the Deployment after one turn of the operator.

    Raises: Panic, and ValueError where an API server refuses the update because the selector would change.
    """
    if not needs_update(found, runtime):
        return dict(found)
    made = deployment(runtime)
    if made["spec"]["selector"] != found["spec"]["selector"]:
        raise ValueError("spec.selector: field is immutable")
    return stored(made)


def status(made: Mapping[str, Json]) -> dict[str, Json]:
    """Return what the operator reports of a Deployment with that status; zeroes are left out."""
    said = made.get("status") or {}
    counts = {f"{kind}Replicas": said.get(f"{kind}Replicas", 0) for kind in ("available", "updated", "unavailable")}
    is_away = counts["unavailableReplicas"] > 0
    if counts["availableReplicas"] == made["spec"]["replicas"] and not is_away:
        model = "Ready"
    elif is_away:
        model = "Updating" if counts["updatedReplicas"] else "NotReady"
    else:
        model = "Unknown"
    return {"modelStatus": model, **{key: n for key, n in {**counts, "replicas": said.get("replicas", 0)}.items() if n}}


def _metadata(runtime: Mapping[str, Json]) -> dict[str, Json]:
    return {key: runtime["metadata"][key] for key in ("name", "namespace")}


def _amounts(asked: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for key in ("cpu", "memory"):
        if asked.get(key):
            yield key, asked[key]
    if asked.get("gpu"):
        yield asked.get("gpuType") or "nvidia.com/gpu", asked["gpu"]


def _args(spec: Mapping[str, Json]) -> Iterator[str]:
    config = spec["vllmConfig"]
    yield from (spec["model"]["modelURL"], "--host", "0.0.0.0", "--port", str(config["port"]))  # noqa: S104
    for key, flag in (("enableChunkedPrefill", "chunked-prefill"), ("enablePrefixCaching", "prefix-caching")):
        yield f"--enable-{flag}" if config.get(key) else f"--no-enable-{flag}"
    if config.get("tensorParallelSize"):
        yield from ("--tensor-parallel-size", str(config["tensorParallelSize"]))
    yield from config.get("extraArgs") or ()


def _env(spec: Mapping[str, Json]) -> Iterator[dict[str, Json]]:
    yield {"name": "VLLM_USE_V1", "value": "1" if spec["vllmConfig"].get("v1") else "0"}
    yield from (dict(one) for one in spec["vllmConfig"].get("env") or ())
    secret = spec["model"].get("hfTokenSecret")
    if secret:
        reference = {"name": secret["hfTokenSecretName"], "key": secret.get("hfTokenKeyName", "token")}
        yield {"name": "HF_TOKEN", "valueFrom": {"secretKeyRef": reference}}


def _probes(port: int) -> dict[str, Json]:
    answer = {"httpGet": {"path": "/health", "port": port, "scheme": "HTTP"}, "periodSeconds": 20}
    return {
        "readinessProbe": {**answer, "initialDelaySeconds": 10, "timeoutSeconds": 5, "failureThreshold": 10},
        "livenessProbe": {**answer, "initialDelaySeconds": 10, "timeoutSeconds": 3, "failureThreshold": 10},
        "startupProbe": {**answer, "initialDelaySeconds": 120, "timeoutSeconds": 3, "failureThreshold": 100},
    }


def _cache_differs(container: Mapping[str, Json], config: Mapping[str, Json]) -> bool:
    found = {CACHE[one["name"]]: one.get("value", "") for one in container["env"] if one["name"] in CACHE}
    is_on = found.pop("enabled", "") == "True"
    fields = [field for field in CACHE.values() if field != "enabled"]
    return is_on != bool(config.get("enabled")) or any(
        found.get(field, "") != config.get(field, "") for field in fields
    )
