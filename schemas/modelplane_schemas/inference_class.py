# Generated from apis/inferenceclasses/definition.yaml by schemas/generate.py; do not edit.

from __future__ import annotations

from pydantic import Field
from modelplane_schemas.wire import Document, ObjectMeta, Wire
from typing import Literal


class Node(Wire):
    """
    Resources of one node that pods can use (allocatable). Placement checks those that are set.
    """

    cpu: int | str | None = Field(default=None, description="A Kubernetes quantity, for example 143771Mi.")
    memory: int | str | None = Field(default=None, description="A Kubernetes quantity, for example 143771Mi.")


class Cost(Wire):
    """
    Price of a node. It decides between places that fit equally well, and it appears in reports.
    """

    per_node_hour: str = Field(
        description='Price of one node for one hour as a decimal number in quotes, for example "88.49".',
    )
    currency: str | None = Field(default=None, description="ISO 4217 currency code. Default: USD.")


class Condition(Wire):
    last_transition_time: str
    message: str | None = None
    reason: str
    status: str
    type: str
    observed_generation: int | None = None


class Counter(Wire):
    value: int | str = Field(description="A Kubernetes quantity, for example 143771Mi.")


class ConsumesCounter(Wire):
    counter_set: str = Field(
        description="Name of an entry of sharedCounters. Without counters and placements, the device consumes the whole entry.",
    )
    counters: dict[str, Counter] | None = Field(
        default=None, description="Amounts by counter name, as the driver publishes them."
    )
    placements: list[list[str]] | None = Field(
        default=None,
        description="Possible places on the physical device. Each place lists the counters that the device consumes entirely there. For a MIG slice these are the memory slices that it covers, for example [memory-slice-0, memory-slice-1]. The driver publishes one device for each place.",
    )


class Taint(Wire):
    key: str = Field(description="Key of the taint.")
    value: str | None = Field(default=None, description="Value of the taint.")
    effect: Literal["None", "NoSchedule", "NoExecute"] = Field(
        description="NoSchedule keeps new pods off the device; NoExecute also ends pods that hold it; None only says something.",
    )


class Attribute(Wire):
    string: str | None = Field(default=None, description="A string.")
    int_: int | None = Field(default=None, validation_alias="int", serialization_alias="int", description="An integer.")
    bool_: bool | None = Field(
        default=None, validation_alias="bool", serialization_alias="bool", description="A Boolean."
    )
    version: str | None = Field(default=None, description="A semantic version, for example 9.0.0.")
    strings: list[str] | None = Field(
        default=None,
        description="A list. The device exists on clusters alone that have the feature gate DRAListTypeAttributes on (cluster.existing.featureGates of InferenceCluster).",
    )
    ints: list[int] | None = Field(
        default=None,
        description="A list. The device exists on clusters alone that have the feature gate DRAListTypeAttributes on (cluster.existing.featureGates of InferenceCluster).",
    )
    bools: list[bool] | None = Field(
        default=None,
        description="A list. The device exists on clusters alone that have the feature gate DRAListTypeAttributes on (cluster.existing.featureGates of InferenceCluster).",
    )
    versions: list[str] | None = Field(
        default=None,
        description="A list. The device exists on clusters alone that have the feature gate DRAListTypeAttributes on (cluster.existing.featureGates of InferenceCluster).",
    )


class Gke(Wire):
    """
    Node pool of Google Kubernetes Engine.
    """

    machine_type: str = Field(description="Machine type, for example a3-ultragpu-8g.")
    accelerator_type: str | None = Field(
        default=None,
        description="Device type as GKE names it, for example nvidia-h200-141gb. Left out, it is that of machineType, where it is known.",
    )
    accelerator_count: int | None = Field(
        default=None, description="Devices per node. Left out, it is the number that machineType has."
    )
    driver_version: Literal["Default", "Latest", "Disabled"] | None = Field(
        default=None,
        description="Driver that GKE installs. Use Disabled where a DaemonSet of yours installs it. Default is Default.",
    )
    image_type: str | None = Field(default=None, description="Node image, for example COS_CONTAINERD.")
    disk_size_gi_b: int | None = Field(
        default=None, description="Size of the boot disk in GiB. Container images of engines are large."
    )
    disk_type: str | None = Field(default=None, description="Type of the boot disk, for example hyperdisk-balanced.")
    local_ssd_count: int | None = Field(
        default=None,
        description="Number of local NVMe disks for scratch space. Left out, it is the number that machineType always has, or none.",
    )
    placement_policy: Literal["None", "Compact"] | None = Field(
        default=None, description="Placement policy of the nodes. Compact places them close together."
    )
    network_profile: str | None = Field(
        default=None,
        description="Profile of the RDMA network. With auto GKE makes the networks itself, on nodes that have such interfaces.",
    )
    reservation: str | None = Field(default=None, description="Name of the cloud's reservation to consume.")
    spot: bool | None = Field(
        default=None, description="Use spot capacity. Such a pool promises no nodes beyond those that it has."
    )
    flex_start: bool | None = Field(
        default=None,
        description="Nodes that start when capacity comes and live for seven days at most. Only a pool that scales can have them.",
    )
    max_run_seconds: int | None = Field(default=None, description="Longest life of a node with flexStart in seconds.")
    image_streaming: bool | None = Field(
        default=None,
        description="Container images are read while containers run, from Artifact Registry. The project needs the Container File System API.",
    )
    image_cache_disk: str | None = Field(
        default=None,
        description="Disk image with container images that nodes then need not fetch, as projects/<project>/global/images/<name>.",
    )


class Eks(Wire):
    """
    Node pool of Amazon EKS.
    """

    instance_type: str = Field(description="Instance type, for example p5en.48xlarge.")
    ami_type: str | None = Field(default=None, description="Image family, for example AL2023_x86_64_NVIDIA.")
    disk_size_gi_b: int | None = Field(
        default=None, description="Size of the boot disk in GiB. Container images of engines are large."
    )
    capacity_type: Literal["ON_DEMAND", "SPOT", "CAPACITY_BLOCK"] | None = Field(
        default=None, description="Purchase option of the nodes."
    )
    capacity_reservation_id: str | None = Field(default=None, description="Name of the cloud's reservation to consume.")
    efa_interfaces: int | None = Field(default=None, description="Elastic Fabric Adapters per node.")
    placement_group: str | None = Field(default=None, description="Existing cluster placement group to use.")
    placement_policy: Literal["None", "Cluster"] | None = Field(
        default=None,
        description="Placement policy of the nodes. Cluster makes a cluster placement group for each pool. Default is None.",
    )
    disk_throughput_mi_b: int | None = Field(
        default=None,
        description="Throughput of the boot disk in MiB per second. Images of engines are read from it. Default is 125.",
    )


class Aks(Wire):
    """
    Node pool of Azure Kubernetes Service.
    """

    vm_size: str = Field(description="VM size, for example Standard_ND96isr_H200_v5.")
    os_sku: str | None = Field(default=None, description="Node image, for example Ubuntu.")
    disk_size_gi_b: int | None = Field(
        default=None, description="Size of the boot disk in GiB. Container images of engines are large."
    )
    gpu_driver: Literal["Install", "None"] | None = Field(
        default=None,
        description="Driver that AKS installs. Use None where an operator installs it, as on nodes of AMD. Default is Install.",
    )
    os_disk_type: Literal["Ephemeral", "Managed"] | None = Field(
        default=None,
        description="Kind of the boot disk. Ephemeral lies on the node itself, which must have room for it. Default is Managed.",
    )
    priority: Literal["Regular", "Spot"] | None = Field(
        default=None,
        description="Purchase option of the nodes. A pool of Spot promises no nodes beyond those that it has. Default is Regular.",
    )
    proximity_placement_group_id: str | None = Field(
        default=None,
        description="Resource ID of an existing proximity placement group, which keeps the nodes close together.",
    )
    capacity_reservation_group_id: str | None = Field(
        default=None, description="Name of the cloud's reservation to consume."
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


class ValidRange(Wire):
    """
    The amounts from min to max, in steps from min where step is given.
    """

    min: int | str = Field(description="A Kubernetes quantity, for example 143771Mi.")
    max: int | str | None = Field(default=None, description="A Kubernetes quantity, for example 143771Mi.")
    step: int | str | None = Field(default=None, description="A Kubernetes quantity, for example 143771Mi.")


class Status(Wire):
    """
    Observed state of the class.
    """

    devices: int | None = Field(default=None, description="Number of devices of one node that can be claimed.")
    warnings: list[str] | None = Field(default=None, description="Warnings that do not prevent the use of the class.")
    conditions: list[Condition] | None = Field(default=None, description="Conditions of the resource.")


class SharedCounter(Wire):
    name: str = Field(description="Name that consumesCounters refers to, for example gpu.")
    count: int | None = Field(default=None, description="Number of such physical devices on one node. Default: 1.")
    counters: dict[str, Counter] = Field(description="Amounts by counter name, as the driver publishes them.")


class Provisioning(Wire):
    """
    Recipe by which a cloud creates a node of this class.
    """

    provider: Literal["GKE", "EKS", "AKS"] = Field(
        description="The cloud service. The block of the same name holds its settings."
    )
    gke: Gke | None = None
    eks: Eks | None = None
    aks: Aks | None = None


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


class RequestPolicy(Wire):
    """
    The parts that a pod can take of the capacity, as the driver publishes it. A request is rounded up to the next of them.
    """

    default: int | str | None = Field(default=None, description="A Kubernetes quantity, for example 143771Mi.")
    valid_values: list[int | str] | None = Field(default=None, description="The amounts, in ascending order.")
    valid_range: ValidRange | None = None


class Capacity(Wire):
    value: int | str = Field(description="A Kubernetes quantity, for example 143771Mi.")
    request_policy: RequestPolicy | None = None


class Device(Wire):
    name: str = Field(description="Name of the device inside the class, for example gpu.")
    driver: str = Field(
        description="DRA driver that publishes the device, for example gpu.nvidia.com. Attributes without a domain belong to this driver.",
    )
    claim: Literal["DRA", "Synthetic", "DevicePlugin"] | None = Field(
        default=None,
        description="The way a pod gets the device. DRA renders a ResourceClaim. DevicePlugin renders a resource limit. Synthetic is matched by selectors, but it is neither claimed nor counted. Default: DRA.",
    )
    device_class_name: str | None = Field(
        default=None,
        description="DeviceClass that its claims refer to. It must exist on the clusters. Required for DRA.",
    )
    resource_name: str | None = Field(
        default=None,
        description="Extended resource that the device plugin publishes. Required for DevicePlugin.",
    )
    count: int | None = Field(
        default=None,
        description="Number of such devices on one node. With consumesCounters, it is the number of such devices that one physical device offers at each placement, which is 1 for all current drivers. Default: 1.",
    )
    allow_multiple_allocations: bool | None = Field(
        default=None,
        description="True if several pods share each such device, as its driver publishes it. Every pod takes a part of each capacity, as its request and requestPolicy say; without them it takes all of it. From Kubernetes 1.36; before, one pod has the device.",
    )
    consumes_counters: list[ConsumesCounter] | None = Field(
        default=None,
        description="The part of a physical device that one such device consumes, as in ResourceSlices. Devices that consume the same counters exclude each other, for example a whole GPU and its MIG slices, or two slices in the same place.",
    )
    taints: list[Taint] | None = Field(
        default=None,
        description="Taints that the driver publishes on every such device. A request takes it only where it tolerates them.",
    )
    attributes: dict[str, Attribute] | None = Field(
        default=None,
        description='Attributes as the driver publishes them. A key is a name of letters, digits and "_", or domain/name. A key without a domain belongs to the driver. Each attribute has exactly one of string, int, bool and version, or of their lists, strings, ints, bools and versions.',
    )
    capacity: dict[str, Capacity] | None = Field(
        default=None,
        description="Capacities as the driver publishes them, not the nominal sizes. Keys have the same form as those of attributes.",
    )


class Spec(Wire):
    """
    The hardware of one node.
    """

    description: str | None = Field(default=None, description="Short description for human readers.")
    shared_counters: list[SharedCounter] | None = Field(
        default=None,
        description="Counters that the physical devices of ONE node share among the devices they can be partitioned into, as in the sharedCounters of a ResourceSlice. One entry describes count equal physical devices, for example eight GPUs that MIG can partition.",
    )
    devices: list[Device] = Field(description="Devices of ONE node, with one entry for each kind.")
    node: Node | None = None
    attributes: dict[str, str] | None = Field(
        default=None,
        description="Properties of the nodes of this class as a whole, for people and reports, for example the network between nodes. Keys are label keys such as modelplane.ai/network.",
    )
    cost: Cost | None = None
    provisioning: Provisioning | None = None
    crossplane: Crossplane | None = None


class InferenceClass(Document):
    """
    InferenceClass describes one kind of node: its devices in the terms of Dynamic Resource Allocation, optionally its CPU and memory, its price, and the recipe by which a cloud creates it.
    """

    api_version: Literal["modelplane.ai/v1alpha1"] = "modelplane.ai/v1alpha1"
    kind: Literal["InferenceClass"] = "InferenceClass"
    metadata: ObjectMeta = Field(description="Name, namespace and labels.")
    spec: Spec
    status: Status | None = None
