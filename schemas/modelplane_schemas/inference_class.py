# Generated from apis/inferenceclasses/definition.yaml by schemas/generate.py; do not edit.

from __future__ import annotations

from pydantic import Field
from modelplane_schemas.wire import Wire
from typing import Any, Literal


class Attributes(Wire):
    string: str | None = Field(None, description="Text.")
    int_: int | None = Field(None, alias="int", description="Whole number.")
    bool_: bool | None = Field(None, alias="bool", description="True or false.")
    version: str | None = Field(None, description="Semantic version, for example 9.0.0.")


class Node(Wire):
    """
    What pods may use of one node (allocatable). What is given is checked when replicas are placed.
    """

    cpu: int | str | None = Field(None, description="A Kubernetes quantity, for example 143771Mi.")
    memory: int | str | None = Field(None, description="A Kubernetes quantity, for example 143771Mi.")


class Cost(Wire):
    """
    Price, used to choose between places that fit equally well, and in reports.
    """

    per_node_hour: str = Field(
        ...,
        alias="perNodeHour",
        description='Price of one node for one hour as a decimal number in quotes, for example "88.49".',
    )
    currency: str | None = Field("USD", description="ISO 4217 code.")


class Gke(Wire):
    """
    Node pool of Google Kubernetes Engine.
    """

    machine_type: str = Field(..., alias="machineType", description="Machine type, for example a3-ultragpu-8g.")
    accelerator_type: str | None = Field(
        None, alias="acceleratorType", description="Accelerator, for example nvidia-h200-141gb."
    )
    accelerator_count: int | None = Field(None, alias="acceleratorCount", description="Accelerators per node.")
    driver_version: Literal["Default", "Latest", "Disabled"] | None = Field(
        None,
        alias="driverVersion",
        description="Driver that GKE installs. Disabled is right where the DRA driver's operator installs it.",
    )
    image_type: str | None = Field(None, alias="imageType", description="Node image, for example COS_CONTAINERD.")
    disk_size_gi_b: int | None = Field(
        None, alias="diskSizeGiB", description="Boot disk in GiB; container images of engines are large."
    )
    disk_type: str | None = Field(None, alias="diskType", description="Boot disk type, for example hyperdisk-balanced.")
    local_ssd_count: int | None = Field(None, alias="localSsdCount", description="Local NVMe disks for scratch space.")
    placement_policy: Literal["None", "Compact"] | None = Field(
        None, alias="placementPolicy", description="Compact puts nodes close together."
    )
    network_profile: str | None = Field(None, alias="networkProfile", description="Profile of the RDMA network.")
    reservation: str | None = Field(None, description="Reservation to consume.")
    spot: bool | None = Field(None, description="Use spot capacity.")


class Eks(Wire):
    """
    Node group of Amazon EKS.
    """

    instance_type: str = Field(..., alias="instanceType", description="Instance type, for example p5en.48xlarge.")
    ami_type: str | None = Field(None, alias="amiType", description="Image family, for example AL2023_x86_64_NVIDIA.")
    disk_size_gi_b: int | None = Field(
        None, alias="diskSizeGiB", description="Boot disk in GiB; container images of engines are large."
    )
    capacity_type: Literal["ON_DEMAND", "SPOT", "CAPACITY_BLOCK"] | None = Field(
        None, alias="capacityType", description="How capacity is bought."
    )
    capacity_reservation_id: str | None = Field(
        None, alias="capacityReservationId", description="Reservation to consume."
    )
    efa_interfaces: int | None = Field(None, alias="efaInterfaces", description="Elastic Fabric Adapters per node.")
    placement_group: str | None = Field(None, alias="placementGroup", description="Cluster placement group.")


class Aks(Wire):
    """
    Node pool of Azure Kubernetes Service.
    """

    vm_size: str = Field(..., alias="vmSize", description="VM size, for example Standard_ND96isr_H200_v5.")
    os_sku: str | None = Field(None, alias="osSku", description="Node image, for example Ubuntu.")
    disk_size_gi_b: int | None = Field(
        None, alias="diskSizeGiB", description="Boot disk in GiB; container images of engines are large."
    )
    gpu_driver: Literal["Install", "None"] | None = Field(
        None, alias="gpuDriver", description="None is right where the DRA driver's operator installs it."
    )
    priority: Literal["Regular", "Spot"] | None = Field(None, description="How capacity is bought.")
    capacity_reservation_group_id: str | None = Field(
        None, alias="capacityReservationGroupId", description="Reservation to consume."
    )


class Provisioning(Wire):
    """
    How a cloud makes a node of this class.
    """

    provider: Literal["GKE", "EKS", "AKS"] = Field(..., description="The cloud service; its block says the rest.")
    gke: Gke | None = Field(None, description="Node pool of Google Kubernetes Engine.")
    eks: Eks | None = Field(None, description="Node group of Amazon EKS.")
    aks: Aks | None = Field(None, description="Node pool of Azure Kubernetes Service.")


class Status(Wire):
    """
    Findings about the class.
    """

    devices: int | None = Field(None, description="Devices of one node that can be claimed.")
    warnings: list[str] | None = Field(
        None, description="What looks wrong and does not stop the class from being used."
    )


class Counters(Wire):
    value: int | str = Field(..., description="A Kubernetes quantity, for example 143771Mi.")


class SharedCounter(Wire):
    name: str = Field(..., description="Name that consumesCounters refers to, for example gpu.")
    count: int | None = Field(1, description="How many such physical devices one node has.")
    counters: dict[str, Counters] = Field(..., description="Amounts by counter name, as the driver publishes them.")


class ConsumesCounter(Wire):
    counter_set: str = Field(
        ...,
        alias="counterSet",
        description="Entry of sharedCounters. With neither counters nor placements the device takes all of it.",
    )
    counters: dict[str, Counters] | None = Field(
        None, description="Amounts by counter name, as the driver publishes them."
    )
    placements: list[list[str]] | None = Field(
        None,
        description="Where on the physical device it can be: one list per place, of the counters that it takes whole there. For a MIG slice these are the memory slices it covers, for example [memory-slice-0, memory-slice-1]. The driver publishes one device per place.",
    )


class Device(Wire):
    name: str = Field(..., description="Name of the device inside the class, for example gpu.")
    driver: str = Field(
        ...,
        description="DRA driver that publishes it, for example gpu.nvidia.com. Attributes without a domain belong to it.",
    )
    claim: Literal["DRA", "Synthetic", "DevicePlugin"] | None = Field(
        "DRA",
        description="How it reaches a pod. DRA renders a ResourceClaim; DevicePlugin renders a resource limit; Synthetic is matched by selectors and never claimed or counted.",
    )
    device_class_name: str | None = Field(
        None, alias="deviceClassName", description="DeviceClass on the clusters that its claims name. Required for DRA."
    )
    resource_name: str | None = Field(
        None, alias="resourceName", description="Extended resource of the device plugin. Required for DevicePlugin."
    )
    count: int | None = Field(
        1,
        description="How many of it one node has. With consumesCounters: how many of it one physical device can be parted into at each placement, which is 1 for all that drivers publish today.",
    )
    consumes_counters: list[ConsumesCounter] | None = Field(
        None,
        alias="consumesCounters",
        description="What one such device takes of a physical device, as in ResourceSlices. Devices that take from the same physical device exclude each other by it: a whole GPU and its MIG slices, or slices in the same place.",
    )
    attributes: dict[str, Attributes] | None = Field(
        None,
        description='Attributes as the driver publishes them. A key is a name of letters, digits and "_", or domain/name; without a domain it belongs to the driver. Each has exactly one of string, int, bool and version.',
    )
    capacity: dict[str, Counters] | None = Field(
        None, description="Capacities as the driver publishes them, not the nominal size. Keys as for attributes."
    )


class Spec(Wire):
    """
    The hardware of one node.
    """

    description: str | None = Field(None, description="One sentence for people.")
    shared_counters: list[SharedCounter] | None = Field(
        None,
        alias="sharedCounters",
        description="What physical devices of ONE node have to share out among the devices they can be parted into, in the terms of ResourceSlices (sharedCounters). One entry describes count equal physical devices, for example eight GPUs that can be parted by MIG.",
    )
    devices: list[Device] = Field(..., description="The devices of ONE node, one entry per kind.")
    node: Node | None = Field(
        None,
        description="What pods may use of one node (allocatable). What is given is checked when replicas are placed.",
    )
    attributes: dict[str, str] | None = Field(
        None,
        description="Facts about nodes of this class as a whole, for people and reports, for example the network between nodes. Keys are label keys such as modelplane.ai/network.",
    )
    cost: Cost | None = Field(
        None, description="Price, used to choose between places that fit equally well, and in reports."
    )
    provisioning: Provisioning | None = Field(None, description="How a cloud makes a node of this class.")


class InferenceClass(Wire):
    """
    InferenceClass describes one kind of node by what it offers: its devices in the terms of Dynamic Resource Allocation, optionally its cpu and memory, what it costs, and how a cloud makes one.
    """

    api_version: str | None = Field(None, alias="apiVersion")
    kind: str | None = None
    metadata: dict[str, Any] | None = None
    spec: Spec = Field(..., description="The hardware of one node.")
    status: Status | None = Field(None, description="Findings about the class.")