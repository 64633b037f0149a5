# Generated from apis/modelreplicas/definition.yaml by schemas/generate.py; do not edit.

from __future__ import annotations

from pydantic import Field
from modelplane_schemas.wire import Document, ObjectMeta, Wire
from typing import Any, Literal


class DeploymentRef(Wire):
    """
    The ModelDeployment of the same namespace that the replica belongs to.
    """

    name: str = Field(description="Name of the ModelDeployment.")


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


class Down(Wire):
    """
    Outage of a replica that served before. Absent while it serves, and empty while it is not known whether it does. What was known stays while it cannot be seen.
    """

    since: str | None = Field(default=None, description="The minute in which it was seen to serve no more.")
    cause: Literal["NodeLost", "DeviceTainted", "Preempted", "Unschedulable"] | None = Field(
        default=None,
        description="Cause in its cluster, absent where none is known. NodeLost means that a node is not ready, DeviceTainted that a device is tainted or not healthy, Preempted that the queue took its place, Unschedulable that its pods find no node.",
    )


class Rendered(Wire):
    """
    Digests of the objects that the running pods were made from. An Object with another digest was edited and is restored.
    """

    from_: str | None = Field(
        default=None,
        validation_alias="from",
        serialization_alias="from",
        description="Digest of the replica that it was rendered from.",
    )
    objects: dict[str, str] | None = Field(default=None, description="Digest of each rendered object by its key.")


class Applied(Wire):
    object: str = Field(description="Key of the object.")
    source: int | None = Field(default=None, description="Generation of its Object.")
    generation: int | None = Field(default=None, description="Generation of the object on the cluster.")
    uid: str | None = Field(default=None, description="Identity of the object on the cluster.")
    time: str | None = Field(default=None, description="Time at which the provider last wrote it.")
    reverts: list[str] | None = Field(
        default=None, description="Last times at which a change by another client was put back."
    )


class Address(Wire):
    """
    Address of the replica for the control plane's gateway.
    """

    host: str | None = Field(
        default=None, description="Internal host name that identifies the replica at its cluster's gateway."
    )
    address: str | None = Field(default=None, description="Address of the cluster's gateway.")
    port: int | None = Field(default=None, description="Port of the cluster's gateway.")
    server_name: str | None = Field(
        default=None,
        description="Host name in the certificate of the gateway, where it asks for client certificates.",
    )
    authorities: str | None = Field(default=None, description="Certificates, in PEM, of the authorities that sign it.")
    scheme: Literal["http", "https"] | None = Field(default=None, description="http or https.")


class Condition(Wire):
    last_transition_time: str
    message: str | None = None
    reason: str
    status: str
    type: str
    observed_generation: int | None = None


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


class Selector(Wire):
    cel: str = Field(description="CEL expression.")


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


class Decode(Wire):
    """
    Workers of one role.
    """

    desired: int | None = Field(default=None, description="Desired workers.")
    ready: int | None = Field(default=None, description="Ready workers.")


class NodeSelectorDeviceSelector(Wire):
    cel: str = Field(description="CEL expression as in nodeSelector.cel.")


class Toleration(Wire):
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
    selectors: list[NodeSelectorDeviceSelector] | None = Field(
        default=None, description="Expressions that a device must all satisfy."
    )
    allocation_mode: Literal["ExactCount", "All"] | None = Field(
        default=None,
        description="ExactCount (the default) asks for count devices. All asks for every device of a node that matches; the pod then waits for a node on which none of them is in use, and is counted as all of them.",
    )
    admin_access: bool | None = Field(
        default=None, description="Not offered. It would let a pod use devices that others hold."
    )
    tolerations: list[Toleration] | None = Field(
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


class Device(Wire):
    name: str = Field(
        description="Name of the request. Several kinds of device may serve one request; each is an entry."
    )
    alternative: str | None = Field(
        default=None, description="The alternative of firstAvailable that serves the request."
    )
    device: str = Field(description="Name of the device in the InferenceClass.")
    driver: str | None = Field(default=None, description="DRA driver of the device.")
    claim: Literal["DRA", "DevicePlugin", "Synthetic"] = Field(description="The way a pod gets the device.")
    device_class_name: str | None = Field(default=None, description="DeviceClass on the cluster for DRA.")
    resource_name: str | None = Field(default=None, description="Extended resource for DevicePlugin.")
    count: int = Field(description="Devices per pod.")
    consumes: dict[str, str] | None = Field(
        default=None, description="Capacity that a pod takes of each device, if pods share it."
    )
    memory: int | str | None = Field(default=None, description="Memory of one device as its class publishes it.")
    selectors: list[Selector] | None = Field(default=None, description="The author's expressions, verbatim.")


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


class StatusWorkers(Wire):
    """
    Workers by role.
    """

    decode: Decode | None = None
    prefill: Decode | None = None


class NodeSelectorDevice(Wire):
    name: str = Field(description="Name of the request, for example gpu.")
    count: int | None = Field(
        default=None,
        description="Devices per pod. Default for the first request is the topology's devices per node (tensor x dataLocal). Default for every other request is 1.",
    )
    selectors: list[NodeSelectorDeviceSelector] | None = Field(
        default=None, description="CEL expressions. A device must satisfy all of them."
    )
    allocation_mode: Literal["ExactCount", "All"] | None = Field(
        default=None,
        description="ExactCount (the default) asks for count devices. All asks for every device of a node that matches; the pod then waits for a node on which none of them is in use, and is counted as all of them.",
    )
    admin_access: bool | None = Field(
        default=None, description="Not offered. It would let a pod use devices that others hold."
    )
    tolerations: list[Toleration] | None = Field(
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
    Progress of the replica.
    """

    phase: Literal["Pending", "Admitted", "Queued", "Starting", "Running", "Degraded", "Failed"] | None = Field(
        default=None,
        description="Phase of the replica. Pending means that its cluster has not admitted it. Admitted means that it is not rendered yet. Queued means that it is rendered and waits in a queue of its cluster, which is no failure. Starting means that it is rendered and does not serve yet. Running means that it serves with all workers. Degraded means that it serves with some workers. Failed means that it cannot serve without a change.",
    )
    cluster: str | None = Field(default=None, description="The InferenceCluster that the replica runs on.")
    down: Down | None = None
    observed_generation: int | None = Field(
        default=None, description="Generation of the spec that this status describes."
    )
    rendered: Rendered | None = None
    applied: list[Applied] | None = Field(
        default=None,
        description="State in which each rendered object was last seen as applied. A higher generation with the same source was written by another client.",
    )
    mounted_caches: list[str] | None = Field(
        default=None,
        description="Files of ModelCaches that its pods may mount, as name and key, those of the current workload last. The caches keep them.",
    )
    workers: StatusWorkers | None = None
    address: Address | None = None
    conditions: list[Condition] | None = Field(default=None, description="Conditions of the resource.")


class NodeSelector(Wire):
    """
    The devices that one pod needs. Write cel, one expression for the devices that the topology counts, or devices, the long form with one entry for each kind of device.
    """

    cel: str | None = Field(
        default=None,
        description='CEL expression over device.driver, device.attributes["domain"].name and device.capacity["domain"].name, exactly as in a Kubernetes ResourceClaim, for example device.capacity["gpu.nvidia.com"].memory.compareTo(quantity("70Gi")) >= 0.',
    )
    devices: list[NodeSelectorDevice] | None = Field(
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
    The prefill role of a disaggregated replica. The fields above belong to the decode role then.
    """

    pool: str = Field(description="Node pool of the cluster that holds the pods of this role.")
    node_selector: NodeSelector
    devices: list[Device] = Field(
        description="The device requests of one pod, resolved against the pool's class. Empty when every matched device is Synthetic.",
    )
    constraints: list[Constraint] | None = Field(default=None, description="Relations between the devices of one pod.")
    workers: Workers


class Spec(Wire):
    """
    The workload, its cluster and its devices.
    """

    deployment_ref: DeploymentRef
    cluster_name: str = Field(
        description="The InferenceCluster that the replica runs on. A move to another cluster needs a new replica.",
    )
    priority: int | None = Field(
        default=None,
        description="Priority of the replicas when capacity is short. Replicas with a higher priority are admitted first. Running replicas are never displaced. Default: 0.",
    )
    backend: Literal["KServe", "LLMD", "Native", "VLLMStack", "Dynamo", "KAITO", "KubeRay"] = Field(
        description="Backend that the replica is rendered for."
    )
    model: Model | None = None
    engine: Engine | None = None
    model_cache_ref: ModelCacheRef | None = None
    cache_key: str | None = Field(
        default=None,
        description="Key of the files of the ModelCache that the replica mounts. Without it the replica fetches model.uri itself, because its cluster did not hold the files when it was placed.",
    )
    cache_uri: str | None = Field(
        default=None,
        description="The URI by which KServe knows the files of the ModelCache, where it keeps them on the disks of nodes. Without it they are in a claim.",
    )
    endpoint_picker: EndpointPicker | None = None
    pool: str = Field(description="Node pool of the cluster that holds the pods of this role.")
    devices: list[Device] = Field(
        description="The device requests of one pod, resolved against the pool's class. Empty when every matched device is Synthetic.",
    )
    overrides: list[Override] | None = Field(
        default=None,
        description="Fields of the rendered workload that nothing else in this API sets, one entry per backend. Only the entry of the backend in use has an effect. A backend lists the fields that may be written, and every other one is refused. A change restarts pods.",
    )
    node_selector: NodeSelector
    constraints: list[Constraint] | None = Field(default=None, description="Relations between the devices of one pod.")
    workers: Workers
    prefill: Prefill | None = None
    crossplane: Crossplane | None = None


class ModelReplica(Document):
    """
    ModelReplica is one replica of a ModelDeployment: all workers of all roles, on one cluster. The ModelDeployment composes it and has chosen the cluster, the pools and the devices. Its function renders it for one backend. Do not create it by hand.
    """

    api_version: Literal["modelplane.ai/v1alpha1"] = "modelplane.ai/v1alpha1"
    kind: Literal["ModelReplica"] = "ModelReplica"
    metadata: ObjectMeta = Field(description="Name, namespace and labels.")
    spec: Spec
    status: Status | None = None
