# Generated from apis/cloudnodepools/definition.yaml by schemas/generate.py; do not edit.

from __future__ import annotations

from pydantic import Field
from modelplane_schemas.wire import Document, ObjectMeta, Wire
from typing import Any, Literal


class Failed(Wire):
    kind: str = Field(description="Kind of the managed resource.")
    name: str = Field(description="Name of the managed resource.")
    message: str | None = Field(default=None, description="The error, and its remedy.")


class Nodes(Wire):
    """
    Nodes of the pool.
    """

    observed: int | None = Field(default=None, description="Nodes that the cloud reports.")
    growable: int | None = Field(default=None, description="Nodes that the cloud will add when pods wait.")


class Condition(Wire):
    last_transition_time: str
    message: str | None = None
    reason: str
    status: str
    type: str
    observed_generation: int | None = None


class Taint(Wire):
    key: str = Field(description="Key of the taint.")
    value: str | None = Field(default=None, description="Value of the taint.")
    effect: Literal["NoSchedule", "NoExecute", "PreferNoSchedule"] = Field(description="Effect of the taint.")


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
    nodes: Nodes | None = None
    conditions: list[Condition] | None = Field(default=None, description="Conditions of the resource.")


class Pool(Wire):
    """
    The pool, as in spec.nodePools of the InferenceCluster.
    """

    name: str = Field(description="Name of the pool.")
    class_name: str = Field(description="InferenceClass of its nodes.")
    node_count: int | None = Field(default=None, description="Number of nodes.")
    min_node_count: int | None = Field(default=None, description="Minimum number of nodes of a pool that scales.")
    max_node_count: int | None = Field(default=None, description="Maximum number of nodes of a pool that scales.")
    zones: list[str] | None = Field(default=None, description="Zones of the nodes.")
    taints: list[Taint] | None = Field(default=None, description="Taints of the nodes.")
    labels: dict[str, str] | None = Field(
        default=None, description="Labels of the nodes, by which the pods of replicas find them."
    )


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
    The pool and its recipe.
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
    pool: Pool
    recipe: dict[str, Any] = Field(description="Copy of the cloud's block in spec.provisioning of the class.")
    drivers: list[str] | None = Field(default=None, description="DRA drivers of the devices of a node.")
    devices: int | None = Field(default=None, description="Devices of a node that are claimed.")
    facts: dict[str, str] | None = Field(
        default=None, description="Facts that the cloud reports of the cluster, by name."
    )
    crossplane: Crossplane | None = None


class CloudNodePool(Document):
    """
    CloudNodePool is one node pool of a cluster that Modelplane makes. An InferenceCluster composes it; it is not written by hand.
    """

    api_version: Literal["modelplane.ai/v1alpha1"] = "modelplane.ai/v1alpha1"
    kind: Literal["CloudNodePool"] = "CloudNodePool"
    metadata: ObjectMeta = Field(description="Name, namespace and labels.")
    spec: Spec
    status: Status | None = None
