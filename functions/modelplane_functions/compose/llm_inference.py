"""LLMInference: the four-field way to serve a model.

Reads: its own ModelDeployment and ModelService as observed children. Without `gpu`, and while no size is derived: the
InferenceClusters and the InferenceClasses.
Emits: a ModelDeployment and a ModelService of the same name.
Reports: url, deployment, service, gpu, nodes, replicas, readyReplicas; conditions Accepted, and ReplicasScheduled,
ReplicasReady, EndpointsReady and RouteReady as the two children report them, and Fits where the deployment does.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from modelplane import seen
from modelplane.api import llm_inference
from modelplane.api.llm_inference import LLMInference
from modelplane.api.llm_size import Size
from modelplane_functions import hold, llm_sizing, model_fit
from modelplane_functions.exchange import Child, Condition, Observed, Outcome, Ready, Requirement, Resource, Truth

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

    Raises: InvalidInput when the author must change something, or write `gpu`. Everything is held then.
    """
    wanted = llm_inference.decode(observed.composite)
    size = llm_inference.kept_size(wanted, observed.children.get(DEPLOYMENT_KEY))
    requirements = {} if size is not None else llm_sizing.requirements(wanted)
    if not requirements.keys() <= observed.required.keys():
        return Outcome(requirements=requirements)
    found = size or llm_sizing.derive(wanted, observed)
    if not isinstance(found, Size):
        return _waiting(wanted, observed, requirements, found)
    size = found
    children = {
        DEPLOYMENT_KEY: _child(observed, DEPLOYMENT_KEY, llm_inference.encode_deployment(wanted, size)),
        SERVICE_KEY: _child(observed, SERVICE_KEY, llm_inference.encode_service(wanted)),
    }
    is_ready = all(child.ready is Ready.TRUE for child in children.values())
    return Outcome(
        requirements=requirements,
        children=children,
        status={**_status(wanted, observed), "gpu": size.gpus, "nodes": size.pipeline},
        conditions=(
            Condition("Accepted", Truth.TRUE, "Accepted", f"composed ModelDeployment and ModelService {wanted.name}"),
            *(_lifted(observed.children.get(key), kind, condition) for key, kind, condition in _LIFTED),
            *model_fit.of_children(observed, [("", observed.children.get(DEPLOYMENT_KEY))]),
        ),
        ready=Ready.TRUE if is_ready else Ready.FALSE,
        ttl_seconds=_SETTLED_SECONDS if is_ready else _WAITING_SECONDS,
    )


def _waiting(wanted: LLMInference, observed: Observed, requirements: Mapping[str, Requirement], cause: str) -> Outcome:
    """Return what is there, while the fleet does not say what the model needs."""
    return Outcome(
        requirements=requirements,
        children=_held(wanted, observed),
        status=_status(wanted, observed),
        conditions=(Condition("Accepted", Truth.FALSE, "NotSized", cause),),
        ready=Ready.FALSE,
        ttl_seconds=_WAITING_SECONDS,
    )


def _held(wanted: LLMInference, observed: Observed) -> dict[str, Child]:
    """Return what is there. Replicas that the author leaves to a scaler are not repeated: it would lose them."""
    children = hold.hold(observed.children)
    if wanted.replicas is None and DEPLOYMENT_KEY in children:
        child = children[DEPLOYMENT_KEY]
        spec = {key: value for key, value in child.resource["spec"].items() if key != "replicas"}
        children[DEPLOYMENT_KEY] = Child({**child.resource, "spec": spec}, child.ready)
    return children


def _child(observed: Observed, key: str, resource: Resource) -> Child:
    child = observed.children.get(key)
    return Child(resource, Ready.FALSE if child is None else hold.ready_by_condition(child))


def _status(wanted: LLMInference, observed: Observed) -> dict[str, Json]:
    status: dict[str, Json] = {"deployment": wanted.name, "service": wanted.name}
    for key in ("gpu", "nodes"):
        count = seen.count(observed.status.get(key))
        status |= {} if count is None else {key: count}
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
