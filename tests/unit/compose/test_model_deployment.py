"""ModelDeployment: proposing, scaling, endpoints, and that nothing running disappears for a broken input."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from modelplane.errors import InvalidInput, InvalidSelector, Unsupported
from modelplane_functions import deployment_sight, quotas
from modelplane_functions.compose import model_deployment
from modelplane_functions.exchange import Observed, Outcome, Ready, Requirement, Truth
from tests.support import fleet

Json = Any


def fetched(
    deployment: Json, clusters: list[Json], classes: list[Json], children: dict[str, Json], rules: tuple[Json, ...] = ()
) -> Observed:
    """Return the request as Crossplane settles it: every requirement the composer declares, answered."""
    required: dict[str, tuple[Json, ...]] = {}
    for _ in range(6):
        observed = Observed(deployment, children, required)
        try:
            declared = model_deployment.compose(observed).requirements
        except (InvalidInput, Unsupported):
            return observed  # the author's mistake, once everything is there
        answers = {key: _answer(one, clusters, classes, rules) for key, one in sorted(declared.items())}
        if answers == required:
            return observed
        required = answers
    raise AssertionError("requirements did not become stable")


def _answer(asked: Requirement, clusters: list[Json], classes: list[Json], rules: tuple[Json, ...]) -> tuple[Json, ...]:
    if asked.kind in ("ModelReplica", "InferenceQuota"):
        return ()
    found = {"InferenceClass": classes, "BackendRules": rules, "InferenceCluster": clusters}[asked.kind]
    if asked.name is not None:
        return tuple(one for one in found if one["metadata"]["name"] == asked.name)
    wanted = asked.labels.items()
    return tuple(one for one in found if wanted <= one["metadata"].get("labels", {}).items())


class Running:
    """Two replicas serving on two clusters, endpoints composed: the state that no broken input may harm."""

    def __init__(self, replicas: int = 2) -> None:
        self.deployment = fleet.model_deployment(replicas=replicas)
        self.clusters = [fleet.inference_cluster("a"), fleet.inference_cluster("b")]
        self.classes = [fleet.inference_class()]
        self.children: dict[str, Json] = {}
        for _ in range(4):
            self.step()

    def observed(self) -> Observed:
        return fetched(self.deployment, self.clusters, self.classes, self.children)

    def compose(self) -> Outcome:
        return model_deployment.compose(self.observed())

    def step(self) -> Outcome:
        """Compose once and let everything composed come up."""
        outcome = self.compose()
        by_name = {c["metadata"]["name"]: c for c in self.clusters}
        observed = {}
        for key, child in outcome.children.items():
            resource = copy.deepcopy(dict(child.resource))
            if resource["kind"] == "ModelReplica":
                observed[key] = fleet.serving(resource, by_name[resource["spec"]["clusterName"]])
            else:
                observed[key] = fleet.ready(resource)
                observed[key]["status"]["ready"] = not resource["spec"].get("drain", False)
        self.children = observed
        self.deployment["status"] = dict(outcome.status)
        return outcome

    @property
    def placements(self) -> dict[str, str]:
        return {
            key: child["spec"]["clusterName"] for key, child in self.children.items() if child["kind"] == "ModelReplica"
        }


def test_replicas_spread_over_two_clusters_and_each_gets_an_endpoint() -> None:
    running = Running()
    assert running.placements == {"replica-llama-0": "a", "replica-llama-1": "b"}
    outcome = running.compose()
    assert sorted(outcome.children) == ["endpoint-llama-0", "endpoint-llama-1", "replica-llama-0", "replica-llama-1"]
    endpoint = outcome.children["endpoint-llama-0"].resource
    assert endpoint["spec"]["url"] == "http://gateway.a.example.com"
    assert endpoint["spec"]["host"] == "llama-0.ml-team.modelplane.internal"
    assert outcome.ready is Ready.TRUE
    assert {c.type: c.status for c in outcome.conditions} == {
        "ReplicasScheduled": Truth.TRUE,
        "ReplicasReady": Truth.TRUE,
        "BackendSelected": Truth.TRUE,
    }
    assert outcome.status["replicas"] == outcome.status["readyReplicas"] == 2
    assert outcome.status["selector"] == "modelplane.ai/scale-target=ml-team.llama"


def test_composing_a_settled_state_again_changes_nothing() -> None:
    running = Running()
    first, second = running.compose(), running.compose()
    assert first == second
    assert not first.events


def test_scaling_up_and_down_keeps_the_survivors_untouched() -> None:
    running = Running()
    before = {key: child["spec"] for key, child in running.children.items()}
    running.deployment["spec"]["replicas"] = 4
    for _ in range(3):
        running.step()
    assert len(running.placements) == 4
    running.deployment["spec"]["replicas"] = 2
    for _ in range(5):
        running.step()
    assert {key: child["spec"] for key, child in running.children.items()} == before


def test_scaling_to_zero_drains_endpoints_then_removes_them_then_the_replicas() -> None:
    running = Running()
    running.deployment["spec"]["replicas"] = 0
    first = running.step()
    endpoints = {key: child.resource for key, child in first.children.items() if key.startswith("endpoint-")}
    assert len(endpoints) == 2
    assert all(endpoint["spec"]["drain"] is True for endpoint in endpoints.values())
    second = running.step()
    assert sorted(second.children) == ["replica-llama-0", "replica-llama-1"]
    third = running.step()
    assert not third.children
    assert third.ready is Ready.TRUE


def test_a_drain_in_progress_is_told() -> None:
    running = Running()
    assert running.compose().status["updatedReplicas"] == 2
    assert "moves" not in running.compose().status
    running.clusters[0]["spec"]["taints"] = [{"key": "drain", "effect": "NoExecute"}]
    outcome = running.step()
    (move,) = outcome.status["moves"]
    assert (move["replica"], move["cluster"], move["successor"]) == ("llama-0", "a", "llama-2")
    assert "drain" in move["message"]
    assert "llama-2 is ready" in move["message"]
    (ready,) = (one for one in outcome.conditions if one.type == "ReplicasReady")
    assert "llama-0 is moving: cluster a has the taint drain" in ready.message
    assert outcome.ready is Ready.FALSE
    for _ in range(6):
        outcome = running.step()
    assert "moves" not in outcome.status
    assert outcome.ready is Ready.TRUE


def test_an_edit_of_the_template_is_carried_out_one_by_one_and_counted() -> None:
    running = Running()
    container = running.deployment["spec"]["workers"]["template"]["spec"]["containers"][0]
    container["args"] = ["--max-model-len=4096"]
    counts = []
    for _ in range(12):
        status = running.step().status
        counts.append(status["updatedReplicas"])
        assert len([one for one in status.get("moves", []) if "successor" in one]) <= 1, "one at a time"
        assert status["readyReplicas"] >= 1
    assert counts[-1] == 2
    assert sorted(set(counts)) == [1, 2], counts


def test_requirements_are_declared_before_anything_else_is_decided() -> None:
    outcome = model_deployment.compose(Observed(fleet.model_deployment()))
    assert sorted(outcome.requirements) == ["classes", "clusters", "quotas", "replicas", "rules"]
    assert not outcome.children


def test_a_name_is_not_given_again_while_its_object_is_still_going() -> None:
    """Crossplane forgets a child when it deletes it, so the object is seen by its label alone."""
    going = {"metadata": {"name": "llama-0", "namespace": "ml-team", "deletionTimestamp": "2026-01-01T00:00:00Z"}}
    required = {
        deployment_sight.CLUSTERS: (fleet.inference_cluster("a"),),
        deployment_sight.CLASSES: (fleet.inference_class(),),
        deployment_sight.NAMESAKES: (going,),
        deployment_sight.RULES: (),
        quotas.QUOTAS: (),
    }
    outcome = model_deployment.compose(Observed(fleet.model_deployment(replicas=1), {}, required))
    assert [name for name in outcome.children if name.startswith("replica-")] == ["replica-llama-1"]
    asked = outcome.requirements[deployment_sight.NAMESAKES]
    assert (asked.kind, asked.namespace) == ("ModelReplica", "ml-team")
    assert dict(asked.labels) == {"modelplane.ai/deployment": "llama"}


def test_a_deployment_that_fits_nowhere_says_why_and_what_would_help() -> None:
    deployment = fleet.model_deployment(replicas=3)
    deployment["spec"]["workers"]["topology"]["tensor"] = 8
    clusters = [fleet.inference_cluster("a", nodes=1), fleet.inference_cluster("b", nodes=1)]
    outcome = model_deployment.compose(fetched(deployment, clusters, [fleet.inference_class()], {}))
    scheduled = next(c for c in outcome.conditions if c.type == "ReplicasScheduled")
    assert scheduled.status is Truth.FALSE
    assert scheduled.reason == "PartialInsufficientCapacity"
    assert "2 of 3 replicas are placed" in scheduled.message
    assert outcome.status["unscheduledReplicas"] == 1
    assert outcome.status["unschedulable"]["closest"]["wouldFitIf"]
    assert outcome.ready is Ready.FALSE


# --- law 1: hold ------------------------------------------------------------------------------------------------------


def _status(replica: int, change: Callable[[Json], None]) -> Callable[[Running], None]:
    return lambda running: change(running.children[f"replica-llama-{replica}"])


def _drop_status(resource: Json) -> None:
    resource.pop("status")


def _unknown(resource: Json) -> None:
    for condition in resource["status"]["conditions"]:
        condition["status"] = "Unknown"


UNREADABLE: list[tuple[str, Callable[[Json], None]]] = [
    ("replica-without-spec", lambda child: child.pop("spec")),
    ("replica-with-null-spec", lambda child: child.update(spec=None)),
    ("replica-with-a-list-as-spec", lambda child: child.update(spec=[])),
    ("replica-without-cluster", lambda child: child["spec"].pop("clusterName")),
    ("replica-with-a-number-as-cluster", lambda child: child["spec"].update(clusterName=7)),
    ("replica-without-workers", lambda child: child["spec"].pop("workers")),
    ("replica-without-devices", lambda child: child["spec"].update(devices="all")),
]

BREAKS: list[Any] = [
    pytest.param(lambda r: r.clusters.clear(), id="every-cluster-missing"),
    pytest.param(lambda r: r.clusters.pop(0), id="one-cluster-missing"),
    pytest.param(lambda r: r.clusters[0].pop("status"), id="cluster-without-status"),
    pytest.param(lambda r: r.clusters[0]["status"].pop("gateway"), id="cluster-lost-its-address"),
    pytest.param(lambda r: r.clusters[0]["status"].pop("admitted"), id="admitted-list-missing"),
    pytest.param(lambda r: r.clusters[0]["status"]["conditions"][0].update(status="False"), id="cluster-not-ready"),
    pytest.param(lambda r: r.clusters[0]["metadata"].pop("labels"), id="cluster-lost-its-labels"),
    pytest.param(
        lambda r: r.clusters[0]["spec"].update(taints=[{"key": "new", "effect": "NoSchedule"}]), id="new-taint"
    ),
    pytest.param(
        lambda r: r.clusters[0]["spec"].update(taints=[{"key": "drain", "effect": "NoExecute"}]), id="drained"
    ),
    pytest.param(lambda r: r.clusters[0]["spec"]["nodePools"].clear(), id="pool-removed"),
    pytest.param(lambda r: r.clusters[0]["spec"]["nodePools"][0].update(nodeCount=0), id="pool-shrunk-to-nothing"),
    pytest.param(lambda r: r.clusters[0]["spec"].update(backends=["Native"]), id="backend-withdrawn"),
    pytest.param(lambda r: r.classes.clear(), id="class-missing"),
    pytest.param(lambda r: r.classes[0]["spec"].update(devices=[]), id="class-without-devices"),
    pytest.param(
        lambda r: r.classes[0]["spec"]["devices"][0]["capacity"]["memory"].update(value="much"), id="class-unreadable"
    ),
    pytest.param(
        lambda r: r.classes[0]["spec"]["devices"][0]["capacity"]["memory"].update(value="1Gi"), id="class-too-small-now"
    ),
    pytest.param(lambda r: r.deployment["spec"]["nodeSelector"].update(cel="device.("), id="selector-typo"),
    pytest.param(lambda r: r.deployment["spec"]["nodeSelector"].update(cel="1 + 1"), id="selector-not-a-bool"),
    pytest.param(
        lambda r: r.deployment["spec"]["nodeSelector"].update(cel="device.attributes['x'].y == 'z'"),
        id="selector-aborts-everywhere",
    ),
    pytest.param(
        lambda r: r.deployment["spec"]["workers"]["topology"].update(data=3, dataLocal=2), id="impossible-topology"
    ),
    pytest.param(lambda r: r.deployment["spec"]["workers"]["topology"].update(tensor=64), id="topology-fits-nowhere"),
    pytest.param(
        lambda r: r.deployment["spec"]["workers"]["template"]["spec"].update(containers=[]), id="engine-container-gone"
    ),
    pytest.param(
        lambda r: r.deployment["spec"]["workers"]["template"]["spec"]["containers"][0].update(image="vllm/other:1"),
        id="template-edited",
    ),
    pytest.param(lambda r: r.deployment["spec"]["model"].update(uri="no-scheme"), id="model-uri-typo"),
    pytest.param(
        lambda r: r.deployment["spec"].update(clusterSelector={"matchLabels": {"no": "such"}}),
        id="labels-match-nothing",
    ),
    pytest.param(lambda r: r.deployment.pop("status"), id="own-status-lost"),
    pytest.param(_status(0, _drop_status), id="replica-without-status"),
    pytest.param(_status(0, _unknown), id="replica-conditions-unknown"),
    *(pytest.param(_status(0, change), id=name) for name, change in UNREADABLE),
]


@pytest.mark.parametrize("damage", BREAKS)
def test_hold_nothing_running_disappears(damage: Callable[[Running], None]) -> None:
    """Law 1: break one input, and every desired child is still there, or nothing is applied at all."""
    running = Running()
    kept = set(running.children)
    damage(running)
    try:
        outcome = running.compose()
    except InvalidInput:
        return  # a FATAL result: Crossplane returns before garbage collection
    assert kept <= set(outcome.children)


@pytest.mark.parametrize(("name", "change"), UNREADABLE, ids=[name for name, _ in UNREADABLE])
def test_a_replica_that_cannot_be_read_is_named(name: str, change: Callable[[Json], None]) -> None:
    running = Running()
    _status(0, change)(running)
    with pytest.raises(
        InvalidInput, match=r'ModelReplica "llama-0" of this deployment cannot be read \(.*spec'
    ) as said:
        running.compose()
    assert "delete it" in str(said.value), name


@pytest.mark.parametrize(
    ("text", "path"),
    [
        pytest.param("device.(", ("spec", "nodeSelector", "cel"), id="syntax"),
        pytest.param("device.nothing == 1", ("spec", "nodeSelector", "cel"), id="unknown-field"),
    ],
)
def test_a_selector_that_does_not_compile_names_its_field(text: str, path: tuple[str, ...]) -> None:
    running = Running()
    running.deployment["spec"]["nodeSelector"]["cel"] = text
    with pytest.raises(InvalidSelector) as caught:
        running.compose()
    assert caught.value.path == path


def test_an_endpoint_goes_when_its_replica_says_it_does_not_serve() -> None:
    running = Running()
    for condition in running.children["replica-llama-0"]["status"]["conditions"]:
        if condition["type"] == "Serving":
            condition["status"] = "False"
    outcome = running.compose()
    assert "endpoint-llama-0" not in outcome.children
    assert "replica-llama-0" in outcome.children
    ready = next(c for c in outcome.conditions if c.type == "ReplicasReady")
    assert ready.status is Truth.FALSE
    assert "llama-0" in ready.message


def test_removing_a_cluster_moves_only_its_replicas() -> None:
    running = Running()
    specs = {key: child["spec"] for key, child in running.children.items()}
    running.clusters.pop(0)
    for _ in range(7):
        outcome = running.compose()
        present = {c["metadata"]["name"]: c for c in running.clusters}
        observed = {}
        for key, child in outcome.children.items():
            resource = copy.deepcopy(dict(child.resource))
            cluster = present.get(resource["spec"].get("clusterName", ""))
            if resource["kind"] != "ModelReplica":
                observed[key] = fleet.ready(resource)
                observed[key]["status"]["ready"] = not resource["spec"].get("drain", False)
            elif cluster is not None:
                observed[key] = fleet.serving(resource, cluster)
            else:
                observed[key] = running.children[key]
        running.children = observed
        running.deployment["status"] = dict(outcome.status)
    assert running.children["replica-llama-1"]["spec"] == specs["replica-llama-1"]
    assert set(running.placements.values()) == {"b"}
    assert len(running.placements) == 2


def test_what_a_replica_said_of_an_older_spec_is_not_called_ready() -> None:
    running = Running()
    replica = running.children["replica-llama-0"]
    replica["metadata"]["generation"] = 2
    replica["status"]["observedGeneration"] = 1
    outcome = running.compose()
    assert outcome.status["readyReplicas"] == 1
    assert "endpoint-llama-0" in outcome.children


def test_an_edited_template_rolls_one_replica_at_a_time_and_is_not_ready_meanwhile() -> None:
    running = Running()
    template = running.deployment["spec"]["workers"]["template"]["spec"]["containers"][0]
    template["image"] = "vllm/vllm-openai:v0.24.0"
    seen: list[int] = []
    readiness: list[Ready | None] = []
    for _ in range(20):
        outcome = running.step()
        images = [
            child["spec"]["workers"]["template"]["spec"]["containers"][0]["image"]
            for child in running.children.values()
            if child["kind"] == "ModelReplica"
        ]
        assert len(images) >= 2, "a replica went before its successor served"
        seen.append(sum(image.endswith("v0.23.0") for image in images))
        readiness.append(outcome.ready)
    assert seen == sorted(seen, reverse=True)
    assert {2, 1, 0} <= set(seen), "both replicas were changed at once"
    assert readiness[0] is Ready.FALSE
    assert readiness[-1] is Ready.TRUE
    assert len(running.placements) == 2
