"""The objects that a deployment asks for and sees: those that its replicas stand on, or the whole fleet.

Crossplane calls a deployment again when anything changes that it asked for in its last call. A deployment whose
replicas only stay asks for their clusters and the classes of these, by name. Any other asks for the fleet as well. What
it asks for follows from what it stands on alone, so the second question cannot take the first one back.

Crossplane hands over what the last call asked for, whether this one does or not. What is there may therefore be more
than what was asked for, and only what was asked for is read.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial

from modelplane import names
from modelplane.api import backend_rules, inference_class, inference_cluster, replica, tenants
from modelplane.api.fields import Field
from modelplane.devices.model import NodeClass
from modelplane.errors import InvalidInput
from modelplane.placement.snapshot import Cluster
from modelplane_functions import allowed_namespaces, cache_facts, quotas, replicas
from modelplane_functions.exchange import Observed, Requirement, Resource
from modelplane_functions.memory.resources import recall

CLUSTERS = "clusters"
CLASSES = "classes"
NAMESAKES = "replicas"
RULES = "rules"
_CLUSTER, _CLASS = "cluster/", "class/"


@dataclass(frozen=True, slots=True)
class Sight:
    """The clusters and classes that were asked for, decoded, with a message for each that cannot be used.

    `documents` are the clusters of the replicas by name. `namesakes` are the replicas with the deployment's label.
    """

    clusters: tuple[Cluster, ...]
    classes: Mapping[str, NodeClass]
    class_documents: tuple[Resource, ...]
    documents: Mapping[str, Resource]
    faults: tuple[str, ...]
    namesakes: tuple[Resource, ...] = ()


# --- asks -------------------------------------------------------------------------------------------------------------


def requirements(observed: Observed) -> dict[str, Requirement]:
    """Return the objects that a deployment stands on: the clusters of its replicas, and the classes of their pools."""
    return _standing_on(_clusters_of(observed), observed)


def fleet_requirements(observed: Observed, clusters: Iterable[str] = ()) -> dict[str, Requirement]:
    """Return the objects of a placement: the whole fleet, beside what the deployment stands on.

    It will stand on `clusters` as well, so the next call need not ask for them first. The cluster label selects a
    cluster by its name. The Namespace is among them once a listed cluster allows, or a quota selects, namespaces by
    their labels.
    """
    labels = {
        key: str(value)
        for key, value in sorted(Field(observed.spec, ("spec",)).at("clusterSelector", "matchLabels").members().items())
    }
    by_name = labels.pop(names.LABEL_CLUSTER, None)
    listed = observed.required.get(CLUSTERS, ())
    rules = recall(listed, "tenants", lambda: tuple(dict.fromkeys(tenants.readable(one) for one in listed)))
    return {
        **quotas.requirements(observed, (observed.namespace,)),
        **allowed_namespaces.requirements(rules, (observed.namespace,)),
        **_standing_on({*_clusters_of(observed), *clusters}, observed),
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


def _clusters_of(observed: Observed) -> set[str]:
    """Return the names of the clusters of the replicas."""
    return {replicas.cluster_of(resource) for resource in replicas.living_of(observed).values()}


def _standing_on(clusters: Iterable[str], observed: Observed) -> dict[str, Requirement]:
    """Return the requirements of the cache, of clusters and of the classes of their pools, by name.

    A cluster names its classes. One that was not fetched by name yet may have been listed, which saves a call.
    """
    listed = {str(one["metadata"]["name"]): one for one in observed.required.get(CLUSTERS, ())}
    needed = cache_facts.requirements(observed)
    for cluster in sorted(clusters):
        needed[_CLUSTER + cluster] = Requirement(names.API_VERSION, inference_cluster.KIND, name=cluster)
        found = observed.required.get(_CLUSTER + cluster, (listed[cluster],) if cluster in listed else ())
        for class_name in inference_cluster.class_names(found[0]) if found else ():
            needed[_CLASS + class_name] = Requirement(names.API_VERSION, inference_class.KIND, name=class_name)
    return needed


# --- sees -------------------------------------------------------------------------------------------------------------


def own(observed: Observed) -> Sight | None:
    """Return the clusters of the replicas with their classes, None where one of these clusters was not found.

    Every object of `requirements` must have been fetched.
    """
    documents = _documents(observed)
    if documents.keys() < _clusters_of(observed):
        return None
    asked = sorted(requirements(observed))
    fetched = tuple(one for key in asked if key.startswith(_CLASS) for one in observed.required[key])
    classes, faults = classes_of(fetched)
    clusters = tuple(recalled(documents[name], classes) for name in sorted(documents))
    return Sight(clusters, classes, fetched, documents, (*faults, *_illegible(clusters)))


def fleet(observed: Observed) -> Sight:
    """Return the whole fleet. Every object of `fleet_requirements` must have been fetched."""
    fetched, documents = observed.required[CLASSES], _documents(observed)
    classes, faults = classes_of(fetched)
    clusters = _clusters(observed.required[CLUSTERS], documents, classes)
    told = (*faults, *_illegible(clusters))
    return Sight(clusters, classes, fetched, documents, told, observed.required[NAMESAKES])


def _documents(observed: Observed) -> dict[str, Resource]:
    """Return the clusters of the replicas by name, without those that do not exist."""
    found = {name: observed.required.get(_CLUSTER + name, ()) for name in sorted(_clusters_of(observed))}
    return {name: resources[0] for name, resources in found.items() if resources}


def _clusters(
    fetched: tuple[Resource, ...], documents: Mapping[str, Resource], classes: Mapping[str, NodeClass]
) -> tuple[Cluster, ...]:
    """Return the listed clusters and the clusters of the replicas, sorted by name."""

    def read() -> tuple[Mapping[str, NodeClass], dict[str, Cluster]]:
        found = {str(resource["metadata"]["name"]): resource for resource in fetched}
        return classes, {name: recalled(found[name], classes) for name in sorted(found)}

    def still(known: tuple[Mapping[str, NodeClass], dict[str, Cluster]]) -> bool:
        then = known[0]
        return then.keys() == classes.keys() and all(then[name] is classes[name] for name in classes)

    listed = recall(fetched, "clusters", read, still)[1]
    beside = {name: recalled(resource, classes) for name, resource in documents.items() if name not in listed}
    clusters = {**listed, **beside}
    return tuple(clusters[name] for name in sorted(clusters)) if beside else tuple(listed.values())


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


def classes_of(fetched: Iterable[Resource]) -> tuple[dict[str, NodeClass], tuple[str, ...]]:
    """Return the usable classes by name, and a message for each unusable one."""
    classes: dict[str, NodeClass] = {}
    faults: list[str] = []
    for resource in fetched:
        try:
            node_class = recall(resource, "class", partial(inference_class.decode, resource))
        except InvalidInput as error:
            faults.append(f'InferenceClass "{resource["metadata"]["name"]}" is not usable: {error}')
            continue
        classes[node_class.name] = node_class
    return classes, tuple(faults)


def _illegible(clusters: Iterable[Cluster]) -> tuple[str, ...]:
    """Return a message for each cluster that cannot be read."""
    return tuple(
        f'InferenceCluster "{cluster.name}" cannot be read: {cluster.unreadable}; no new replica is placed there'
        for cluster in clusters
        if cluster.unreadable
    )
