"""What is made of the slices of each driver: the devices of a class, and what is said about the rest."""

from __future__ import annotations

from typing import Any

import pytest

from modelplane.api import class_document, cluster_node, inference_class, resource_slice
from modelplane.devices.model import Claim, NodeClass
from modelplane.inventory import survey
from modelplane.inventory.model import Seen
from modelplane.inventory.survey import Survey
from tests.support import driver_slices as drivers

Json = Any

POOL = {"cloud.google.com/gke-nodepool": "gpus"}


def surveyed(*items: Json, by_place: bool = False) -> Survey:
    """Return what is found in the documents."""
    kinds: dict[str, list[Json]] = {}
    for one in items:
        kinds.setdefault(one["kind"], []).append(one)
    seen = Seen(
        tuple(map(resource_slice.decode, kinds.get("ResourceSlice", []))),
        tuple(map(cluster_node.decode, kinds.get("Node", []))),
        tuple(map(resource_slice.decode_class, kinds.get("DeviceClass", []))),
    )
    return survey.survey(seen, by_place=by_place)


def shown(node_class: NodeClass) -> dict[str, tuple[int, str, dict[str, object]]]:
    """Return the number, the DeviceClass and the attributes of each device, by name."""
    return {
        one.name: (
            one.count,
            one.device_class or one.resource_name,
            {name: value.value for name, value in one.attributes},
        )
        for one in node_class.devices
    }


def cluster(of: Any, nodes: int = 2, count: int = 8, driver: str = drivers.NVIDIA) -> list[Json]:
    """Return nodes with one slice each, of devices that `of` makes of a node and a number."""
    names = [f"node-{number}" for number in range(nodes)]
    slices = [drivers.slice_(driver, name, [of(name, number) for number in range(count)]) for name in names]
    return [*slices, *(drivers.node(name, POOL) for name in names), *drivers.shipped()]


NVIDIA_KEPT = {
    "architecture": "Hopper",
    "brand": "Nvidia",
    "cudaComputeCapability": "9.0.0",
    "cudaDriverVersion": "13.0.0",
    "driverVersion": "580.95.5",
    "productName": "NVIDIA H100 80GB HBM3",
}


def test_whole_gpus_of_nvidia() -> None:
    found = surveyed(*cluster(drivers.nvidia_gpu))
    (one,) = found.classes
    assert one.name == "h100-80gb-hbm3-8x"
    assert shown(one) == {"gpu": (8, "gpu.nvidia.com", {**NVIDIA_KEPT, "type": "gpu"})}
    assert one.devices[0].capacity == (("memory", "81559Mi"),)
    assert (one.cpu_millis, one.memory_bytes) == (206_000, 1_930_000_000 * 1024)
    (pool,) = found.pools
    assert (pool.name, pool.counted, pool.labels) == ("gpus", 2, tuple(POOL.items()))
    assert found.notes == (
        f"gpu.nvidia.com: {drivers.PCI_BUS}, uuid left out: they tell one device from another",
        f"attributes of place left out: {drivers.PCI_ROOT}: they differ between the devices of a node",
    )


def test_gpus_that_are_parted_on_demand() -> None:
    items = [*drivers.nvidia_mig("node-0", 8), drivers.node("node-0"), *drivers.shipped()]
    found = surveyed(*items)
    (one,) = found.classes
    assert one.name == "h100-80gb-hbm3-8x-mig"
    (counters,) = one.counter_sets
    assert (counters.name, counters.count) == ("gpu", 8)
    whole, *parts = one.devices
    assert (whole.name, whole.draws[0].amounts) == ("gpu", counters.counters)
    placements = {part.name: len(part.draws[0].placements) for part in parts}
    assert placements == {"mig-1g-10gb": 7, "mig-3g-40gb": 2, "mig-7g-80gb": 0}
    assert {part.device_class for part in parts} == {"mig.nvidia.com"}
    assert all(name in ("memory", "multiprocessors") for part in parts for name, _ in part.capacity)
    back = inference_class.decode(class_document.encode(one))
    assert {device.name: device.count for device in back.devices} == {
        "gpu": 8,
        "mig-1g-10gb": 56,
        "mig-3g-40gb": 16,
        "mig-7g-80gb": 8,
    }


def test_slices_that_an_administrator_made_beside_whole_gpus() -> None:
    devices = [drivers.nvidia_static_mig("n", one) for one in range(4)] + [drivers.nvidia_gpu("n", 7)]
    (one,) = surveyed(drivers.slice_(drivers.NVIDIA, "n", devices), drivers.node("n"), *drivers.shipped()).classes
    assert {name: row[:2] for name, row in shown(one).items()} == {
        "mig-3g-40gb": (4, "mig.nvidia.com"),
        "gpu": (1, "gpu.nvidia.com"),
    }


def test_gpus_of_amd() -> None:
    found = surveyed(*cluster(drivers.amd_gpu, driver=drivers.AMD))
    (one,) = found.classes
    assert one.name == "mi300x-oam-8x"
    (count, device_class, attributes) = shown(one)["gpu"]
    assert (count, device_class, attributes["deviceID"]) == (8, "gpu.amd.com", "0x74a1")
    assert not {"cardIndex", "renderIndex", "numaNode", drivers.PCI_ROOT} & set(attributes)


def test_virtual_partitions_of_amd_cannot_be_written() -> None:
    sets = [{"name": "gpu-0-mutex", "counters": {"partition-mode": {"value": "1"}}}]
    slices = [
        drivers.slice_(drivers.AMD, "n", drivers.amd_partitions(0), of=2),
        drivers.slice_(drivers.AMD, "n", [], number=1, of=2, sharedCounters=sets),
    ]
    found = surveyed(*slices, drivers.node("n"), *drivers.shipped())
    assert found.classes == ()
    assert sum("pods share it too" in note for note in found.notes) == 2


@pytest.mark.parametrize(
    ("driver", "of", "name", "kept"),
    [
        pytest.param(
            drivers.INTEL,
            lambda _, number: drivers.intel_gpu(number),
            "max-1100-4x",
            {"model", "family", "driver", "type", "pciId", "health", "sriov"},
            id="Intel",
        ),
        pytest.param(drivers.GAUDI, drivers.gaudi, "gaudi3-4x", {"model", "healthy"}, id="Gaudi"),
        pytest.param(
            drivers.TPU,
            drivers.tpu,
            "v6e-4x",
            {"tpuGen", "brand", "accelerator", "topology", "chipCount"},
            id="TPU",
        ),
    ],
)
def test_other_accelerators(driver: str, of: Any, name: str, kept: set[str]) -> None:
    (one,) = surveyed(*cluster(of, count=4, driver=driver)).classes
    assert one.name == name
    ((count, device_class, attributes),) = shown(one).values()
    assert (count, device_class, set(attributes)) == (4, driver, kept)


def test_network_cards_beside_gpus() -> None:
    items = cluster(drivers.nvidia_gpu)
    for name in ("node-0", "node-1"):
        cards = [drivers.nic(name, number, rdma=number < 8) for number in range(9)]
        items.append(drivers.slice_(drivers.NET, name, cards))
    found = surveyed(*items)
    (one,) = found.classes
    assert one.name == "h100-80gb-hbm3-8x"
    assert {name: row[:2] for name, row in shown(one).items()} == {
        "gpu": (8, "gpu.nvidia.com"),
        "nic": (8, "rdma-nics"),
    }
    assert set(shown(one)["nic"][2]) == {
        f"dra.net/{name}"
        for name in ("encapsulation", "mtu", "pciDevice", "pciVendor", "rdma", "sriov", "state", "virtual")
    }
    assert "dra.net: devices nic left out: no DeviceClass selects them; create one" in found.notes
    by_place = surveyed(*items, by_place=True).classes[0]
    roots = [dict(device.attributes)[drivers.PCI_ROOT].value for device in by_place.devices]
    assert [device.name for device in by_place.devices] == [
        *(f"gpu-{n}" for n in range(8)),
        *(f"nic-{n}" for n in range(8)),
    ]
    assert roots == [f"pci0000:{number + 16:02x}" for number in range(8)] * 2


def test_equal_machines_whose_devices_sit_elsewhere_stay_one_class() -> None:
    items = cluster(drivers.nvidia_gpu)
    for name, shift in (("node-0", 0), ("node-1", 1)):
        items.append(drivers.slice_(drivers.NET, name, [drivers.nic(name, number + shift) for number in range(8)]))
    found = surveyed(*items, by_place=True)
    assert [len(one.devices) for one in found.classes] == [2]
    assert "attributes of place left out: they differ between equal nodes (node-0, node-1)" in found.notes


def test_an_upgrade_of_the_driver_that_is_on_its_way_splits_nothing() -> None:
    items = cluster(drivers.nvidia_gpu, nodes=1)
    new = [drivers.nvidia_gpu("node-9", number, driver="590.1.0") for number in range(8)]
    found = surveyed(*items, drivers.slice_(drivers.NVIDIA, "node-9", new), drivers.node("node-9", POOL))
    (one,) = found.classes
    assert "driverVersion" not in shown(one)["gpu"][2]
    assert any(
        "attribute driverVersion left out: it differs between equal devices (580.95.5, 590.1.0)" in note
        for note in found.notes
    )


# --- device plugins


def test_devices_of_a_plugin_are_described_by_labels() -> None:
    found = surveyed(drivers.node("n", drivers.GFD_LABELS, resources={"nvidia.com/gpu": "4", "example.com/key": "1"}))
    (one,) = found.classes
    (device,) = one.devices
    assert (one.name, device.claim, device.resource_name, device.count) == (
        "l40s-4x",
        Claim.DEVICE_PLUGIN,
        "nvidia.com/gpu",
        4,
    )
    assert shown(one)["gpu"][2] == {
        "type": "gpu",
        "productName": "NVIDIA-L40S",
        "architecture": "Ada Lovelace",
        "cudaComputeCapability": "8.9.0",
    }
    assert device.capacity == (("memory", "46068Mi"),)
    assert found.notes == (
        "resource example.com/key left out: it is no known device; a class may list it (DevicePlugin)",
    )


@pytest.mark.parametrize(
    ("labels", "resources", "expected"),
    [
        pytest.param(
            {"nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3-MIG-1g.10gb", "nvidia.com/gpu.memory": "9984"},
            {"nvidia.com/gpu": "56"},
            {"mig-1g-10gb": (56, "9984Mi")},
            id="one profile on all GPUs",
        ),
        pytest.param(
            {"nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3", "nvidia.com/mig-3g.40gb.memory": "40448"},
            {"nvidia.com/mig-3g.40gb": "4", "nvidia.com/mig-1g.10gb": "2", "nvidia.com/gpu": "6"},
            {"gpu": (6, None), "mig-3g-40gb": (4, "40448Mi"), "mig-1g-10gb": (2, None)},
            id="several profiles",
        ),
        pytest.param(
            {
                "nvidia.com/gpu.product": "NVIDIA-L4-SHARED",
                "nvidia.com/gpu.memory": "23034",
                "nvidia.com/gpu.replicas": "4",
            },
            {"nvidia.com/gpu": "4"},
            {"gpu": (4, None)},
            id="shared in time: no share has the memory",
        ),
        pytest.param(
            {"amd.com/gpu.product-name": "AMD_Instinct_MI300X_OAM", "amd.com/gpu.vram": "191G"},
            {"amd.com/gpu": "8"},
            {"gpu": (8, "191Gi")},
            id="AMD",
        ),
        pytest.param(
            {"cloud.google.com/gke-tpu-accelerator": "tpu-v6e-slice", "cloud.google.com/gke-tpu-topology": "2x4"},
            {"google.com/tpu": "8"},
            {"tpu": (8, None)},
            id="TPU",
        ),
    ],
)
def test_labels_of_plugins(labels: Json, resources: Json, expected: Json) -> None:
    (one,) = surveyed(drivers.node("n", labels, resources=resources)).classes
    assert {d.name: (d.count, dict(d.capacity).get("memory")) for d in one.devices} == expected


def test_a_driver_and_a_plugin_of_the_same_devices_count_once() -> None:
    items = cluster(drivers.nvidia_gpu, nodes=1)
    items = [one for one in items if one["kind"] != "Node"]
    found = surveyed(*items, drivers.node("node-0", drivers.GFD_LABELS, resources={"nvidia.com/gpu": "8"}))
    assert [device.claim for device in found.classes[0].devices] == [Claim.DRA]
    assert any(note.startswith("resource nvidia.com/gpu left out: gpu.nvidia.com publishes") for note in found.notes)
