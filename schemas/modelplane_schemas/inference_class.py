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


class Capacity(Wire):
    value: int | str = Field(..., description="A Kubernetes quantity, for example 143771Mi.")


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
    count: int | None = Field(1, description="How many of it one node has.")
    attributes: dict[str, Attributes] | None = Field(
        None,
        description='Attributes as the driver publishes them. A key is a name of letters, digits and "_", or domain/name; without a domain it belongs to the driver. Each has exactly one of string, int, bool and version.',
    )
    capacity: dict[str, Capacity] | None = Field(
        None, description="Capacities as the driver publishes them, not the nominal size. Keys as for attributes."
    )


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


class Spec(Wire):
    """
    The hardware of one node.
    """

    description: str | None = Field(None, description="One sentence for people.")
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


class Status(Wire):
    """
    Findings about the class.
    """

    devices: int | None = Field(None, description="Devices of one node that can be claimed.")
    warnings: list[str] | None = Field(
        None, description="What looks wrong and does not stop the class from being used."
    )


class InferenceClass(Wire):
    """
    InferenceClass describes one kind of node by what it offers: its devices in the terms of Dynamic Resource Allocation, optionally its cpu and memory, what it costs, and how a cloud makes one.
    """

    api_version: str | None = Field(None, alias="apiVersion")
    kind: str | None = None
    metadata: dict[str, Any] | None = None
    spec: Spec = Field(..., description="The hardware of one node.")
    status: Status | None = Field(None, description="Findings about the class.")