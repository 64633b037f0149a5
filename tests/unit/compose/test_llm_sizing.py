"""LLMInference without `gpu`: the smallest number that holds a known model, chosen once and kept."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from modelplane import names
from modelplane.api import llm_inference as api
from modelplane.devices import matching
from modelplane.devices.model import Request
from modelplane.errors import InvalidInput
from modelplane.sizing import catalogue
from modelplane_functions.compose import llm_inference
from modelplane_functions.exchange import Observed, Outcome, Ready, Truth
from tests.support import planning as given

Json = Any

L4, A100, H100, H200, B200 = "23034Mi", "81920Mi", "81559Mi", "143771Mi", "183359Mi"
KIMI, QWEN, LLAMA = "moonshotai/Kimi-K2-Instruct", "Qwen/Qwen3-8B", "meta-llama/Llama-3.1-70B-Instruct"
ANY = 'device.driver == "gpu.nvidia.com"'


def fleet(*pools: tuple[str, int, str, int], driver: str = "gpu.nvidia.com", **labels: str) -> list[Json]:
    """Return classes of a name, devices of a node, their memory, and clusters with so many nodes of each."""
    found: list[Json] = []
    for name, count, memory, nodes in pools:
        one = given.node_class(name, count=count, memory=memory)
        one["spec"]["devices"][0]["driver"] = driver
        found += [one, given.cluster(f"c-{name}", class_name=name, nodes=nodes, **labels)]
    return found


def document(**spec: Json) -> Json:
    metadata = {"name": "llama", "namespace": "ml-team"}
    image = {"image": "vllm/vllm-openai:v0.23.0"}
    found = {"apiVersion": names.API_VERSION, "kind": "LLMInference", "metadata": metadata, "spec": {**image, **spec}}
    return json.loads(json.dumps(found))


def compose(world: Iterable[Json], children: Json = None, **spec: Json) -> Outcome:
    """Return the outcome with what it requires of the world."""
    observed = Observed(document(**spec), children or {})
    outcome = llm_inference.compose(observed)
    if not outcome.requirements or outcome.children:
        return outcome
    every = list(world)
    required = {
        key: tuple(one for one in every if one["kind"] == wanted.kind) for key, wanted in outcome.requirements.items()
    }
    return llm_inference.compose(Observed(document(**spec), children or {}, required))


def spec_of(outcome: Outcome) -> Json:
    return outcome.children["deployment"].resource["spec"]


def observed(outcome: Outcome) -> Json:
    """Return the children as a control plane holds them."""
    return {key: copy.deepcopy(dict(child.resource)) for key, child in outcome.children.items()}


def plain(outcome: Outcome) -> Json:
    return {key: child.resource for key, child in outcome.children.items()}


MIXED = fleet(("l4", 1, L4, 4), ("h100", 8, H100, 2), ("h200", 8, H200, 2))


@pytest.mark.parametrize(
    ("world", "spec", "topology", "least"),
    [
        pytest.param(MIXED, {"model": QWEN}, {"tensor": 1}, H100, id="one device, of the smallest kind that holds it"),
        pytest.param(
            MIXED,
            {"model": QWEN, "args": ["--max-model-len=8192"]},
            {"tensor": 1},
            L4,
            id="a shorter context needs less memory",
        ),
        pytest.param(
            MIXED,
            {"model": "BAAI/bge-m3", "args": ["--runner=pooling"]},
            {"tensor": 1},
            L4,
            id="an embedding model keeps no cache",
        ),
        pytest.param(MIXED, {"model": LLAMA}, {"tensor": 2}, H200, id="two large devices before four smaller ones"),
        pytest.param(
            fleet(("h100", 8, H100, 2)), {"model": LLAMA}, {"tensor": 4}, H100, id="as many as the fleet's kind needs"
        ),
        pytest.param(MIXED, {"model": KIMI}, {"tensor": 8, "pipeline": 2}, H100, id="two nodes where no node holds it"),
        pytest.param(
            [*MIXED, *fleet(("b200", 8, B200, 1))], {"model": KIMI}, {"tensor": 8}, B200, id="one node before two"
        ),
        pytest.param(
            [*fleet(("h200", 8, H200, 1)), *fleet(("h100", 8, H100, 2))],
            {"model": LLAMA, "clusterName": "c-h100"},
            {"tensor": 4},
            H100,
            id="of the cluster that is named",
        ),
        pytest.param(
            [*fleet(("h200", 8, H200, 1), tier="gold"), *fleet(("h100", 8, H100, 2), tier="silver")],
            {
                "model": LLAMA,
                "clusterSelector": {"matchExpressions": [{"key": "tier", "operator": "NotIn", "values": ["gold"]}]},
            },
            {"tensor": 4},
            H100,
            id="of the clusters that are selected",
        ),
        pytest.param(
            [
                *(
                    given.tainted(one) if one["kind"] == "InferenceCluster" else one
                    for one in fleet(("h200", 8, H200, 1))
                ),
                *fleet(("h100", 8, H100, 2)),
            ],
            {"model": LLAMA},
            {"tensor": 4},
            H100,
            id="no cluster with a taint",
        ),
        pytest.param(
            [*fleet(("mi300", 8, "196592Mi", 1), driver="gpu.amd.com"), *fleet(("h200", 8, H200, 1))],
            {"model": LLAMA, "image": "rocm/vllm:1"},
            {"tensor": 2},
            "196592Mi",
            id="the devices that the image is built for",
        ),
    ],
)
def test_the_smallest_number_that_holds_the_model(world: Json, spec: Json, topology: Json, least: str) -> None:
    outcome = compose(world, **spec)
    found = spec_of(outcome)
    assert found["workers"]["topology"] == topology
    assert found["nodeSelector"]["cel"].endswith(f'.memory.compareTo(quantity("{least}")) >= 0')
    assert outcome.status["gpu"] == topology["tensor"] * topology.get("pipeline", 1)
    assert outcome.status["nodes"] == topology.get("pipeline", 1)
    engine = found["workers"]["template"]["spec"]["containers"][0]
    assert engine["resources"]["requests"]["cpu"] == str(2 * topology["tensor"])


def test_the_selector_matches_what_holds_it_and_nothing_smaller() -> None:
    found = spec_of(compose(MIXED, model=LLAMA))
    request = Request("gpu", 2, (found["nodeSelector"]["cel"],))
    from modelplane.api import inference_class  # noqa: PLC0415 - only here

    matched = {
        one["metadata"]["name"]: bool(matching.match(inference_class.decode(one), (request,), ()).options)
        for one in MIXED
        if one["kind"] == "InferenceClass"
    }
    assert matched == {"l4": False, "h100": False, "h200": True}


@pytest.mark.parametrize(
    ("world", "spec", "said"),
    [
        pytest.param(
            MIXED, {"model": "acme/own-7b"}, "write the number of GPUs (modelplane fit --models", id="unknown"
        ),
        pytest.param(MIXED, {"model": "s3://bucket/qwen"}, "is not known", id="a bucket"),
        pytest.param(
            MIXED, {"model": QWEN, "image": "ghcr.io/ggml-org/llama.cpp:server"}, "is not known", id="another engine"
        ),
        pytest.param(
            fleet(("l4", 1, L4, 4)),
            {"model": KIMI},
            "up to 4 nodes of 1 x 22.5 GiB",
            id="nothing in the fleet holds it",
        ),
        pytest.param(
            fleet(("h200", 8, H200, 1)), {"model": KIMI}, "up to 1 nodes of 8 x", id="more nodes than a pool has"
        ),
    ],
)
def test_hold_the_number_must_be_written(world: Json, spec: Json, said: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        compose(world, **spec)
    assert str(caught.value).startswith("spec.gpu: is required: ")
    assert said in str(caught.value)


@pytest.mark.parametrize(
    "world",
    [
        pytest.param([], id="no cluster"),
        pytest.param([one for one in MIXED if one["kind"] == "InferenceClass"], id="classes and no cluster"),
        pytest.param([one for one in MIXED if one["kind"] == "InferenceCluster"], id="clusters and no class"),
        pytest.param(fleet(("mi300", 8, "196592Mi", 1), driver="gpu.amd.com"), id="no device of the vendor"),
    ],
)
def test_a_fleet_that_says_nothing_yet_is_waited_for(world: Json) -> None:
    outcome = compose(world, model=QWEN)
    (condition,) = outcome.conditions
    assert (condition.type, condition.status, condition.reason) == ("Accepted", Truth.FALSE, "NotSized")
    assert "Qwen/Qwen3-8B at bf16 has 15.3 GiB of weights" in condition.message
    assert outcome.children == {}
    assert outcome.ready is Ready.FALSE
    chosen = observed(compose(MIXED, model=LLAMA))
    held = compose(world, chosen, model=QWEN)
    assert plain(held) == chosen, "another model, and nobody can say yet how many GPUs it needs"


@pytest.mark.parametrize("written", [None, 3])
def test_hold_replicas_stay_with_whoever_scales(written: int | None) -> None:
    """Applied again they would belong to this composite, and an older number would be forced on the autoscaler."""
    spec = {} if written is None else {"replicas": written}
    chosen = observed(compose(MIXED, model=LLAMA, **spec))
    chosen["deployment"]["spec"]["replicas"] = written or 7
    held = compose([], chosen, model=QWEN, **spec)
    assert held.conditions[0].reason == "NotSized"
    assert spec_of(held).get("replicas") == written
    assert {**spec_of(held), "replicas": written or 7} == chosen["deployment"]["spec"]


CHOSEN = compose(MIXED, model=LLAMA)


def _later(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalogue, "published", lambda repository: None)


@pytest.mark.parametrize(
    "world",
    [
        pytest.param(MIXED, id="the same"),
        pytest.param([], id="nothing is listed"),
        pytest.param(fleet(("b200", 8, B200, 1)), id="larger devices that would do with fewer"),
        pytest.param(fleet(("l4", 1, L4, 4)), id="only devices that are too small"),
    ],
)
@pytest.mark.parametrize(
    "change",
    [
        pytest.param({}, id="nothing"),
        pytest.param({"host": "llama.ml-team.models.example.com"}, id="host"),
        pytest.param({"replicas": 3}, id="replicas"),
        pytest.param({"modelCacheRef": {"name": "llama"}}, id="a cache"),
    ],
)
@pytest.mark.parametrize("is_forgotten", [False, True], ids=["known", "a later catalogue does not know it"])
def test_hold_a_number_that_was_chosen_stays(
    monkeypatch: pytest.MonkeyPatch,
    world: Json,
    change: Json,
    is_forgotten: bool,  # noqa: FBT001 - a table's column
) -> None:
    if is_forgotten:
        _later(monkeypatch)
    again = compose(world, observed(CHOSEN), model=LLAMA, **change)
    assert again.requirements == {}, "nothing of the fleet is read"
    assert spec_of(again)["workers"] == spec_of(CHOSEN)["workers"]
    assert spec_of(again)["nodeSelector"] == spec_of(CHOSEN)["nodeSelector"]
    assert spec_of(again).get("replicas") == change.get("replicas")


RECORD = ("metadata", "annotations", names.ANNOTATION_SIZE)


def _broken(path: tuple[str, ...], value: Json) -> Callable[[Json], None]:
    def change(child: Json) -> None:
        at = child
        for key in path[:-1]:
            at = at[key]
        if value is None:
            del at[path[-1]]
        else:
            at[path[-1]] = value

    return change


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(_broken(RECORD, None), id="removed"),
        pytest.param(_broken(("metadata", "annotations"), None), id="no annotation"),
        pytest.param(_broken(RECORD, "{"), id="no JSON"),
        pytest.param(_broken(RECORD, "[" * 5000), id="nested"),
        pytest.param(_broken(RECORD, "[]"), id="no object"),
        pytest.param(_broken(RECORD, '{"from": 7, "tensor": 64}'), id="mistyped"),
        pytest.param(
            _broken(
                RECORD,
                CHOSEN.children["deployment"]
                .resource["metadata"]["annotations"][names.ANNOTATION_SIZE]
                .replace('"tensor":2', '"tensor":-2'),
            ),
            id="no number of devices",
        ),
        pytest.param(_broken(("spec", "workers", "topology", "tensor"), 8), id="the deployment was edited: reverted"),
    ],
)
def test_hold_a_wrong_record_restarts_nothing(change: Callable[[Json], None]) -> None:
    children = observed(CHOSEN)
    change(children["deployment"])
    assert plain(compose([], children, model=LLAMA)) == plain(CHOSEN)


@pytest.mark.parametrize(
    ("change", "topology"),
    [
        pytest.param({"model": QWEN}, {"tensor": 1}, id="another model"),
        pytest.param({"gpu": 4}, {"tensor": 4}, id="a number is written"),
        pytest.param({"args": ["--quantization=fp8"]}, {"tensor": 1}, id="arguments that make it smaller"),
        pytest.param({"clusterName": "c-h100"}, {"tensor": 4}, id="other clusters"),
    ],
)
def test_an_edit_of_the_author_is_sized_anew(change: Json, topology: Json) -> None:
    again = compose(MIXED, observed(CHOSEN), **{"model": LLAMA, **change})
    assert spec_of(again)["workers"]["topology"] == topology


def _of_the_release_before(**spec: Json) -> Json:
    """Return the deployment as releases composed it that sized nothing: no record, a start budget by GPUs alone."""
    children = observed(compose([], **spec))
    deployment = children["deployment"]
    del deployment["metadata"]["annotations"]
    engine = deployment["spec"]["workers"]["template"]["spec"]["containers"][0]
    engine["startupProbe"]["failureThreshold"] = (600 + 300 * spec["gpu"]) // 10
    return children


@pytest.mark.parametrize("gpu", [1, 2, 8])
@pytest.mark.parametrize("model", [KIMI, QWEN, "acme/own-7b"])
def test_hold_an_upgrade_changes_no_spec(model: str, gpu: int) -> None:
    before = _of_the_release_before(model=model, gpu=gpu)
    after = compose([], copy.deepcopy(before), model=model, gpu=gpu)
    assert spec_of(after) == before["deployment"]["spec"]
    again = compose([], observed(after), model=model, gpu=gpu)
    assert plain(again) == plain(after)
    edited = compose([], observed(after), model=model, gpu=gpu, args=["--seed=1"])
    assert edited.children["deployment"].resource["metadata"] != after.children["deployment"].resource["metadata"]


@pytest.mark.parametrize(
    ("spec", "tries"),
    [
        pytest.param({"model": "acme/own-7b", "gpu": 8}, 300, id="not known: by GPUs"),
        pytest.param({"model": QWEN, "gpu": 1}, 127, id="8B: the base, and a minute"),
        pytest.param({"model": KIMI, "gpu": 8}, 532, id="1T: an hour and a half"),
    ],
)
def test_the_start_budget_follows_the_weights(spec: Json, tries: int) -> None:
    probe = spec_of(compose([], **spec))["workers"]["template"]["spec"]["containers"][0]["startupProbe"]
    assert probe["failureThreshold"] == tries


def test_arguments_and_replicas_are_passed_on() -> None:
    found = spec_of(
        compose([], model="acme/e", gpu=1, args=["--runner=pooling", "--max-model-len", "8192"], replicas=0)
    )
    assert found["replicas"] == 0
    assert found["workers"]["template"]["spec"]["containers"][0]["args"] == [
        "--runner=pooling",
        "--max-model-len",
        "8192",
    ]


@pytest.mark.parametrize(
    ("spec", "path"),
    [
        pytest.param({"replicas": -1}, "spec.replicas", id="replicas"),
        pytest.param({"args": "--a"}, "spec.args", id="args"),
        pytest.param({"args": [7]}, "spec.args[0]", id="an argument"),
        pytest.param({"gpu": 17}, "spec.gpu", id="gpu"),
    ],
)
def test_hold_a_mistake_is_an_error_before_anything_is_applied(spec: Json, path: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        compose(MIXED, observed(CHOSEN), **{"model": LLAMA, **spec})
    assert str(caught.value).startswith(f"{path}: ")


def test_the_digest_is_of_what_a_size_is_derived_from() -> None:
    def written(**spec: Json) -> str:
        return api.decode(document(**{"model": LLAMA, **spec})).written

    assert written() == written(host="a.ml-team.x", replicas=2)
    assert len({written(), written(gpu=1), written(args=["--a"]), written(image="x/y"), written(model=QWEN)}) == 5
