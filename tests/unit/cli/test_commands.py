"""The command as a person meets it: exit codes, where each word goes, and one line per mistake."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from modelplane_cli import __main__ as command
from tests.support import rendering
from tests.support.commands import CLASS, CLUSTER, DEPLOYMENT, KUBECONFIG, SERVICE, files

ROOT = rendering.ROOT
QUICKSTART = str(ROOT / "examples" / "quickstart")


def test_a_complete_world_is_fine_and_quiet(run: Any) -> None:
    done = run("render", ".", files=files())
    assert (done.code, done.err) == (0, "")
    assert "ModelReplica m-0" in done.out
    assert "http://default.gateway.assumed.invalid/t/m" in done.out


# --- bad input: exit code 2, one line per problem, nothing on standard output -----------------------------------------

BAD = [
    pytest.param({"deployment": "a: ["}, "deployment.yaml:1: document 1: not YAML", id="malformed YAML"),
    pytest.param({"deployment": "a: 1\na: 2\n"}, "deployment.yaml:2: document 1: the key 'a' is given twice", id="key"),
    pytest.param({"deployment": "- 1\n"}, "is not a Kubernetes object", id="a list"),
    pytest.param(
        {"deployment": DEPLOYMENT.replace("ModelDeployment", "ModelDeploymnt")},
        "deployment.yaml:2: document 1 (ModelDeploymnt t/m): kind: modelplane.ai has no kind ModelDeploymnt; "
        "did you mean ModelDeployment?",
        id="misspelt kind",
    ),
    pytest.param(
        {"deployment": DEPLOYMENT.replace("v1alpha1", "v1")},
        "apiVersion: ModelDeployment is served as modelplane.ai/v1alpha1",
        id="wrong version",
    ),
    pytest.param(
        {"deployment": DEPLOYMENT.replace("modelplane.ai/", "modelplan.ai/")},
        "write modelplane.ai/v1alpha1",
        id="misspelt group",
    ),
    pytest.param(
        {"deployment": DEPLOYMENT.replace("topology: {tensor", "topology: {tensr")},
        'deployment.yaml:8: document 1 (ModelDeployment t/m): spec.workers.topology.tensr: unknown field "tensr"',
        id="unknown field",
    ),
    pytest.param(
        {"deployment": DEPLOYMENT.replace("nodeSelector: {cel", "nodeSelector: {cell")},
        "spec.nodeSelector",
        id="unknown field that was required",
    ),
    pytest.param(
        {"deployment": DEPLOYMENT.replace("tensor: 1", "tensor: 1, data: 3, dataLocal: 2")},
        "data",
        id="impossible topology: data is no multiple of dataLocal",
    ),
    pytest.param(
        {"deployment": DEPLOYMENT.replace("tensor: 1", "tensor: 0")},
        "spec.workers.topology.tensor",
        id="tensor of zero",
    ),
    pytest.param(
        {"deployment": DEPLOYMENT.replace("name: engine", "name: main")}, "engine", id="no container named engine"
    ),
    pytest.param(
        {"deployment": DEPLOYMENT.replace('{cel: "true"}', '{cel: "true", devices: [{name: gpu}]}')},
        "exactly one of cel",
        id="both forms of the selector",
    ),
    pytest.param(
        {"other": DEPLOYMENT.replace("tensor: 1", "tensor: 2")},
        "other.yaml:1: document 1 (ModelDeployment t/m): is given twice, first in deployment.yaml:1",
        id="two documents of one name",
    ),
    pytest.param(
        {"cluster": CLUSTER.replace("{name: c}", "{name: c, namespace: x}", 1)},
        "InferenceCluster is cluster scoped",
        id="a namespace on a cluster-scoped kind",
    ),
    pytest.param({"deployment": DEPLOYMENT.replace("name: m,", "name: M_1,")}, "metadata.name", id="bad name"),
    pytest.param(
        {"deployment": DEPLOYMENT.replace("namespace: t}", "namespace: t, labels: {a: 1}}")},
        'metadata.labels.a: must be text; write "1"',
        id="a label that is a number",
    ),
    pytest.param(
        {"deployment": DEPLOYMENT.replace("{name: m, namespace: t}", "{generateName: m-, namespace: t}")},
        "metadata.name: is required offline",
        id="generateName",
    ),
    pytest.param(
        {"stray": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ../../etc}\n"},
        "is not a name",
        id="a path as a name",
    ),
    pytest.param(
        {"stray": "apiVersion: gateway.envoyproxy.io/v1alpha1\nkind: Backend\nmetadata: {name: b}\nstatus: 5\n"},
        "stray.yaml:4: document 1 (Backend b): status: must be an object, not the number 5",
        id="an observed status that is a number",
    ),
    pytest.param(
        {"stray": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: no}\n"},
        "metadata.name: must be text; put it in quotes, because YAML takes an unquoted yes, no",
        id="a name that YAML takes for false",
    ),
]


@pytest.mark.parametrize(("changes", "want"), BAD)
def test_bad_input_is_refused_line_by_line(run: Any, changes: dict[str, str], want: str) -> None:
    for name in ("render", "validate"):
        done = run(name, ".", files=files(**changes))
        assert done.code == 2, done.err
        said = done.out if name == "validate" else done.err
        assert want in said
        assert "Traceback" not in done.err + done.out
        if name == "render":
            assert done.out == ""
            assert all(".yaml:" in line for line in done.err.splitlines())


def test_all_problems_are_said_at_once_and_in_order(run: Any) -> None:
    broken = DEPLOYMENT.replace("tensor: 1", "tensr: 1") + "---\n" + SERVICE.replace("selector", "selectr")
    done = run("validate", "b.yaml", "a.yaml", files={"b.yaml": broken, "a.yaml": "x: ["})
    lines = done.out.splitlines()
    assert lines[0].startswith("a.yaml:1")
    assert [line.split(": ")[1].split(" (")[0] for line in lines[1:]] == sorted(
        line.split(": ")[1].split(" (")[0] for line in lines[1:]
    )
    assert len(lines) >= 3


EMPTY = [
    pytest.param({}, ["."], id="an empty folder"),
    pytest.param({"a.yaml": ""}, ["a.yaml"], id="an empty file"),
    pytest.param({}, ["nowhere.yaml"], id="a path that does not exist"),
]


@pytest.mark.parametrize(("given", "paths"), EMPTY)
def test_nothing_to_read_is_bad_input(run: Any, given: dict[str, str], paths: list[str]) -> None:
    done = run("render", *paths, files=given)
    assert done.code == 2
    assert "holds no documents" in done.err or "does not exist" in done.err


# --- what only the functions can say: exit code 1, with the reason beside the object ----------------------------------

UNMET = [
    pytest.param({"class": None}, ("l4",), id="the class does not exist"),
    pytest.param({"gateway": None}, ("InferenceGateway",), id="there is no gateway"),
    pytest.param({"cluster": None}, ("ReplicasScheduled", "0 of 1"), id="there is no cluster"),
    pytest.param(
        {"service": SERVICE.replace("deployment: m", "deployment: x")}, ("EndpointsReady",), id="no endpoints"
    ),
    pytest.param(
        {"deployment": DEPLOYMENT.replace('"true"', "'device.driver == \"x\"'")}, ("no device matches",), id="no device"
    ),
    pytest.param(
        {"deployment": DEPLOYMENT.replace('"true"', '"device.driver +"')}, ("InvalidNodeSelector",), id="bad selector"
    ),
    pytest.param(
        {"deployment": DEPLOYMENT.replace("tensor: 1", "tensor: 1, data: 2, pipeline: 2")},
        ("cannot both be above 1",),
        id="pipeline and data together, and KServe alone",
    ),
    pytest.param(
        {"deployment": DEPLOYMENT.replace("spec:\n  model", "spec:\n  replicas: 3\n  model", 1)},
        ("2 of 3", "InsufficientCapacity", "would fit if"),
        id="too few devices",
    ),
    pytest.param(
        {"deployment": DEPLOYMENT.replace("tensor: 1", "tensor: 8")}, ("ReplicasScheduled",), id="no such node"
    ),
]


@pytest.mark.parametrize(("changes", "want"), UNMET)
def test_what_cannot_be_is_answered_with_its_reason(
    run: Any, changes: dict[str, str | None], want: tuple[str, ...]
) -> None:
    done = run("render", ".", files=files(**changes))
    assert done.code == 1, done.out + done.err
    assert all(word in done.out for word in want), done.out
    for line in done.out.splitlines():
        assert "Traceback" not in line


@pytest.mark.parametrize("output", ["yaml", "json"])
def test_machines_get_data_alone_and_people_the_reasons(run: Any, output: str) -> None:
    done = run("render", ".", "-o", output, files=files(gateway=None))
    assert done.code == 1
    assert "not as wanted: ModelService t/m" in done.err
    assert done.out.startswith("---\n" if output == "yaml" else "{")


def test_a_missing_secret_is_a_note_and_no_failure(run: Any) -> None:
    done = run("render", ".", files=files(secret=None))
    assert done.code == 0
    assert done.err == (
        "note: Secret s/c (key kubeconfig) is not among the documents; InferenceCluster c needs it on the control "
        "plane for the kubeconfig of the cluster\n"
    )
    wrong = run("render", ".", files=files(secret=KUBECONFIG.replace("kubeconfig:", "config:")))
    assert "note: Secret s/c has no key 'kubeconfig'" in wrong.err


def test_secrets_are_never_printed(run: Any) -> None:
    for output in ("tree", "yaml", "json"):
        done = run("render", ".", "-o", output, files=files())
        assert "c2VjcmV0LXZhbHVl" not in done.out + done.err
        assert "secret-value" not in done.out + done.err


# --- observed state ---------------------------------------------------------------------------------------------------


def test_what_the_documents_observe_wins_over_what_is_assumed(run: Any) -> None:
    first = run("render", ".", "-o", "json", files=files())
    objects = json.loads(first.out)["items"]
    for one in objects:
        if one["kind"] == "Object" and one["spec"]["forProvider"]["manifest"]["kind"] == "LLMInferenceService":
            del one["metadata"]["annotations"]["render.modelplane.ai/assumed"]
            one["status"]["atProvider"]["manifest"]["status"] = {
                "observedGeneration": 1,
                "conditions": [
                    {"type": "Ready", "status": "False", "reason": "ImagePullBackOff", "message": "no such image"}
                ],
            }
    for path in Path.cwd().glob("*.yaml"):
        path.unlink()
    done = run("render", "world.json", files={"world.json": json.dumps({"kind": "List", "items": objects})})
    assert done.code == 1
    assert "Running" not in done.out


def test_deletions_are_never_silent(run: Any) -> None:
    world = run(
        "render", ".", "-o", "json", files=files(deployment=DEPLOYMENT.replace("spec:", "spec:\n  replicas: 2", 1))
    )
    for path in Path.cwd().glob("*.yaml"):
        path.unlink()
    objects = json.loads(world.out)["items"]
    (deployment,) = (one for one in objects if one["kind"] == "ModelDeployment")
    deployment["spec"]["replicas"] = 1
    done = run("render", "world.json", files={"world.json": json.dumps({"kind": "List", "items": objects})})
    assert "deleted: ModelReplica t/m-1" in done.err
    assert "-- ModelReplica t/m-1" in done.out
    data = run("render", "world.json", "-o", "json")
    assert "deleted: ModelReplica t/m-1" in data.err


# --- files per cluster ------------------------------------------------------------------------------------------------


def test_by_cluster_writes_bare_manifests_and_names_stale_files(run: Any, tmp_path: Path) -> None:
    (tmp_path / "out" / "c").mkdir(parents=True)
    (tmp_path / "out" / "c" / "old.yaml").write_text("x")
    folder = tmp_path / "in"
    folder.mkdir()
    for name, text in files().items():
        (folder / name).write_text(text)
    done = run("render", "in", "--by-cluster", "out")
    assert done.code == 0
    workload = (tmp_path / "out" / "c" / "llminferenceservice-t-m-0.yaml").read_text()
    assert "kind: LLMInferenceService" in workload
    assert "status:" not in workload
    assert (tmp_path / "out" / "control-plane" / "modeldeployment-t-m.yaml").is_file()
    assert not list((tmp_path / "out").glob("*/object-*"))
    assert "stale: out/c/old.yaml" in done.err
    assert (tmp_path / "out" / "c" / "old.yaml").exists()
    assert "wrote" in done.err


def test_by_cluster_has_the_values_of_the_charts_of_a_stack(run: Any, tmp_path: Path) -> None:
    example = Path(__file__).resolve().parents[3] / "examples" / "stack"
    assert run("render", str(example), "--by-cluster", "out").code == 0
    folder = tmp_path / "out" / "bare" / "helm"
    assert len(list(folder.iterdir())) == 7
    head, _, values = (folder / "cert-manager.yaml").read_text().partition("\n")
    assert head == (
        "# helm upgrade --install cert-manager oci://quay.io/jetstack/charts/cert-manager --version v1.21.2 "
        "--namespace cert-manager --create-namespace --values cert-manager.yaml"
    )
    assert yaml.safe_load(values)["crds"] == {"enabled": True, "keep": True}
    assert "release-" in " ".join(one.name for one in (tmp_path / "out" / "control-plane").iterdir())


def test_by_cluster_never_leaves_its_folder(run: Any, tmp_path: Path) -> None:
    stray = """\
apiVersion: kubernetes.m.crossplane.io/v1alpha1
kind: Object
metadata: {name: o, namespace: far}
spec:
  providerConfigRef: {kind: ClusterProviderConfig, name: ../../escape}
  forProvider: {manifest: {apiVersion: v1, kind: ConfigMap, metadata: {name: ../../../escape}}}
"""
    inner = tmp_path / "deep" / "inner"
    inner.mkdir(parents=True)
    done = run("render", ".", "--by-cluster", "deep/inner/out", files={**files(), "stray.yaml": stray})
    assert done.code == 0
    written = {path for path in tmp_path.rglob("*.yaml") if "out" not in path.parts and path.parent != tmp_path}
    assert not written


def test_a_folder_that_cannot_be_written_is_said(run: Any, tmp_path: Path) -> None:
    (tmp_path / "out").write_text("a file")
    done = run("render", "in.yaml", "--by-cluster", "out", files={"in.yaml": CLASS})
    assert done.code == 2
    assert "cannot be written" in done.err


# --- the command itself -----------------------------------------------------------------------------------------------


def test_help_is_instant_and_teaches_by_example(run: Any) -> None:
    done = run("--help")
    assert done.code == 0
    assert "modelplane render examples/quickstart" in done.out
    for name in command.COMMANDS:
        assert name in done.out
    code = (
        "import sys, modelplane_cli.__main__ as m; m.main(['--help']); print(len(sys.modules), 'yaml' in sys.modules)"
    )
    made = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert made.stdout.splitlines()[-1].endswith("False")


@pytest.mark.parametrize("name", ["render", "validate", "cel"])
def test_every_command_has_examples_in_its_help(run: Any, name: str) -> None:
    done = run(name, "--help")
    assert done.code == 0
    assert f"modelplane {name}" in done.out.partition("examples:")[2]
    assert "exit codes:" in done.out


def test_an_unknown_command_is_told_its_neighbour(run: Any) -> None:
    done = run("rendr")
    assert done.code == 2
    assert "did you mean render?" in done.err


def test_a_bug_is_one_line_and_the_traceback_is_asked_for(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("modelplane_cli.simulator.offline.build", lambda *_arguments: 1 / 0)
    done = run("render", ".", files=files())
    assert done.code == 3
    assert "internal error: ZeroDivisionError" in done.err
    assert "Traceback" not in done.err
    assert "Traceback" in run("--debug", "render", ".").err


def test_a_bug_in_a_function_keeps_the_rest_and_exits_with_three(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_observed: Any) -> Any:
        raise KeyError("spec")

    monkeypatch.setattr("modelplane_functions.compose.model_service.compose", broken)
    done = run("render", ".", files=files())
    assert done.code == 3
    assert "bug: ModelService t/m: the function failed: KeyError: 'spec'" in done.err
    assert "ModelReplica m-0" in done.out


def test_a_reader_that_leaves_is_no_error(tmp_path: Path) -> None:
    for name, text in files().items():
        (tmp_path / name).write_text(text)
    script = f"{sys.executable} -m modelplane_cli render {tmp_path} -o json | head -c 10; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False, env={**os.environ})
    assert done.returncode in (0, 141)
    assert "Traceback" not in done.stderr
    assert "BrokenPipe" not in done.stderr


def test_colour_is_for_terminals_only(run: Any) -> None:
    assert "\x1b[" not in run("render", ".", files=files()).out


def test_rendering_loads_no_server() -> None:
    """gRPC, the SDK's log and pydantic were half of what a person waited for; only `serve` needs them."""
    script = (
        "import sys, modelplane_cli.__main__ as m; m.main(['render', 'examples/quickstart']); "
        "print([n for n in ('grpc', 'structlog', 'rich', 'pydantic', 'asyncio') if n in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=ROOT, check=True)
    assert done.stderr.splitlines()[-1] == "[]"
