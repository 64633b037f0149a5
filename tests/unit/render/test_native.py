"""Native: what is rendered around the engine, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from modelplane.errors import InvalidInput
from modelplane.render.backends import kserve, native
from modelplane.topology.shape import Topology
from modelplane.workload.model import EngineType, Model, Replica, Role, Workload
from modelplane.workload.site import ClusterFacts
from tests.support import kserve as kserve_shapes
from tests.support import native as shapes
from tests.support import refusals
from tests.support import replicas as build

# --- what holds for every shape ---------------------------------------------------------------------------------------


@shapes.every_shape
def test_workers_are_counted_and_nothing_starts_beside_what_runs(replica: Replica) -> None:
    (bound,) = replica.roles
    found = shapes.workload(replica)
    spec, topology = found["spec"], bound.spec.topology
    assert found["kind"] == ("LeaderWorkerSet" if topology.is_gang else "Deployment")
    assert spec["replicas"] == bound.spec.workers
    if topology.is_gang:
        assert spec["leaderWorkerTemplate"]["size"] == topology.nodes
        assert spec["leaderWorkerTemplate"]["restartPolicy"] == "RecreateGroupOnPodRestart"
        assert spec["startupPolicy"] == "LeaderCreated"
        assert spec["rolloutStrategy"]["rollingUpdateConfiguration"] == {"maxSurge": 0, "maxUnavailable": 1}
    else:
        assert spec["strategy"]["rollingUpdate"] == {"maxSurge": 0, "maxUnavailable": 1}


@shapes.every_shape
def test_service_and_selector_find_the_pods_that_serve_and_no_other(replica: Replica) -> None:
    found = shapes.rendered(replica)
    selector = found["service"].resource["spec"]["selector"]
    matched = [selector.items() <= one["metadata"]["labels"].items() for one in shapes.templates(replica)]
    assert matched == [True, False][: len(matched)]
    spec = shapes.workload(replica)["spec"]
    assert spec.get("selector", {"matchLabels": selector})["matchLabels"] == selector
    port = found["service"].resource["spec"]["ports"][0]
    serving = shapes.engine(shapes.templates(replica)[0])
    assert port["targetPort"] in {one["containerPort"] for one in serving["ports"]}
    (rule,) = found["route"].resource["spec"]["rules"]
    name = found["service"].resource["metadata"]["name"]
    assert rule["backendRefs"] == [{"group": "", "kind": "Service", "name": name, "port": port["port"]}]


@shapes.every_shape
def test_the_names_fit_for_the_longest_replica_name(replica: Replica) -> None:
    name = "a" * 33 + "-12"
    found = shapes.rendered(build.replica(*replica.roles, name=name, engine=replica.engine, model=replica.model))
    assert len(found["service"].resource["metadata"]["name"]) <= 63
    # LeaderWorkerSet's headless Service has the set's name, which must not be ours; the pods of a group's workers carry
    # "<set>-<group>-<revision hash, 10>" as the value of a label.
    assert found["service"].resource["metadata"]["name"] != shapes.workload(replica)["metadata"]["name"]
    assert len(f"{name}-999-0123456789") <= 63


@shapes.every_shape
def test_devices_are_claimed_by_every_pod_or_limits_of_its_engine(replica: Replica) -> None:
    found = shapes.rendered(replica)
    claims = [one.resource["metadata"]["name"] for key, one in found.items() if key.startswith("claims-")]
    for template in shapes.templates(replica):
        named = [one["resourceClaimTemplateName"] for one in template["spec"].get("resourceClaims", ())]
        assert named == claims
        resources = shapes.engine(template).get("resources", {})
        assert resources.get("claims", []) == [{"name": "devices"}] * len(claims)
    expected = {"nvidia.com/gpu": "1"} if replica is shapes.SHAPES["device plugin"] else None
    assert shapes.engine(shapes.templates(replica)[0]).get("resources", {}).get("limits") == expected


@shapes.every_shape
def test_pods_of_a_gang_know_their_place_and_workers_serve_nothing(replica: Replica) -> None:
    gang = {
        "MODELPLANE_LEADER_ADDRESS": "$(LWS_LEADER_ADDRESS)",
        "MODELPLANE_RANK": "$(LWS_WORKER_INDEX)",
        "MODELPLANE_WORLD_SIZE": "$(LWS_GROUP_SIZE)",
    }
    for number, template in enumerate(shapes.templates(replica)):
        engine = shapes.engine(template)
        said = {one["name"]: one.get("value") for one in engine.get("env", ()) if one["name"] in gang}
        assert said == (gang if replica.roles[0].spec.topology.is_gang else {})
        assert ("readinessProbe" in engine) == ("ports" in engine) == (number == 0)


@shapes.every_shape
def test_pods_drain_before_they_stop(replica: Replica) -> None:
    serving = shapes.templates(replica)[0]
    drain = shapes.engine(serving)["lifecycle"]["preStop"]["sleep"]["seconds"]
    assert 0 < drain < serving["spec"]["terminationGracePeriodSeconds"]


@pytest.mark.parametrize("shape", ["one node", "pipeline", "data"])
def test_the_pods_are_those_of_kserve(shape: str) -> None:
    """Pinning, tolerations, packing, claims, probes, shared memory and command are the same, whoever makes the pod."""
    replica = shapes.SHAPES[shape]
    spec = kserve_shapes.service(replica)
    theirs = [spec["template"], *([spec["worker"]] if "worker" in spec else [])]
    for ours, other in zip(shapes.templates(replica), theirs, strict=True):
        for key in ("nodeSelector", "tolerations", "affinity", "resourceClaims", "terminationGracePeriodSeconds"):
            assert ours["spec"].get(key) == other.get(key), key
        engine, main = shapes.engine(ours), kserve_shapes.main({"template": other})
        for key in ("image", "command", "ports", "startupProbe", "readinessProbe", "livenessProbe", "resources"):
            assert engine.get(key) == main.get(key), key
        # KServe asks for its models under a second name, too.
        theirs_said = [one for one in main["args"] if one != "publishers/ml-team/models/llama"]
        assert engine["args"] == theirs_said


def test_the_deadline_is_the_start_budget_and_time_to_be_scheduled() -> None:
    probe = {"failureThreshold": 1000, "periodSeconds": 5, "initialDelaySeconds": 30}
    role = build.role(pod_template=build.template(engine={"startupProbe": probe}))
    assert shapes.workload(build.replica(role))["spec"]["progressDeadlineSeconds"] == 600 + 30 + 5000
    assert shapes.workload(build.replica())["spec"]["progressDeadlineSeconds"] == 600 + 1550


def test_weights_on_a_volume_are_mounted_for_reading_where_the_engine_looks() -> None:
    (template,) = shapes.templates(shapes.SHAPES["weights on a volume"])
    mount = {"name": "model-weights", "mountPath": "/mnt/models", "readOnly": True, "subPath": "llama/8b"}
    assert mount in shapes.engine(template)["volumeMounts"]
    claim = {"claimName": "weights", "readOnly": True}
    assert {"name": "model-weights", "persistentVolumeClaim": claim} in template["spec"]["volumes"]
    assert shapes.engine(template)["args"][0] == "/mnt/models"


def test_a_whole_volume_is_mounted_without_a_path() -> None:
    (template,) = shapes.templates(build.replica(model=Model("llama", "pvc://weights")))
    (mount,) = (one for one in shapes.engine(template)["volumeMounts"] if one["name"] == "model-weights")
    assert "subPath" not in mount


def test_an_unknown_engine_starts_by_its_images_own_entry_point() -> None:
    role = build.role(pod_template=build.template("registry.example.com/engine:1"))
    replica = build.replica(role, engine=EngineType.CUSTOM, model=None)
    engine = shapes.engine(shapes.templates(replica)[0])
    assert not {"command", "args"} & engine.keys()
    with pytest.raises(InvalidInput, match="is required for an unknown engine"):
        kserve.check(shapes.asked(replica))


def test_what_an_author_wrote_of_the_lifecycle_stays() -> None:
    given = {"lifecycle": {"preStop": {"exec": {"command": ["/drain"]}}}}
    role = build.role(topology=Topology(pipeline=2), pod_template=build.template(engine=given))
    for template in shapes.templates(build.replica(role)):
        assert shapes.engine(template)["lifecycle"] == given["lifecycle"]
    role = build.role(topology=Topology(pipeline=2), pod_template=build.template(engine={"lifecycle": {}}))
    assert [shapes.engine(one)["lifecycle"] for one in shapes.templates(build.replica(role))][1] == {}


def test_a_named_listener_is_used() -> None:
    found = shapes.rendered(build.replica(), ClusterFacts("gke-us", "gw", "infra", "internal"))
    assert found["route"].resource["spec"]["parentRefs"][0]["sectionName"] == "internal"


# --- refusals ---------------------------------------------------------------------------------------------------------

ROLE = build.role().spec
PREFILL = build.role(Role.PREFILL).spec


def _workload(role: Any = ROLE, **fields: Any) -> Workload:
    given: dict[str, Any] = {"model": Model("m", "hf://a/b"), "engine": EngineType.VLLM, "roles": (role,)}
    return Workload(namespace="ml-team", deployment="llama", **{**given, **fields})


def _mounting(**engine: Any) -> Any:
    return build.role(pod_template=build.template(engine=engine, volumes=[{"name": "x", "emptyDir": {}}])).spec


@pytest.mark.parametrize(
    ("workload", "path", "says"),
    [
        pytest.param(_workload(roles=(ROLE, PREFILL)), "spec.prefill", "remove prefill", id="prefill apart"),
        pytest.param(
            _workload(model=Model("m", "s3://b/p")), "spec.model.uri", "it supports hf://, pvc://", id="a bucket"
        ),
        pytest.param(
            _workload(model=Model("m", "hf://a/b@r"), engine=EngineType.LLAMACPP),
            "spec.model.uri",
            "remove @r",
            id="a revision",
        ),
        pytest.param(_workload(model=Model("m", "pvc://A/b")), "spec.model.uri", '"A" cannot be', id="no claim's name"),
        pytest.param(
            _workload(model=Model("m", "pvc://a/../b")), "spec.model.uri", "cannot hold ..", id="out of the volume"
        ),
        pytest.param(
            _workload(
                _mounting(volumeMounts=[{"name": "x", "mountPath": "/mnt/models/"}]), model=Model("m", "pvc://a")
            ),
            "spec.workers.template.spec.containers[0].volumeMounts[0].mountPath",
            "use another",
            id="something else is mounted there",
        ),
        pytest.param(
            _workload(
                build.role(pod_template=build.template(volumes=[{"name": "model-weights", "emptyDir": {}}])).spec,
                model=Model("m", "pvc://a"),
            ),
            "spec.workers.template.spec.volumes[0].name",
            "use another",
            id="a volume of that name",
        ),
        pytest.param(
            _workload(build.role(topology=Topology(pipeline=2)).spec, engine=EngineType.TRTLLM),
            "spec.workers.topology.pipeline",
            "cannot span the 2 nodes",
            id="TensorRT-LLM over nodes",
        ),
        pytest.param(
            _workload(build.role(topology=Topology(pipeline=2, data=4, data_local=2)).spec),
            "spec.workers.topology.dataLocal",
            "set dataLocal to 1",
            id="stages of one copy on one node",
        ),
        pytest.param(
            _workload(build.role(pod_template=build.template(engine={"args": ["--tensor-parallel-size=4"]})).spec),
            "spec.workers.template.spec.containers[0].args[0]",
            "workers.topology.tensor says 1",
            id="a flag that contradicts",
        ),
    ],
)
def test_what_cannot_work_is_refused_at_its_field(workload: Workload, path: str, says: str) -> None:
    refusals.refused_at(native, workload, path, says)


@pytest.mark.parametrize("engine", [EngineType.SGLANG, EngineType.CUSTOM])
def test_only_vllm_keeps_the_stages_of_a_copy_side_by_side(engine: EngineType) -> None:
    native.check(_workload(build.role(topology=Topology(pipeline=2, data=4, data_local=2)).spec, engine=engine))
