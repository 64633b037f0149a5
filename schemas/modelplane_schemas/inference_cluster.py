# Generated from apis/inferenceclusters/definition.yaml by schemas/generate.py; do not edit.

from __future__ import annotations

from pydantic import Field
from modelplane_schemas.wire import Wire
from typing import Any, Literal


class SecretRef(Wire):
    """
    Secret of the control plane that holds a kubeconfig. It is referenced and never copied.
    """

    namespace: str = Field(..., description="Namespace of the Secret.")
    name: str = Field(..., description="Name of the Secret.")
    key: str | None = Field("kubeconfig", description="Key of the kubeconfig.")


class ProviderConfigRef(Wire):
    """
    A provider-kubernetes configuration that exists.
    """

    kind: Literal["ClusterProviderConfig"] | None = Field(
        "ClusterProviderConfig",
        description="Kind of the configuration. It is used from every namespace that has replicas on the cluster, so it is the cluster-scoped kind.",
    )
    name: str = Field(..., description="Name of the configuration.")


class Existing(Wire):
    """
    Access to a cluster that exists.
    """

    secret_ref: SecretRef | None = Field(
        None,
        alias="secretRef",
        description="Secret of the control plane that holds a kubeconfig. It is referenced and never copied.",
    )
    provider_config_ref: ProviderConfigRef | None = Field(
        None, alias="providerConfigRef", description="A provider-kubernetes configuration that exists."
    )


class Scheduler(Wire):
    """
    What places pods inside the cluster. Queues are not offered yet: a cluster with one takes no new replica.
    """

    type: Literal["None", "Kueue", "KAI", "Volcano"] | None = Field("None", description="None is kube-scheduler alone.")
    queue_name: str | None = Field(
        None,
        alias="queueName",
        description="LocalQueue of Kueue in the replica's namespace, or queue of KAI or Volcano.",
    )


class Stack(Wire):
    """
    The software a cluster needs so that its backends work.
    """

    install: bool | None = Field(True, description="Install it. False where the cluster already has it.")
    versions: dict[str, str] | None = Field(
        None, description="Versions by component that differ from the pinned ones, for example kserve."
    )


class Gateway(Wire):
    """
    The Gateway on the cluster through which replicas are reached.
    """

    name: str | None = Field("modelplane", description="Name of the Gateway.")
    namespace: str | None = Field("modelplane-system", description="Namespace of the Gateway.")
    listener: str | None = Field(None, description="Name of the listener to use. Default is the first.")


class Gateway1(Wire):
    """
    Where the cluster's gateway is reached.
    """

    address: str | None = Field(None, description="IP address or host name.")
    port: int | None = Field(None, description="Port of the listener.")
    hostname: str | None = Field(None, description="Host name of the listener.")
    scheme: Literal["http", "https"] | None = Field(None, description="Scheme of the listener.")


class ProviderConfigRef1(Wire):
    """
    The provider-kubernetes configuration that reaches the cluster.
    """

    kind: str | None = Field(None, description="Kind of the configuration.")
    name: str | None = Field(None, description="Name of the configuration.")


class Summary(Wire):
    """
    Totals for people and columns.
    """

    pools: int | None = Field(None, description="Node pools.")
    devices: int | None = Field(None, description="Accelerators of all pools.")
    free: int | None = Field(None, description="Accelerators nothing is admitted on.")
    replicas: int | None = Field(None, description="Replicas admitted.")


class Nodes(Wire):
    """
    Node counts.
    """

    declared: int | None = Field(None, description="Nodes the spec allows to count on.")
    observed: int | None = Field(None, description="Nodes seen on the cluster.")


class Allocation(Wire):
    pods: int | None = Field(None, description="Pods of this shape.")
    nodes_per_worker: int | None = Field(
        None, alias="nodesPerWorker", description="Pods of one worker, each on a node of its own. Absent means 1."
    )
    devices: dict[str, int] | None = Field(None, description="Devices of one pod by the device's name in the class.")
    cpu: str | None = Field(None, description="CPU of one pod.")
    memory: str | None = Field(None, description="Memory of one pod.")


class Pool(Wire):
    name: str = Field(..., description="Name of the pool.")
    class_name: str | None = Field(None, alias="className", description="InferenceClass of its nodes.")
    nodes: Nodes | None = Field(None, description="Node counts.")
    allocations: list[Allocation] | None = Field(None, description="Admitted pods, counted by their shape.")
    free: dict[str, int] | None = Field(
        None, description="Devices nothing is admitted on, by the device's name in the class."
    )
    overcommitted: bool | None = Field(
        None, description="More is admitted than the pool holds now; nothing is moved for it."
    )


class Holding(Wire):
    role: Literal["decode", "prefill"] = Field(..., description="Role of the replica.")
    pool: str = Field(..., description="Pool of this cluster.")
    pods: int = Field(..., description="Pods of the role.")
    nodes_per_worker: int | None = Field(
        None, alias="nodesPerWorker", description="Pods of one worker, each on a node of its own. Absent means 1."
    )
    devices: dict[str, int] | None = Field(None, description="Devices of one pod by the device's name in the class.")
    cpu: str | None = Field(None, description="CPU of one pod.")
    memory: str | None = Field(None, description="Memory of one pod.")


class Admission(Wire):
    digest: str = Field(..., description="Digest of the spec that was admitted, without its priority.")
    holdings: list[Holding] = Field(..., description="What one such replica takes.")
    replicas: dict[str, str] = Field(..., description="Digest of each replica's uid, by namespace/name.")


class PendingItem(Wire):
    replica: str = Field(..., description="The replica as namespace/name.")
    reason: str | None = Field(None, description="Stable code.")
    message: str | None = Field(None, description="What is waited for.")


class RefusedItem(Wire):
    replica: str = Field(..., description="The replica as namespace/name.")
    reason: str | None = Field(None, description="Stable code.")
    message: str | None = Field(None, description="What is missing and what would change it.")


class Status(Wire):
    """
    The cluster's ledger, and its verdict over the replicas that name it.
    """

    gateway: Gateway1 | None = Field(None, description="Where the cluster's gateway is reached.")
    provider_config_ref: ProviderConfigRef1 | None = Field(
        None, alias="providerConfigRef", description="The provider-kubernetes configuration that reaches the cluster."
    )
    summary: Summary | None = Field(None, description="Totals for people and columns.")
    pools: list[Pool] | None = Field(
        None,
        description="Ledger by pool. The devices of a node are those of the pool's class and are not repeated here.",
    )
    admitted: list[str] | None = Field(None, description="Replicas this cluster accepts as namespace/name, sorted.")
    admissions: list[Admission] | None = Field(
        None,
        description="What each replica was admitted with. It may run as that, and that is counted until the replica and its workload are seen to be gone; what is written into it later is judged anew. Replicas that are written alike are one entry.",
    )
    pending: list[PendingItem] | None = Field(None, description="Replicas that are not judged yet, and why.")
    refused: list[RefusedItem] | None = Field(None, description="Replicas this cluster does not accept, and why.")


class ProviderConfigRefModel(Wire):
    """
    Configuration of the cloud provider, with its credentials.
    """

    name: str = Field(..., description="Name of the ClusterProviderConfig.")


class Taints(Wire):
    key: str = Field(..., description="Key of the taint.")
    value: str | None = Field(None, description="Value of the taint.")
    effect: Literal["NoSchedule", "NoExecute", "PreferNoSchedule"] = Field(..., description="What it does.")


class Gke(Wire):
    """
    A cluster of Google Kubernetes Engine.
    """

    project: str = Field(..., description="Google Cloud project.")
    region: str = Field(..., description="Region, for example us-central1.")
    kubernetes_version: str | None = Field(
        None, alias="kubernetesVersion", description="Kubernetes version, at least 1.34."
    )
    release_channel: Literal["RAPID", "REGULAR", "STABLE", "EXTENDED"] | None = Field(
        None, alias="releaseChannel", description="Who upgrades it and when."
    )
    network: str | None = Field(None, description="VPC network.")
    subnetwork: str | None = Field(None, description="Subnetwork.")
    provider_config_ref: ProviderConfigRefModel | None = Field(None, alias="providerConfigRef")


class Eks(Wire):
    """
    A cluster of Amazon EKS.
    """

    region: str = Field(..., description="Region, for example us-east-2.")
    kubernetes_version: str | None = Field(
        None, alias="kubernetesVersion", description="Kubernetes version, at least 1.34."
    )
    role_arn: str | None = Field(None, alias="roleArn", description="Role of the control plane.")
    node_role_arn: str | None = Field(None, alias="nodeRoleArn", description="Role of the nodes.")
    subnet_ids: list[str] | None = Field(None, alias="subnetIds", description="Subnets of the cluster.")
    provider_config_ref: ProviderConfigRefModel | None = Field(None, alias="providerConfigRef")


class Aks(Wire):
    """
    A cluster of Azure Kubernetes Service.
    """

    resource_group: str = Field(..., alias="resourceGroup", description="Resource group.")
    location: str = Field(..., description="Location, for example westeurope.")
    kubernetes_version: str | None = Field(
        None, alias="kubernetesVersion", description="Kubernetes version, at least 1.34."
    )
    subnet_id: str | None = Field(None, alias="subnetId", description="Subnet of the nodes.")
    provider_config_ref: ProviderConfigRefModel | None = Field(None, alias="providerConfigRef")


class Cluster(Wire):
    """
    Where the cluster comes from.
    """

    source: Literal["Existing", "GKE", "EKS", "AKS"] = Field(
        ..., description="Existing is a cluster made elsewhere; the others are made from the block of the same name."
    )
    existing: Existing | None = Field(None, description="Access to a cluster that exists.")
    gke: Gke | None = Field(None, description="A cluster of Google Kubernetes Engine.")
    eks: Eks | None = Field(None, description="A cluster of Amazon EKS.")
    aks: Aks | None = Field(None, description="A cluster of Azure Kubernetes Service.")


class NodePool(Wire):
    name: str = Field(..., description="Name of the pool.")
    class_name: str = Field(..., alias="className", description="The InferenceClass of its nodes.")
    node_count: int | None = Field(None, alias="nodeCount", description="Nodes there are.")
    min_node_count: int | None = Field(None, alias="minNodeCount", description="Fewest nodes when it scales.")
    max_node_count: int | None = Field(
        None, alias="maxNodeCount", description="Most nodes when it scales; placement counts on them."
    )
    zones: list[str] | None = Field(
        None, description="Zones of the nodes of a cluster that is made for you; of one that exists nothing reads them."
    )
    node_selector: dict[str, str] | None = Field(
        None,
        alias="nodeSelector",
        description="Labels of the pool's nodes. Default is modelplane.ai/pool: <name of the pool>.",
    )
    taints: list[Taints] | None = Field(
        None,
        description="Taints on the pool's nodes; pods of replicas tolerate them. Those of accelerators (nvidia.com/gpu, amd.com/gpu) are tolerated anyway.",
    )


class Spec(Wire):
    """
    The cluster and its pools.
    """

    cluster: Cluster = Field(..., description="Where the cluster comes from.")
    taints: list[Taints] | None = Field(
        None,
        description="Taints with the meaning of Kubernetes: NoSchedule keeps new replicas off, PreferNoSchedule avoids the cluster, NoExecute also moves running replicas away (a drain), unless a deployment tolerates them.",
    )
    node_pools: list[NodePool] = Field(..., alias="nodePools", description="Homogeneous node pools.")
    backends: list[Literal["KServe", "LLMD", "Native", "VLLMStack", "Dynamo", "KAITO", "KubeRay"]] | None = Field(
        ["KServe"], description="Serving technologies that may be rendered here, in order of preference."
    )
    scheduler: Scheduler | None = Field(
        {"type": "None"},
        description="What places pods inside the cluster. Queues are not offered yet: a cluster with one takes no new replica.",
        validate_default=True,
    )
    accounting: Literal["Device", "Node"] | None = Field(
        "Device", description="Device counts devices; Node charges whole nodes, so that no two pods share one."
    )
    stack: Stack | None = Field(
        {}, description="The software a cluster needs so that its backends work.", validate_default=True
    )
    gateway: Gateway | None = Field(
        {}, description="The Gateway on the cluster through which replicas are reached.", validate_default=True
    )


class InferenceCluster(Wire):
    """
    InferenceCluster is one Kubernetes cluster of the fleet: how to reach it, what node pools it has, and what may be rendered on it. Its labels and taints decide which deployments may use it.
    """

    api_version: str | None = Field(None, alias="apiVersion")
    kind: str | None = None
    metadata: dict[str, Any] | None = None
    spec: Spec = Field(..., description="The cluster and its pools.")
    status: Status | None = Field(
        None, description="The cluster's ledger, and its verdict over the replicas that name it."
    )