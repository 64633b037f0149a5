"""Sizes of Azure with devices: what is in them, and what AKS takes with them.

Source: learn.microsoft.com/azure/virtual-machines/sizes/gpu-accelerated, one page for each series;
the figures were not compared with the pages line by line. A size that is not in the table is rendered as its author
writes it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

NVIDIA, AMD = "gpu.nvidia.com", "gpu.amd.com"


@dataclass(frozen=True, slots=True)
class Facts:
    """Facts about one size: its devices, their DRA driver, and the room in GiB for an ephemeral boot disk."""

    devices: int
    temporary_gib: int
    driver: str = NVIDIA


SIZES: Final = {
    "Standard_NC24ads_A100_v4": Facts(1, 64),
    "Standard_NC48ads_A100_v4": Facts(2, 128),
    "Standard_NC96ads_A100_v4": Facts(4, 256),
    "Standard_NC40ads_H100_v5": Facts(1, 128),
    "Standard_NC80adis_H100_v5": Facts(2, 256),
    "Standard_ND96asr_v4": Facts(8, 6000),
    "Standard_ND96amsr_A100_v4": Facts(8, 6400),
    "Standard_ND96isr_H100_v5": Facts(8, 1000),
    "Standard_ND96isr_H200_v5": Facts(8, 1000),
    "Standard_ND96isr_MI300X_v5": Facts(8, 1000, AMD),
}
"""The sizes by name."""
