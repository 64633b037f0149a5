"""Progress of a replica: phase, workload and serving, computed from its observed objects.

A verdict is yes, no or unknown. A state that is not observed is unknown, which is neither healthy nor broken.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from modelplane.render.backend import Observation, Problem
from modelplane.workload import secrets
from modelplane.workload.model import Replica, Role


class Phase(StrEnum):
    """The phase of a replica."""

    PENDING = "Pending"
    ADMITTED = "Admitted"
    QUEUED = "Queued"
    STARTING = "Starting"
    RUNNING = "Running"
    DEGRADED = "Degraded"
    FAILED = "Failed"


class Known(StrEnum):
    """The status of a verdict: yes, no, or unknown."""

    YES = "True"
    NO = "False"
    UNKNOWN = "Unknown"


@dataclass(frozen=True, slots=True)
class Judgement:
    """A verdict with its stable reason and a message with a correction."""

    known: Known
    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class Progress:
    """The reported progress of a rendered replica.

    `workers` has the ready workers per role, `counted` the roles whose workers are observed now.
    """

    phase: Phase
    workload: Judgement
    serving: Judgement
    workers: Mapping[Role, int]
    counted: frozenset[Role] = frozenset()


def explained(observation: Observation, error: Problem | None) -> Observation:
    """Return the observation with the error of a pod: after what is a cause by itself, and before what only counts.

    A count that is not final is left out, because the error of the pod says more. What does not concern pods comes
    after it: the frontend of a graph is not ready either while its image cannot be pulled.
    """
    if error is None:
        return observation
    routes = tuple(one for one in observation.problems if one.about_route)
    others = tuple(one for one in observation.problems if not one.about_route)
    causes = tuple(one for one in others if not one.is_count)
    counts = tuple(one for one in others if one.is_count and one.is_final)
    return replace(observation, problems=(*causes, error, *routes, *counts))


def queued(observation: Observation, problem: Problem | None) -> Observation:
    """Return the observation of a workload that waits in a queue of its cluster: it is late, and has not failed.

    What only counts pods is left out, also where a controller has given up waiting for them.
    """
    if problem is None:
        return observation
    others = tuple(one for one in observation.problems if not one.is_count)
    return replace(observation, problems=(problem, *others))


def judge(replica: Replica, observation: Observation, *, before: Mapping[Role, int], has_address: bool) -> Progress:
    """Return the progress of a replica whose objects are rendered to its cluster.

    `before` are the last reported ready workers, which are kept for a role that is not observed. `has_address` is True
    if the address of the cluster's gateway is known.
    """
    workers = {**before, **observation.workers}
    complete = all(observation.workers.get(bound.spec.role, 0) >= bound.spec.workers for bound in replica.roles)
    workload = _workload(replica, observation, complete=complete)
    serving = _serving(replica, observation, has_address=has_address)
    counted = frozenset(observation.workers)
    return Progress(_phase(observation, workload, serving), workload, serving, workers, counted)


def _workload(replica: Replica, observation: Observation, *, complete: bool) -> Judgement:
    final = next((p for p in observation.problems if p.is_final and not p.about_route), None)
    if final is not None:
        told = _with_causes(observation, final)
        return Judgement(Known.NO, told[0].reason, _messages(told))
    is_short = any(observation.workers.get(role, count) < count for role, count in _wanted(replica))
    if not is_short and _unseen(replica, observation):
        message = _messages(observation.problems) or _unseen_of(replica, observation)
        return Judgement(Known.UNKNOWN, "NotObserved", message)
    if observation.is_ready and complete:
        return Judgement(Known.YES, "AllWorkersReady", _counts(replica, observation))
    reason = observation.problems[0].reason if observation.problems else "WorkersStarting"
    parts = (_counts(replica, observation), _messages(observation.problems), _waiting(replica, observation))
    return Judgement(Known.NO, reason, "; ".join(part for part in parts if part))


def _with_causes(observation: Observation, final: Problem) -> tuple[Problem, ...]:
    """Return the problem that does not end by waiting, after its causes where it only counts."""
    if not final.is_count:
        return (final,)
    return (*(one for one in observation.problems if not one.is_count and not one.about_route), final)


def _serving(replica: Replica, observation: Observation, *, has_address: bool) -> Judgement:
    idle = [str(role) for role, count in observation.workers.items() if not count and role not in observation.spare]
    if idle:
        return Judgement(Known.NO, "NoReadyWorker", f"no worker of {' and '.join(idle)} is ready")
    if _unseen(replica, observation):
        return Judgement(Known.UNKNOWN, "NotObserved", _unseen_of(replica, observation))
    routes = tuple(problem for problem in observation.problems if problem.about_route)
    if observation.is_routed is None:
        reason = routes[0].reason if routes else "RouteNotObserved"
        message = _messages(routes) or "the route on the cluster's gateway has not been observed yet"
        return Judgement(Known.UNKNOWN, reason, message)
    if not observation.is_routed:
        reason = routes[0].reason if routes else "RouteNotAccepted"
        return Judgement(Known.NO, reason, _messages(routes) or "the cluster's gateway has not accepted the route yet")
    if not has_address:
        return Judgement(
            Known.UNKNOWN,
            "NoGatewayAddress",
            f"cluster {replica.cluster} has published no gateway address; see its condition ClusterReady",
        )
    return Judgement(Known.YES, "Serving", "requests reach the replica through its cluster's gateway")


def _phase(observation: Observation, workload: Judgement, serving: Judgement) -> Phase:
    if serving.known is Known.YES:
        return Phase.RUNNING if workload.known is Known.YES else Phase.DEGRADED
    if any(problem.is_final for problem in observation.problems):
        return Phase.FAILED
    if any(problem.is_queued for problem in observation.problems):
        return Phase.QUEUED
    return Phase.STARTING


def _wanted(replica: Replica) -> tuple[tuple[Role, int], ...]:
    return tuple((bound.spec.role, bound.spec.workers) for bound in replica.roles)


def _unseen(replica: Replica, observation: Observation) -> tuple[Role, ...]:
    """Return the roles of whose workers nothing is said."""
    return tuple(role for role, _ in _wanted(replica) if role not in observation.workers)


def _unseen_of(replica: Replica, observation: Observation) -> str:
    if not observation.workers:
        return f"the workload on cluster {replica.cluster} has not been observed yet"
    roles = " and ".join(_unseen(replica, observation))
    return f"cluster {replica.cluster} does not report the number of ready {roles} workers"


def _counts(replica: Replica, observation: Observation) -> str:
    return ", ".join(
        f"{observation.workers[role]} of {count} {role} workers are ready"
        for role, count in _wanted(replica)
        if role in observation.workers
    )


def _waiting(replica: Replica, observation: Observation) -> str:
    """Return which Secrets have to be there, as long as some role has no worker that could prove they are."""
    named = sorted(
        {
            name
            for bound in replica.roles
            if not observation.workers.get(bound.spec.role)
            for name in secrets.required(bound.spec.template)
        }
    )
    if not named:
        return ""
    listed = ", ".join(named)
    return (
        f"the pods need Secrets that must exist in namespace {replica.namespace} of cluster {replica.cluster}: {listed}"
    )


def _messages(problems: tuple[Problem, ...]) -> str:
    return "; ".join(problem.message for problem in problems)
