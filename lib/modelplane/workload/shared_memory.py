"""Shared memory of the engine container: a volume in memory at /dev/shm.

An engine runs one process per device, and the processes exchange tensors through it. A container runtime provides 64
MiB, with which they fail at start. The size is a limit: no memory is reserved, and a page counts once it is written.

Source: KServe 0.20, whose presets for data parallelism have 8Gi for one engine (its other presets have 1Gi, too little
for tensor parallelism); Dynamo 1.4 has 8Gi by default.
"""

from __future__ import annotations

VOLUME = "dshm"
"""The name of the volume of KServe, so that this one replaces it where presets are merged."""

PATH = "/dev/shm"  # noqa: S108 - the container's own shared memory, not a shared temporary folder
GIB_PER_DEVICE = 8


def size(devices: int) -> str:
    """Return the limit of the volume in a pod with this number of devices, as a Kubernetes quantity."""
    return f"{GIB_PER_DEVICE * devices}Gi"
