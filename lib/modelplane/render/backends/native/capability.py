"""The limits of Kubernetes' own workloads. A combination that cannot work is refused before a device is reserved."""

from __future__ import annotations

from modelplane.render import capability, pods
from modelplane.render.backend import Capabilities, Definition, Shape
from modelplane.render.workers import capability as workers
from modelplane.render.workers import launching, requirements
from modelplane.workload.model import Workload

CAPABILITIES = Capabilities(
    name="Native",
    shapes=frozenset(Shape),
    schemes=workers.SCHEMES,
    disaggregated=frozenset(),
    gangs=workers.GANGS,
)

DEFINITIONS: tuple[Definition, ...] = (requirements.LEADER_WORKER_SETS,)
PATCHABLE: frozenset[str] = requirements.PATCHABLE


def check(workload: Workload) -> None:
    """Return when a Deployment or a LeaderWorkerSet can run the workload as it is written.

    Raises: InvalidInput with the path of what the author must change.
    """
    capability.check_roles(CAPABILITIES, workload)
    workers.check(CAPABILITIES, workload)
    for role in workload.roles:
        for member in pods.members(role.topology):
            capability.command_line(launching.launch(workload.engine, workload.model, role, member), role)
