# Generated from apis/inferenceclasses/definition.yaml by schemas/generate.py; do not edit.

from __future__ import annotations

from pydantic import Field
from modelplane_schemas.wire import Document, ObjectMeta, Wire
from typing import Literal


class Node(Wire):
    """
    What pods may use of one node (allocatable). What is given is checked when replicas are placed.
    """

    cpu: int | str | None = Field(default=None, description="A Kubernetes quantity, for example 143771Mi.")
    memory: int | str | None = Field(default=None, description="A Kubernetes quantity, for example 143771Mi.")


class Cost(Wire):
    """
    Price, used to choose between places that fit equally well, and in reports.
    """

    per_node_hour: str = Field(
        description='Price of one node for one hour as a decimal number in quotes, for example "88.49".',
    )
    currency: str | None = Field(default=None, description="ISO 4217 code. Default: USD.")


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
        description="Entry of sharedCounters. With neither counters nor placements the device takes all of it.",
    )
    counters: dict[str, Counter] | None = Field(
        default=None, description="Amounts by counter name, as the driver publishes them."
    )
    placements: list[list[str]] | None = Field(
        default=None,
        description="Where on the physical device it can be: one list per place, of the counters that it takes whole there. For a MIG slice these are the memory slices it covers, for example [memory-slice-0, memory-slice-1]. The driver publishes one device per place.",
    )


class Attribute(Wire):
    string: str | None = Field(default=None, description="Text.")
    int_: int | None = Field(
        default=None, validation_alias="int", serialization_alias="int", description="Whole number."
    )
    bool_: bool | None = Field(
        default=None, validation_alias="bool", serialization_alias="bool", description="True or false."
    )
    version: str | None = Field(default=None, description="Semantic version, for example 9.0.0.")


class Gke(Wire):
    """
    Node pool of Google Kubernetes Engine.
    """

    machine_type: str = Field(description="Machine type, for example a3-ultragpu-8g.")
    accelerator_type: str | None = Field(default=None, description="Accelerator, for example nvidia-h200-141gb.")
    accelerator_count: int | None = Field(default=None, description="Accelerators per node.")
    driver_version: Literal["Default", "Latest", "Disabled"] | None = Field(
        default=None,
        description="Driver that GKE installs. Disabled is right where the DRA driver's operator installs it.",
    )
    image_type: str | None = Field(default=None, description="Node image, for example COS_CONTAINERD.")
    disk_size_gi_b: int | None = Field(
        default=None, description="Boot disk in GiB; container images of engines are large."
    )
    disk_type: str | None = Field(default=None, description="Boot disk type, for example hyperdisk-balanced.")
    local_ssd_count: int | None = Field(default=None, description="Local NVMe disks for scratch space.")
    placement_policy: Literal["None", "Compact"] | None = Field(
        default=None, description="Compact puts nodes close together."
    )
    network_profile: str | None = Field(default=None, description="Profile of the RDMA network.")
    reservation: str | None = Field(default=None, description="Reservation to consume.")
    spot: bool | None = Field(default=None, description="Use spot capacity.")


class Eks(Wire):
    """
    Node group of Amazon EKS.
    """

    instance_type: str = Field(description="Instance type, for example p5en.48xlarge.")
    ami_type: str | None = Field(default=None, description="Image family, for example AL2023_x86_64_NVIDIA.")
    disk_size_gi_b: int | None = Field(
        default=None, description="Boot disk in GiB; container images of engines are large."
    )
    capacity_type: Literal["ON_DEMAND", "SPOT", "CAPACITY_BLOCK"] | None = Field(
        default=None, description="How capacity is bought."
    )
    capacity_reservation_id: str | None = Field(default=None, description="Reservation to consume.")
    efa_interfaces: int | None = Field(default=None, description="Elastic Fabric Adapters per node.")
    placement_group: str | None = Field(default=None, description="Cluster placement group.")


class Aks(Wire):
    """
    Node pool of Azure Kubernetes Service.
    """

    vm_size: str = Field(description="VM size, for example Standard_ND96isr_H200_v5.")
    os_sku: str | None = Field(default=None, description="Node image, for example Ubuntu.")
    disk_size_gi_b: int | None = Field(
        default=None, description="Boot disk in GiB; container images of engines are large."
    )
    gpu_driver: Literal["Install", "None"] | None = Field(
        default=None, description="None is right where the DRA driver's operator installs it."
    )
    priority: Literal["Regular", "Spot"] | None = Field(default=None, description="How capacity is bought.")
    capacity_reservation_group_id: str | None = Field(default=None, description="Reservation to consume.")


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
    Findings about the class.
    """

    devices: int | None = Field(default=None, description="Devices of one node that can be claimed.")
    warnings: list[str] | None = Field(
        default=None, description="What looks wrong and does not stop the class from being used."
    )
    conditions: list[Condition] | None = Field(default=None, description="Conditions of the resource.")


class SharedCounter(Wire):
    name: str = Field(description="Name that consumesCounters refers to, for example gpu.")
    count: int | None = Field(default=None, description="How many such physical devices one node has. Default: 1.")
    counters: dict[str, Counter] = Field(description="Amounts by counter name, as the driver publishes them.")


class Device(Wire):
    name: str = Field(description="Name of the device inside the class, for example gpu.")
    driver: str = Field(
        description="DRA driver that publishes it, for example gpu.nvidia.com. Attributes without a domain belong to it.",
    )
    claim: Literal["DRA", "Synthetic", "DevicePlugin"] | None = Field(
        default=None,
        description="How it reaches a pod. DRA renders a ResourceClaim; DevicePlugin renders a resource limit; Synthetic is matched by selectors and never claimed or counted. Default: DRA.",
    )
    device_class_name: str | None = Field(
        default=None, description="DeviceClass on the clusters that its claims name. Required for DRA."
    )
    resource_name: str | None = Field(
        default=None, description="Extended resource of the device plugin. Required for DevicePlugin."
    )
    count: int | None = Field(
        default=None,
        description="How many of it one node has. With consumesCounters: how many of it one physical device can be parted into at each placement, which is 1 for all that drivers publish today. Default: 1.",
    )
    consumes_counters: list[ConsumesCounter] | None = Field(
        default=None,
        description="What one such device takes of a physical device, as in ResourceSlices. Devices that take from the same physical device exclude each other by it: a whole GPU and its MIG slices, or slices in the same place.",
    )
    attributes: dict[str, Attribute] | None = Field(
        default=None,
        description='Attributes as the driver publishes them. A key is a name of letters, digits and "_", or domain/name; without a domain it belongs to the driver. Each has exactly one of string, int, bool and version.',
    )
    capacity: dict[str, Counter] | None = Field(
        default=None,
        description="Capacities as the driver publishes them, not the nominal size. Keys as for attributes.",
    )


class Provisioning(Wire):
    """
    How a cloud makes a node of this class.
    """

    provider: Literal["GKE", "EKS", "AKS"] = Field(description="The cloud service; its block says the rest.")
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


class Spec(Wire):
    """
    The hardware of one node.
    """

    description: str | None = Field(default=None, description="One sentence for people.")
    shared_counters: list[SharedCounter] | None = Field(
        default=None,
        description="What physical devices of ONE node have to share out among the devices they can be parted into, in the terms of ResourceSlices (sharedCounters). One entry describes count equal physical devices, for example eight GPUs that can be parted by MIG.",
    )
    devices: list[Device] = Field(description="The devices of ONE node, one entry per kind.")
    node: Node | None = None
    attributes: dict[str, str] | None = Field(
        default=None,
        description="Facts about nodes of this class as a whole, for people and reports, for example the network between nodes. Keys are label keys such as modelplane.ai/network.",
    )
    cost: Cost | None = None
    provisioning: Provisioning | None = None
    crossplane: Crossplane | None = None


class InferenceClass(Document):
    """
    InferenceClass describes one kind of node by what it offers: its devices in the terms of Dynamic Resource Allocation, optionally its cpu and memory, what it costs, and how a cloud makes one.
    """

    api_version: Literal["modelplane.ai/v1alpha1"] = "modelplane.ai/v1alpha1"
    kind: Literal["InferenceClass"] = "InferenceClass"
    metadata: ObjectMeta = Field(description="Name, namespace and labels.")
    spec: Spec
    status: Status | None = None
