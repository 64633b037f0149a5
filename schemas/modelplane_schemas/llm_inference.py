# Generated from apis/llminferences/definition.yaml by schemas/generate.py; do not edit.

from __future__ import annotations

from pydantic import Field
from modelplane_schemas.wire import Document, ObjectMeta, Wire
from typing import Literal


class ModelCacheRef(Wire):
    """
    A ModelCache of the same namespace that holds the weights. They are mounted read-only at /mnt/models, and the engine loads them from there. model still says what the model is.
    """

    name: str = Field(description="Name of the ModelCache.")


class Condition(Wire):
    last_transition_time: str
    message: str | None = None
    reason: str
    status: str
    type: str
    observed_generation: int | None = None


class MatchExpression(Wire):
    key: str = Field(description="The label's key.")
    operator: Literal["In", "NotIn", "Exists", "DoesNotExist"] = Field(description="Operator that compares the label.")
    values: list[str] | None = Field(default=None, description="Values for In and NotIn.")


class Target(Wire):
    """
    Wanted load of one replica. The load of all replicas on all clusters is divided by it; of several, the one that asks for most replicas counts.
    """

    waiting_requests: int | None = Field(
        default=None, description="Requests that wait in the engines for a place in the batch."
    )
    requests: int | None = Field(
        default=None, description="Requests in the engines, running or waiting, for example half of --max-num-seqs."
    )
    kv_cache_usage: int | None = Field(
        default=None, description="Share of the KV cache in use, in percent. Engines vllm and sglang."
    )
    tokens_per_second: int | None = Field(default=None, description="Generated tokens per second.")
    cpu: int | str | None = Field(
        default=None,
        description="CPU cores in use by the pods of a replica, for example 6 or 500m. Needs the recording rule modelplane:cpu_cores on the clusters.",
    )


class Schedule(Wire):
    start: str = Field(description="Cron expression of five fields, for example 0 8 * * 1-5.")
    end: str = Field(description="Cron expression of five fields, for example 0 8 * * 1-5.")
    timezone: str | None = Field(
        default=None, description="Name of the time zone, for example Europe/Berlin. Default: Etc/UTC."
    )
    replicas: int = Field(description="Replicas from start to end, at least.")


class ScaleToZero(Wire):
    """
    Scale to zero while there is no load, and back when a request comes to a ModelService of the deployment, or a schedule begins. Needs KEDA, and a ModelService with another endpoint that answers at zero.
    """

    after: str | None = Field(
        default=None,
        description="Time without load before the last replica goes, from 1m to 720h, for example 30m. Default: 30m.",
    )


class GatewayRef(Wire):
    """
    InferenceGateway whose spec.scaling names the metrics, and where requests are counted.
    """

    name: str | None = Field(default=None, description="Name of the InferenceGateway. Default: default.")


class CompositionRef(Wire):
    name: str


class CompositionSelector(Wire):
    match_labels: dict[str, str]


class ResourceRef(Wire):
    api_version: str
    kind: str
    name: str | None = None


class Status(Wire):
    """
    Observed state.
    """

    url: str | None = Field(default=None, description="Base URL for clients; they append /v1/...")
    deployment: str | None = Field(default=None, description="The composed ModelDeployment.")
    service: str | None = Field(default=None, description="The composed ModelService.")
    gpu: int | None = Field(default=None, description="GPUs of one replica, as they are written or derived.")
    nodes: int | None = Field(default=None, description="Nodes of one replica.")
    replicas: int | None = Field(default=None, description="Replicas that hold a placement.")
    ready_replicas: int | None = Field(default=None, description="Replicas that serve.")
    conditions: list[Condition] | None = Field(default=None, description="Conditions of the resource.")


class ClusterSelector(Wire):
    """
    InferenceClusters that may hold the replica, by their labels. Empty means all clusters.
    """

    match_labels: dict[str, str] | None = Field(
        default=None, description="Labels that must all be present with exactly this value."
    )
    match_expressions: list[MatchExpression] | None = Field(
        default=None, description="Label requirements that must all be met."
    )


class Scaling(Wire):
    """
    Scaling by load and by the clock. A ScaledObject of KEDA is composed, or a HorizontalPodAutoscaler where KEDA is not installed, and writes replicas; leave replicas out then. Beside a scaler of your own for the same deployment none is composed.
    """

    min: int | None = Field(
        default=None,
        description="Replicas that always run, or that run as soon as there is load with scaleToZero. Default: 1.",
    )
    max: int = Field(
        description="Replicas that are never exceeded. The fleet has to have room for them; see modelplane simulate --scale.",
    )
    target: Target | None = None
    schedule: list[Schedule] | None = Field(
        default=None, description="Times with at least so many replicas, whatever the load. Needs KEDA."
    )
    scale_to_zero: ScaleToZero | None = None
    gateway_ref: GatewayRef | None = None


class Crossplane(Wire):
    """
    Configures how Crossplane will reconcile this composite resource
    """

    composition_ref: CompositionRef | None = None
    composition_selector: CompositionSelector | None = None
    composition_revision_ref: CompositionRef | None = None
    composition_revision_selector: CompositionSelector | None = None
    composition_update_policy: Literal["Automatic", "Manual"] | None = None
    resource_refs: list[ResourceRef] | None = None


class Spec(Wire):
    """
    The model, and what it runs on.
    """

    model: str = Field(
        description="Hugging Face repository, for example Qwen/Qwen3-8B, or a URI as in ModelDeployment spec.model.uri.",
    )
    gpu: int | None = Field(
        default=None,
        description="Number of GPUs on one node. The model is split over them. CPU and memory grow with them. Without it a known model gets the smallest number that holds it on the devices of the clusters that it may use, over several nodes where no node holds it. The number is kept until model, args, image or clusters of this document change.",
    )
    replicas: int | None = Field(
        default=None,
        description="Number of replicas. Leave it out where an autoscaler scales the ModelDeployment, which then begins with 1.",
    )
    args: list[str] | None = Field(
        default=None,
        description="Further arguments of the engine, for example --max-model-len=32768. Each entry is one argument, and no shell is involved. What follows from the model and the GPUs is added.",
    )
    model_cache_ref: ModelCacheRef | None = None
    host: str | None = Field(default=None, description="Host name of the service as in ModelService.")
    cluster_selector: ClusterSelector | None = None
    cluster_name: str | None = Field(default=None, description="The InferenceCluster that the replica must run on.")
    scaling: Scaling | None = None
    image: str | None = Field(default=None, description="Image of the engine. Default: vllm/vllm-openai:v0.23.0.")
    crossplane: Crossplane | None = None


class LLMInference(Document):
    """
    LLMInference is the four-field way to serve a model. It composes a ModelDeployment and a ModelService of the same name, which show all derived values.
    """

    api_version: Literal["modelplane.ai/v1alpha1"] = "modelplane.ai/v1alpha1"
    kind: Literal["LLMInference"] = "LLMInference"
    metadata: ObjectMeta = Field(description="Name, namespace and labels.")
    spec: Spec
    status: Status | None = None
