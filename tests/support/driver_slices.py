"""Nodes, ResourceSlices and DeviceClasses in the shapes in which real drivers publish them.

The shapes are facts of the drivers' sources and documents; the documents are our own. Names of attributes and capacity:
kubernetes-sigs/dra-driver-nvidia-gpu (cmd/gpu-kubelet-plugin: deviceinfo.go, partitions.go, 2025 and 2026),
ROCm/k8s-gpu-dra-driver (docs/driver-attributes.md, 2026), intel/intel-resource-drivers-for-kubernetes (2025),
Google's TPU driver (2025), google/dranet (pkg/apis/attributes.go, 2025), NVIDIA's GPU feature discovery (labels).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any

Json = dict[str, Any]

NVIDIA, AMD, INTEL, GAUDI, TPU, NET = (
    "gpu.nvidia.com",
    "gpu.amd.com",
    "gpu.intel.com",
    "gaudi.intel.com",
    "tpu.google.com",
    "dra.net",
)
PCI_BUS, PCI_ROOT = "resource.kubernetes.io/pciBusID", "resource.kubernetes.io/pcieRoot"
MIG_WIDTHS = {"1g.10gb": (1, range(7), "9984Mi"), "3g.40gb": (4, (0, 4), "40448Mi"), "7g.80gb": (8, (0,), "81152Mi")}


def listed(items: Iterable[Json]) -> Json:
    """Return what `kubectl get -o json` prints."""
    return {"apiVersion": "v1", "kind": "List", "items": list(items)}


def node(name: str, labels: Json | None = None, **more: Any) -> Json:
    """Return a Node that is ready. `more` are resources, `taints` and `unschedulable`, and `ready`."""
    taints, unschedulable = more.pop("taints", []), more.pop("unschedulable", False)
    ready, version = more.pop("ready", True), more.pop("version", "v1.36.1")
    allocatable = {"cpu": "206", "memory": "1930000000Ki", "pods": "110", **more.pop("resources", {})}
    assert not more
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, **(labels or {})}},
        "spec": {"taints": taints, **({"unschedulable": True} if unschedulable else {})},
        "status": {
            "allocatable": allocatable,
            "conditions": [{"type": "Ready", "status": str(ready)}],
            "nodeInfo": {"kubeletVersion": version},
        },
    }


def slice_(driver: str, where: str, devices: list[Json], **more: Any) -> Json:
    """Return one ResourceSlice of a node. `more` are fields of its spec, its `number`, `of` and `generation`."""
    number, of, generation = more.pop("number", 0), more.pop("of", 1), more.pop("generation", 1)
    content: Json = {"devices": devices} if devices else {}
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceSlice",
        "metadata": {"name": f"{where}-{driver}-{generation}-{number}"},
        "spec": {
            "driver": driver,
            "nodeName": where,
            "pool": {"name": where, "generation": generation, "resourceSliceCount": of},
            **content,
            **more,
        },
    }


def device_class(name: str, expression: str) -> Json:
    """Return a DeviceClass with one selector."""
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "DeviceClass",
        "metadata": {"name": name},
        "spec": {"selectors": [{"cel": {"expression": expression}}]},
    }


def shipped() -> list[Json]:
    """Return the DeviceClasses that drivers ship, and one that somebody made for network cards."""
    of_type = 'device.driver == "gpu.nvidia.com" && device.attributes["gpu.nvidia.com"].type == "{}"'
    return [
        device_class(NVIDIA, of_type.format("gpu")),
        device_class("mig.nvidia.com", of_type.format("mig")),
        device_class("vfio.gpu.nvidia.com", of_type.format("vfio")),
        device_class(AMD, 'device.driver == "gpu.amd.com"'),
        device_class(INTEL, 'device.driver == "gpu.intel.com"'),
        device_class(GAUDI, 'device.driver == "gaudi.intel.com"'),
        device_class(TPU, 'device.driver == "tpu.google.com"'),
        device_class("rdma-nics", 'device.driver == "dra.net" && device.attributes["dra.net"].rdma'),
    ]


def _uuid(*parts: object) -> str:
    text = hashlib.sha256(repr(parts).encode()).hexdigest()
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:32]}"


def _texts(**values: str) -> Json:
    return {name: {"string": value} for name, value in values.items()}


def nvidia_gpu(where: str, number: int, memory: str = "81559Mi", driver: str = "580.95.5") -> Json:
    """Return a whole GPU of NVIDIA."""
    return {
        "name": f"gpu-{number}",
        "attributes": {
            **_nvidia(driver),
            **_texts(type="gpu", uuid=f"GPU-{_uuid(where, number)}"),
            PCI_BUS: {"string": f"0000:{number + 16:02x}:00.0"},
            PCI_ROOT: {"string": f"pci0000:{number + 16:02x}"},
        },
        "capacity": {"memory": {"value": memory}},
    }


def _nvidia(driver: str) -> Json:
    return {
        **_texts(productName="NVIDIA H100 80GB HBM3", brand="Nvidia", architecture="Hopper"),
        "cudaComputeCapability": {"version": "9.0.0"},
        "driverVersion": {"version": driver},
        "cudaDriverVersion": {"version": "13.0.0"},
    }


def nvidia_mig(where: str, gpus: int) -> list[Json]:
    """Return the slices of GPUs that are parted on demand: a device for each place of each profile, and counters."""
    devices, sets = [], []
    for number in range(gpus):
        counters = {"memory": "81152Mi", "multiprocessors": "132", **{f"memory-slice-{one}": "1" for one in range(8)}}
        sets.append({"name": f"gpu-{number}-counter-set", "counters": _values(counters)})
        whole = nvidia_gpu(where, number, "81152Mi")
        taken = {"counterSet": sets[-1]["name"], "counters": _values(counters)}
        devices.append({**whole, "consumesCounters": [taken]})
        for profile, (width, starts, memory) in MIG_WIDTHS.items():
            devices += [_mig(where, (number, start, width), profile, memory) for start in starts]
    pool = {"of": 2 + (len(devices) > 64)}
    parts = [devices[at : at + 64] for at in range(0, len(devices), 64)]
    made = [slice_(NVIDIA, where, part, number=at, **pool) for at, part in enumerate(parts)]
    return [*made, slice_(NVIDIA, where, [], number=9, sharedCounters=sets, **pool)]


def _mig(where: str, place: tuple[int, int, int], profile: str, memory: str) -> Json:
    number, start, width = place
    slices = {f"memory-slice-{start + one}": "1" for one in range(width)}
    amounts = {"memory": memory, "multiprocessors": str(16 * width), **slices}
    return {
        "name": f"gpu-{number}-mig-{profile.replace('.', '')}-{start}",
        "attributes": {
            **_nvidia("580.95.5"),
            **_texts(type="mig", profile=profile, parentUUID=f"GPU-{_uuid(where, number)}"),
            PCI_BUS: {"string": f"0000:{number + 16:02x}:00.0"},
        },
        "capacity": {
            "memory": {"value": memory},
            "multiprocessors": {"value": str(16 * width)},
            **{f"memorySlice{start + one}": {"value": "1"} for one in range(width)},
        },
        "consumesCounters": [{"counterSet": f"gpu-{number}-counter-set", "counters": _values(amounts)}],
    }


def nvidia_static_mig(where: str, number: int, profile: str = "3g.40gb") -> Json:
    """Return a MIG slice that an administrator made, which exists always and consumes no counters."""
    made = _mig(where, (number // 2, 4 * (number % 2), 4), profile, "40448Mi")
    return {
        **{key: value for key, value in made.items() if key != "consumesCounters"},
        "attributes": {**made["attributes"], "uuid": {"string": f"MIG-{_uuid(where, number)}"}},
    }


def _values(amounts: dict[str, str]) -> Json:
    return {name: {"value": text} for name, text in amounts.items()}


def amd_gpu(where: str, number: int) -> Json:
    """Return a whole GPU of AMD."""
    del where
    return {
        "name": f"gpu-{number}-{128 + number}",
        "attributes": {
            **_texts(
                type="amdgpu", deviceID="0x74a1", productName="AMD_Instinct_MI300X_OAM", partitionProfile="spx_nps1"
            ),
            "driverVersion": {"version": "6.12.12"},
            "cardIndex": {"int": number},
            "renderIndex": {"int": 128 + number},
            "numaNode": {"int": number // 4},
            PCI_BUS: {"string": f"0000:{number + 1:02x}:00.0"},
            PCI_ROOT: {"string": f"pci0000:{number:02x}"},
        },
        "capacity": {"memory": {"value": "196592Mi"}, "computeUnits": {"value": "304"}, "simdUnits": {"value": "1216"}},
    }


def amd_partitions(number: int) -> list[Json]:
    """Return the virtual devices of one GPU that AMD's driver parts itself: shared, and excluding each other."""
    made = []
    for compute, memory, parts in (("spx", "nps1", 1), ("cpx", "nps4", 8)):
        made.append(
            {
                "name": f"gpu-{number}-{compute}-{memory}",
                "attributes": _texts(
                    type="amdgpu" if parts == 1 else "amdgpu-partition",
                    computePartition=compute,
                    memoryPartition=memory,
                    productName="AMD_Instinct_MI300X_OAM",
                ),
                "capacity": {
                    "partitions": {
                        "value": str(parts),
                        "requestPolicy": {"default": "1", "validRange": {"min": "1", "step": "1"}}
                        if parts > 1
                        else {"default": "1"},
                    },
                    "memory": {"value": f"{196592 // parts}Mi"},
                },
                "allowMultipleAllocations": True,
                "consumesCounters": [
                    {"counterSet": f"gpu-{number}-mutex", "counters": {"partition-mode": {"value": "1"}}}
                ],
            }
        )
    return made


def intel_gpu(number: int) -> Json:
    """Return a data centre GPU of Intel."""
    return {
        "name": f"0000-{number:02x}-00-0-0x0bda",
        "attributes": {
            **_texts(
                model="Max 1100", family="Data Center Max", driver="i915", type="gpu", pciId="0x0bda", health="Healthy"
            ),
            "sriov": {"bool": False},
            "pciAddress": {"string": f"0000:{number:02x}:00.0"},
            PCI_ROOT: {"string": f"pci0000:{number:02x}"},
        },
        "capacity": {"memory": {"value": "49152Mi"}, "millicores": {"value": "1000"}},
    }


def gaudi(where: str, number: int) -> Json:
    """Return a Gaudi accelerator."""
    return {
        "name": f"0000-{number:02x}-00-0-0x1060",
        "attributes": {
            **_texts(model="Gaudi3", serial=f"AN{_uuid(where, number)[:8]}"),
            "healthy": {"bool": True},
            PCI_ROOT: {"string": f"pci0000:{number:02x}"},
        },
    }


def tpu(where: str, number: int) -> Json:
    """Return a TPU chip, which publishes no capacity."""
    return {
        "name": str(number),
        "attributes": {
            **_texts(
                tpuGen="v6e", brand="Google", accelerator="tpu-v6e-slice", topology="2x4", uuid=_uuid(where, number)
            ),
            "index": {"int": number},
            "chipCount": {"int": 8},
        },
    }


def nic(where: str, number: int, *, rdma: bool = True) -> Json:
    """Return a network card as dranet publishes it."""
    return {
        "name": f"net-{number}",
        "attributes": {
            **{
                f"dra.net/{name}": {"string": value}
                for name, value in {
                    "ifName": f"gpu{number}rdma0",
                    "mac": "0a:00:" + ":".join(_uuid(where, number)[at : at + 2] for at in (0, 2, 4, 6)),
                    "pciAddress": f"0000:{number + 64:02x}:00.0",
                    "pciVendor": "Mellanox Technologies",
                    "pciDevice": "MT2910 Family [ConnectX-7]",
                    "rdmaDevice": f"mlx5_{number}",
                    "encapsulation": "ether",
                    "state": "up",
                    "ipv4": f"10.0.{number}.{int(_uuid(where)[:2], 16)}/24",
                }.items()
            },
            **{
                f"dra.net/{name}": {"bool": value}
                for name, value in {"rdma": rdma, "virtual": False, "sriov": False}.items()
            },
            "dra.net/numaNode": {"int": number // 4},
            "dra.net/mtu": {"int": 9000 if rdma else 1500},
            PCI_ROOT: {"string": f"pci0000:{number + 16:02x}"},
        },
    }


GFD_LABELS = {
    "nvidia.com/gpu.product": "NVIDIA-L40S",
    "nvidia.com/gpu.memory": "46068",
    "nvidia.com/gpu.family": "ada-lovelace",
    "nvidia.com/gpu.compute.major": "8",
    "nvidia.com/gpu.compute.minor": "9",
    "nvidia.com/gpu.count": "4",
    "nvidia.com/gpu.replicas": "1",
}
"""Labels of GPU feature discovery on a node with four L40S."""
