"""The scaler of a deployment beside its replicas: composed, held through every missing input, removed by a decision."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from modelplane import names
from modelplane.errors import InvalidInput
from modelplane_functions.compose import model_deployment
from modelplane_functions.exchange import Observed, Outcome, Truth
from tests.support import exchange, fleet

Json = Any

KEDA = frozenset({"ScaledObject"})
NONE: frozenset[str] = frozenset()
KEYS = ("scaled-object", "autoscaler")
WISH: Json = {"min": 1, "max": 6, "target": {"requests": 16}}
ZERO: Json = {**WISH, "scaleToZero": {"after": "30m"}}


def deployment(scaling: Json = WISH) -> Json:
    document = fleet.model_deployment(replicas=1)
    if scaling is not None:
        document["spec"]["scaling"] = copy.deepcopy(scaling)
    return document


def gateway(**scaling: Json) -> Json:
    prometheus = {"prometheus": {"address": "http://thanos:9090"}}
    return {
        "apiVersion": names.API_VERSION,
        "kind": "InferenceGateway",
        "metadata": {"name": "default"},
        "spec": {"scaling": scaling or prometheus},
    }


def service(*deployments: str) -> Json:
    groups = [{"selector": {"matchLabels": {"modelplane.ai/deployment": one}}} for one in deployments]
    return {
        "apiVersion": names.API_VERSION,
        "kind": "ModelService",
        "metadata": {"name": "chat", "namespace": "ml-team"},
        "spec": {"endpoints": groups},
    }


def scaler(kind: str, name: str, *, target: str = "llama", namespace: str = "ml-team", owner: Json = None) -> Json:
    """Return a scaler that somebody else wrote, or that KEDA made for `owner`."""
    version = {"ScaledObject": "keda.sh/v1alpha1", "HorizontalPodAutoscaler": "autoscaling/v2"}[kind]
    reference = {"apiVersion": names.API_VERSION, "kind": "ModelDeployment", "name": target}
    metadata: Json = {"name": name, "namespace": namespace}
    if owner:
        metadata["ownerReferences"] = [{"controller": True, **owner}]
    return {"apiVersion": version, "kind": kind, "metadata": metadata, "spec": {"scaleTargetRef": reference}}


def store(*more: Json) -> list[Json]:
    return [fleet.inference_class(), fleet.inference_cluster("a"), *more]


def settle(document: Json, *more: Json, children: Json = None, kinds: frozenset[str] | None = KEDA) -> Outcome:
    return exchange.settle(model_deployment.compose, document, children=children, store=store(*more), kinds=kinds)


def observed(document: Json, outcome: Outcome) -> dict[str, Json]:
    """Return the children as Crossplane would have made them, the scaler at work."""
    made: dict[str, Json] = {}
    for key, child in outcome.children.items():
        resource = fleet.controlled(dict(child.resource), document)
        if key in KEYS:
            told = ("Ready",) if key == "scaled-object" else ("AbleToScale", "ScalingActive")
            resource["status"] = {"conditions": [{"type": one, "status": "True", "reason": "Fine"} for one in told]}
        made[key] = resource
    return made


def condition(outcome: Outcome) -> tuple[str, str, str] | None:
    found = next((one for one in outcome.conditions if one.type == "ScalerReady"), None)
    return None if found is None else (found.status.value, found.reason, found.message)


# --- composed ---------------------------------------------------------------------------------------------------------


def test_without_the_wish_nothing_is_asked_or_composed() -> None:
    outcome = settle(deployment(None), gateway(), scaler("HorizontalPodAutoscaler", "by-hand"))
    assert not set(KEYS) & outcome.children.keys()
    assert not any(key.startswith("scaling/") for key in outcome.requirements)
    assert (outcome.kinds, condition(outcome)) == ({}, None)
    assert "scaling" not in outcome.status


def test_a_scaled_object_is_composed_where_keda_is() -> None:
    outcome = settle(deployment(), gateway())
    resource = outcome.children["scaled-object"].resource
    assert resource["metadata"] == {
        "name": "llama",
        "namespace": "ml-team",
        "labels": {"modelplane.ai/deployment": "llama"},
    }
    assert condition(outcome) == ("False", "Waiting", "ScaledObject llama does not exist yet")
    assert outcome.status["scaling"] == {"scaler": "KEDA", "min": 1, "max": 6}
    document = deployment()
    again = settle(document, gateway(), children=observed(document, outcome))
    assert condition(again) == ("True", "ScalerReady", "ScaledObject llama keeps 1 to 6 replicas")
    assert again.children["scaled-object"].resource == resource


def test_every_trigger_is_guarded() -> None:
    spec = (
        settle(
            deployment({**ZERO, "min": 2, "target": {"requests": 16, "cpu": "2"}}), gateway(), service("llama", "other")
        )
        .children["scaled-object"]
        .resource["spec"]
    )
    assert "fallback" not in spec, "KEDA takes a trigger that falls back for an active one, and wakes what sleeps"
    assert (spec["minReplicaCount"], spec["idleReplicaCount"]) == (2, 0)
    assert spec["cooldownPeriod"] == spec["initialCooldownPeriod"] == 1800, "a new one would sleep at once"
    assert [one["name"] for one in spec["triggers"]] == ["requests", "cpu", "wake"]
    for trigger in spec["triggers"]:
        assert trigger["metricType"] == "AverageValue", "Value counts pods, and the control plane has none of a model"
        assert trigger["metadata"]["ignoreNullValues"] == "false", "a metric that is gone is not a load of zero"
        assert all(isinstance(value, str) for value in trigger["metadata"].values()), "KEDA's metadata is text"
    assert spec["triggers"][1]["metadata"]["activationThreshold"] == "2", "an engine that is idle uses a core too"
    assert spec["triggers"][2]["metadata"]["threshold"] == "1000000", "it wakes and never asks for a second one"
    assert not spec["advanced"]["restoreToOriginalReplicaCount"]


def test_a_deployment_behind_the_ai_gateway_wakes_by_the_requests_of_the_route_that_it_makes() -> None:
    behind = {**service("llama", "other"), "status": {"model": "chat"}}
    resource = settle(deployment(ZERO), gateway(), behind).children["scaled-object"].resource
    queries = [one["metadata"]["query"] for one in resource["spec"]["triggers"]]
    assert any("httproute/ml-team/(chat|chat[.]ai)/rule/" in query for query in queries)


def test_an_autoscaler_is_composed_where_keda_is_not() -> None:
    outcome = settle(deployment(), gateway(), kinds=NONE)
    spec = outcome.children["autoscaler"].resource["spec"]
    assert spec["metrics"] == [
        {
            "type": "External",
            "external": {
                "metric": {
                    "name": "modelplane_requests",
                    "selector": {
                        "matchLabels": {"modelplane_ai_namespace": "ml-team", "modelplane_ai_deployment": "llama"}
                    },
                },
                "target": {"type": "AverageValue", "averageValue": "16"},
            },
        }
    ]
    assert "scaled-object" not in outcome.children
    assert not any(one.kind == "ScaledObject" for one in outcome.requirements.values()), "it would end the reconcile"


def test_nothing_of_an_unknown_kind_is_required_before_it_is_known_to_be_served() -> None:
    document = deployment()
    first = model_deployment.compose(Observed(document, {}, {}, {}))
    assert [one.kind for one in first.kinds.values()] == ["ScaledObject"]
    assert not any(one.kind == "ScaledObject" for one in first.requirements.values())
    for named in ({}, {"autoscaler": "KEDA", "prometheus": {"address": "http://t"}}):
        unknown = settle(document, gateway(**named), kinds=None)
        assert not set(KEYS) & unknown.children.keys()
        assert not any(one.kind == "ScaledObject" for one in unknown.requirements.values())
        assert (condition(unknown) or ("", ""))[:2] == ("Unknown", "KEDAUnknown")


# --- of others --------------------------------------------------------------------------------------------------------

OF_KEDA = {"apiVersion": "keda.sh/v1alpha1", "kind": "ScaledObject", "name": "by-hand"}
RIVALS = [
    pytest.param([scaler("ScaledObject", "by-hand")], KEDA, "ScaledObject by-hand", id="scaled object"),
    pytest.param([scaler("ScaledObject", "llama")], KEDA, "ScaledObject llama", id="of the same name"),
    pytest.param(
        [scaler("HorizontalPodAutoscaler", "by-hand")], KEDA, "HorizontalPodAutoscaler by-hand", id="autoscaler"
    ),
    pytest.param(
        [scaler("HorizontalPodAutoscaler", "by-hand")], NONE, "HorizontalPodAutoscaler by-hand", id="both autoscalers"
    ),
    pytest.param(
        [scaler("HorizontalPodAutoscaler", "keda-hpa-by-hand", owner=OF_KEDA)],
        NONE,
        "ScaledObject by-hand already",
        id="of KEDA, which blinks",
    ),
    pytest.param(
        [scaler("ScaledObject", "by-hand"), scaler("HorizontalPodAutoscaler", "keda-hpa-by-hand", owner=OF_KEDA)],
        KEDA,
        "ScaledObject by-hand already",
        id="both of one are told once",
    ),
]


@pytest.mark.parametrize(("rivals", "kinds", "says"), RIVALS)
def test_none_is_composed_beside_one_of_somebody_else(rivals: list[Json], kinds: frozenset[str], says: str) -> None:
    document = deployment()
    outcome = settle(document, gateway(), *rivals, kinds=kinds)
    assert not set(KEYS) & outcome.children.keys()
    told = condition(outcome)
    assert told is not None
    assert told[:2] == ("False", "ScalerConflict")
    assert told[2].startswith(says)
    assert any(key.startswith("replica") for key in outcome.children), "replicas are placed all the same"
    # One that was there first is not removed for it.
    running = observed(document, settle(document, gateway()))
    held = settle(document, gateway(), *rivals, children=running, kinds=kinds)
    assert "scaled-object" in held.children
    assert (condition(held) or ("", "", ""))[2].endswith("the existing scaler is kept as it is")


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(scaler("ScaledObject", "by-hand", target="other"), id="another deployment"),
        pytest.param(scaler("ScaledObject", "by-hand", namespace="team-b"), id="another namespace"),
        pytest.param(
            {
                **scaler("HorizontalPodAutoscaler", "x"),
                "spec": {"scaleTargetRef": {"kind": "Deployment", "name": "llama"}},
            },
            id="another kind",
        ),
        pytest.param({**scaler("HorizontalPodAutoscaler", "x"), "spec": 7}, id="nonsense"),
    ],
)
def test_scalers_of_something_else_do_not_matter(other: Json) -> None:
    assert "scaled-object" in settle(deployment(), gateway(), other).children


def test_its_own_scaler_is_no_rival() -> None:
    document = deployment()
    running = observed(document, settle(document, gateway()))
    mine = running["scaled-object"]
    of_keda = scaler("HorizontalPodAutoscaler", "keda-hpa-llama", owner={"kind": "ScaledObject", "name": "llama"})
    again = settle(document, gateway(), mine, of_keda, children=running)
    assert (condition(again) or ("",))[0] == "True"


# --- held -------------------------------------------------------------------------------------------------------------


def _spec(**fields: Json) -> Callable[[Json], None]:
    return lambda document: document["spec"]["scaling"].update(fields)


def _without(kind: str) -> Callable[[list[Json]], list[Json]]:
    return lambda found: [one for one in found if one["kind"] != kind]


def _with(kind: str, spec: Json) -> Callable[[list[Json]], list[Json]]:
    return lambda found: [{**one, "spec": spec} if one["kind"] == kind else one for one in found]


LOST = [
    pytest.param(_without("InferenceGateway"), KEDA, id="the gateway is gone"),
    pytest.param(_with("InferenceGateway", {}), KEDA, id="the gateway names no metrics"),
    pytest.param(_with("InferenceGateway", {"scaling": 3}), KEDA, id="the gateway is mistyped"),
    pytest.param(_without("ModelService"), KEDA, id="the service is gone"),
    pytest.param(_with("ModelService", 3), KEDA, id="the service is mistyped"),
    pytest.param(_without("InferenceCluster"), KEDA, id="the clusters are gone"),
    pytest.param(_without("InferenceClass"), KEDA, id="the classes are gone"),
    pytest.param(list, NONE, id="KEDA blinks"),
    pytest.param(list, None, id="KEDA is not told"),
    pytest.param(lambda _found: [], NONE, id="everything at once"),
]


@pytest.mark.parametrize(("lose", "kinds"), LOST)
@pytest.mark.parametrize("wish", [pytest.param(WISH, id="awake"), pytest.param(ZERO, id="to zero")])
def test_a_scaler_stays_when_an_input_is_lost(
    lose: Callable[[list[Json]], list[Json]], kinds: frozenset[str] | None, wish: Json
) -> None:
    """Law: nothing of what runs is removed; the scaler neither goes, nor becomes another, nor loses what wakes it."""
    document = deployment(wish)
    around = [gateway(), service("llama", "other")]
    running = observed(document, settle(document, *around))
    before = running["scaled-object"]["spec"]
    outcome = exchange.settle(
        model_deployment.compose, document, children=running, store=lose(store(*around)), kinds=kinds
    )
    assert running.keys() <= outcome.children.keys()
    assert "autoscaler" not in outcome.children
    assert outcome.children["scaled-object"].resource["spec"] == before


@pytest.mark.parametrize("kinds", [KEDA, NONE, None])
def test_an_autoscaler_stays_when_keda_comes_and_goes(kinds: frozenset[str] | None) -> None:
    document = deployment()
    running = observed(document, settle(document, gateway(), kinds=NONE))
    outcome = settle(document, gateway(), children=running, kinds=kinds)
    assert running.keys() == outcome.children.keys()
    assert (condition(outcome) or ("",))[0] == "True"


@pytest.mark.parametrize(
    "spoil",
    [
        pytest.param(_spec(max=0), id="max below min"),
        pytest.param(_spec(target={"requests": "many"}), id="a word"),
        pytest.param(_spec(target={}), id="no aim"),
        pytest.param(lambda document: document["spec"].update(scaling=[]), id="a list"),
    ],
)
def test_a_mistake_of_the_author_is_refused_and_removes_nothing(spoil: Callable[[Json], None]) -> None:
    """A refusal is fatal: Crossplane deletes nothing after it."""
    document = deployment()
    spoil(document)
    with pytest.raises(InvalidInput, match=r"spec\.scaling"):
        settle(document, gateway())


# --- decisions --------------------------------------------------------------------------------------------------------


def test_without_the_wish_the_scaler_goes_and_replicas_stay() -> None:
    document = deployment()
    running = observed(document, settle(document, gateway()))
    del document["spec"]["scaling"]
    document["spec"]["replicas"] = 3
    outcome = settle(document, gateway(), children=running)
    assert not set(KEYS) & outcome.children.keys()
    assert outcome.status["replicas"] == 3


def test_the_platform_replaces_one_scaler_by_the_other() -> None:
    document = deployment()
    running = observed(document, settle(document, gateway()))
    outcome = settle(document, gateway(autoscaler="HPA"), children=running)
    assert set(KEYS) & outcome.children.keys() == {"autoscaler"}


def test_a_wish_beyond_an_autoscaler_is_refused_and_says_what_would_help() -> None:
    outcome = settle(deployment(ZERO), gateway(), service("llama", "other"), kinds=NONE)
    assert not set(KEYS) & outcome.children.keys()
    assert condition(outcome) == (
        "False",
        "KEDARequired",
        "scaleToZero needs KEDA, and KEDA is not installed; remove scaleToZero, or ask the platform for KEDA",
    )


def test_a_pause_of_a_person_survives_being_held() -> None:
    document = deployment()
    running = observed(document, settle(document, gateway()))
    running["scaled-object"]["metadata"]["annotations"] = {"autoscaling.keda.sh/paused": "true"}
    held = settle(document, children=running)
    assert "annotations" not in held.children["scaled-object"].resource["metadata"], "we would own it, then remove it"


def test_what_the_scaler_says_of_itself_is_told() -> None:
    document = deployment()
    running = observed(document, settle(document, gateway()))
    running["scaled-object"]["status"] = {
        "conditions": [{"type": "Ready", "status": "False", "reason": "TriggerError", "message": "no such host"}]
    }
    outcome = settle(document, gateway(), children=running)
    assert condition(outcome) == ("False", "TriggerError", "ScaledObject llama: no such host")
    assert outcome.ready is not None
    assert outcome.ready.value == Truth.FALSE.value
