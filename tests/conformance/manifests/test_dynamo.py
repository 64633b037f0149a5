"""Graphs of every shape before an API server with Dynamo's definition and rules, and changes of one to another."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from modelplane.topology.shape import Topology
from modelplane.workload.model import EngineType, Replica, Role
from tests.conformance.manifests.judge import refusal
from tests.conformance.scheduler import hardware
from tests.support import controlplane, dynamo, installation, kserve, kubeapi

Json = Any
GRAPH = ("nvidia.com/v1beta1", "DynamoGraphDeployment")


@dynamo.every_shape
def test_a_graph_of_every_shape_is_accepted_down_to_its_pods(plane: controlplane.Plane, replica: Replica) -> None:
    installation.namespace(plane, replica.namespace)
    metadata = {"name": "default", "namespace": replica.namespace}
    plane.api.apply({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata})
    for manifest in dynamo.rendered(replica).values():
        words = refusal(plane, dict(manifest.resource))
        assert words is None, words
    pods = list(hardware.pods(dict(dynamo.workload(replica)), "here"))
    assert len(pods) == 1 + sum(bound.spec.pods for bound in replica.roles)
    for pod in pods:
        words = refusal(plane, pod)
        assert words is None, words


@pytest.mark.parametrize(
    ("change", "says"),
    [
        pytest.param(lambda spec: spec.update(backend="vllm"), "spec.backend", id="an unknown field"),
        pytest.param(lambda spec: spec["components"][1].update(args=[]), ".args", id="a field of v1alpha1"),
        pytest.param(lambda spec: spec.update(backendFramework="ollama"), "Unsupported value", id="a framework"),
        pytest.param(lambda spec: spec["components"][1].update(type="engine"), "Unsupported value", id="a type"),
        pytest.param(
            lambda spec: spec["components"][1].update(multinode={"nodeCount": 1}),
            "greater than or equal to 2",
            id="one node",
        ),
        pytest.param(lambda spec: spec["components"][1].update(name="Frontend"), "unique", id="names by case"),
        pytest.param(lambda spec: spec["components"][1].update(name="a_b"), "should match", id="a name"),
        pytest.param(lambda spec: spec.update(restart={"id": "1"}), "unset on create", id="a restart"),
        pytest.param(
            lambda spec: spec["components"][1].update(runtimeVersionOverride="v1.6.1"), "should match", id="a version"
        ),
        pytest.param(
            lambda spec: dynamo_main(spec).update(resources={"claim": []}),
            ".claim",
            id="within the pod",
        ),
    ],
)
def test_the_definition_refuses(plane: controlplane.Plane, change: Any, says: str) -> None:
    """The judge is strict: without this the others would show nothing."""
    graph = copy.deepcopy(dict(dynamo.workload(dynamo.SHAPES["one node"])))
    change(graph["spec"])
    words = refusal(plane, graph)
    assert words is not None
    assert says in words


def dynamo_main(spec: Json) -> Json:
    """Return the container of the first worker in which Dynamo runs."""
    return dynamo.main(spec["components"][1])


CHANGES = {
    "more workers": dynamo.replica(dynamo.role(workers=7)),
    "other sizes": dynamo.replica(dynamo.role(topology=Topology(tensor=4))),
    "another image": dynamo.replica(dynamo.role(pod_template=dynamo.template(f"{dynamo.REGISTRY}/vllm-runtime:1.7.0"))),
    "several nodes": dynamo.replica(dynamo.role(topology=kserve.GANG)),
    "prefill apart": dynamo.replica(dynamo.role(), dynamo.role(Role.PREFILL)),
    "another engine": dynamo.replica(dynamo.role(engine=EngineType.SGLANG), engine=EngineType.SGLANG),
}


@pytest.mark.parametrize("after", CHANGES.values(), ids=CHANGES)
def test_every_change_of_a_running_replica_is_taken(plane: controlplane.Plane, after: Replica) -> None:
    """One that an update could not make is another object, and takes no other's name."""
    before = dict(dynamo.workload(dynamo.replica()))
    installation.namespace(plane, "ml-team")
    plane.api.apply(before)
    try:
        plane.api.apply(dict(dynamo.workload(after)), dry_run=True)
    finally:
        plane.api.delete(before)


def test_the_type_of_a_component_never_changes(plane: controlplane.Plane) -> None:
    """The rule that a name for each shape avoids."""
    before = copy.deepcopy(dict(dynamo.workload(dynamo.replica())))
    installation.namespace(plane, "ml-team")
    plane.api.apply(before)
    try:
        after = copy.deepcopy(before)
        after["spec"]["components"][1]["type"] = "decode"
        with pytest.raises(kubeapi.Refused, match="type is immutable"):
            plane.api.apply(after, dry_run=True)
    finally:
        plane.api.delete(before)
