"""Intent of a ModelDeployment, decoded for placement: number of replicas, selectors and limits.

Shape: `spec` of ModelDeployment as plain JSON.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, TypeAlias

from modelplane import minutes
from modelplane.api import label_selectors
from modelplane.api.fields import Field
from modelplane.placement.snapshot import (
    Effect,
    Intent,
    SpreadConstraint,
    Strategy,
    Taint,
    Toleration,
    TolerationOperator,
)

Json: TypeAlias = Any

REPLICAS_MAX = 1000
RECOVERY_MIN = 5
"""Minutes: Kubernetes itself ends the pods of a node that is not ready after five."""
"""The limit of the definition for replicas of one deployment."""


class Rebalance(StrEnum):
    """Permission of a deployment for its replicas to move so that another replica has room."""

    NEVER = "Never"
    ALLOWED = "Allowed"


def decode(
    spec: Mapping[str, Json],
    *,
    namespace: str,
    deployment: str,
    backends: tuple[str, ...],
    schedulers: Mapping[str, str],
) -> Intent:
    """Return the intent.

    `backends` are those that can serve the workload. `schedulers` are those that are offered, each with the reason why
    it cannot place the pods.
    Raises: InvalidInput with the path from the document's root (the author's fault).
    """
    root = Field(spec, ("spec",))
    placement = root.at("placement")
    return Intent(
        namespace=namespace,
        deployment=deployment,
        replicas=root.at("replicas").count(1, least=0, most=REPLICAS_MAX),
        selector=label_selectors.decode(root.at("clusterSelector")),
        tolerations=decode_tolerations(root.at("tolerations")),
        strategy=placement.at("strategy").choice(Strategy, Strategy.SPREAD),
        spread=tuple(
            SpreadConstraint(entry.at("topologyKey").text(), entry.at("maxSkew").count(1, least=1, most=REPLICAS_MAX))
            for entry in placement.at("spread").items()
        ),
        max_replicas_per_cluster=placement.at("maxReplicasPerCluster").count(0, least=0, most=REPLICAS_MAX),
        priority=root.at("priority").integer(0),
        backends=backends,
        schedulers=tuple(schedulers.items()),
        rebalance=placement.at("rebalance").choice(Rebalance, Rebalance.NEVER) is Rebalance.ALLOWED,
        recovery=_recovery(placement.at("recovery")),
    )


def _recovery(field: Field) -> int | None:
    """Return the minutes, None where nothing is moved. Raises: InvalidInput."""
    text = field.optional()
    if text is None:
        return None
    found = minutes.duration(text)
    if found is None or found < RECOVERY_MIN:
        raise field.wrong(f'must be minutes or hours, at least {RECOVERY_MIN}m, for example "30m" or "2h"')
    return found


def decode_tolerations(field: Field) -> tuple[Toleration, ...]:
    """Return the tolerations of a deployment, none if absent."""
    return tuple(_toleration(entry) for entry in field.items())


def decode_taint(entry: Field) -> Taint:
    """Return a taint of a cluster or of the nodes of a pool."""
    return Taint(entry.text_at("key"), entry.at("effect").choice(Effect), entry.text_at("value", ""))


def _toleration(entry: Field) -> Toleration:
    return Toleration(
        key=entry.at("key").text(""),
        operator=entry.at("operator").choice(TolerationOperator, TolerationOperator.EQUAL),
        value=entry.at("value").text(""),
        effect=entry.at("effect").choice(Effect) if entry.at("effect").is_set else None,
    )
