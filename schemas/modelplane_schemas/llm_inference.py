# Generated from apis/llminferences/definition.yaml by schemas/generate.py; do not edit.

from __future__ import annotations

from pydantic import Field
from typing import Any, Literal
from modelplane_schemas.wire import Wire


class MatchExpression(Wire):
    key: str = Field(..., description="The label's key.")
    operator: Literal["In", "NotIn", "Exists", "DoesNotExist"] = Field(..., description="How the label is compared.")
    values: list[str] | None = Field(None, description="Values for In and NotIn.")


class ClusterSelector(Wire):
    """
    Which InferenceClusters may hold it, by their labels. Empty means all clusters.
    """

    match_labels: dict[str, str] | None = Field(
        None, alias="matchLabels", description="Labels that must all be present with exactly this value."
    )
    match_expressions: list[MatchExpression] | None = Field(
        None, alias="matchExpressions", description="Conditions on labels that must all hold."
    )


class Spec(Wire):
    """
    The model and how many GPUs it gets.
    """

    model: str = Field(
        ...,
        description="Hugging Face repository, for example Qwen/Qwen3-8B, or a URI as in ModelDeployment spec.model.uri.",
    )
    gpu: int | None = Field(
        1, description="GPUs of one node. The model is split over them; CPU and memory grow with them."
    )
    host: str | None = Field(None, description="Host name of the service as in ModelService.")
    cluster_selector: ClusterSelector | None = Field(
        None,
        alias="clusterSelector",
        description="Which InferenceClusters may hold it, by their labels. Empty means all clusters.",
    )
    cluster_name: str | None = Field(None, alias="clusterName", description="The one InferenceCluster it must run on.")
    image: str | None = Field("vllm/vllm-openai:v0.23.0", description="Image of the engine.")


class Status(Wire):
    """
    What became of it.
    """

    url: str | None = Field(None, description="Base URL for clients; they append /v1/...")
    deployment: str | None = Field(None, description="The ModelDeployment it composed.")
    service: str | None = Field(None, description="The ModelService it composed.")
    replicas: int | None = Field(None, description="Replicas that hold a placement.")
    ready_replicas: int | None = Field(None, alias="readyReplicas", description="Replicas that serve.")


class LLMInference(Wire):
    """
    LLMInference is the short way to a served model: it composes a ModelDeployment and a ModelService of the same name, where everything derived is visible.
    """

    api_version: str | None = Field(None, alias="apiVersion")
    kind: str | None = None
    metadata: dict[str, Any] | None = None
    spec: Spec = Field(..., description="The model and how many GPUs it gets.")
    status: Status | None = Field(None, description="What became of it.")