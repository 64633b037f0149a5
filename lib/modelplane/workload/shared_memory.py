"""The shared memory of an engine's container: a volume in memory at /dev/shm.

The processes of an engine, one for each device, exchange tensors through it, and a container runtime gives 64 MiB, with
which they end at start. The size is a limit: nothing is reserved, and a page counts once it is written.

Source: KServe 0.20, whose presets for data parallelism have 8Gi for one engine (its other presets have 1Gi, too little
for tensor parallelism); Dynamo 1.4 has 8Gi where nothing is said. Engines run one process for each device of a pod.
"""

from __future__ import annotations

VOLUME = "dshm"
"""The name of KServe's own volume, so that ours replaces it where its presets are merged."""

PATH = "/dev/shm"  # noqa: S108 - the container's own shared memory, not a shared temporary folder
GIB_PER_DEVICE = 8


def size(devices: int) -> str:
    """Return the limit of the volume in a pod with so many devices, as a quantity of Kubernetes."""
    return f"{GIB_PER_DEVICE * devices}Gi"
