"""LLMInference, decoded, and the ModelDeployment and ModelService that it composes.

The composed ModelDeployment contains every derived value, so that a reader can see it and copy it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from modelplane import names
from modelplane.api.fields import Field
from modelplane.workload import engines, shared_memory
from modelplane.workload.model import EngineType

Json: TypeAlias = Any

DEFAULT_IMAGE = "vllm/vllm-openai:v0.23.0"

CPU_PER_GPU = 2
MEMORY_GIB_PER_GPU = 8
# Weights are loaded before the first answer. How many is not known here; GPUs are asked for to hold them, so time grows
# with GPUs.
START_BASE_SECONDS, START_SECONDS_PER_GPU = 600, 300
PROBE_PERIOD_SECONDS = 10
# By convention: the Secret of the replica's namespace on the cluster that lets gated models be downloaded. Optional.
TOKEN_SECRET, TOKEN_KEY, TOKEN_VARIABLE = "huggingface-token", "token", "HF_TOKEN"

_SCHEME = "://"
_NVIDIA, _AMD = "gpu.nvidia.com", "gpu.amd.com"


@dataclass(frozen=True, slots=True)
class LLMInference:
    """The decoded fields of an LLMInference. `cluster_selector` is None if any cluster is allowed."""

    namespace: str
    name: str
    model: str
    gpu: int
    image: str
    host: str = ""
    cluster_selector: Mapping[str, Json] | None = None

    @property
    def uri(self) -> str:
        """Return the URI of the weights; a bare name is a Hugging Face repository."""
        return self.model if _SCHEME in self.model else f"hf://{self.model}"

    @property
    def engine(self) -> EngineType:
        """Return the engine of the image; an unknown image is assumed to run vLLM."""
        seen = engines.seen_in(self.image)
        return EngineType.VLLM if seen is EngineType.CUSTOM else seen

    @property
    def device_driver(self) -> str:
        """Return the DRA driver of the devices that the image is built for: AMD for a ROCm build, else NVIDIA.

        An image runs only on the devices of one vendor, so "any GPU" would place replicas that never start.
        """
        return _AMD if "rocm" in self.image.lower() else _NVIDIA


def decode(document: Mapping[str, Json]) -> LLMInference:
    """Return the decoded LLMInference.

    Raises: InvalidInput with the field's full path (the author's fault).
    """
    root = Field(document)
    spec = root.at("spec")
    gpu = spec.at("gpu").integer(1)
    if gpu < 1:
        raise spec.at("gpu").wrong("must be at least 1")
    return LLMInference(
        namespace=root.at("metadata", "namespace").text(),
        name=root.at("metadata", "name").text(),
        model=spec.at("model").text(),
        gpu=gpu,
        image=spec.at("image").text(DEFAULT_IMAGE),
        host=spec.at("host").text(""),
        cluster_selector=_cluster_selector(spec),
    )


def _cluster_selector(spec: Field) -> Mapping[str, Json] | None:
    """Return the selector; a cluster named outright is selected by the label that every cluster has with its own
    name.
    """
    selector, name = spec.at("clusterSelector"), spec.at("clusterName")
    if selector.is_set and name.is_set:
        raise name.wrong("write at most one of clusterSelector (labels) and clusterName (one cluster)")
    if name.is_set:
        return {"matchLabels": {names.LABEL_CLUSTER: name.text()}}
    return selector.members() if selector.is_set else None


def encode_deployment(wanted: LLMInference) -> dict[str, Json]:
    """Return the ModelDeployment. `replicas` is left out, so that an autoscaler may own it."""
    spec: dict[str, Json] = {
        "model": {"name": wanted.name, "uri": wanted.uri},
        "engine": {"type": wanted.engine.value},
        "nodeSelector": {"cel": f'device.driver == "{wanted.device_driver}"'},
        "workers": {
            "topology": {"tensor": wanted.gpu},
            "template": {
                "spec": {
                    "containers": [_engine(wanted)],
                    "volumes": [
                        {
                            "name": shared_memory.VOLUME,
                            "emptyDir": {"medium": "Memory", "sizeLimit": shared_memory.size(wanted.gpu)},
                        }
                    ],
                }
            },
        },
    }
    if wanted.cluster_selector is not None:
        spec["clusterSelector"] = dict(wanted.cluster_selector)
    return _composite("ModelDeployment", wanted) | {"spec": spec}


def encode_service(wanted: LLMInference) -> dict[str, Json]:
    """Return the ModelService for the endpoints of the deployment."""
    spec: dict[str, Json] = {"endpoints": [{"selector": {"matchLabels": {names.LABEL_DEPLOYMENT: wanted.name}}}]}
    if wanted.host:
        spec["host"] = wanted.host
    return _composite("ModelService", wanted) | {"spec": spec}


def _composite(kind: str, wanted: LLMInference) -> dict[str, Json]:
    return {
        "apiVersion": names.API_VERSION,
        "kind": kind,
        "metadata": {"name": wanted.name, "namespace": wanted.namespace},
    }


def _engine(wanted: LLMInference) -> dict[str, Json]:
    env: list[Json] = [
        {
            "name": TOKEN_VARIABLE,
            "valueFrom": {"secretKeyRef": {"name": TOKEN_SECRET, "key": TOKEN_KEY, "optional": True}},
        }
    ]
    if wanted.engine is EngineType.VLLM and wanted.gpu > 1:
        # A forked worker inherits a CUDA context and fails; vLLM starts one worker per GPU.
        env.append({"name": "VLLM_WORKER_MULTIPROC_METHOD", "value": "spawn"})
    budget_seconds = START_BASE_SECONDS + START_SECONDS_PER_GPU * wanted.gpu
    return {
        "name": "engine",
        "image": wanted.image,
        "env": env,
        "resources": {
            "requests": {"cpu": str(CPU_PER_GPU * wanted.gpu), "memory": f"{MEMORY_GIB_PER_GPU * wanted.gpu}Gi"}
        },
        "startupProbe": {
            "periodSeconds": PROBE_PERIOD_SECONDS,
            "timeoutSeconds": 5,
            "failureThreshold": budget_seconds // PROBE_PERIOD_SECONDS,
        },
        "volumeMounts": [{"name": shared_memory.VOLUME, "mountPath": shared_memory.PATH}],
    }
