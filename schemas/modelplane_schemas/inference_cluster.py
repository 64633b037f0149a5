# Generated from apis/inferenceclusters/definition.yaml by schemas/generate.py; do not edit.

from __future__ import annotations

from pydantic import Field
from typing import Literal
from modelplane_schemas.wire import Document, ObjectMeta, Wire


class Taint(Wire):
    key: str = Field(description="Key of the taint.")
    value: str | None = Field(default=None, description="Value of the taint.")
    effect: Literal["NoSchedule", "NoExecute", "PreferNoSchedule"] = Field(description="What it does.")


class NodePool(Wire):
    name: str = Field(description="Name of the pool.")
    class_name: str = Field(description="The InferenceClass of its nodes.")
    node_count: int | None = Field(default=None, description="Nodes there are.")
    min_node_count: int | None = Field(default=None, description="Fewest nodes when it scales.")
    max_node_count: int | None = Field(default=None, description="Most nodes when it scales; placement counts on them.")
    zones: list[str] | None = Field(
        default=None,
        description="Zones of the nodes of a cluster that is made for you; of one that exists nothing reads them.",
    )
    node_selector: dict[str, str] | None = Field(
        default=None,
        description="Labels of the pool's nodes. Default is modelplane.ai/pool: <name of the pool>.",
    )
    taints: list[Taint] | None = Field(
        default=None,
        description="Taints on the pool's nodes; pods of replicas tolerate them. Those of accelerators (nvidia.com/gpu, amd.com/gpu) are tolerated anyway.",
    )


class Scheduler(Wire):
    """
    What places pods inside the cluster. Queues are not offered yet: a cluster with one takes no new replica. Default: {"type": "None"}.
    """

    type: Literal["None", "Kueue", "KAI", "Volcano"] | None = Field(
        default=None, description="None is kube-scheduler alone. Default: None."
    )
    queue_name: str | None = Field(
        default=None,
        description="LocalQueue of Kueue in the replica's namespace, or queue of KAI or Volcano.",
    )


class Stack(Wire):
    """
    The software a cluster needs so that its backends work.
    """

    install: bool | None = Field(
        default=None, description="Install it. False where the cluster already has it. Default: true."
    )
    versions: dict[str, str] | None = Field(
        default=None, description="Versions by component that differ from the pinned ones, for example kserve."
    )


class Gateway(Wire):
    """
    The Gateway on the cluster through which replicas are reached.
    """

    name: str | None = Field(default=None, description="Name of the Gateway. Default: modelplane.")
    namespace: str | None = Field(default=None, description="Namespace of the Gateway. Default: modelplane-system.")
    listener: str | None = Field(default=None, description="Name of the listener to use. Default is the first.")


class StatusGateway(Wire):
    """
    Where the cluster's gateway is reached.
    """

    address: str | None = Field(default=None, description="IP address or host name.")
    port: int | None = Field(default=None, description="Port of the listener.")
    hostname: str | None = Field(default=None, description="Host name of the listener.")
    scheme: Literal["http", "https"] | None = Field(default=None, description="Scheme of the listener.")


class ProviderConfigRef(Wire):
    """
    The provider-kubernetes configuration that reaches the cluster.
    """

    kind: str | None = Field(default=None, description="Kind of the configuration.")
    name: str | None = Field(default=None, description="Name of the configuration.")


class Summary(Wire):
    """
    Totals for people and columns.
    """

    pools: int | None = Field(default=None, description="Node pools.")
    devices: int | None = Field(default=None, description="Accelerators of all pools.")
    free: int | None = Field(default=None, description="Accelerators nothing is admitted on.")
    replicas: int | None = Field(default=None, description="Replicas admitted.")


class Pending(Wire):
    replica: str = Field(description="The replica as namespace/name.")
    reason: str | None = Field(default=None, description="Stable code.")
    message: str | None = Field(default=None, description="What is waited for.")


class Refused(Wire):
    replica: str = Field(description="The replica as namespace/name.")
    reason: str | None = Field(default=None, description="Stable code.")
    message: str | None = Field(default=None, description="What is missing and what would change it.")


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


class Nodes(Wire):
    """
    Node counts.
    """

    declared: int | None = Field(default=None, description="Nodes the spec allows to count on.")
    observed: int | None = Field(default=None, description="Nodes seen on the cluster.")


class Allocation(Wire):
    pods: int | None = Field(default=None, description="Pods of this shape.")
    nodes_per_worker: int | None = Field(
        default=None, description="Pods of one worker, each on a node of its own. Absent means 1."
    )
    devices: dict[str, int] | None = Field(
        default=None, description="Devices of one pod by the device's name in the class."
    )
    cpu: str | None = Field(default=None, description="CPU of one pod.")
    memory: str | None = Field(default=None, description="Memory of one pod.")


class Holding(Wire):
    role: Literal["decode", "prefill"] = Field(description="Role of the replica.")
    pool: str = Field(description="Pool of this cluster.")
    pods: int = Field(description="Pods of the role.")
    nodes_per_worker: int | None = Field(
        default=None, description="Pods of one worker, each on a node of its own. Absent means 1."
    )
    devices: dict[str, int] | None = Field(
        default=None, description="Devices of one pod by the device's name in the class."
    )
    cpu: str | None = Field(default=None, description="CPU of one pod.")
    memory: str | None = Field(default=None, description="Memory of one pod.")


class SecretRef(Wire):
    """
    Secret of the control plane that holds a kubeconfig. It is referenced and never copied.
    """

    namespace: str = Field(description="Namespace of the Secret.")
    name: str = Field(description="Name of the Secret.")
    key: str | None = Field(default=None, description="Key of the kubeconfig. Default: kubeconfig.")


class ExistingProviderConfigRef(Wire):
    """
    A provider-kubernetes configuration that exists.
    """

    kind: Literal["ClusterProviderConfig"] | None = Field(
        default=None,
        description="Kind of the configuration. It is used from every namespace that has replicas on the cluster, so it is the cluster-scoped kind. Default: ClusterProviderConfig.",
    )
    name: str = Field(description="Name of the configuration.")


class GkeProviderConfigRef(Wire):
    """
    Configuration of the cloud provider, with its credentials.
    """

    name: str = Field(description="Name of the ClusterProviderConfig.")


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


class Pool(Wire):
    name: str = Field(description="Name of the pool.")
    class_name: str | None = Field(default=None, description="InferenceClass of its nodes.")
    nodes: Nodes | None = None
    allocations: list[Allocation] | None = Field(default=None, description="Admitted pods, counted by their shape.")
    free: dict[str, int] | None = Field(
        default=None, description="Devices nothing is admitted on, by the device's name in the class."
    )
    overcommitted: bool | None = Field(
        default=None, description="More is admitted than the pool holds now; nothing is moved for it."
    )


class Admission(Wire):
    digest: str = Field(description="Digest of the spec that was admitted, without its priority.")
    holdings: list[Holding] = Field(description="What one such replica takes.")
    replicas: dict[str, str] = Field(description="Digest of each replica's uid, by namespace/name.")


class Existing(Wire):
    """
    Access to a cluster that exists.
    """

    secret_ref: SecretRef | None = None
    provider_config_ref: ExistingProviderConfigRef | None = None


class Gke(Wire):
    """
    A cluster of Google Kubernetes Engine.
    """

    project: str = Field(description="Google Cloud project.")
    region: str = Field(description="Region, for example us-central1.")
    kubernetes_version: str | None = Field(default=None, description="Kubernetes version, at least 1.34.")
    release_channel: Literal["RAPID", "REGULAR", "STABLE", "EXTENDED"] | None = Field(
        default=None, description="Who upgrades it and when."
    )
    network: str | None = Field(default=None, description="VPC network.")
    subnetwork: str | None = Field(default=None, description="Subnetwork.")
    provider_config_ref: GkeProviderConfigRef | None = None


class Eks(Wire):
    """
    A cluster of Amazon EKS.
    """

    region: str = Field(description="Region, for example us-east-2.")
    kubernetes_version: str | None = Field(default=None, description="Kubernetes version, at least 1.34.")
    role_arn: str | None = Field(default=None, description="Role of the control plane.")
    node_role_arn: str | None = Field(default=None, description="Role of the nodes.")
    subnet_ids: list[str] | None = Field(default=None, description="Subnets of the cluster.")
    provider_config_ref: GkeProviderConfigRef | None = None


class Aks(Wire):
    """
    A cluster of Azure Kubernetes Service.
    """

    resource_group: str = Field(description="Resource group.")
    location: str = Field(description="Location, for example westeurope.")
    kubernetes_version: str | None = Field(default=None, description="Kubernetes version, at least 1.34.")
    subnet_id: str | None = Field(default=None, description="Subnet of the nodes.")
    provider_config_ref: GkeProviderConfigRef | None = None


class Status(Wire):
    """
    The cluster's ledger, and its verdict over the replicas that name it.
    """

    gateway: StatusGateway | None = None
    provider_config_ref: ProviderConfigRef | None = None
    summary: Summary | None = None
    pools: list[Pool] | None = Field(
        default=None,
        description="Ledger by pool. The devices of a node are those of the pool's class and are not repeated here.",
    )
    admitted: list[str] | None = Field(
        default=None, description="Replicas this cluster accepts as namespace/name, sorted."
    )
    admissions: list[Admission] | None = Field(
        default=None,
        description="What each replica was admitted with. It may run as that, and that is counted until the replica and its workload are seen to be gone; what is written into it later is judged anew. Replicas that are written alike are one entry.",
    )
    pending: list[Pending] | None = Field(default=None, description="Replicas that are not judged yet, and why.")
    refused: list[Refused] | None = Field(default=None, description="Replicas this cluster does not accept, and why.")
    conditions: list[Condition] | None = Field(default=None, description="Conditions of the resource.")


class Cluster(Wire):
    """
    Where the cluster comes from.
    """

    source: Literal["Existing", "GKE", "EKS", "AKS"] = Field(
        description="Existing is a cluster made elsewhere; the others are made from the block of the same name."
    )
    existing: Existing | None = None
    gke: Gke | None = None
    eks: Eks | None = None
    aks: Aks | None = None


class Spec(Wire):
    """
    The cluster and its pools.
    """

    cluster: Cluster
    taints: list[Taint] | None = Field(
        default=None,
        description="Taints with the meaning of Kubernetes: NoSchedule keeps new replicas off, PreferNoSchedule avoids the cluster, NoExecute also moves running replicas away (a drain), unless a deployment tolerates them.",
    )
    node_pools: list[NodePool] = Field(description="Homogeneous node pools.")
    backends: list[Literal["KServe", "LLMD", "Native", "VLLMStack", "Dynamo", "KAITO", "KubeRay"]] | None = Field(
        default=None,
        description='Serving technologies that may be rendered here, in order of preference. Default: ["KServe"].',
    )
    scheduler: Scheduler | None = None
    accounting: Literal["Device", "Node"] | None = Field(
        default=None,
        description="Device counts devices; Node charges whole nodes, so that no two pods share one. Default: Device.",
    )
    stack: Stack | None = None
    gateway: Gateway | None = None
    crossplane: Crossplane | None = None


class InferenceCluster(Document):
    """
    InferenceCluster is one Kubernetes cluster of the fleet: how to reach it, what node pools it has, and what may be rendered on it. Its labels and taints decide which deployments may use it.
    """

    api_version: Literal["modelplane.ai/v1alpha1"] = "modelplane.ai/v1alpha1"
    kind: Literal["InferenceCluster"] = "InferenceCluster"
    metadata: ObjectMeta = Field(description="Name, namespace and labels.")
    spec: Spec
    status: Status | None = None
