# Generated from apis/inferenceclusters/definition.yaml by schemas/generate.py; do not edit.

from __future__ import annotations

from pydantic import Field
from modelplane_schemas.wire import Document, ObjectMeta, Wire
from typing import Literal


class AllowedNamespaces(Wire):
    """
    Namespaces whose deployments may place replicas on the cluster: each that is named, and each that has all of the labels. Left out, every namespace may. A namespace that is not allowed any more keeps what runs and gets nothing new. Whoever may label a Namespace decides about its labels.
    """

    names: list[str] | None = Field(default=None, description="Names of namespaces.")
    match_labels: dict[str, str] | None = Field(
        default=None,
        description="Labels that a Namespace must have, all of them. Crossplane must be allowed to read Namespaces.",
    )


class Taint(Wire):
    key: str = Field(description="Key of the taint.")
    value: str | None = Field(default=None, description="Value of the taint.")
    effect: Literal["NoSchedule", "NoExecute", "PreferNoSchedule"] = Field(description="Effect of the taint.")


class Gateway(Wire):
    """
    The Gateway on the cluster through which replicas are reached.
    """

    name: str | None = Field(default=None, description="Name of the Gateway. Default: modelplane.")
    namespace: str | None = Field(default=None, description="Namespace of the Gateway. Default: modelplane-system.")
    listener: str | None = Field(
        default=None,
        description="Name of the listener to use. Default is the first. With mutualTLS Required it is mutual-tls.",
    )
    mutual_tls: Literal["Required", "Disabled"] | None = Field(
        default=None,
        validation_alias="mutualTLS",
        serialization_alias="mutualTLS",
        description="Required makes the gateway serve the fleet's gateways alone, which show their certificates: it gets one of its own and a policy on the listener mutual-tls, and the endpoints of a cluster that serves move there without a failed request. Where the Gateway is not made by spec.stack, its owner adds that listener. Disabled serves whoever reaches the gateway. Left out, it is Required where spec.stack makes the Gateway of a new cluster, and Disabled otherwise; status.mutualTLS.mode records it.",
    )
    implementation: Literal["Istio", "Other"] | None = Field(
        default=None,
        description="Implementation of the Gateway. Istio needs an object of its own to reach the endpoint pickers of LLMD. Default is Other.",
    )
    ingress_class_name: str | None = Field(
        default=None,
        description="IngressClass of the cluster, of which each replica of the backend VLLMStack gets an Ingress beside its HTTPRoute, for the same internal host. Whoever reaches that class and sends the host reaches the engine, without the checks of a ModelService. Left out there is none, and none while the gateway asks for client certificates (status.mutualTLS).",
    )


class Storage(Wire):
    """
    Storage for the weights of models (ModelCache), and the program that fills it.
    """

    weights_class_name: str | None = Field(
        default=None,
        description="StorageClass of the claims of ModelCaches that name none. Without one they are not staged here.",
    )
    access_mode: Literal["ReadWriteMany", "ReadWriteOnce"] | None = Field(
        default=None, description="Access mode of these claims. Default is ReadWriteMany."
    )
    staging_image: str | None = Field(
        default=None,
        description="Image of the pod that fetches files, for example from a mirror or by digest. It needs python3 with huggingface_hub, and kserve_storage for s3 and gcs. Default is kserve/storage-initializer:v0.20.0.",
    )
    hub_endpoint: str | None = Field(
        default=None,
        description="URL of a mirror of the Hugging Face hub, as seen from the pods of the cluster.",
    )


class Observe(Wire):
    """
    Observation of nodes and devices. A Deployment on the cluster counts them for the pools, and new replicas are placed only on nodes that are ready and not cordoned and have all devices of the class. What runs is never moved for it. It needs examples/rbac-workload-observer.yaml on the cluster. Left out, nodes count as declared.
    """

    image: str | None = Field(
        default=None,
        description="Image of the observer, for example from a mirror or by digest. It needs python3. Default is kserve/storage-initializer:v0.20.0.",
    )


class StatusGateway(Wire):
    """
    Address of the cluster's gateway.
    """

    address: str | None = Field(default=None, description="IP address or host name.")
    port: int | None = Field(default=None, description="Port of the listener.")
    hostname: str | None = Field(default=None, description="Host name of the listener.")
    scheme: Literal["http", "https"] | None = Field(default=None, description="Scheme of the listener.")
    server_name: str | None = Field(
        default=None,
        description="Host name in the certificate of the gateway, where it asks for client certificates.",
    )
    authorities: str | None = Field(default=None, description="Certificates, in PEM, of the authorities that sign it.")


class MutualTLS(Wire):
    """
    TLS with client certificates between the fleet's gateways and this cluster's.
    """

    mode: Literal["Required", "Disabled"] | None = Field(
        default=None, description="The decision whether it is required, which stays."
    )
    serving: Literal["Plaintext", "MutualTLS"] | None = Field(
        default=None, description="The transport that endpoints use."
    )
    phase: Literal["Opening", "Moving", "Closing", "Settled"] | None = Field(
        default=None,
        description="Step of a change. Opening waits for the listener, Moving for the endpoints to use it, Closing closes the other one.",
    )
    clients: list[str] | None = Field(default=None, description="Identities that the gateway lets in.")
    client_authorities: str | None = Field(
        default=None, description="Certificates, in PEM, of the authorities that sign for clients."
    )
    authorities: str | None = Field(
        default=None, description="Certificates, in PEM, of the authorities that sign for the gateway."
    )
    not_after: str | None = Field(
        default=None,
        description="The time at which the certificate of the gateway expires unless it is renewed.",
    )


class Queue(Wire):
    """
    Quota of the cluster's queue, where spec.scheduler.quota says that it is read.
    """

    name: str | None = Field(default=None, description="Name of the object that has the quota.")
    limit: int | None = Field(
        default=None,
        description="Most devices that the queue may hold. Absent, the queue has no limit or was never read.",
    )
    held: int | None = Field(default=None, description="Devices that admitted replicas hold.")


class Backend(Wire):
    name: str = Field(description="Name of the backend.")
    installed: bool | None = Field(
        default=None,
        description="True if the cluster serves the kind of the backend in any version. It is absent while that is not known, and the backend then counts as installed.",
    )
    served: bool | None = Field(
        default=None,
        description="True if the cluster serves the version that Modelplane writes. A new replica of the backend is placed on no cluster where this is false. It is absent while that is not known.",
    )
    versions: list[str] | None = Field(
        default=None, description="The API versions of the backend's definitions that the cluster serves."
    )
    missing: list[str] | None = Field(
        default=None,
        description="The API versions that the backend's objects may need and the cluster does not serve. A workload that needs one of them is not placed here with the backend.",
    )


class ProviderConfigRef(Wire):
    """
    The configuration of provider-kubernetes for the cluster.
    """

    kind: str | None = Field(default=None, description="Kind of the configuration.")
    name: str | None = Field(default=None, description="Name of the configuration.")


class StatusStack(Wire):
    """
    Decision whether a serving stack is installed.
    """

    install: bool | None = Field(default=None, description="True if one is installed.")
    asked: bool | None = Field(default=None, description="Value of spec.stack.install at the decision.")


class Cloud(Wire):
    """
    Progress of a cluster that is created, as its cloud reports it.
    """

    phase: Literal["Refused", "NetworkPending", "ClusterPending", "AccessPending", "PoolsPending", "Created"] | None = (
        Field(default=None, description="Progress. PoolsPending is reached as soon as the cluster is.")
    )
    version: str | None = Field(default=None, description="Kubernetes version of its control plane.")
    endpoint: str | None = Field(default=None, description="Address of its API server.")


class Summary(Wire):
    """
    Totals for printed columns.
    """

    pools: int | None = Field(default=None, description="Node pools.")
    devices: int | None = Field(default=None, description="Devices of all pools.")
    free: int | None = Field(default=None, description="Free devices of all pools.")
    replicas: int | None = Field(default=None, description="Admitted replicas.")


class Pending(Wire):
    replica: str = Field(description="The replica as namespace/name.")
    reason: str | None = Field(default=None, description="Stable reason code.")
    message: str | None = Field(default=None, description="The event that the replica waits for.")


class Asked(Wire):
    replica: str = Field(description="The replica as namespace/name.")
    keep_free: list[str] | None = Field(
        default=None,
        description="Pools of this cluster that the refused replica needs; the successor goes to none of them.",
    )


class Refused(Wire):
    replica: str = Field(description="The replica as namespace/name.")
    reason: str | None = Field(default=None, description="Stable reason code.")
    message: str | None = Field(
        default=None, description="The missing capacity, and the change that would make the replica fit."
    )


class Condition(Wire):
    last_transition_time: str
    message: str | None = None
    reason: str
    status: str
    type: str
    observed_generation: int | None = None


class DeviceTaint(Wire):
    driver: str | None = Field(
        default=None,
        description="Driver of the devices, for example gpu.nvidia.com. Left out means every device that is claimed (DRA).",
    )
    key: str = Field(description="Key of the taint.")
    value: str | None = Field(default=None, description="Value of the taint.")
    effect: Literal["None", "NoSchedule", "NoExecute"] = Field(
        description="NoSchedule keeps new pods off the device; NoExecute also ends pods that hold it; None only says something.",
    )


class Quota(Wire):
    """
    Quota of the queue, which is read from the cluster: no more devices are admitted there than it allows. It is an upper bound and no free device. Without this block no quota is read.
    """

    resource: str = Field(
        description="Name by which the queue counts the devices of the pools. Kueue has the resource of a ClusterQueue (modelplane.ai/gpu), KAI gpu, and Volcano the key of a capability (deviceclass/gpu.nvidia.com).",
    )
    cluster_queue_name: str | None = Field(
        default=None,
        description="Name of the ClusterQueue of Kueue that the LocalQueues of all namespaces belong to.",
    )


class PriorityClass(Wire):
    minimum: int = Field(description="Least priority of a deployment that gets the class.")
    name: str = Field(description="Name of the WorkloadPriorityClass (Kueue) or PriorityClass (KAI, Volcano).")


class Components(Wire):
    """
    By whom a component is installed, where that is not the default. Managed installs it, External leaves it to others and never writes it, Disabled uninstalls what was installed. Default is External where it is found on the cluster, and Managed otherwise.
    """

    cert_manager: Literal["Managed", "External", "Disabled"] | None = Field(
        default=None, description="cert-manager, for KServe."
    )
    gateway: Literal["Managed", "External", "Disabled"] | None = Field(
        default=None, description="Envoy Gateway with the Gateway API, and the Gateway of the cluster."
    )
    leader_worker_set: Literal["Managed", "External", "Disabled"] | None = Field(
        default=None, description="LeaderWorkerSet, for workers over several nodes."
    )
    kserve: Literal["Managed", "External", "Disabled"] | None = Field(
        default=None, description="KServe, its definitions and its presets."
    )
    dra: Literal["Managed", "External", "Disabled"] | None = Field(
        default=None, description="The DRA drivers of the devices of the cluster's classes."
    )
    metrics: Literal["Managed", "External", "Disabled"] | None = Field(
        default=None, description="Definitions of monitors, and the metrics of devices."
    )
    queue: Literal["Managed", "External", "Disabled"] | None = Field(
        default=None, description="The cluster scheduler of scheduler.type."
    )


class Tracing(Wire):
    """
    Traces of requests. Without it nothing is traced.
    """

    endpoint: str = Field(
        description="OTLP endpoint (gRPC) as seen from the pods, for example http://otel-collector.monitoring:4317.",
    )
    sampling_percent: int | None = Field(
        default=None,
        description="Share of requests that are traced when the client does not decide. Default is 10.",
    )


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

    declared: int | None = Field(default=None, description="Number of nodes that placement relies on.")
    observed: int | None = Field(default=None, description="Number of nodes observed on the cluster.")
    growable: int | None = Field(default=None, description="Nodes that the cloud will add to the pool when pods wait.")
    ready: int | None = Field(default=None, description="Observed nodes that are ready, with spec.observe.")
    cordoned: int | None = Field(
        default=None, description="Observed nodes that are ready and cordoned, with spec.observe."
    )
    allocatable: int | None = Field(
        default=None,
        description="Observed nodes that take new replicas, with spec.observe: ready, not cordoned, with all devices of the class.",
    )
    cpu: str | None = Field(
        default=None, description="Least CPU that is allocatable on a ready node, with spec.observe."
    )
    memory: str | None = Field(
        default=None, description="Least memory that is allocatable on a ready node, with spec.observe."
    )


class Device(Wire):
    name: str = Field(description="Name of the device in the class.")
    observed: int | None = Field(default=None, description="Devices that are there.")
    allocatable: int | None = Field(
        default=None, description="Devices on nodes that take new pods, without those that are tainted."
    )


class Allocation(Wire):
    pods: int | None = Field(default=None, description="Number of pods of this shape.")
    nodes_per_worker: int | None = Field(
        default=None,
        description="Number of pods of one worker, each on a separate node. Absent means 1.",
    )
    devices: dict[str, int] | None = Field(
        default=None, description="Devices of one pod by the device's name in the class."
    )
    consumed: dict[str, str] | None = Field(
        default=None,
        description="Capacity that one pod takes of devices that pods share, by device/capacity. A pod takes all of a capacity that is not listed.",
    )
    cpu: str | None = Field(default=None, description="CPU of one pod.")
    memory: str | None = Field(default=None, description="Memory of one pod.")


class Holding(Wire):
    role: Literal["decode", "prefill"] = Field(description="Role of the replica.")
    pool: str = Field(description="Pool of this cluster.")
    pods: int = Field(description="Pods of the role.")
    nodes_per_worker: int | None = Field(
        default=None,
        description="Number of pods of one worker, each on a separate node. Absent means 1.",
    )
    devices: dict[str, int] | None = Field(
        default=None, description="Devices of one pod by the device's name in the class."
    )
    consumed: dict[str, str] | None = Field(
        default=None,
        description="Capacity that one pod takes of devices that pods share, by device/capacity. A pod takes all of a capacity that is not listed.",
    )
    cpu: str | None = Field(default=None, description="CPU of one pod.")
    memory: str | None = Field(default=None, description="Memory of one pod.")


class Claimed(Wire):
    role: Literal["decode", "prefill"] = Field(description="Role of the replica.")
    templates: list[str] | None = Field(
        default=None,
        description="Digests by which the claim template of a replica may be named. None where no device is claimed.",
    )
    limits: dict[str, str] | None = Field(default=None, description="Limits of a pod by extended resource.")


class Ask(Wire):
    replica: str = Field(description="The replica as namespace/name.")
    number: int = Field(description="Number of the question.")
    uid: str = Field(description="Digest of the replica's uid.")
    digest: str = Field(description="Digest of its spec.")
    priority: int | None = Field(default=None, description="Priority of its deployment.")
    created: str | None = Field(default=None, description="Creation time of the replica.")
    waits_for: str | None = Field(
        default=None,
        description="The quota that answers next. Where there are several they answer in the order of their names.",
    )
    borrows: bool | None = Field(
        default=None,
        description="True if it is beyond the own limits of a quota that borrows. The lender answers others first.",
    )
    holdings: list[Holding] = Field(description="The nodes and devices that the replica takes.")


class SecretRef(Wire):
    """
    Secret on the control plane that holds a kubeconfig. It is referenced and never copied.
    """

    namespace: str = Field(description="Namespace of the Secret.")
    name: str = Field(description="Name of the Secret.")
    key: str | None = Field(default=None, description="Key of the kubeconfig in the Secret. Default: kubeconfig.")


class ExistingProviderConfigRef(Wire):
    """
    An existing configuration of provider-kubernetes.
    """

    kind: Literal["ClusterProviderConfig"] | None = Field(
        default=None,
        description="Kind of the configuration. Every namespace with replicas on the cluster uses it, so it must be the cluster-scoped kind. Default: ClusterProviderConfig.",
    )
    name: str = Field(description="Name of the configuration.")


class GkeProviderConfigRef(Wire):
    """
    Configuration of the cloud provider, with its credentials.
    """

    name: str = Field(description="Name of the ClusterProviderConfig.")


class SystemPool(Wire):
    """
    Pool for controllers, which serves no model and is not counted.
    """

    instance_type: str | None = Field(default=None, description="Type of its nodes. Default is m7i.xlarge.")
    node_count: int | None = Field(default=None, description="Number of its nodes. Default is 2.")


class NodePool(Wire):
    name: str = Field(description="Name of the pool.")
    class_name: str = Field(description="InferenceClass of its nodes.")
    node_count: int | None = Field(default=None, description="Number of nodes.")
    min_node_count: int | None = Field(default=None, description="Minimum number of nodes of a pool that scales.")
    max_node_count: int | None = Field(
        default=None, description="Maximum number of nodes of a pool that scales. Placement relies on it."
    )
    zones: list[str] | None = Field(
        default=None,
        description="Zones of the nodes of a cluster that is created. They are ignored for an existing cluster.",
    )
    node_selector: dict[str, str] | None = Field(
        default=None,
        description="Labels of the pool's nodes. Default is modelplane.ai/pool: <name of the pool>.",
    )
    device_taints: list[DeviceTaint] | None = Field(
        default=None,
        description="Taints that a DeviceTaintRule of the cluster puts on devices of the pool. A request takes such a device only where it tolerates them, and NoExecute moves replicas away that do not.",
    )
    taints: list[Taint] | None = Field(
        default=None,
        description="Taints on the pool's nodes. The pods of replicas tolerate them. Taints of device vendors (nvidia.com/gpu, amd.com/gpu) are always tolerated.",
    )


class Scheduler(Wire):
    """
    The cluster scheduler, which places pods inside the cluster. A change of it is for new replicas; what runs stays as it was rendered. KServe, LLMD and Native can be queued. Default: {"type": "None"}.
    """

    type: Literal["None", "Kueue", "KAI", "Volcano"] | None = Field(
        default=None, description="Type of the cluster scheduler. None means kube-scheduler alone. Default: None."
    )
    queue_name: str | None = Field(
        default=None,
        description="Name of the Kueue LocalQueue in the replica's namespace, or of the KAI or Volcano queue. The queue is the platform's; Modelplane only reads it.",
    )
    quota: Quota | None = None
    priority_classes: list[PriorityClass] | None = Field(
        default=None,
        description="Priority classes of replicas, by the priority of their deployment. A replica gets the class with the greatest minimum that its priority reaches, and none below all of them.",
    )


class Stack(Wire):
    """
    The software that the backends need on the cluster.
    """

    install: bool | None = Field(
        default=None,
        description="Install what is missing. Default is true for a cluster that Modelplane makes, and false for source Existing. Switching it off uninstalls nothing.",
    )
    components: Components | None = None
    versions: dict[str, str] | None = Field(
        default=None,
        description="Versions of components that differ from the pinned ones, by component, for example kserve. One component is changed at a time. llm-d-router is the version of the images of that router.",
    )
    gpu_driver_root: str | None = Field(
        default=None,
        description="Folder of the NVIDIA driver on the nodes. Default is that of the cloud, and / for source Existing.",
    )


class Monitoring(Wire):
    """
    Observation of replicas on the cluster. Only the backend LLMD renders something for it.
    """

    pod_monitors: bool | None = Field(
        default=None,
        description="Render a PodMonitor for the pods of each role and for the endpoint picker. The cluster must serve monitoring.coreos.com/v1. Default is false.",
    )
    tracing: Tracing | None = None


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
    node_selector: dict[str, str] | None = Field(
        default=None,
        description="Labels of its nodes, where the spec writes them. They are kept for a pool that is not declared any more while replicas hold it, so that one with these nodes counts them under any name.",
    )
    counted_on: list[str] | None = Field(
        default=None,
        description="Pools that may have the nodes of this one, which is held and not declared any more. Each of them counts what holds it.",
    )
    nodes: Nodes | None = None
    devices: list[Device] | None = Field(
        default=None,
        description="Devices that are observed on nodes of the pool, with spec.observe. They bound nothing by themselves.",
    )
    allocations: list[Allocation] | None = Field(default=None, description="Admitted pods by shape.")
    free: dict[str, int] | None = Field(
        default=None,
        description="Free devices by the device's name in the class; of shared ones, those that no pod has a part of.",
    )
    overcommitted: bool | None = Field(
        default=None, description="True when more is admitted than the pool can hold now. No replica is moved for it."
    )


class Admission(Wire):
    digest: str = Field(description="Digest of the admitted spec, without its priority.")
    workload: str | None = Field(
        default=None,
        description="Digest of the part of the admitted spec that a ModelDeployment says. Absent in a record of an earlier version.",
    )
    holdings: list[Holding] = Field(description="The nodes and devices that one such replica takes.")
    counted: list[Holding] | None = Field(
        default=None,
        description="The nodes and devices that are counted for one such replica instead of its holdings, because pods from before a change of it may still run. Absent where the holdings are counted.",
    )
    claimed: list[Claimed] | None = Field(
        default=None,
        description="Devices of the pods of the admitted spec, by which pods from before a change are told apart. Absent where the holdings are counted.",
    )
    replicas: dict[str, str] = Field(description="Digest of each replica's uid, by namespace/name.")
    nodes: list[int] | None = Field(
        default=None,
        description="The nodes that the ledger counts the pods on: a number for each pod, of the replicas in the order of their names, and of each in the order of the holdings. The numbers are the ledger's own and name no Node; -1 stands for a pod whose node is not recorded.",
    )


class Quotas(Wire):
    """
    Questions to InferenceQuotas: the replicas that would fit and that a quota must grant first. Absent where no quota was ever asked.
    """

    asked: int | None = Field(default=None, description="Number of the last question.")
    asks: list[Ask] | None = Field(
        default=None,
        description="Open questions. One ends when the replica is admitted, does not fit any more, or changes. It is asked again under another number then, so that no grant counts twice.",
    )


class Existing(Wire):
    """
    Access to an existing cluster.
    """

    secret_ref: SecretRef | None = None
    provider_config_ref: ExistingProviderConfigRef | None = None
    kubernetes_version: str | None = Field(
        default=None,
        description="Kubernetes version it runs, at least 1.34, for example 1.35. What that version lacks is then not placed there. Left out, it is taken for 1.36.",
    )
    feature_gates: list[Literal["DRAListTypeAttributes"]] | None = Field(
        default=None,
        description="Alpha feature gates that its API server and scheduler have on. DRAListTypeAttributes (from 1.36) lets attributes of devices be lists; without it, devices of a class that have lists do not exist on the cluster.",
    )


class Gke(Wire):
    """
    A cluster of Google Kubernetes Engine.
    """

    project: str = Field(description="ID of the Google Cloud project.")
    region: str = Field(description="Region, for example us-central1.")
    kubernetes_version: str | None = Field(
        default=None,
        description="Kubernetes version, at least 1.34. A minor (1.35) is the least version, and the release channel decides the rest. A complete version (1.35.1-gke.1396002) is kept by control plane and nodes, and excludes releaseChannel.",
    )
    release_channel: Literal["RAPID", "REGULAR", "STABLE", "EXTENDED"] | None = Field(
        default=None,
        description="Release channel, which decides when the cluster is upgraded. Default is REGULAR; a complete kubernetesVersion has none.",
    )
    network: str | None = Field(
        default=None,
        description="Existing VPC network, by name or as projects/<project>/global/networks/<name>. Left out, one is made for the cluster.",
    )
    subnetwork: str | None = Field(default=None, description="Existing subnetwork of the network, in the region.")
    node_cidr: str | None = Field(
        default=None, description="Addresses of nodes in a network that is made. Default is 10.0.0.0/20."
    )
    pod_cidr: str | None = Field(
        default=None,
        description="Addresses of pods, 256 for each node. Default is 10.16.0.0/14 in a network that is made; in an existing one GKE chooses.",
    )
    service_cidr: str | None = Field(
        default=None,
        description="Addresses of Services. Default is 10.20.0.0/20 in a network that is made; in an existing one GKE chooses.",
    )
    pod_range_name: str | None = Field(
        default=None,
        description="Existing secondary range of the subnetwork for pods, in place of podCidr.",
    )
    service_range_name: str | None = Field(
        default=None,
        description="Existing secondary range of the subnetwork for Services, in place of serviceCidr.",
    )
    access: Literal["Key", "InjectedIdentity"] | None = Field(
        default=None,
        description="Identity of provider-kubernetes and provider-helm in the cluster. Key makes a service account for the cluster and a key of it. InjectedIdentity is that of their pods, which needs roles/container.admin in the project. Default is Key.",
    )
    node_service_account: str | None = Field(
        default=None,
        description="Address of an existing service account for the nodes. Left out, one is made that may write logs and metrics and read images of the project.",
    )
    system_machine_type: str | None = Field(
        default=None,
        description="Type of the 1 to 3 nodes for controllers, without devices. Default is e2-standard-8.",
    )
    provider_config_ref: GkeProviderConfigRef | None = None


class Eks(Wire):
    """
    A cluster of Amazon EKS, with a network of its own unless subnets are given.
    """

    region: str = Field(description="Region, for example us-east-2.")
    kubernetes_version: str | None = Field(
        default=None,
        description="Kubernetes version, at least 1.34. A later one upgrades the cluster and then its pools, one minor version at a time. Left out, EKS chooses.",
    )
    role_arn: str | None = Field(default=None, description="IAM role of the control plane. Left out, one is made.")
    node_role_arn: str | None = Field(default=None, description="IAM role of the nodes. Left out, one is made.")
    subnet_ids: list[str] | None = Field(
        default=None,
        description="Existing subnets of the cluster, in at least two zones. Left out, a network is made.",
    )
    zone_subnet_ids: dict[str, str] | None = Field(
        default=None,
        description="Subnet of subnetIds in each zone, for pools that name zones, for example us-east-2a: subnet-0a1b2c3d.",
    )
    zones: list[str] | None = Field(
        default=None,
        description="Zones of the control plane in a network that is made, at least two. Left out, those of the pools.",
    )
    cidr_block: str | None = Field(
        default=None,
        description="Addresses of a network that is made, from /16 to /20. Each zone has an eighth of them by its letter. Default is 10.0.0.0/16.",
    )
    service_cidr_block: str | None = Field(
        default=None,
        description="Addresses of Services, for example 172.20.0.0/16. Left out, EKS chooses.",
    )
    private_nodes: bool | None = Field(
        default=None,
        description="Nodes in private subnets behind a NAT gateway, which costs by the hour and by the gigabyte. Nodes with several network interfaces (EFA) need it. Default is false.",
    )
    system_pool: SystemPool | None = None
    autoscaler: bool | None = Field(
        default=None,
        description="A cluster autoscaler runs on the cluster. Without one a pool has its number of nodes and does not grow. Default is false.",
    )
    storage_drivers: list[Literal["EBS", "EFS"]] | None = Field(
        default=None,
        description="Storage drivers to install. EBS gives a disk to one node; EFS is shared, and a file system is made with it.",
    )
    access: Literal["Token", "WebIdentity"] | None = Field(
        default=None,
        description="Way in which providers enter the cluster. Token is a kubeconfig that is renewed every five minutes. WebIdentity signs with the identity of the providers' pods, which must be the one that makes the cluster or among adminRoleArns; watches then live on. Default is Token.",
    )
    admin_role_arns: list[str] | None = Field(
        default=None,
        description="IAM roles that may administrate the cluster, beside the one that makes it.",
    )
    provider_config_ref: GkeProviderConfigRef | None = None


class Aks(Wire):
    """
    A cluster of Azure Kubernetes Service.
    """

    resource_group: str | None = Field(
        default=None,
        description="Existing resource group. Left out, one is made for the cluster, and is deleted with everything in it.",
    )
    location: str = Field(description="Location, for example westeurope.")
    kubernetes_version: str | None = Field(
        default=None,
        description="Kubernetes version, at least 1.34. A minor (1.35) is kept at its newest patch. A complete version (1.35.2) is kept by control plane and nodes, and excludes upgradeChannel.",
    )
    upgrade_channel: Literal["patch", "stable", "rapid"] | None = Field(
        default=None,
        description="Upgrade channel, which decides when the cluster is upgraded. Default is patch with a kubernetesVersion and stable without; stable and rapid choose the version themselves.",
    )
    subnet_id: str | None = Field(
        default=None,
        description="Resource ID of an existing subnet for the nodes. Left out, a virtual network is made for the cluster.",
    )
    identity_id: str | None = Field(
        default=None,
        description="Resource ID of an existing user-assigned identity for the control plane, which needs Network Contributor on the subnet. Left out, one is made and gets that role.",
    )
    network_cidr: str | None = Field(
        default=None, description="Addresses of a virtual network that is made. Default is 10.64.0.0/16."
    )
    node_cidr: str | None = Field(
        default=None,
        description="Addresses of nodes in a virtual network that is made. Default is 10.64.0.0/20.",
    )
    pod_cidr: str | None = Field(
        default=None,
        description="Addresses of pods, 256 for each node, on an overlay. Default is 10.128.0.0/14.",
    )
    service_cidr: str | None = Field(default=None, description="Addresses of Services. Default is 10.96.0.0/16.")
    tier: Literal["Free", "Standard", "Premium"] | None = Field(
        default=None, description="Tier of the control plane. Free has no promise of uptime. Default is Standard."
    )
    system_vm_size: str | None = Field(
        default=None,
        description="Size of the 1 to 3 nodes for controllers, without devices. Default is Standard_D8ds_v5.",
    )
    provider_config_ref: GkeProviderConfigRef | None = None


class Status(Wire):
    """
    The ledger of the cluster, and its admission of the replicas that name it.
    """

    gateway: StatusGateway | None = None
    mutual_tls: MutualTLS | None = Field(
        default=None,
        validation_alias="mutualTLS",
        serialization_alias="mutualTLS",
    )
    queue: Queue | None = None
    backends: list[Backend] | None = Field(
        default=None,
        description="The offered backends, as far as the API versions that the cluster serves were seen. The last known state is kept while the cluster cannot be read.",
    )
    provider_config_ref: ProviderConfigRef | None = None
    stack: StatusStack | None = None
    cloud: Cloud | None = None
    summary: Summary | None = None
    pools: list[Pool] | None = Field(
        default=None,
        description="Ledger by pool. The devices of a node are listed in the pool's class and not repeated here.",
    )
    admitted: list[str] | None = Field(
        default=None, description="Replicas admitted by this cluster as namespace/name, sorted."
    )
    admissions: list[Admission] | None = Field(
        default=None,
        description="Records of admissions. An admitted replica may run with the recorded spec. It is counted until the replica and its workload are gone. A later change of the replica needs a new admission. Replicas with equal specs share one entry.",
    )
    quotas: Quotas | None = None
    pending: list[Pending] | None = Field(
        default=None, description="Replicas that wait for admission, with the reason."
    )
    asked: list[Asked] | None = Field(
        default=None,
        description="The admitted replica that is asked to leave so that a refused one has room; its deployment offered to move it.",
    )
    recovering: list[str] | None = Field(
        default=None,
        description="The replica, as namespace/name, whose turn it is to move because the cluster keeps it down. Its deployment offered to move it. The next one gets its turn beside it where it has not moved after an hour.",
    )
    recovering_since: str | None = Field(
        default=None, description="The minute in which the last of recovering got its turn."
    )
    refused: list[Refused] | None = Field(
        default=None, description="Replicas that the cluster refuses, with the reason."
    )
    conditions: list[Condition] | None = Field(default=None, description="Conditions of the resource.")


class Cluster(Wire):
    """
    Source of the cluster.
    """

    source: Literal["Existing", "GKE", "EKS", "AKS"] = Field(
        description="Source of the cluster. Existing is a cluster that was created elsewhere. Every other source creates the cluster from the block of the same name.",
    )
    external_name: str | None = Field(
        default=None,
        description="Name of the cluster in the cloud. A cluster of that name that exists already is adopted: what its block says is then written to it. Default is the name of this InferenceCluster, shortened where the cloud needs it.",
    )
    deletion_policy: Literal["Delete", "Orphan"] | None = Field(
        default=None,
        description="Fate of a created cluster when this InferenceCluster is deleted. Orphan leaves everything in the cloud, where it goes on costing money. Default is Delete.",
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
    allowed_namespaces: AllowedNamespaces | None = None
    taints: list[Taint] | None = Field(
        default=None,
        description="Taints of the cluster, as in Kubernetes. NoSchedule keeps new replicas off the cluster. PreferNoSchedule avoids the cluster. NoExecute also moves running replicas away (a drain). A deployment can tolerate a taint.",
    )
    node_pools: list[NodePool] = Field(description="Homogeneous node pools.")
    backends: list[Literal["KServe", "LLMD", "Native", "VLLMStack", "Dynamo", "KAITO", "KubeRay", "*"]] | None = Field(
        default=None,
        description='Backends that may be rendered on the cluster, in order of preference. ["*"] offers all of them, in the order of the rules (BackendRules, then those that Modelplane ships). Default: ["KServe"].',
    )
    scheduler: Scheduler | None = None
    accounting: Literal["Device", "Node"] | None = Field(
        default=None,
        description="Unit of accounting. Device counts devices. Node charges whole nodes, so that no two pods share a node. Default: Device.",
    )
    stack: Stack | None = None
    gateway: Gateway | None = None
    storage: Storage | None = None
    observe: Observe | None = None
    monitoring: Monitoring | None = None
    crossplane: Crossplane | None = None


class InferenceCluster(Document):
    """
    InferenceCluster is one Kubernetes cluster of the fleet. It defines the access to the cluster, its node pools, and the backends that may be rendered on it. Its labels and taints decide which deployments may use it.
    """

    api_version: Literal["modelplane.ai/v1alpha1"] = "modelplane.ai/v1alpha1"
    kind: Literal["InferenceCluster"] = "InferenceCluster"
    metadata: ObjectMeta = Field(description="Name, namespace and labels.")
    spec: Spec
    status: Status | None = None
