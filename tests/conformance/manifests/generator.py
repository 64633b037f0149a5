"""Random worlds that our API accepts: every shape of a deployment, every feature of a service, all from one seed.

The texts and names are chosen to hurt: braces that look like templates, names that renderers use themselves.
"""

from __future__ import annotations

import random
from typing import Any

Document = dict[str, Any]

API_VERSION = "modelplane.ai/v1alpha1"
NAMESPACE = "team"
HOSTNAME = "models.example.com"
SERVED = "llama-3.1-8b"

_IMAGES = {
    "vllm": "vllm/vllm-openai:v0.23.0",
    "sglang": "lmsysorg/sglang:v0.5.9",
    "trtllm": "nvcr.io/nvidia/tensorrt-llm/release:1.2.0",
    "llamacpp": "ghcr.io/ggml-org/llama.cpp:server-cuda",
    "custom": "registry.example.com/team/engine:1",
}
# Which parallelism an engine is known to have is the product's to refuse; these are sure to be taken by all.
_GANGS = ("vllm", "custom")
_SPLIT = {"KServe": ("vllm", "custom"), "LLMD": ("vllm", "custom", "sglang")}
_RUNTIMES = {"vllm": "vllm-runtime", "sglang": "sglang-runtime", "trtllm": "tensorrtllm-runtime"}
_TEXTS = ("{{ .Name }}", "$(HOSTNAME)", 'say "hello"; rm -rf /', "a: b # c", "*anchor &x", "")


def documents(seed: int) -> list[Document]:
    """Return a fleet with room, two deployments, a model of a SaaS, and services over them."""
    dice = random.Random(seed)  # noqa: S311  chance, not secrecy
    deployments = [_deployment(dice, name) for name in ("llama", "a-name-of-a-deployment-that-is-rather-long")]
    names = [one["metadata"]["name"] for one in deployments]
    return [
        _class(dice),
        _cluster(dice),
        _gateway(dice),
        *deployments,
        *(_endpoint(dice, f"saas-{number}") for number in range(2)),
        _service(dice, "weighted", names, failover=False),
        _service(dice, "failover", names, failover=True),
    ]


def _of(kind: str, name: str, spec: Document, namespace: str | None = NAMESPACE) -> Document:
    metadata = {"name": name} | ({"namespace": namespace} if namespace else {})
    return {"apiVersion": API_VERSION, "kind": kind, "metadata": metadata, "spec": spec}


def _class(dice: random.Random) -> Document:
    gpu: Document = {
        "name": "gpu",
        "driver": "gpu.nvidia.com",
        "count": 8,
        "attributes": {"architecture": {"string": "Hopper"}, "cudaComputeCapability": {"version": "9.0.0"}},
        "capacity": {"memory": {"value": "143771Mi"}},
    }
    if dice.random() < 0.6:
        gpu |= {"claim": "DRA", "deviceClassName": "gpu.nvidia.com"}
    else:
        gpu |= {"claim": "DevicePlugin", "resourceName": "nvidia.com/gpu"}
    nic = {
        "name": "nic",
        "driver": "dra.net",
        "claim": "DRA",
        "deviceClassName": "dra.net",
        "count": 8,
        "attributes": {"resource.kubernetes.io/pcieRoot": {"string": "pci0"}},
    }
    link = {"name": "link", "driver": "modelplane.ai", "claim": "Synthetic", "count": 1}
    return _of("InferenceClass", "node", {"devices": [gpu, nic, link]}, None)


def _cluster(dice: random.Random) -> Document:
    pool: Document = {"name": "pool", "className": "node", "nodeCount": 200}
    if dice.random() < 0.5:
        pool["nodeSelector"] = {"example.com/pool": "gpu", "kubernetes.io/arch": "amd64"}
    if dice.random() < 0.5:
        pool["taints"] = [{"key": "example.com/gpu", "value": "yes", "effect": "NoSchedule"}]
    secret = {"namespace": "modelplane-system", "name": "east", "key": "kubeconfig"}
    spec = {"cluster": {"source": "Existing", "existing": {"secretRef": secret}}, "nodePools": [pool]}
    spec["backends"] = ["KServe", "Native", "KubeRay", "LLMD", "KAITO", "VLLMStack", "Dynamo"]
    if dice.random() < 0.5:
        spec["gateway"] = {"implementation": dice.choice(("Istio", "Other"))}
    if dice.random() < 0.5:
        tracing = {"endpoint": "http://otel-collector.monitoring:4317", "samplingPercent": dice.choice((0, 7, 100))}
        spec["monitoring"] = {"podMonitors": dice.random() < 0.7, "tracing": tracing}
    return _of("InferenceCluster", "east", spec, None)


def _gateway(dice: random.Random) -> Document:
    gateway: Document = {"hostname": f"*.{HOSTNAME}"}
    if dice.random() < 0.5:
        gateway["tls"] = {"certificateRefs": [{"name": "wildcard"}]}
    if dice.random() < 0.3:
        gateway["port"] = 8443
    if dice.random() < 0.3:
        gateway["className"] = "shared"
    return _of(
        "InferenceGateway", "default", {"gateway": gateway, "envoyGateway": {"install": dice.random() < 0.5}}, None
    )


# --- deployments ------------------------------------------------------------------------------------------------------


def _deployment(dice: random.Random, name: str) -> Document:
    engine = dice.choice(sorted(_IMAGES))
    spec: Document = {"replicas": dice.randint(1, 2), "engine": {"type": engine}}
    if engine != "custom" or dice.random() < 0.5:
        spec["model"] = {"name": SERVED, "uri": "hf://meta-llama/Llama-3.1-8B-Instruct"}
    spec |= _role(dice, engine)
    backend = dice.choice((None, None, "Native", "LLMD", "LLMD"))
    if backend is not None:
        spec["backend"] = backend
    if backend == "LLMD" and dice.random() < 0.5:
        spec["endpointPicker"] = _picker(dice)
    if backend != "Native" and engine in _SPLIT[backend or "KServe"] and dice.random() < 0.4:
        spec["prefill"] = _role(dice, engine)
    _for_an_image(dice, spec, engine)
    if engine == "vllm" and dice.random() < 0.4:
        return _of("ModelDeployment", name, _for_stack(dice, spec))
    if "backend" not in spec and "prefill" not in spec and dice.random() < 0.5:
        spec["backend"] = "KAITO"
        spec["workers"]["topology"] = {"tensor": spec["workers"]["topology"]["tensor"]}
    return _of("ModelDeployment", name, spec)


def _for_an_image(dice: random.Random, spec: Document, engine: str) -> None:
    """Make a deployment that names no backend one for KubeRay or Dynamo, which need images of their own."""
    if engine == "vllm" and "backend" not in spec and dice.random() < 0.5:
        spec["backend"] = "KubeRay"
        for part in (spec, spec.get("prefill")):
            if part is not None:
                _for_ray(part["workers"]["template"])
    elif engine in _RUNTIMES and "backend" not in spec and dice.random() < 0.6:
        _for_dynamo(spec, engine)


def _for_stack(dice: random.Random, spec: Document) -> Document:
    """Return a spec for the operator of the production stack: what a VLLMRuntime has no field for is left out."""
    tensor = dice.choice((1, 2, 4))
    engine: Document = {"name": "engine", "image": "lmcache/vllm-openai:v0.3.13", "args": dice.choice(_STACK_ARGS)}
    pod: Document = {"containers": [engine]}
    if dice.random() < 0.5:
        reference = {"secretKeyRef": {"name": "hf", "key": "token"}}
        engine["env"] = [{"name": "TEXT", "value": dice.choice(_TEXTS)}, {"name": "HF_TOKEN", "valueFrom": reference}]
    if dice.random() < 0.5:
        engine["resources"] = {"requests": {"cpu": dice.choice((4, "1500m", "0.5")), "memory": "65536Mi"}}
    if dice.random() < 0.5:
        engine |= {"imagePullPolicy": "Always", "volumeMounts": [{"name": "dshm", "mountPath": "/dev/shm"}]}
        pod |= {"imagePullSecrets": [{"name": "registry"}], "volumes": [_VOLUMES[0]]}
    template: Document = {"spec": pod}
    if dice.random() < 0.5:
        template["metadata"] = {"labels": {"team": "a"}, "annotations": {"example.com/note": dice.choice(_TEXTS)}}
    selector = 'device.capacity["gpu.nvidia.com"].memory.compareTo(quantity("140Gi")) >= 0'
    workers = {"count": dice.randint(1, 3), "topology": {"tensor": tensor}, "template": template}
    return {
        **{key: spec[key] for key in ("replicas", "engine", "model")},
        "backend": "VLLMStack",
        "nodeSelector": {"cel": selector},
        "workers": workers,
    }


_STACK_ARGS: tuple[list[str], ...] = (
    [],
    ["--max-model-len", "16384", "--no-enable-prefix-caching"],
    ["--enable-chunked-prefill", '--override-generation-config={"a": "{{ b }}"}'],
)


def _picker(dice: random.Random) -> Document:
    kinds = dice.sample(("prefix-cache-scorer", "queue-scorer", "load-aware-scorer", "lora-affinity-scorer"), 2)
    scorers = [{"type": kind, "weight": dice.choice((1, 7, 1000))} for kind in kinds]
    picker = dice.choice(("max-score-picker", "weighted-random-picker", "random-picker"))
    return {"scorers": scorers, "picker": picker} if dice.random() < 0.7 else {"picker": picker}


def _role(dice: random.Random, engine: str) -> Document:
    topology, devices = _topology(dice, engine)
    return {
        "nodeSelector": _node_selector(dice, devices),
        "workers": {"count": dice.randint(1, 3), "topology": topology, "template": _template(dice, engine)},
    }


def _for_ray(template: Document) -> None:
    """Make a template one for Ray: in an image of Ray, and without the probes, which are KubeRay's."""
    engine = template["spec"]["containers"][0]
    engine["image"] = "rayproject/ray-llm:2.60.0-py312-cu129"
    for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
        engine.pop(probe, None)


def _for_dynamo(spec: Document, engine: str) -> None:
    """Make a deployment one for Dynamo: in its runtimes, and without the probes, which are the operator's."""
    spec["backend"] = "Dynamo"
    for part in (spec, spec.get("prefill")):
        if part is not None:
            container = part["workers"]["template"]["spec"]["containers"][0]
            container["image"] = f"nvcr.io/nvidia/ai-dynamo/{_RUNTIMES[engine]}:1.6.1"
            for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
                container.pop(probe, None)


def _topology(dice: random.Random, engine: str) -> tuple[Document, int]:
    """Return a topology and the devices that one of its nodes takes."""
    tensor = dice.choice((1, 2, 4))
    shape = dice.choice(("node", "pipeline", "data", "data-local")) if engine in _GANGS else "node"
    if shape == "pipeline":
        return {"tensor": tensor, "pipeline": dice.choice((2, 3))}, tensor
    if shape == "data":
        return {"tensor": tensor, "data": 4, "dataLocal": 1, "expert": dice.random() < 0.5}, tensor
    if shape == "data-local":
        return {"tensor": tensor, "data": 4, "dataLocal": 2, "expert": dice.random() < 0.5}, tensor * 2
    return {"tensor": tensor}, tensor


def _node_selector(dice: random.Random, devices: int) -> Document:
    selector = 'device.capacity["gpu.nvidia.com"].memory.compareTo(quantity("140Gi")) >= 0'
    if dice.random() < 0.5:
        return {"cel": selector}
    gpu = {"name": "gpu", "count": devices, "selectors": [{"cel": selector}, {"cel": "true"}]}
    nic = {"name": "nic", "count": devices, "selectors": [{"cel": 'device.driver == "dra.net"'}]}
    link = {"name": "link", "selectors": [{"cel": 'device.driver == "modelplane.ai"'}]}
    constraint = {"matchAttribute": "resource.kubernetes.io/pcieRoot", "requests": ["nic"]}
    return {"devices": [gpu, nic, *([link] if dice.random() < 0.5 else [])], "constraints": [constraint]}


def _template(dice: random.Random, engine: str) -> Document:
    volumes = dice.sample(_VOLUMES, dice.randint(0, len(_VOLUMES)))
    main: Document = {"name": "engine", "image": _IMAGES[engine]}
    if dice.random() < 0.5:
        main["env"] = [
            {"name": "TEXT", "value": dice.choice(_TEXTS)},
            {"name": "HF_TOKEN", "valueFrom": {"secretKeyRef": {"name": "hf", "key": "token", "optional": True}}},
            {"name": "POD", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
            {"name": "CPUS", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu", "divisor": "1"}}},
        ]
        main["envFrom"] = [{"configMapRef": {"name": "settings"}}, {"prefix": "S_", "secretRef": {"name": "more"}}]
    if engine == "custom":
        main["command"], main["args"] = ["/engine"], ["--text", dice.choice(_TEXTS)]
    if dice.random() < 0.5:
        main["resources"] = {"requests": {"cpu": 4, "memory": "64Gi"}, "limits": {"cpu": "16", "memory": "128Gi"}}
    if dice.random() < 0.3:
        main["readinessProbe"] = {"httpGet": {"path": "/ready", "port": "http"}, "periodSeconds": 3}
        main["livenessProbe"] = {"httpGet": {"port": 8000}, "failureThreshold": 9}
        main["startupProbe"] = {"httpGet": {"path": "/up", "port": 8000}, "failureThreshold": 600}
    if dice.random() < 0.3:
        main["lifecycle"] = {"preStop": {"exec": {"command": ["sleep", "20"]}}}
    if dice.random() < 0.3:
        main["securityContext"] = {"runAsUser": 1000, "runAsNonRoot": True, "capabilities": {"add": ["IPC_LOCK"]}}
    mounts = [{"name": one["name"], "mountPath": f"/mnt/{one['name']}"} for one in volumes]
    if mounts:
        main["volumeMounts"] = mounts
    pod: Document = {"containers": [main, *(_sidecar(dice) if dice.random() < 0.4 else ())], "volumes": volumes}
    if dice.random() < 0.3:
        pod["imagePullSecrets"] = [{"name": "registry"}]
        pod["serviceAccountName"] = "runner"
        pod["terminationGracePeriodSeconds"] = 300
        pod["securityContext"] = {"fsGroup": 1000, "seccompProfile": {"type": "RuntimeDefault"}}
    template: Document = {"spec": pod}
    if dice.random() < 0.5:
        template["metadata"] = {"labels": {"team": "a"}, "annotations": {"example.com/note": dice.choice(_TEXTS)}}
    return template


def _sidecar(dice: random.Random) -> list[Document]:
    name = dice.choice(("log", "proxy", "metrics"))
    return [{"name": name, "image": "busybox:1.37", "args": [dice.choice(_TEXTS)], "ports": [{"containerPort": 9100}]}]


_VOLUMES: tuple[Document, ...] = (
    {"name": "dshm", "emptyDir": {"medium": "Memory", "sizeLimit": "4Gi"}},
    {"name": "scratch", "emptyDir": {}},
    {"name": "config", "configMap": {"name": "settings", "items": [{"key": "a", "path": "b"}], "defaultMode": 420}},
    {"name": "keys", "secret": {"secretName": "more", "optional": True}},
    {"name": "weights", "persistentVolumeClaim": {"claimName": "weights", "readOnly": True}},
    {
        "name": "both",
        "projected": {
            "sources": [
                {"configMap": {"name": "settings"}},
                {"secret": {"name": "more"}},
                {"serviceAccountToken": {"path": "token", "expirationSeconds": 3600, "audience": "hub"}},
                {"downwardAPI": {"items": [{"path": "labels", "fieldRef": {"fieldPath": "metadata.labels"}}]}},
            ]
        },
    },
    {
        "name": "fast",
        "ephemeral": {
            "volumeClaimTemplate": {
                "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Ti"}}}
            }
        },
    },
    {"name": "vault", "csi": {"driver": "secrets-store.csi.k8s.io", "readOnly": True}},
    {"name": "model", "image": {"reference": "registry.example.com/model:1", "pullPolicy": "IfNotPresent"}},
)


# --- routing ----------------------------------------------------------------------------------------------------------


def _endpoint(dice: random.Random, name: str) -> Document:
    scheme = dice.choice(("http", "https"))
    spec: Document = {
        "url": f"{scheme}://{name}.example.org{dice.choice(('', ':8080', '/v1'))}",
        "model": {"name": SERVED},
    }
    if dice.random() < 0.6:
        spec["auth"] = {"secretRef": {"name": "key"}}
        if dice.random() < 0.5:
            spec["auth"] |= {"scheme": "Header", "header": "x-api-key"}
    if scheme == "https" and dice.random() < 0.5:
        spec["tls"] = dice.choice(
            ({"caCertificateRefs": [{"name": "ca"}], "sni": "api.example.org"}, {"insecureSkipVerify": True})
        )
    if dice.random() < 0.4:
        spec["healthCheck"] = {"path": "/v1/models", "interval": "30s"}
    made = _of("ModelEndpoint", name, spec)
    made["metadata"]["labels"] = {"modelplane.ai/endpoint": name}
    return made


def _service(dice: random.Random, name: str, deployments: list[str], *, failover: bool) -> Document:
    labels = [{"modelplane.ai/deployment": one} for one in deployments]
    labels += [{"modelplane.ai/endpoint": f"saas-{number}"} for number in range(2)]
    groups: list[Document] = [{"selector": {"matchLabels": one}} for one in labels]
    if failover and dice.random() < 0.7:
        groups = groups[: len(deployments)]  # with a SaaS, whose credentials differ, failover is refused
        groups[-1]["priority"] = 1
    for number, group in enumerate(groups):
        if failover:
            group.setdefault("priority", int(number >= len(deployments)))
        else:
            group["weight"] = dice.choice((0, 1, 5, 95, 333))
    spec: Document = {"endpoints": groups if failover else dice.sample(groups, dice.randint(1, len(groups)))}
    if dice.random() < 0.5:
        spec["host"] = f"{name}.{NAMESPACE}.{HOSTNAME}"
    if dice.random() < 0.5:
        spec["timeouts"] = {"request": "600s", "idle": "1h"}
    if dice.random() < 0.5:
        spec["retries"] = {"attempts": 3, "on": ["connect-failure", "429", "503"]}
    if dice.random() < 0.4:
        spec["rateLimit"] = {"requests": 100, "unit": dice.choice(("Second", "Minute", "Hour"))}
    if dice.random() < 0.5:
        spec["auth"] = dice.choice(
            (
                {"apiKeys": {"secretRef": {"name": "clients"}}},
                {"jwt": {"issuer": "https://id.example.org", "jwksUri": "https://id.example.org/jwks"}},
            )
        )
    return _of("ModelService", name, spec)
