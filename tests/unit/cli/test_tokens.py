"""A gated model that nobody gives a token is told before an engine fails on it: line, field, and what to write."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest

from modelplane.sizing import catalogue, gated
from tests.support import planning as given
from tests.support.edits import merge

Json = Any

GATED, OPEN = "meta-llama/Llama-3.1-8B-Instruct", "Qwen/Qwen3-8B"
CONTAINER = "spec.workers.template.spec.containers[0]"
REF = {"secretKeyRef": {"name": "hf-token", "key": "token"}}


def deployment(repository: str = GATED, **engine: Json) -> Json:
    found = given.deployment(replicas=1)
    found["spec"]["model"] = {"name": "llama", "uri": f"hf://{repository}"}
    del found["spec"]["workers"]["template"]["spec"]["containers"][0]["env"]
    merge(found["spec"]["workers"]["template"]["spec"]["containers"][0], engine)
    return found


def with_volume(kind: str) -> Json:
    found = deployment(volumeMounts=[{"name": "files", "mountPath": "/files"}])
    found["spec"]["workers"]["template"]["spec"]["volumes"] = [{"name": "files", **VOLUMES[kind]}]
    return found


VOLUMES: dict[str, Json] = {
    "emptyDir": {"emptyDir": {}},
    "persistentVolumeClaim": {"persistentVolumeClaim": {"claimName": "weights"}},
    "secret": {"secret": {"secretName": "hf"}},
}


def changed(**fields: Json) -> Json:
    found = deployment()
    merge(found["spec"], fields)
    return found


def named_by_argument() -> Json:
    found = deployment(args=[f"--model={GATED}"])
    del found["spec"]["model"]
    return found


def cache(repository: str = GATED, **fields: Json) -> Json:
    return {
        "apiVersion": "modelplane.ai/v1alpha1",
        "kind": "ModelCache",
        "metadata": {"name": "weights", "namespace": "ml-team"},
        "spec": {"source": {"huggingFace": {"repo": repository, **fields}}, "size": "20Gi"},
    }


def short() -> Json:
    return {
        "apiVersion": "modelplane.ai/v1alpha1",
        "kind": "LLMInference",
        "metadata": {"name": "llama", "namespace": "ml-team"},
        "spec": {"model": GATED, "gpu": 1},
    }


def mirrored() -> Json:
    found = given.cluster("a")
    found["spec"]["storage"] = {"hubEndpoint": "https://hub.example.com"}
    return found


def prefill() -> Json:
    found = deployment(env=[{"name": "HF_TOKEN", "valueFrom": REF}])
    workers = copy.deepcopy(found["spec"]["workers"])
    del workers["template"]["spec"]["containers"][0]["env"]
    found["spec"]["prefill"] = {"nodeSelector": found["spec"]["nodeSelector"], "workers": workers}
    return found


WARNED: dict[str, tuple[Json, str]] = {
    "an engine without environment": (deployment(), CONTAINER),
    "an environment without the token": (deployment(env=[{"name": "X", "value": "1"}]), f"{CONTAINER}.env"),
    "an empty token": (deployment(env=[{"name": "HF_TOKEN", "value": ""}]), f"{CONTAINER}.env"),
    "a revision": (changed(model={"uri": f"hf://{GATED}@main"}), CONTAINER),
    "another case of the name": (deployment("Meta-Llama/llama-3.1-8b-instruct"), CONTAINER),
    "a model outside the catalogue": (deployment("google/gemma-3-27b-it"), CONTAINER),
    "a model named by an argument": (named_by_argument(), CONTAINER),
    "another engine": (deployment(image="lmsysorg/sglang:v0.5.9"), CONTAINER),
    "a volume that is empty at the start": (with_volume("emptyDir"), CONTAINER),
    "the role without the token": (prefill(), "spec.prefill.workers.template.spec.containers[0]"),
    "a cache without a Secret": (cache(), "spec.source.huggingFace"),
}


@pytest.mark.parametrize(("document", "field"), WARNED.values(), ids=WARNED.keys())
def test_a_gated_model_without_a_token_is_told_once(tmp_path: Path, document: Json, field: str) -> None:
    file = given.written(tmp_path, "now", given.node_class(), given.cluster("a"), document)
    ran = given.run("validate", file, "-o", "json")
    assert ran.code == 0, "a warning refuses nothing"
    (problem,) = ran.json["problems"]
    assert (problem["path"], problem["severity"]) == (field, "warning")
    assert "is gated on the Hugging Face hub" in problem["message"]
    assert ("; add HF_TOKEN to env" if document["kind"] == "ModelDeployment" else "; add tokenSecretRef") in (
        problem["message"]
    )
    line = Path(file).read_text(encoding="utf-8").splitlines()[problem["line"] - 1]
    key = field.rpartition(".")[2].partition("[")[0]
    assert key in line or line.lstrip().startswith("- "), line
    assert "is gated" in given.run("plan", file).err, "a plan says it, too"


QUIET: dict[str, tuple[Json, ...]] = {
    "an open model": (deployment(OPEN),),
    "a model that is gated, and nobody can show it": (deployment("mistralai/Mixtral-8x7B-v0.1"),),
    "Gemma 4, which is open": (deployment("google/gemma-4-26B-A4B"),),
    "a copy of another organisation": (deployment("RedHatAI/Meta-Llama-3.1-70B-Instruct-FP8"),),
    "a token of a Secret": (deployment(env=[{"name": "HF_TOKEN", "valueFrom": REF}]),),
    "a token that is written": (deployment(env=[{"name": "HF_TOKEN", "value": "hf_x"}]),),
    "the older variable": (deployment(env=[{"name": "HUGGING_FACE_HUB_TOKEN", "valueFrom": REF}]),),
    "a file with the token": (deployment(env=[{"name": "HF_TOKEN_PATH", "value": "/hf/token"}]),),
    "a whole Secret, which may have it": (deployment(envFrom=[{"secretRef": {"name": "hf"}}]),),
    "a mirror of the hub": (deployment(env=[{"name": "HF_ENDPOINT", "value": "https://hub.example.com"}]),),
    "a command that logs in": (deployment(command=["sh", "-c"], args=["hf auth login --token $T && exec vllm serve"]),),
    "an argument with the token": (deployment(args=["--hf-token=$(TOKEN)"]),),
    "weights in a claim": (with_volume("persistentVolumeClaim"),),
    "a token in a volume": (with_volume("secret"),),
    "a cache, which has its own warning": (
        changed(modelCacheRef={"name": "weights"}),
        cache(tokenSecretRef={"name": "t"}),
    ),
    "a cache of an open model": (cache(OPEN),),
    "a cache with a mirror on a cluster": (cache(), mirrored()),
    "a bucket": (changed(model={"uri": "s3://weights/meta-llama/Llama-3.1-8B-Instruct"}),),
    "an LLMInference, which reads the Secret huggingface-token": (short(),),
}


@pytest.mark.parametrize("documents", QUIET.values(), ids=QUIET.keys())
def test_what_has_a_token_or_may_have_one_gets_no_warning(tmp_path: Path, documents: tuple[Json, ...]) -> None:
    others = [given.node_class()] + (
        [] if any(one["kind"] == "InferenceCluster" for one in documents) else [given.cluster("a")]
    )
    ran = given.run("validate", given.written(tmp_path, "now", *others, *documents), "-o", "json")
    assert [one["message"] for one in ran.json["problems"] if "gated" in one["message"]] == []


def test_a_cache_without_a_secret_is_told_once_and_not_at_its_deployments(tmp_path: Path) -> None:
    documents = (changed(modelCacheRef={"name": "weights"}), cache())
    ran = given.run(
        "validate", given.written(tmp_path, "now", given.node_class(), given.cluster("a"), *documents), "-o", "json"
    )
    assert [one["object"] for one in ran.json["problems"] if "gated" in one["message"]] == [
        "ModelCache ml-team/weights"
    ]


def test_every_gate_has_evidence_and_a_date() -> None:
    for one in gated.GATES:
        assert one.source.startswith("https://"), one
        assert one.prefix == one.prefix.lower(), "names are compared in lower case"
        assert one.seen[:4].isdigit(), one
        assert "2023" < one.seen < "2026-12", one


def test_the_models_of_the_catalogue_that_are_gated_are_these() -> None:
    """A new entry is either shown to be gated or thought to be open, and both are said here."""
    assert [name for name in sorted(catalogue.read()) if gated.gate(name)] == [
        "google/embeddinggemma-300m",
        "meta-llama/Llama-4-Maverick-17B-128E-Instruct",
        "meta-llama/Llama-4-Scout-17B-16E-Instruct",
        "meta-llama/Meta-Llama-3.1-405B",
        "meta-llama/Meta-Llama-3.1-70B",
        "meta-llama/Meta-Llama-3.1-8B",
    ]
