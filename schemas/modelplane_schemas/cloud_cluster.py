# Generated from apis/cloudclusters/definition.yaml by schemas/generate.py; do not edit.

from __future__ import annotations

from pydantic import Field
from modelplane_schemas.wire import Document, ObjectMeta, Wire
from typing import Any, Literal


class Failed(Wire):
    kind: str = Field(description="Kind of the managed resource.")
    name: str = Field(description="Name of the managed resource.")
    message: str | None = Field(default=None, description="The error, and its remedy.")


class Condition(Wire):
    last_transition_time: str
    message: str | None = None
    reason: str
    status: str
    type: str
    observed_generation: int | None = None


class CompositionRef(Wire):
    name: str


class CompositionSelector(Wire):
    match_labels: dict[str, str]


class ResourceRef(Wire):
    api_version: str
    kind: str
    name: str | None = None
    namespace: str | None = None


class Status(Wire):
    """
    Observed state.
    """

    phase: Literal["Waiting", "Creating", "Ready", "Failed"] | None = Field(
        default=None, description="Progress. Failed is tried again by the provider of the cloud."
    )
    message: str | None = Field(default=None, description="The wait, or the error of the cloud and its remedy.")
    made: str | None = Field(
        default=None, description="Managed resources that are ready, and all of them, for example 3/5."
    )
    failed: list[Failed] | None = Field(
        default=None, description="Managed resources with an error of the provider or of the cloud."
    )
    facts: dict[str, str] | None = Field(
        default=None, description="Facts that the cloud reports of the cluster, by name."
    )
    version: str | None = Field(default=None, description="Kubernetes version of the control plane.")
    conditions: list[Condition] | None = Field(default=None, description="Conditions of the resource.")


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
    The cluster without its pools.
    """

    cluster_name: str = Field(description="The InferenceCluster.")
    provider: Literal["GKE", "EKS", "AKS"] = Field(description="The cloud service.")
    settings: dict[str, Any] = Field(description="Copy of the cloud's block in spec.cluster of the InferenceCluster.")
    external_name: str | None = Field(
        default=None, description="Name of the cluster in the cloud, copy of spec.cluster.externalName."
    )
    deletion_policy: Literal["Delete", "Orphan"] | None = Field(
        default=None, description="Copy of spec.cluster.deletionPolicy. Default: Delete."
    )
    zones: list[str] | None = Field(default=None, description="Zones of the nodes of all pools.")
    crossplane: Crossplane | None = None


class CloudCluster(Document):
    """
    CloudCluster is the control plane of a cluster that Modelplane makes, with its identities, its system pool and the Secret by which it is reached. An InferenceCluster composes it; it is not written by hand.
    """

    api_version: Literal["modelplane.ai/v1alpha1"] = "modelplane.ai/v1alpha1"
    kind: Literal["CloudCluster"] = "CloudCluster"
    metadata: ObjectMeta = Field(description="Name, namespace and labels.")
    spec: Spec
    status: Status | None = None
