"""What `explain` says would make a replica fit, written into the documents as it says, makes it fit.

Each case is a fleet without room for the last replica; the documents are files, the command runs twice, and the
change is made between by an independent reading of JSON Patch.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support import jsonpatch, quota_fleet, rendering
from tests.support import planning as given
from tests.support.edits import (
    GPU,
    HOPPER,
    Json,
    Objects,
    asking,
    both,
    cel,
    explained,
    expression,
    fleet,
    labelled,
    larger,
    memory,
    merge,
    one_gpu,
    pods,
    pool,
    spec,
    taint,
    with_devices,
)


def quota(limits: Json) -> Json:
    """Return a quota of the namespace of the deployment."""
    return quota_fleet.quota("team", limits=limits)


def two_kinds() -> Objects:
    """Return a deployment whose prefill role wants more than the nodes of either pool have."""
    objects = [document for document in rendering.example("disaggregated") if document["kind"] != "ModelService"]
    (deployment,) = (one for one in objects if one["kind"] == "ModelDeployment")
    deployment["spec"]["replicas"] = 2
    return objects


CASES: dict[str, tuple[str, Callable[[], Objects]]] = {
    "a label": ("LabelMismatch", lambda: fleet(md=spec(clusterSelector={"matchLabels": {"tier": "gold"}}))),
    "a label with another value": (
        "LabelMismatch",
        lambda: fleet(a=labelled("a", tier="tin"), md=spec(clusterSelector={"matchLabels": {"tier": "gold"}})),
    ),
    "two labels": (
        "LabelMismatch",
        lambda: fleet(md=spec(clusterSelector={"matchLabels": {"tier": "gold", "modelplane.ai/zone": "eu-1"}})),
    ),
    "a label of a list": ("LabelMismatch", lambda: fleet(md=expression("In", "gold", "silver"))),
    "a label whatever its value": ("LabelMismatch", lambda: fleet(md=expression("Exists"))),
    "a label that excludes": (
        "LabelMismatch",
        lambda: fleet(**both(labelled("x", tier="tin")), md=expression("NotIn", "tin")),
    ),
    "a label that must not be": (
        "LabelMismatch",
        lambda: fleet(**both(labelled("x", tier="tin")), md=expression("DoesNotExist")),
    ),
    "no labels at all": (
        "LabelMismatch",
        lambda: fleet(
            a={"metadata": {"labels": None}},
            b={"metadata": {"labels": {}}},
            md=spec(clusterSelector={"matchLabels": {"tier": "gold"}}),
        ),
    ),
    "a taint": ("UntoleratedTaint", lambda: fleet(**both(taint("NoSchedule", value="yes")))),
    "a taint without value": ("UntoleratedTaint", lambda: fleet(**both(taint("NoSchedule")))),
    "a drain": ("UntoleratedTaint", lambda: fleet(**both(taint("NoExecute", value="true")))),
    "a taint beside a toleration of another": (
        "UntoleratedTaint",
        lambda: fleet(**both(taint("NoSchedule")), md=spec(tolerations=[{"key": "x", "operator": "Exists"}])),
    ),
    "two taints": (
        "UntoleratedTaint",
        lambda: fleet(
            **both(spec(taints=[{"key": "one", "effect": "NoSchedule"}, {"key": "two", "effect": "NoExecute"}]))
        ),
    ),
    "a namespace": ("NamespaceNotAllowed", lambda: fleet(**both(spec(allowedNamespaces={"names": ["other"]})))),
    "a namespace by its labels": (
        "NamespaceNotAllowed",
        lambda: fleet(**both(spec(allowedNamespaces={"matchLabels": {"tier": "prod"}}))),
    ),
    "a quota of devices": (
        "QuotaExceeded",
        lambda: [*fleet(), quota({"devices": [{"name": "hopper", "selectors": [{"cel": HOPPER}], "count": 0}]})],
    ),
    "a quota of replicas and of devices": (
        "QuotaExceeded",
        lambda: [
            *fleet(),
            quota({"devices": [{"name": "h100", "className": "h100-8x", "count": 0}], "replicas": 0}),
        ],
    ),
    "a backend": ("BackendUnavailable", lambda: fleet(**both(spec(backends=["KubeRay"])), md=spec(backend="KServe"))),
    "memory a little too small": ("NoMatchingDevice", lambda: fleet(md=cel(memory("80Gi")))),
    "memory far too small": ("NoMatchingDevice", lambda: fleet(md=cel(memory("1Ti")))),
    "another architecture": ("NoMatchingDevice", lambda: fleet(md=cel(HOPPER.replace("Hopper", "Blackwell")))),
    "architecture and memory": (
        "NoMatchingDevice",
        lambda: fleet(md=cel(f"{HOPPER.replace('Hopper', 'Ada')} && {memory('100Gi')}")),
    ),
    "a request of two selectors": (
        "NoMatchingDevice",
        lambda: with_devices({"name": "gpu", "selectors": [{"cel": HOPPER}, {"cel": memory("100Gi")}]}),
    ),
    "more devices than a node has": (
        "InsufficientDevices",
        lambda: [larger(), *fleet(md=spec(workers={"topology": {"tensor": 16}}))],
    ),
    "more devices than a node has, and a name that is taken": (
        "InsufficientDevices",
        lambda: [
            larger(),
            *fleet(
                **both(pool(name="h100-16x", nodeCount=2)), md=spec(workers={"count": 3, "topology": {"tensor": 16}})
            ),
        ],
    ),
    "more devices than a node has, and a taint": (
        "UntoleratedTaint",
        lambda: [larger(), *fleet(**both(taint("NoSchedule")), md=spec(workers={"topology": {"tensor": 16}}))],
    ),
    "spare devices more than a node has": (
        "InsufficientDevices",
        lambda: [larger(), *with_devices({"name": "gpu", "count": 12, "selectors": [{"cel": HOPPER}]})],
    ),
    "all nodes are taken": ("InsufficientDevices", lambda: fleet(md=spec(replicas=5))),
    "no node at all": ("InsufficientNodes", lambda: fleet(**both(pool(nodeCount=0)))),
    "a worker of more nodes than there are": (
        "InsufficientNodes",
        lambda: fleet(md=spec(workers={"topology": {"tensor": 8, "pipeline": 4}})),
    ),
    "workers more than a pool carries": ("InsufficientDevices", lambda: fleet(md=spec(workers={"count": 7}))),
    "a pool that grows is as large as it may be": (
        "InsufficientDevices",
        lambda: fleet(**both(pool(minNodeCount=0, maxNodeCount=1)), md=spec(replicas=3)),
    ),
    "a pool that grows from some nodes": (
        "InsufficientDevices",
        lambda: fleet(**both(pool(nodeCount=1, maxNodeCount=2)), md=spec(replicas=5)),
    ),
    "whole nodes are charged": (
        "InsufficientNodes",
        lambda: fleet(**both(spec(accounting="Node")), md=spec(replicas=5, workers={"topology": {"tensor": 1}})),
    ),
    "a pod that wants more cpu than a node has": (
        "InsufficientNodeResources",
        lambda: fleet(kind=spec(node={"cpu": "64", "memory": "512Gi"}), md=pods(asking(cpu="100", memory="64Gi"))),
    ),
    "a pod that wants more memory than a node has": (
        "InsufficientNodeResources",
        lambda: fleet(kind=spec(node={"cpu": "64", "memory": "512Gi"}), md=pods(asking(cpu="8", memory="700Gi"))),
    ),
    "a pod that wants more of both": (
        "InsufficientNodeResources",
        lambda: fleet(kind=spec(node={"cpu": "64", "memory": "512Gi"}), md=pods(asking(cpu="80500m", memory="1Ti"))),
    ),
    "a pod of several containers, some with limits only": (
        "InsufficientNodeResources",
        lambda: fleet(
            kind=spec(node={"cpu": "64", "memory": "512Gi"}),
            md=pods(asking(cpu="40"), {"limits": {"cpu": "50", "memory": "8Gi"}}, {}),
        ),
    ),
    "pods that use up the cpu of nodes": (
        "InsufficientNodeResources",
        lambda: fleet(
            kind=spec(node={"cpu": "64", "memory": "512Gi"}),
            md={"spec": {"replicas": 5, "workers": one_gpu(pods(asking(cpu="60")))}},
        ),
    ),
    "a limit per cluster": (
        "ReplicaLimit",
        lambda: fleet(md=spec(replicas=3, placement={"maxReplicasPerCluster": 1})),
    ),
    "a spread": (
        "SpreadConstraint",
        lambda: fleet(
            a=pool(nodeCount=1),
            b=pool(nodeCount=9),
            md=spec(replicas=4, placement={"spread": [{"topologyKey": "modelplane.ai/region", "maxSkew": 1}]}),
        ),
    ),
    "a spread over a label that is missing": (
        "SpreadConstraint",
        lambda: fleet(md=spec(placement={"spread": [{"topologyKey": "rack"}]})),
    ),
    "a label, a taint and a node": (
        "LabelMismatch",
        lambda: fleet(
            **both({"spec": {**taint("NoSchedule")["spec"], **pool(nodeCount=0)["spec"]}}),
            md=spec(clusterSelector={"matchLabels": {"tier": "gold"}}),
        ),
    ),
    "two roles beside each other": ("InsufficientDevices", two_kinds),
}


@pytest.mark.parametrize(("reason", "world"), CASES.values(), ids=CASES.keys())
def test_what_would_make_it_fit_makes_it_fit(tmp_path: Path, reason: str, world: Callable[[], Objects]) -> None:
    objects = world()
    before = explained(tmp_path, objects)
    assert reason in {one["reason"] for one in before["clusters"]}, before["message"]
    closest = before["closest"]
    assert closest is not None, before["message"]
    assert closest["change"], closest
    assert closest["notInDocuments"] == []
    assert all(change["document"]["kind"] != "InferenceClass" for change in closest["change"]), (
        "devices are what they are"
    )
    after = explained(tmp_path, jsonpatch.apply(objects, closest["change"]))
    assert after["placed"], (closest, after["message"])


NO_CLASS = (
    "no InferenceClass among the documents would serve on a; "
    "add one with the devices as their driver publishes them, and a pool of that class"
)


def without_memory(node_class: Json) -> Json:
    merge(node_class, spec(node={"cpu": "64", "memory": "512Gi"}))
    return node_class


def many(tensor: int) -> Json:
    """Return workers of one pod that wants more memory than a node `without_memory` has."""
    return {**pods(asking(memory="700Gi"))["spec"]["workers"], "topology": {"tensor": tensor}}


NOBODYS: dict[str, tuple[str, Callable[[], Objects], list[str]]] = {
    "a cluster that is not reached": (
        "ClusterNotReady",
        lambda: [*fleet(b=pool(nodeCount=0)), *unreachable("a"), *unreachable("b")],
        [
            "no change of a document makes a ready; see status.conditions of its InferenceCluster",
            "no change of a document gives a an address; the Gateway on the cluster must get one",
        ],
    ),
    "more devices than any class has": (
        "InsufficientDevices",
        lambda: with_devices({"name": "gpu", "count": 12, "selectors": [{"cel": HOPPER}]}),
        [NO_CLASS],
    ),
    "more devices, and the class that has them is too small in another way": (
        "InsufficientDevices",
        lambda: [
            without_memory(larger()),
            *with_devices({"name": "gpu", "count": 12, "selectors": [{"cel": HOPPER}]}, md=spec(workers=many(8))),
        ],
        [NO_CLASS],
    ),
    "a gateway without an address": (
        "NoGatewayAddress",
        lambda: [*fleet(), *gateway("a"), *gateway("b")],
        ["no change of a document gives a an address; the Gateway on the cluster must get one"],
    ),
}


@pytest.mark.parametrize(("reason", "world", "said"), NOBODYS.values(), ids=NOBODYS.keys())
def test_what_no_document_can_say_is_said(
    tmp_path: Path, reason: str, world: Callable[[], Objects], said: list[str]
) -> None:
    found = explained(tmp_path, world())
    assert reason in {one["reason"] for one in found["clusters"]}, found["message"]
    assert found["closest"]["notInDocuments"] == said
    assert found["closest"]["change"] == []


def test_who_writes_a_deployment_that_is_composed(tmp_path: Path) -> None:
    """A taint is taken from the cluster then; of a selector only its owner could say something else."""
    objects = [*rendering.example("simple")]
    for one in objects:
        if one["kind"] == "InferenceCluster":
            one["spec"]["taints"] = [{"key": "other", "effect": "NoSchedule"}, {"key": "x", "effect": "NoSchedule"}]
    before = explained(tmp_path, objects)
    assert {one["op"] for one in before["closest"]["change"]} == {"remove"}
    assert explained(tmp_path, jsonpatch.apply(objects, before["closest"]["change"]))["placed"]


HELPLESS: dict[str, tuple[Callable[[], Objects], str]] = {
    "no cluster": (
        lambda: [one for one in fleet() if one["kind"] != "InferenceCluster"],
        "no change is known that would help: no InferenceCluster exists",
    ),
    "the name of a cluster mistyped": (
        lambda: fleet(md=spec(clusterSelector={"matchLabels": {"modelplane.ai/cluster": "c"}})),
        "no change is known that would help; a reports LabelMismatch: modelplane.ai/cluster is a, wants c",
    ),
    "a class that is not there": (
        lambda: fleet(kind={"metadata": {"name": "other"}}),
        "no change is known that would help; a reports NoMatchingDevice: InferenceClass h100-8x of pool gpu does not",
    ),
    "a selector that fails on the device": (
        lambda: fleet(md=cel(f'device.attributes["{GPU}"].numa > 0')),
        "no change is known that would help; a reports SelectorError: ",
    ),
    "a selector that no value satisfies": (
        lambda: fleet(md=cel("false")),
        "no change is known that would help; a reports NoMatchingDevice: ",
    ),
}


@pytest.mark.parametrize(("world", "said"), HELPLESS.values(), ids=HELPLESS.keys())
def test_where_nothing_helps_it_is_said(tmp_path: Path, world: Callable[[], Objects], said: str) -> None:
    found = explained(tmp_path, world())
    assert not found["placed"]
    assert found["closest"] is None
    assert found["noChange"].startswith(said)


def test_a_selector_is_not_changed_under_replicas_that_run(tmp_path: Path) -> None:
    """Two replicas stand on Hopper; that the third asked for Ada would help it alone, so the hardware has to change."""
    objects = [
        given.node_class(),
        given.node_class("l40s-8x"),
        given.cluster("a", nodes=2),
        given.cluster("b", nodes=2, class_name="l40s-8x"),
        given.deployment(replicas=3, tensor=8),
    ]
    merge(objects[1]["spec"]["devices"][0], {"attributes": {"architecture": {"string": "Ada"}}})
    merge(objects[2], spec(taints=[{"key": "full", "effect": "NoSchedule"}, {"key": "up", "effect": "NoSchedule"}]))
    merge(objects[-1], cel(HOPPER))
    settled = rendering.world([*objects[:2], given.cluster("a", nodes=2), *objects[3:]])
    live = {key: settled.store.get(key) for key in settled.store}
    found = [copy.deepcopy(one) for one in live.values() if one is not None]
    for one in found:
        if one["kind"] == "InferenceCluster" and one["metadata"]["name"] == "a":
            one["spec"]["taints"] = objects[2]["spec"]["taints"]
    before = explained(tmp_path, found)
    assert before["closest"]["cluster"] == "b"
    (change,) = before["closest"]["change"]
    assert (change["document"]["kind"], change["path"]) == ("InferenceCluster", "/spec/nodePools/-")
    assert change["value"] == {"name": "h100-8x", "className": "h100-8x", "nodeCount": 1}
    assert explained(tmp_path, jsonpatch.apply(found, before["closest"]["change"]))["placed"]


def unreachable(cluster: str) -> Objects:
    """Return the Object through which a cluster's gateway is read, as it stands while nothing answers."""
    condition = {"type": "Synced", "status": "False", "reason": "ReconcileError", "message": "connection refused"}
    return observed_gateway(cluster, {"conditions": [condition]})


def gateway(cluster: str) -> Objects:
    """Return the Object of a gateway that has no address yet."""
    manifest = {
        "apiVersion": "gateway.networking.k8s.io/v1",
        "kind": "Gateway",
        "metadata": {"name": "modelplane", "namespace": "modelplane-system"},
        "spec": {"listeners": [{"name": "http", "port": 80, "protocol": "HTTP"}]},
    }
    synced = {"type": "Synced", "status": "True", "reason": "ReconcileSuccess"}
    return observed_gateway(cluster, {"conditions": [synced], "atProvider": {"manifest": manifest}})


def observed_gateway(cluster: str, status: Json) -> Objects:
    settled = rendering.world([given.cluster(cluster)])
    found = [copy.deepcopy(settled.store.get(key)) for key in settled.store if key.kind == "Object"]
    for one in found:
        assert one is not None
        del one["metadata"]["annotations"]["render.modelplane.ai/assumed"]
        one["status"] = status
    return found
