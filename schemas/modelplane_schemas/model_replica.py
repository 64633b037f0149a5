# Generated from apis/modelreplicas/definition.yaml by schemas/generate.py; do not edit.

from __future__ import annotations

from pydantic import Field
from modelplane_schemas.wire import Wire
from typing import Any, Literal


class DeploymentRef(Wire):
    """
    The ModelDeployment of the same namespace it belongs to.
    """

    name: str = Field(..., description="Name of the ModelDeployment.")


class Model(Wire):
    """
    The model. Without it the engine's own arguments say what is served.
    """

    name: str | None = Field(
        None, description="Name under which clients ask for the model. Default is the name of the ModelDeployment."
    )
    uri: str | None = Field(
        None,
        description="Where the weights are: hf://organisation/repository[@revision], s3://bucket/path, gs://bucket/path, oci://registry/repository:tag or pvc://claim/path.",
    )


class Engine(Wire):
    """
    The inference engine inside the image.
    """

    type: Literal["vllm", "sglang", "trtllm", "llamacpp", "custom"] | None = Field(
        None,
        description="Which engine it is. For a known engine the flags that follow from model and topology are added where they are missing. custom is opaque: nothing is added and nothing is read. Default: seen from the image, else custom.",
    )


class ModelCacheRef(Wire):
    """
    A ModelCache of the same namespace that holds the weights.
    """

    name: str = Field(..., description="Name of the ModelCache.")


class Rendered(Wire):
    """
    What the pods that run were rendered as; an Object that says something else was edited and is put back.
    """

    from_: str | None = Field(None, alias="from", description="Digest of the replica that it was rendered from.")
    objects: dict[str, str] | None = Field(None, description="Digest of each rendered object by its key.")


class Address(Wire):
    """
    How the control plane's gateway reaches the replica.
    """

    host: str | None = Field(
        None, description="Internal host name that identifies the replica at its cluster's gateway."
    )
    address: str | None = Field(None, description="Address of the cluster's gateway.")
    port: int | None = Field(None, description="Port of the cluster's gateway.")
    scheme: Literal["http", "https"] | None = Field(None, description="http or https.")


class Selectors(Wire):
    cel: str = Field(..., description="CEL expression.")


class Selectors2(Wire):
    cel: str = Field(..., description="CEL expression as in nodeSelector.cel.")


class Constraints(Wire):
    match_attribute: str = Field(
        ...,
        alias="matchAttribute",
        description="Fully qualified attribute that must have the same value on all devices, for example resource.kubernetes.io/pcieRoot.",
    )
    requests: list[str] | None = Field(None, description="Names of the requests it relates. Empty means all.")


class Topology(Wire):
    """
    Parallelism of one worker. It needs pipeline x (data / dataLocal) nodes with tensor x dataLocal devices each.
    """

    tensor: int | None = Field(
        1, description="Devices on one node over which each layer is split (tensor parallelism)."
    )
    pipeline: int | None = Field(1, description="Nodes over which the layers are distributed (pipeline parallelism).")
    data: int | None = Field(1, description="Engine copies that share the requests of one worker (data parallelism).")
    data_local: int | None = Field(
        1, alias="dataLocal", description="How many of the data copies run on one node. data must be a multiple of it."
    )
    expert: bool | None = Field(
        False, description="Distribute the experts of a mixture-of-experts model over the data copies."
    )


class Metadata(Wire):
    """
    Labels and annotations for the pods, and for the ModelEndpoint that is made of the replica (labels).
    """

    labels: dict[str, str] | None = Field(None, description="Labels. The prefix modelplane.ai/ is reserved.")
    annotations: dict[str, str] | None = Field(None, description="Annotations. The prefix modelplane.ai/ is reserved.")


class SecretKeyRef(Wire):
    """
    One key of a Secret or ConfigMap of the replica's namespace on the cluster.
    """

    name: str = Field(..., description="Name of the object.")
    key: str = Field(..., description="Key inside the object.")
    optional: bool | None = Field(None, description="Start without it when it is missing.")


class FieldRef(Wire):
    """
    A field of the pod, for example status.podIP.
    """

    field_path: str = Field(..., alias="fieldPath", description="Path of the field.")


class ResourceFieldRef(Wire):
    """
    A resource amount of a container.
    """

    container_name: str | None = Field(None, alias="containerName", description="The container; default is this one.")
    resource: str = Field(..., description="For example limits.memory.")
    divisor: int | str | None = Field(None, description="A Kubernetes quantity, for example 16, 500m or 64Gi.")


class ConfigMapRef(Wire):
    """
    Name of the object.
    """

    name: str = Field(..., description="Name of the object.")
    optional: bool | None = Field(None, description="Start without it when it is missing.")


class Resources(Wire):
    """
    CPU, memory and other node resources of the container. Accelerators are asked for in nodeSelector and not repeated here.
    """

    requests: dict[str, int | str] | None = Field(None, description="Amounts by resource name.")
    limits: dict[str, int | str] | None = Field(None, description="Amounts by resource name.")


class Ports(Wire):
    name: str | None = Field(None, description="Name of the port; http for the one that serves the API.")
    container_port: int = Field(..., alias="containerPort", description="Port number.")
    protocol: Literal["TCP", "UDP", "SCTP"] | None = Field("TCP", description="Protocol.")


class VolumeMounts(Wire):
    name: str = Field(..., description="Name of the volume.")
    mount_path: str = Field(..., alias="mountPath", description="Path inside the container.")
    sub_path: str | None = Field(None, alias="subPath", description="Path inside the volume.")
    read_only: bool | None = Field(None, alias="readOnly", description="Mount it read only.")


class HttpHeaders(Wire):
    name: str = Field(..., description="Name of the header.")
    value: str = Field(..., description="Value of the header.")


class TcpSocket(Wire):
    """
    A connection that must open.
    """

    port: int | str = Field(..., description="Number or name of the port.")


class Exec(Wire):
    """
    A program that must end with 0.
    """

    command: list[str] | None = Field(None, description="Program and arguments; no shell is involved.")


class Grpc(Wire):
    """
    A gRPC health check.
    """

    port: int = Field(..., description="Port number.")
    service: str | None = Field(None, description="Name sent in the check.")


class Sleep(Wire):
    """
    Wait.
    """

    seconds: int = Field(..., description="Seconds to wait.")


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
    ) = Field(None, description="Capabilities to add; IPC_LOCK is what RDMA needs.")
    drop: list[str] | None = Field(None, description="Capabilities to take away, or ALL.")


class SeccompProfile(Wire):
    """
    System call filter.
    """

    type: Literal["RuntimeDefault"] = Field(..., description="RuntimeDefault is the runtime's own filter.")


class ImagePullSecrets(Wire):
    name: str = Field(..., description="Name of the Secret.")


class EmptyDir(Wire):
    """
    Empty space that lives as long as the pod.
    """

    medium: Literal["", "Memory"] | None = Field(None, description="Memory makes it a RAM disk.")
    size_limit: int | str | None = Field(
        None, alias="sizeLimit", description="A Kubernetes quantity, for example 16, 500m or 64Gi."
    )


class Items(Wire):
    key: str = Field(..., description="The key.")
    path: str = Field(..., description="Path of the file.")
    mode: int | None = Field(None, description="File mode, 0 to 511 (octal 0777).")


class Secret(Wire):
    """
    The keys of a Secret as files.
    """

    secret_name: str = Field(..., alias="secretName", description="Name of the Secret.")
    items: list[Items] | None = Field(None, description="Which keys, and under which path. Default is all.")
    default_mode: int | None = Field(None, alias="defaultMode", description="File mode, 0 to 511 (octal 0777).")
    optional: bool | None = Field(None, description="Start without it when it is missing.")


class PersistentVolumeClaim(Wire):
    """
    A PersistentVolumeClaim of the replica's namespace on the cluster.
    """

    claim_name: str = Field(..., alias="claimName", description="Name of the claim.")
    read_only: bool | None = Field(None, alias="readOnly", description="Mount it read only.")


class ConfigMap2(Wire):
    """
    Keys of an object as files.
    """

    name: str = Field(..., description="Name of the object.")
    items: list[Items] | None = Field(None, description="Which keys, and under which path. Default is all.")
    optional: bool | None = Field(None, description="Start without it when it is missing.")


class Items2(Wire):
    path: str = Field(..., description="Path of the file.")
    field_ref: FieldRef | None = Field(None, alias="fieldRef")
    resource_field_ref: ResourceFieldRef | None = Field(None, alias="resourceFieldRef")
    mode: int | None = Field(None, description="File mode, 0 to 511 (octal 0777).")


class ServiceAccountToken(Wire):
    """
    A token of the pod's service account.
    """

    path: str = Field(..., description="Path of the file.")
    audience: str | None = Field(None, description="Who the token is meant for.")
    expiration_seconds: int | None = Field(None, alias="expirationSeconds", description="Lifetime of the token.")


class Resources2(Wire):
    """
    How much.
    """

    requests: dict[str, int | str] = Field(..., description="Amounts by resource name.")


class NodePublishSecretRef(Wire):
    """
    Secret for the driver.
    """

    name: str = Field(..., description="Name of the Secret.")


class Image(Wire):
    """
    The content of an OCI image or artefact, read only.
    """

    reference: str = Field(..., description="The image.")
    pull_policy: Literal["Always", "IfNotPresent", "Never"] | None = Field(
        None, alias="pullPolicy", description="When it is pulled."
    )


class SecurityContext2(Wire):
    """
    Security settings of all containers of the pod.
    """

    run_as_user: int | None = Field(None, alias="runAsUser", description="Numeric id.")
    run_as_group: int | None = Field(None, alias="runAsGroup", description="Numeric id.")
    run_as_non_root: bool | None = Field(None, alias="runAsNonRoot", description="Refuse to start as root.")
    fs_group: int | None = Field(None, alias="fsGroup", description="Numeric id.")
    fs_group_change_policy: Literal["Always", "OnRootMismatch"] | None = Field(
        None, alias="fsGroupChangePolicy", description="When ownership is changed."
    )
    supplemental_groups: list[int] | None = Field(None, alias="supplementalGroups", description="Further groups.")
    seccomp_profile: SeccompProfile | None = Field(None, alias="seccompProfile")


class Decode(Wire):
    """
    Workers of one role.
    """

    desired: int | None = Field(None, description="Workers that are wanted.")
    ready: int | None = Field(None, description="Workers that are ready.")


class Workers1(Wire):
    """
    Workers by role.
    """

    decode: Decode | None = None
    prefill: Decode | None = None


class Status(Wire):
    """
    How far the replica has come.
    """

    phase: Literal["Pending", "Admitted", "Starting", "Running", "Degraded", "Failed"] | None = Field(
        None,
        description="Pending waits for its cluster's admission; Admitted is accepted; Starting is rendered and not serving yet; Running serves with all workers; Degraded serves with some; Failed cannot serve without a change.",
    )
    cluster: str | None = Field(None, description="The InferenceCluster it runs on.")
    observed_generation: int | None = Field(
        None, alias="observedGeneration", description="Generation of the spec that this status speaks of."
    )
    rendered: Rendered | None = Field(
        None,
        description="What the pods that run were rendered as; an Object that says something else was edited and is put back.",
    )
    workers: Workers1 | None = Field(None, description="Workers by role.")
    address: Address | None = Field(None, description="How the control plane's gateway reaches the replica.")


class Devices(Wire):
    name: str = Field(..., description="Name of the request.")
    device: str = Field(..., description="Name of the device in the InferenceClass.")
    driver: str | None = Field(None, description="DRA driver of the device.")
    claim: Literal["DRA", "DevicePlugin", "Synthetic"] = Field(..., description="How the device reaches the pod.")
    device_class_name: str | None = Field(
        None, alias="deviceClassName", description="DeviceClass on the cluster for DRA."
    )
    resource_name: str | None = Field(None, alias="resourceName", description="Extended resource for DevicePlugin.")
    count: int = Field(..., description="Devices per pod.")
    memory: int | str | None = Field(None, description="Memory of one device as its class publishes it.")
    selectors: list[Selectors] | None = Field(None, description="The user's expressions, verbatim.")


class Devices2(Wire):
    name: str = Field(..., description="Name of the request, for example gpu.")
    count: int | None = Field(
        None,
        description="Devices per pod. Default for the first request is the topology's devices per node (tensor x dataLocal), for every other 1.",
    )
    selectors: list[Selectors2] | None = Field(None, description="Expressions that a device must all satisfy.")


class ValueFrom(Wire):
    """
    Where the value comes from on the cluster.
    """

    secret_key_ref: SecretKeyRef | None = Field(None, alias="secretKeyRef")
    config_map_key_ref: SecretKeyRef | None = Field(None, alias="configMapKeyRef")
    field_ref: FieldRef | None = Field(None, alias="fieldRef")
    resource_field_ref: ResourceFieldRef | None = Field(None, alias="resourceFieldRef")


class EnvFrom(Wire):
    prefix: str | None = Field(None, description="Put in front of every key.")
    config_map_ref: ConfigMapRef | None = Field(None, alias="configMapRef")
    secret_ref: ConfigMapRef | None = Field(None, alias="secretRef")


class HttpGet(Wire):
    """
    An HTTP request that must answer 200 to 399.
    """

    path: str | None = Field(None, description="Path of the request.")
    port: int | str = Field(..., description="Number or name of the port.")
    scheme: Literal["HTTP", "HTTPS"] | None = Field(None, description="Default HTTP.")
    http_headers: list[HttpHeaders] | None = Field(None, alias="httpHeaders", description="Headers to send.")


class PostStart(Wire):
    """
    One action.
    """

    exec: Exec | None = None
    http_get: HttpGet | None = Field(None, alias="httpGet")
    sleep: Sleep | None = None


class SecurityContext(Wire):
    """
    Security settings of the container. Privileged containers are not offered.
    """

    run_as_user: int | None = Field(None, alias="runAsUser", description="Numeric id.")
    run_as_group: int | None = Field(None, alias="runAsGroup", description="Numeric id.")
    run_as_non_root: bool | None = Field(None, alias="runAsNonRoot", description="Refuse to start as root.")
    read_only_root_filesystem: bool | None = Field(
        None, alias="readOnlyRootFilesystem", description="Mount the root file system read only."
    )
    allow_privilege_escalation: bool | None = Field(
        None, alias="allowPrivilegeEscalation", description="Allow a process to gain more rights than its parent."
    )
    capabilities: Capabilities | None = None
    seccomp_profile: SeccompProfile | None = Field(None, alias="seccompProfile")


class ConfigMap(Wire):
    """
    The keys of a ConfigMap as files.
    """

    name: str = Field(..., description="Name of the ConfigMap.")
    items: list[Items] | None = Field(None, description="Which keys, and under which path. Default is all.")
    default_mode: int | None = Field(None, alias="defaultMode", description="File mode, 0 to 511 (octal 0777).")
    optional: bool | None = Field(None, description="Start without it when it is missing.")


class DownwardAPI(Wire):
    """
    Fields of the pod as files.
    """

    items: list[Items2] | None = Field(None, description="The files.")


class Spec2(Wire):
    """
    What is claimed.
    """

    access_modes: list[Literal["ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod"]] = Field(
        ..., alias="accessModes", description="How the volume may be mounted."
    )
    storage_class_name: str | None = Field(
        None, alias="storageClassName", description="Storage class; default is the cluster's."
    )
    volume_mode: Literal["Filesystem", "Block"] | None = Field(
        None, alias="volumeMode", description="Default Filesystem."
    )
    resources: Resources2


class Csi(Wire):
    """
    A volume a CSI driver makes for the pod.
    """

    driver: str = Field(..., description="Name of the driver.")
    read_only: bool | None = Field(None, alias="readOnly", description="Mount it read only.")
    fs_type: str | None = Field(None, alias="fsType", description="File system.")
    volume_attributes: dict[str, str] | None = Field(
        None, alias="volumeAttributes", description="Settings for the driver."
    )
    node_publish_secret_ref: NodePublishSecretRef | None = Field(None, alias="nodePublishSecretRef")


class NodeSelector(Wire):
    """
    The devices one pod needs. Write cel, one expression for the accelerators the topology counts, or devices, the long form with one entry per kind of device.
    """

    cel: str | None = Field(
        None,
        description='CEL expression over device.driver, device.attributes["domain"].name and device.capacity["domain"].name, exactly as in a Kubernetes ResourceClaim, for example device.capacity["gpu.nvidia.com"].memory.compareTo(quantity("70Gi")) >= 0.',
    )
    devices: list[Devices2] | None = Field(
        None, description="Device requests of ONE pod. The first request is the accelerator that the topology counts."
    )
    constraints: list[Constraints] | None = Field(None, description="Relations between the devices of one pod.")


class Env(Wire):
    name: str = Field(..., description="Name of the variable.")
    value: str | None = Field(None, description="Value of the variable.")
    value_from: ValueFrom | None = Field(None, alias="valueFrom")


class StartupProbe(Wire):
    """
    How the container's state is probed. Defaults are described in the documentation.
    """

    http_get: HttpGet | None = Field(None, alias="httpGet")
    tcp_socket: TcpSocket | None = Field(None, alias="tcpSocket")
    exec: Exec | None = None
    grpc: Grpc | None = None
    initial_delay_seconds: int | None = Field(
        None, alias="initialDelaySeconds", description="Seconds before the first probe."
    )
    period_seconds: int | None = Field(None, alias="periodSeconds", description="Seconds between probes.")
    timeout_seconds: int | None = Field(None, alias="timeoutSeconds", description="Seconds one probe may take.")
    success_threshold: int | None = Field(None, alias="successThreshold", description="Successes in a row that count.")
    failure_threshold: int | None = Field(None, alias="failureThreshold", description="Failures in a row that count.")
    termination_grace_period_seconds: int | None = Field(
        None, alias="terminationGracePeriodSeconds", description="Seconds to stop after a failed probe."
    )


class Lifecycle(Wire):
    """
    What runs after the start and before the stop of the container.
    """

    post_start: PostStart | None = Field(None, alias="postStart")
    pre_stop: PostStart | None = Field(None, alias="preStop")


class Sources(Wire):
    config_map: ConfigMap2 | None = Field(None, alias="configMap")
    secret: ConfigMap2 | None = None
    downward_api: DownwardAPI | None = Field(None, alias="downwardAPI")
    service_account_token: ServiceAccountToken | None = Field(None, alias="serviceAccountToken")


class VolumeClaimTemplate(Wire):
    """
    The claim.
    """

    spec: Spec2


class Containers(Wire):
    name: str = Field(..., description="Name of the container; engine for the one that runs the model.")
    image: str = Field(..., description="Image of the container, with a tag or a digest.")
    image_pull_policy: Literal["Always", "IfNotPresent", "Never"] | None = Field(
        None, alias="imagePullPolicy", description="When the image is pulled. Default as in Kubernetes, by the tag."
    )
    command: list[str] | None = Field(
        None,
        description="Program that replaces the image's entry point. Each entry is one argument; no shell is involved.",
    )
    args: list[str] | None = Field(None, description="Arguments. Each entry is one argument; no shell is involved.")
    working_dir: str | None = Field(None, alias="workingDir", description="Directory the program starts in.")
    env: list[Env] | None = Field(
        None, description="Environment variables. Names that start with MODELPLANE_ are reserved."
    )
    env_from: list[EnvFrom] | None = Field(
        None,
        alias="envFrom",
        description="Objects of the replica's namespace on the cluster whose keys become environment variables.",
    )
    resources: Resources | None = None
    ports: list[Ports] | None = Field(
        None, description="Ports of the container. The engine's default is 8000 named http."
    )
    volume_mounts: list[VolumeMounts] | None = Field(
        None, alias="volumeMounts", description="Where volumes of the pod appear in the container."
    )
    startup_probe: StartupProbe | None = Field(None, alias="startupProbe")
    liveness_probe: StartupProbe | None = Field(None, alias="livenessProbe")
    readiness_probe: StartupProbe | None = Field(None, alias="readinessProbe")
    lifecycle: Lifecycle | None = None
    security_context: SecurityContext | None = Field(None, alias="securityContext")


class Projected(Wire):
    """
    Several sources in one directory.
    """

    default_mode: int | None = Field(None, alias="defaultMode", description="File mode, 0 to 511 (octal 0777).")
    sources: list[Sources] | None = Field(None, description="The sources.")


class Ephemeral(Wire):
    """
    A claim that is made for the pod and goes with it.
    """

    volume_claim_template: VolumeClaimTemplate = Field(..., alias="volumeClaimTemplate")


class Volumes(Wire):
    name: str = Field(..., description="Name of the volume.")
    empty_dir: EmptyDir | None = Field(None, alias="emptyDir")
    config_map: ConfigMap | None = Field(None, alias="configMap")
    secret: Secret | None = None
    persistent_volume_claim: PersistentVolumeClaim | None = Field(None, alias="persistentVolumeClaim")
    projected: Projected | None = None
    ephemeral: Ephemeral | None = None
    csi: Csi | None = None
    image: Image | None = None


class Spec(Wire):
    """
    Containers and volumes of the pod. Node selection, claims and affinity are derived, not written here.
    """

    containers: list[Containers] = Field(
        ..., description="The container named engine runs the model; every other container is a sidecar."
    )
    image_pull_secrets: list[ImagePullSecrets] | None = Field(
        None,
        alias="imagePullSecrets",
        description="Secrets of the replica's namespace on the cluster with which images are pulled.",
    )
    volumes: list[Volumes] | None = Field(
        None, description="Volumes of the pod. Volumes of the node itself (hostPath) are not offered."
    )
    service_account_name: str | None = Field(
        None, alias="serviceAccountName", description="Service account of the replica's namespace on the cluster."
    )
    termination_grace_period_seconds: int | None = Field(
        None,
        alias="terminationGracePeriodSeconds",
        description="Seconds a pod may take to finish its streams when it is stopped.",
    )
    security_context: SecurityContext2 | None = Field(None, alias="securityContext")


class Template(Wire):
    """
    The pod of one node of a worker, in the shape of a PodTemplateSpec (a curated subset).
    """

    metadata: Metadata | None = None
    spec: Spec


class Workers(Wire):
    """
    The engine instances of one replica.
    """

    count: int | None = Field(
        1, description="Workers per replica. One worker is one complete engine instance, possibly over several nodes."
    )
    topology: Topology | None = Field(
        {"tensor": 1, "pipeline": 1, "data": 1, "dataLocal": 1, "expert": False}, validate_default=True
    )
    template: Template


class Prefill(Wire):
    """
    The prefill role of a disaggregated replica; the fields above are then those of the decode role.
    """

    pool: str = Field(..., description="Node pool of the cluster that holds the pods of this role.")
    node_selector: NodeSelector = Field(..., alias="nodeSelector")
    devices: list[Devices] = Field(
        ...,
        description="The device requests of one pod, resolved against the pool's class. Empty when every matched device is Synthetic.",
    )
    constraints: list[Constraints] | None = Field(None, description="Relations between the devices of one pod.")
    workers: Workers


class SpecModel(Wire):
    """
    What to run, where, and on which devices.
    """

    deployment_ref: DeploymentRef = Field(
        ..., alias="deploymentRef", description="The ModelDeployment of the same namespace it belongs to."
    )
    cluster_name: str = Field(
        ...,
        alias="clusterName",
        description="The InferenceCluster it runs on. A move to another cluster is a new replica.",
    )
    priority: int | None = Field(
        0,
        description="When capacity is short, replicas with the higher priority are admitted first. Running ones are never displaced.",
    )
    backend: Literal["KServe", "LLMD", "Native", "VLLMStack", "Dynamo", "KAITO", "KubeRay"] = Field(
        ..., description="Serving technology it is rendered for."
    )
    model: Model | None = Field(
        None, description="The model. Without it the engine's own arguments say what is served."
    )
    engine: Engine | None = Field(None, description="The inference engine inside the image.")
    model_cache_ref: ModelCacheRef | None = Field(
        None, alias="modelCacheRef", description="A ModelCache of the same namespace that holds the weights."
    )
    pool: str = Field(..., description="Node pool of the cluster that holds the pods of this role.")
    devices: list[Devices] = Field(
        ...,
        description="The device requests of one pod, resolved against the pool's class. Empty when every matched device is Synthetic.",
    )
    node_selector: NodeSelector = Field(..., alias="nodeSelector")
    constraints: list[Constraints] | None = Field(None, description="Relations between the devices of one pod.")
    workers: Workers
    prefill: Prefill | None = Field(
        None,
        description="The prefill role of a disaggregated replica; the fields above are then those of the decode role.",
    )


class ModelReplica(Wire):
    """
    ModelReplica is one complete serving instance on one cluster. It is composed by a ModelDeployment, which has decided the cluster, the pools and the devices; its function renders it for one serving technology. Do not write it by hand.
    """

    api_version: str | None = Field(None, alias="apiVersion")
    kind: str | None = None
    metadata: dict[str, Any] | None = None
    spec: SpecModel = Field(..., description="What to run, where, and on which devices.")
    status: Status | None = Field(None, description="How far the replica has come.")