"""What an autoscaler needs of a ModelDeployment before it reads a metric, and what it makes of what it reads.

Replayed from the controllers' own steps, since neither runs here.
Source: Kubernetes v1.36 (pkg/controller/podautoscaler/horizontal.go and replica_calculator.go; apiextensions
subresource paths), KEDA 2.17 (scaledobject_types.go, fallback.go).
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from modelplane import names
from modelplane_functions.compose import model_deployment
from modelplane_functions.exchange import Outcome
from tests.support import exchange, fleet, rendering

Json = Any

ROOT = Path(__file__).resolve().parents[3]
DEFINITION = yaml.safe_load((ROOT / "apis" / "modeldeployments" / "definition.yaml").read_text())
VERSION = DEFINITION["spec"]["versions"][0]
SCALE = VERSION["subresources"]["scale"]
SPEC = VERSION["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]
KEDA = list(yaml.safe_load_all((ROOT / "examples" / "autoscaling" / "keda.yaml").read_text()))
MODELS = list(yaml.safe_load_all((ROOT / "examples" / "autoscaling" / "models.yaml").read_text()))

# A label selector as text: equality requirements are all that is ever needed here.
_KEY = re.compile(r"(?:[a-z0-9](?:[-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?")
_VALUE = re.compile(r"(?:[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?")


class Refused(Exception):
    """The controller stops before it reads a metric; the message is its reason."""


def at(document: Mapping[str, Json], path: str) -> Json:
    """Return what the API server reads for one path of the scale subresource, None when it is not there."""
    value: Json = document
    for part in path.removeprefix(".").split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value


def scale(document: Mapping[str, Json]) -> dict[str, Json]:
    """Return the Scale object that the API server makes of the deployment."""
    wanted, placed = at(document, SCALE["specReplicasPath"]), at(document, SCALE["statusReplicasPath"])
    selector = at(document, SCALE["labelSelectorPath"])
    if not isinstance(wanted, int):
        raise Refused("the spec replicas field does not exist")
    if selector is not None and not isinstance(selector, str):
        raise Refused("the selector is not a string")
    return {"spec": wanted, "status": placed or 0, "selector": selector or ""}


def checked(document: Mapping[str, Json]) -> dict[str, Json]:
    """Return the Scale object after everything that the HPA controller asks of it. Raises: Refused as it would stop."""
    found = scale(document)
    if not found["selector"]:
        raise Refused("SelectorRequired: the HPA target's scale is missing a selector")
    for requirement in found["selector"].split(","):
        key, equals, value = requirement.partition("=")
        if not equals or not _KEY.fullmatch(key) or not _VALUE.fullmatch(value):
            raise Refused(f"InvalidSelector: {requirement}")
    return found


def desired(found: Mapping[str, Json], total: float, target: float, tolerance: float = 0.1) -> int:
    """Return the replicas an external metric of type AverageValue leads to: GetExternalPerPodMetricReplicas."""
    current = int(found["status"])
    if current and abs(1.0 - total / (target * current)) <= tolerance:
        return current
    return math.ceil(total / target)


def composed(deployment: Json, clusters: list[Json], children: Mapping[str, Json] | None = None) -> Outcome:
    store = [fleet.inference_class(), *clusters]
    return exchange.settle(model_deployment.compose, deployment, children=children, store=store)


def with_status(deployment: Json, outcome: Outcome) -> Json:
    return {**deployment, "status": dict(outcome.status)}


STATES = [
    pytest.param(2, 2, "two placed, none ready yet", 2, id="just placed"),
    pytest.param(0, 2, "scaled to zero", 0, id="zero"),
    pytest.param(3, 0, "no cluster has been created", 0, id="no cluster"),
    pytest.param(40, 2, "more than the fleet holds", 32, id="partly placed"),
]


@pytest.mark.parametrize(("replicas", "clusters", "reason", "placed"), STATES)
def test_every_state_passes_what_the_controller_checks_first(
    replicas: int, clusters: int, reason: str, placed: int
) -> None:
    deployment = fleet.model_deployment(replicas=replicas)
    outcome = composed(deployment, [fleet.inference_cluster(f"c{number}") for number in range(clusters)])
    found = checked(with_status(deployment, outcome))
    assert (found["spec"], found["status"]) == (replicas, placed), reason
    assert found["selector"] == "modelplane.ai/scale-target=ml-team.llama"


def test_the_paths_are_those_of_the_contract() -> None:
    assert SCALE == {
        "specReplicasPath": ".spec.replicas",
        "statusReplicasPath": ".status.replicas",
        "labelSelectorPath": ".status.selector",
    }


def test_a_controller_stops_where_the_selector_is_missing() -> None:
    """The replay can fail: this is what a definition without a selector path would lead to."""
    with pytest.raises(Refused, match="SelectorRequired"):
        checked({"spec": {"replicas": 1}, "status": {"replicas": 1}})
    with pytest.raises(Refused, match="not a string"):
        checked({"spec": {"replicas": 1}, "status": {"replicas": 1, "selector": {"matchLabels": {}}}})


def test_a_fleet_that_warms_up_is_not_shrunk() -> None:
    """Within its tolerance the controller asks for as many as status.replicas says: placed, not ready."""
    deployment = fleet.model_deployment(replicas=3)
    outcome = composed(deployment, [fleet.inference_cluster("a"), fleet.inference_cluster("b")])
    assert outcome.status["readyReplicas"] == 0
    found = checked(with_status(deployment, outcome))
    assert desired(found, total=48.0, target=16.0) == 3
    assert desired({**found, "status": 0}, total=46.0, target=16.0) == 3


def test_loading_replicas_do_not_make_it_run_away() -> None:
    """The same load asks for the same number, however many of them already hold a place."""
    deployment = fleet.model_deployment(replicas=1)
    asked = []
    for _ in range(4):
        outcome = composed(deployment, [fleet.inference_cluster("a"), fleet.inference_cluster("b")])
        asked.append(desired(checked(with_status(deployment, outcome)), total=64.0, target=16.0))
        deployment["spec"]["replicas"] = asked[-1]
    assert asked == [4, 4, 4, 4]


_NAMES = st.from_regex(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?", fullmatch=True)


@settings(deadline=None)
@given(st.lists(st.tuples(_NAMES, _NAMES), min_size=2, max_size=2, unique=True))
def test_selectors_parse_and_never_meet(pair: list[tuple[str, str]]) -> None:
    """Law: an HPA refuses a target whose pods another HPA also selects, so no two deployments share a selector."""
    texts = [names.scale_selector(namespace, name) for namespace, name in pair]
    assert texts[0] != texts[1]
    for text in texts:
        assert checked({"spec": {"replicas": 1}, "status": {"replicas": 1, "selector": text}})["selector"] == text


def test_no_pod_carries_the_label() -> None:
    """What is selected has to be nothing: the controller looks for pods in the control plane's own cluster."""
    settled = rendering.world(rendering.example("autoscaling"))
    assert names.LABEL_SCALE_TARGET not in str(
        [settled.store.get(key) for key in settled.store if key.kind == "Object"]
    )


# --- the example ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scaled", [pytest.param(one, id=one["metadata"]["name"]) for one in KEDA])
def test_the_example_avoids_what_does_not_work(scaled: Json) -> None:
    spec = scaled["spec"]
    target = next(
        model
        for model in MODELS
        if (model["kind"], model["metadata"]["name"]) == ("ModelDeployment", spec["scaleTargetRef"]["name"])
    )
    assert spec["scaleTargetRef"]["apiVersion"] == target["apiVersion"]
    assert spec["scaleTargetRef"]["kind"] == target["kind"]
    assert scaled["metadata"]["namespace"] == target["metadata"]["namespace"], "KEDA looks in its own namespace only"
    assert "replicas" not in target["spec"], "the autoscaler's field; a second writer makes it flip"
    assert 0 <= spec["minReplicaCount"] <= spec["maxReplicaCount"] <= SPEC["replicas"]["maximum"]
    assert spec["fallback"]["behavior"] == "currentReplicasIfHigher"
    for trigger in spec["triggers"]:
        assert trigger["type"] == "prometheus", "there are no pods here whose cpu or memory could be read"
        assert trigger["metricType"] == "AverageValue", "Value counts ready pods, and the fallback refuses it"
        metadata = trigger["metadata"]
        assert metadata["ignoreNullValues"] == "false", "a metric that is gone is not a load of zero"
        assert all(isinstance(value, str) for value in metadata.values()), "KEDA's metadata is text"
        if spec["minReplicaCount"] == 0:
            assert "vllm:" not in metadata["query"], "at zero there is no engine to read from"


def test_the_route_that_wakes_a_model_is_there_at_zero() -> None:
    """Envoy counts per route, so a service without any endpoint would never be seen to be asked for."""
    objects = rendering.example("autoscaling")
    for one in objects:
        if (one["kind"], one["metadata"]["name"]) == ("ModelDeployment", "qwen3-4b"):
            one["spec"]["replicas"] = 0
    settled = rendering.world(objects)
    assert "qwen3-4b" not in [name.rpartition("-")[0] for name in rendering.names(settled, "ModelReplica")]
    assert "qwen3-4b" in rendering.names(settled, "HTTPRoute", "gateway.networking.k8s.io")


def test_the_fleet_of_the_example_holds_the_most_that_is_asked_for() -> None:
    objects = rendering.example("autoscaling")
    for one in objects:
        if one["kind"] == "ModelDeployment":
            most = next(
                scaled["spec"]["maxReplicaCount"]
                for scaled in KEDA
                if scaled["metadata"]["name"] == one["metadata"]["name"]
            )
            one["spec"]["replicas"] = most
    settled = rendering.world(objects)
    for key in settled.store.of_kind("modelplane.ai", "ModelDeployment"):
        status = (settled.store.get(key) or {})["status"]
        assert status["unscheduledReplicas"] == 0, key
