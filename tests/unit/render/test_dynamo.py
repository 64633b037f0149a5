"""The workers and the frontend of a graph of Dynamo, held to what its operator makes of them.

Sources of the rules: deploy/operator of ai-dynamo/dynamo 1.6 (internal/dynamo, internal/controller,
internal/runtimeversion).
"""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import pytest

from modelplane import names
from modelplane.devices.model import Claim
from modelplane.errors import Unsupported
from modelplane.render.backends.dynamo import capability, naming
from modelplane.render.manifest import Purpose
from modelplane.workload.model import EngineType, Replica
from tests.support import dynamo, kserve, replicas

Json = Any

OVER_NODES = (
    "--nnodes",
    "--node-rank",
    "--headless",
    "--master-addr",
    "--dist-init-addr",
    "--data-parallel-size-local",
)


@dynamo.every_shape
def test_no_command_is_an_authors_and_no_rank_is_ours(replica: Replica) -> None:
    for name, component in dynamo.components(replica).items():
        main = dynamo.main(component)
        if name == "frontend":
            assert not {"command", "args"} & main.keys()
            continue
        assert main["command"] == ["python3", "-m", f"dynamo.{replica.engine}"]
        assert not [word for word in main["args"] if word.partition("=")[0] in (*OVER_NODES, "--port")]


@dynamo.every_shape
def test_workers_claim_their_devices_in_their_pool(replica: Replica) -> None:
    found = dynamo.components(replica)
    manifests = dynamo.rendered(replica)
    for bound in replica.roles:
        component = found[naming.component(replica, bound.spec.role)]
        spec = component["podTemplate"]["spec"]
        assert component["replicas"] == bound.spec.workers
        topology = bound.spec.topology
        assert component.get("multinode") == ({"nodeCount": topology.nodes} if topology.is_gang else None)
        expected = kserve.FACTS.pool_node_selector.get(bound.pool, {names.LABEL_POOL: bound.pool})
        assert spec["nodeSelector"] == expected
        assert {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"} in spec["tolerations"]
        claimed = [one["resourceClaimTemplateName"] for one in spec.get("resourceClaims", ())]
        resources = dynamo.main(component).get("resources", {})
        if bound.devices[0].claim is Claim.DRA:
            (template,) = (one for one in manifests.values() if one.resource["metadata"]["name"] in claimed)
            assert template.comes_first, "the operator counts devices in the template"
            assert template.purpose is Purpose.POD_INPUT
            assert resources["claims"] == [{"name": "devices"}]
        else:
            assert claimed == []
            limits = {"nvidia.com/gpu": "1"} if bound.devices[0].claim is Claim.DEVICE_PLUGIN else None
            assert resources.get("limits") == limits


def test_devices_that_nobody_claims_wire_no_worker_of_vllm_over_nodes() -> None:
    """The operator counts them for vLLM alone."""
    fields: Json = {"topology": kserve.GANG, "devices": (replicas.device(count=8, claim=Claim.SYNTHETIC),)}
    with pytest.raises(Unsupported, match="claim of its InferenceClass to DRA or DevicePlugin"):
        dynamo.rendered(dynamo.replica(dynamo.role(**fields)))
    other = dynamo.replica(dynamo.role(engine=EngineType.SGLANG, **fields), engine=EngineType.SGLANG)
    assert dynamo.components(other)["worker"]["multinode"]


def test_the_frontend_stands_outside_of_the_pools_and_takes_no_device() -> None:
    engine = {"env": [{"name": "HF_TOKEN", "value": "x"}], "envFrom": [{"secretRef": {"name": "hf"}}]}
    template = dynamo.template(engine=engine, imagePullSecrets=[{"name": "ngc"}], serviceAccountName="mine")
    frontend = dynamo.components(dynamo.replica(dynamo.role(pod_template=template)))["frontend"]
    spec = frontend["podTemplate"]["spec"]
    assert not {"nodeSelector", "tolerations", "resourceClaims", "serviceAccountName"} & spec.keys()
    (term,) = spec["affinity"]["nodeAffinity"]["preferredDuringSchedulingIgnoredDuringExecution"]
    assert term["preference"]["matchExpressions"][0]["operator"] == "NotIn"
    main = dynamo.main(frontend)
    assert main["image"] == dynamo.IMAGES[EngineType.VLLM]
    assert (main["env"][:1], main["envFrom"]) == (engine["env"], engine["envFrom"])
    assert spec["imagePullSecrets"] == [{"name": "ngc"}]
    assert "claims" not in main["resources"]
    assert main["lifecycle"]["preStop"]["sleep"]["seconds"] < spec["terminationGracePeriodSeconds"]


@pytest.mark.parametrize("name", ["HF_HOME", "HF_HUB_CACHE"])
def test_the_frontend_keeps_what_it_fetches_where_it_can_write(name: str) -> None:
    """The worker's variables may lead to a volume that the frontend does not have, where it could write nothing."""
    engine = {
        "env": [{"name": name, "value": "/cache"}, {"name": "A", "value": "1"}],
        "volumeMounts": [{"name": "cache", "mountPath": "/cache"}],
    }
    template = dynamo.template(engine=engine, volumes=[{"name": "cache", "emptyDir": {}}])
    found = dynamo.components(dynamo.replica(dynamo.role(pod_template=template)))
    assert {"name": name, "value": "/cache"} in dynamo.main(found["worker"])["env"]
    frontend = dynamo.main(found["frontend"])
    assert frontend["env"] == [{"name": "A", "value": "1"}, {"name": "HF_HOME", "value": "/models"}]
    (mount,) = frontend["volumeMounts"]
    assert mount == {"name": "model-cache", "mountPath": "/models"}
    assert found["frontend"]["podTemplate"]["spec"]["volumes"] == [{"name": "model-cache", "emptyDir": {}}]


def test_a_second_generation_never_asks_for_devices_that_are_not_there() -> None:
    annotations = {"nvidia.com/deployment-rolling-update-max-surge": "1", "mine": "x"}
    role = dynamo.role(workers=4, pod_template=dynamo.template(metadata={"annotations": annotations}))
    found = dynamo.components(dynamo.replica(role))["worker"]["podTemplate"]["metadata"]["annotations"]
    assert found == {
        "mine": "x",
        "nvidia.com/deployment-rolling-update-max-surge": "0",
        "nvidia.com/deployment-rolling-update-max-unavailable": "1",
    }
    gang = dynamo.components(dynamo.SHAPES["pipeline"])["worker"]["podTemplate"]["metadata"]
    assert "annotations" not in gang, "a LeaderWorkerSet never surges"


def test_a_gang_has_our_variables_and_stands_on_nodes_of_its_own() -> None:
    spec = dynamo.components(dynamo.SHAPES["pipeline"])["worker"]["podTemplate"]["spec"]
    env = {one["name"]: one.get("value") for one in spec["containers"][0]["env"]}
    assert env[names.ENV_LEADER_ADDRESS] == "$(LWS_LEADER_ADDRESS)"
    assert env[names.ENV_RANK] == "$(LWS_WORKER_INDEX)"
    assert env[names.ENV_WORLD_SIZE] == "$(LWS_GROUP_SIZE)"
    (term,) = spec["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    assert term["matchLabelKeys"] == [names.LABEL_REPLICA, "leaderworkerset.sigs.k8s.io/group-key"]
    graph = dynamo.workload(dynamo.SHAPES["pipeline"])
    assert graph["metadata"]["annotations"]["nvidia.com/vllm-distributed-executor-backend"] == "mp"
    assert graph["metadata"]["annotations"]["nvidia.com/enable-grove"] == "false"


@pytest.mark.parametrize(
    ("probe", "expected"),
    [
        pytest.param(None, {"periodSeconds": 10, "failureThreshold": 155}, id="by the memory of the devices"),
        pytest.param(
            {"failureThreshold": 30, "periodSeconds": 20}, {"periodSeconds": 20, "failureThreshold": 30}, id="own"
        ),
        pytest.param({"periodSeconds": 60}, {"periodSeconds": 60, "failureThreshold": 26}, id="own period"),
    ],
)
def test_a_worker_has_the_time_to_start_that_its_model_takes(probe: Json, expected: Json) -> None:
    engine = {} if probe is None else {"startupProbe": probe}
    role = dynamo.role(pod_template=dynamo.template(engine=engine))
    main = dynamo.main(dynamo.components(dynamo.replica(role))["worker"])
    found = main["startupProbe"]
    assert {key: found[key] for key in expected} == expected
    assert found["httpGet"] == {"path": "/live", "port": 9090, "scheme": "HTTP"}
    assert not {"livenessProbe", "readinessProbe", "ports"} & main.keys(), "the operator's own stay"


def test_shared_memory_is_ours_alone() -> None:
    worker = dynamo.components(dynamo.SHAPES["one node"])["worker"]
    assert worker["sharedMemorySize"] == "0"
    assert {"name": "dshm", "emptyDir": {"medium": "Memory", "sizeLimit": "64Gi"}} in worker["podTemplate"]["spec"][
        "volumes"
    ]


def test_weights_on_a_volume_are_mounted_where_the_frontend_reads_the_tokenizer_too() -> None:
    found = dynamo.components(dynamo.SHAPES["weights on a volume"])
    for component in found.values():
        spec = component["podTemplate"]["spec"]
        assert {"name": "model-weights", "persistentVolumeClaim": {"claimName": "weights", "readOnly": True}} in spec[
            "volumes"
        ]
        mount = next(one for one in dynamo.main(component)["volumeMounts"] if one["name"] == "model-weights")
        assert mount == {"name": "model-weights", "mountPath": "/mnt/models", "readOnly": True, "subPath": "llama/8b"}
    assert ("--model", "/mnt/models") in dynamo.pairs(dynamo.args(dynamo.SHAPES["weights on a volume"]))


def test_sidecars_stay_and_the_engine_comes_first() -> None:
    template = dynamo.template()
    template["spec"]["containers"].insert(0, {"name": "log", "image": "busybox"})
    component = dynamo.components(dynamo.replica(dynamo.role(pod_template=template)))["worker"]
    assert [one["name"] for one in component["podTemplate"]["spec"]["containers"]] == ["main", "log"]


def test_a_version_that_the_tag_does_not_tell_is_declared_for_both() -> None:
    metadata = {"annotations": {capability.VERSION_ANNOTATION: "1.6.1"}}
    template = dynamo.template(image="registry.example.com/mine@sha256:" + "0" * 64, metadata=metadata)
    found = dynamo.components(dynamo.replica(dynamo.role(pod_template=template)))
    assert {one["runtimeVersionOverride"] for one in found.values()} == {"1.6.1"}
    plain = dynamo.components(dynamo.replica())
    assert not any("runtimeVersionOverride" in one for one in plain.values())


@dynamo.every_shape
def test_nothing_of_the_cluster_is_in_the_name(replica: Replica) -> None:
    facts = dataclasses.replace(kserve.FACTS, pool_node_selector={"h100": {"other": "labels"}})
    assert dynamo.workload(replica, facts)["metadata"]["name"] == dynamo.workload(replica)["metadata"]["name"]
    assert json.dumps(dynamo.workload(replica, facts))


def test_devices_beside_the_engines_are_claimed_with_them() -> None:
    role = dynamo.role(
        devices=(replicas.device(count=1), replicas.device("nic", device_class="dra.net", driver="dra.net"))
    )
    manifests = dynamo.rendered(dynamo.replica(role))
    (template,) = (one.resource for one in manifests.values() if one.resource["kind"] == "ResourceClaimTemplate")
    assert [one["name"] for one in template["spec"]["spec"]["devices"]["requests"]] == ["gpu", "nic"]
