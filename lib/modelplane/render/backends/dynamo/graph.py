"""Replica rendered to a DynamoGraphDeployment: namespace, claims, graph and route.

Source: api/v1beta1 and internal/webhook of the operator 1.6; internal/controller_common/finalizer.go, after which the
operator leaves a graph that is being deleted alone (up to 1.0 it made what foreground deletion took, without end).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeAlias

from modelplane import names
from modelplane.render import claims, cluster_route, engines, namespaces, operated, pods
from modelplane.render.backends.dynamo import components, launching, naming
from modelplane.render.manifest import NOTHING, Manifest
from modelplane.workload.model import EngineType, Replica
from modelplane.workload.site import ClusterFacts

Json: TypeAlias = Any

# With Grove the names of graph and component would have 45 characters together, and gangs none of our variables.
_GROVE = "nvidia.com/enable-grove"
# Ray needs a second cluster inside the gang; vLLM spans nodes by itself.
_EXECUTOR = "nvidia.com/vllm-distributed-executor-backend"

KIND = operated.Kind(
    "nvidia.com/v1beta1",
    "DynamoGraphDeployment",
    "has(object.status) && has(object.status.state) && object.status.state == 'successful' && "
    "has(object.status.observedGeneration) && object.status.observedGeneration == object.metadata.generation && "
    "has(object.status.conditions) && object.status.conditions.exists(c, c.type == 'Ready' && c.status == 'True')",
)


def identity(replica: Replica) -> operated.Identity:
    """Return the identity of the graph."""
    return operated.Identity(f"graph-{naming.shape(replica)}", replica.namespace, naming.graph(replica))


def render(replica: Replica, facts: ClusterFacts, standing: Mapping[str, str] = NOTHING) -> tuple[Manifest, ...]:
    """Return every object of the replica on its cluster.

    Raises: InvalidInput where the replica's flags contradict it; `check` refuses the same before a replica exists.
    """
    devices = {
        bound.spec.role: claims.of(replica, bound, pods.role_labels(replica, bound), standing)
        for bound in replica.roles
    }
    # The operator counts the devices of a worker in its claim template, which has to be there before the graph.
    templates = tuple(
        replace(found.template, comes_first=True) for found in devices.values() if found.template is not None
    )
    target = cluster_route.service(naming.service(replica), launching.PORT)
    route = cluster_route.of(replica, facts, (cluster_route.rule(("/",), target),))
    return (namespaces.of(replica, facts), *templates, _graph(replica, components.of(replica, facts, devices)), route)


def _graph(replica: Replica, parts: list[Json]) -> Manifest:
    annotations = {names.ANNOTATION_ENGINE_ARGUMENTS: _said(replica), _GROVE: "false"}
    is_over_nodes = any(bound.spec.topology.is_gang for bound in replica.roles)
    if is_over_nodes and replica.engine is EngineType.VLLM:
        annotations[_EXECUTOR] = "mp"
    spec = {"backendFramework": str(replica.engine), "components": parts}
    return KIND.manifest(identity(replica), pods.base_labels(replica), annotations, spec)


def _said(replica: Replica) -> str:
    """Return what was added to each role's flags."""
    engine = launching.Engine(replica.engine, replica.model, replica.is_disaggregated)
    lines = {bound.spec.role: launching.line(engine, bound.spec) for bound in replica.roles}
    return "; ".join(f"{role}: {engines.said_of(line)}" for role, line in lines.items())
