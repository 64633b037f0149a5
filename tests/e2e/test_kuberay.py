"""A replica's RayService given to KubeRay's operator: it comes up, changes in place, fails with Ray's words, and goes.

Ray does not run: a stand-in answers the operator for the heads' dashboards (`ray_dashboard`), and kwok runs the pods.
Source: KubeRay v1.6.2, built from its module and run as a process.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from modelplane.render.backends import kuberay
from modelplane.render.progress import Phase
from modelplane.topology.shape import Topology
from modelplane.workload.model import Model, Replica, Role
from modelplane.workload.site import ClusterFacts
from tests.e2e import handed, ray_dashboard
from tests.e2e.handed import NAMESPACE, SECONDS
from tests.support import controlplane, kubeapi
from tests.support import kuberay as shapes

Document = dict[str, Any]

pytestmark = pytest.mark.slow

FACTS = ClusterFacts("ray", "modelplane", "modelplane-system", pool_node_selector={"h100": {}})
REPLICA = shapes.replica(shapes.role(workers=2, topology=Topology(pipeline=2)))
OPERATOR = handed.To(kuberay, FACTS, shapes.key)


@pytest.fixture(scope="module")
def plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[controlplane.Plane]:
    yield from handed.running(tmp_path_factory, "kuberay", "ray")


def _pods(plane: controlplane.Plane, replica: Replica) -> list[Document]:
    return plane.api.all_of("v1", "Pod", NAMESPACE, f"modelplane.ai/replica={replica.name}")


def _await_pods(plane: controlplane.Plane, replica: Replica, count: int) -> list[Document]:
    return kubeapi.until(
        lambda: _pods(plane, replica), seconds=SECONDS, what=f"{count} pods", enough=lambda found: len(found) == count
    )


def test_it_runs_scales_changes_its_flags_and_leaves_nothing(plane: controlplane.Plane) -> None:
    replica = REPLICA
    service = OPERATOR.apply(plane, replica)
    found = OPERATOR.until(plane, replica, service, Phase.RUNNING)
    assert found.workers == {Role.DECODE: 2}
    before = _await_pods(plane, replica, 1 + 4)
    _check_claims(plane, before)
    cluster = OPERATOR.seen(plane, service)["status"]["activeServiceStatus"]["rayClusterName"]

    # Other flags: the same pods and the same Ray cluster.
    (bound,) = replica.roles
    template = shapes.template(engine={"args": ["--max-num-seqs=8"]})
    flagged = replace(replica, roles=(replace(bound, spec=replace(bound.spec, template=template)),))
    assert OPERATOR.apply(plane, flagged)["metadata"]["name"] == service["metadata"]["name"]
    OPERATOR.until(plane, flagged, service, Phase.RUNNING)
    assert {pod["metadata"]["uid"] for pod in _pods(plane, flagged)} == {pod["metadata"]["uid"] for pod in before}
    assert OPERATOR.seen(plane, service)["status"]["activeServiceStatus"]["rayClusterName"] == cluster

    # A gang more is another object.
    larger = handed.workers(flagged, 3)
    plane.api.delete(service)
    service = OPERATOR.apply(plane, larger)
    OPERATOR.until(plane, larger, service, Phase.RUNNING)
    _check_claims(plane, _await_pods(plane, larger, 1 + 6))

    plane.api.delete(service)
    _await_pods(plane, replica, 0)
    for kind in ("RayService", "RayCluster"):
        kubeapi.until(
            lambda kind=kind: plane.api.all_of("ray.io/v1", kind, NAMESPACE),  # type: ignore[misc]
            seconds=SECONDS, what=f"no {kind}", enough=lambda left: not left,
        )  # fmt: skip
    kubeapi.until(
        lambda: plane.api.all_of("resource.k8s.io/v1", "ResourceClaim", NAMESPACE),
        seconds=SECONDS, what="no claim", enough=lambda left: not left,
    )  # fmt: skip


def _check_claims(plane: controlplane.Plane, pods: list[Document]) -> None:
    """Each worker has its claim allocated on the node it runs on, and no two of one gang share a node."""
    nodes: dict[str, list[str]] = {}
    for pod in pods:
        labels, node = pod["metadata"]["labels"], pod["spec"].get("nodeName")
        if labels["ray.io/node-type"] == "head":
            assert "resourceClaims" not in pod["spec"]
            continue
        (status,) = pod["status"]["resourceClaimStatuses"]
        claim = plane.api.get("resource.k8s.io/v1", "ResourceClaim", status["resourceClaimName"], NAMESPACE)
        assert claim is not None
        (result,) = claim["status"]["allocation"]["devices"]["results"]
        assert result["pool"].startswith(f"{node}-")
        nodes.setdefault(labels["ray.io/worker-group-replica-name"], []).append(node)
    assert {len(set(one)) for one in nodes.values()} == {2}


def test_what_ray_says_of_an_engine_that_fails_is_told(plane: controlplane.Plane) -> None:
    replica = shapes.replica(name="fails-0", model=Model("m", f"hf://{ray_dashboard.MISSING}m"))
    service = OPERATOR.apply(plane, replica)
    found = OPERATOR.until(plane, replica, service, Phase.FAILED)
    assert ray_dashboard.REASON in found.workload.message
    # What fails can be mended in place.
    mended = replace(replica, model=Model("m", "hf://somebody/m"))
    OPERATOR.apply(plane, mended)
    OPERATOR.until(plane, mended, service, Phase.RUNNING)
    plane.api.delete(service)
    _await_pods(plane, replica, 0)


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda group: group.update(replicas=2, minReplicas=2, maxReplicas=2), id="another count"),
        pytest.param(
            lambda group: group["template"]["spec"]["containers"][0].update(image="rayproject/ray-llm:2.61.0"),
            id="another image",
        ),
    ],
)
def test_a_change_of_pods_under_the_same_name_would_be_ignored(plane: controlplane.Plane, change: Any) -> None:
    """The reason why the name of a RayService follows from its pods and their number."""
    replica = shapes.replica(name="same-0")
    service = OPERATOR.apply(plane, replica)
    OPERATOR.until(plane, replica, service, Phase.RUNNING)
    before = {pod["metadata"]["uid"] for pod in _pods(plane, replica)}
    changed = copy.deepcopy(service)
    change(changed["spec"]["rayClusterConfig"]["workerGroupSpecs"][0])
    plane.api.apply(changed)
    kubeapi.until(
        lambda: OPERATOR.seen(plane, service),
        seconds=SECONDS, what="the change observed",
        enough=lambda one: one["status"]["observedGeneration"] == one["metadata"]["generation"],
    )  # fmt: skip
    assert {pod["metadata"]["uid"] for pod in _pods(plane, replica)} == before
    plane.api.delete(service)
    _await_pods(plane, replica, 0)


@pytest.mark.parametrize(
    ("timeout", "name", "says"),
    [
        pytest.param("1s", "", "KubeRay has abandoned it; delete ModelReplica late-0", id="given up"),
        pytest.param("", "a" * 48, "name should be no more than 47 characters", id="a name that is too long"),
    ],
)
def test_what_the_operator_refuses_for_good_is_told(
    plane: controlplane.Plane, timeout: str, name: str, says: str
) -> None:
    replica = shapes.replica(shapes.role(pool="h100", workers=100), name="late-0")
    service = handed.plain(shapes.workload(replica, FACTS))
    if timeout:
        service["metadata"]["annotations"]["ray.io/initializing-timeout"] = timeout
    service["metadata"]["name"] = name or service["metadata"]["name"]
    plane.api.apply(service)
    found = OPERATOR.until(plane, replica, service, Phase.FAILED)
    assert says in found.workload.message
    plane.api.delete(service)
    _await_pods(plane, replica, 0)
