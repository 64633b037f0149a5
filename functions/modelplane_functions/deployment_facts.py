"""The inputs of a deployment's placement, decoded from what its composer observed.

They are the clusters and classes in sight, the deployment's own replicas and the names that are taken. An input that
cannot be read becomes a fault with a message, unless the deployment's author must correct it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial

from modelplane import names, placement, seen
from modelplane.api import (
    backend_rules,
    inference_class,
    inference_cluster,
    intent,
    replica,
)
from modelplane.api import workload as workloads
from modelplane.api.fields import Field
from modelplane.devices.model import NodeClass
from modelplane.errors import InvalidInput, NoCapableBackend
from modelplane.placement import demand
from modelplane.placement.snapshot import Cluster, Current, Demand, Fleet, Intent, Ways
from modelplane.render.backends import selection
from modelplane.render.backends.selection import NO_POOL, Choice, Offer, Standing
from modelplane.render.schedulers import selection as schedulers
from modelplane.workload.model import Workload
from modelplane.workload.rule import Rule
from modelplane_functions import replicas, selectors
from modelplane_functions.exchange import (
    Observed,
    Requirement,
    Resource,
)
from modelplane_functions.memory.resources import recall, recall_of
from modelplane_functions.replica_repair import Decision

CLUSTERS = "clusters"
CLASSES = "classes"
NAMESAKES = "replicas"
RULES = "rules"
_CLUSTER = "cluster/"


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
        return demand.of(self.workload, selection.claims(str(self.choice.backend)))

    def vote(self) -> Choice:
        """Return how the clusters would vote now, whatever is settled."""
        return _vote(self.workload, self.standing, self.intent, self.fleet.clusters)


def requirements(observed: Observed) -> dict[str, Requirement]:
    """Return the objects that must be fetched. The cluster label selects a cluster by its name."""
    labels = {
        key: str(value)
        for key, value in sorted(Field(observed.spec, ("spec",)).at("clusterSelector", "matchLabels").members().items())
    }
    by_name = labels.pop(names.LABEL_CLUSTER, None)
    needed = {
        CLUSTERS: Requirement(names.API_VERSION, inference_cluster.KIND, name=by_name, labels=labels),
        CLASSES: Requirement(names.API_VERSION, inference_class.KIND),
        RULES: Requirement(names.API_VERSION, backend_rules.KIND),
        # Crossplane forgets a child when it deletes it, but the object exists until its finalizers are done. A new
        # replica with the same name would be written into it.
        NAMESAKES: Requirement(
            names.API_VERSION,
            replica.KIND,
            namespace=observed.namespace,
            labels={names.LABEL_DEPLOYMENT: observed.name},
        ),
    }
    for resource in replicas.living_of(observed).values():
        cluster = replicas.cluster_of(resource)
        needed[_CLUSTER + cluster] = Requirement(names.API_VERSION, inference_cluster.KIND, name=cluster)
    return needed


def read(observed: Observed) -> Facts:
    """Return the decoded inputs. Every required object must have been fetched.

    Raises: InvalidInput or Unsupported when the author must change something.
    """
    workload = _workload(observed)
    selectors.check(observed.spec, classes=observed.required[CLASSES])
    classes, faults = _classes(observed)
    clusters = _clusters(observed, classes)
    selectors.check_search(demand.of(workload), _classes_of(clusters))
    wanted = intent.decode(
        observed.spec,
        namespace=observed.namespace,
        deployment=observed.name,
        backends=(),
        schedulers=schedulers.refusals(workload),
    )
    rules, unread = _rules(observed)
    standing = _standing(observed, workload, rules)
    choice = _choice(workload, standing, wanted, clusters)
    choice = replace(choice, failures=(*unread, *choice.failures)) if choice.reason == "ByCapability" else choice
    backend = str(choice.backend)
    decision = Decision(workload, backend, {cluster.name: cluster for cluster in clusters})
    own = replicas.own(observed, decision, observed.required[NAMESAKES], _documents(observed))
    faults += tuple(
        f'InferenceCluster "{cluster.name}" cannot be read: {cluster.unreadable}; no new replica is placed there'
        for cluster in clusters
        if cluster.unreadable
    )
    return Facts(
        workload=workload,
        intent=replace(wanted, backends=(backend,), needs=selection.needs(backend, workload)),
        # Replicas exist, but no cluster was listed. The list is more likely wrong than the whole fleet gone.
        fleet=Fleet(clusters, received=bool(clusters) or not own.current.replicas),
        classes=classes,
        own=own,
        standing=standing,
        choice=choice,
        faults=faults + tuple(repair.message for _, repair in sorted(own.repairs.items())),
    )


def _workload(observed: Observed) -> Workload:
    """Return the decoded workload. Its template is checked once per spec. Raises: as `read`."""
    return recall_of(
        observed.spec,
        "workload",
        f"{observed.namespace}/{observed.name}",
        partial(workloads.decode, observed.spec, namespace=observed.namespace, deployment=observed.name),
    )


def _clusters(observed: Observed, classes: Mapping[str, NodeClass]) -> tuple[Cluster, ...]:
    """Return the listed clusters and the clusters of the replicas, sorted by name."""

    def read() -> tuple[Mapping[str, NodeClass], dict[str, Cluster]]:
        found = {str(resource["metadata"]["name"]): resource for resource in observed.required[CLUSTERS]}
        return classes, {name: recalled(found[name], classes) for name in sorted(found)}

    def still(known: tuple[Mapping[str, NodeClass], dict[str, Cluster]]) -> bool:
        then = known[0]
        return then.keys() == classes.keys() and all(then[name] is classes[name] for name in classes)

    listed = recall(observed.required[CLUSTERS], "clusters", read, still)[1]
    named = {
        str(resource["metadata"]["name"]): resource
        for key, resources in observed.required.items()
        if key.startswith(_CLUSTER)
        for resource in resources
    }
    beside = {name: recalled(resource, classes) for name, resource in named.items() if name not in listed}
    clusters = {**listed, **beside}
    return tuple(clusters[name] for name in sorted(clusters)) if beside else tuple(listed.values())


def _classes_of(clusters: Iterable[Cluster]) -> list[NodeClass]:
    """Return the classes of the clusters' pools, sorted by name. One that a cluster changes is another."""
    found = {id(pool.node_class): pool.node_class for cluster in clusters for pool in cluster.pools}
    return sorted((one for one in found.values() if one is not None), key=lambda one: one.name)


def _documents(observed: Observed) -> dict[str, Resource]:
    """Return the clusters of the replicas by name."""
    return {
        key.removeprefix(_CLUSTER): resources[0]
        for key, resources in observed.required.items()
        if key.startswith(_CLUSTER) and resources
    }


def recalled(resource: Resource, classes: Mapping[str, NodeClass]) -> Cluster:
    """Return the decoded cluster, from the cache when its pools still have the same class objects.

    The deployment's author cannot correct a cluster that cannot be read. It keeps its replicas and gets no new ones.
    """

    def still(known: Cluster) -> bool:
        return all(pool.node_class is classes.get(pool.class_name) for pool in known.pools)

    try:
        return recall(resource, "cluster", partial(inference_cluster.decode, resource, classes), still)
    except InvalidInput as error:
        return inference_cluster.illegible(resource, error)


def _classes(observed: Observed) -> tuple[dict[str, NodeClass], tuple[str, ...]]:
    """Return the usable classes by name, and a message for each unusable one."""
    classes: dict[str, NodeClass] = {}
    faults: list[str] = []
    for resource in observed.required[CLASSES]:
        try:
            node_class = recall(resource, "class", partial(inference_class.decode, resource))
        except InvalidInput as error:
            faults.append(f'InferenceClass "{resource["metadata"]["name"]}" is not usable: {error}')
            continue
        classes[node_class.name] = node_class
    return classes, tuple(faults)


def _rules(observed: Observed) -> tuple[tuple[Rule, ...], tuple[str, ...]]:
    """Return the platform's rules, by object, and a message for each that cannot be read."""
    ordered = sorted(observed.required.get(RULES, ()), key=lambda resource: str(resource["metadata"]["name"]))
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
    return Offer(cluster.backends, ways, selection.lacks(workload, cluster.missing))


def _backend_of(child: Resource) -> str:
    """Return the backend of an observed replica, empty if it cannot be read."""
    return seen.text(seen.at(child, "spec", "backend"))
