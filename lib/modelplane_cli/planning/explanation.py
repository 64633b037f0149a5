"""Answers to "why there, and why nowhere else", as the placement gives them, with what documents can be changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from modelplane import names, placement
from modelplane.errors import InvalidInput
from modelplane.placement import Moves, Standing
from modelplane.placement.decision import Admission, Closest, ClusterVerdict, Plan
from modelplane.render.backends.selection import Choice
from modelplane_cli.planning import amendments, moves
from modelplane_cli.planning.amendments import Amendment, Documents
from modelplane_cli.planning.decision import Decision
from modelplane_cli.simulator.store import Store
from modelplane_functions.deployment_facts import Facts

Json: TypeAlias = Any


@dataclass(frozen=True, slots=True)
class Backend:
    """The backend of a deployment: the choice that stands, and how the clusters would vote now."""

    choice: Choice
    vote: Choice


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to one question. `message` reads as kube-scheduler's, and `verdicts` has every cluster by name.

    They are about one more replica, or, `about` a replica, about that one as if it were not there. `moves` of other
    replicas would make room, None where nothing is missing; with them, `otherwise` is what else would help.
    """

    namespace: str
    name: str
    about: str
    plan: Plan
    standings: tuple[Standing, ...]
    message: str
    verdicts: tuple[ClusterVerdict, ...]
    closest: Closest | None
    amendment: Amendment
    arguments: Mapping[str, str] = field(default_factory=dict)
    overrides: Mapping[str, str] = field(default_factory=dict)
    errors: Mapping[str, str] = field(default_factory=dict)
    moves: Moves | None = None
    otherwise: tuple[Closest, Amendment] | None = None
    backend: Backend | None = None
    scaling: str = ""
    """The message of the condition ScalerReady; empty without `spec.scaling`."""

    @property
    def is_placed(self) -> bool:
        """Return whether everything asked about is placed where it may be."""
        if self.about:
            asked = [one for one in self.plan.composed if one.name == self.about]
            return all(one.holds_place and one.admission is Admission.ADMITTED for one in asked)
        return self.plan.shortfall is None and not self.plan.blocked

    @property
    def helpless(self) -> str:
        """Return the reason that no change is named when no cluster fits. Empty when a change is named."""
        if self.closest is not None or any(verdict.fits for verdict in self.verdicts):
            return ""
        return placement.helpless(self.verdicts)


def deployment(decision: Decision, documents: Documents | None = None) -> Answer:
    """Return the reason of each placement of a deployment, and the verdict of every cluster on one more replica.

    `documents` are what people wrote, in which something can be changed.
    """
    found = decision.explanation()
    intent = decision.facts.intent
    return Answer(
        namespace=intent.namespace,
        name=intent.deployment,
        about="",
        plan=found.plan,
        standings=tuple(placement.standings(decision.snapshot, found.plan)),
        message=found.message,
        verdicts=found.verdicts,
        closest=found.closest,
        amendment=_amendment(found.closest, decision.facts, documents),
        backend=Backend(decision.facts.choice, decision.facts.vote()),
    )


def with_moves(answer: Answer, store: Store) -> Answer:
    """Return the answer about a deployment with the moves of replicas that would help, which come before purchases.

    Cost: nothing where nothing is missing.
    """
    blocked = answer.plan.blocked[0].replica if answer.plan.blocked else ""
    if answer.about or answer.is_placed or any(verdict.fits for verdict in answer.verdicts):
        return answer
    key = names.qualified(answer.namespace, answer.name)
    missing = "" if answer.plan.shortfall is not None else blocked
    found = placement.smallest_moves(moves.scene(store), key, missing)
    first = moves.closest(found, answer.verdicts)
    if first is None:
        return replace(answer, moves=found)
    before = None if answer.closest is None else (answer.closest, answer.amendment)
    beyond = Amendment((), (moves.NOT_IN_DOCUMENTS,))
    return replace(answer, moves=found, closest=first, amendment=beyond, otherwise=before)


def _amendment(closest: Closest | None, facts: Facts, documents: Documents | None) -> Amendment:
    return Amendment((), ()) if closest is None else amendments.of(closest, facts, documents or {})


def replica(decision: Decision, name: str, documents: Documents | None = None) -> Answer:
    """Return the reason of one replica's placement, and the verdict of every cluster on it.

    Raises: InvalidInput when its deployment has no say over it any more.
    """
    facts = decision.facts
    plan = decision.plan()
    placed = next((one for one in plan.replicas if one.name == name), None)
    if placed is None:
        raise InvalidInput("it is being deleted; explain its ModelDeployment or its replacement instead")
    found = placement.explain_replica(decision.snapshot, plan, placed)
    return Answer(
        namespace=facts.intent.namespace,
        name=name,
        about=name,
        plan=plan,
        standings=(found.standing,),
        message=found.message,
        verdicts=found.verdicts,
        closest=found.closest,
        amendment=_amendment(found.closest, facts, documents),
    )


# --- as JSON ----------------------------------------------------------------------------------------------------------


def encode(answer: Answer) -> dict[str, Json]:
    """Return the answer as JSON. Its keys are a promise: some may be added, none changed."""
    closest = answer.closest
    return {
        "kind": "ModelReplica" if answer.about else "ModelDeployment",
        "namespace": answer.namespace,
        "name": answer.name,
        "message": answer.message,
        "placed": answer.is_placed,
        "backend": None if answer.backend is None else _encode_backend(answer.backend),
        "scaling": answer.scaling,
        "clusters": [_encode_verdict(verdict) for verdict in answer.verdicts],
        "closest": None if closest is None else amendments.encoded(closest, answer.amendment),
        "otherwise": None if answer.otherwise is None else amendments.encoded(*answer.otherwise),
        "moves": None if answer.moves is None else moves.encode_moves(answer.moves),
        "noChange": answer.helpless or None,
        "replicas": [_encode_standing(one, answer) for one in answer.standings],
        "blocked": [
            {"replica": one.replica, "cause": one.cause, "message": one.message} for one in answer.plan.blocked
        ],
    }


def _encode_backend(one: Backend) -> dict[str, Json]:
    return {
        "name": one.choice.backend,
        "reason": one.choice.reason,
        "why": one.choice.why,
        "vote": [
            {
                "backend": ballot.backend,
                "clusters": ballot.votes,
                "priority": ballot.preferred.priority,
                "rule": ballot.preferred.text or None,
                "refusal": None if ballot.refusal is None else str(ballot.refusal),
            }
            for ballot in one.vote.ballots
        ],
        "failedRules": list(one.vote.failures),
    }


def _encode_verdict(verdict: ClusterVerdict) -> dict[str, Json]:
    return {
        "cluster": verdict.cluster,
        "fits": verdict.fits,
        "reason": None if verdict.reason is None else str(verdict.reason),
        "detail": verdict.detail,
        "pools": [
            {
                "pool": pool.pool,
                "role": str(pool.role),
                "fits": pool.fits,
                "reason": None if pool.reason is None else str(pool.reason),
                "detail": pool.detail,
            }
            for pool in verdict.pools
        ],
    }


def _encode_standing(one: Standing, answer: Answer) -> dict[str, Json]:
    placed = one.replica
    return {
        "name": placed.name,
        "cluster": placed.cluster,
        "pools": {str(role.role): role.pool for role in placed.roles},
        "admission": str(placed.admission),
        "note": placed.note,
        "engineArguments": answer.arguments.get(one.replica.name, ""),
        "overrides": answer.overrides.get(one.replica.name, ""),
        "notReady": answer.errors.get(one.replica.name, ""),
        "fits": None if one.fits is None else one.fits.fits,
        "wouldAlsoFit": [
            {"cluster": rival.cluster, "preferred": rival.preferred, "why": rival.why} for rival in one.rivals
        ],
        "wouldNotFit": [
            {"cluster": verdict.cluster, "reason": str(verdict.reason), "detail": verdict.detail}
            for verdict in one.others
        ],
        **({"alternatives": list(one.alternatives)} if one.alternatives else {}),
    }
