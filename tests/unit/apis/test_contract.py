"""Whole documents as users write them, with every field of the contract, and how they are stored."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from modelplane.api import catalogue

Json = Any

DOCUMENTS = """
apiVersion: modelplane.ai/v1alpha1
kind: ModelDeployment
metadata: {name: llama-405b, namespace: ml-team}
spec:
  replicas: 2
  model: {name: llama-405b, uri: hf://meta-llama/Llama-3.1-405B-Instruct}
  engine: {type: vllm}
  clusterSelector: {matchLabels: {}, matchExpressions: []}
  tolerations: []
  placement:
    strategy: Spread
    spread: [{topologyKey: modelplane.ai/region, maxSkew: 1}]
    maxReplicasPerCluster: 0
    rebalance: Never
  priority: 0
  backend: KServe
  modelCacheRef: {name: llama}
  nodeSelector:
    cel: device.capacity["gpu.nvidia.com"].memory.compareTo(quantity("140Gi")) >= 0
  workers:
    count: 3
    topology: {tensor: 8, pipeline: 2, data: 1, dataLocal: 1, expert: false}
    template:
      metadata: {labels: {}, annotations: {}}
      spec:
        containers:
        - name: engine
          image: vllm/vllm-openai:v0.23.0
          command: []
          args: ["--model=meta-llama/Llama-3.1-405B-Instruct"]
          env: []
          envFrom: []
          resources: {requests: {cpu: "16", memory: 64Gi}}
          ports: []
          volumeMounts: []
          startupProbe: {}
          livenessProbe: {}
          readinessProbe: {}
          imagePullPolicy: IfNotPresent
          workingDir: /srv
          lifecycle: {preStop: {sleep: {seconds: 15}}}
          securityContext: {runAsNonRoot: false, capabilities: {add: [IPC_LOCK], drop: [ALL]}}
        imagePullSecrets: []
        volumes: []
        serviceAccountName: ""
        terminationGracePeriodSeconds: 120
---
apiVersion: modelplane.ai/v1alpha1
kind: ModelDeployment
metadata: {name: disaggregated, namespace: ml-team}
spec:
  nodeSelector:
    devices:
    - name: gpu
      count: 8
      selectors: [{cel: device.driver == "gpu.nvidia.com"}]
    - name: nic
      count: 8
      selectors: [{cel: 'device.attributes["dra.net"].rdma'}]
    constraints: [{matchAttribute: resource.kubernetes.io/pcieRoot, requests: [gpu, nic]}]
  workers: &role
    topology: {tensor: 1, data: 16, dataLocal: 8, expert: true}
    template:
      spec:
        containers:
        - name: engine
          image: vllm/vllm-openai:v0.23.0
          env:
          - {name: HF_TOKEN, valueFrom: {secretKeyRef: {name: hf, key: token}}}
          - {name: POD_IP, valueFrom: {fieldRef: {fieldPath: status.podIP}}}
          volumeMounts: [{name: weights, mountPath: /weights, readOnly: true}]
        - {name: log, image: "busybox:1", args: [tail]}
        volumes:
        - {name: weights, persistentVolumeClaim: {claimName: weights}}
        - {name: scratch, ephemeral: {volumeClaimTemplate: {spec: {
            accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Ti}}}}}}
  prefill:
    nodeSelector: {cel: 'true'}
    workers: *role
---
apiVersion: modelplane.ai/v1alpha1
kind: InferenceClass
metadata: {name: h200-8x-ib}
spec:
  description: ""
  devices:
  - name: gpu
    driver: gpu.nvidia.com
    claim: DRA
    deviceClassName: gpu.nvidia.com
    resourceName: nvidia.com/gpu
    count: 8
    attributes: {architecture: {string: Hopper}, cudaComputeCapability: {version: 9.0.0}}
    capacity: {memory: {value: 143771Mi}}
  node: {cpu: "208", memory: 2867Gi}
  attributes: {}
  cost: {perNodeHour: "88.49", currency: USD}
  provisioning: {provider: GKE, gke: {machineType: a3-ultragpu-8g}}
---
apiVersion: modelplane.ai/v1alpha1
kind: InferenceCluster
metadata: {name: gke-us, labels: {modelplane.ai/region: us}}
spec:
  cluster:
    source: Existing
    existing: {secretRef: {namespace: fleet, name: gke-us, key: kubeconfig}}
  taints: [{key: drain, value: "true", effect: NoExecute}]
  nodePools:
  - name: frontier
    className: h200-8x-ib
    nodeCount: 4
    minNodeCount: 0
    maxNodeCount: 8
    zones: []
    nodeSelector: {cloud.example.com/pool: frontier}
    taints: [{key: nvidia.com/gpu, effect: NoSchedule}]
  backends: [KServe]
  scheduler: {type: None}
  accounting: Device
  stack: {install: true, versions: {kserve: v0.20.0}}
  gateway: {name: modelplane, namespace: modelplane-system, listener: https}
---
apiVersion: modelplane.ai/v1alpha1
kind: InferenceGateway
metadata: {name: default}
spec:
  type: Envoy
  envoyGateway: {version: v1.9.0, install: true}
  gateway:
    namespace: modelplane-system
    name: default
    port: 443
    hostname: "*.models.example.com"
    tls: {certificateRefs: [{name: models}]}
    className: shared
    hosts: [{host: chat.example.com, namespaces: [ml-team]}]
  endpoints:
    allowedHosts: [llm.corp.internal, "*.lab.internal"]
    allowedCIDRs: [10.20.0.0/16, "fd12::/32"]
    deniedHosts: []
    deniedCIDRs: [10.96.0.0/12]
    onlyAllowed: false
    nat64Prefixes: ["2001:db8:64::/96"]
    networkPolicy: {enabled: true, namespace: envoy-gateway-system}
---
apiVersion: modelplane.ai/v1alpha1
kind: ModelEndpoint
metadata: {name: together-llama, namespace: ml-team, labels: {modelplane.ai/endpoint: together-llama}}
spec:
  url: https://api.together.xyz/v1
  api: [OpenAI]
  model: {name: meta-llama/Llama-3.1-405B-Instruct-Turbo}
  auth: {secretRef: {name: together, key: credential}, scheme: Bearer, header: ""}
  tls: {caCertificateRefs: [], insecureSkipVerify: false, sni: ""}
  healthCheck: {path: /health, interval: 10s, timeout: 5s}
---
apiVersion: modelplane.ai/v1alpha1
kind: ModelService
metadata: {name: llama, namespace: ml-team}
spec:
  host: ""
  endpoints:
  - selector: {matchLabels: {modelplane.ai/deployment: llama-405b}}
    weight: 95
    priority: 0
  - selector: {matchLabels: {modelplane.ai/endpoint: together-llama}}
    weight: 5
  timeouts: {request: 0s, idle: 3600s}
  retries: {attempts: 2, "on": [connect-failure, "503"]}
  rateLimit: {requests: 100, unit: Minute}
  auth: {apiKeys: {secretRef: {name: callers}}}
---
apiVersion: modelplane.ai/v1alpha1
kind: LLMInference
metadata: {name: qwen, namespace: ml-team}
spec: {model: Qwen/Qwen3-8B, gpu: 2, host: qwen.ml-team.models.example.com, clusterName: gke-us}
"""


def documents() -> list[Json]:
    return list(yaml.safe_load_all(DOCUMENTS))


@pytest.mark.parametrize("document", documents(), ids=lambda d: f"{d['kind']}-{d['metadata']['name']}")
def test_accepted_as_written(document: Json) -> None:
    assert catalogue.structural_kind(document["kind"]).problems(document) == ()


@pytest.mark.parametrize("document", documents(), ids=lambda d: f"{d['kind']}-{d['metadata']['name']}")
def test_what_is_written_is_kept(document: Json) -> None:
    """Nothing is pruned and no default replaces what was written."""
    stored = catalogue.structural_kind(document["kind"]).stored(document)
    assert _within(document, stored)


def _within(part: Json, whole: Json) -> bool:
    if isinstance(part, dict):
        return isinstance(whole, dict) and all(key in whole and _within(part[key], whole[key]) for key in part)
    if isinstance(part, list):
        return isinstance(whole, list) and len(part) == len(whole) and all(map(_within, part, whole))
    return bool(part == whole)


@pytest.mark.parametrize(
    ("kind", "spec", "path", "value"),
    [
        pytest.param("ModelDeployment", {}, ("replicas",), 1, id="one-replica"),
        pytest.param("ModelDeployment", {}, ("placement", "strategy"), "Spread", id="spread"),
        pytest.param("ModelDeployment", {"workers": {}}, ("workers", "count"), 1, id="one-worker"),
        pytest.param("ModelDeployment", {"workers": {}}, ("workers", "topology", "tensor"), 1, id="one-device"),
        pytest.param(
            "ModelDeployment",
            {"workers": {"topology": {"data": 4}}},
            ("workers", "topology", "dataLocal"),
            1,
            id="local",
        ),
        pytest.param("InferenceCluster", {}, ("backends",), ["KServe"], id="kserve"),
        pytest.param("InferenceCluster", {}, ("accounting",), "Device", id="accounting"),
        pytest.param("InferenceCluster", {}, ("scheduler", "type"), "None", id="kube-scheduler"),
        pytest.param("InferenceCluster", {}, ("gateway", "name"), "modelplane", id="gateway"),
        pytest.param("InferenceCluster", {}, ("gateway", "namespace"), "modelplane-system", id="gateway-namespace"),
        pytest.param("InferenceGateway", {}, ("type",), "Envoy", id="envoy"),
        pytest.param("InferenceGateway", {}, ("envoyGateway", "install"), True, id="install"),
        pytest.param("InferenceGateway", {}, ("gateway", "namespace"), "modelplane-system", id="system-namespace"),
        pytest.param("ModelService", {"endpoints": [{}]}, ("endpoints", 0, "weight"), 1, id="weight"),
        pytest.param("ModelService", {}, ("timeouts", "request"), "0s", id="streams-are-not-cut"),
        pytest.param("ModelService", {}, ("timeouts", "idle"), "3600s", id="idle"),
        pytest.param("ModelEndpoint", {}, ("api",), ["OpenAI"], id="openai"),
        pytest.param("ModelEndpoint", {"auth": {}}, ("auth", "scheme"), "Bearer", id="bearer"),
        pytest.param("InferenceClass", {"devices": [{}]}, ("devices", 0, "claim"), "DRA", id="claims"),
    ],
)
def test_defaults_of_the_contract(kind: str, spec: Json, path: tuple[str | int, ...], value: Json) -> None:
    stored: Json = catalogue.structural_kind(kind).stored({"kind": kind, "spec": spec})["spec"]
    for key in path:
        stored = stored[key]
    assert stored == value
