"""Pods and what they claim: what is added to what the author wrote, and what stays."""

from __future__ import annotations

from typing import Any

import pytest

from modelplane.devices.model import Claim, Constraint
from modelplane.render import claims
from modelplane.topology.shape import Topology
from modelplane.workload.site import ClusterFacts
from tests.support import kserve as shapes
from tests.support import replicas as build

# --- pods -------------------------------------------------------------------------------------------------------------


def test_pods_are_pinned_tolerated_and_packed() -> None:
    template = shapes.service(shapes.SHAPES["one node"])["template"]
    assert template["nodeSelector"] == {"cloud.google.com/gke-nodepool": "h100"}
    assert {"key": "dedicated", "operator": "Exists", "effect": "NoExecute"} in template["tolerations"]
    assert {"key": "nvidia.com/gpu", "operator": "Equal", "value": "present", "effect": "NoSchedule"} in template[
        "tolerations"
    ]
    (preference,) = template["affinity"]["podAffinity"]["preferredDuringSchedulingIgnoredDuringExecution"]
    assert preference["podAffinityTerm"]["topologyKey"] == "kubernetes.io/hostname"
    assert preference["podAffinityTerm"]["namespaceSelector"] == {}


def test_a_pool_that_says_nothing_is_pinned_by_its_name() -> None:
    template = shapes.service(shapes.SHAPES["one node"], ClusterFacts("c", "g", "n"))["template"]
    assert template["nodeSelector"] == {"modelplane.ai/pool": "h100"}


def test_what_the_author_wrote_stays() -> None:
    engine = {
        "env": [{"name": "A", "value": "b"}],
        "resources": {"requests": {"cpu": "8"}},
        "startupProbe": {"failureThreshold": 7, "httpGet": {"path": "/ready", "port": 8000}},
        "volumeMounts": [{"name": "shm", "mountPath": "/dev/shm"}],
        "securityContext": {"runAsNonRoot": True},
        "ports": [{"containerPort": 9000, "name": "http"}],
    }
    pod = build.template(
        engine=engine,
        sidecars=({"name": "metrics", "image": "m:1"},),
        metadata={"labels": {"team": "a"}, "annotations": {"note": "n"}},
        terminationGracePeriodSeconds=600,
        volumes=[{"name": "shm", "emptyDir": {"medium": "Memory"}}],
        imagePullSecrets=[{"name": "pull"}],
    )
    spec = shapes.service(build.replica(build.role(pod_template=pod)))
    main = shapes.main(spec)
    assert main["env"] == [{"name": "A", "value": "b"}]
    assert main["resources"] == {"requests": {"cpu": "8"}, "claims": [{"name": "devices"}]}
    assert main["startupProbe"]["failureThreshold"] == 7
    assert main["startupProbe"]["httpGet"] == {"path": "/ready", "port": 8000}
    assert main["volumeMounts"] == [{"name": "shm", "mountPath": "/dev/shm"}]
    assert main["securityContext"] == {"runAsNonRoot": True, "readOnlyRootFilesystem": False}
    assert main["ports"] == [{"containerPort": 8000, "protocol": "TCP"}, {"containerPort": 9000, "name": "http"}]
    assert spec["template"]["containers"][1] == {"name": "metrics", "image": "m:1"}
    assert spec["template"]["terminationGracePeriodSeconds"] == 600
    assert spec["template"]["imagePullSecrets"] == [{"name": "pull"}]
    assert spec["labels"]["team"] == "a"
    assert spec["annotations"] == {"note": "n"}


@pytest.mark.parametrize(
    ("image", "given", "want"),
    [
        pytest.param("vllm/vllm-openai:v1", {}, {"runAsNonRoot": False}, id="runs as root"),
        pytest.param("vllm/vllm-openai:v1", {"runAsUser": 1000}, {"runAsUser": 1000}, id="a user is chosen"),
        pytest.param(
            "vllm/vllm-openai:v1", {"runAsUser": 0}, {"runAsUser": 0, "runAsNonRoot": False}, id="root chosen"
        ),
        pytest.param("ghcr.io/llm-d/llm-d-cuda:v0.8.0", {}, {}, id="runs as another user"),
    ],
)
def test_root_is_allowed_where_the_image_needs_it(image: str, given: dict[str, Any], want: dict[str, Any]) -> None:
    engine = {"securityContext": given} if given else {}
    main = shapes.main(shapes.service(build.replica(build.role(pod_template=build.template(image, engine=engine)))))
    assert main["securityContext"] == {**want, "readOnlyRootFilesystem": False}


@pytest.mark.parametrize("given", [{"runAsNonRoot": True}, {"runAsUser": 1000}])
def test_a_choice_for_the_whole_pod_is_a_choice(given: dict[str, Any]) -> None:
    spec = shapes.service(build.replica(build.role(pod_template=build.template(securityContext=given))))
    assert spec["template"]["securityContext"] == given
    assert "runAsNonRoot" not in shapes.main(spec)["securityContext"]


@pytest.mark.parametrize(
    ("devices", "budget"),
    [
        pytest.param(build.device(count=1), 155, id="one of 80 GB"),
        pytest.param(build.device(count=8), 394, id="eight of 80 GB"),
        pytest.param(build.device(count=8, memory_bytes=None), 395, id="unknown memory counts as 80 GiB"),
    ],
)
def test_the_start_budget_grows_with_the_memory_to_fill(devices: Any, budget: int) -> None:
    role = build.role(topology=Topology(tensor=devices.count), devices=(devices,))
    assert shapes.main(shapes.service(build.replica(role)))["startupProbe"]["failureThreshold"] == budget


# --- devices ----------------------------------------------------------------------------------------------------------


def test_only_what_a_driver_publishes_is_claimed() -> None:
    devices = (
        build.device("gpu", 8, selectors=("true", 'device.attributes["modelplane.ai"].network == "ib"')),
        build.device("nic", 8, driver="dra.net", device_class="rdma"),
        build.device("fabric", 1, claim=Claim.SYNTHETIC, driver="modelplane.ai"),
    )
    constraints = (
        Constraint("resource.kubernetes.io/pcieRoot", ("gpu", "nic")),
        Constraint("modelplane.ai/network", ("gpu",)),
        Constraint("a.example.com/x", ("fabric",)),
        Constraint("a.example.com/y", ("gpu", "fabric")),
        Constraint("a.example.com/z"),
    )
    role = build.role(topology=Topology(tensor=8), devices=devices, constraints=constraints)
    rendered = shapes.rendered(build.replica(role))
    (key,) = (key for key in rendered if key.startswith("claims-"))
    spec = rendered[key].resource["spec"]["spec"]["devices"]
    assert [request["name"] for request in spec["requests"]] == ["gpu", "nic"]
    assert spec["requests"][0]["exactly"]["selectors"] == [{"cel": {"expression": "true"}}]
    assert spec["requests"][1]["exactly"] == {"deviceClassName": "rdma", "allocationMode": "ExactCount", "count": 8}
    assert spec["constraints"] == [
        {"matchAttribute": "resource.kubernetes.io/pcieRoot", "requests": ["gpu", "nic"]},
        {"matchAttribute": "a.example.com/y", "requests": ["gpu"]},
        {"matchAttribute": "a.example.com/z"},
    ]


def test_device_plugins_become_limits_and_no_claim() -> None:
    role = build.role(devices=(build.device(count=2, claim=Claim.DEVICE_PLUGIN),))
    rendered = shapes.rendered(build.replica(role))
    template = rendered["workload"].resource["spec"]["template"]
    assert not [key for key in rendered if key.startswith("claims-")]
    assert template["containers"][0]["resources"] == {"limits": {"nvidia.com/gpu": "2"}}
    assert "resourceClaims" not in template


def test_kinds_of_device_that_one_plugin_counts_are_one_limit() -> None:
    kinds = [build.device(count=count, claim=Claim.DEVICE_PLUGIN, device=f"gpu-{count}") for count in (3, 2)]
    nic = build.device("nic", claim=Claim.DEVICE_PLUGIN, resource_name="example.com/nic")
    found = claims.limits(build.role(devices=(*kinds, nic)))
    assert found == {"example.com/nic": "1", "nvidia.com/gpu": "5"}


def test_a_claim_template_that_says_something_else_has_another_name() -> None:
    def name(selector: str) -> str:
        role = build.role(devices=(build.device(selectors=(selector,)),))
        rendered = shapes.rendered(build.replica(role))
        return next(str(m.resource["metadata"]["name"]) for key, m in rendered.items() if key.startswith("claims-"))

    assert name("true") == name("true") != name("1 == 1")
