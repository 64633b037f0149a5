"""Names of a graph and of its components.

The webhook refuses another set of components, another framework, and one node in place of several or the other way
round. So the name of the graph follows from these: a change of them is another graph.

Source: deploy/operator of ai-dynamo/dynamo 1.6 (internal/dynamo/graph.go, internal/discovery,
internal/controller/dynamocomponentdeployment_controller.go), LeaderWorkerSet v0.8.0.
"""

from __future__ import annotations

import json

from modelplane import names
from modelplane.workload.model import Replica, Role

FRONTEND = "frontend"
_UNIFIED = "worker"
_DIGITS = 5

# "<graph>-k8s-service-discovery" is the value of a label.
_GRAPH_MAX = 41
# "<graph>-<component>-<8>-0-<group>-<revision hash>" is the value of a label of the pods of a LeaderWorkerSet: 63
# characters, of which "-prefill-", the digest of the workers, "-0", a group of 4 and the hash take 34.
_GRAPH_OVER_NODES_MAX = 29
# "<namespace>-<graph>" is the value of a label of every pod.
_NAMESPACE_AND_GRAPH_MAX = names.LABEL_MAX - 1
_TRUNCATED_MIN = names.DIGEST_DIGITS + 2
NAMESPACE_MAX = _NAMESPACE_AND_GRAPH_MAX - _TRUNCATED_MIN
"""The characters of a namespace whose graphs can have a name that tells them apart."""


def component(replica: Replica, role: Role) -> str:
    """Return the name of the component of a role, which is its type too."""
    return str(role) if replica.is_disaggregated else _UNIFIED


def shape(replica: Replica) -> str:
    """Return a digest of what can never change in a graph."""
    components = [[component(replica, bound.spec.role), bound.spec.topology.is_gang] for bound in replica.roles]
    return names.digest(json.dumps([str(replica.engine), components]), digits=_DIGITS)


def graph(replica: Replica) -> str:
    """Return the name of the graph, within every limit of what the operator derives from it."""
    is_over_nodes = any(bound.spec.topology.is_gang for bound in replica.roles)
    limits = (
        _GRAPH_OVER_NODES_MAX if is_over_nodes else _GRAPH_MAX,
        _NAMESPACE_AND_GRAPH_MAX - len(replica.namespace),
    )
    return names.bounded(replica.name, shape(replica), limit=max(_TRUNCATED_MIN, min(limits)))


def service(replica: Replica) -> str:
    """Return the name of the Service that the operator makes for the frontend."""
    return f"{graph(replica)}-{FRONTEND}"
