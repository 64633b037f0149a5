"""`modelplane class from-cluster`: documents that validate and place, what is said beside them, and bad input."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from modelplane.errors import InvalidInput
from modelplane_cli.documents import live
from tests.support import commands
from tests.support import driver_slices as drivers
from tests.unit.inventory.test_drivers import cluster

Json = Any

NVIDIA = cluster(drivers.nvidia_gpu)
BEHIND = {
    "nvidia": NVIDIA,
    "mig": [*drivers.nvidia_mig("n", 4), drivers.node("n"), *drivers.shipped()],
    "amd": cluster(drivers.amd_gpu, driver=drivers.AMD),
    "tpu": cluster(drivers.tpu, driver=drivers.TPU, count=4),
    "plugin": [drivers.node("n", drivers.GFD_LABELS, resources={"nvidia.com/gpu": "4"})],
    "nics": [
        *cluster(drivers.nvidia_gpu),
        *(
            drivers.slice_(drivers.NET, name, [drivers.nic(name, one) for one in range(8)])
            for name in ("node-0", "node-1")
        ),
    ],
}


def text(items: list[Json]) -> str:
    return json.dumps(drivers.listed(items))


@pytest.mark.parametrize("behind", BEHIND)
@pytest.mark.parametrize("option", ["", "--by-place"])
def test_what_is_written_validates_and_places(run: commands.Run, tmp_path: Path, behind: str, option: str) -> None:
    arguments = ["class", "from-cluster", "seen.json", "--cluster", "here", *filter(None, [option])]
    made = run(*arguments, files={"seen.json": text(BEHIND[behind])})
    assert made.code == 0, made.err
    (tmp_path / "fleet.yaml").write_text(made.out + "---\n" + commands.GATEWAY)
    (tmp_path / "model.yaml").write_text(commands.DEPLOYMENT + "---\n" + commands.SERVICE)
    validated = run("validate", "fleet.yaml")
    assert (validated.code, validated.err.count("error")) == (0, 0), validated.err
    placed = run("plan", "fleet.yaml", "model.yaml", "-o", "json")
    assert placed.code == 0, placed.err
    (deployment,) = json.loads(placed.out)["deployments"]
    assert [one["cluster"] for one in deployment["replicas"]] == ["here"]


def test_documents_are_in_the_order_of_their_fields_with_a_modeline(run: commands.Run) -> None:
    made = run("class", "from-cluster", "seen.json", "--cluster", "gke-us", files={"seen.json": text(NVIDIA)})
    assert made.code == 0, made.err
    assert made.out.count("---\n# yaml-language-server: $schema=") == 2
    node_class, fleet = yaml.safe_load_all(made.out)
    assert list(node_class) == ["apiVersion", "kind", "metadata", "spec"]
    assert fleet["spec"]["cluster"]["existing"]["kubernetesVersion"] == "1.36"
    assert fleet["spec"]["nodePools"] == [
        {
            "name": "gpus",
            "className": "h100-80gb-hbm3-8x",
            "nodeCount": 2,
            "nodeSelector": {"cloud.google.com/gke-nodepool": "gpus"},
        }
    ]
    assert made.err.splitlines()[:2] == [
        "POOL  NODES  COUNTED  CLASS              DEVICES",
        "gpus      2        2  h100-80gb-hbm3-8x  8 gpu",
    ]


def test_json_is_a_list_for_kubectl(run: commands.Run) -> None:
    made = run("class", "from-cluster", "seen.json", "-o", "json", files={"seen.json": text(NVIDIA)})
    listed = json.loads(made.out)
    assert (listed["kind"], [one["kind"] for one in listed["items"]]) == (
        "List",
        ["InferenceClass", "InferenceCluster"],
    )


def test_a_class_that_describes_the_nodes_is_used_again(run: commands.Run, tmp_path: Path) -> None:
    first = run("class", "from-cluster", "seen.json", files={"seen.json": text(NVIDIA)})
    mine = next(yaml.safe_load_all(first.out))
    mine["metadata"]["name"] = "ours"
    del mine["spec"]["devices"][0]["attributes"]["driverVersion"]
    (tmp_path / "ours.yaml").write_text(yaml.safe_dump(mine))
    again = run("class", "from-cluster", "seen.json", "ours.yaml")
    (only,) = yaml.safe_load_all(again.out)
    assert only["spec"]["nodePools"][0]["className"] == "ours"
    assert "reused: InferenceClass ours describes what is there" in again.err


def test_a_class_that_lies_is_reported_and_not_used(run: commands.Run, tmp_path: Path) -> None:
    first = run("class", "from-cluster", "seen.json", files={"seen.json": text(NVIDIA)})
    mine = next(yaml.safe_load_all(first.out))
    mine["spec"]["devices"][0]["capacity"]["memory"]["value"] = "80Gi"
    (tmp_path / "ours.yaml").write_text(yaml.safe_dump(mine))
    told = run("class", "from-cluster", "seen.json", "ours.yaml")
    assert told.code == 1
    assert (
        "lie: InferenceClass h100-80gb-hbm3-8x: device gpu: capacity memory is declared as 80Gi, and gpu-0 and 7 more "
        "publish 81559Mi (node node-0)"
    ) in told.err
    made = next(yaml.safe_load_all(told.out))
    assert made["metadata"]["name"] != mine["metadata"]["name"]


def test_the_class_that_an_inference_cluster_declares_is_held_to_the_truth(run: commands.Run) -> None:
    declared = commands.CLUSTER.replace("name: p,", "name: p, nodeSelector: {cloud.google.com/gke-nodepool: gpus},")
    files = {"seen.json": text(NVIDIA), "class.yaml": commands.CLASS, "cluster.yaml": declared}
    told = run("class", "from-cluster", *files, "--cluster", "c", files=files)
    assert told.code == 1
    assert "lie: InferenceClass l4: device gpu: capacity memory is declared as 23034Mi" in told.err
    assert run("class", "from-cluster", *files, "--cluster", "other").code == 0


def test_a_pool_that_is_declared_keeps_its_name(run: commands.Run) -> None:
    labels = "{cloud.google.com/gke-nodepool: gpus}"
    declared = commands.CLUSTER.replace("name: p,", f"name: p, nodeSelector: {labels},")
    files = {"seen.json": text(NVIDIA), "cluster.yaml": declared}
    told = run("class", "from-cluster", *files, "--cluster", "c", files=files)
    *_, made = yaml.safe_load_all(told.out)
    (pool,) = made["spec"]["nodePools"]
    assert (pool["name"], pool["nodeSelector"]) == ("p", yaml.safe_load(labels))
    assert "InferenceCluster c is among the documents" in told.err
    other = declared.replace("gke-nodepool: gpus", "gke-nodepool: others").replace("name: p,", "name: gpus,")
    told = run("class", "from-cluster", *files, "--cluster", "c", files={**files, "cluster.yaml": other})
    *_, made = yaml.safe_load_all(told.out)
    (pool,) = made["spec"]["nodePools"]
    assert pool["name"].startswith("gpus-"), "another pool has the name"


def test_paths_may_follow_options(run: commands.Run) -> None:
    files = {"seen.json": text(NVIDIA), "class.yaml": commands.CLASS}
    made = ("--cluster", "c", "seen.json", "-o", "json", "class.yaml")
    assert run("class", "from-cluster", *made, files=files).code == 0
    assert run("class", "--cluster", "c", "from-cluster", "seen.json").code == 0
    for wrong in ([], ["to-cluster", "seen.json"]):
        assert run("class", *wrong).code == 2


def test_nothing_found_is_said(run: commands.Run) -> None:
    found = run("class", "from-cluster", "seen.json", files={"seen.json": text([drivers.node("cpu")])})
    assert (found.code, found.out) == (1, "")
    assert "no devices were found: 0 ResourceSlices and 1 Node were read" in found.err


def _bare(kind: str, version: str, items: list[Json]) -> Json:
    """Return a list as the API server answers it: its items have no kind."""
    found = [{key: value for key, value in one.items() if key not in ("kind", "apiVersion")} for one in items]
    return {"apiVersion": version, "kind": f"{kind}List", "metadata": {"resourceVersion": "7"}, "items": found}


def test_lists_of_the_api_server_are_read(run: commands.Run) -> None:
    """`kubectl get --raw` prints them; without a kind each item would be lost without a word."""
    by_kind: dict[str, list[Json]] = {}
    for one in NVIDIA:
        by_kind.setdefault(one["kind"], []).append(one)
    lists = [_bare(kind, items[0]["apiVersion"], items) for kind, items in by_kind.items()]
    files = {"seen.json": text(NVIDIA), "raw.yaml": "---\n".join(json.dumps(one) + "\n" for one in lists)}
    found = [run("class", "from-cluster", name, files=files) for name in files]
    assert found[0].code == 0, found[0].err
    assert (found[0].out, found[0].err) == (found[1].out, found[1].err)


@pytest.mark.parametrize("at", range(len(NVIDIA)))
def test_a_name_with_two_contents_is_refused(run: commands.Run, at: int) -> None:
    again = {**NVIDIA[at], "metadata": {**NVIDIA[at]["metadata"], "annotations": {"of": "another cluster"}}}
    files = {"a.json": text(NVIDIA), "b.json": text([again])}
    done = run("class", "from-cluster", *files, files=files)
    assert (done.code, done.out) == (2, "")
    assert "is given twice with different content, first in a.json:1; keep one" in done.err
    assert run("class", "from-cluster", "a.json", "c.json", files={"c.json": text([NVIDIA[at]])}).code == 0


def _with_taints(taints: Json) -> Json:
    return drivers.slice_(drivers.NVIDIA, "n", [{**drivers.nvidia_gpu("n", 0), "taints": taints}])


def _without_driver() -> Json:
    one = drivers.slice_(drivers.NVIDIA, "n", [])
    del one["spec"]["driver"]
    return one


def _bad_version() -> Json:
    one = drivers.nvidia_gpu("n", 0)
    one["attributes"]["driverVersion"] = {"version": "five"}
    return drivers.slice_(drivers.NVIDIA, "n", [one])


@pytest.mark.parametrize(
    ("items", "said"),
    [
        pytest.param([_without_driver()], "spec.driver: is required", id="no driver"),
        pytest.param([_with_taints(5)], "spec.devices[0].taints: must be a list", id="taints of another type"),
        pytest.param([_with_taints([1])], "spec.devices[0].taints[0]: must be an object", id="no taint"),
        pytest.param([_bad_version()], "spec.devices[0].attributes.driverVersion.version: ", id="no version"),
        pytest.param(
            [{**drivers.slice_(drivers.NVIDIA, "n", []), "spec": "text"}], "spec: must be an object", id="another type"
        ),
    ],
)
def test_a_bad_document_is_one_line_with_its_field(run: commands.Run, items: list[Json], said: str) -> None:
    done = run("class", "from-cluster", "seen.json", files={"seen.json": text(items)})
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("seen.json:1: document 1 (ResourceSlice n-gpu.nvidia.com-1-0): ")
    assert said in done.err
    assert len(done.err.splitlines()) == 1


@pytest.mark.parametrize("one", [{"metadata": {"name": "a"}}, {"kind": "Node"}, {"apiVersion": "v1", "kind": 7}])
def test_what_is_no_object_is_refused(run: commands.Run, one: Json) -> None:
    done = run("class", "from-cluster", "seen.json", files={"seen.json": text([*NVIDIA, one])})
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("seen.json:1: document 1")
    assert "is not a Kubernetes object" in done.err


def test_help_says_where_a_context_leads(run: commands.Run) -> None:
    said = " ".join(run("class", "--help").out.split())
    assert "also read a live cluster with devices through this kubeconfig context" in said
    assert "also read a live control plane" in " ".join(run("plan", "--help").out.split())


def test_a_declared_pool_that_cannot_be_read_is_said(run: commands.Run) -> None:
    broken = commands.CLUSTER.replace("nodePools: [{", "nodePools: [{nodeSelector: text, ")
    files = {"seen.json": text(NVIDIA), "cluster.yaml": broken}
    done = run("class", "from-cluster", *files, "--cluster", "c", files=files)
    assert (done.code, done.out) == (2, "")
    assert (
        done.err
        == "cluster.yaml:6: document 1 (InferenceCluster c): spec.nodePools[0].nodeSelector: must be an object\n"
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        pytest.param(["from-cluster"], "nothing to read: give --context", id="no source"),
        pytest.param(["from-cluster", "gone.yaml"], "gone.yaml: does not exist", id="no file"),
        pytest.param(["from-cluster", "seen.json", "--cluster", "Not A Name"], "metadata.name", id="no name"),
    ],
)
def test_bad_arguments_are_said(run: commands.Run, arguments: list[str], said: str) -> None:
    done = run("class", *arguments, files={"seen.json": text(NVIDIA)})
    assert (done.code, done.out) == (2, "")
    assert said in done.err


def test_a_context_is_read_through_kubectl(run: commands.Run, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def answer(context: str, *arguments: str) -> str:
        asked.append((context, *arguments))
        served = "nodes\npods\ndeviceclasses.resource.k8s.io\nresourceslices.resource.k8s.io\nsecrets\n"
        return served if arguments[0] == "api-resources" else text(NVIDIA)

    monkeypatch.setattr(live, "_kubectl", answer)
    made = run("class", "from-cluster", "--context", "arn:aws:eks:eu-1:1:cluster/Prod_A")
    assert made.code == 0, made.err
    assert list(yaml.safe_load_all(made.out))[1]["metadata"]["name"] == "arn-aws-eks-eu-1-1-cluster-prod-a"
    (_, get) = asked
    assert get[1:] == ("get", "nodes,resourceslices.resource.k8s.io,deviceclasses.resource.k8s.io", "-o", "json")


def test_a_cluster_that_does_not_answer_is_said(run: commands.Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(context: str, *arguments: str) -> str:
        raise InvalidInput(f"--context {context}: kubectl {arguments[0]}: connection refused")

    monkeypatch.setattr(live, "_kubectl", refused)
    done = run("class", "from-cluster", "--context", "down")
    assert (done.code, done.out) == (2, "")
    assert done.err == "kubectl: --context down: kubectl api-resources: connection refused\n"


def test_names_of_nodes_and_labels_are_data(run: commands.Run) -> None:
    labels = {"cloud.google.com/gke-nodepool": "yes"}
    node = drivers.node("n", labels)
    node["metadata"]["labels"]["topology.kubernetes.io/region"] = "on"
    one = drivers.nvidia_gpu("n", 0)
    one["attributes"]["productName"] = {"string": "# no: {comment} & 'x'"}
    items = [node, drivers.slice_(drivers.NVIDIA, "n", [one]), *drivers.shipped()]
    made = run("class", "from-cluster", "seen.json", files={"seen.json": text(items)})
    assert made.code == 0, made.err
    node_class, fleet = yaml.safe_load_all(made.out)
    assert node_class["spec"]["devices"][0]["attributes"]["productName"] == {"string": "# no: {comment} & 'x'"}
    assert fleet["metadata"]["labels"] == {"modelplane.ai/region": "on"}
    assert fleet["spec"]["nodePools"][0]["nodeSelector"] == labels
