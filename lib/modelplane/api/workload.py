"""Workload of a ModelDeployment, decoded: the part of the spec that one replica runs.

Shape: `spec` of ModelDeployment as plain JSON. `decode_role` is shared with ModelReplica, whose roles have the same
fields.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from modelplane.api import device_requests, template_reach
from modelplane.api import template as templates
from modelplane.api.fields import Field
from modelplane.devices.model import Constraint, Mode, Request
from modelplane.errors import InvalidShape
from modelplane.topology.shape import Topology
from modelplane.workload import engines
from modelplane.workload.model import EndpointPicker, EngineType, Model, Override, Role, RoleSpec, Workload

Json: TypeAlias = Any

WORKERS_MAX = 256
TENSOR_MAX, PIPELINE_MAX, DATA_MAX, DATA_LOCAL_MAX = 64, 64, 512, 64
"""The limits of the definitions for the numbers of one replica."""
WEIGHT_MAX, UNCACHED_TOKENS_MAX = 1000, 1_000_000
"""The limits of the definitions for an endpoint picker."""
ACCELERATOR = "gpu"
"""The name of the request that the short form `nodeSelector.cel` means."""


def decode(spec: Mapping[str, Json], *, namespace: str, deployment: str) -> Workload:
    """Return the workload of one replica of the deployment.

    Raises: InvalidInput with the path from the document's root (the author's fault).
    """
    root = Field(spec, ("spec",))
    roles = [decode_role(place, role) for role, place in roles_in(root)]
    _check_reach(root)
    engine = _engine(root, roles)
    if engine is not EngineType.CUSTOM:
        for role in roles:
            _check_enough_devices(role)
    return Workload(
        namespace=namespace,
        deployment=deployment,
        model=decode_model(root.at("model"), default_name=deployment),
        engine=engine,
        roles=tuple(roles),
        model_cache=root.at("modelCacheRef", "name").optional(),
        endpoint_picker=decode_endpoint_picker(root.at("endpointPicker")),
        overrides=decode_overrides(root.at("overrides")),
    )


def roles_in(spec: Field) -> Iterator[tuple[Role, Field]]:
    """Yield each role that the spec of a deployment or a replica has, with its field."""
    yield Role.DECODE, spec
    prefill = spec.at(*Role.PREFILL.path[1:])
    if prefill.is_set:
        yield Role.PREFILL, prefill


def selectors(spec: Mapping[str, Json]) -> Iterator[Field]:
    """Yield the fields of a deployment's spec that hold a device selector, in the order of the document."""
    root = Field(spec, ("spec",))
    for _, place in roles_in(root):
        field = place.at("nodeSelector")
        if field.at("cel").is_set:
            yield field.at("cel")
        for request in field.at("devices").items():
            yield from device_requests.selectors(request)


def decode_model(field: Field, *, default_name: str) -> Model | None:
    """Return the model, None if the arguments of the engine name it."""
    if not field.is_set:
        return None
    uri = field.at("uri").optional()
    if uri is not None and "://" not in uri:
        raise field.at("uri").wrong(f'"{uri}" has no scheme; write for example hf://{uri}')
    return Model(name=field.at("name").text(default_name), uri=uri)


def decode_endpoint_picker(field: Field) -> EndpointPicker | None:
    """Return the author's choice of how requests find a worker, None if there is none."""
    if not field.is_set:
        return None
    uncached = field.at("uncachedTokens")
    scorers = {
        entry.text_at("type"): entry.at("weight").count(1, least=1, most=WEIGHT_MAX)
        for entry in field.at("scorers").items()
    }
    return EndpointPicker(
        scorers=tuple(scorers.items()),
        picker=field.text_at("picker", ""),
        uncached_tokens=uncached.count(least=0, most=UNCACHED_TOKENS_MAX) if uncached.is_set else None,
    )


def decode_overrides(field: Field) -> tuple[Override, ...]:
    """Return the author's patches of rendered objects, in the order of the document."""
    return tuple(Override(entry.text_at("backend"), entry.at("patch").members()) for entry in field.items())


def decode_role(parent: Field, role: Role) -> RoleSpec:
    """Return the role with the `nodeSelector` and `workers` of `parent`."""
    workers = parent.at("workers")
    topology = _topology(workers.at("topology"))
    requests, constraints = _node_selector(parent.at("nodeSelector"), topology)
    return RoleSpec(
        role=role,
        workers=workers.at("count").count(1, least=1, most=WORKERS_MAX),
        topology=topology,
        requests=requests,
        constraints=constraints,
        template=templates.decode(workers.at("template")),
    )


def _check_reach(root: Field) -> None:
    """Refuse what a template may not reach. A replica's is looked at when it is rendered, not when it is counted."""
    for _, place in roles_in(root):
        template_reach.check(place.at("workers", "template"))


def _engine(root: Field, roles: list[RoleSpec]) -> EngineType:
    wanted = root.at("engine", "type").optional()
    if wanted is not None:
        return decode_engine(root.at("engine", "type"))
    seen = {role.role: engines.seen_in(templates.engine_image(role.template)) for role in roles}
    if len(set(seen.values())) > 1:
        found = ", ".join(f"{role} {engine}" for role, engine in seen.items())
        raise root.at("engine", "type").wrong(
            f"the images of the roles have different engines ({found}), but both roles need one KV-transfer protocol; "
            "set the engine here or use images of one engine"
        )
    return seen[Role.DECODE]


def decode_engine(field: Field) -> EngineType:
    """Return the engine that the field names."""
    name = field.text()
    try:
        return EngineType(name)
    except ValueError:
        known = ", ".join(EngineType)
        raise field.wrong(f'unknown engine "{name}"; known are {known}') from None


def _topology(field: Field) -> Topology:
    try:
        return Topology(
            tensor=field.at("tensor").count(1, least=1, most=TENSOR_MAX),
            pipeline=field.at("pipeline").count(1, least=1, most=PIPELINE_MAX),
            data=field.at("data").count(1, least=1, most=DATA_MAX),
            data_local=field.at("dataLocal").count(1, least=1, most=DATA_LOCAL_MAX),
            expert=field.at("expert").flag(default=False),
        )
    except InvalidShape as error:
        raise error.under(*field.path[:-1]) from None


def _node_selector(field: Field, topology: Topology) -> tuple[tuple[Request, ...], tuple[Constraint, ...]]:
    cel = field.at("cel").optional()
    listed = tuple(field.at("devices").items())
    if (cel is not None) == bool(listed):
        found = "both" if cel is not None else "neither"
        raise field.wrong(f"exactly one of cel and devices must be given, found {found}")
    if cel is not None:
        return (Request(ACCELERATOR, topology.devices_per_node, (cel,)),), ()
    requests = device_requests.decode_all(listed, accelerators=topology.devices_per_node)
    return requests, device_requests.decode_constraints(field.at("constraints"), requests)


def _check_enough_devices(role: RoleSpec) -> None:
    """Refuse a topology that needs more accelerators in a pod than the pod asks for.

    More are allowed: an engine may be given spare ones.
    """
    request = role.requests[0]
    needed = role.topology.devices_per_node
    path: tuple[str | int, ...] = (*role.role.path, "nodeSelector", "devices", 0)
    for index, one in enumerate(request.each()):
        if one.count >= needed or one.mode is Mode.ALL:
            continue
        named = (
            f'alternative "{one.name}" of request "{request.name}"' if request.alternatives else f'request "{one.name}"'
        )
        raise InvalidShape(
            f"{named} asks for {one.count} devices per pod, but the topology needs {needed} "
            f"(tensor {role.topology.tensor} x dataLocal {role.topology.data_local}); "
            f"remove count or set it to {needed}",
            path=(*path, "firstAvailable", index, "count") if request.alternatives else (*path, "count"),
        )
