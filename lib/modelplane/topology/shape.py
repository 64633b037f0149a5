"""Topology of a worker: the pods, nodes and devices that its parallelism needs.

One worker of a role uses `tensor * data * pipeline` devices. A node runs `tensor * dataLocal` ranks. Each pipeline
stage and each further group of data-parallel ranks takes another node.
"""

from __future__ import annotations

from dataclasses import dataclass

from modelplane.errors import InvalidShape


@dataclass(frozen=True, slots=True)
class Topology:
    """The parallelism of one worker; every size is at least 1.

    Raises: InvalidShape when `data` is not a multiple of `data_local` (the author's fault).
    """

    tensor: int = 1
    pipeline: int = 1
    data: int = 1
    data_local: int = 1
    expert: bool = False

    def __post_init__(self) -> None:
        for field, size in (
            ("tensor", self.tensor),
            ("pipeline", self.pipeline),
            ("data", self.data),
            ("dataLocal", self.data_local),
        ):
            if size < 1:
                raise InvalidShape(f"must be at least 1, not {size}", path=("topology", field))
        if self.data % self.data_local:
            raise InvalidShape(
                f"data {self.data} must be a multiple of dataLocal {self.data_local}, "
                f"because each node runs dataLocal of the data-parallel ranks",
                path=("topology", "data"),
            )

    def documented(self) -> dict[str, int | bool]:
        """Return the fields under the names that documents and answers give them."""
        return {
            "tensor": self.tensor,
            "pipeline": self.pipeline,
            "data": self.data,
            "dataLocal": self.data_local,
            "expert": self.expert,
        }

    @property
    def nodes(self) -> int:
        """Return the number of nodes of one worker, which is also that of its pods: a pod never spans nodes."""
        return self.pipeline * (self.data // self.data_local)

    @property
    def devices_per_node(self) -> int:
        """Return the number of devices that each pod of the worker needs."""
        return self.tensor * self.data_local

    @property
    def devices(self) -> int:
        """Return the number of devices of the whole worker."""
        return self.tensor * self.data * self.pipeline

    @property
    def is_gang(self) -> bool:
        """Return whether the worker spans several nodes, so that its pods start and stop together."""
        return self.nodes > 1
