"""The limits of Kubernetes' own workloads. A combination that cannot work is refused before a device is reserved."""

from __future__ import annotations

from modelplane.errors import InvalidInput
from modelplane.render import capability, pods
from modelplane.render.backend import Capabilities, Shape
from modelplane.render.workers import capability as workers
from modelplane.render.workers import launching
from modelplane.workload.model import Role, Workload

CAPABILITIES = Capabilities(
    name="Native",
    shapes=frozenset(Shape),
    schemes=workers.SCHEMES,
    disaggregated=frozenset(),
    gangs=workers.GANGS,
)


def check(workload: Workload) -> None:
    """Return when a Deployment or a LeaderWorkerSet can run the workload as it is written.

    Raises: InvalidInput with the path of what the author must change.
    """
    if len(workload.roles) > 1:
        raise InvalidInput(
            "Native runs prefill and decode in the same pods: nothing there hands the KV cache over; remove prefill",
            path=Role.PREFILL.path,
        )
    workers.check(CAPABILITIES, workload)
    for role in workload.roles:
        for member in pods.members(role.topology):
            capability.command_line(launching.launch(workload.engine, workload.model, role, member), role)
