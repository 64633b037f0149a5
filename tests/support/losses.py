"""The judgement of an answer to one wrong input: what is lost, restarted, taken out of traffic, or given away.

It knows no composer's code: it compares what was desired before with what is desired now, and counts devices itself.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlsplit

from modelplane import names
from modelplane.api import catalogue, kinds
from modelplane.api import replica as replicas
from modelplane.errors import InvalidInput
from modelplane.render import objects, pod_collection
from modelplane.render.manifest import Purpose
from modelplane.seen import at
from modelplane_functions.exchange import Outcome, Truth
from tests.support import room, situations
from tests.support.mutations import Path
from tests.support.situations import Situation

Json = Any

_PODS = (Purpose.WORKLOAD, Purpose.POD_INPUT)
_OURS_TO_SAY = re.compile(
    r"(Attribute|Type|Key|Index|Value|Assertion|Recursion|Overflow|Unicode|Name|ZeroDivision)Error|Traceback|NoneType"
    r"|object at 0x|<(class|function|method|built-in|lambda)|has no attribute|not (subscriptable|iterable|callable)"
    r"|indices must be|unhashable"
)
_FREEING = frozenset({"labels", "apiVersion", "kind", "namespace", "phase"})
"""The fields of a member by which its pod is found, is of a replica, or has ended."""


@dataclass(frozen=True, slots=True)
class Excuse:
    """What a wrong field may take away, because it is the only witness.

    `may_free`: the field says whether the pods of a deleted replica have ended. `forgotten`: the replicas of which the
    only record is wrong. `is_record`: it is the record of what is counted.
    """

    may_free: bool = False
    forgotten: frozenset[str] = frozenset()
    is_record: bool = False


_NONE = Excuse()


def excuse(before: Situation, document: Json, path: Path) -> Excuse:
    """Return what a wrong field of a document may take away.

    A member of a collection is found by its labels, and its pod says whether it has ended. The status of a cluster has
    the only record of replicas that are deleted, hidden or edited; no client but Crossplane may write it.
    """
    if before.kind == "InferenceQuota" and document["kind"] == "InferenceCluster":
        # What a ledger says is used is known from there alone, and what was granted meanwhile stays granted.
        return Excuse(is_record=path[0] == "status")
    if document is before.composite:
        # What a cluster that is made has reported of itself, under whatever name, is kept while its cloud is not read.
        is_facts = before.kind == "CloudCluster" and path[:2] == ("status", "facts")
        # Which authorities signed before is known from there alone.
        is_authorities = before.kind == "InferenceGateway" and path[1:2] in ((), ("clientCertificate",))
        is_record = path[:2] == ("status", "admissions") or is_facts or (path[0] == "status" and is_authorities)
        forgotten = before.recorded if path[0] == "status" else frozenset()
        if is_record and before.kinds is not None:
            # Where pods can be listed, the record of another uid is that of a deleted replica, whose pods may run.
            forgotten |= _digests(_status(before)).keys()
        return Excuse(forgotten=forgotten, is_record=is_record)
    if before.kind == "ModelCacheCopy" and path[-3:] == ("manifest", "metadata", "uid"):
        return Excuse(is_record=True)  # another claim is empty, and is filled anew
    labels = at(document, "metadata", "labels")
    is_member = isinstance(labels, Mapping) and bool(pod_collection.membership("").keys() & labels.keys())
    return Excuse(may_free=is_member and bool(_FREEING & set(map(str, path))))


def of(
    before: Situation, seen: Situation, outcome: Outcome | None, *, is_authors: bool, excuse: Excuse = _NONE
) -> Iterator[str]:
    """Yield a line per loss between a situation and the answer to `seen`, which has one wrong input.

    What is lost is what the answer without it would keep. `is_authors`: the change is a valid edit by the owner of the
    object, and may have effects. A child that was itself edited may be put back or left.
    """
    if outcome is None:
        return
    yield from words(outcome)
    if outcome.fatal is not None:
        return
    yield from _namespaces(before, outcome, _platforms(seen) if is_authors else set())
    yield from _taken_over(before, seen, outcome)
    yield from _room(before, seen if is_authors else before, seen, outcome, excuse)
    if is_authors:
        return
    for key, child in sorted(before.children.items()):
        if key not in outcome.children and key in before.rest.children and child["kind"] != pod_collection.KIND:
            yield f"child {key} is deleted"
    for key, child in sorted(before.children.items()):
        after = outcome.children.get(key)
        if after is not None and after.resource.get("spec") != seen.children[key].get("spec"):
            yield from _changed(key, child, after.resource, _said_unready(seen))
    if before.kind == "InferenceCluster":
        yield from _admissions(before, outcome, excuse)


def differences(before: Outcome, after: Outcome, ignored: Collection[str] = ()) -> Iterator[str]:
    """Yield what an answer has other than another: children, what they are, and the status.

    Without `ignored` children, and without the nodes that a ledger counts replicas on: these it chooses as they come.
    """
    if before.fatal != after.fatal:
        yield f"it is refused: {after.fatal}" if after.fatal is not None else "it is no longer refused"
        return
    yield from (f"child {key} is gone" for key in sorted(before.children.keys() - after.children.keys()))
    yield from (f"child {key} is left over" for key in sorted(after.children.keys() - before.children.keys()))
    for key in sorted((before.children.keys() & after.children.keys()) - set(ignored)):
        one, other = before.children[key].resource, after.children[key].resource
        if one != other:
            one, other = _stored(one), _stored(other)
        changed = {part for part in one.keys() | other.keys() if one.get(part) != other.get(part)} - {"status"}
        if "spec" in changed and one["kind"] == "ModelReplica" and _runs(one) == _runs(other):
            changed.remove("spec")  # written otherwise, and read as the same
        if "metadata" in changed and _has(other["metadata"], one["metadata"]):
            changed.remove("metadata")  # labels of other clients stay
        yield from (f"child {key} has another {part}" for part in sorted(changed))
    was, now = _without_nodes(before.status), _without_nodes(after.status)
    others = sorted(part for part in was.keys() | now.keys() if was.get(part) != now.get(part))
    yield from (f"status.{part} is another" for part in others if not ignored)


def _has(metadata: Mapping[str, Json], wanted: Mapping[str, Json]) -> bool:
    """Return whether metadata has what is wanted, with further labels and annotations at most."""
    maps = ("labels", "annotations")
    rest = [{key: value for key, value in one.items() if key not in maps} for one in (metadata, wanted)]
    return rest[0] == rest[1] and all(
        (wanted.get(part) or {}).items() <= (metadata.get(part) or {}).items() for part in maps
    )


def _without_nodes(status: Mapping[str, Json]) -> dict[str, Json]:
    """Return a status without what is chosen as it comes: nodes, and questions to quotas.

    A question that was taken back is asked under another number, and of a quota without room not at all.
    """
    entries = status.get("admissions") or ()
    bare = [{key: value for key, value in entry.items() if key != "nodes"} for entry in entries]
    return {**status, "admissions": bare, "quotas": None}


def _stored(child: Mapping[str, Json]) -> Mapping[str, Json]:
    """Return a child as an API server keeps it: of ours without the fields that it does not know."""
    if child["apiVersion"] != names.API_VERSION:
        return child
    stored: Mapping[str, Json] = catalogue.structural_kind(child["kind"]).stored(child)
    return stored


def _said_unready(seen: Situation) -> set[str]:
    """Return the backends of the endpoints that say they are not ready. A service leaves these out, never the last.

    A service with failover reaches an endpoint through a Backend of its own, known by the host.
    """
    said = [one for one in seen.store if one["kind"] == "ModelEndpoint" and at(one, "status", "ready") is False]
    hosts = {str(at(one, "spec", "host") or urlsplit(str(at(one, "spec", "url"))).hostname) for one in said}
    found = {str(at(one, "status", "backendName")) for one in said}
    for child in seen.children.values():
        reached = at(child, "spec", "endpoints") if child["kind"] == "Backend" else None
        if isinstance(reached, list) and reached and hosts.issuperset(str(at(one, "hostname")) for one in reached):
            found.add(str(child["metadata"]["name"]))
    return found


def _changed(key: str, child: Json, after: Mapping[str, Json], unready: set[str]) -> Iterator[str]:
    if objects.is_object(child) and objects.purpose(child) in _PODS:
        if objects.unwrap(child) != objects.unwrap(after):
            yield f"child {key} is written anew: its pods restart"
    elif child["kind"] == "HTTPRoute":
        left = _receiving(after)
        gone = sorted(_receiving(child) - left - (unready if left else set()))
        if gone:
            yield f"child {key} no longer routes to {', '.join(gone)}"
    elif child["kind"] == "ModelReplica":
        if _runs(child) != _runs(after) and not _is_refused(child):
            yield f"child {key} is another replica: its pods restart"
    elif child["kind"] == "ModelEndpoint" and after["spec"].get("drain") and not child["spec"].get("drain"):
        yield f"child {key} is drained"


def _is_refused(replica: Json) -> bool:
    """Return whether the cluster of a replica does not admit it: nothing of it runs, and it may become another one."""
    said = at(replica, "status", "conditions") or ()
    return any(one["type"] == "Admitted" and one["status"] == "False" for one in said)


def _runs(replica: Mapping[str, Json]) -> Json:
    """Return what a replica runs, as it is read, without what may change at any time; as it is written where it cannot
    be read.
    """
    whole = {"apiVersion": names.API_VERSION, "kind": "ModelReplica", **replica}
    stored = catalogue.structural_kind("ModelReplica").stored(whole)
    try:
        return replace(replicas.decode(stored), priority=0)
    except InvalidInput:
        return {name: value for name, value in stored["spec"].items() if name not in ("crossplane", "priority")}


def _receiving(route: Mapping[str, Json]) -> set[str]:
    return {
        reference["name"]
        for rule in route["spec"].get("rules") or ()
        for reference in rule.get("backendRefs") or ()
        if reference.get("weight") is None or reference["weight"] > 0
    }


def _admissions(before: Situation, outcome: Outcome, excuse: Excuse) -> Iterator[str]:
    """Yield who loses what the ledger would keep without the wrong input, and who gets what it would not give."""
    status = _status(before)
    admitted, rest = set(status.get("admitted") or ()), set(before.rest.status.get("admitted") or ())
    now = set(outcome.status.get("admitted") or ())
    yield from (f"replica {key} loses its admission" for key in sorted((admitted & rest) - now - excuse.forgotten))
    if excuse.may_free or excuse.forgotten:
        return  # whoever gets the place is judged by the room that there is
    yield from (f"replica {key} is admitted" for key in sorted(now - admitted - rest))
    counted = _digests(status).keys() & _digests(before.rest.status).keys()
    yield from (f"replica {key} is no longer counted" for key in sorted(counted - _digests(outcome.status).keys()))


def _status(situation: Situation) -> Mapping[str, Json]:
    return situation.composite.get("status") or {}


def _digests(status: Mapping[str, Json]) -> dict[str, str]:
    """Return the digest of the admitted spec of every replica that a ledger counts."""
    return {key: entry["digest"] for entry in status.get("admissions") or () for key in entry["replicas"]}


# --- room -------------------------------------------------------------------------------------------------------------


def _room(before: Situation, declared: Situation, seen: Situation, outcome: Outcome, excuse: Excuse) -> Iterator[str]:
    """Yield where new replicas have no room beside what runs, on the nodes that are `declared`."""
    if before.kind == "InferenceCluster" and not excuse.is_record:
        yield from _room_of_admitted(before, declared, seen, outcome, excuse)
    elif before.kind == "ModelDeployment":
        made = {key: child.resource for key, child in outcome.children.items()}
        composed = {key: one for key, one in made.items() if one["kind"] == "ModelReplica"}
        new = [one for key, one in composed.items() if key not in before.children]
        kept = [before.children[key] for key in composed if key in before.children]
        there = {_key(one, before): one for one in before.store if one["kind"] == "ModelReplica"}
        known = {_key(one, before) for one in composed.values()}
        yield from room.lacking(new, [*(one for key, one in there.items() if key not in known), *kept], declared.store)


def _room_of_admitted(
    before: Situation, declared: Situation, seen: Situation, outcome: Outcome, excuse: Excuse
) -> Iterator[str]:
    was, now = _digests(_status(before)), _digests(outcome.status)
    admitted = set(outcome.status.get("admitted") or ())
    known = (set(_status(before).get("admitted") or ()) | was.keys()) - excuse.forgotten
    new = {key for key in admitted if key not in known or (key in was and now.get(key) != was[key])}
    asking = {_key(one, seen): one for one in seen.store if one["kind"] == "ModelReplica"}
    running = {_key(one, before): one for one in before.store if one["kind"] == "ModelReplica"}
    running |= {_key(one, before): one for one in before.ran}
    ended = known - now.keys() - admitted if excuse.may_free else set()
    standing = [one for key, one in running.items() if key in known - new - ended]
    wanted = [asking[key] for key in sorted(new & asking.keys())]
    yield from room.lacking(wanted, standing, [declared.composite, *declared.store])


def _key(replica: Mapping[str, Json], situation: Situation) -> str:
    metadata = replica["metadata"]
    own = situation.composite["metadata"].get("namespace", "")
    return names.qualified(str(metadata.get("namespace") or own), str(metadata["name"]))


def _taken_over(before: Situation, seen: Situation, outcome: Outcome) -> Iterator[str]:
    """Yield the new children that would be written over an object of another owner."""
    own = _uid(before)
    foreign = {_identity(one) for one in before.store if _owner(one) not in ("", own)}
    foreign -= {_identity(one) for one in seen.store if _owner(one) == own}
    for key, child in sorted(outcome.children.items()):
        if key not in seen.children and _identity(child.resource, before) in foreign:
            yield f"child {key} is written over an object of another owner"


def _uid(situation: Situation) -> str:
    return str(situation.composite["metadata"].get("uid"))


def _owner(document: Mapping[str, Json]) -> str:
    references = document["metadata"].get("ownerReferences") or ()
    return next((str(one.get("uid")) for one in references if one.get("controller") is True), "")


def _identity(document: Mapping[str, Json], situation: Situation | None = None) -> tuple[str, ...]:
    metadata = document["metadata"]
    namespace = metadata.get("namespace") or (situation.composite["metadata"].get("namespace") if situation else None)
    return str(document["apiVersion"]), str(document["kind"]), str(namespace or ""), str(metadata.get("name"))


def _platforms(seen: Situation) -> set[str]:
    """Return the namespaces that cluster-scoped specs name: the platform says where its gateways are."""
    kinds_of_it = {kind for kind, known in kinds.KINDS.items() if not known.is_namespaced}
    return {
        found
        for other in seen.store
        if other["kind"] in kinds_of_it
        for found in situations.namespaces_in(other.get("spec"))
    }


def _namespaces(before: Situation, outcome: Outcome, named_by_platform: set[str]) -> Iterator[str]:
    if not kinds.KINDS[before.kind].is_namespaced:
        return  # the platform names the namespaces of its gateways and Secrets
    own = {before.composite["metadata"].get("namespace"), names.SYSTEM_NAMESPACE, None, ""}
    own |= before.namespaces | named_by_platform
    for key, child in sorted(outcome.children.items()):
        for found in sorted({str(one) for one in situations.namespaces_in(child.resource) if one not in own}):
            yield f"child {key} names namespace {found[:40]}"


def words(outcome: Outcome) -> Iterator[str]:
    """Yield each message that speaks of our code, and a refusal that is told to nobody."""
    said = [condition.message for condition in outcome.conditions] + [event.message for event in outcome.events]
    said += [condition.reason for condition in outcome.conditions]
    said.append(json.dumps(outcome.status, default=str))
    if outcome.fatal is not None:
        said.append(outcome.fatal)
        if not any(one.status is Truth.FALSE and one.message for one in outcome.conditions):
            yield f"no condition tells of the refusal: {outcome.fatal[:200]}"
    for text in said:
        found = _OURS_TO_SAY.search(text)
        if found:
            yield f"a message speaks of {found[0]}: {text[:200]}"
