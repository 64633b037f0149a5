"""The decision of a deployment's function in a given world, and its inputs. The function's own code decodes them."""

from __future__ import annotations

from dataclasses import dataclass, replace

from modelplane import names, placement
from modelplane.api import inference_cluster
from modelplane.errors import InvalidInput
from modelplane.placement import Explanation
from modelplane.placement.decision import Plan
from modelplane.placement.snapshot import Snapshot
from modelplane_cli.planning.replicas import Deployment
from modelplane_cli.simulator import pipeline
from modelplane_cli.simulator.pipeline import ANNOTATION_KEY
from modelplane_cli.simulator.store import Key, Store, group_of
from modelplane_functions import deployment_facts, deployment_sight
from modelplane_functions.deployment_facts import Facts
from modelplane_functions.exchange import Observed, Requirement, Resource


@dataclass(frozen=True, slots=True)
class Decision:
    """The facts of one deployment, and what follows from them."""

    facts: Facts

    @property
    def snapshot(self) -> Snapshot:
        """Return the input of the placement."""
        facts = self.facts
        return Snapshot(facts.fleet, facts.demand, facts.intent, facts.current)

    def plan(self) -> Plan:
        """Return the outcome that the function would compose now."""
        found = self.snapshot
        return placement.schedule(found.fleet, found.demand, found.intent, found.current)

    def explanation(self) -> Explanation:
        """Return the plan and what every cluster says to one more replica."""
        found = self.snapshot
        return placement.explain(found.fleet, found.demand, found.intent, found.current)


def of(store: Store, deployment: Deployment) -> Decision:
    """Return the input of the deployment's function, with the whole fleet.

    The function asks for the fleet only where its answer depends on it, so the plan is the same.

    Raises: ModelplaneError for what the author of the deployment must change.
    """
    composite = pipeline.resource(store, deployment.key)
    children = dict(_children(store, deployment.key))
    observed = Observed(composite, children)
    while lacking := {
        name: _answer(store, requirement)
        for name, requirement in deployment_sight.fleet_requirements(observed).items()
        if name not in observed.required
    }:
        observed = replace(observed, required={**observed.required, **lacking})
    return Decision(deployment_facts.read(observed))


def widened(store: Store, decision: Decision) -> Decision:
    """Return the decision with the clusters that its function never asks for, since their labels do not match.

    They take part in no decision, and an explanation speaks of every cluster. Where they would change the plan after
    all it is returned as it is.
    """
    facts = decision.facts
    if not facts.intent.selector.match_labels:
        return decision
    clusters = {cluster.name: cluster for cluster in facts.fleet.clusters}
    for key in store.of_kind(names.GROUP, inference_cluster.KIND):
        if key.name not in clusters:
            try:
                clusters[key.name] = deployment_sight.recalled(pipeline.resource(store, key), facts.classes)
            except InvalidInput:
                continue
    fleet = replace(facts.fleet, clusters=tuple(clusters[name] for name in sorted(clusters)))
    wide = Decision(replace(facts, fleet=fleet))
    return wide if wide.plan().replicas == decision.plan().replicas else decision


def _children(store: Store, key: Key) -> dict[str, Resource]:
    found = {}
    for child in store.controlled_by(key):
        resource = pipeline.resource(store, child)
        name = (resource["metadata"].get("annotations") or {}).get(ANNOTATION_KEY)
        if name:
            found[str(name)] = resource
    return found


def _answer(store: Store, requirement: Requirement) -> tuple[Resource, ...]:
    kind = (group_of(requirement.api_version), requirement.kind)
    if requirement.name is not None:
        key = Key(*kind, requirement.namespace or "", requirement.name)
        return () if store.get(key) is None else (pipeline.resource(store, key),)
    keys = store.select(kind, requirement.namespace, requirement.labels)
    return tuple(pipeline.resource(store, key) for key in keys)
