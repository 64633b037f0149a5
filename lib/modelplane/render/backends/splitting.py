"""Topologies over more nodes for a tensor size that is more devices than a node has.

The tensor size becomes one that a node holds, and the rest of it stages of a pipeline over nodes. The number of devices
stays. Only topologies that backend, engine and a known model take are returned: an author can write what is proposed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from modelplane.errors import InvalidInput, Unsupported
from modelplane.render import starting
from modelplane.render.backends import selection
from modelplane.sizing import verdict
from modelplane.topology.shape import Topology
from modelplane.workload.model import RoleSpec, Workload

LEAST = 2
"""The smallest tensor size that is proposed: a pipeline of single devices is not what somebody wants who asked for
    tensor parallelism."""


def of(workload: Workload, role: RoleSpec, backend: str, pipeline_max: int) -> tuple[Topology, ...]:
    """Return the topologies that a role could have in place of its own, the one of fewest nodes first.

    None where the author asks for another number of devices than the topology has, or for alternatives.
    Cost: a check of the workload by its backend for each divisor of the tensor size.
    """
    first = role.requests[0]
    if first.alternatives or first.count != role.topology.devices_per_node:
        return ()
    return tuple(one for one in _narrower(role.topology, pipeline_max) if _is_taken(workload, role, backend, one))


def _narrower(topology: Topology, pipeline_max: int) -> Iterator[Topology]:
    for size in range(topology.tensor // 2, LEAST - 1, -1):
        pipeline = topology.pipeline * (topology.tensor // size)
        if topology.tensor % size == 0 and pipeline <= pipeline_max:
            yield replace(topology, tensor=size, pipeline=pipeline)


def _is_taken(workload: Workload, role: RoleSpec, backend: str, topology: Topology) -> bool:
    """Return whether the backend renders the role with the topology, and its model is one that can be split so."""
    first, *others = role.requests
    requests = (replace(first, count=topology.devices_per_node), *others)
    changed = replace(role, topology=topology, requests=requests)
    roles = tuple(changed if one.role is role.role else one for one in workload.roles)
    try:
        selection.check(replace(workload, roles=roles), backend)
    except (InvalidInput, Unsupported):
        return False
    start = starting.of(workload.engine, workload.model, changed)
    return start is None or not verdict.broken(start, topology)
