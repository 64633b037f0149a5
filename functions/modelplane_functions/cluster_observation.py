"""The nodes and devices that are really on a cluster, as its observer counts them: an upper bound for new replicas.

What is observed takes nothing from a replica that stands and adds nothing to what is declared. While the observation
cannot be read, is old or cannot be understood, the last published numbers hold, and the condition says since when. A
pool of which nothing was ever published counts as declared.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeAlias

from modelplane import names, seen, words
from modelplane.api import observation
from modelplane.api.fields import Field
from modelplane.api.inference_cluster import ProviderConfigRef
from modelplane.api.observation import Observation
from modelplane.devices import sightings
from modelplane.devices.sightings import Seen
from modelplane.errors import InvalidInput
from modelplane.placement.snapshot import Pool
from modelplane.render import objects, observer, pod_errors
from modelplane.render.manifest import Manifest
from modelplane.workload.created import Nodes
from modelplane_functions import cluster_gateway, hold
from modelplane_functions.exchange import Child, Condition, Observed, Ready, Resource, Truth
from modelplane_functions.memory.resources import recall

Json: TypeAlias = Any

CONDITION = "CapacityObserved"
_TOLD = 5
_KIBI = 1 << 10
_WRITTEN = "observation"
"""The key of the ConfigMap's data that the observer writes."""


@dataclass(frozen=True, slots=True)
class Read:
    """The known numbers of the pools.

    `pools` are the entries of status.pools by pool, as they were judged now or published before. `question` is None
    where nobody looks, and the same as before while a class is missing. `trouble` is the reason and message why the
    numbers are not of now.
    """

    question: Mapping[str, Json] | None = None
    pools: Mapping[str, Mapping[str, Json]] = field(default_factory=dict)
    differs: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()
    trouble: tuple[str, str] | None = None
    note: str = ""
    is_whole: bool = True
    """The classes of all pools are known."""


NOBODY = Read()


def read(observed: Observed, pools: tuple[Pool, ...]) -> Read:
    """Return the known numbers of the declared pools; nothing where the cluster is not observed."""
    facts = cluster_gateway.facts(observed)
    if facts.observer is None:
        return NOBODY
    asked = observer.question(pools, facts)
    found, trouble = _observation(observed)
    digests = observer.digests(asked)
    entries: dict[str, Mapping[str, Json]] = dict(_published(observed, digests))
    differs: list[str] = []
    lacks: list[str] = []
    late: list[str] = []
    for pool in pools:
        sight = found.pools.get(pool.name)
        if sight is None or sight.asked != digests[pool.name]:
            late.append(pool.name)
        elif pool.node_class is not None:
            judged = sightings.judge(sight, pool.node_class)
            entries[pool.name] = _encode(judged)
            differs += [f'pool "{pool.name}" (class {pool.class_name}): {text}' for text in judged.differs]
            lacks += [f'pool "{pool.name}": {text}' for text in judged.lacks]
    if trouble is None and late:
        told = ", ".join(f'"{name}"' for name in late)
        trouble = ("ObservationPending", f"pool {told} was not looked at yet as it is declared now")
    return Read(
        question=asked,
        pools=entries,
        differs=tuple(differs),
        lacks=tuple(lacks),
        trouble=trouble,
        note=found.told,
        is_whole=all(pool.node_class is not None for pool in pools),
    )


def growing(found: Read, clouds: Mapping[str, Nodes]) -> dict[str, Nodes]:
    """Return the nodes that clouds report, with what grows counted from those that are observed.

    A cloud may count nodes that boot, or none that stand: of both together no more count than its own bound.
    """
    made = dict(clouds)
    for name, entry in found.pools.items():
        if name in clouds:
            bound = (clouds[name].observed or 0) + clouds[name].growable
            made[name] = replace(clouds[name], growable=max(0, bound - entry["nodes"]["observed"]))
    return made


def nodes(found: Read, published: Mapping[str, Field]) -> dict[str, Field]:
    """Return the nodes of pools as pools are decoded with them: those that clouds report, with what is observed."""
    merged = dict(published)
    for name, entry in found.pools.items():
        of_cloud = published[name].at("nodes").members() if name in published else {}
        merged[name] = Field({"nodes": {**of_cloud, **entry["nodes"]}})
    return merged


def children(observed: Observed, found: Read, provider: ProviderConfigRef) -> dict[str, Child]:
    """Return the Deployment of the observer and the ConfigMap that it writes. Nothing waits for either."""
    facts = cluster_gateway.facts(observed)
    if found.question is None or facts.observer is None:
        return {}
    wrap = partial(_wrap, observed, provider)
    standing = observed.children.get(observer.KEY)
    # Without a class nothing is known of what to ask: another question for a moment would replace the pod.
    asks = wrap(observer.deployment(facts.observer, found.question, facts))
    kept = asks if standing is None or found.is_whole else hold.held(standing)
    writes = wrap(observer.config_map())
    writes = {**writes, "spec": {**writes["spec"], "managementPolicies": ["Observe", "Create"]}}
    return {
        key: Child(resource, Ready.TRUE if key in observed.children else Ready.FALSE)
        for key, resource in ((observer.KEY, kept), (observer.MAP_KEY, writes))
    }


def _wrap(observed: Observed, provider: ProviderConfigRef, manifest: Manifest) -> dict[str, Json]:
    return objects.wrap(
        manifest, provider_config=provider.encode(), namespace=names.SYSTEM_NAMESPACE, owner=observed.name
    )


def users(observed: Observed) -> int:
    """Return the number of these Objects that are counted as users of the provider configuration."""
    return sum(
        key in (observer.KEY, observer.MAP_KEY) and bool(objects.condition(child, "Synced"))
        for key, child in observed.children.items()
    )


def condition(found: Read) -> Iterator[Condition]:
    """Yield the condition about what is observed, where the cluster is observed."""
    if found.question is None:
        return
    if found.trouble is not None:
        reason, message = found.trouble
        held = "; the last known numbers hold" if found.pools else "; pools count as declared until then"
        yield Condition(CONDITION, Truth.UNKNOWN, reason, message + held)
    elif found.differs:
        told = words.first(found.differs, _TOLD, "; ")
        remedy = "correct the class, or name another one for the pool"
        yield Condition(CONDITION, Truth.FALSE, "ClassDiffers", f"{told}; {remedy}{found.note}")
    elif found.lacks:
        told = words.first(found.lacks, _TOLD, "; ")
        rest = "they take no new replica, and no replica is moved"
        yield Condition(CONDITION, Truth.FALSE, "NodesLacking", f"{told}; {rest}{found.note}")
    else:
        yield Condition(CONDITION, Truth.TRUE, "Observed", f"all nodes of the pools have what is declared{found.note}")


# --- what is read -----------------------------------------------------------------------------------------------------


def _observation(observed: Observed) -> tuple[Observation, tuple[str, str] | None]:
    """Return the observation, and the reason and message if it is none or of an earlier time."""
    nothing = Observation({})
    where = f"ConfigMap {observer.NAMESPACE}/{observer.MAP_NAME}"
    child = observed.children.get(observer.MAP_KEY)
    synced = {} if child is None else objects.condition(child, "Synced")
    if synced.get("status") == "False":
        told = seen.text(synced.get("message")) or "no reason was reported"
        return nothing, (
            "ObservationUnread",
            f"{where} cannot be read{_since(synced)}: {pod_errors.cut(told)}{_remedy(told)}",
        )
    text = seen.text(seen.at(objects.observed(child), "data", _WRITTEN))
    if not text:
        return nothing, ("ObservationPending", _waits(observed, where))
    try:
        found = recall(child, _WRITTEN, partial(observation.decode, text))
    except InvalidInput as error:
        return nothing, ("ObservationInvalid", f"the data of {where} {_cut(str(error))}, so it is not used")
    late = _late(observed)
    return (found, None) if late is None else (nothing, late)


def _waits(observed: Observed, where: str) -> str:
    told = _late(observed)
    return f"nothing is written to {where} yet{'' if told is None else f': {told[1]}'}"


def _late(observed: Observed) -> tuple[str, str] | None:
    """Return why the observer is not known to look, None if it is.

    Its pod is ready while it has looked within five minutes, so that no clock is needed here. What an observer of
    before has left in the ConfigMap says nothing of now.
    """
    child = observed.children.get(observer.KEY)
    what = f"Deployment {observer.NAMESPACE}/{observer.NAME}"
    if child is None:
        return "ObservationPending", f"{what} is not there yet"
    synced = objects.condition(child, "Synced")
    if synced.get("status") == "False":
        told = seen.text(synced.get("message")) or "no reason was reported"
        return (
            "ObserverNotApplied",
            f"the observer cannot be applied{_since(synced)}: {pod_errors.cut(told)}{_remedy(told)}",
        )
    available = seen.condition(seen.at(objects.observed(child), "status"), "Available")
    if seen.verdict(available) is True:
        return None
    remedy = "see its pods and their log; its rights are in examples/rbac-workload-observer.yaml"
    return "ObserverNotRunning", f"{what} has not looked{_since(available)}: {remedy}"


def _since(condition: Resource) -> str:
    time = seen.text(condition.get("lastTransitionTime"))
    return f" since {_cut(time)}" if time else ""


def _remedy(told: str) -> str:
    return "; apply examples/rbac-workload.yaml on the cluster" if "is forbidden" in told else ""


def _cut(text: str) -> str:
    return "".join(letter for letter in text[:200] if letter.isprintable())


# --- what was published -----------------------------------------------------------------------------------------------


def _published(observed: Observed, declared: Mapping[str, str]) -> Iterator[tuple[str, Mapping[str, Json]]]:
    """Yield what was published of the pools that are declared, by pool."""
    for entry in seen.objects(observed.status.get("pools")):
        name, before = seen.text(entry.get("name")), seen.at(entry, "nodes")
        counts = {key: seen.count(seen.at(before, key)) for key in ("observed", "ready", "cordoned", "allocatable")}
        if name not in declared or None in counts.values():
            continue
        devices = [
            {"name": seen.text(one.get("name")), "observed": there, "allocatable": sound}
            for one in seen.objects(entry.get("devices"))
            if (there := seen.count(one.get("observed"))) is not None
            and (sound := seen.count(one.get("allocatable"))) is not None
        ]
        amounts = {key: text for key in ("cpu", "memory") if (text := seen.text(seen.at(before, key)))}
        yield name, {"nodes": {**counts, **amounts}, "devices": devices}


def _encode(judged: Seen) -> Mapping[str, Json]:
    counts: dict[str, Json] = {
        "observed": judged.observed,
        "ready": judged.ready,
        "cordoned": judged.cordoned,
        "allocatable": judged.allocatable,
        **({} if judged.cpu_millis is None else {"cpu": f"{judged.cpu_millis}m"}),
        **({} if judged.memory_bytes is None else {"memory": f"{judged.memory_bytes // _KIBI}Ki"}),
    }
    devices = [{"name": one.name, "observed": one.observed, "allocatable": one.allocatable} for one in judged.devices]
    return {"nodes": counts, "devices": devices}
