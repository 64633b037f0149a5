"""Warnings of `validate` and `plan` about models that cannot fit where they would run."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest

from tests.support import planning as given

Json = Any

L4, H100, H200 = "23034Mi", "81559Mi", "143771Mi"
ANY = 'device.driver == "gpu.nvidia.com"'
B405, KIMI, QWEN = "meta-llama/Llama-3.1-405B-Instruct", "moonshotai/Kimi-K2-Instruct", "Qwen/Qwen3-8B"


def fleet(*classes: tuple[str, int, str], **fields: Any) -> list[Json]:
    """Return classes of a name, a number of devices and a memory, each with a cluster."""
    found = []
    for name, count, memory in classes:
        one = given.node_class(name, count=count, memory=memory)
        one["spec"]["devices"][0].update(copy.deepcopy(fields))
        found += [one, given.cluster(f"c-{name}", class_name=name)]
    return found


def model(name: str, *args: str, selector: str = ANY, **topology: Any) -> Json:
    """Return a deployment of one replica of a Hugging Face repository."""
    found = given.deployment(replicas=1, selector=selector)
    found["spec"]["model"]["uri"] = f"hf://{name}"
    found["spec"]["workers"]["topology"] = topology or {"tensor": 1}
    found["spec"]["workers"]["template"]["spec"]["containers"][0]["args"] = list(args)
    return found


def with_(one: Json, path: str, value: Json) -> Json:
    """Return the object with another value at a path of keys."""
    found = copy.deepcopy(one)
    at = found
    *front, last = path.split(".")
    for key in front:
        at = at[int(key)] if key.isdecimal() else at.setdefault(key, {})
    at[last] = value
    return found


def short(name: str, **fields: Json) -> Json:
    """Return an LLMInference."""
    metadata = {"name": "llama", "namespace": "ml-team"}
    spec = {"model": name, **fields}
    return {"apiVersion": "modelplane.ai/v1alpha1", "kind": "LLMInference", "metadata": metadata, "spec": spec}


def warned(said: str) -> list[str]:
    return [line for line in said.splitlines() if " GiB of weights" in line or "num_attention_heads" in line]


SHARED = {"allowMultipleAllocations": True}
MIG = {"attributes": {"profile": {"string": "1g.10gb"}}}
ENGINE = "spec.workers.template.spec.containers.0"
PREFILL = {"nodeSelector": {"cel": ANY}, "workers": model(B405)["spec"]["workers"]}


@pytest.mark.parametrize(
    ("objects", "field", "said"),
    [
        pytest.param(
            [*fleet(("h100", 8, H100)), model(B405)],
            "spec.workers.topology",
            "tensor 1 x pipeline 1, and the engine may use 73.3 of its 79.6 GiB; it fits on no class that its "
            "nodeSelector matches (h100); the smallest that holds it is tensor 8 x pipeline 2 on h100",
            id="405B on one device",
        ),
        pytest.param(
            [*fleet(("h100", 8, H100)), model(B405, tensor=8, pipeline=2)], None, None, id="405B over two nodes"
        ),
        pytest.param(
            [*fleet(("h100", 8, H100), ("h200", 8, H200)), model(B405, tensor=8)], None, None, id="one class holds it"
        ),
        pytest.param(
            [*fleet(("h100", 8, H100)), model(B405, "--quantization=fp8", "--max-model-len=8192", tensor=8)],
            None,
            None,
            id="quantized at start",
        ),
        pytest.param(
            [*fleet(("h100", 8, H100)), model(B405, "--quantization=bitsandbytes", tensor=4)],
            None,
            None,
            id="quantized to an unknown size",
        ),
        pytest.param(
            [*fleet(("h100", 8, H100)), model("RedHatAI/Meta-Llama-3.1-405B-Instruct-FP8")],
            None,
            None,
            id="a quantized repository that nobody knows",
        ),
        pytest.param(
            [*fleet(("h100", 8, H100)), model("nvidia/Kimi-K2.5-NVFP4", tensor=4)],
            "spec.workers.topology",
            "nvidia/Kimi-K2.5-NVFP4 at fp4 puts",
            id="a quantized repository of the catalogue",
        ),
        pytest.param(
            [*fleet(("l4", 1, L4)), model(QWEN)], "spec.workers.topology", "write --max-model-len=", id="the context"
        ),
        pytest.param([*fleet(("l4", 1, L4)), model(QWEN, "--max-model-len=8192")], None, None, id="a shorter context"),
        pytest.param([*fleet(("l4", 1, L4)), model(KIMI, "--new-flag")], None, None, id="a flag that nobody knows"),
        pytest.param([*fleet(("l4", 1, L4)), model(KIMI, "--cpu-offload-gb=900")], None, None, id="offloaded"),
        pytest.param(
            [*fleet(("l4", 1, L4)), model(KIMI, "--enable-lora")], "spec.workers.topology", "958.5 GiB", id="adapters"
        ),
        pytest.param(
            [*fleet(("h100", 8, H100)), model("meta-llama/Llama-3.1-8B", tensor=3)],
            "spec.workers.topology",
            "tensor 3 must divide num_attention_heads 32",
            id="heads",
        ),
        pytest.param([*fleet(("l4", 1, L4)), model("x/y")], None, None, id="an unknown model"),
        pytest.param(
            [*fleet(("l4", 1, L4)), with_(model(KIMI), "spec.model.uri", "s3://kimi")], None, None, id="a bucket"
        ),
        pytest.param(
            [*fleet(("l4", 1, L4)), with_(with_(model(KIMI), f"{ENGINE}.image", "x/y:1"), f"{ENGINE}.command", ["x"])],
            None,
            None,
            id="any engine",
        ),
        pytest.param(
            [*fleet(("l4", 1, L4)), with_(model(KIMI), f"{ENGINE}.command", ["sh", "-c", "x"])], None, None, id="shell"
        ),
        pytest.param([*fleet(("l4", 1, L4), capacity={}), model(KIMI)], None, None, id="a class without a memory"),
        pytest.param(
            [*fleet(("l4", 1, L4)), model(KIMI, selector='device.driver == "x"')], None, None, id="no class matches"
        ),
        pytest.param(
            [*fleet(("mig", 7, "9984Mi"), **MIG), model(QWEN)],
            "spec.workers.topology",
            "of its 9.8 GiB; it fits on no class that its nodeSelector matches (mig); no topology on the classes of "
            "the fleet holds it",
            id="a slice of a device",
        ),
        pytest.param([*fleet(("h100", 8, H100), **SHARED), model(QWEN)], None, None, id="a device that pods share"),
        pytest.param(
            [*fleet(("l4", 1, L4), **SHARED), model(KIMI)],
            "spec.workers.topology",
            "958.5 GiB of weights",
            id="a device that pods share, the whole of which is too small",
        ),
        pytest.param(
            [*fleet(("h100", 8, H100)), with_(model(B405, tensor=8, pipeline=2), "spec.prefill", PREFILL)],
            "spec.prefill.workers.topology",
            "756.0 GiB of weights",
            id="the role whose workers do not fit",
        ),
        pytest.param(
            [*fleet(("l4", 1, L4)), short(KIMI, gpu=1)], "spec.gpu", "958.5 GiB of weights", id="LLMInference"
        ),
        pytest.param(
            [*fleet(("l4", 1, L4)), short(QWEN, gpu=1)],
            "spec.gpu",
            "; write --max-model-len=",
            id="LLMInference takes the flag in its args",
        ),
        pytest.param(
            [*fleet(("l4", 1, L4)), short(QWEN, gpu=1, args=["--max-model-len=8192"])],
            None,
            None,
            id="LLMInference with a context that fits",
        ),
        pytest.param(
            [given.node_class("l4", count=1, memory=L4), model(KIMI)],
            "spec.workers.topology",
            "(l4)",
            id="classes without clusters",
        ),
        pytest.param(
            [*fleet(("l4", 1, L4)), given.node_class("h200", memory=H200), model(KIMI)],
            "spec.workers.topology",
            "no topology on the classes of the fleet holds it",
            id="a class that no pool has is no way out",
        ),
        pytest.param([model(KIMI)], None, None, id="nothing is known of the fleet"),
    ],
)
def test_validate(tmp_path: Path, objects: list[Json], field: str | None, said: str | None) -> None:
    file = given.written(tmp_path, "now", *objects)
    ran = given.run("validate", file)
    lines = warned(ran.out)
    assert ran.code == 0, ran.out
    assert len(lines) == (said is not None)
    if said is not None:
        (line,) = lines
        assert f": {field}: warning: " in line
        assert said in line
        number = int(line.removeprefix(f"{file}:").partition(":")[0])
        assert str(field).rpartition(".")[2] in Path(file).read_text().splitlines()[number - 1]


def test_plan_warns_of_the_pool_that_was_chosen(tmp_path: Path) -> None:
    objects = [*fleet(("l4", 1, L4), ("h100", 8, H100)), model(QWEN), given.cluster("busy", class_name="h100", nodes=0)]
    file = given.written(tmp_path, "now", *objects)
    assert warned(given.run("validate", file).out) == []
    placed = given.run("plan", file, "-o", "json")
    (row,) = placed.json["deployments"]
    (where,) = {one["cluster"] for one in row["replicas"]}
    lines = warned(placed.err)
    assert len(lines) == (where == "c-l4")
    ran = given.run("plan", given.written(tmp_path, "both", *objects[:-2], with_(model(QWEN), "spec.replicas", 2)))
    (line,) = warned(ran.err)
    assert ran.code == placed.code == 0
    assert "it is placed on pool gpu of cluster c-l4; write --max-model-len=" in line
    assert line.endswith(" or less; the smallest that holds it is tensor 1 on h100")


def test_plan_warns_of_what_an_inference_composes_and_of_what_has_no_place(tmp_path: Path) -> None:
    ran = given.run("plan", given.written(tmp_path, "now", *fleet(("l4", 1, L4)), short(KIMI, gpu=1)))
    (line,) = warned(ran.err)
    assert "(LLMInference ml-team/llama): spec.gpu: warning: " in line
    assert "it is placed on pool gpu of cluster c-l4" in line
    full = fleet(("l4", 1, L4))
    full[1]["spec"]["nodePools"][0]["nodeCount"] = 0
    (line,) = warned(given.run("plan", given.written(tmp_path, "full", *full, model(KIMI))).err)
    assert "it fits on no class that its nodeSelector matches (l4)" in line
