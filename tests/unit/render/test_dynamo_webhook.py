"""The graphs of Dynamo, held to its webhook and to the names that its operator derives from theirs.

Sources of the rules: deploy/operator of ai-dynamo/dynamo 1.6 (api/v1beta1, internal/webhook/validation).
"""

from __future__ import annotations

import dataclasses
import itertools
import re
from typing import Any

import pytest

from modelplane.render.backends.dynamo import naming
from modelplane.topology.shape import Topology
from modelplane.workload.model import EngineType, Replica, Role
from tests.support import dynamo, kserve

Json = Any

_COMPONENT = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9]*[A-Za-z0-9])?\Z")
_OVERRIDE = re.compile(r"(0|[1-9][0-9]{0,3})(\.(0|[1-9][0-9]{0,3})){2}\Z")


@dynamo.every_shape
def test_the_webhook_has_nothing_to_refuse(replica: Replica) -> None:
    """validateDynamoGraphDeploymentSpec and validateDynamoComponentDeploymentSharedSpec, as far as they concern us."""
    spec = dynamo.workload(replica)["spec"]
    assert spec["backendFramework"] in ("vllm", "sglang", "trtllm")
    assert not {"restart", "priorityClassName", "topologyConstraint", "experimental"} & spec.keys()
    parts = spec["components"]
    assert 1 <= len(parts) <= 25
    assert len({one["name"].lower() for one in parts}) == len(parts)
    for one in parts:
        assert _COMPONENT.match(one["name"])
        assert len(one["name"]) <= 63
        assert one["type"] in ("frontend", "worker", "prefill", "decode")
        assert one["replicas"] >= 0
        assert one.get("multinode", {"nodeCount": 2})["nodeCount"] >= 2
        assert "multinode" not in one or one["type"] != "frontend"
        assert not {"minAvailable", "scalingAdapter", "eppConfig", "frontendSidecar"} & one.keys()
        assert dynamo.main(one)["image"]
        assert _OVERRIDE.match(one.get("runtimeVersionOverride", "1.6.1"))


@pytest.mark.parametrize(
    "changed",
    [
        pytest.param({"topology": kserve.GANG}, id="several nodes for one"),
        pytest.param({"apart": True}, id="other components"),
        pytest.param({"engine": EngineType.SGLANG}, id="another framework"),
    ],
)
def test_what_the_webhook_refuses_to_change_is_another_graph(changed: Json) -> None:
    """ "component topology is immutable", "cannot change node topology", backendFramework "is immutable"."""
    engine = changed.get("engine", EngineType.VLLM)
    roles = [dynamo.role(engine=engine, topology=changed.get("topology"))]
    if "apart" in changed:
        roles.append(dynamo.role(Role.PREFILL))
    before, after = dynamo.replica(), dynamo.replica(*roles, engine=engine)
    assert dynamo.key(after) != dynamo.key(before)
    assert dynamo.workload(after)["metadata"]["name"] != dynamo.workload(before)["metadata"]["name"]


@pytest.mark.parametrize(
    "role",
    [
        pytest.param(dynamo.role(workers=9), id="workers"),
        pytest.param(dynamo.role(topology=Topology(tensor=4)), id="sizes"),
        pytest.param(
            dynamo.role(pod_template=dynamo.template(image=f"{dynamo.REGISTRY}/vllm-runtime:1.7.0")), id="image"
        ),
    ],
)
def test_what_may_change_is_changed_in_place(role: Any) -> None:
    before, after = dynamo.replica(), dynamo.replica(role)
    assert dynamo.key(after) == dynamo.key(before)
    assert dynamo.workload(after)["metadata"]["name"] == dynamo.workload(before)["metadata"]["name"]
    assert dynamo.workload(after) != dynamo.workload(before)


@dynamo.every_shape
@pytest.mark.parametrize(
    ("namespace", "name"),
    [
        pytest.param("ml-team", "llama-0", id="short"),
        pytest.param("n" * 26, "r" * 36, id="long"),
        pytest.param("n" * naming.NAMESPACE_MAX, "r" * 36, id="the longest"),
        pytest.param("n" * naming.NAMESPACE_MAX, "a", id="the longest namespace"),
    ],
)
def test_names_fit_what_the_operator_derives_from_them(replica: Replica, namespace: str, name: str) -> None:
    replica = dataclasses.replace(replica, namespace=namespace, name=name)
    graph = dynamo.workload(replica)["metadata"]["name"]
    assert len(f"{namespace}-{graph}") <= 63, "the label nvidia.com/dynamo-namespace"
    assert len(f"{graph}-k8s-service-discovery") <= 63, "the service account of discovery, in a label"
    for component in dynamo.components(replica).values():
        generation = f"{graph}-{component['name']}-{'f' * 8}"
        assert len(generation) <= 63, "a DynamoComponentDeployment, its Deployment and Service"
        if "multinode" in component:
            revision = f"{generation}-0-{'9' * 3}-{'f' * 10}"
            assert len(revision) <= 63, "controller-revision-hash of a gang's workers"
    assert dynamo.rendered(replica)["route"].resource["spec"]["rules"][0]["backendRefs"] == [
        {"group": "", "kind": "Service", "name": f"{graph}-frontend", "port": 8000}
    ]


def test_two_replicas_never_have_one_graph() -> None:
    """Not by a long name that is cut, nor by one that ends as the digest of another does."""
    graphs = set()
    plain = dynamo.workload(dynamo.replica())["metadata"]["name"]
    every = [plain[: -len("-12345")], plain, "r" * 36, "r" * 35 + "s", *(f"{'r' * 30}-{n}" for n in range(9))]
    for name, shape in itertools.product(every, (dynamo.role(), dynamo.role(topology=kserve.GANG))):
        graphs.add(dynamo.workload(dynamo.replica(shape, name=name))["metadata"]["name"])
    assert len(graphs) == 2 * len(every)
