"""The limits of KAITO. A combination that cannot work is refused before a device is reserved."""

from __future__ import annotations

from modelplane.errors import InvalidInput
from modelplane.render import capability, pods
from modelplane.render.backend import Capabilities, Definition, Shape
from modelplane.render.backends.kaito import launching
from modelplane.render.engines import CommandLine
from modelplane.render.workers import capability as workers
from modelplane.workload.model import EngineType, RoleSpec, Workload

CAPABILITIES = Capabilities(
    name="KAITO",
    shapes=frozenset({Shape.SINGLE_NODE}),
    schemes=workers.SCHEMES,
    disaggregated=frozenset(),
    gangs=frozenset(),
)

DEFINITIONS: tuple[Definition, ...] = (
    Definition("kaito.sh", "v1beta1", "InferenceSet", "KAITO 0.11", older=("v1alpha1",)),
)
PATCHABLE: frozenset[str] = frozenset()
"""An override writes no field: KAITO ignores those of pods, and Modelplane counts or selects by the others."""


def check(workload: Workload) -> None:
    """Check that an InferenceSet can run the workload as it is written.

    Raises: InvalidInput with the path of the field that the author must change.
    """
    capability.check_roles(CAPABILITIES, workload)
    for role in workload.roles:
        _check_shape(role)
    workers.check(CAPABILITIES, workload)
    for role in workload.roles:
        line = capability.command_line(launching.launch(workload.engine, workload.model, role), role)
        _check_ports(workload.engine, role, line)


def _check_shape(role: RoleSpec) -> None:
    topology = role.topology
    if not topology.is_gang:
        return
    fields = [name for name, size in (("pipeline", topology.pipeline), ("data", topology.data)) if size > 1]
    raise InvalidInput(
        f"KAITO runs each worker in one pod, and this topology spans {topology.nodes} nodes; "
        f"set {' and '.join(fields)} to 1 and use tensor within one node, or run more workers",
        path=(*role.role.path, "workers", "topology", fields[0]),
    )


def _check_ports(engine: EngineType, role: RoleSpec, line: CommandLine) -> None:
    """Refuse the engine's port in what stands beside it, and an engine that says it listens on others alone.

    A known engine that is not started by a command of its author is told its port, whatever its container declares.
    """
    index, _ = pods.engine_container(role)
    is_told = engine is not EngineType.CUSTOM and not line.is_opaque
    for number, container in enumerate(role.template["spec"]["containers"]):
        path = (*pods.path_to_engine(role.role, index)[:-1], number, "ports")
        declared = [entry["containerPort"] for entry in container.get("ports") or ()]
        if container["name"] != pods.ENGINE and launching.PORT in declared:
            raise InvalidInput(
                f"the engine listens on {launching.PORT} with KAITO; use another port",
                path=(*path, declared.index(launching.PORT), "containerPort"),
            )
        if container["name"] == pods.ENGINE and not is_told and declared and launching.PORT not in declared:
            listed = " and ".join(map(str, declared))
            raise InvalidInput(
                f"requests reach the engine on port {launching.PORT} with KAITO, and it declares {listed}; "
                f"let it listen on {launching.PORT}",
                path=(*path, 0, "containerPort"),
            )
