"""ModelReplicas as they are observed: those of a deployment, and what one asks of its cluster.

What is read out of one is kept with it: a deployment sees all of its replicas in every call, a cluster all that name
it, and few of them change between two calls.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial

from modelplane import names
from modelplane.api import inference_cluster, replica, replica_status
from modelplane.api.fields import Field
from modelplane.errors import InvalidInput
from modelplane.placement import binding, demand
from modelplane.placement.snapshot import Current, CurrentReplica, Holding
from modelplane.workload.model import Replica, Workload
from modelplane_functions.exchange import Observed, Resource
from modelplane_functions.remembered import recall

KEY = "replica-"
"""What the composition key of a deployment's ModelReplica begins with; its name follows."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What a replica takes of its cluster once admitted, and how urgently: all of its spec that an admission reads."""

    holdings: tuple[Holding, ...]
    priority: int


_ASKED: dict[str, Asked] = {}
"""What replicas ask by all that their specs say; a memory of a pure function, of four million characters at most."""
ASKED_MAX, ASKED_CHARACTERS_MAX = 256, 16_384


@dataclass(frozen=True, slots=True)
class _Bound:
    """A replica as its spec describes it, with what it takes."""

    replica: Replica
    holdings: tuple[Holding, ...]


def asked(resource: Resource) -> Asked:
    """Return what the replica asks of the cluster it names. Raises: InvalidInput for one that cannot be read."""
    return recall(resource, "asked", partial(_asked, resource))


def _asked(resource: Resource) -> Asked:
    """Return what `asked` does. Replicas of one deployment on one pool ask the same, and are read once.

    What Crossplane notes in a spec is of each replica its own, and nothing of it is read.
    """
    spec = resource.get("spec")
    own = {key: value for key, value in spec.items() if key != "crossplane"} if isinstance(spec, dict) else spec
    says = repr(own)
    known = _ASKED.get(says)
    if known is None:
        found = replica.decode(resource)
        known = Asked(demand.held(found), found.priority)
        if len(_ASKED) >= ASKED_MAX:
            _ASKED.clear()
        if len(says) <= ASKED_CHARACTERS_MAX:
            _ASKED[says] = known
    return known


def observed_of(observed: Observed) -> dict[str, Resource]:
    """Return the observed ModelReplicas of a deployment by name."""
    return {
        str(child["metadata"]["name"]): child for key, child in sorted(observed.children.items()) if key.startswith(KEY)
    }


def living_of(observed: Observed) -> dict[str, Resource]:
    """Return the observed ModelReplicas of a deployment that are not being deleted, by name."""
    replicas = observed_of(observed)
    return {name: child for name, child in replicas.items() if not child["metadata"].get("deletionTimestamp")}


def cluster_of(child: Resource) -> str:
    """Return the cluster of an observed ModelReplica. Raises: as `current`."""
    try:
        return Field(child).at("spec", "clusterName").text()
    except InvalidInput as error:
        raise _unreadable(child, error) from None


def serves(child: Resource) -> bool:
    """Return whether the replica serves as it is written now; what it said of an older spec does not count."""
    return inference_cluster.condition(child, "Serving") == "True" and replica_status.is_current(child)


def current(observed: Observed, workload: Workload, namesakes: Iterable[Resource]) -> Current:
    """Return the replicas that a deployment has, and the names that those and `namesakes` take.

    Raises: InvalidInput for one that cannot be read: what it holds is unknown, so everything stays as it is.
    """
    return Current(
        replicas=tuple(_current(child, workload) for child in living_of(observed).values()),
        taken_names=frozenset(observed_of(observed)) | {str(one["metadata"]["name"]) for one in namesakes},
    )


def _current(child: Resource, workload: Workload) -> CurrentReplica:
    known = recall(child, "bound", partial(_bound, child))
    root = Field(child)
    return CurrentReplica(
        name=known.replica.name,
        cluster=known.replica.cluster,
        backend=known.replica.backend,
        holdings=known.holdings,
        created=root.at("metadata", "creationTimestamp").text(""),
        ready=serves(child),
        bound=replica_status.is_bound(child),
        outdated=not binding.runs_same(known.replica, workload),
        replaces=root.at("metadata", "annotations", names.ANNOTATION_REPLACES).optional(),
    )


def _bound(child: Resource) -> _Bound:
    try:
        found = replica.decode(child)
    except InvalidInput as error:
        raise _unreadable(child, error) from None
    return _Bound(found, demand.held(found))


def _unreadable(child: Resource, error: InvalidInput) -> InvalidInput:
    name = child["metadata"]["name"]
    said = f'ModelReplica "{name}" of this deployment cannot be read ({error})'
    return InvalidInput(f"{said}; restore its spec, or delete it and it is placed anew")
