"""The inputs of a deployment's placement, decoded from what its composer observed.

They are the clusters and classes in sight, the deployment's own replicas and the names that are taken. An input that
cannot be read becomes a fault with a message, unless the deployment's author must correct it.

There are two views of them. `standing` is what the replicas stand on: their clusters and the classes of these, by name.
`read` is the whole fleet. Crossplane calls a deployment again when anything changes that it asked for, so one whose
replicas only stay asks for the first alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial

from modelplane import placement, seen
from modelplane.api import backend_rules, intent
from modelplane.api import workload as workloads
from modelplane.api.fields import Field
from modelplane.devices import matching
from modelplane.devices.model import NodeClass
from modelplane.errors import InvalidInput, NoCapableBackend, Unsupported
from modelplane.placement import demand
from modelplane.placement.demand import Splits
from modelplane.placement.snapshot import Cluster, Current, Demand, Fleet, Intent, Ways
from modelplane.render.backends import selection, splitting
from modelplane.render.backends.selection import NO_POOL, Choice, Offer, Standing
from modelplane.render.schedulers import selection as schedulers
from modelplane.workload.model import Workload
from modelplane.workload.rule import Rule
from modelplane_functions import allowed_namespaces, cache_facts, deployment_sight, quotas, replicas, selectors
from modelplane_functions.cache_facts import CacheFacts
from modelplane_functions.deployment_sight import Sight
from modelplane_functions.exchange import Observed, Resource
from modelplane_functions.memory.resources import recall, recall_of
from modelplane_functions.replica_repair import Decision


@dataclass(frozen=True, slots=True)
class Facts:
    """The decoded inputs of the decision."""

    workload: Workload
    intent: Intent
    fleet: Fleet
    classes: Mapping[str, NodeClass]
    own: replicas.Own
    standing: Standing
    choice: Choice
    faults: tuple[str, ...]
    labels: Mapping[str, Mapping[str, str]]
    """The labels of the clusters of its replicas, without those that cannot be read."""
    cache: CacheFacts = cache_facts.NO_CACHE
    splits: Splits = field(default_factory=dict)
    """Found where the whole fleet was read, which a proposal is about."""

    @property
    def current(self) -> Current:
        """Return the deployment's own replicas."""
        return self.own.current

    @property
    def settled_backend(self) -> str | None:
        """Return the backend to report, None when no cluster with a matching pool was asked: it may offer another."""
        return None if self.choice.is_guess else self.choice.backend

    @property
    def demand(self) -> Demand:
        """Return the demand of one replica, rendered to the chosen backend."""
        return demand.of(self.workload, selection.claims(str(self.choice.backend)), self.splits)

    def vote(self) -> Choice:
        """Return how the clusters would vote now, whatever is settled."""
        return _vote(self.workload, self.standing, self.intent, self.fleet.clusters)


def standing(observed: Observed) -> Facts | None:
    """Return the inputs as far as the replicas stand on them, None where the whole fleet has to be asked.

    It has to where the cluster of a replica does not exist, where no backend is settled, and where the author must
    change something: the message speaks of the fleet then. Every object of `deployment_sight.requirements` must have
    been fetched.
    """
    sight = deployment_sight.own(observed)
    if sight is None:
        return None
    try:
        workload, cache = _cached(observed)
        before = _standing(observed, workload, ())
        choice = selection.settled(workload, before, ())
        if choice is None or choice.backend is None:
            return None
        selectors.check(observed.spec, classes=sight.class_documents)
        found = _facts(observed, sight, _Chosen(workload, _intent(observed, workload), before, choice, cache))
        return replace(found, fleet=replace(found.fleet, is_whole=False))
    except (InvalidInput, Unsupported):
        return None


def read(observed: Observed) -> Facts:
    """Return the inputs with the whole fleet.

    Every object of `deployment_sight.fleet_requirements` must have been fetched, but for what replicas will stand on.

    Raises: InvalidInput or Unsupported when the author must change something.
    """
    workload, cache = _cached(observed)
    selectors.check(observed.spec, classes=observed.required[deployment_sight.CLASSES])
    sight = deployment_sight.fleet(observed)
    selectors.check_search(demand.of(workload), _classes_of(sight.clusters))
    labels = allowed_namespaces.labels(observed, observed.namespace)
    known = None if labels is None else tuple(sorted(labels.items()))
    budgets = quotas.budgets(observed, observed.namespace)
    wanted = replace(_intent(observed, workload), namespace_labels=known, budgets=budgets)
    rules, unread = _rules(observed)
    before = _standing(observed, workload, rules)
    choice = _choice(workload, before, wanted, sight.clusters)
    choice = replace(choice, failures=(*unread, *choice.failures)) if choice.reason == "ByCapability" else choice
    facts = _facts(observed, sight, _Chosen(workload, wanted, before, choice, cache))
    return replace(facts, splits=_splits(facts))


def _splits(facts: Facts) -> Splits:
    """Return the other topologies of the roles whose pods no class of the fleet holds."""
    classes = _classes_of(facts.fleet.clusters)
    wide = [
        spec
        for spec in facts.workload.roles
        if not any(matching.match(one, spec.requests, spec.constraints).options for one in classes)
    ]
    return {
        spec.role: splitting.of(facts.workload, spec, str(facts.choice.backend), workloads.PIPELINE_MAX)
        for spec in wide
    }


@dataclass(frozen=True, slots=True)
class _Chosen:
    """The wish of the author, and the backend that was chosen for it."""

    workload: Workload
    wanted: Intent
    standing: Standing
    choice: Choice
    cache: CacheFacts


def _facts(observed: Observed, sight: Sight, chosen: _Chosen) -> Facts:
    workload, backend, cache = chosen.workload, str(chosen.choice.backend), chosen.cache
    if cache.may_fetch:  # and so both with the files of the cache and without
        selection.check(replace(workload, model_cache=None, cache_key="", cache_uri=""), backend)
    known = {cluster.name: cluster for cluster in sight.clusters}
    decision = Decision(workload, backend, known, may_fetch=cache.may_fetch)
    own = replicas.own(observed, decision, sight.namesakes, sight.documents)
    own = replicas.judged(observed, own, chosen.wanted.recovery)
    return Facts(
        workload=workload,
        intent=replace(
            chosen.wanted,
            backends=(backend,),
            needs=selection.needs(backend, workload),
            schedulers=tuple(schedulers.refusals(workload, backend).items()),
            cache=cache.need,
        ),
        # Replicas exist, but no cluster was listed. The list is more likely wrong than the whole fleet gone.
        fleet=Fleet(sight.clusters, received=bool(sight.clusters) or not own.current.replicas),
        classes=sight.classes,
        own=own,
        standing=chosen.standing,
        choice=chosen.choice,
        labels={
            name: decision.clusters[name].labels
            for name in sight.documents
            if name in decision.clusters and not decision.clusters[name].ambiguous
        },
        faults=(
            *sight.faults,
            *filter(None, [cache.fault]),
            *(repair.message for _, repair in sorted(own.repairs.items())),
        ),
        cache=cache,
    )


def _intent(observed: Observed, workload: Workload) -> Intent:
    return intent.decode(
        observed.spec,
        namespace=observed.namespace,
        deployment=observed.name,
        backends=(),
        # Nothing is refused before a backend is chosen; each cluster's offer says what its scheduler refuses.
        schedulers=dict.fromkeys(schedulers.SCHEDULERS, ""),
    )


def _cached(observed: Observed) -> tuple[Workload, CacheFacts]:
    """Return the workload with the key of its cache, and the cache. Raises: as `read`."""
    workload = _workload(observed)
    cache = cache_facts.read(observed, workload)
    return replace(workload, cache_key=cache.key, cache_uri=cache.uri), cache


def _workload(observed: Observed) -> Workload:
    """Return the decoded workload. Its template is checked once per spec. Raises: as `read`."""
    return recall_of(
        observed.spec,
        "workload",
        f"{observed.namespace}/{observed.name}",
        partial(workloads.decode, observed.spec, namespace=observed.namespace, deployment=observed.name),
    )


def _classes_of(clusters: Iterable[Cluster]) -> list[NodeClass]:
    """Return the classes of the clusters' pools, sorted by name. One that a cluster changes is another."""
    found = {id(pool.node_class): pool.node_class for cluster in clusters for pool in cluster.pools}
    return sorted((one for one in found.values() if one is not None), key=lambda one: one.name)


def _rules(observed: Observed) -> tuple[tuple[Rule, ...], tuple[str, ...]]:
    """Return the platform's rules, by object, and a message for each that cannot be read."""
    fetched = observed.required.get(deployment_sight.RULES, ())
    ordered = sorted(fetched, key=lambda resource: str(resource["metadata"]["name"]))
    read = [recall(resource, "rules", partial(backend_rules.decode, resource)) for resource in ordered]
    return tuple(rule for rules, _ in read for rule in rules), tuple(fault for _, faults in read for fault in faults)


def _standing(observed: Observed, workload: Workload, rules: tuple[Rule, ...]) -> Standing:
    """Return the choices that precede the vote."""
    running = Counter(_backend_of(child) for child in replicas.living_of(observed).values())
    running.pop("", None)
    return Standing(
        named=Field(observed.spec, ("spec",)).at("backend").optional(),
        # A status that was lost does not move what runs.
        current=seen.text(observed.status.get("backend"))
        or max(running, key=lambda name: (running[name], name), default=None),
        is_placed=bool(running),
        spec={**observed.spec, "engine": {"type": str(workload.engine)}},
        rules=rules,
    )


def _choice(workload: Workload, standing: Standing, wanted: Intent, clusters: tuple[Cluster, ...]) -> Choice:
    """Return the named backend, else the one chosen before, else the clusters' choice among the capable ones.

    Raises: InvalidInput or Unsupported when no backend can serve the workload (the author's fault).
    """
    is_new = standing.named is None and standing.current is None  # then nothing is settled, whatever is offered
    offered = () if is_new else tuple(_offer(workload, cluster, ()) for cluster in clusters)
    settled = selection.settled(workload, standing, offered)
    choice = settled or _vote(workload, standing, wanted, clusters)
    if choice.backend is not None:
        return choice
    if len(choice.refusals) == 1:
        raise next(iter(choice.refusals.values()))
    raise NoCapableBackend(choice.refusals)


def _vote(workload: Workload, standing: Standing, wanted: Intent, clusters: tuple[Cluster, ...]) -> Choice:
    """Return the vote of the clusters that the deployment may use; of all where it may use none."""
    ways = placement.ways(Fleet(clusters), demand.of(workload), wanted)
    eligible = [_offer(workload, cluster, ways[cluster.name]) for cluster in clusters if cluster.name in ways]
    return selection.vote(workload, standing, eligible or [_offer(workload, one, NO_POOL) for one in clusters])


def _offer(workload: Workload, cluster: Cluster, ways: tuple[Ways, ...]) -> Offer:
    lacks = selection.lacks(workload, cluster.missing)
    return Offer(cluster.backends, ways, lacks, selection.unqueued(workload, cluster.scheduler))


def _backend_of(child: Resource) -> str:
    """Return the backend of an observed replica, empty if it cannot be read."""
    return seen.text(seen.at(child, "spec", "backend"))
