"""A ServingStack: the order of its releases, one upgrade at a time, and that nothing installed is dropped."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from modelplane.api import serving_stack
from modelplane.errors import InvalidInput
from modelplane.render.stack import front_door, releases
from modelplane.workload.stack import Component, Mode
from modelplane_functions.compose import serving_stack as composer
from modelplane_functions.exchange import Outcome, Ready, Truth
from tests.support import exchange, stack_world
from tests.support.stack_world import KSERVE, LOST, World, pinned, release

Json = Any
ALL = {"cert-manager", "dra-nvidia", "envoy-gateway", "kserve", "kserve-crd", "kserve-presets", "lws"}


def told(outcome: Outcome) -> tuple[Truth, str, str]:
    (condition,) = outcome.conditions
    assert condition.type == "StackReady"
    return condition.status, condition.reason, condition.message


def entry(outcome: Outcome, name: str) -> Json:
    (found,) = [one for one in outcome.status["components"] if one["name"] == name]
    return found


def running(*components: Component, **fields: Any) -> World:
    world = World(components or stack_world.KSERVE, **fields)
    world.settle()
    return world


# --- order ------------------------------------------------------------------------------------------------------------


def test_a_bare_cluster_is_asked_first_and_then_gets_all_of_it_wave_by_wave() -> None:
    world, waves = World(), []
    for _ in range(9):
        world.step()
        waves.append(frozenset(world.parts))
    seen = [wave for before, wave in zip([frozenset(), *waves], waves, strict=False) if wave != before]
    first = {"cert-manager", "dra-nvidia", "envoy-gateway", "kserve-crd", "lws"}
    assert seen == [first, first | {"kserve"}, ALL]
    assert waves[:2] == [frozenset(), frozenset()], "questions come first, then namespaces"
    outcome = world.settle()
    assert told(outcome) == (Truth.TRUE, "Ready", "5 components are ready")
    assert outcome.ready is Ready.TRUE
    assert outcome.status["summary"] == "5/5"
    assert not [key for key in world.children if key.startswith(releases.LOOK)], "they have their answers"


@pytest.mark.parametrize("part", ["cert-manager", "lws", "envoy-gateway", "kserve-crd"])
def test_the_controller_of_kserve_waits_for_each_that_it_needs(part: str) -> None:
    world = World()
    world.broken = {part}
    outcome = world.settle()
    assert world.parts == ALL - {"kserve", "kserve-presets"}
    assert told(outcome)[:2] == (Truth.FALSE, "Installing")
    world.broken.clear()
    world.settle()
    assert world.parts == ALL


def test_what_helm_calls_deployed_does_not_open_the_next_wave() -> None:
    world = World()
    world.broken = {"kserve"}
    outcome = world.settle()
    assert "kserve-presets" not in world.parts
    assert "Deployment kserve/llmisvc-controller-manager is not ready yet" in entry(outcome, "kserve")["message"]


def test_the_gateway_is_made_when_its_controller_works() -> None:
    world = World()
    world.slow = {"envoy-gateway"}
    world.settle()
    assert front_door.GATEWAY not in world.children
    world.slow.clear()
    outcome = world.settle()
    gateway = outcome.children[front_door.GATEWAY].resource["spec"]
    assert gateway["forProvider"]["manifest"]["metadata"] == {"name": "modelplane", "namespace": "modelplane-system"}
    assert "Programmed" in gateway["readiness"]["celQuery"]


def test_kueue_comes_after_everything_else() -> None:
    world = World((*stack_world.KSERVE, Component("queue", variants=("Kueue",))))
    world.broken = {"kserve-presets"}
    world.settle()
    assert "kueue" not in world.parts
    world.broken.clear()
    world.settle()
    assert "kueue" in world.parts


def test_nothing_is_installed_on_a_cluster_that_was_not_read() -> None:
    world = World()
    world.is_lost = True
    outcome = world.settle()
    assert world.parts == set()
    status, reason, message = told(outcome)
    assert (status, reason) == (Truth.UNKNOWN, "WaitingForCluster")
    assert LOST in message


# --- hold -------------------------------------------------------------------------------------------------------------


def lost(before: World, after: Outcome) -> set[str]:
    fleeting = (releases.LOOK, releases.USAGE, releases.PROOF)
    return {key for key in before.children if key not in after.children and not key.startswith(fleeting)}


@pytest.mark.parametrize("part", sorted(ALL))
@pytest.mark.parametrize("how", ["failing", "slow", "broken"])
def test_a_part_that_stops_working_takes_nothing_along(part: str, how: str) -> None:
    world = running()
    getattr(world, how).add(part)
    if how == "slow":
        world.say("dra", variants=["gpu.nvidia.com"])
        world.children[release(part)]["metadata"]["generation"] += 1
    world.look()
    for _ in range(3):
        assert lost(world, world.step()) == set()
    assert world.parts == ALL


def test_a_lost_cluster_takes_nothing_along_and_changes_no_mode() -> None:
    world = running()
    world.is_lost = True
    world.look()
    assert lost(world, world.step()) == set()
    assert {entry(world.compose(), one.name)["mode"] for one in (Component("certManager"), Component("kserve"))} == {
        "Managed"
    }


def test_a_lost_status_takes_nothing_along() -> None:
    world = running()
    world.composite.pop("status")
    outcome = world.step()
    assert lost(world, outcome) == set()
    assert told(outcome)[1] == "Ready"


@pytest.mark.parametrize("key", sorted(running().children))
def test_each_child_that_blinks_takes_no_other_along(key: str) -> None:
    world = running()
    blinked = world.children.pop(key)
    outcome = world.compose()
    others = {other for other in lost(world, outcome) if other != key}
    assert others == set()
    if not key.startswith(releases.USAGE):
        assert key in outcome.children, f"{blinked['kind']} is made again"


def test_a_component_that_nobody_asks_for_any_more_stays_as_it_is() -> None:
    world = running()
    before = copy.deepcopy(world.children)
    world.want(Component("gateway"))
    outcome = world.step()
    assert lost(world, outcome) == set()
    assert outcome.children[release("kserve")].resource["spec"] == before[release("kserve")]["spec"]
    assert "nobody needs it any more" in entry(outcome, "kserve")["message"]
    assert told(outcome)[1] == "Ready"


def test_a_part_that_this_version_does_not_know_is_kept() -> None:
    world = running()
    world.children[release("of-tomorrow")] = copy.deepcopy(world.children[release("lws")])
    assert lost(world, world.compose()) == set()


def test_a_document_that_cannot_be_read_is_refused_with_its_field() -> None:
    wrong = stack_world.composite()
    wrong["spec"]["components"][0]["mode"] = "Perhaps"
    with pytest.raises(InvalidInput, match=r"spec.components\[0\].mode"):
        exchange.settle(composer.compose, wrong, children=running().children)


# --- adoption ---------------------------------------------------------------------------------------------------------


def test_what_is_there_is_left_to_others_and_gates_as_if_it_were_ours() -> None:
    world = World()
    world.there |= {"v1.cert-manager.io", "gpu.nvidia.com"}
    outcome = world.settle()
    assert world.parts == ALL - {"cert-manager", "dra-nvidia"}
    assert entry(outcome, "certManager")["mode"] == entry(outcome, "dra/gpu.nvidia.com")["mode"] == "External"
    assert entry(outcome, "certManager")["phase"] == "External"
    assert told(outcome)[1] == "Ready"


def test_an_external_component_that_vanishes_is_told_and_not_installed() -> None:
    world = World()
    world.there.add("v1.cert-manager.io")
    world.settle()
    world.there.remove("v1.cert-manager.io")
    world.look()
    outcome = world.settle()
    assert "cert-manager" not in world.parts
    assert told(outcome)[:2] == (Truth.FALSE, "ComponentMissing")
    assert "set spec.stack.components.certManager to Managed" in told(outcome)[2]


def test_a_gateway_api_of_somebody_else_is_a_conflict_and_nothing_is_tried() -> None:
    world = World()
    world.there.add("v1.gateway.networking.k8s.io")
    outcome = world.settle()
    assert "envoy-gateway" not in world.parts
    assert told(outcome)[:2] == (Truth.FALSE, "Conflict")
    assert "safe-upgrades" in told(outcome)[2]
    world.say("gateway", mode="Managed")
    world.settle()
    assert "envoy-gateway" in world.parts


def test_the_gateway_of_another_controller_is_adopted() -> None:
    world = World()
    world.there |= {"v1.gateway.networking.k8s.io", "modelplane"}
    outcome = world.settle()
    assert entry(outcome, "gateway")["mode"] == "External"
    assert front_door.GATEWAY not in world.children
    assert told(outcome)[1] == "Ready"


def test_the_operator_of_a_backend_is_looked_for_and_not_installed() -> None:
    world = World((Component("operator", variants=("KubeRay",)),))
    outcome = world.settle()
    assert told(outcome)[:2] == (Truth.FALSE, "ComponentMissing")
    assert "APIService v1.ray.io" in told(outcome)[2]
    world.there.add("v1.ray.io")
    world.look()
    assert told(world.settle())[1] == "Ready"


def test_a_component_that_is_handed_over_stays_on_the_cluster() -> None:
    world = running()
    world.say("gateway", mode="External")
    outcome = world.step()
    for key in (release("envoy-gateway"), front_door.GATEWAY, f"{releases.NAMESPACE}modelplane-envoy-gateway"):
        assert outcome.children[key].resource["spec"]["managementPolicies"] == ["Observe"], (
            "let go before it is deleted"
        )
    outcome = world.step()
    assert release("envoy-gateway") not in outcome.children
    assert front_door.GATEWAY not in outcome.children


# --- upgrade ----------------------------------------------------------------------------------------------------------


def test_one_part_changes_at_a_time_in_the_order_of_the_waves() -> None:
    world = running()
    world.slow = set(ALL)
    world.say("kserve", version="0.21.0")
    world.say("leaderWorkerSet", version="v0.11.0")
    changed = []
    for _ in range(12):
        outcome = world.step()
        turn = outcome.status.get("upgrading")
        if turn and turn not in changed:
            changed.append(turn)
        differing = {part for part in world.parts if world.version(part) != pinned(part)}
        assert differing == set(changed)
        assert outcome.ttl_seconds == 30 or not turn
        world.slow = set(ALL) - set(changed)
        world.look()
    assert changed == ["lws", "kserve-crd", "kserve", "kserve-presets"]
    assert world.version("lws") == "0.11.0"
    assert world.version("kserve") == "v0.21.0", "written as its chart writes versions"


def test_the_next_upgrade_waits_for_one_that_fails_and_the_failing_one_may_be_mended() -> None:
    world = running()
    world.failing = {"lws"}
    world.say("kserve", version="0.21.0")
    world.say("leaderWorkerSet", version="0.11.0")
    outcome = world.settle()
    assert outcome.status["upgrading"] == "lws"
    assert world.version("kserve-crd") == pinned("kserve-crd")
    assert told(outcome)[:2] == (Truth.FALSE, "InstallFailed")
    assert "Release lws failed: timed out" in told(outcome)[2]
    assert "not tried again" in told(outcome)[2]
    world.failing.clear()
    world.say("leaderWorkerSet", version="0.10.0")
    world.settle()
    assert (world.version("lws"), world.version("kserve")) == ("0.10.0", "v0.21.0")


def test_a_failed_installation_is_told_with_the_words_of_helm() -> None:
    world = World()
    world.failing = {"cert-manager"}
    outcome = world.settle()
    assert entry(outcome, "certManager")["phase"] == "Failed"
    assert "Release cert-manager failed: timed out" in told(outcome)[2]
    assert "lws" in world.parts, "the others go on"


def test_an_event_is_told_once() -> None:
    world = World()
    reasons = [event.reason for _ in range(11) for event in world.step().events]
    assert sorted(reasons) == ["ComponentReady"] * 5


# --- uninstall --------------------------------------------------------------------------------------------------------


def test_a_disabled_component_goes_in_the_reverse_order() -> None:
    world = running()
    world.say("kserve", mode="Disabled")
    gone = []
    for _ in range(5):
        before = world.parts
        world.step()
        gone += sorted(before - world.parts)
    assert gone == ["kserve-presets", "kserve", "kserve-crd"]
    assert world.compose().status["components"][-2]["phase"] == "Disabled"


def test_what_is_needed_stays_although_it_is_disabled() -> None:
    world = running()
    world.say("certManager", mode="Disabled")
    outcome = world.settle()
    assert "cert-manager" in world.parts
    assert "cert-manager is uninstalled after kserve" in entry(outcome, "certManager")["message"]
    world.say("kserve", mode="Disabled")
    world.settle()
    assert "cert-manager" not in world.parts


def test_the_gateway_goes_before_its_controller_and_the_namespace_last() -> None:
    world = running(Component("gateway"))
    world.say("gateway", mode="Disabled")
    steps = []
    for _ in range(5):
        before = set(world.children)
        world.step()
        fleeting = (releases.PROOF, releases.USAGE)
        steps.append(sorted(key for key in before - set(world.children) if not key.startswith(fleeting)))
    assert steps[0] == ["gateway"]
    assert "gateway-class" in steps[1]
    assert steps[2] == [release("envoy-gateway")]
    assert steps[3] == ["namespace-modelplane-envoy-gateway"]


def test_usages_keep_the_order_when_all_is_deleted_at_once() -> None:
    usages = {
        (one["spec"]["of"]["resourceRef"]["name"], one["spec"]["by"]["resourceRef"]["name"])
        for key, one in running().children.items()
        if key.startswith(releases.USAGE)
    }
    names = {key: child["metadata"]["name"] for key, child in running().children.items()}
    wanted = {
        (release("cert-manager"), release("kserve")),
        (release("lws"), release("kserve")),
        (release("envoy-gateway"), release("kserve")),
        (release("kserve"), release("kserve-presets")),
        (release("envoy-gateway"), "gateway"),
        ("gateway-class", "gateway"),
        ("gateway-proxies", "gateway"),
        ("namespace-modelplane-envoy-gateway", release("envoy-gateway")),
    }
    assert usages == {(names[of], names[by]) for of, by in wanted}


def test_an_abandoned_stack_writes_nothing_and_loses_nothing() -> None:
    world = running()
    world.composite["spec"]["abandon"] = True
    outcome = world.step()
    assert lost(world, outcome) == set()
    written = [child.resource for child in outcome.children.values() if child.resource["kind"] in ("Release", "Object")]
    assert {tuple(one["spec"]["managementPolicies"]) for one in written} == {("Observe",)}
    assert told(outcome)[1] == "Abandoned"
    world.composite["spec"]["abandon"] = False
    world.settle()
    assert "managementPolicies" not in world.children[release("lws")]["spec"], "and it can be taken back"


def _observed_only(world: World) -> set[str]:
    looks = (releases.PROOF, releases.LOOK, releases.REACH)
    return {key for key, one in world.children.items() if releases.is_abandoned(one) and not key.startswith(looks)}


def test_what_nobody_asks_for_any_more_is_taken_back_with_the_rest() -> None:
    """A Release that stayed observed would be deleted one day, and its chart would stay on the cluster."""
    world = running()
    world.want(*(one for one in KSERVE if one.name != "leaderWorkerSet"))
    world.settle()
    before = {key: one["spec"] for key, one in world.children.items()}
    world.composite["spec"]["abandon"] = True
    world.settle()
    assert release("lws") in _observed_only(world)
    world.composite["spec"]["abandon"] = False
    world.settle()
    assert {key: one["spec"] for key, one in world.children.items()} == before


def test_a_component_disabled_while_the_stack_was_abandoned_is_uninstalled() -> None:
    world = running()
    world.composite["spec"]["abandon"] = True
    world.settle()
    for name in ("kserve", "leaderWorkerSet"):
        world.say(name, mode="Disabled")
    world.settle()
    world.composite["spec"]["abandon"] = False
    for _ in range(12):
        before = world.children
        outcome = world.step()
        gone = before.keys() - outcome.children.keys()
        assert not [key for key in gone if key.startswith(release("")) and releases.is_abandoned(before[key])]
    assert not {"kserve", "lws"} & world.parts
    assert _observed_only(world) == set()


def test_modes_are_read_from_the_status_alone_where_they_are_known() -> None:
    status = {"components": [{"name": "a", "mode": "External"}, {"name": "b", "mode": "Disabled"}, {"name": 3}, "x"]}
    assert serving_stack.decode({**stack_world.composite(), "status": status}).modes == {"a": Mode.EXTERNAL}
