"""What the offline reconcile writes, adopts and deletes is what Crossplane does with the resources of a composite."""

from __future__ import annotations

from typing import Any

from crossplane.function.proto.v1 import run_function_pb2 as fnv1

from modelplane.errors import InvalidInput
from modelplane_cli.simulator import conditions, offline
from modelplane_cli.simulator.definitions import Definitions
from modelplane_cli.simulator.offline import World
from modelplane_cli.simulator.store import key_of
from modelplane_functions.exchange import Child, Condition, Observed, Outcome, Ready, Truth
from tests.support import worlds
from tests.support.worlds import API_VERSION, child, composes, condition, get, resource, thing

Json = Any

# --- identity and metadata --------------------------------------------------------------------------------------------


def test_a_composed_resource_gets_the_metadata_of_crossplane() -> None:
    settled = worlds.world([resource("Top", "x")], {"Top": composes(("a", thing(labels={"own": "1"})))})
    top, made = get(settled, "Top", "x"), child(settled)
    assert made["metadata"]["namespace"] == "ns"
    assert made["metadata"]["labels"] == {"own": "1", "crossplane.io/composite": "x"}
    assert made["metadata"]["annotations"] == {"crossplane.io/composition-resource-name": "a"}
    (owner,) = made["metadata"]["ownerReferences"]
    assert owner == {
        "apiVersion": API_VERSION,
        "kind": "Top",
        "name": "x",
        "uid": top["metadata"]["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }
    assert top["spec"]["crossplane"]["resourceRefs"] == [{"apiVersion": "v1", "kind": "ConfigMap", "name": "child"}]
    assert top["spec"]["crossplane"]["compositionRef"] == {"name": "tops.example.org"}


def test_a_nested_composite_hands_the_root_name_on() -> None:
    middle = {"apiVersion": API_VERSION, "kind": "Middle", "metadata": {"name": "m"}, "spec": {}}
    settled = worlds.world(
        [resource("Top", "x")], {"Top": composes(("m", middle)), "Middle": composes(("leaf", thing("leaf")))}
    )
    assert child(settled, "leaf")["metadata"]["labels"]["crossplane.io/composite"] == "x"


def test_a_nameless_resource_gets_a_stable_name_that_its_key_decides() -> None:
    def names(key: str) -> list[str]:
        settled = worlds.world([resource("Top", "x")], {"Top": composes((key, thing(None)))})
        return [found.name for found in settled.store.of_kind("", "ConfigMap")]

    assert names("a") == names("a")
    assert names("a") != names("b")
    assert names("a")[0].startswith("x-")


def test_an_existing_resource_keeps_its_name_whatever_the_function_says() -> None:
    first = worlds.world([resource("Top", "x")], {"Top": composes(("a", thing("old")))})
    settled = worlds.world(first.objects(), {"Top": composes(("a", thing("new")))})
    assert [found.name for found in settled.store.of_kind("", "ConfigMap")] == ["old"]
    assert not settled.settled.record.deletions


def test_namespaced_composites_force_their_namespace() -> None:
    settled = worlds.world([resource("Top", "x")], {"Top": composes(("a", thing(namespace="elsewhere")))})
    assert child(settled)["metadata"]["namespace"] == "ns"


def test_a_cluster_scoped_child_of_a_namespaced_composite_is_a_bug() -> None:
    node = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "n"}}
    settled = worlds.world([resource("Top", "x")], {"Top": composes(("n", node))})
    assert "cluster scoped composed resource" in str(next(iter(settled.settled.record.bugs)))
    assert condition(settled, "Synced")[0] == "False"
    assert not settled.store.of_kind("", "Namespace")


def test_a_cluster_composite_may_compose_anywhere_and_refers_with_the_namespace() -> None:
    settled = worlds.world(
        [resource("Top", "x", None)],
        {"Top": composes(("a", thing(namespace="far")))},
        [worlds.definition("Top", namespaced=False)],
    )
    assert child(settled, namespace="far")
    references = get(settled, "Top", "x", "")["spec"]["crossplane"]["resourceRefs"]
    assert references == [{"apiVersion": "v1", "kind": "ConfigMap", "name": "child", "namespace": "far"}]


def test_what_another_controls_is_not_taken_over() -> None:
    body = composes(("a", thing()))
    settled = worlds.world([resource("Top", "x"), resource("Top", "y")], {"Top": body})
    states = {name: condition(settled, "Synced", name)[0] for name in ("x", "y")}
    assert states == {"x": "True", "y": "False"}
    assert "is controlled by Top x" in condition(settled, "Synced", "y")[2]


def test_what_nobody_controls_is_adopted() -> None:
    existing = resource("ConfigMap", "child", api_version="v1", spec={"theirs": 1})
    settled = worlds.world([resource("Top", "x"), existing], {"Top": composes(("a", thing(spec={"ours": 1})))})
    assert child(settled)["spec"] == {"theirs": 1, "ours": 1}
    assert child(settled)["metadata"]["ownerReferences"][0]["name"] == "x"


def test_a_child_of_an_earlier_composite_of_the_same_name_is_not_observed() -> None:
    stale = resource(
        "ConfigMap",
        "child",
        api_version="v1",
        annotations={"crossplane.io/composition-resource-name": "a"},
        ownerReferences=[
            {"apiVersion": API_VERSION, "kind": "Top", "name": "x", "uid": "of-the-dead", "controller": True}
        ],
    )
    settled = worlds.world([resource("Top", "x", uid="alive"), stale], {"Top": composes()})
    assert child(settled)
    assert not settled.settled.record.deletions


# --- fields -----------------------------------------------------------------------------------------------------------


def test_a_field_that_is_left_out_is_removed_and_those_of_others_stay() -> None:
    def compose(observed: Observed) -> Outcome:
        is_second = bool(observed.children)
        spec = {"kept": 1} if is_second else {"kept": 1, "dropped": {"deep": 1}}
        return Outcome(children={"a": Child(thing(spec=spec), Ready.TRUE)})

    theirs = resource("ConfigMap", "child", api_version="v1", spec={"theirs": 1})
    settled = worlds.world([resource("Top", "x"), theirs], {"Top": compose})
    assert child(settled)["spec"] == {"theirs": 1, "kept": 1}


def test_status_is_written_in_full_and_conditions_stay() -> None:
    old = {"type": "Old", "status": "True", "reason": "R", "lastTransitionTime": "t"}
    before = {"gone": 1, "conditions": [old]}
    said = Condition("New", Truth.TRUE, "Fine")
    settled = worlds.world(
        [resource("Top", "x", status=before)], {"Top": composes(status={"stays": 2}, conditions=(said,))}
    )
    status = get(settled, "Top", "x")["status"]
    assert {name: value for name, value in status.items() if name != "conditions"} == {"stays": 2}
    assert [entry["type"] for entry in status["conditions"]] == ["New", "Old", "Ready", "Synced"]
    assert conditions.find(get(settled, "Top", "x"), "Old") == old


def test_what_a_function_writes_into_the_spec_of_its_composite_or_the_status_of_a_child_is_ignored() -> None:
    body = {**thing(spec={"a": 1}), "status": {"made": "up"}}
    settled = worlds.world([resource("Top", "x", spec={"own": 1})], {"Top": composes(("a", body))})
    assert "status" not in child(settled)
    assert get(settled, "Top", "x")["spec"]["own"] == 1


def test_a_function_may_not_set_the_conditions_of_crossplane() -> None:
    honest = worlds.function({"Top": composes(("a", thing()), ready=Ready.FALSE)})

    def forging(request: fnv1.RunFunctionRequest) -> fnv1.RunFunctionResponse:
        response = honest(request)
        response.conditions.add(type="Ready", status=fnv1.STATUS_CONDITION_TRUE, reason="Forged")
        response.conditions.add(type="Synced", status=fnv1.STATUS_CONDITION_FALSE, reason="Forged")
        return response

    top = resource("Top", "x")
    kinds = Definitions([worlds.definition("Top")])
    settled = offline.build({key_of(top): top}, kinds, forging, offline.Assume.NOTHING)
    assert condition(settled, "Ready")[:2] == ("False", "Creating")
    assert condition(settled, "Synced")[:2] == ("True", "ReconcileSuccess")


# --- deletion ---------------------------------------------------------------------------------------------------------


def running() -> list[dict[str, Json]]:
    """Return a world in which `x` composes a and b, and b composes c."""
    nested = {"apiVersion": API_VERSION, "kind": "Nested", "metadata": {"name": "b"}, "spec": {}}
    composers = {"Top": composes(("a", thing("a")), ("b", nested)), "Nested": composes(("c", thing("c")))}
    return worlds.world([resource("Top", "x")], composers).objects()


def test_what_is_not_desired_any_more_is_deleted_with_all_it_controls_and_said() -> None:
    settled = worlds.world(running(), {"Top": composes(("a", thing("a"))), "Nested": composes(("c", thing("c")))})
    assert [found.name for found in settled.store.of_kind("", "ConfigMap")] == ["a"]
    (deletion,) = settled.settled.record.deletions
    assert (str(deletion.key), str(deletion.owner)) == ("Nested ns/b", "Top ns/x")
    assert [str(key) for key in deletion.with_it] == ["ConfigMap ns/c"]


def test_changing_a_key_deletes_before_it_creates() -> None:
    first = worlds.world([resource("Top", "x")], {"Top": composes(("old", thing("same")))})
    settled = worlds.world(first.objects(), {"Top": composes(("new", thing("same")))})
    assert child(settled, "same")["metadata"]["annotations"] == {"crossplane.io/composition-resource-name": "new"}
    assert len(settled.settled.record.deletions) == 1


def test_nothing_is_deleted_or_written_after_a_fatal_result() -> None:
    def fatal(_observed: Observed) -> Outcome:
        raise InvalidInput("write something else", path=("spec", "field"))

    before = running()
    before[-1]["status"]["conditions"].append({"type": "Custom", "status": "True", "reason": "R"})
    settled = worlds.world(before, {"Top": fatal, "Nested": composes(("c", thing("c")))})
    assert [found.name for found in settled.store.of_kind("", "ConfigMap")] == ["a", "c"]
    assert condition(settled, "Custom")[:2] == ("Unknown", "FatalError")
    assert condition(settled, "Accepted")[:2] == ("False", "InvalidInput")
    status, reason, message = condition(settled, "Synced")
    assert (status, reason) == ("False", "ReconcileError")
    assert message.startswith('cannot compose resources: pipeline step "compose" returned a fatal result: ')
    assert condition(settled, "Ready")[0] == "True"
    assert not settled.settled.record.bugs


def test_nothing_is_deleted_after_a_bug_and_the_bug_is_said() -> None:
    def broken(_observed: Observed) -> Outcome:
        raise KeyError("replicas")

    settled = worlds.world(running(), {"Top": broken, "Nested": composes(("c", thing("c")))})
    assert [found.name for found in settled.store.of_kind("", "ConfigMap")] == ["a", "c"]
    (bug,) = settled.settled.record.bugs
    assert str(bug) == "Top ns/x: the function failed: KeyError: 'replicas'"


# --- composed composites ----------------------------------------------------------------------------------------------

SPEC = {
    "type": "object",
    "required": ["size"],
    "properties": {
        "size": {"type": "integer", "minimum": 1},
        "mode": {"type": "string", "default": "Fast"},
        "crossplane": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
    },
}


def nested(spec: Json) -> dict[str, Json]:
    return {"apiVersion": API_VERSION, "kind": "Nested", "metadata": {"name": "n"}, "spec": spec}


def nest(spec: Json) -> World:
    return worlds.world(
        [resource("Top", "x")],
        {"Top": composes(("n", nested(spec))), "Nested": composes()},
        [worlds.definition("Top"), worlds.definition("Nested", spec=SPEC)],
    )


def test_a_composed_composite_is_defaulted() -> None:
    found = get(nest({"size": 1}), "Nested", "n")["spec"]
    assert (found["size"], found["mode"]) == (1, "Fast")


def test_an_invalid_composed_composite_is_a_bug_and_is_not_applied() -> None:
    settled = nest({"size": 0, "mode": "Fast"})
    assert not settled.store.of_kind("example.org", "Nested")
    assert "composes an invalid Nested ns/n: spec.size" in str(next(iter(settled.settled.record.bugs)))
    assert condition(settled, "Synced") == ("False", "ReconcileError", "Unsynced resources: n")


def test_integers_stay_integers_on_their_way() -> None:
    settled = worlds.world([resource("Top", "x")], {"Top": composes(("a", thing(spec={"port": 8000, "half": 0.5})))})
    assert repr(child(settled)["spec"]) in ("{'port': 8000, 'half': 0.5}", "{'half': 0.5, 'port': 8000}")


def test_the_result_is_the_same_twice_and_in_any_order_of_input() -> None:
    objects = running()
    composers = {"Top": composes(("a", thing("a")), ("d", thing("d"))), "Nested": composes(("c", thing("c")))}
    first = worlds.world(objects, composers).objects()
    assert worlds.world(objects, composers).objects() == first
    assert worlds.world(objects[::-1], composers).objects() == first
    assert worlds.world(first, composers).objects() == first
