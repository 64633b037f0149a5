# Generated from apis/modeldeployments/definition.yaml by schemas/generate.py; do not edit.

from __future__ import annotations

from pydantic import Field
from modelplane_schemas.wire import Document, ObjectMeta, Wire
from typing import Any, Literal


class Model(Wire):
    """
    The model. Without it, the engine's own arguments define the model.
    """

    name: str | None = Field(
        default=None,
        description="Name of the model in requests of clients. Default is the name of the ModelDeployment.",
    )
    uri: str | None = Field(
        default=None,
        description="Location of the weights: hf://organisation/repository[@revision], s3://bucket/path, gs://bucket/path, oci://registry/repository:tag or pvc://claim/path.",
    )


class Engine(Wire):
    """
    The inference engine inside the image.
    """

    type: Literal["vllm", "sglang", "trtllm", "llamacpp", "custom"] | None = Field(
        default=None,
        description="Name of the engine. For a known engine, missing flags that follow from model and topology are added. custom is opaque: nothing is added and nothing is read. Default is derived from the image, else custom.",
    )


class Toleration(Wire):
    key: str | None = Field(default=None, description="Key of the taint. Empty with operator Exists means every taint.")
    operator: Literal["Equal", "Exists"] | None = Field(
        default=None, description="Operator that compares key and value. Default: Equal."
    )
    value: str | None = Field(default=None, description="Value of the taint for operator Equal.")
    effect: Literal["NoSchedule", "NoExecute", "PreferNoSchedule"] | None = Field(
        default=None, description="Effect of the taint. Omitted means every effect."
    )


class ModelCacheRef(Wire):
    """
    A ModelCache of the same namespace that holds the weights. They are mounted read-only at /mnt/models, and the engine loads them from there.
    """

    name: str = Field(description="Name of the ModelCache.")


class Override(Wire):
    backend: Literal["KServe", "LLMD", "Native", "VLLMStack", "Dynamo", "KAITO", "KubeRay"] = Field(
        description="The backend whose workload objects are patched."
    )
    patch: dict[str, Any] = Field(
        description="Part of the workload object, from its root, for example {spec: {progressDeadlineSeconds: 3600}}. Members are merged into the rendered object, and lists and values replace those that are there.",
    )


class Move(Wire):
    replica: str | None = Field(default=None, description="The replica to move or rewrite.")
    cluster: str | None = Field(default=None, description="The cluster of the replica.")
    successor: str | None = Field(default=None, description="The successor of the replica. Absent until it exists.")
    message: str | None = Field(default=None, description="The reason for the move, and the event that it waits for.")


class StatusScaling(Wire):
    """
    The composed scaler, with spec.scaling. The condition ScalerReady says more.
    """

    scaler: str | None = Field(default=None, description="KEDA or HPA.")
    min: int | None = Field(default=None, description="Least number of replicas under load.")
    max: int | None = Field(default=None, description="Greatest number of replicas.")


class Condition(Wire):
    last_transition_time: str
    message: str | None = None
    reason: str
    status: str
    type: str
    observed_generation: int | None = None


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


class MatchExpression(Wire):
    key: str = Field(description="The label's key.")
    operator: Literal["In", "NotIn", "Exists", "DoesNotExist"] = Field(description="Operator that compares the label.")
    values: list[str] | None = Field(default=None, description="Values for In and NotIn.")


class Spread(Wire):
    topology_key: str = Field(
        description="Label of InferenceCluster that forms the groups, for example modelplane.ai/region.",
    )
    max_skew: int | None = Field(
        default=None, description="Maximum difference between the replicas of any two groups. Default: 1."
    )


class Scorer(Wire):
    type: Literal[
        "prefix-cache-scorer",
        "queue-scorer",
        "kv-cache-utilization-scorer",
        "load-aware-scorer",
        "active-request-scorer",
        "lora-affinity-scorer",
    ] = Field(
        description="Plugin of the picker. prefix-cache-scorer and active-request-scorer count what the picker has sent. The others read metrics that vLLM and SGLang publish.",
    )
    weight: int | None = Field(default=None, description="Weight of the score. Default: 1.")


class Constraint(Wire):
    match_attribute: str | None = Field(
        default=None,
        description="Fully qualified attribute that must have the same value on all devices, for example resource.kubernetes.io/pcieRoot.",
    )
    distinct_attribute: str | None = Field(
        default=None,
        description="Fully qualified attribute that must have another value on every device. Needs Kubernetes 1.36 on the cluster.",
    )
    requests: list[str] | None = Field(
        default=None,
        description="Names of the related requests, or request/alternative for one alternative of firstAvailable. Empty means all.",
    )


class Topology(Wire):
    """
    Parallelism of one worker. It needs pipeline x (data / dataLocal) nodes with tensor x dataLocal devices each. Default: {"tensor": 1, "pipeline": 1, "data": 1, "dataLocal": 1, "expert": false}.
    """

    tensor: int | None = Field(
        default=None,
        description="Number of devices on one node over which each layer is split (tensor parallelism). Default: 1.",
    )
    pipeline: int | None = Field(
        default=None,
        description="Number of nodes over which the layers are distributed (pipeline parallelism). Default: 1.",
    )
    data: int | None = Field(
        default=None,
        description="Number of engine copies that share the requests of one worker (data parallelism). Default: 1.",
    )
    data_local: int | None = Field(
        default=None,
        description="Number of data copies on one node. data must be a multiple of it. Default: 1.",
    )
    expert: bool | None = Field(
        default=None,
        description="Distribute the experts of a mixture-of-experts model over the data copies. Default: false.",
    )


class CompositionRef(Wire):
    name: str


class CompositionSelector(Wire):
    match_labels: dict[str, str]


class ResourceRef(Wire):
    api_version: str
    kind: str
    name: str | None = None


class Role(Wire):
    role: str = Field(description="Role of the pool, decode or prefill.")
    pool: str | None = Field(default=None, description="Node pool of the cluster.")
    nodes: int | None = Field(default=None, description="Nodes of all workers of the role.")
    devices: int | None = Field(default=None, description="Devices of all workers of the role.")


class Reason(Wire):
    reason: str | None = Field(default=None, description="Stable code of the refusal.")
    count: int | None = Field(default=None, description="Number of clusters refused for this reason.")
    detail: str | None = Field(default=None, description="The missing capacity or capability.")
    clusters: list[str] | None = Field(default=None, description="Up to five of these clusters.")


class Closest(Wire):
    """
    The cluster that comes closest to a fit.
    """

    cluster: str | None = Field(default=None, description="The cluster.")
    pool: str | None = Field(default=None, description="The pool.")
    misses: list[str] | None = Field(default=None, description="The missing capacity or capability.")
    would_fit_if: str | None = Field(default=None, description="A verified change that would make the replica fit.")


class Selector(Wire):
    cel: str = Field(description="CEL expression as in nodeSelector.cel.")


class DeviceToleration(Wire):
    key: str | None = Field(default=None, description="Key of the taint. Empty with operator Exists means every taint.")
    operator: Literal["Equal", "Exists"] | None = Field(
        default=None, description="Comparison of key and value. Default: Equal."
    )
    value: str | None = Field(default=None, description="Value of the taint for operator Equal.")
    effect: Literal["NoSchedule", "NoExecute"] | None = Field(
        default=None, description="Effect of the taint. Left out means every effect."
    )


class Capacity(Wire):
    """
    Capacity that each device must have, as in a ResourceClaim. Needs Kubernetes 1.36 on the cluster.
    """

    requests: dict[str, int | str] = Field(
        description="Amounts by the very name that the device publishes (memory where the driver publishes memory, never gpu.nvidia.com/memory).",
    )


class FirstAvailable(Wire):
    name: str = Field(description="Name of the alternative, for example h100.")
    count: int | None = Field(default=None, description="Devices per pod. Default as for the request.")
    selectors: list[Selector] | None = Field(default=None, description="Expressions that a device must all satisfy.")
    allocation_mode: Literal["ExactCount", "All"] | None = Field(
        default=None,
        description="ExactCount (the default) asks for count devices. All asks for every device of a node that matches; the pod then waits for a node on which none of them is in use, and is counted as all of them.",
    )
    admin_access: bool | None = Field(
        default=None, description="Not offered. It would let a pod use devices that others hold."
    )
    tolerations: list[DeviceToleration] | None = Field(
        default=None,
        description="Taints of devices that the request accepts, as in a ResourceClaim. Without them a tainted device (NoSchedule or NoExecute) does not serve.",
    )
    capacity: Capacity | None = None


class Metadata(Wire):
    """
    Labels and annotations for the pods. The labels are also set on the ModelEndpoint of the replica.
    """

    labels: dict[str, str] | None = Field(default=None, description="Labels. The prefix modelplane.ai/ is reserved.")
    annotations: dict[str, str] | None = Field(
        default=None, description="Annotations. The prefix modelplane.ai/ is reserved."
    )


class ImagePullSecret(Wire):
    name: str = Field(description="Name of the Secret.")


class Resources(Wire):
    """
    CPU, memory and other node resources of the container. Devices are requested in nodeSelector and not repeated here.
    """

    requests: dict[str, int | str] | None = Field(
        default=None, description="Amounts of cpu, memory, ephemeral-storage and hugepages-<size>."
    )
    limits: dict[str, int | str] | None = Field(
        default=None, description="Amounts of cpu, memory, ephemeral-storage and hugepages-<size>."
    )


class Port(Wire):
    name: str | None = Field(default=None, description="Name of the port. The port that serves the API is named http.")
    container_port: int = Field(description="Port number.")
    protocol: Literal["TCP", "UDP", "SCTP"] | None = Field(default=None, description="Protocol. Default: TCP.")


class VolumeMount(Wire):
    name: str = Field(description="Name of the volume.")
    mount_path: str = Field(description="Path inside the container.")
    sub_path: str | None = Field(default=None, description="Path inside the volume.")
    read_only: bool | None = Field(default=None, description="Mount the volume read only.")


class EmptyDir(Wire):
    """
    An empty directory that lives as long as the pod.
    """

    medium: Literal["", "Memory"] | None = Field(
        default=None, description="Storage medium. Memory makes it a RAM disk."
    )
    size_limit: int | str | None = Field(
        default=None, description="A Kubernetes quantity, for example 16, 500m or 64Gi."
    )


class PersistentVolumeClaim(Wire):
    """
    A PersistentVolumeClaim of the replica's namespace on the cluster.
    """

    claim_name: str = Field(description="Name of the claim.")
    read_only: bool | None = Field(default=None, description="Mount the volume read only.")


class Image(Wire):
    """
    The content of an OCI image or artefact, read only.
    """

    reference: str = Field(description="The image.")
    pull_policy: Literal["Always", "IfNotPresent", "Never"] | None = Field(
        default=None, description="Pull policy of the image."
    )


class SeccompProfile(Wire):
    """
    Seccomp profile.
    """

    type: Literal["RuntimeDefault"] = Field(
        description="Type of the profile. RuntimeDefault is the default profile of the container runtime."
    )


class ConfigMapRef(Wire):
    """
    Name of the object.
    """

    name: str = Field(description="Name of the object.")
    optional: bool | None = Field(default=None, description="Ignore a missing object or key.")


class TcpSocket(Wire):
    """
    A TCP connection that must open.
    """

    port: int | str = Field(description="Number or name of the port.")


class Exec(Wire):
    """
    A program that must exit with 0.
    """

    command: list[str] | None = Field(default=None, description="Program and arguments. No shell is involved.")


class Grpc(Wire):
    """
    A gRPC health check.
    """

    port: int = Field(description="Port number.")
    service: str | None = Field(default=None, description="Service name in the check.")


class Capabilities(Wire):
    """
    Linux capabilities.
    """

    add: (
        list[
            Literal[
                "AUDIT_WRITE",
                "CHOWN",
                "DAC_OVERRIDE",
                "FOWNER",
                "FSETID",
                "IPC_LOCK",
                "KILL",
                "MKNOD",
                "NET_BIND_SERVICE",
                "SETFCAP",
                "SETGID",
                "SETPCAP",
                "SETUID",
                "SYS_CHROOT",
                "SYS_NICE",
            ]
        ]
        | None
    ) = Field(default=None, description="Capabilities to add. RDMA needs IPC_LOCK.")
    drop: list[str] | None = Field(default=None, description="Capabilities to drop, or ALL.")


class Item(Wire):
    key: str = Field(description="Name of the key.")
    path: str = Field(description="Path of the file.")
    mode: int | None = Field(default=None, description="File mode, 0 to 511 (octal 0777).")


class NodePublishSecretRef(Wire):
    """
    Secret for the driver.
    """

    name: str = Field(description="Name of the Secret.")


class SecretKeyRef(Wire):
    """
    A key of a Secret or ConfigMap in the replica's namespace on the cluster.
    """

    name: str = Field(description="Name of the object.")
    key: str = Field(description="Key inside the object.")
    optional: bool | None = Field(default=None, description="Ignore a missing object or key.")


class FieldRef(Wire):
    """
    A field of the pod, for example status.podIP.
    """

    field_path: str = Field(description="Path of the field.")


class ResourceFieldRef(Wire):
    """
    A resource amount of a container.
    """

    container_name: str | None = Field(default=None, description="Name of the container. Default is this container.")
    resource: str = Field(description="Name of the resource, for example limits.memory.")
    divisor: int | str | None = Field(default=None, description="A Kubernetes quantity, for example 16, 500m or 64Gi.")


class HttpHeader(Wire):
    name: str = Field(description="Name of the header.")
    value: str = Field(description="Value of the header.")


class Sleep(Wire):
    """
    Wait before the next step.
    """

    seconds: int = Field(description="Seconds to wait.")


class SourceConfigMap(Wire):
    """
    Keys of an object as files.
    """

    name: str = Field(description="Name of the object.")
    items: list[Item] | None = Field(default=None, description="Keys to mount, with their paths. Default is all keys.")
    optional: bool | None = Field(default=None, description="Ignore a missing object or key.")


class ServiceAccountToken(Wire):
    """
    A token of the pod's service account.
    """

    path: str = Field(description="Path of the file.")
    audience: str | None = Field(default=None, description="Intended audience of the token.")
    expiration_seconds: int | None = Field(default=None, description="Lifetime of the token in seconds.")


class DownwardAPIItem(Wire):
    path: str = Field(description="Path of the file.")
    field_ref: FieldRef | None = None
    resource_field_ref: ResourceFieldRef | None = None
    mode: int | None = Field(default=None, description="File mode, 0 to 511 (octal 0777).")


class VolumeClaimTemplateSpecResources(Wire):
    """
    Requested storage.
    """

    requests: dict[str, int | str] = Field(description="Amounts by resource name. A volume requests storage.")


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


class ClusterSelector(Wire):
    """
    InferenceClusters that may hold replicas, by their labels. Empty means all clusters.
    """

    match_labels: dict[str, str] | None = Field(
        default=None, description="Labels that must all be present with exactly this value."
    )
    match_expressions: list[MatchExpression] | None = Field(
        default=None, description="Label requirements that must all be met."
    )


class Placement(Wire):
    """
    Distribution of replicas over the clusters that fit.
    """

    strategy: Literal["Spread", "Pack"] | None = Field(
        default=None,
        description="Spread prefers clusters with the fewest replicas of this deployment. Pack prefers those with the most. Default: Spread.",
    )
    spread: list[Spread] | None = Field(
        default=None, description="Limits on the uneven distribution of replicas over groups of clusters."
    )
    max_replicas_per_cluster: int | None = Field(
        default=None,
        description="Maximum number of replicas of this deployment on one cluster. 0 means no limit. Default: 0.",
    )
    rebalance: Literal["Never", "Allowed"] | None = Field(
        default=None,
        description="Allowed lets running replicas move so that a replica of any deployment, which a cluster refuses, has room: one at a time, only where a successor has a place elsewhere under this deployment's own rules, and only after that successor is ready. A replica of this deployment for which no cluster has room is then proposed to one all the same, and waits there for others to make room. Never moves nothing and asks for nothing. Default: Never.",
    )
    recovery: str | None = Field(
        default=None,
        description="Time, for example 30m or 2h, after which a replica moves that its cluster keeps down: its node is not ready, a device is tainted, its pods find no node any more, or the queue has preempted it. A successor on another cluster serves first, and one replica of a cluster moves at a time. Where a third of the fleet or of the replicas has failed, nothing moves. Left out, nothing moves for failures.",
    )


class EndpointPicker(Wire):
    """
    The choice of a worker for each request, with a backend that has an endpoint picker (KServe, LLMD). It has no effect on a replica with a single worker. Defaults are chosen for the engine and its roles. KServe has a picker for workers of one role only where this is set; {} takes the defaults.
    """

    scorers: list[Scorer] | None = Field(
        default=None, description="Scorers of the workers, each with its weight. The list replaces the default."
    )
    picker: Literal["max-score-picker", "weighted-random-picker", "random-picker"] | None = Field(
        default=None, description="Plugin that takes one worker by the scores. Default is max-score-picker."
    )
    uncached_tokens: int | None = Field(
        default=None,
        description="With prefill and vLLM, the number of prompt tokens that the decode worker does not have cached from which on a prefill worker is asked. Default is 16.",
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


class StatusPlacement(Wire):
    replica: str = Field(description="Name of the ModelReplica.")
    cluster: str | None = Field(default=None, description="The InferenceCluster it is placed on.")
    ready: bool | None = Field(default=None, description="True when the replica serves.")
    admitted: bool | None = Field(default=None, description="True when the cluster has admitted the replica.")
    roles: list[Role] | None = Field(default=None, description="Pools of the replica by role.")


class Unschedulable(Wire):
    """
    The reason why desired replicas have no placement. Absent when all have one.
    """

    message: str | None = Field(default=None, description="The whole explanation in one sentence.")
    reasons: list[Reason] | None = Field(
        default=None, description="Refusals counted by reason, the most frequent first."
    )
    closest: Closest | None = None


class Device(Wire):
    name: str = Field(description="Name of the request, for example gpu.")
    count: int | None = Field(
        default=None,
        description="Devices per pod. Default for the first request is the topology's devices per node (tensor x dataLocal). Default for every other request is 1.",
    )
    selectors: list[Selector] | None = Field(
        default=None, description="CEL expressions. A device must satisfy all of them."
    )
    allocation_mode: Literal["ExactCount", "All"] | None = Field(
        default=None,
        description="ExactCount (the default) asks for count devices. All asks for every device of a node that matches; the pod then waits for a node on which none of them is in use, and is counted as all of them.",
    )
    admin_access: bool | None = Field(
        default=None, description="Not offered. It would let a pod use devices that others hold."
    )
    tolerations: list[DeviceToleration] | None = Field(
        default=None,
        description="Taints of devices that the request accepts, as in a ResourceClaim. Without them a tainted device (NoSchedule or NoExecute) does not serve.",
    )
    capacity: Capacity | None = None
    first_available: list[FirstAvailable] | None = Field(
        default=None,
        description="Alternatives, the most wanted first, of which one serves the request. The first that some cluster can serve is taken, and the claim on the cluster asks for that one alone, so that what is counted is what is allocated.",
    )


class SecurityContext(Wire):
    """
    Security settings of all containers of the pod.
    """

    run_as_user: int | None = Field(default=None, description="Numeric ID.")
    run_as_group: int | None = Field(default=None, description="Numeric ID.")
    run_as_non_root: bool | None = Field(default=None, description="Refuse to start as root.")
    fs_group: int | None = Field(default=None, description="Numeric ID.")
    fs_group_change_policy: Literal["Always", "OnRootMismatch"] | None = Field(
        default=None, description="Policy for changing the ownership of volumes."
    )
    supplemental_groups: list[int] | None = Field(default=None, description="Supplemental groups.")
    seccomp_profile: SeccompProfile | None = None


class EnvFrom(Wire):
    prefix: str | None = Field(default=None, description="Prefix for every key.")
    config_map_ref: ConfigMapRef | None = None
    secret_ref: ConfigMapRef | None = None


class ContainerSecurityContext(Wire):
    """
    Security settings of the container. Privileged containers are not supported.
    """

    run_as_user: int | None = Field(default=None, description="Numeric ID.")
    run_as_group: int | None = Field(default=None, description="Numeric ID.")
    run_as_non_root: bool | None = Field(default=None, description="Refuse to start as root.")
    read_only_root_filesystem: bool | None = Field(default=None, description="Mount the root file system read only.")
    allow_privilege_escalation: bool | None = Field(
        default=None, description="Allow a process to gain more rights than its parent."
    )
    capabilities: Capabilities | None = None
    seccomp_profile: SeccompProfile | None = None


class ConfigMap(Wire):
    """
    The keys of a ConfigMap as files.
    """

    name: str = Field(description="Name of the ConfigMap.")
    items: list[Item] | None = Field(default=None, description="Keys to mount, with their paths. Default is all keys.")
    default_mode: int | None = Field(default=None, description="File mode, 0 to 511 (octal 0777).")
    optional: bool | None = Field(default=None, description="Ignore a missing object or key.")


class Secret(Wire):
    """
    The keys of a Secret as files.
    """

    secret_name: str = Field(description="Name of the Secret.")
    items: list[Item] | None = Field(default=None, description="Keys to mount, with their paths. Default is all keys.")
    default_mode: int | None = Field(default=None, description="File mode, 0 to 511 (octal 0777).")
    optional: bool | None = Field(default=None, description="Ignore a missing object or key.")


class Csi(Wire):
    """
    A volume that a CSI driver creates for the pod.
    """

    driver: str = Field(description="Name of the driver.")
    read_only: bool | None = Field(default=None, description="Mount the volume read only.")
    fs_type: str | None = Field(default=None, description="Type of the file system.")
    volume_attributes: dict[str, str] | None = Field(default=None, description="Settings for the driver.")
    node_publish_secret_ref: NodePublishSecretRef | None = None


class ValueFrom(Wire):
    """
    Source of the value on the cluster.
    """

    secret_key_ref: SecretKeyRef | None = None
    config_map_key_ref: SecretKeyRef | None = None
    field_ref: FieldRef | None = None
    resource_field_ref: ResourceFieldRef | None = None


class HttpGet(Wire):
    """
    An HTTP request that must be answered with a status from 200 to 399.
    """

    path: str | None = Field(default=None, description="Path of the request.")
    port: int | str = Field(description="Number or name of the port.")
    scheme: Literal["HTTP", "HTTPS"] | None = Field(default=None, description="Scheme of the request. Default is HTTP.")
    http_headers: list[HttpHeader] | None = Field(default=None, description="Headers to send.")


class PostStart(Wire):
    """
    One action.
    """

    exec: Exec | None = None
    http_get: HttpGet | None = None
    sleep: Sleep | None = None


class DownwardAPI(Wire):
    """
    Fields of the pod as files.
    """

    items: list[DownwardAPIItem] | None = Field(default=None, description="The files.")


class VolumeClaimTemplateSpec(Wire):
    """
    Spec of the claim.
    """

    access_modes: list[Literal["ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod"]] = Field(
        description="Access modes of the volume."
    )
    storage_class_name: str | None = Field(
        default=None, description="Storage class. Default is the cluster's default class."
    )
    volume_mode: Literal["Filesystem", "Block"] | None = Field(
        default=None, description="Mode of the volume. Default is Filesystem."
    )
    resources: VolumeClaimTemplateSpecResources


class Status(Wire):
    """
    Placement of the replicas, and the reason for missing ones.
    """

    replicas: int | None = Field(default=None, description="Replicas that hold a placement, ready or not.")
    ready_replicas: int | None = Field(default=None, description="Replicas that serve.")
    unscheduled_replicas: int | None = Field(default=None, description="Desired replicas without a placement.")
    updated_replicas: int | None = Field(
        default=None, description="Replicas that hold a placement and match the current spec."
    )
    moves: list[Move] | None = Field(
        default=None,
        description="Replicas that must move or be rewritten, one at a time, with the event that each waits for.",
    )
    scaling: StatusScaling | None = None
    selector: str | None = Field(
        default=None, description="Label selector for the scale subresource. It matches no pod of the control plane."
    )
    backend: str | None = Field(default=None, description="The selected backend. It does not change afterwards.")
    clusters: str | None = Field(
        default=None, description="Clusters that hold replicas, sorted and separated by commas."
    )
    placements: list[StatusPlacement] | None = Field(
        default=None, description="One entry per placed replica, sorted by name."
    )
    unschedulable: Unschedulable | None = None
    conditions: list[Condition] | None = Field(default=None, description="Conditions of the resource.")


class NodeSelector(Wire):
    """
    The devices that one pod needs. Write cel, one expression for the devices that the topology counts, or devices, the long form with one entry for each kind of device.
    """

    cel: str | None = Field(
        default=None,
        description='CEL expression over device.driver, device.attributes["domain"].name and device.capacity["domain"].name, exactly as in a Kubernetes ResourceClaim, for example device.capacity["gpu.nvidia.com"].memory.compareTo(quantity("70Gi")) >= 0.',
    )
    devices: list[Device] | None = Field(
        default=None, description="Device requests of ONE pod. The topology counts the devices of the first request."
    )
    constraints: list[Constraint] | None = Field(default=None, description="Relations between the devices of one pod.")


class Env(Wire):
    name: str = Field(description="Name of the variable.")
    value: str | None = Field(default=None, description="Value of the variable.")
    value_from: ValueFrom | None = None


class StartupProbe(Wire):
    """
    Probe of the container. Defaults are described in the documentation.
    """

    http_get: HttpGet | None = None
    tcp_socket: TcpSocket | None = None
    exec: Exec | None = None
    grpc: Grpc | None = None
    initial_delay_seconds: int | None = Field(default=None, description="Seconds before the first probe.")
    period_seconds: int | None = Field(default=None, description="Seconds between probes.")
    timeout_seconds: int | None = Field(default=None, description="Timeout of one probe in seconds.")
    success_threshold: int | None = Field(
        default=None, description="Consecutive successes after which the probe counts as successful."
    )
    failure_threshold: int | None = Field(
        default=None, description="Consecutive failures after which the probe counts as failed."
    )
    termination_grace_period_seconds: int | None = Field(
        default=None,
        description="Termination grace period in seconds after a failed probe.",
    )


class Lifecycle(Wire):
    """
    Actions after the start and before the stop of the container.
    """

    post_start: PostStart | None = None
    pre_stop: PostStart | None = None


class Source(Wire):
    config_map: SourceConfigMap | None = None
    secret: SourceConfigMap | None = None
    downward_api: DownwardAPI | None = Field(
        default=None,
        validation_alias="downwardAPI",
        serialization_alias="downwardAPI",
    )
    service_account_token: ServiceAccountToken | None = None


class VolumeClaimTemplate(Wire):
    """
    Template of the claim.
    """

    spec: VolumeClaimTemplateSpec


class Container(Wire):
    name: str = Field(description="Name of the container. The container that runs the model is named engine.")
    image: str = Field(description="Image of the container, with a tag or a digest.")
    image_pull_policy: Literal["Always", "IfNotPresent", "Never"] | None = Field(
        default=None, description="Pull policy of the image. Default as in Kubernetes, by the tag."
    )
    command: list[str] | None = Field(
        default=None,
        description="Program that replaces the image's entry point. Each entry is one argument. No shell is involved.",
    )
    args: list[str] | None = Field(
        default=None, description="Arguments. Each entry is one argument. No shell is involved."
    )
    working_dir: str | None = Field(default=None, description="Working directory of the program.")
    env: list[Env] | None = Field(
        default=None, description="Environment variables. Names that start with MODELPLANE_ are reserved."
    )
    env_from: list[EnvFrom] | None = Field(
        default=None,
        description="Objects in the replica's namespace on the cluster whose keys become environment variables.",
    )
    resources: Resources | None = None
    ports: list[Port] | None = Field(
        default=None, description="Ports of the container. The engine's default is port 8000 with the name http."
    )
    volume_mounts: list[VolumeMount] | None = Field(
        default=None, description="Mounts of the pod's volumes in the container."
    )
    startup_probe: StartupProbe | None = None
    liveness_probe: StartupProbe | None = None
    readiness_probe: StartupProbe | None = None
    lifecycle: Lifecycle | None = None
    security_context: ContainerSecurityContext | None = None


class Projected(Wire):
    """
    Several sources in one directory.
    """

    default_mode: int | None = Field(default=None, description="File mode, 0 to 511 (octal 0777).")
    sources: list[Source] | None = Field(default=None, description="The sources.")


class Ephemeral(Wire):
    """
    A PersistentVolumeClaim that is created for the pod and deleted with it.
    """

    volume_claim_template: VolumeClaimTemplate


class Volume(Wire):
    name: str = Field(description="Name of the volume.")
    empty_dir: EmptyDir | None = None
    config_map: ConfigMap | None = None
    secret: Secret | None = None
    persistent_volume_claim: PersistentVolumeClaim | None = None
    projected: Projected | None = None
    ephemeral: Ephemeral | None = None
    csi: Csi | None = None
    image: Image | None = None


class TemplateSpec(Wire):
    """
    Containers and volumes of the pod. Node selection, claims and affinity are derived and cannot be set here.
    """

    containers: list[Container] = Field(
        description="The container named engine runs the model. Every other container is a sidecar."
    )
    image_pull_secrets: list[ImagePullSecret] | None = Field(
        default=None,
        description="Secrets for pulling images, in the replica's namespace on the cluster.",
    )
    volumes: list[Volume] | None = Field(
        default=None, description="Volumes of the pod. Volumes of the node itself (hostPath) are not supported."
    )
    service_account_name: str | None = Field(
        default=None, description="Service account of the replica's namespace on the cluster."
    )
    termination_grace_period_seconds: int | None = Field(
        default=None,
        description="Seconds for a pod to finish its streams when it is stopped.",
    )
    security_context: SecurityContext | None = None


class Template(Wire):
    """
    Template of the pod on each node of a worker. It is a subset of PodTemplateSpec.
    """

    metadata: Metadata | None = None
    spec: TemplateSpec


class Workers(Wire):
    """
    The workers of one replica.
    """

    count: int | None = Field(
        default=None,
        description="Number of workers per replica. A worker is one complete engine, which can span several nodes. Default: 1.",
    )
    topology: Topology | None = None
    template: Template


class Prefill(Wire):
    """
    Workers of the prefill role. Their presence means disaggregated serving: these workers process prompts, and those of spec.workers generate. The block is self-contained and inherits nothing.
    """

    node_selector: NodeSelector
    workers: Workers


class Spec(Wire):
    """
    The model, the hardware of one replica, and the number of replicas.
    """

    replicas: int | None = Field(
        default=None,
        description="Desired number of replicas. A replica consists of all workers of all roles, on one cluster. kubectl scale, HPA and KEDA write this field through the scale subresource. Omit it from files that GitOps applies in that case. Default: 1.",
    )
    scaling: Scaling | None = None
    model: Model | None = None
    engine: Engine | None = None
    cluster_selector: ClusterSelector | None = None
    tolerations: list[Toleration] | None = Field(
        default=None,
        description="Taints of InferenceClusters that this deployment tolerates, as in Kubernetes. Without a toleration, a NoSchedule or NoExecute taint keeps replicas off the cluster, and NoExecute moves running replicas away.",
    )
    placement: Placement | None = None
    priority: int | None = Field(
        default=None,
        description="Priority of the replicas when capacity is short. Replicas with a higher priority are admitted first. Running replicas are never displaced. Default: 0.",
    )
    backend: Literal["KServe", "LLMD", "Native", "VLLMStack", "Dynamo", "KAITO", "KubeRay"] | None = Field(
        default=None,
        description="Backend of the replicas. If omitted, it is selected from the backends that the clusters offer and the features that the deployment needs. It does not change afterwards.",
    )
    model_cache_ref: ModelCacheRef | None = None
    endpoint_picker: EndpointPicker | None = None
    overrides: list[Override] | None = Field(
        default=None,
        description="Fields of the rendered workload that nothing else in this API sets, one entry per backend. Only the entry of the backend in use has an effect. A backend lists the fields that may be written, and every other one is refused. A change restarts pods.",
    )
    node_selector: NodeSelector
    workers: Workers
    prefill: Prefill | None = None
    crossplane: Crossplane | None = None


class ModelDeployment(Document):
    """
    ModelDeployment defines the model to run, the hardware that one replica needs, and the number of replicas. It never names a cluster. The fleet's scheduler places each replica on a cluster that fits.
    """

    api_version: Literal["modelplane.ai/v1alpha1"] = "modelplane.ai/v1alpha1"
    kind: Literal["ModelDeployment"] = "ModelDeployment"
    metadata: ObjectMeta = Field(description="Name, namespace and labels.")
    spec: Spec
    status: Status | None = None
