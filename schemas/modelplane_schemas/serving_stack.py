# Generated from apis/servingstacks/definition.yaml by schemas/generate.py; do not edit.

from __future__ import annotations

from typing import Literal
from pydantic import Field
from modelplane_schemas.wire import Document, ObjectMeta, Wire


class KubernetesConfig(Wire):
    """
    Configuration with which provider-kubernetes reaches the cluster.
    """

    kind: Literal["ClusterProviderConfig", "ProviderConfig"] = Field(description="Kind of the configuration.")
    name: str = Field(description="Name of the configuration.")


class HelmConfig(Wire):
    """
    Configuration with which provider-helm reaches the cluster.
    """

    kind: Literal["ClusterProviderConfig", "ProviderConfig"] = Field(description="Kind of the configuration.")
    name: str = Field(description="Name of the configuration.")


class Component(Wire):
    name: str = Field(description="Name of the component, for example kserve.")
    mode: Literal["Managed", "External", "Disabled"] | None = Field(
        default=None,
        description="Managed installs it, External leaves it to others, Disabled uninstalls what was installed. Default is External where it is found on the cluster and Managed otherwise.",
    )
    version: str | None = Field(default=None, description="Version of its chart. Default is the pinned one.")
    variants: list[str] | None = Field(
        default=None, description="Kinds of it: the drivers of dra, the scheduler of queue."
    )


class Gateway(Wire):
    """
    The Gateway of the cluster, which is made where its controller is installed here.
    """

    name: str | None = Field(default=None, description="Name of the Gateway. Default: modelplane.")
    namespace: str | None = Field(default=None, description="Namespace of the Gateway. Default: modelplane-system.")
    listener: str | None = Field(default=None, description="Name of its listener. Default: http.")
    plaintext: bool | None = Field(default=None, description="False for no listener without TLS.")
    certificate: str | None = Field(
        default=None,
        description="Secret of the certificate for a listener that asks its clients for one. Without any listener the Gateway is not made yet.",
    )


class Lifeline(Wire):
    api_version: str = Field(description="API version of the managed resource.")
    kind: str = Field(description="Kind of the managed resource.")
    name: str = Field(description="Name of the managed resource.")


class StatusComponent(Wire):
    name: str = Field(description="Name of the component; with its variant, for example dra/gpu.nvidia.com.")
    mode: Literal["Managed", "External", "Disabled"] | None = Field(
        default=None, description="By whom it is installed. Absent while that is not decided."
    )
    version: str | None = Field(default=None, description="Version of the chart that is deployed.")
    phase: Literal["Pending", "Installing", "Ready", "Failed", "External", "Disabled"] = Field(description="Progress.")
    reason: str | None = Field(default=None, description="Reason for the phase.")
    message: str | None = Field(default=None, description="Message about the same.")


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
    The components on the cluster.
    """

    components: list[StatusComponent] | None = Field(default=None, description="Each component, by name.")
    summary: str | None = Field(default=None, description="Components that are ready of those that are listed.")
    upgrading: str | None = Field(default=None, description="The part that is being changed. The others wait for it.")
    objects: int | None = Field(default=None, description="Objects that use the provider configuration of the cluster.")
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
    The cluster and what it needs.
    """

    cluster_name: str = Field(description="The InferenceCluster.")
    kubernetes_config: KubernetesConfig
    helm_config: HelmConfig
    components: list[Component] | None = Field(
        default=None,
        description="Components that the cluster needs. One that was installed and is listed no more stays.",
    )
    gateway: Gateway | None = None
    gpu_driver_root: str | None = Field(
        default=None, description="Folder of the NVIDIA driver on the nodes. Default: /."
    )
    critical_priority_quota: bool | None = Field(
        default=None,
        description="Make a ResourceQuota for pods of a critical priority in the namespaces of device drivers. GKE creates no such pod without one. Default: false.",
    )
    lifelines: list[Lifeline] | None = Field(
        default=None,
        description="Managed resources of the cloud without which nothing can be uninstalled from the cluster. They stay until that is done.",
    )
    abandon: bool | None = Field(
        default=None,
        description="Write nothing to the cluster any more, so that a deletion does not wait for a cluster that is gone. Default: false.",
    )
    crossplane: Crossplane | None = None


class ServingStack(Document):
    """
    ServingStack is the software that makes a cluster able to serve: Helm releases in their order, and what shows that they work. An InferenceCluster composes it, with its own name; it is not written by hand.
    """

    api_version: Literal["modelplane.ai/v1alpha1"] = "modelplane.ai/v1alpha1"
    kind: Literal["ServingStack"] = "ServingStack"
    metadata: ObjectMeta = Field(description="Name, namespace and labels.")
    spec: Spec
    status: Status | None = None
