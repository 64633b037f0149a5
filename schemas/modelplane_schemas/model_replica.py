# Generated from apis/modelreplicas/definition.yaml by schemas/generate.py; do not edit.

from __future__ import annotations

from pydantic import Field
from modelplane_schemas.wire import Document, ObjectMeta, Wire
from typing import Literal


class DeploymentRef(Wire):
    """
    The ModelDeployment of the same namespace it belongs to.
    """

    name: str = Field(description="Name of the ModelDeployment.")


class Model(Wire):
    """
    The model. Without it the engine's own arguments say what is served.
    """

    name: str | None = Field(
        default=None,
        description="Name under which clients ask for the model. Default is the name of the ModelDeployment.",
    )
    uri: str | None = Field(
        default=None,
        description="Where the weights are: hf://organisation/repository[@revision], s3://bucket/path, gs://bucket/path, oci://registry/repository:tag or pvc://claim/path.",
    )


class Engine(Wire):
    """
    The inference engine inside the image.
    """

    type: Literal["vllm", "sglang", "trtllm", "llamacpp", "custom"] | None = Field(
        default=None,
        description="Which engine it is. For a known engine the flags that follow from model and topology are added where they are missing. custom is opaque: nothing is added and nothing is read. Default: seen from the image, else custom.",
    )


class ModelCacheRef(Wire):
    """
    A ModelCache of the same namespace that holds the weights.
    """

    name: str = Field(description="Name of the ModelCache.")


class Constraint(Wire):
    match_attribute: str = Field(
        description="Fully qualified attribute that must have the same value on all devices, for example resource.kubernetes.io/pcieRoot.",
    )
    requests: list[str] | None = Field(default=None, description="Names of the requests it relates. Empty means all.")


class Rendered(Wire):
    """
    What the pods that run were rendered as; an Object that says something else was edited and is put back.
    """

    from_: str | None = Field(
        default=None,
        validation_alias="from",
        serialization_alias="from",
        description="Digest of the replica that it was rendered from.",
    )
    objects: dict[str, str] | None = Field(default=None, description="Digest of each rendered object by its key.")


class Address(Wire):
    """
    How the control plane's gateway reaches the replica.
    """

    host: str | None = Field(
        default=None, description="Internal host name that identifies the replica at its cluster's gateway."
    )
    address: str | None = Field(default=None, description="Address of the cluster's gateway.")
    port: int | None = Field(default=None, description="Port of the cluster's gateway.")
    scheme: Literal["http", "https"] | None = Field(default=None, description="http or https.")


class Condition(Wire):
    last_transition_time: str
    message: str | None = None
    reason: str
    status: str
    type: str
    observed_generation: int | None = None


class Selector(Wire):
    cel: str = Field(description="CEL expression.")


class Topology(Wire):
    """
    Parallelism of one worker. It needs pipeline x (data / dataLocal) nodes with tensor x dataLocal devices each. Default: {"tensor": 1, "pipeline": 1, "data": 1, "dataLocal": 1, "expert": false}.
    """

    tensor: int | None = Field(
        default=None, description="Devices on one node over which each layer is split (tensor parallelism). Default: 1."
    )
    pipeline: int | None = Field(
        default=None, description="Nodes over which the layers are distributed (pipeline parallelism). Default: 1."
    )
    data: int | None = Field(
        default=None, description="Engine copies that share the requests of one worker (data parallelism). Default: 1."
    )
    data_local: int | None = Field(
        default=None,
        description="How many of the data copies run on one node. data must be a multiple of it. Default: 1.",
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

    desired: int | None = Field(default=None, description="Workers that are wanted.")
    ready: int | None = Field(default=None, description="Workers that are ready.")


class NodeSelectorDeviceSelector(Wire):
    cel: str = Field(description="CEL expression as in nodeSelector.cel.")


class Metadata(Wire):
    """
    Labels and annotations for the pods, and for the ModelEndpoint that is made of the replica (labels).
    """

    labels: dict[str, str] | None = Field(default=None, description="Labels. The prefix modelplane.ai/ is reserved.")
    annotations: dict[str, str] | None = Field(
        default=None, description="Annotations. The prefix modelplane.ai/ is reserved."
    )


class ImagePullSecret(Wire):
    name: str = Field(description="Name of the Secret.")


class Resources(Wire):
    """
    CPU, memory and other node resources of the container. Accelerators are asked for in nodeSelector and not repeated here.
    """

    requests: dict[str, int | str] | None = Field(
        default=None, description="Amounts of cpu, memory, ephemeral-storage and hugepages-<size>."
    )
    limits: dict[str, int | str] | None = Field(
        default=None, description="Amounts of cpu, memory, ephemeral-storage and hugepages-<size>."
    )


class Port(Wire):
    name: str | None = Field(default=None, description="Name of the port; http for the one that serves the API.")
    container_port: int = Field(description="Port number.")
    protocol: Literal["TCP", "UDP", "SCTP"] | None = Field(default=None, description="Protocol. Default: TCP.")


class VolumeMount(Wire):
    name: str = Field(description="Name of the volume.")
    mount_path: str = Field(description="Path inside the container.")
    sub_path: str | None = Field(default=None, description="Path inside the volume.")
    read_only: bool | None = Field(default=None, description="Mount it read only.")


class EmptyDir(Wire):
    """
    Empty space that lives as long as the pod.
    """

    medium: Literal["", "Memory"] | None = Field(default=None, description="Memory makes it a RAM disk.")
    size_limit: int | str | None = Field(
        default=None, description="A Kubernetes quantity, for example 16, 500m or 64Gi."
    )


class PersistentVolumeClaim(Wire):
    """
    A PersistentVolumeClaim of the replica's namespace on the cluster.
    """

    claim_name: str = Field(description="Name of the claim.")
    read_only: bool | None = Field(default=None, description="Mount it read only.")


class Image(Wire):
    """
    The content of an OCI image or artefact, read only.
    """

    reference: str = Field(description="The image.")
    pull_policy: Literal["Always", "IfNotPresent", "Never"] | None = Field(
        default=None, description="When it is pulled."
    )


class SeccompProfile(Wire):
    """
    System call filter.
    """

    type: Literal["RuntimeDefault"] = Field(description="RuntimeDefault is the runtime's own filter.")


class ConfigMapRef(Wire):
    """
    Name of the object.
    """

    name: str = Field(description="Name of the object.")
    optional: bool | None = Field(default=None, description="Start without it when it is missing.")


class TcpSocket(Wire):
    """
    A connection that must open.
    """

    port: int | str = Field(description="Number or name of the port.")


class Exec(Wire):
    """
    A program that must end with 0.
    """

    command: list[str] | None = Field(default=None, description="Program and arguments; no shell is involved.")


class Grpc(Wire):
    """
    A gRPC health check.
    """

    port: int = Field(description="Port number.")
    service: str | None = Field(default=None, description="Name sent in the check.")


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
    ) = Field(default=None, description="Capabilities to add; IPC_LOCK is what RDMA needs.")
    drop: list[str] | None = Field(default=None, description="Capabilities to take away, or ALL.")


class Item(Wire):
    key: str = Field(description="The key.")
    path: str = Field(description="Path of the file.")
    mode: int | None = Field(default=None, description="File mode, 0 to 511 (octal 0777).")


class NodePublishSecretRef(Wire):
    """
    Secret for the driver.
    """

    name: str = Field(description="Name of the Secret.")


class SecretKeyRef(Wire):
    """
    One key of a Secret or ConfigMap of the replica's namespace on the cluster.
    """

    name: str = Field(description="Name of the object.")
    key: str = Field(description="Key inside the object.")
    optional: bool | None = Field(default=None, description="Start without it when it is missing.")


class FieldRef(Wire):
    """
    A field of the pod, for example status.podIP.
    """

    field_path: str = Field(description="Path of the field.")


class ResourceFieldRef(Wire):
    """
    A resource amount of a container.
    """

    container_name: str | None = Field(default=None, description="The container; default is this one.")
    resource: str = Field(description="For example limits.memory.")
    divisor: int | str | None = Field(default=None, description="A Kubernetes quantity, for example 16, 500m or 64Gi.")


class HttpHeader(Wire):
    name: str = Field(description="Name of the header.")
    value: str = Field(description="Value of the header.")


class Sleep(Wire):
    """
    Wait.
    """

    seconds: int = Field(description="Seconds to wait.")


class SourceConfigMap(Wire):
    """
    Keys of an object as files.
    """

    name: str = Field(description="Name of the object.")
    items: list[Item] | None = Field(default=None, description="Which keys, and under which path. Default is all.")
    optional: bool | None = Field(default=None, description="Start without it when it is missing.")


class ServiceAccountToken(Wire):
    """
    A token of the pod's service account.
    """

    path: str = Field(description="Path of the file.")
    audience: str | None = Field(default=None, description="Who the token is meant for.")
    expiration_seconds: int | None = Field(default=None, description="Lifetime of the token.")


class DownwardAPIItem(Wire):
    path: str = Field(description="Path of the file.")
    field_ref: FieldRef | None = None
    resource_field_ref: ResourceFieldRef | None = None
    mode: int | None = Field(default=None, description="File mode, 0 to 511 (octal 0777).")


class VolumeClaimTemplateSpecResources(Wire):
    """
    How much.
    """

    requests: dict[str, int | str] = Field(description="Amounts by resource name; a volume claims storage.")


class Device(Wire):
    name: str = Field(description="Name of the request.")
    device: str = Field(description="Name of the device in the InferenceClass.")
    driver: str | None = Field(default=None, description="DRA driver of the device.")
    claim: Literal["DRA", "DevicePlugin", "Synthetic"] = Field(description="How the device reaches the pod.")
    device_class_name: str | None = Field(default=None, description="DeviceClass on the cluster for DRA.")
    resource_name: str | None = Field(default=None, description="Extended resource for DevicePlugin.")
    count: int = Field(description="Devices per pod.")
    memory: int | str | None = Field(default=None, description="Memory of one device as its class publishes it.")
    selectors: list[Selector] | None = Field(default=None, description="The user's expressions, verbatim.")


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
        description="Devices per pod. Default for the first request is the topology's devices per node (tensor x dataLocal), for every other 1.",
    )
    selectors: list[NodeSelectorDeviceSelector] | None = Field(
        default=None, description="Expressions that a device must all satisfy."
    )


class SecurityContext(Wire):
    """
    Security settings of all containers of the pod.
    """

    run_as_user: int | None = Field(default=None, description="Numeric id.")
    run_as_group: int | None = Field(default=None, description="Numeric id.")
    run_as_non_root: bool | None = Field(default=None, description="Refuse to start as root.")
    fs_group: int | None = Field(default=None, description="Numeric id.")
    fs_group_change_policy: Literal["Always", "OnRootMismatch"] | None = Field(
        default=None, description="When ownership is changed."
    )
    supplemental_groups: list[int] | None = Field(default=None, description="Further groups.")
    seccomp_profile: SeccompProfile | None = None


class EnvFrom(Wire):
    prefix: str | None = Field(default=None, description="Put in front of every key.")
    config_map_ref: ConfigMapRef | None = None
    secret_ref: ConfigMapRef | None = None


class ContainerSecurityContext(Wire):
    """
    Security settings of the container. Privileged containers are not offered.
    """

    run_as_user: int | None = Field(default=None, description="Numeric id.")
    run_as_group: int | None = Field(default=None, description="Numeric id.")
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
    items: list[Item] | None = Field(default=None, description="Which keys, and under which path. Default is all.")
    default_mode: int | None = Field(default=None, description="File mode, 0 to 511 (octal 0777).")
    optional: bool | None = Field(default=None, description="Start without it when it is missing.")


class Secret(Wire):
    """
    The keys of a Secret as files.
    """

    secret_name: str = Field(description="Name of the Secret.")
    items: list[Item] | None = Field(default=None, description="Which keys, and under which path. Default is all.")
    default_mode: int | None = Field(default=None, description="File mode, 0 to 511 (octal 0777).")
    optional: bool | None = Field(default=None, description="Start without it when it is missing.")


class Csi(Wire):
    """
    A volume a CSI driver makes for the pod.
    """

    driver: str = Field(description="Name of the driver.")
    read_only: bool | None = Field(default=None, description="Mount it read only.")
    fs_type: str | None = Field(default=None, description="File system.")
    volume_attributes: dict[str, str] | None = Field(default=None, description="Settings for the driver.")
    node_publish_secret_ref: NodePublishSecretRef | None = None


class ValueFrom(Wire):
    """
    Where the value comes from on the cluster.
    """

    secret_key_ref: SecretKeyRef | None = None
    config_map_key_ref: SecretKeyRef | None = None
    field_ref: FieldRef | None = None
    resource_field_ref: ResourceFieldRef | None = None


class HttpGet(Wire):
    """
    An HTTP request that must answer 200 to 399.
    """

    path: str | None = Field(default=None, description="Path of the request.")
    port: int | str = Field(description="Number or name of the port.")
    scheme: Literal["HTTP", "HTTPS"] | None = Field(default=None, description="Default HTTP.")
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
    What is claimed.
    """

    access_modes: list[Literal["ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod"]] = Field(
        description="How the volume may be mounted."
    )
    storage_class_name: str | None = Field(default=None, description="Storage class; default is the cluster's.")
    volume_mode: Literal["Filesystem", "Block"] | None = Field(default=None, description="Default Filesystem.")
    resources: VolumeClaimTemplateSpecResources


class Status(Wire):
    """
    How far the replica has come.
    """

    phase: Literal["Pending", "Admitted", "Starting", "Running", "Degraded", "Failed"] | None = Field(
        default=None,
        description="Pending waits for its cluster's admission; Admitted is accepted; Starting is rendered and not serving yet; Running serves with all workers; Degraded serves with some; Failed cannot serve without a change.",
    )
    cluster: str | None = Field(default=None, description="The InferenceCluster it runs on.")
    observed_generation: int | None = Field(
        default=None, description="Generation of the spec that this status speaks of."
    )
    rendered: Rendered | None = None
    workers: StatusWorkers | None = None
    address: Address | None = None
    conditions: list[Condition] | None = Field(default=None, description="Conditions of the resource.")


class NodeSelector(Wire):
    """
    The devices one pod needs. Write cel, one expression for the accelerators the topology counts, or devices, the long form with one entry per kind of device.
    """

    cel: str | None = Field(
        default=None,
        description='CEL expression over device.driver, device.attributes["domain"].name and device.capacity["domain"].name, exactly as in a Kubernetes ResourceClaim, for example device.capacity["gpu.nvidia.com"].memory.compareTo(quantity("70Gi")) >= 0.',
    )
    devices: list[NodeSelectorDevice] | None = Field(
        default=None,
        description="Device requests of ONE pod. The first request is the accelerator that the topology counts.",
    )
    constraints: list[Constraint] | None = Field(default=None, description="Relations between the devices of one pod.")


class Env(Wire):
    name: str = Field(description="Name of the variable.")
    value: str | None = Field(default=None, description="Value of the variable.")
    value_from: ValueFrom | None = None


class StartupProbe(Wire):
    """
    How the container's state is probed. Defaults are described in the documentation.
    """

    http_get: HttpGet | None = None
    tcp_socket: TcpSocket | None = None
    exec: Exec | None = None
    grpc: Grpc | None = None
    initial_delay_seconds: int | None = Field(default=None, description="Seconds before the first probe.")
    period_seconds: int | None = Field(default=None, description="Seconds between probes.")
    timeout_seconds: int | None = Field(default=None, description="Seconds one probe may take.")
    success_threshold: int | None = Field(default=None, description="Successes in a row that count.")
    failure_threshold: int | None = Field(default=None, description="Failures in a row that count.")
    termination_grace_period_seconds: int | None = Field(
        default=None, description="Seconds to stop after a failed probe."
    )


class Lifecycle(Wire):
    """
    What runs after the start and before the stop of the container.
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
    The claim.
    """

    spec: VolumeClaimTemplateSpec


class Container(Wire):
    name: str = Field(description="Name of the container; engine for the one that runs the model.")
    image: str = Field(description="Image of the container, with a tag or a digest.")
    image_pull_policy: Literal["Always", "IfNotPresent", "Never"] | None = Field(
        default=None, description="When the image is pulled. Default as in Kubernetes, by the tag."
    )
    command: list[str] | None = Field(
        default=None,
        description="Program that replaces the image's entry point. Each entry is one argument; no shell is involved.",
    )
    args: list[str] | None = Field(
        default=None, description="Arguments. Each entry is one argument; no shell is involved."
    )
    working_dir: str | None = Field(default=None, description="Directory the program starts in.")
    env: list[Env] | None = Field(
        default=None, description="Environment variables. Names that start with MODELPLANE_ are reserved."
    )
    env_from: list[EnvFrom] | None = Field(
        default=None,
        description="Objects of the replica's namespace on the cluster whose keys become environment variables.",
    )
    resources: Resources | None = None
    ports: list[Port] | None = Field(
        default=None, description="Ports of the container. The engine's default is 8000 named http."
    )
    volume_mounts: list[VolumeMount] | None = Field(
        default=None, description="Where volumes of the pod appear in the container."
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
    A claim that is made for the pod and goes with it.
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
    Containers and volumes of the pod. Node selection, claims and affinity are derived, not written here.
    """

    containers: list[Container] = Field(
        description="The container named engine runs the model; every other container is a sidecar."
    )
    image_pull_secrets: list[ImagePullSecret] | None = Field(
        default=None,
        description="Secrets of the replica's namespace on the cluster with which images are pulled.",
    )
    volumes: list[Volume] | None = Field(
        default=None, description="Volumes of the pod. Volumes of the node itself (hostPath) are not offered."
    )
    service_account_name: str | None = Field(
        default=None, description="Service account of the replica's namespace on the cluster."
    )
    termination_grace_period_seconds: int | None = Field(
        default=None,
        description="Seconds a pod may take to finish its streams when it is stopped.",
    )
    security_context: SecurityContext | None = None


class Template(Wire):
    """
    The pod of one node of a worker, in the shape of a PodTemplateSpec (a curated subset).
    """

    metadata: Metadata | None = None
    spec: TemplateSpec


class Workers(Wire):
    """
    The engine instances of one replica.
    """

    count: int | None = Field(
        default=None,
        description="Workers per replica. One worker is one complete engine instance, possibly over several nodes. Default: 1.",
    )
    topology: Topology | None = None
    template: Template


class Prefill(Wire):
    """
    The prefill role of a disaggregated replica; the fields above are then those of the decode role.
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
    What to run, where, and on which devices.
    """

    deployment_ref: DeploymentRef
    cluster_name: str = Field(
        description="The InferenceCluster it runs on. A move to another cluster is a new replica.",
    )
    priority: int | None = Field(
        default=None,
        description="When capacity is short, replicas with the higher priority are admitted first. Running ones are never displaced. Default: 0.",
    )
    backend: Literal["KServe", "LLMD", "Native", "VLLMStack", "Dynamo", "KAITO", "KubeRay"] = Field(
        description="Serving technology it is rendered for."
    )
    model: Model | None = None
    engine: Engine | None = None
    model_cache_ref: ModelCacheRef | None = None
    pool: str = Field(description="Node pool of the cluster that holds the pods of this role.")
    devices: list[Device] = Field(
        description="The device requests of one pod, resolved against the pool's class. Empty when every matched device is Synthetic.",
    )
    node_selector: NodeSelector
    constraints: list[Constraint] | None = Field(default=None, description="Relations between the devices of one pod.")
    workers: Workers
    prefill: Prefill | None = None
    crossplane: Crossplane | None = None


class ModelReplica(Document):
    """
    ModelReplica is one complete serving instance on one cluster. It is composed by a ModelDeployment, which has decided the cluster, the pools and the devices; its function renders it for one serving technology. Do not write it by hand.
    """

    api_version: Literal["modelplane.ai/v1alpha1"] = "modelplane.ai/v1alpha1"
    kind: Literal["ModelReplica"] = "ModelReplica"
    metadata: ObjectMeta = Field(description="Name, namespace and labels.")
    spec: Spec
    status: Status | None = None
