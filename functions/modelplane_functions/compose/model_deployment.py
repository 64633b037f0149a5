"""ModelDeployment: the placement of its replicas.

Reads: the clusters of its replicas, the InferenceClasses of their pools and its ModelCache, by name. When a replica has
to be placed, moved or explained, also the InferenceClusters that match its labels, all InferenceClasses, the
BackendRules, the ModelReplicas with its label, which are read only for their names, and its Namespace, where a cluster
allows namespaces by label. With spec.scaling also the InferenceGateway, and of its namespace the ModelServices and the
scalers (see `scaler`). Its own children are observed.
Emits: a ModelReplica for each placement, a ModelEndpoint for each replica that serves, and a scaler with spec.scaling.
Reports: replicas, placements, and the shortfall with reasons and the closest miss; conditions ReplicasScheduled,
ReplicasReady, BackendSelected, Fits as its replicas report it, and ScalerReady with spec.scaling.

A retained replica is composed exactly as observed, so that a briefly missing input restarts nothing. A replica that
differs from its admitted spec is restored to it, when the deployment and the class still produce that spec.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from modelplane import names, placement, seen, words
from modelplane.api import (
    deployment_status,
    inference_cluster,
    replica,
    replica_endpoint,
)
from modelplane.api import endpoint as endpoints
from modelplane.devices.model import NodeClass
from modelplane.placement import binding
from modelplane.placement.decision import PlacedReplica, Plan, State
from modelplane_functions import (
    cache_facts,
    deployment_facts,
    deployment_sight,
    hold,
    model_fit,
    replicas,
    scaler,
    selectors,
)
from modelplane_functions.deployment_facts import Facts
from modelplane_functions.exchange import (
    Child,
    Condition,
    Event,
    Observed,
    Outcome,
    Ready,
    Requirement,
    Resource,
    Severity,
    Truth,
)

_ENDPOINT = "endpoint-"
_OFFERS = (names.ANNOTATION_MAY_LEAVE, names.ANNOTATION_MAY_RECOVER)
MOVES_TOLD = 3
_WAITING_SECONDS, _SETTLED_SECONDS = 30, 300


prepare = selectors.prepare


def compose(observed: Observed) -> Outcome:
    """Return the replicas and endpoints of the deployment, its scaler, and why a replica is missing.

    The whole fleet is asked only where the clusters of the replicas do not decide.
    """
    asked, kinds = scaler.requirements(observed), scaler.kinds(observed)
    requirements = {**deployment_sight.requirements(observed), **asked}
    if not requirements.keys() <= observed.required.keys():
        return Outcome(requirements=requirements, kinds=kinds)
    standing = deployment_facts.standing(observed)
    if standing is not None:
        retained = placement.retain(standing.fleet, standing.demand, standing.intent, standing.current)
        if retained is not None:
            return _outcome(observed, requirements, standing, retained)
    requirements = {**deployment_sight.fleet_requirements(observed), **asked}
    if not requirements.keys() <= observed.required.keys():
        return Outcome(requirements=requirements, kinds=kinds)
    facts = deployment_facts.read(observed)
    plan = placement.schedule(facts.fleet, facts.demand, facts.intent, facts.current)
    chosen = [placed.cluster for placed in plan.composed]
    requirements = {**deployment_sight.fleet_requirements(observed, chosen), **asked}
    return _outcome(observed, requirements, facts, plan)


def _outcome(observed: Observed, requirements: Mapping[str, Requirement], facts: Facts, plan: Plan) -> Outcome:
    scaling = scaler.answer(observed, facts.workload)
    children = {**dict(_children(observed, facts, plan)), **dict(scaler.children(observed, scaling))}
    running = _running(observed, plan)
    scaled = tuple(scaler.conditions(observed, scaling))
    conditions = (_scheduled(facts, plan), _ready(plan, running), _backend_selected(facts), *scaled)
    settled = all(condition.status is Truth.TRUE for condition in conditions) and not _in_progress(facts, plan)
    return Outcome(
        requirements=requirements,
        kinds=scaler.kinds(observed),
        children=children,
        status={
            **deployment_status.encode(
                plan,
                namespace=observed.namespace,
                deployment=observed.name,
                backend=facts.settled_backend,
                seen=deployment_status.Seen(ready=running, outdated=_outdated(facts)),
            ),
            **scaler.status(scaling),
        },
        conditions=(*conditions, *model_fit.of_children(observed, _standing(observed, plan))),
        events=(*_events(plan), *_limited_priority(facts, plan)),
        ready=Ready.TRUE if settled else Ready.FALSE,
        ttl_seconds=_SETTLED_SECONDS if settled else _WAITING_SECONDS,
    )


# --- emits ------------------------------------------------------------------------------------------------------------


def _children(observed: Observed, facts: Facts, plan: Plan) -> Iterator[tuple[str, Child]]:
    current = replicas.observed_of(observed)
    chosen = {placed.cluster for placed in plan.composed}
    pools = {
        cluster.name: {p.name: p.node_class for p in cluster.pools}
        for cluster in facts.fleet.clusters
        if cluster.name in chosen
    }
    for placed in plan.composed:
        child = current.get(placed.name)
        if child is not None and not placed.rewrite:
            yield replicas.KEY + placed.name, _kept_child(observed, facts, plan, placed.name)
        else:
            yield replicas.KEY + placed.name, _replica_child(facts, placed, child, pools.get(placed.cluster, {}))
        if child is not None:
            yield from _endpoint(observed, facts, placed.name, child)
    for placed in plan.shed:
        child = current.get(placed.name)
        if child is not None:
            yield from _leaving(observed, facts, plan, placed.name, child)


def _leaving(observed: Observed, facts: Facts, plan: Plan, name: str, child: Resource) -> Iterator[tuple[str, Child]]:
    """Yield the remaining children of a replica to be shed. Its endpoint is drained and removed before the replica.

    A replica with a successor waits until the successor's endpoint receives requests.
    """
    endpoint = observed.children.get(_ENDPOINT + name)
    waits = not _is_succeeded(observed, plan, name)
    if endpoint is None and not waits:
        return
    yield replicas.KEY + name, _kept_child(observed, facts, plan, name)
    if waits:
        yield from _endpoint(observed, facts, name, child)
    elif endpoint is not None and not _is_drained(endpoint):
        draining = hold.held(endpoint)
        draining["spec"] = {**draining["spec"], "drain": True}
        yield _ENDPOINT + name, Child(draining, hold.ready_by_condition(endpoint))


def _is_succeeded(observed: Observed, plan: Plan, name: str) -> bool:
    """Return whether every successor of the replica receives requests. True without a successor."""
    successors = [replica.name for replica in plan.composed if replica.replaces == name]
    found = [observed.children.get(_ENDPOINT + successor) for successor in successors]
    return all(endpoint is not None and seen.at(endpoint, "status", "ready") is True for endpoint in found)


def _is_drained(endpoint: Resource) -> bool:
    return endpoints.is_draining(endpoint) and seen.at(endpoint, "status", "ready") is not True


def _kept_child(observed: Observed, facts: Facts, plan: Plan, name: str) -> Child:
    """Return a retained replica as observed, with its labels set, and with its repair applied."""
    child = replicas.observed_of(observed)[name]
    kept = hold.held(child)
    _offer(kept["metadata"], (name in plan.offered, name in plan.recovers))
    labels = replica.labels_of(observed.namespace, observed.name, replicas.cluster_of(child))
    kept["metadata"]["labels"] = {**kept["metadata"].get("labels", {}), **labels}
    repair = facts.own.repairs.get(name)
    spec = kept["spec"] if repair is None or repair.written is None else replica.encode_spec(repair.written)
    kept["spec"] = {**spec, "priority": facts.intent.priority}
    return Child(kept, hold.ready_by_condition(child))


def _offer(metadata: dict[str, Any], offered: tuple[bool, bool]) -> None:
    """Say on a replica whether it may leave so that another has room, and whether it may move because it is down.

    What somebody else has said does not count.
    """
    annotations = {key: value for key, value in metadata.pop("annotations", {}).items() if key not in _OFFERS}
    annotations |= {key: replicas.TRUE for key, is_offered in zip(_OFFERS, offered, strict=True) if is_offered}
    if annotations:
        metadata["annotations"] = annotations


def _annotations(placed: PlacedReplica) -> dict[str, str]:
    found = {} if placed.replaces is None else {names.ANNOTATION_REPLACES: placed.replaces}
    found |= {names.ANNOTATION_MAKES_ROOM: replicas.TRUE} if placed.makes_room else {}
    return found | ({names.ANNOTATION_ASKS: replicas.TRUE} if placed.asks else {})


def _replica_child(
    facts: Facts, placed: PlacedReplica, child: Resource | None, pools: Mapping[str, NodeClass | None]
) -> Child:
    known = {name: node_class for name, node_class in pools.items() if node_class is not None}
    workload = cache_facts.workload_on(facts.workload, facts.cache, placed.cluster, child)
    resource = replica.encode(binding.bind(workload, placed, known, priority=facts.intent.priority))
    annotations = _annotations(placed)
    if annotations:
        resource["metadata"]["annotations"] = annotations
    return Child(resource, Ready.FALSE if child is None else hold.ready_by_condition(child))


def _endpoint(observed: Observed, facts: Facts, name: str, child: Resource) -> Iterator[tuple[str, Child]]:
    """Yield the endpoint of a replica that serves. It is held while it is unknown whether the replica does."""
    key = _ENDPOINT + name
    existing = observed.children.get(key)
    serving = _truth(child, "Serving")
    desired = None
    if serving == "True":
        place = replica_endpoint.place(facts.labels.get(replicas.cluster_of(child)), existing)
        desired = replica_endpoint.encode(child, facts.workload.model, place)
    if desired is None and existing is not None and serving != "False":
        desired = hold.held(existing)
    if desired is not None:
        yield key, Child(desired, Ready.FALSE if existing is None else hold.ready_by_condition(existing))


# --- reports ----------------------------------------------------------------------------------------------------------


def _truth(resource: Resource, kind: str) -> str:
    return inference_cluster.condition(resource, kind)


def _in_progress(facts: Facts, plan: Plan) -> bool:
    """Return whether a replica still has to move or to be rewritten. The deployment is not ready until then."""
    outdated = _outdated(facts)
    present = {placed.name for placed in plan.replicas}
    return bool(plan.blocked) or any(
        placed.replaces in present or placed.rewrite or placed.name in outdated for placed in plan.composed
    )


def _outdated(facts: Facts) -> frozenset[str]:
    return frozenset(replica.name for replica in facts.current.replicas if replica.outdated)


def _running(observed: Observed, plan: Plan) -> frozenset[str]:
    """Return the replicas of the plan that serve with all their workers."""
    found = replicas.observed_of(observed)
    return frozenset(
        placed.name
        for placed in plan.composed
        if placed.name in found
        and replicas.serves(found[placed.name])
        and _truth(found[placed.name], "WorkloadReady") == "True"
    )


def _standing(observed: Observed, plan: Plan) -> Iterator[tuple[str, Resource | None]]:
    """Yield the observed replicas of the plan, each with its name and cluster in words."""
    found = replicas.observed_of(observed)
    for placed in plan.composed:
        yield f"{placed.name} on {placed.cluster}", found.get(placed.name)


def _scheduled(facts: Facts, plan: Plan) -> Condition:
    if not facts.fleet.received:
        return Condition(
            "ReplicasScheduled",
            Truth.UNKNOWN,
            "ClustersUnknown",
            "no InferenceCluster was listed although replicas are placed; everything is kept as it is until the list "
            "is complete again",
        )
    reason, message = deployment_status.scheduled_reason(plan)
    notes = [f"{blocked.replica} must move ({blocked.cause}) but cannot: {blocked.message}" for blocked in plan.blocked]
    return Condition(
        "ReplicasScheduled",
        Truth.TRUE if plan.shortfall is None else Truth.FALSE,
        reason,
        "; ".join([message, *notes, *facts.faults]),
    )


def _ready(plan: Plan, running: frozenset[str]) -> Condition:
    wanted = plan.wanted
    ready = min(wanted, sum(placed.name in running for placed in plan.composed if placed.holds_place))
    moving = "".join(f"; {one.name} is moving: {one.note}" for one in deployment_status.moves(plan)[:MOVES_TOLD])
    if ready == wanted:
        return Condition("ReplicasReady", Truth.TRUE, "AllReady", f"{ready} of {wanted} replicas serve{moving}")
    waiting = [placed.name for placed in plan.composed if placed.holds_place and placed.name not in running]
    message = f"{ready} of {wanted} replicas serve{moving}"
    return Condition(
        "ReplicasReady",
        Truth.FALSE,
        "ReplicasStarting" if waiting else "ReplicasMissing",
        f"{message}; waiting for {words.first(waiting, 5)}" if waiting else f"{message}; {_missing(plan)}",
    )


def _missing(plan: Plan) -> str:
    return "see ReplicasScheduled" if plan.shortfall is None else plan.shortfall.message


def _backend_selected(facts: Facts) -> Condition:
    message = "; ".join([facts.choice.why, *facts.choice.failures])
    return Condition("BackendSelected", Truth.TRUE, facts.choice.reason, message)


def _events(plan: Plan) -> Iterator[Event]:
    for placed in plan.replicas:
        where = f"{placed.name} on {placed.cluster}"
        if placed.asks:
            yield Event(Severity.NORMAL, "RoomAsked", f"{where} asks for room: no cluster has any")
        elif placed.state is State.NEW:
            yield Event(Severity.NORMAL, "ReplicaPlaced", f"placed {where}")
        elif placed.state is State.MOVED:
            yield Event(Severity.NORMAL, "ReplicaMoving", f"placed {where} as the successor of {placed.replaces}")
        elif placed.state is State.SHED:
            yield Event(Severity.NORMAL, "ReplicaShed", f"removing {where}: {placed.note}")


def _limited_priority(facts: Facts, plan: Plan) -> Iterator[Event]:
    """Yield that a new replica counts with a lower priority than its deployment says, because of a quota."""
    priority = facts.intent.priority
    lowest = min(facts.intent.budgets, key=lambda one: one.quota.counted(priority), default=None)
    if lowest is None or lowest.quota.counted(priority) == priority:
        return
    if any(placed.state in (State.NEW, State.MOVED) for placed in plan.replicas):
        limited = f"priority {priority} counts as {lowest.quota.counted(priority)}"
        message = f"{limited}, the maxPriority of InferenceQuota {lowest.quota.name}"
        yield Event(Severity.NORMAL, "PriorityLimited", message)
