"""A counterfactual applied makes it fit: on random fleets, through the documents and the command."""

from __future__ import annotations

import copy
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import given as over
from hypothesis import settings
from hypothesis import strategies as st

from tests.support import jsonpatch
from tests.support import planning as given

Json = Any

GPU, KIND = "gpu.nvidia.com", "ModelDeployment"
CLASSES = (("h100-8x", 8, "81559Mi", "Hopper"), ("h200-8x", 8, "143771Mi", "Hopper"), ("l40s-4x", 4, "46068Mi", "Ada"))
NODE = {"cpu": "64", "memory": "512Gi"}
SELECTORS = (
    f'device.capacity["{GPU}"].memory.compareTo(quantity("40Gi")) >= 0',
    f'device.capacity["{GPU}"].memory.compareTo(quantity("100Gi")) >= 0',
    f'device.capacity["{GPU}"].memory.compareTo(quantity("1Ti")) >= 0',
    f'device.attributes["{GPU}"].architecture == "Hopper"',
    f'device.attributes["{GPU}"].architecture == "Blackwell"',
    f'device.attributes["{GPU}"].architecture in ["Ada"] && device.driver == "{GPU}"',
)


def node_class(name: str, count: int, memory: str, architecture: str) -> Json:
    found = given.node_class(name, count=count, memory=memory)
    found["spec"]["node"] = NODE
    found["spec"]["devices"][0]["attributes"]["architecture"]["string"] = architecture
    return found


@st.composite
def clusters(draw: st.DrawFn, name: str) -> Json:
    found = given.cluster(name)
    found["metadata"]["labels"] = draw(
        st.dictionaries(st.sampled_from(("tier", "zone")), st.sampled_from(("gold", "tin")), max_size=2)
    )
    found["spec"]["nodePools"] = [
        {"name": f"p{index}", "className": draw(st.sampled_from(CLASSES))[0], **draw(nodes())}
        for index in range(draw(st.integers(1, 2)))
    ]
    taint = {"key": draw(st.sampled_from(("t", "u"))), "effect": draw(st.sampled_from(("NoSchedule", "NoExecute")))}
    found["spec"]["taints"] = [taint] if draw(st.integers(0, 3)) == 0 else []
    found["spec"]["accounting"] = draw(st.sampled_from(("Device", "Device", "Node")))
    return found


@st.composite
def nodes(draw: st.DrawFn) -> Json:
    count = draw(st.integers(0, 2))
    most = {"maxNodeCount": count + draw(st.integers(0, 2))} if draw(st.integers(0, 3)) == 0 else {}
    return {"nodeCount": count, **most}


@st.composite
def deployments(draw: st.DrawFn, name: str) -> Json:
    found = given.deployment(name, replicas=draw(st.integers(1, 4)), selector=draw(st.sampled_from(SELECTORS)))
    spec = found["spec"]
    spec["workers"] = draw(workers())
    if draw(st.integers(0, 4)) == 0:
        spec["prefill"] = {
            "nodeSelector": {"cel": draw(st.sampled_from(SELECTORS))},
            "workers": draw(workers()),
        }
    placement: Json = {"strategy": draw(st.sampled_from(("Spread", "Pack")))}
    if draw(st.integers(0, 3)) == 0:
        placement["maxReplicasPerCluster"] = 1
    if draw(st.integers(0, 3)) == 0:
        placement["spread"] = [{"topologyKey": "zone", "maxSkew": 1}]
    spec["placement"] = placement
    if draw(st.integers(0, 3)) == 0:
        spec["clusterSelector"] = {"matchLabels": {"tier": "gold"}}
    return found


@st.composite
def workers(draw: st.DrawFn) -> Json:
    requests = {"cpu": draw(st.sampled_from(("4", "40", "80"))), "memory": draw(st.sampled_from(("8Gi", "600Gi")))}
    container = {"name": "engine", "image": "vllm/vllm-openai:v0.23.0", "resources": {"requests": requests}}
    return {
        "count": draw(st.integers(1, 2)),
        "topology": {"tensor": draw(st.sampled_from((1, 2, 4, 8, 16))), "pipeline": draw(st.sampled_from((1, 1, 2)))},
        "template": {"spec": {"containers": [container]}},
    }


@st.composite
def fleets(draw: st.DrawFn) -> list[Json]:
    found = [node_class(*one) for one in CLASSES]
    found += [draw(clusters(name)) for name in ("a", "b", "c")[: draw(st.integers(1, 3))]]
    found += [draw(deployments(name)) for name in ("llama", "qwen")[: draw(st.integers(1, 2))]]
    return found


@settings(deadline=None, max_examples=40)
@over(fleets())
def test_a_counterfactual_applied_makes_it_fit(objects: list[Json]) -> None:
    """What becomes free may be taken by another deployment that waits for it as well.

    Where nothing is to be written, no class of the documents serves, however many nodes it had.
    """
    before = planned(objects)
    for name, row in before.items():
        closest = None if row["unschedulable"] is None else row["unschedulable"]["closest"]
        if closest is None:
            continue
        if closest["notInDocuments"]:
            assert not closest["change"]
            assert all("no InferenceClass among the documents would serve" in why for why in closest["notInDocuments"])
            assert not is_served(objects, name), closest
            continue
        assert closest["change"]
        after = planned(jsonpatch.apply(objects, closest["change"]))
        won = [one for one in before if after[one]["placed"] > before[one]["placed"]]
        assert name in won or any(before[one]["unschedulable"] for one in won), (closest, after[name]["unschedulable"])


def is_served(objects: list[Json], name: str) -> bool:
    """Return whether one replica fits into a cluster that lets everybody in and has plenty of every class."""
    (deployment,) = (copy.deepcopy(one) for one in objects if (one["kind"], one["metadata"]["name"]) == (KIND, name))
    deployment["spec"] |= {"replicas": 1, "placement": {}}
    deployment["spec"].pop("clusterSelector", None)
    cluster = given.cluster("plenty")
    cluster["spec"]["nodePools"] = [{"name": one[0], "className": one[0], "nodeCount": 64} for one in CLASSES]
    return bool(planned([*(node_class(*one) for one in CLASSES), cluster, deployment])[name]["placed"])


def planned(objects: list[Json]) -> dict[str, Json]:
    with tempfile.TemporaryDirectory() as folder:
        ran = given.run("plan", given.written(Path(folder), "now", *objects), "-o", "json")
    assert ran.code in (0, 1), ran.err
    return {row["name"]: row for row in ran.json["deployments"]}
