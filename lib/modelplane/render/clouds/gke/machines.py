"""Machine types of Google Cloud with devices: what is in them, and what GKE takes with them.

Source: cloud.google.com/compute/docs/accelerator-optimized-machines and /compute/docs/disks/local-ssd; the figures
were not compared with the pages line by line. A machine type that is not in the table is rendered as its author writes
it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

RDMA_PROFILE: Final = "auto"
"""The profile by which GKE makes the networks of the RDMA interfaces itself."""


@dataclass(frozen=True, slots=True)
class Facts:
    """Facts about one machine type.

    `ssds` are the numbers of local SSDs that it takes; one number alone is fixed. `disk` is the default type of its
    boot disk; `has_hyperdisk_only` says that it takes no Persistent Disk. `has_rdma` says that GKE can make its RDMA
    networks. `is_small_a3` says that it is sold only as spot capacity or with flex-start.
    """

    device_type: str
    devices: int
    ssds: tuple[int, ...]
    disk: str = "pd-ssd"
    has_gvnic: bool = False
    has_hyperdisk_only: bool = False
    has_rdma: bool = False
    is_small_a3: bool = False


_A100, _A100_80, _L4 = "nvidia-tesla-a100", "nvidia-a100-80gb", "nvidia-l4"
_H100, _H100_MEGA = "nvidia-h100-80gb", "nvidia-h100-mega-80gb"


def _small_a3(devices: int, ssds: int) -> Facts:
    return Facts(_H100, devices, (ssds,), has_gvnic=True, is_small_a3=True)


def _rdma(device_type: str) -> Facts:
    return Facts(
        device_type, 8, (32,), disk="hyperdisk-balanced", has_gvnic=True, has_hyperdisk_only=True, has_rdma=True
    )


MACHINES: Final = {
    "g2-standard-4": Facts(_L4, 1, (0, 1)),
    "g2-standard-8": Facts(_L4, 1, (0, 1)),
    "g2-standard-12": Facts(_L4, 1, (0, 1)),
    "g2-standard-16": Facts(_L4, 1, (0, 1)),
    "g2-standard-24": Facts(_L4, 2, (0, 2)),
    "g2-standard-32": Facts(_L4, 1, (0, 1)),
    "g2-standard-48": Facts(_L4, 4, (0, 4)),
    "g2-standard-96": Facts(_L4, 8, (0, 8)),
    "a2-highgpu-1g": Facts(_A100, 1, (0, 1, 2, 4, 8)),
    "a2-highgpu-2g": Facts(_A100, 2, (0, 2, 4, 8)),
    "a2-highgpu-4g": Facts(_A100, 4, (0, 4, 8)),
    "a2-highgpu-8g": Facts(_A100, 8, (0, 8)),
    "a2-megagpu-16g": Facts(_A100, 16, (0, 8)),
    "a2-ultragpu-1g": Facts(_A100_80, 1, (1,)),
    "a2-ultragpu-2g": Facts(_A100_80, 2, (2,)),
    "a2-ultragpu-4g": Facts(_A100_80, 4, (4,)),
    "a2-ultragpu-8g": Facts(_A100_80, 8, (8,)),
    "a3-highgpu-1g": _small_a3(1, 2),
    "a3-highgpu-2g": _small_a3(2, 4),
    "a3-highgpu-4g": _small_a3(4, 8),
    "a3-highgpu-8g": Facts(_H100, 8, (16,), has_gvnic=True),
    "a3-edgegpu-8g": Facts(_H100, 8, (16,), has_gvnic=True),
    "a3-megagpu-8g": Facts(_H100_MEGA, 8, (16,), has_gvnic=True),
    "a3-ultragpu-8g": _rdma("nvidia-h200-141gb"),
    "a4-highgpu-8g": _rdma("nvidia-b200"),
}
"""The machine types by name."""
