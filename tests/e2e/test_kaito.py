"""A replica's InferenceSet given to KAITO's controllers: it comes up, scales, is replaced on a change, fails, and goes.

The engine does not run: kwok runs the pods.
Source: KAITO v0.11.0, built from its module and run as a process, for nodes that are there already.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pytest

from modelplane.render.backends import kaito
from modelplane.render.progress import Phase
from modelplane.workload.model import Replica, Role
from modelplane.workload.site import ClusterFacts
from tests.e2e import handed
from tests.e2e.handed import NAMESPACE, SECONDS
from tests.support import controlplane, kubeapi, replicas
from tests.support import kaito as shapes

Document = dict[str, Any]

pytestmark = pytest.mark.slow

FACTS = ClusterFacts("kaito", "modelplane", "modelplane-system", pool_node_selector={"l40s": {}})
REPLICA = shapes.replica(replicas.role(workers=3, pool="l40s"))
OPERATOR = handed.To(kaito, FACTS, shapes.key)
SET = "inferenceset.kaito.sh/created-by"
# What KAITO makes for a member, and what it makes for itself.
MADE = (
    ("kaito.sh/v1beta1", "InferenceSet"),
    ("kaito.sh/v1beta1", "Workspace"),
    ("apps/v1", "StatefulSet"),
    ("apps/v1", "ControllerRevision"),
    ("v1", "Pod"),
    ("resource.k8s.io/v1", "ResourceClaim"),
)


@pytest.fixture(scope="module")
def plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[controlplane.Plane]:
    yield from handed.running(tmp_path_factory, "kaito", "kaito")


def _members(plane: controlplane.Plane, document: Document) -> list[Document]:
    return plane.api.all_of("kaito.sh/v1beta1", "Workspace", NAMESPACE, f"{SET}={document['metadata']['name']}")


def _await_pods(plane: controlplane.Plane, document: Document, count: int) -> dict[str, Document]:
    """Return the pods of a set by their uid, once there are so many."""
    pods = kubeapi.until(
        lambda: plane.api.all_of("v1", "Pod", NAMESPACE, f"{SET}={document['metadata']['name']}"),
        seconds=SECONDS, what=f"{count} pods", enough=lambda found: len(found) == count,
    )  # fmt: skip
    return {pod["metadata"]["uid"]: pod for pod in pods}


def _await_nothing(plane: controlplane.Plane) -> None:
    for version, kind in MADE:
        kubeapi.until(
            lambda version=version, kind=kind: plane.api.all_of(version, kind, NAMESPACE),  # type: ignore[misc]
            seconds=SECONDS, what=f"no {kind}", enough=lambda left: not left,
        )  # fmt: skip
    kubeapi.until(
        lambda: [one["metadata"]["name"] for one in plane.api.all_of("v1", "Service", NAMESPACE)],
        seconds=SECONDS, what="no Service of KAITO's", enough=lambda left: all(one.endswith("-http") for one in left),
    )  # fmt: skip


def _flagged(replica: Replica, *flags: str) -> Replica:
    (bound,) = replica.roles
    template = replicas.template(engine={"args": list(flags)})
    return replace(replica, roles=(replace(bound, spec=replace(bound.spec, template=template)),))


def test_it_runs_scales_in_place_is_replaced_on_a_change_and_leaves_nothing(plane: controlplane.Plane) -> None:
    document = OPERATOR.apply(plane, REPLICA)
    found = OPERATOR.until(plane, REPLICA, document, Phase.RUNNING)
    assert found.workers == {Role.DECODE: 3}
    before = _await_pods(plane, document, 3)
    _check_pods(plane, before, "l40s")
    _check_served(plane, before)

    # More workers, then fewer: those that stay are the same pods.
    larger = handed.workers(REPLICA, 5)
    assert OPERATOR.apply(plane, larger)["metadata"]["name"] == document["metadata"]["name"]
    OPERATOR.until(plane, larger, document, Phase.RUNNING)
    grown = _await_pods(plane, document, 5)
    assert before.keys() < grown.keys()
    fewer = handed.workers(REPLICA, 2)
    OPERATOR.apply(plane, fewer)
    left = _await_pods(plane, document, 2)
    assert left.keys() < grown.keys()
    assert OPERATOR.until(plane, fewer, document, Phase.RUNNING).workers == {Role.DECODE: 2}
    _check_served(plane, left)

    # Other flags are another set; the Service follows.
    flagged = _flagged(fewer, "--max-num-seqs=8")
    other = OPERATOR.apply(plane, flagged)
    assert other["metadata"]["name"] != document["metadata"]["name"]
    plane.api.delete(document)
    OPERATOR.until(plane, flagged, other, Phase.RUNNING)
    pods = _await_pods(plane, other, 2)
    assert all("--max-num-seqs=8" in pod["spec"]["containers"][0]["args"] for pod in pods.values())
    _check_pods(plane, pods, "l40s")
    _check_served(plane, pods)

    plane.api.delete(other)
    _await_nothing(plane)


def _check_pods(plane: controlplane.Plane, pods: Mapping[str, Document], pool: str) -> None:
    """Each pod runs on a node of its pool, where its claim is allocated, with what we wrote for it."""
    for pod in pods.values():
        node = pod["spec"]["nodeName"]
        assert f"-{pool}-" in node
        (status,) = pod["status"]["resourceClaimStatuses"]
        claim = plane.api.get("resource.k8s.io/v1", "ResourceClaim", status["resourceClaimName"], NAMESPACE)
        assert claim is not None
        (result,) = claim["status"]["allocation"]["devices"]["results"]
        assert result["pool"].startswith(f"{node}-")
        ours = shapes.pod(REPLICA, FACTS)["spec"]
        (engine,) = pod["spec"]["containers"]
        for key in ("startupProbe", "readinessProbe", "livenessProbe", "resources", "lifecycle"):
            assert ours["containers"][0][key].items() <= engine[key].items(), key
        assert [one for one in ours["tolerations"] if one not in pod["spec"]["tolerations"]] == []
        assert pod["spec"]["terminationGracePeriodSeconds"] == ours["terminationGracePeriodSeconds"]


def _check_served(plane: controlplane.Plane, pods: Mapping[str, Document]) -> None:
    """Our Service leads to every pod, on KAITO's port."""
    selector = f"kubernetes.io/service-name={REPLICA.name}-http"

    def served() -> set[tuple[str, int]]:
        slices = plane.api.all_of("discovery.k8s.io/v1", "EndpointSlice", NAMESPACE, selector)
        return {
            (one["targetRef"]["uid"], port["port"])
            for found in slices for one in found.get("endpoints") or () if one["conditions"]["ready"]
            for port in found["ports"]
        }  # fmt: skip

    wanted = {(uid, 5000) for uid in pods}
    kubeapi.until(served, seconds=SECONDS, what="endpoints of every pod", enough=lambda found: found == wanted)


def test_the_longest_name_leads_to_pods(plane: controlplane.Plane) -> None:
    """The pods of a StatefulSet carry its revision as a label, which is the longest text made from our name."""
    replica = shapes.replica(replicas.role(pool="l40s"), name="a" * 33 + "-12")
    document = OPERATOR.apply(plane, replica)
    OPERATOR.until(plane, replica, document, Phase.RUNNING)
    (pod,) = _await_pods(plane, document, 1).values()
    assert 60 <= max(len(value) for value in pod["metadata"]["labels"].values()) <= 63
    plane.api.delete(document)
    _await_nothing(plane)


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda pod: pod["containers"][0].update(image="vllm/vllm-openai:v0.24.0"), id="another image"),
        pytest.param(lambda pod: pod["containers"][0].update(args=["other"]), id="other flags"),
    ],
)
def test_a_change_of_pods_under_the_same_name_would_be_ignored(
    plane: controlplane.Plane, change: Callable[[Document], None]
) -> None:
    """The reason why the name of a set follows from its pods: only a member that is made later has the change."""
    replica = handed.workers(REPLICA, 1)
    document = OPERATOR.apply(plane, replica)
    OPERATOR.until(plane, replica, document, Phase.RUNNING)
    before = _await_pods(plane, document, 1)
    changed = copy.deepcopy(document)
    change(changed["spec"]["template"]["inference"]["template"]["spec"])
    changed["spec"]["replicas"] = 2
    plane.api.apply(changed)
    after = _await_pods(plane, document, 2)
    assert before.keys() < after.keys()
    assert len({str(pod["spec"]["containers"][0]) for pod in map(_without_mounts, after.values())}) == 2
    plane.api.delete(document)
    _await_nothing(plane)


def _without_mounts(pod: Document) -> Document:
    """Return a pod without what differs between any two: the mount of its token."""
    bare = copy.deepcopy(pod)
    bare["spec"]["containers"][0].pop("volumeMounts")
    return bare


def test_a_deployment_of_a_members_name_is_lost(plane: controlplane.Plane) -> None:
    """The reason why no name of ours may be that of a member."""
    replica = handed.workers(REPLICA, 1)
    document = OPERATOR.apply(plane, replica)
    OPERATOR.until(plane, replica, document, Phase.RUNNING)
    (member,) = _members(plane, document)
    labels = {"app": "somebodys"}
    container = {"name": "main", "image": "registry.example.com/app:1"}
    deployment: Document = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": member["metadata"]["name"], "namespace": NAMESPACE},
        "spec": {
            "replicas": 0,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": [container]}},
        },
    }
    plane.api.apply(deployment)
    member["metadata"].setdefault("annotations", {})["example.com/touched"] = "true"
    for key in ("managedFields", "resourceVersion"):
        member["metadata"].pop(key, None)
    member.pop("status", None)
    plane.api.apply(member)
    kubeapi.until(
        lambda: plane.api.get("apps/v1", "Deployment", deployment["metadata"]["name"], NAMESPACE),
        seconds=SECONDS, what="the Deployment gone", enough=lambda found: found is None,
    )  # fmt: skip
    plane.api.delete(document)
    _await_nothing(plane)


def test_a_worker_that_cannot_start_is_counted_and_its_reason_can_be_found(plane: controlplane.Plane) -> None:
    """A template that no StatefulSet takes: our check refuses it, so it is written past it here."""
    document = handed.plain(shapes.workload(handed.workers(REPLICA, 2), FACTS))
    document["spec"]["template"]["inference"]["template"]["spec"]["containers"][0]["volumeMounts"] = [
        {"name": "nowhere", "mountPath": "/nowhere"}
    ]
    plane.api.apply(document)
    replica = handed.workers(REPLICA, 2)
    found = kubeapi.until(
        lambda: OPERATOR.judged(plane, replica, document),
        seconds=SECONDS, what="a count", enough=lambda one: "0 of 2 decode workers" in one.workload.message,
    )  # fmt: skip
    assert found.phase is Phase.STARTING
    hint = found.workload.message
    selector = hint.partition(" -l ")[2].partition(";")[0]
    cause = 'volumeMounts[0].name: Not found: "nowhere"'

    def tell_why(members: list[Document]) -> bool:
        return len(members) == 2 and all(cause in str(one.get("status")) for one in members)

    kubeapi.until(
        lambda: plane.api.all_of("kaito.sh/v1beta1", "Workspace", NAMESPACE, selector),
        seconds=SECONDS, what="the reason in both members", enough=tell_why,
    )  # fmt: skip
    plane.api.delete(document)
    _await_nothing(plane)


def test_without_a_node_of_its_pool_it_waits(plane: controlplane.Plane) -> None:
    nowhere = ClusterFacts("kaito", "modelplane", "modelplane-system", pool_node_selector={"l40s": {"no": "node"}})
    replica = handed.workers(REPLICA, 1)
    document = handed.plain(shapes.workload(replica, nowhere))
    plane.api.apply(document)
    (member,) = kubeapi.until(
        lambda: _members(plane, document),
        seconds=SECONDS, what="the reason", enough=lambda some: "Not enough Nodes are ready" in str(some),
    )  # fmt: skip
    assert member["status"]["state"] == "Pending"
    assert OPERATOR.judged(plane, replica, document).phase is Phase.STARTING
    plane.api.delete(document)
    _await_nothing(plane)


@dataclass(frozen=True)
class Labelled:
    """The labels that feature discovery gives nodes, and what KAITO makes of a preset there, for one worker."""

    devices: str
    megabytes: str
    pods: int
    flag: str

    @property
    def labels(self) -> dict[str, str]:
        product = {"product": "NVIDIA-L40S", "count": self.devices, "memory": self.megabytes}
        return {f"nvidia.com/gpu.{key}": value for key, value in product.items()}


WHOLE = Labelled("4", "46068", 1, "--data-parallel-size=4")
FEWER = Labelled("2", "46068", 1, "--data-parallel-size=2")
SMALL = Labelled("1", "8192", 2, "--pipeline-parallel-size=2")


@pytest.mark.parametrize(
    "node",
    [
        pytest.param(WHOLE, id="all devices of a node"),
        pytest.param(FEWER, id="as many devices as a label says"),
        pytest.param(SMALL, id="as many nodes as the model needs"),
    ],
)
def test_a_preset_takes_what_labels_and_catalogue_say(plane: controlplane.Plane, node: Labelled) -> None:
    """A reason why no preset is rendered: its size is not the author's, and `nodeCountLimit` does not bound it."""
    _label(plane, [node] * 3)
    _check_preset(plane, {}, node)


def test_a_selector_holds_a_preset_to_nodes_with_its_labels(plane: controlplane.Plane) -> None:
    """Of three nodes one is chosen by its labels, whatever those of the others say."""
    for number in range(3):
        nodes = [FEWER, FEWER]
        nodes.insert(number, WHOLE)
        _label(plane, nodes)
        _check_preset(plane, WHOLE.labels, WHOLE)


def _label(plane: controlplane.Plane, nodes: Sequence[Labelled]) -> None:
    """Label the nodes of the pool, in the order of their names."""
    found = sorted(one["metadata"]["name"] for one in plane.api.all_of("v1", "Node", None, "modelplane.ai/pool=l40s"))
    for name, node in zip(found, nodes, strict=True):
        metadata = {"name": name, "labels": node.labels}
        plane.api.apply({"apiVersion": "v1", "kind": "Node", "metadata": metadata})


def _check_preset(plane: controlplane.Plane, selector: Mapping[str, str], wanted: Labelled) -> None:
    """Check what KAITO makes of one worker of a preset, and that no list of our replicas' pods would have its pods."""
    document = handed.plain(shapes.workload(handed.workers(REPLICA, 1), FACTS))
    document["metadata"]["name"] = "preset"
    spec = document["spec"]
    spec["nodeCountLimit"] = 1
    spec["labelSelector"]["matchLabels"].update(selector)
    spec["template"]["inference"] = {"preset": {"name": "microsoft/phi-4-mini-instruct"}}
    plane.api.apply(document)
    (made,) = kubeapi.until(
        lambda: plane.api.all_of("apps/v1", "StatefulSet", NAMESPACE), seconds=SECONDS, what="KAITO's StatefulSet"
    )
    assert spec["template"]["metadata"]["labels"]["modelplane.ai/replica"] == REPLICA.name
    assert "modelplane.ai/replica" not in made["spec"]["template"]["metadata"]["labels"]
    assert made["spec"]["replicas"] == wanted.pods
    (engine,) = made["spec"]["template"]["spec"]["containers"]
    assert engine["resources"]["limits"] == {"nvidia.com/gpu": wanted.devices}
    assert wanted.flag in str(engine["command"])
    plane.api.delete(document)
    _await_nothing(plane)
