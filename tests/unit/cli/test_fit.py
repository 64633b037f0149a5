"""`modelplane fit`: answers on the examples, and every kind of bad input in one line."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from modelplane.sizing import catalogue
from tests.support import rendering
from tests.support.commands import CLASS, CLUSTER
from tests.unit.cli.test_shapes import differences

Json = Any
CLASSES = str(rendering.ROOT / "examples" / "classes")
QUICKSTART = str(rendering.ROOT / "examples" / "quickstart")
LLAMA = json.dumps(catalogue.find("Llama-3.1-8B").config)


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(["Qwen3-8B"], id="well-known GPUs"),
        pytest.param(["gpt-oss-120b", "--context", "64k", QUICKSTART], id="classes with pools"),
        pytest.param(["DeepSeek-V3.2", "--concurrency", "1k", "--cache", "fp8", CLASSES], id="latent, with MIG"),
        pytest.param(["Qwen3.5-397B-A17B", "--precision", "int4"], id="states"),
    ],
)
def test_an_answer_is_of_its_shape(run: Any, arguments: list[str]) -> None:
    done = run("fit", *arguments, "-o", "json")
    assert differences("fit", json.loads(done.out)) == []
    assert done.err == ""


def test_an_answer_adds_up(run: Any) -> None:
    found = json.loads(run("fit", "Mixtral-8x7B", "--context", "8k", "--concurrency", "4", "-o", "json").out)
    assert found["load"] == {"context": 8192, "concurrency": 4}
    assert found["weights"]["bytes"] == sum(part["bytes"] for part in found["weights"]["parts"])
    assert found["model"]["parameters"] == sum(part["parameters"] for part in found["weights"]["parts"])
    assert found["cache"]["bytes"] == 4 * 8192 * 131072
    for one in found["classes"]:
        for held in one["topologies"]:
            parts = [held[f"{name}BytesPerDevice"] for name in ("weights", "cache", "engine", "free")]
            assert sum(parts) == one["usableBytes"]
            assert held["devices"] == held["tensor"] * held["pipeline"] * held["data"]


def test_classes_of_documents_are_asked_and_their_pools_named(run: Any) -> None:
    given = {"class.yaml": CLASS, "cluster.yaml": CLUSTER}
    found = json.loads(run("fit", "Qwen3-0.6B", "class.yaml", "cluster.yaml", "-o", "json", files=given).out)
    (one,) = found["classes"]
    assert (one["name"], one["device"], one["pools"]) == ("l4", "gpu", [{"cluster": "c", "pool": "p"}])
    text = run("fit", "Qwen3-0.6B", "class.yaml", "cluster.yaml", files=given).out
    assert "l4/gpu" in text
    assert "c/p" in text


def test_the_cheapest_class_stands_first(run: Any) -> None:
    dear = CLASS.replace("name: l4", "name: dear").replace("spec:", "spec:\n  cost: {perNodeHour: '9'}", 1)
    cheap = CLASS.replace("name: l4", "name: cheap").replace("spec:", "spec:\n  cost: {perNodeHour: '0.80'}", 1)
    given = {"a.yaml": f"{dear}---\n{CLASS}---\n{cheap}"}
    found = json.loads(run("fit", "Qwen3-0.6B", "a.yaml", "-o", "json", files=given).out)
    prices = [(one["name"], one["topologies"][0]["costPerHour"]) for one in found["classes"]]
    assert prices == [("cheap", "0.8000"), ("dear", "9.0000"), ("l4", None)]


def test_a_model_that_fits_nowhere_says_why(run: Any) -> None:
    done = run("fit", "Kimi-K2", "class.yaml", files={"class.yaml": CLASS})
    assert done.code == 1
    assert "not l4/gpu with " in done.out
    assert "No class holds it under this load." in done.out


@pytest.mark.parametrize("name", ["config.json", "model", "./config.json"])
def test_a_config_of_ones_own(run: Any, tmp_path: Path, name: str) -> None:
    (tmp_path / "model").mkdir()
    done = run("fit", name, "-o", "json", files={"config.json": LLAMA, "model/config.json": LLAMA})
    assert done.code == 0
    assert json.loads(done.out)["model"]["parameters"] == 8030261248


def test_a_quantization_beside_the_config_counts(run: Any) -> None:
    beside = {"quantization": {"quant_algo": "FP8", "kv_cache_quant_algo": None, "exclude_modules": ["lm_head"]}}
    given = {"config.json": LLAMA, "hf_quant_config.json": json.dumps(beside)}
    found = json.loads(run("fit", "./config.json", "-o", "json", files=given).out)
    assert found["model"]["precision"] == "fp8"
    wrong = run("fit", "./config.json", files={"hf_quant_config.json": "[]"})
    assert (wrong.code, wrong.err.count("\n")) == (2, 1)
    assert "hf_quant_config.json: must be an object" in wrong.err


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param("{", "config.json:1: is not JSON: ", id="broken"),
        pytest.param("[]", "must be an object with the fields of a config.json, not a list", id="list"),
        pytest.param('{"a": ' + "9" * 5000 + "}", "has a number of more than 4300 digits", id="digits"),
        pytest.param("[" * 100_000, "is nested too deeply", id="deep"),
        pytest.param("{}", "model_type: is missing", id="empty"),
        pytest.param(LLAMA.replace("4096", "NaN", 1), "hidden_size: must be a whole number", id="not a number"),
        pytest.param(LLAMA.replace("4096", "1e400", 1), "hidden_size: must be a whole number", id="infinite"),
        pytest.param(
            '{"model_type": "\\ud800"}', "is an architecture whose memory is not known", id="half a character"
        ),
    ],
)
def test_a_config_that_is_wrong_is_one_line(run: Any, text: str, said: str) -> None:
    done = run("fit", "./config.json", files={"config.json": text})
    assert (done.code, done.out) == (2, "")
    assert said in done.err
    assert done.err.count("\n") == 1
    assert "config.json" in done.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        pytest.param(["Qwen3-9B"], "no model 'Qwen3-9B' is in the catalogue", id="unknown model"),
        pytest.param(
            ["Kimi-K2-Thinking"], "did you mean moonshotai/Kimi-K2-Instruct", id="a model of its own precision"
        ),
        pytest.param(["gpt-oss-20b-BF16"], "did you mean openai/gpt-oss-20b", id="an ending that the name lacks"),
        pytest.param(["./nothing.json"], "./nothing.json: no such file", id="no file"),
        pytest.param(["x\0y/config.json"], "no such file", id="no path"),
        pytest.param(["."], "config.json: no such file", id="no config in the directory"),
        pytest.param(["Qwen3-8B", "--context", "0"], "--context must be a whole number from 1", id="no context"),
        pytest.param(["Qwen3-8B", "--context", "1e5"], "such as 8192 or 32k, not '1e5'", id="float"),
        pytest.param(["Qwen3-8B", "--context", "\u0661k"], "--context must be a whole number", id="other digits"),
        pytest.param(["Qwen3-8B", "--context", "41k"], "is more than the model's 40960 tokens", id="too long"),
        pytest.param(["Qwen3-8B", "--concurrency", "9" * 400], "--concurrency must be", id="huge"),
        pytest.param(["Qwen3-8B", "--concurrency=-1"], "--concurrency must be a whole number", id="negative"),
        pytest.param(["Qwen3-8B", "--gpu", "H900"], "no class or GPU has that in its name; there are A10", id="gpu"),
        pytest.param(["Qwen3-8B", "--gpu", "-"], "no class or GPU has that in its name", id="gpu without letters"),
        pytest.param(["Qwen3-8B", "nothing.yaml"], "nothing.yaml: ", id="no documents"),
        pytest.param(
            ["Qwen3-8B", "in.yaml"], "no InferenceClass with the memory of a device is in in.yaml", id="no class"
        ),
        pytest.param(["Qwen3-8B", "bad.yaml"], "bad.yaml:9: document 1 (InferenceClass l4)", id="wrong class"),
    ],
)
def test_a_wrong_argument_is_one_line(run: Any, arguments: list[str], said: str) -> None:
    bad = CLASS.replace("23034Mi", "23034 Mi")
    done = run("fit", *arguments, files={"in.yaml": CLUSTER, "bad.yaml": bad})
    assert (done.code, done.out) == (2, "")
    assert said in done.err
    assert done.err.count("\n") == 1


def test_every_class_that_cannot_be_read_is_a_line(run: Any) -> None:
    bad = CLASS.replace("23034Mi", "23034 Mi")
    done = run("fit", "Qwen3-8B", "bad.yaml", files={"bad.yaml": f"{bad}---\n{bad.replace('l4', 'l5')}"})
    assert (done.code, done.out) == (2, "")
    assert [line.partition(": ")[0] for line in done.err.splitlines()] == ["bad.yaml:9", "bad.yaml:19"]


def test_what_is_skipped_with_a_warning_ends_nothing(run: Any, tmp_path: Path) -> None:
    (tmp_path / "fleet").mkdir()
    files = {"fleet/class.yaml": CLASS, "fleet/kustomization.yaml": "resources: [class.yaml]\n"}
    done = run("fit", "Qwen3-0.6B", "fleet", files=files)
    assert (done.code, "l4/gpu" in done.out) == (0, True)
    assert "warning: is a file of kustomize and skipped" in done.err
    asked = run("cel", "true", "--class", "fleet")
    assert (asked.code, "l4/gpu" in asked.out) == (0, True)


def test_the_catalogue_is_listed(run: Any) -> None:
    assert set(run("fit", "--models").out.splitlines()) == set(catalogue.read())
    without = run("fit")
    assert (without.code, "give a MODEL, or --models" in without.err) == (2, True)


def test_well_known_gpus_need_neither_yaml_nor_pydantic() -> None:
    code = (
        "import sys, modelplane_cli.__main__ as m; m.main(['fit', 'Qwen3-8B']);"
        "print([one for one in ('yaml', 'pydantic', 'grpc', 'google.protobuf') if one in sys.modules])"
    )
    made = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert made.stdout.splitlines()[-1] == "[]"
