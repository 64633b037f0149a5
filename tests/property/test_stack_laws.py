"""The laws of a serving stack, over random histories of its releases, its cluster and its author.

Nothing composed is dropped but by its author's word; there are never two upgrades at once; what is External is never
written.
"""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from modelplane.render.stack import profile, releases
from modelplane.workload.stack import Component
from tests.support.stack_world import KSERVE, World, pinned, release

Json = Any
COMPONENTS = ("certManager", "dra", "gateway", "kserve", "leaderWorkerSet", "metrics", "queue")
PARTS = sorted(profile.parts())
SIGNS = (
    *("v1.cert-manager.io", "v1.leaderworkerset.x-k8s.io", "v1alpha2.serving.kserve.io", "gpu.nvidia.com"),
    *("v1alpha1.gateway.envoyproxy.io", "v1.gateway.networking.k8s.io", "modelplane", "v1beta2.kueue.x-k8s.io"),
)
VERSIONS = ("", "9.9.8", "9.9.9")
FLEETING = (releases.LOOK, releases.USAGE, releases.PROOF)

CHANGES = st.one_of(
    st.tuples(st.sampled_from(["failing", "slow", "broken"]), st.sampled_from(PARTS)),
    st.tuples(st.just("mode"), st.sampled_from(COMPONENTS), st.sampled_from(["", "Managed", "External", "Disabled"])),
    st.tuples(st.just("version"), st.sampled_from(COMPONENTS), st.sampled_from(VERSIONS)),
    st.tuples(st.just("forget"), st.sampled_from(COMPONENTS)),
    st.tuples(st.just("appears"), st.sampled_from(SIGNS)),
    st.tuples(st.just("lost")),
    st.tuples(st.just("abandon")),
    st.tuples(st.just("status")),
    st.tuples(st.just("nothing")),
)


def change(world: World, what: str, *words: str) -> None:
    if what in ("failing", "slow", "broken"):
        getattr(world, what).symmetric_difference_update(words)
    elif what in ("mode", "version"):
        world.say(words[0], **({what: words[1]} if words[1] else {}))
        entry = world.composite["spec"]["components"][-1]
        if not words[1]:
            entry.pop(what, None)
        if words[0] in ("dra", "queue"):
            entry["variants"] = ["gpu.nvidia.com"] if words[0] == "dra" else ["Kueue"]
    elif what == "forget":
        kept = [one for one in world.composite["spec"]["components"] if one["name"] != words[0]]
        world.composite["spec"]["components"] = kept
    elif what == "appears":
        world.there.symmetric_difference_update(words)
    elif what == "lost":
        world.is_lost = not world.is_lost
    elif what == "abandon":
        world.composite["spec"]["abandon"] = not world.composite["spec"].get("abandon", False)
    elif what == "status":
        world.composite.pop("status", None)
    world.look()


def modes(world: World) -> dict[str, str]:
    return {one["name"]: one.get("mode", "") for one in world.composite["spec"]["components"]}


def component_of(key: str) -> str:
    part = key.removeprefix(releases.RELEASE)
    return next(one.component for one in profile.UNITS.values() if part in {other.key for other in one.parts})


def installing(child: Json) -> Json:
    return child["spec"]["forProvider"]


@settings(max_examples=120, deadline=None)
@given(st.lists(CHANGES, min_size=4, max_size=30), st.booleans())
def test_no_history_drops_a_component_upgrades_two_or_writes_what_is_of_others(
    changes: list[tuple[str, ...]],
    is_settled: bool,  # noqa: FBT001
) -> None:
    world = World(KSERVE)
    if is_settled:
        world.settle()
    for one in changes:
        change(world, *one)
        before = copy.deepcopy(world.children)
        unfinished = world.composite.get("status", {}).get("upgrading", "")
        outcome = world.step()
        said = modes(world)
        for key in before.keys() - outcome.children.keys():
            if key.startswith(releases.RELEASE):
                mode = said.get(component_of(key))
                assert mode in ("External", "Disabled"), f"{key} was dropped"
                stays = releases.is_abandoned(before[key])
                assert stays is (mode == "External"), f"{key} is gone, its chart {'stays' if stays else 'is gone too'}"
            elif not key.startswith(FLEETING) and not releases.is_abandoned(before[key]):
                assert {"External", "Disabled"} & set(said.values()), f"{key} was dropped"
        changed = {
            key
            for key in before
            if key.startswith(releases.RELEASE)
            and key in outcome.children
            and installing(before[key]) != installing(outcome.children[key].resource)
        }
        assert len(changed) <= 1, "two at once"
        if unfinished and changed:
            working = before[release(unfinished)]["status"].get("conditions", [{}])
            assert changed == {release(unfinished)} or any(
                entry.get("type") == "Ready" and entry.get("status") == "True" for entry in working
            ), "another one begins while one is not ready"
        for report in outcome.status["components"]:
            if report.get("mode") != "External":
                continue
            unit = profile.UNITS.get(report["name"])
            for part in unit.parts if unit else ():
                child = outcome.children.get(release(part.key))
                assert child is None or child.resource["spec"]["managementPolicies"] == ["Observe"], part.key


@settings(max_examples=60, deadline=None)
@given(st.lists(CHANGES, min_size=1, max_size=20))
def test_every_history_ends_well_once_everything_works(changes: list[tuple[str, ...]]) -> None:
    world = World(KSERVE)
    for one in changes:
        change(world, *one)
        world.step()
    world.is_lost = False
    world.composite["spec"]["abandon"] = False
    for kind in (world.failing, world.slow, world.broken):
        kind.clear()
    world.there = {"kube-system"}
    world.composite["spec"]["components"] = World(KSERVE).composite["spec"]["components"]
    for name in ("certManager", "gateway", "leaderWorkerSet", "kserve", "dra"):
        world.say(name, mode="Managed", variants=["gpu.nvidia.com"] if name == "dra" else [])
    world.look()
    outcome = world.settle(most=60)
    (condition,) = outcome.conditions
    assert condition.reason == "Ready", condition.message
    assert all(world.version(part) == pinned(part) for part in ("kserve", "lws", "cert-manager"))
    assert Component("kserve").mode is None
