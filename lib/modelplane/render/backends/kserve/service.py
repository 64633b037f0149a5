"""Replica rendered to KServe objects: namespace, claims, stand-in presets, LLMInferenceService and route.

Source: KServe v0.20.0 (names of children, presets and their lookup, ports); Gateway API v1.5 HTTPRoute; inference
extension v1.5.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from modelplane import names, seen
from modelplane.render import authored, capability, claims, cluster_route, engines, namespaces, pods, weights
from modelplane.render.backend import Shape, shape_of
from modelplane.render.backends.kserve import download, launching, scheduling, templating
from modelplane.render.engines import Member
from modelplane.render.manifest import NOTHING, Lifecycle, Manifest, Purpose, Readiness
from modelplane.topology.shape import Topology
from modelplane.workload import cached
from modelplane.workload.model import BoundRole, EngineType, Replica, Role
from modelplane.workload.site import ClusterFacts

Json: TypeAlias = Any

API_VERSION = "serving.kserve.io/v1alpha2"
KEY_SERVICE = "workload"
_CONTAINER = "main"

# The longest name KServe and LeaderWorkerSet derive: "<name>-kserve-mn-prefill-<group>-<revision hash>" is the value
# of a label (63 characters; 18 + 4 + 11 of them are theirs). Without prefill groups every replica name (36
# characters) fits as it is.
_PREFILL_GANG_NAME_MAX = 30

_MODEL_ROUTING = "serving.kserve.io/model-based-routing-enabled"
_SIDECAR_PROGRAM = "/app/pd-sidecar"
_API_PATHS = ("/v1/completions", "/v1/chat/completions", "/v1/responses", "/v1/messages")

# Ready alone does not speak of presets in v0.20, and it may speak of an older generation.
_SERVICE_READY = (
    "has(object.status) && has(object.status.conditions) && "
    "object.status.conditions.exists(c, c.type == 'Ready' && c.status == 'True') && "
    "object.status.conditions.exists(c, c.type == 'PresetsCombined' && c.status == 'True') && "
    "has(object.status.observedGeneration) && object.status.observedGeneration == object.metadata.generation"
)


@dataclass(frozen=True, slots=True)
class _Rendering:
    """A replica that is being rendered."""

    replica: Replica
    facts: ClusterFacts
    engine: launching.Engine
    name: str


def service_name(replica: Replica, standing: str = "") -> str:
    """Return the name of the LLMInferenceService: that of the replica, truncated with a digest if needed.

    `standing` is the name of the existing object. A name that an earlier version gave is kept, because another name
    would be another workload. Any other name is an edit and is ignored.
    """
    prefill = replica.role(Role.PREFILL)
    is_long = prefill is not None and prefill.spec.topology.is_gang
    limit = _PREFILL_GANG_NAME_MAX if is_long else names.REPLICA_NAME_MAX
    former = names.former(replica.name, limit=limit) if is_long else replica.name
    return former if standing == former else names.bounded(replica.name, limit=limit)


def another_owner(replica: Replica, observed: Mapping[str, Json]) -> str:
    """Return the other replica that an observed workload belongs to, empty if there is none."""
    owner = seen.text(seen.at(observed, "metadata", "labels", names.LABEL_REPLICA))
    return "" if owner == replica.name else owner


def remote_name(observed: Mapping[str, Json]) -> str:
    """Return the name of an observed object."""
    return seen.text(seen.at(observed, "metadata", "name"))


def render(replica: Replica, facts: ClusterFacts, standing: Mapping[str, str] = NOTHING) -> tuple[Manifest, ...]:
    """Return every object of the replica on its cluster.

    Raises: InvalidInput if flags contradict the replica; `check` refuses the same before a replica exists.
    """
    engine = launching.Engine(replica.namespace, replica.engine, replica.model, replica.is_disaggregated)
    rendering = _Rendering(replica, facts, engine, service_name(replica, standing.get(KEY_SERVICE, "")))
    devices = {
        bound.spec.role: claims.of(replica, bound, pods.role_labels(replica, bound), standing)
        for bound in replica.roles
    }
    templates = tuple(found.template for found in devices.values() if found.template is not None)
    stand_ins = tuple(_stand_in(replica, bound) for bound in replica.roles if shape_of(bound.spec) is Shape.PIPELINE)
    return (namespaces.of(replica, facts), *templates, *stand_ins, _service(rendering, devices), _route(rendering))


def _stand_in(replica: Replica, bound: BoundRole) -> Manifest:
    """Return the preset KServe looks up by this name and does not ship; the pods are complete without it.

    All replicas of the namespace share it, so it is kept when one of them goes. It comes first: a service that KServe
    finds without it is `ConfigNotFound`, and v0.20 does not look again when the preset appears.
    """
    role = "" if not replica.is_disaggregated else f"{bound.spec.role}-"
    return Manifest(
        key=f"preset-{bound.spec.role}",
        resource={
            "apiVersion": API_VERSION,
            "kind": "LLMInferenceServiceConfig",
            "metadata": {
                "name": f"kserve-config-llm-{role}worker-pipeline-parallel",
                "namespace": replica.namespace,
                "labels": {names.LABEL_NAMESPACE: replica.namespace},
            },
            "spec": {"annotations": {_MODEL_ROUTING: "true"}},
        },
        purpose=Purpose.POD_INPUT,
        lifecycle=Lifecycle.KEEP,
        comes_first=True,
    )


def _service(rendering: _Rendering, devices: Mapping[Role, claims.PodDevices]) -> Manifest:
    replica = rendering.replica
    model, loads_itself = _model(rendering)
    spec: dict[str, Json] = {"model": model, "router": _router(rendering)}
    if loads_itself:
        spec["storageInitializer"] = {"enabled": False}
    for bound in replica.roles:
        role = _role(rendering, bound, devices[bound.spec.role])
        if bound.spec.role is Role.PREFILL:
            spec["prefill"] = role
        else:
            spec.update(role)
    return Manifest(
        key=KEY_SERVICE,
        # KServe runs the whole object as a template, the metadata too.
        resource=templating.literal(
            {
                "apiVersion": API_VERSION,
                "kind": "LLMInferenceService",
                "metadata": {
                    "name": rendering.name,
                    "namespace": replica.namespace,
                    "labels": {
                        **pods.object_labels(replica, replica.roles[0], rendering.facts),
                        **pods.base_labels(replica),
                    },
                    "annotations": {
                        **pods.object_annotations(replica, replica.roles[0], rendering.facts),
                        names.ANNOTATION_ENGINE_ARGUMENTS: _said_of_arguments(rendering),
                    },
                },
                "spec": spec,
            }
        ),
        purpose=Purpose.WORKLOAD,
        readiness=Readiness(_SERVICE_READY),
        outlives_pods=True,
    )


def _model(rendering: _Rendering) -> tuple[dict[str, Json], bool]:
    """Return spec.model, which needs a uri in any case, and whether the pods load the weights without KServe."""
    replica, source = rendering.replica, weights.source(rendering.engine.model)
    if source.scheme:
        uri = replica.model.uri if replica.model is not None and replica.model.uri is not None else ""
        # KServe finds the files on the disks of nodes by the URI that they were fetched from.
        uri = uri.removeprefix(f"{cached.NODE_SCHEME}://")
    else:
        loaded = _loaded_by_arguments(rendering)
        is_repository = loaded is not None and "/" in loaded and loaded[0] not in "/."
        # With the initializer off KServe wants something with a scheme and never looks at it.
        uri = f"hf://{loaded}" if is_repository else f"engine://{replica.name}"
    model: dict[str, Json] = {"uri": uri}
    if replica.model is not None:
        model["name"] = replica.model.name
    return model, source.scheme in ("", weights.HUGGING_FACE, download.SCHEME)


def _loaded_by_arguments(rendering: _Rendering) -> str | None:
    bound = rendering.replica.roles[0]
    _, container = pods.engine_container(bound.spec)
    return authored.served_model(rendering.engine.type, container)


def _router(rendering: _Rendering) -> dict[str, Json]:
    facts = rendering.facts
    ref: dict[str, Json] = {"name": facts.gateway_name, "namespace": facts.gateway_namespace}
    if facts.gateway_listener:
        ref["sectionName"] = facts.gateway_listener
    # Without a route a service with gateway references never becomes ready (kserve/kserve#5986, #6072).
    router: dict[str, Json] = {"gateway": {"refs": [ref]}, "route": {}}
    if scheduling.is_required(rendering.replica):
        router["scheduler"] = scheduling.of(rendering.replica, rendering.name)
    return router


def _role(rendering: _Rendering, bound: BoundRole, devices: claims.PodDevices) -> dict[str, Json]:
    """Return the fields that spec and spec.prefill have in common."""
    role: dict[str, Json] = {
        "replicas": bound.spec.workers,
        "parallelism": _parallelism(bound.spec.topology),
        "labels": pods.pod_labels(rendering.replica, bound, rendering.facts),
    }
    annotations = pods.pod_annotations(rendering.replica, bound, rendering.facts)
    if annotations:
        role["annotations"] = annotations
    for member in pods.members(bound.spec.topology):
        key = "worker" if member is Member.WORKER else "template"
        role[key] = _pod(rendering, bound, devices, member)
    return role


def _parallelism(topology: Topology) -> dict[str, Json]:
    """Return the sizes KServe makes its groups of; data and dataLocal only go together, pipeline only without them."""
    sizes: dict[str, Json] = {"tensor": topology.tensor}
    if topology.pipeline > 1:
        sizes["pipeline"] = topology.pipeline
    if topology.data > 1:
        sizes.update(data=topology.data, dataLocal=topology.data_local)
    if topology.expert:
        sizes["expert"] = True
    return sizes


def _pod(rendering: _Rendering, bound: BoundRole, devices: claims.PodDevices, member: Member) -> dict[str, Json]:
    engine, role = rendering.engine, bound.spec
    command = _command(rendering, bound, member)
    spec = pods.pod_spec(
        rendering.replica,
        bound,
        rendering.facts,
        pods.EnginePod(
            member=member,
            command=command,
            port=launching.port(engine, role.role),
            devices=devices,
            container_name=_CONTAINER,
            gang=pods.LEADER_WORKER_SET if role.topology.is_gang else None,
            extra_env=_extra_env(engine),
        ),
    )
    if shape_of(role) is Shape.PIPELINE:
        pods.complete(spec, _CONTAINER, member)
    sidecar = _sidecar(rendering, bound, member)
    if sidecar:
        spec["initContainers"] = [*spec.get("initContainers", ()), sidecar]
    if engine.model is not None and engine.model.uri is not None and download.is_needed(engine.model):
        download.add(spec, engine.model.uri, role, _CONTAINER)
    return spec


def _command(rendering: _Rendering, bound: BoundRole, member: Member) -> engines.CommandLine:
    return capability.command_line(launching.launch(rendering.engine, bound.spec, member), bound.spec)


def _said_of_arguments(rendering: _Rendering) -> str:
    """Return what was added to each role's command line, or that it was taken word for word."""
    parts: list[str] = []
    for bound in rendering.replica.roles:
        line = _command(rendering, bound, pods.members(bound.spec.topology)[0])
        parts.append(f"{bound.spec.role}: {engines.said_of(line)}")
    return "; ".join(parts)


def _extra_env(engine: launching.Engine) -> tuple[Mapping[str, Json], ...]:
    if not engine.is_disaggregated or engine.type is not EngineType.VLLM:
        return ()
    own_address = {"fieldRef": {"fieldPath": "status.podIP"}}
    return ({"name": "VLLM_NIXL_SIDE_CHANNEL_HOST", "valueFrom": own_address},)


def _sidecar(rendering: _Rendering, bound: BoundRole, member: Member) -> dict[str, Json]:
    """Return the routing sidecar of a decode pod where no preset brings it, or what differs from the preset's.

    It is empty for all other pods, and where the preset's sidecar is right as it is.
    """
    replica, role = rendering.replica, bound.spec
    if not replica.is_disaggregated or role.role is not Role.DECODE or member is Member.WORKER:
        return {}
    if shape_of(role) is Shape.PIPELINE:
        return _routing_sidecar(rendering)
    if scheduling.connector(replica.engine) == scheduling.connector(EngineType.VLLM):
        return {}
    # The preset says vLLM's protocol in its command, which is replaced as a whole.
    command = [_SIDECAR_PROGRAM, *scheduling.sidecar_arguments(replica, rendering.name)]
    return {"name": scheduling.SIDECAR, "command": command}


def _routing_sidecar(rendering: _Rendering) -> dict[str, Json]:
    """Return the sidecar that takes port 8000 of a decode pod and asks a prefill pod first.

    KServe recognises it by its name and gives it the pool's name and the right to read it.
    """
    probe = {"httpGet": {"path": "/health", "port": launching.SERVICE_PORT, "scheme": "HTTP"}, "periodSeconds": 10}
    return {
        "name": scheduling.SIDECAR,
        "image": scheduling.SIDECAR_IMAGE,
        "restartPolicy": "Always",
        "command": [_SIDECAR_PROGRAM],
        "args": scheduling.sidecar_arguments(rendering.replica, rendering.name),
        "env": [
            {"name": "INFERENCE_POOL_NAMESPACE", "valueFrom": {"fieldRef": {"fieldPath": "metadata.namespace"}}},
        ],
        "ports": [{"containerPort": launching.SERVICE_PORT, "protocol": "TCP"}],
        "livenessProbe": {**probe, "initialDelaySeconds": 10},
        "readinessProbe": {**probe, "initialDelaySeconds": 10, "failureThreshold": 10},
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": False,  # the hook that injects devices by CDI writes into it
            "runAsNonRoot": True,
            "capabilities": {"drop": ["ALL"]},
        },
    }


def _route(rendering: _Rendering) -> Manifest:
    replica = rendering.replica
    service = cluster_route.service(f"{rendering.name}-kserve-workload-svc", launching.SERVICE_PORT)
    pool = {
        "group": "inference.networking.k8s.io",
        "kind": "InferencePool",
        "name": scheduling.pool_name(rendering.name),
        "port": launching.SERVICE_PORT,
    }
    rules = [cluster_route.rule(("/",), service)]
    if scheduling.is_required(replica):
        rules.insert(0, cluster_route.rule(_API_PATHS, pool))
    return cluster_route.of(replica, rendering.facts, rules)
