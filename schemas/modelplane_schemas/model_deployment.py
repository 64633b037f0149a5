# Generated from apis/modeldeployments/definition.yaml by schemas/generate.py; do not edit.

from __future__ import annotations

from pydantic import Field
from modelplane_schemas.wire import Wire
from typing import Any, Literal


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


class MatchExpression(Wire):
    key: str = Field(..., description="The label's key.")
    operator: Literal["In", "NotIn", "Exists", "DoesNotExist"] = Field(..., description="How the label is compared.")
    values: list[str] | None = Field(None, description="Values for In and NotIn.")


class ClusterSelector(Wire):
    """
    Which InferenceClusters may hold replicas, by their labels. Empty means all clusters.
    """

    match_labels: dict[str, str] | None = Field(
        None, alias="matchLabels", description="Labels that must all be present with exactly this value."
    )
    match_expressions: list[MatchExpression] | None = Field(
        None, alias="matchExpressions", description="Conditions on labels that must all hold."
    )


class Toleration(Wire):
    key: str | None = Field(None, description="Key of the taint. Empty with operator Exists means every taint.")
    operator: Literal["Equal", "Exists"] | None = Field("Equal", description="How key and value are compared.")
    value: str | None = Field(None, description="Value of the taint for operator Equal.")
    effect: Literal["NoSchedule", "NoExecute", "PreferNoSchedule"] | None = Field(
        None, description="Effect of the taint. Left out means every effect."
    )


class SpreadItem(Wire):
    topology_key: str = Field(
        ...,
        alias="topologyKey",
        description="Label of InferenceCluster that forms the groups, for example modelplane.ai/region.",
    )
    max_skew: int | None = Field(
        1, alias="maxSkew", description="Largest allowed difference between the replicas of any two groups."
    )


class Placement(Wire):
    """
    How replicas are distributed over the clusters that fit.
    """

    strategy: Literal["Spread", "Pack"] | None = Field(
        "Spread",
        description="Spread prefers clusters with the fewest replicas of this deployment, Pack those with the most.",
    )
    spread: list[SpreadItem] | None = Field(
        None, description="Limits on how unevenly replicas are spread over groups of clusters."
    )
    max_replicas_per_cluster: int | None = Field(
        0,
        alias="maxReplicasPerCluster",
        description="Most replicas of this deployment on one cluster. 0 means no limit.",
    )


class ModelCacheRef(Wire):
    """
    A ModelCache of the same namespace that holds the weights.
    """

    name: str = Field(..., description="Name of the ModelCache.")


class Move(Wire):
    replica: str | None = Field(None, description="The replica that goes.")
    cluster: str | None = Field(None, description="Where it is.")
    successor: str | None = Field(None, description="The replica that takes its place; absent until there is one.")
    message: str | None = Field(None, description="Why it goes, and what it waits for.")


class Role(Wire):
    role: str = Field(..., description="decode or prefill.")
    pool: str | None = Field(None, description="Node pool of the cluster.")
    nodes: int | None = Field(None, description="Nodes of all workers of the role.")
    devices: int | None = Field(None, description="Accelerators of all workers of the role.")


class Placement1(Wire):
    replica: str = Field(..., description="Name of the ModelReplica.")
    cluster: str | None = Field(None, description="The InferenceCluster it is placed on.")
    ready: bool | None = Field(None, description="It serves.")
    admitted: bool | None = Field(None, description="The cluster has accepted it.")
    roles: list[Role] | None = Field(None, description="Pools of the replica by role.")


class Reason(Wire):
    reason: str | None = Field(None, description="Stable code of the refusal.")
    count: int | None = Field(None, description="Clusters refused for it.")
    detail: str | None = Field(None, description="What is missing.")
    clusters: list[str] | None = Field(None, description="Up to five of these clusters.")


class Closest(Wire):
    """
    The cluster that misses by least.
    """

    cluster: str | None = Field(None, description="The cluster.")
    pool: str | None = Field(None, description="The pool.")
    misses: list[str] | None = Field(None, description="What it lacks.")
    would_fit_if: str | None = Field(None, alias="wouldFitIf", description="A change that was checked to make it fit.")


class Unschedulable(Wire):
    """
    Why wanted replicas have no placement. Absent when all have one.
    """

    message: str | None = Field(None, description="The whole explanation in one sentence.")
    reasons: list[Reason] | None = Field(None, description="Refusals counted by reason, the most frequent first.")
    closest: Closest | None = Field(None, description="The cluster that misses by least.")


class Status(Wire):
    """
    Where the replicas are, and why the missing ones are not.
    """

    replicas: int | None = Field(None, description="Replicas that hold a placement, ready or not.")
    ready_replicas: int | None = Field(None, alias="readyReplicas", description="Replicas that serve.")
    unscheduled_replicas: int | None = Field(
        None, alias="unscheduledReplicas", description="Wanted replicas without a placement."
    )
    updated_replicas: int | None = Field(
        None,
        alias="updatedReplicas",
        description="Replicas that hold a placement and are written as the deployment is now.",
    )
    moves: list[Move] | None = Field(
        None, description="Replicas that shall go elsewhere or be written anew, one at a time, and what each waits for."
    )
    selector: str | None = Field(
        None, description="Label selector for the scale subresource. It matches no pod of the control plane."
    )
    backend: str | None = Field(None, description="The backend that was chosen; it stays as chosen.")
    clusters: str | None = Field(None, description="The clusters that hold replicas, sorted, separated by commas.")
    placements: list[Placement1] | None = Field(None, description="One entry per placed replica, sorted by name.")
    unschedulable: Unschedulable | None = Field(
        None, description="Why wanted replicas have no placement. Absent when all have one."
    )


class Selectors(Wire):
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


class Devices(Wire):
    name: str = Field(..., description="Name of the request, for example gpu.")
    count: int | None = Field(
        None,
        description="Devices per pod. Default for the first request is the topology's devices per node (tensor x dataLocal), for every other 1.",
    )
    selectors: list[Selectors] | None = Field(None, description="Expressions that a device must all satisfy.")


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
    devices: list[Devices] | None = Field(
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
    Present means disaggregated serving: these workers process prompts, those of spec.workers generate. It is self-contained and inherits nothing.
    """

    node_selector: NodeSelector = Field(..., alias="nodeSelector")
    workers: Workers


class SpecModel(Wire):
    """
    What to run, on what hardware, and how many times.
    """

    replicas: int | None = Field(
        1,
        description="How many replicas are wanted. One replica is one complete serving instance on one cluster. kubectl scale, HPA and KEDA write this field through the scale subresource; leave it out of files that GitOps applies when they do.",
    )
    model: Model | None = Field(
        None, description="The model. Without it the engine's own arguments say what is served."
    )
    engine: Engine | None = Field(None, description="The inference engine inside the image.")
    cluster_selector: ClusterSelector | None = Field(
        None,
        alias="clusterSelector",
        description="Which InferenceClusters may hold replicas, by their labels. Empty means all clusters.",
    )
    tolerations: list[Toleration] | None = Field(
        None,
        description="Taints of InferenceClusters that this deployment accepts, with the meaning of Kubernetes tolerations. Without a toleration a NoSchedule or NoExecute taint keeps replicas off the cluster, and NoExecute moves running ones away.",
    )
    placement: Placement | None = Field(
        {}, description="How replicas are distributed over the clusters that fit.", validate_default=True
    )
    priority: int | None = Field(
        0,
        description="When capacity is short, replicas with the higher priority are admitted first. Running ones are never displaced.",
    )
    backend: Literal["KServe", "LLMD", "Native", "VLLMStack", "Dynamo", "KAITO", "KubeRay"] | None = Field(
        None,
        description="Serving technology of the replicas. Left out, it is chosen from what the clusters offer and what the deployment needs, and stays as chosen.",
    )
    model_cache_ref: ModelCacheRef | None = Field(
        None, alias="modelCacheRef", description="A ModelCache of the same namespace that holds the weights."
    )
    node_selector: NodeSelector = Field(..., alias="nodeSelector")
    workers: Workers
    prefill: Prefill | None = Field(
        None,
        description="Present means disaggregated serving: these workers process prompts, those of spec.workers generate. It is self-contained and inherits nothing.",
    )


class ModelDeployment(Wire):
    """
    ModelDeployment says what model to run, what hardware one replica of it needs and how many replicas are wanted. It never names a cluster: the fleet's scheduler places each replica on a cluster that fits.
    """

    api_version: str | None = Field(None, alias="apiVersion")
    kind: str | None = None
    metadata: dict[str, Any] | None = None
    spec: SpecModel = Field(..., description="What to run, on what hardware, and how many times.")
    status: Status | None = Field(None, description="Where the replicas are, and why the missing ones are not.")