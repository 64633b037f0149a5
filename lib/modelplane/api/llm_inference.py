"""LLMInference, decoded, and the ModelDeployment and ModelService that it composes.

The composed ModelDeployment contains every derived value, so that a reader can see it and copy it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from modelplane import names, seen
from modelplane.api import intent, llm_size
from modelplane.api.fields import Field
from modelplane.api.llm_size import Size
from modelplane.workload import engines, shared_memory
from modelplane.workload.model import EngineType

Json: TypeAlias = Any

DEFAULT_IMAGE = "vllm/vllm-openai:v0.23.0"

CPU_PER_GPU = 2
MEMORY_GIB_PER_GPU = 8
GPU_MAX = 16
ENGINE = "engine"
# By convention: the Secret of the replica's namespace on the cluster that lets gated models be downloaded. Optional.
TOKEN_SECRET, TOKEN_KEY, TOKEN_VARIABLE = "huggingface-token", "token", "HF_TOKEN"

_SCHEME = "://"
_CLAIM = "pvc://"
_NVIDIA, _AMD = "gpu.nvidia.com", "gpu.amd.com"


@dataclass(frozen=True, slots=True)
class LLMInference:
    """The decoded fields of an LLMInference. `cluster_selector` is None if any cluster is allowed.

    `gpu` is None where the model decides it, and `replicas` where an autoscaler or nobody does.
    """

    namespace: str
    name: str
    model: str
    gpu: int | None
    image: str
    host: str = ""
    cluster_selector: Mapping[str, Json] | None = None
    args: tuple[str, ...] = ()
    replicas: int | None = None
    scaling: Mapping[str, Json] | None = None
    model_cache: str | None = None

    @property
    def uri(self) -> str:
        """Return the URI of the weights; a bare name is a Hugging Face repository."""
        return self.model if _SCHEME in self.model else f"hf://{self.model}"

    @property
    def written(self) -> str:
        """Return a digest of the fields from which a size is derived."""
        fields = (self.model, self.gpu, self.image, self.args, self.cluster_selector)
        return names.digest(json.dumps(fields, sort_keys=True))

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
    gpu, replicas = spec.at("gpu"), spec.at("replicas")
    return LLMInference(
        namespace=root.at("metadata", "namespace").text(),
        name=root.at("metadata", "name").text(),
        model=spec.at("model").text(),
        gpu=gpu.count(least=1, most=GPU_MAX) if gpu.is_set else None,
        image=spec.at("image").text(DEFAULT_IMAGE),
        host=spec.at("host").text(""),
        cluster_selector=_cluster_selector(spec),
        args=tuple(argument.text() for argument in spec.at("args").items()),
        replicas=replicas.count(least=0, most=intent.REPLICAS_MAX) if replicas.is_set else None,
        scaling=spec.at("scaling").members() if spec.at("scaling").is_set else None,
        model_cache=_model_cache(spec),
    )


def _model_cache(spec: Field) -> str | None:
    """Return the name of the ModelCache with the weights; a claim that the author names holds them already."""
    reference = spec.at("modelCacheRef")
    if reference.is_set and spec.at("model").text().startswith(_CLAIM):
        raise reference.wrong(
            "model already names a volume with the weights; remove modelCacheRef, or name the model by its repository "
            "or bucket"
        )
    return reference.at("name").text() if reference.is_set else None


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


def encode_deployment(wanted: LLMInference, size: Size) -> dict[str, Json]:
    """Return the ModelDeployment. `replicas` is left out if the author does, so that an autoscaler may own it."""
    spec: dict[str, Json] = {
        "model": {"name": wanted.name, "uri": wanted.uri},
        "engine": {"type": wanted.engine.value},
        "nodeSelector": {"cel": size.selector},
        "workers": {
            "topology": {"tensor": size.tensor} | ({"pipeline": size.pipeline} if size.pipeline > 1 else {}),
            "template": {
                "spec": {
                    "containers": [_engine(wanted, size)],
                    "volumes": [
                        {
                            "name": shared_memory.VOLUME,
                            "emptyDir": {"medium": "Memory", "sizeLimit": shared_memory.size(size.tensor)},
                        }
                    ],
                }
            },
        },
    }
    if wanted.replicas is not None:
        spec["replicas"] = wanted.replicas
    if wanted.cluster_selector is not None:
        spec["clusterSelector"] = dict(wanted.cluster_selector)
    if wanted.scaling is not None:
        spec["scaling"] = dict(wanted.scaling)
    if wanted.model_cache is not None:
        spec["modelCacheRef"] = {"name": wanted.model_cache}
    found = _composite("ModelDeployment", wanted) | {"spec": spec}
    found["metadata"]["annotations"] = {names.ANNOTATION_SIZE: llm_size.record(size, wanted.written)}
    return found


def encode_unsized(wanted: LLMInference) -> dict[str, Json]:
    """Return the ModelDeployment with the author's number of GPUs, of one where the model decides it."""
    return encode_deployment(wanted, llm_size.plain(wanted.gpu or 1, wanted.device_driver))


def kept_size(wanted: LLMInference, child: Mapping[str, Json] | None) -> Size | None:
    """Return the size that the observed ModelDeployment has for the author's fields, None where it must be derived.

    A deployment without a record was composed by a release that wrote none, or somebody removed the record. It keeps
    what it shows, as long as it shows the author's fields.
    """
    record = seen.at(child, "metadata", "annotations", names.ANNOTATION_SIZE)
    found = llm_size.recorded(record, wanted.written)
    if found is not None or llm_size.is_record_of_others(record, wanted.written):
        return found
    spec = seen.at(child, "spec")
    containers = seen.objects(seen.at(spec, "workers", "template", "spec", "containers"))
    engine = next((one for one in containers if one.get("name") == ENGINE), {})
    size = llm_size.shown(spec, engine)
    if size is None or wanted.gpu not in (None, size.gpus):
        return None
    selector = None if wanted.cluster_selector is None else dict(wanted.cluster_selector)
    is_same = (
        seen.at(spec, "model", "uri") == wanted.uri
        and engine.get("image") == wanted.image
        and list(engine.get("args") or ()) == list(wanted.args)
        and (seen.at(spec, "clusterSelector") or None) == (selector or None)
    )
    return size if is_same else None


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


def _engine(wanted: LLMInference, size: Size) -> dict[str, Json]:
    env: list[Json] = [
        {
            "name": TOKEN_VARIABLE,
            "valueFrom": {"secretKeyRef": {"name": TOKEN_SECRET, "key": TOKEN_KEY, "optional": True}},
        }
    ]
    if wanted.engine is EngineType.VLLM and size.tensor > 1:
        # A forked worker inherits a CUDA context and fails; vLLM starts one worker per GPU.
        env.append({"name": "VLLM_WORKER_MULTIPROC_METHOD", "value": "spawn"})
    return {
        "name": ENGINE,
        "image": wanted.image,
        **({"args": list(wanted.args)} if wanted.args else {}),
        "env": env,
        "resources": {
            "requests": {"cpu": str(CPU_PER_GPU * size.tensor), "memory": f"{MEMORY_GIB_PER_GPU * size.tensor}Gi"}
        },
        "startupProbe": {
            "periodSeconds": llm_size.PROBE_PERIOD_SECONDS,
            "timeoutSeconds": 5,
            "failureThreshold": size.start_seconds // llm_size.PROBE_PERIOD_SECONDS,
        },
        "volumeMounts": [{"name": shared_memory.VOLUME, "mountPath": shared_memory.PATH}],
    }
