"""Plan of a serving stack: what is composed now, what of it is kept as it is, and what is said about each component.

May never happen here: a component that is composed and then left out for another reason than its author's word (mode
Disabled or External), two upgrades at once, or a write to a component of somebody else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias

from modelplane.render import objects
from modelplane.render.stack import choice, front_door, judge, profile, releases, turn
from modelplane.render.stack.choice import Children, Chosen
from modelplane.render.stack.judge import Judgement
from modelplane.render.stack.part import Part, Sign
from modelplane.workload.stack import Mode, Phase, Stack

Json: TypeAlias = Any
Resource: TypeAlias = Mapping[str, Json]

_REACHED = Sign("v1", "Namespace", "kube-system")
# What only looks, or only orders a deletion, may come and go.
_FLEETING = (releases.LOOK, releases.PROOF, releases.USAGE)


@dataclass(frozen=True, slots=True)
class Plan:
    """The children of a stack by key: the `made` ones, those `kept` as they are observed, and those `left` alone.

    What is left alone is only observed from now on, so that its deletion changes nothing on the cluster. Of what is
    kept, that which was left alone for a while has its management policies of before in `back`. `working` are
    the keys of children that work. `upgrading` is the part whose turn it is to change, empty if nobody's.
    """

    made: Mapping[str, Resource] = field(default_factory=dict)
    kept: frozenset[str] = frozenset()
    left: frozenset[str] = frozenset()
    working: frozenset[str] = frozenset()
    upgrading: str = ""
    back: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class Situation:
    """A stack and what is observed of it. Nothing here changes."""

    stack: Stack
    children: Children

    @cached_property
    def chosen(self) -> tuple[Chosen, ...]:
        """Return the components with their modes."""
        return choice.choose(self.stack, self.children)

    @cached_property
    def judged(self) -> Mapping[str, Judgement]:
        """Return the judgement of each part, by key."""
        return {key: judge.part(one, self.release(key), self.proof(key)) for key, one in profile.parts().items()}

    @cached_property
    def is_reached(self) -> bool:
        """Return whether the cluster has been read at least once."""
        known = (self.children.get(key) for key in self.children if key.startswith((releases.LOOK, releases.REACH)))
        is_read = any(judge.found(child) is not None for child in known)
        return is_read or any(key.startswith(releases.RELEASE) for key in self.children)

    def release(self, key: str) -> Resource | None:
        """Return the observed Release of a part."""
        return self.children.get(f"{releases.RELEASE}{key}")

    def proof(self, key: str) -> Resource | None:
        """Return the observed Object that shows that a part works."""
        return self.children.get(f"{releases.PROOF}{key}")

    @cached_property
    def managed(self) -> tuple[tuple[Part, Chosen], ...]:
        """Return the parts of the components that are installed here, by wave."""
        listed = [(part, one) for one in self.chosen if one.mode is Mode.MANAGED for part in one.unit.parts]
        return tuple(sorted(listed, key=lambda pair: (pair[0].wave, pair[0].key)))

    def waits_for(self, part: Part) -> tuple[str, ...]:
        """Return the components that must work before a part is installed and do not, none once it is installed."""
        if self.release(part.key) is not None:
            return ()
        needed = {other.key for other, _ in self.managed if other is not part} if part.after_all else set(part.after)
        return tuple(one.unit.name for one in self.chosen if not self._is_enough(one, needed))

    def _is_enough(self, one: Chosen, needed: set[str]) -> bool:
        parts = [part.key for part in one.unit.parts if part.key in needed]
        if not parts or one.mode is Mode.DISABLED:
            return True
        if one.mode is Mode.EXTERNAL:
            return self.is_found(one)
        return one.mode is Mode.MANAGED and all(self.judged[key].works for key in parts)

    def is_found(self, one: Chosen) -> bool:
        """Return whether somebody else's component is seen on the cluster. Where nothing shows it, it is believed."""
        looks = choice.looks_of(self.stack, one.unit)
        return not looks or any(judge.works(self.children.get(choice.key_of(look)), look) for look in looks)


def plan(here: Situation) -> Plan:
    """Return the plan. Everything that is observed stays in it, but for what its author has disabled or handed over."""
    if here.stack.is_abandoned:
        written = {key for key, child in here.children.items() if _is_written(child)}
        return Plan(kept=frozenset(here.children) - written, left=frozenset(written), upgrading=here.stack.upgrading)
    upgrading = _upgrading(here)
    made: dict[str, Resource] = {
        releases.REACH: releases.observation(here.stack, releases.REACH, _REACHED),
        **dict(_looks(here)),
        **dict(_installed(here, upgrading)),
    }
    kept, gone, left = _leaving(here)
    untold = {key for key in here.children if key not in made and not key.startswith(_FLEETING)}
    kept |= untold - gone - left
    made = {key: one for key, one in made.items() if key not in kept | gone | left}
    made |= dict(_usages(here, made, frozenset(kept)))
    back = {key: policies for key, policies in _own_policies(here) if key in kept}
    return Plan(made, frozenset(kept), frozenset(left), _working(here), upgrading, back)


# --- what is there before anything is installed -----------------------------------------------------------------------


def _looks(here: Situation) -> Iterator[tuple[str, Resource]]:
    for one in here.chosen:
        for look in one.looks:
            key = choice.key_of(look)
            ask = releases.question if one.mode is None else releases.observation
            yield key, ask(here.stack, key, look)


# --- what is installed ------------------------------------------------------------------------------------------------


def _installed(here: Situation, upgrading: str) -> Iterator[tuple[str, Resource]]:
    for part, one in here.managed:
        release = here.release(part.key)
        if release is not None:
            yield f"{releases.PROOF}{part.key}", releases.proof(here.stack, part)
        if not one.is_asked:
            continue  # it is kept as it is
        if release is None and (not here.is_reached or here.waits_for(part)):
            continue
        yield from _room(here, part)
        if release is None and not _has_room(here, part):
            continue
        wanted = releases.release(here.stack, part, version_of(part, one))
        if release is not None and part.key != upgrading and turn.differs(release, wanted):
            wanted = turn.standing(release, wanted)
        yield f"{releases.RELEASE}{part.key}", wanted
        yield f"{releases.PROOF}{part.key}", releases.proof(here.stack, part)
    yield from _gateway(here)


def _room(here: Situation, part: Part) -> Iterator[tuple[str, Resource]]:
    """Yield the namespace of a part, with the labels of all parts in it, and its quota."""
    yield f"{releases.NAMESPACE}{part.namespace}", releases.namespace(here.stack, part)
    if part.is_critical and here.stack.limits_critical_pods:
        yield f"{releases.QUOTA}{part.namespace}", releases.quota(here.stack, part)


def _has_room(here: Situation, part: Part) -> bool:
    seen_ready = (here.children.get(key) for key, _ in _room(here, part))
    return all(child is not None and objects.is_ready(child) for child in seen_ready)


def _gateway(here: Situation) -> Iterator[tuple[str, Resource]]:
    """Yield the cluster's Gateway once its controller works, and as long as it was made before."""
    for one in here.chosen:
        if not one.unit.has_gateway or one.mode is not Mode.MANAGED or not one.is_asked:
            continue
        is_made = any(key in here.children for key in front_door.KEYS)
        if is_made or all(here.judged[part.key].works for part in one.unit.parts):
            for manifest in front_door.manifests(here.stack):
                yield manifest.key, releases.wrapped(here.stack, manifest)


def version_of(part: Part, one: Chosen) -> str:
    """Return the version that the author wants of a part, written as its chart is; empty for the pinned one.

    It is about the parts that have the version of the first one.
    """
    wanted = one.component.version
    if not wanted or part.chart.version != one.unit.parts[0].chart.version or _is_other_variant(one):
        return ""
    return ("v" if part.chart.version.startswith("v") else "") + wanted.removeprefix("v")


def _is_other_variant(one: Chosen) -> bool:
    """Return whether the version of the component is meant for the first of its variants that is installed."""
    known = [name for name in one.component.variants if profile.unit(one.component.name, name).parts]
    return bool(known) and one.unit.variant != known[0]


def _upgrading(here: Situation) -> str:
    """Return the part that may change now."""
    there = [(part, one, release) for part, one in here.managed if (release := here.release(part.key)) is not None]
    changed = {
        part.key
        for part, one, release in there
        if one.is_asked and turn.differs(release, releases.release(here.stack, part, version_of(part, one)))
    }
    return turn.whose(
        [part.key for part, _, _ in there],
        frozenset(changed),
        {part.key: here.judged[part.key].works for part, _, _ in there},
        frozenset(part.key for part, one, _ in there if one.unit.required),
        here.stack.upgrading,
    )


# --- what goes --------------------------------------------------------------------------------------------------------


def _leaving(here: Situation) -> tuple[set[str], set[str], set[str]]:
    """Return the keys of what stays as it is, of what is left out now, and of what is left alone first."""
    kept: set[str] = set()
    gone: set[str] = set()
    left: set[str] = set()
    for one in here.chosen:
        if not one.is_asked:
            kept |= _keys(here, one)
        elif one.mode is Mode.EXTERNAL:
            ours = _keys(here, one)
            handed = {key for key in ours if releases.is_abandoned(here.children[key])}
            gone |= handed
            left |= ours - handed
        elif one.mode is Mode.DISABLED:
            # What was abandoned meanwhile would stay on the cluster: it is taken back first.
            now = {key for key in _goes_now(here, one) if not releases.is_abandoned(here.children[key])}
            gone |= now
            kept |= _keys(here, one) - now
    return kept, gone, left - kept


def _own_policies(here: Situation) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the management policies of each child that is only observed because the stack was abandoned for a while."""
    parts = profile.parts().values()
    namespaces = {f"{releases.NAMESPACE}{one.namespace}": releases.namespace(here.stack, one) for one in parts}
    quotas = {f"{releases.QUOTA}{one.namespace}": releases.quota(here.stack, one) for one in parts}
    charts = {f"{releases.RELEASE}{one.key}": releases.release(here.stack, one) for one in parts}
    doors = {one.key: releases.wrapped(here.stack, one) for one in front_door.manifests(here.stack)}
    for key, written in {**namespaces, **quotas, **charts, **doors}.items():
        if key in here.children and releases.is_abandoned(here.children[key]):
            yield key, tuple(written["spec"].get("managementPolicies", ()))


def _keys(here: Situation, one: Chosen) -> set[str]:
    """Return the keys of what was composed for a component. A namespace counts while nobody else is in it."""
    keys = {f"{releases.RELEASE}{part.key}" for part in one.unit.parts}
    others = {part.namespace for part, other in here.managed if other is not one and here.release(part.key) is not None}
    for part in one.unit.parts:
        if part.namespace not in others:
            keys |= {f"{releases.NAMESPACE}{part.namespace}", f"{releases.QUOTA}{part.namespace}"}
    if one.unit.has_gateway:
        keys |= set(front_door.KEYS)
    return {key for key in keys if key in here.children}


def _goes_now(here: Situation, one: Chosen) -> set[str]:
    """Return the keys of a disabled component that nothing else which is still there needs."""
    present = _keys(here, one)
    doors = [key for key in reversed(front_door.KEYS) if key in present]
    if doors:
        # The Gateway first: its proxies and balancers are removed by what is removed next.
        return {front_door.GATEWAY} if front_door.GATEWAY in doors else set(doors)
    going = {
        f"{releases.RELEASE}{part.key}"
        for part in one.unit.parts
        if here.release(part.key) is not None and not needed_by(here, part)
    }
    if any(key.startswith(releases.RELEASE) for key in present):
        return going
    return present


def needed_by(here: Situation, part: Part) -> tuple[str, ...]:
    """Return the parts that are installed and need a part to be there."""
    return tuple(
        key for key, other in profile.parts().items() if part.key in other.after and here.release(key) is not None
    )


# --- the order of deletion --------------------------------------------------------------------------------------------


def _usages(here: Situation, made: Mapping[str, Resource], kept: frozenset[str]) -> Iterator[tuple[str, Resource]]:
    """Yield a Usage for each pair of children of which one is removed with the help of the other."""
    removable = {
        key
        for key, child in here.children.items()
        if _is_written(child) and (key in made or key in kept) and objects.is_removable(made.get(key, child))
    }
    pairs = [(of, by) for of, by in _orders(here) if {of, by} <= removable]
    for keys in pairs:
        of, by = (here.children[key] for key in keys)
        yield releases.usage_key(keys), releases.usage(here.stack, of, by, keys)
    yield from _lifelines(here, sorted(removable - {by for _, by in pairs}))


def _lifelines(here: Situation, last: list[str]) -> Iterator[tuple[str, Resource]]:
    """Yield the Usages that keep what the cluster is reached with until the `last` of what is uninstalled is gone.

    One child stands between the two, so that their numbers add up and are not multiplied.
    """
    between = here.children.get(releases.REACH)
    if between is None or not here.stack.lifelines:
        return
    for key in last:
        keys = (releases.REACH, key)
        yield releases.usage_key(keys), releases.usage(here.stack, between, here.children[key], keys)
    for one in here.stack.lifelines:
        used = {"apiVersion": one.api_version, "kind": one.kind, "metadata": {"name": one.name}}
        keys = (f"{one.kind.lower()}-{one.name}", releases.REACH)
        yield releases.usage_key(keys), releases.usage(here.stack, used, between, keys)


def _orders(here: Situation) -> Iterator[tuple[str, str]]:
    for part in profile.parts().values():
        key = f"{releases.RELEASE}{part.key}"
        for other in part.after:
            yield f"{releases.RELEASE}{other}", key
        if part.owns_namespace:
            yield f"{releases.NAMESPACE}{part.namespace}", key
    for unit in profile.UNITS.values():
        if unit.has_gateway:
            yield from ((f"{releases.RELEASE}{part.key}", front_door.GATEWAY) for part in unit.parts)
            yield from ((key, front_door.GATEWAY) for key in (front_door.CLASS, front_door.PROXIES))


# --- what works -------------------------------------------------------------------------------------------------------


def _working(here: Situation) -> frozenset[str]:
    working = {f"{releases.RELEASE}{key}" for key, one in here.judged.items() if one.works}
    for key, child in here.children.items():
        is_beside = key.startswith(_FLEETING) or key == releases.REACH
        if is_beside or (objects.is_object(child) and objects.is_ready(child)):
            working.add(key)
    return frozenset(working)


def _is_written(child: Resource) -> bool:
    return objects.is_object(child) or child.get("kind") == releases.KIND


def front_door_phase(here: Situation) -> tuple[Phase, str]:
    """Return the phase of the cluster's Gateway, with a message."""
    child = here.children.get(front_door.GATEWAY)
    if child is None:
        return Phase.INSTALLING, "the Gateway is made next"
    if objects.is_ready(child):
        return Phase.READY, ""
    name = f"{here.stack.gateway_namespace}/{here.stack.gateway_name}"
    why = judge.unread(child) or "it is not programmed or has no address yet"
    return Phase.INSTALLING, f"Gateway {name}: {why}"
