"""LLMInference: the four-field way to serve a model.

Reads: its own ModelDeployment and ModelService as observed children.
Emits: a ModelDeployment and a ModelService of the same name.
Reports: url, deployment, service, replicas, readyReplicas; conditions Accepted, and ReplicasScheduled, ReplicasReady,
EndpointsReady and RouteReady as the two children report them, and Fits where the deployment does.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from modelplane import seen
from modelplane.api import llm_inference
from modelplane.api.llm_inference import LLMInference
from modelplane_functions import hold, model_fit
from modelplane_functions.exchange import Child, Condition, Observed, Outcome, Ready, Resource, Truth

Json: TypeAlias = Any

DEPLOYMENT_KEY = "deployment"
SERVICE_KEY = "service"

_LIFTED = (
    (DEPLOYMENT_KEY, "ModelDeployment", "ReplicasScheduled"),
    (DEPLOYMENT_KEY, "ModelDeployment", "ReplicasReady"),
    (SERVICE_KEY, "ModelService", "EndpointsReady"),
    (SERVICE_KEY, "ModelService", "RouteReady"),
)
_SETTLED_SECONDS = 600
_WAITING_SECONDS = 60


def compose(observed: Observed) -> Outcome:
    """Return the deployment and the service.

    Raises: InvalidInput when the author must change something. Everything is held then.
    """
    wanted = llm_inference.decode(observed.composite)
    children = {
        DEPLOYMENT_KEY: _child(observed, DEPLOYMENT_KEY, llm_inference.encode_deployment(wanted)),
        SERVICE_KEY: _child(observed, SERVICE_KEY, llm_inference.encode_service(wanted)),
    }
    is_ready = all(child.ready is Ready.TRUE for child in children.values())
    return Outcome(
        children=children,
        status=_status(wanted, observed),
        conditions=(
            Condition("Accepted", Truth.TRUE, "Accepted", f"composed ModelDeployment and ModelService {wanted.name}"),
            *(_lifted(observed.children.get(key), kind, condition) for key, kind, condition in _LIFTED),
            *model_fit.of_children(observed, [("", observed.children.get(DEPLOYMENT_KEY))]),
        ),
        ready=Ready.TRUE if is_ready else Ready.FALSE,
        ttl_seconds=_SETTLED_SECONDS if is_ready else _WAITING_SECONDS,
    )


def _child(observed: Observed, key: str, resource: Resource) -> Child:
    child = observed.children.get(key)
    return Child(resource, Ready.FALSE if child is None else hold.ready_by_condition(child))


def _status(wanted: LLMInference, observed: Observed) -> dict[str, Json]:
    status: dict[str, Json] = {"deployment": wanted.name, "service": wanted.name}
    for key in ("replicas", "readyReplicas"):
        count = seen.count(seen.at(observed.children.get(DEPLOYMENT_KEY), "status", key))
        if count is not None:
            status[key] = count
    url = seen.text(seen.at(observed.children.get(SERVICE_KEY), "status", "url")) or seen.text(
        observed.status.get("url")
    )
    if url:
        status["url"] = url
    return status


def _lifted(child: Resource | None, kind: str, condition: str) -> Condition:
    """Return the condition that the child reports, Unknown when it reports none."""
    told = seen.conditions(seen.at(child, "status")).get(condition)
    if told is not None:
        status = {True: Truth.TRUE, False: Truth.FALSE, None: Truth.UNKNOWN}[seen.verdict(told)]
        return Condition(condition, status, seen.text(told.get("reason")) or "Unknown", seen.text(told.get("message")))
    missing = "does not exist yet" if child is None else f"has not reported {condition} yet"
    return Condition(condition, Truth.UNKNOWN, "Waiting", f"the {kind} {missing}")
