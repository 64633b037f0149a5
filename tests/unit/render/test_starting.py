"""The start of an engine: the model that it loads, and the flags that decide or may decide its memory."""

from __future__ import annotations

from typing import Any

import pytest

from modelplane.render import starting
from modelplane.render.dialects import DIALECTS
from modelplane.sizing.verdict import Start
from modelplane.topology.shape import Topology
from modelplane.workload.model import EngineType, Model, Role, RoleSpec

QWEN = "Qwen/Qwen3-8B"
VLLM, SGLANG, TRTLLM = EngineType.VLLM, EngineType.SGLANG, EngineType.TRTLLM


def started(
    *args: str,
    engine: EngineType = VLLM,
    uri: str | None = f"hf://{QWEN}",
    topology: Topology | None = None,
    **container: Any,
) -> Start | None:
    template = {"spec": {"containers": [{"name": "engine", "image": "x", "args": [*args], **container}]}}
    role = RoleSpec(Role.DECODE, 1, topology or Topology(), (), (), template)
    return starting.of(engine, Model("m", uri), role)


@pytest.mark.parametrize(
    ("given", "name"),
    [
        pytest.param(started(), QWEN, id="by its URI"),
        pytest.param(started(uri="hf://Qwen/Qwen3-8B@main"), QWEN, id="with a revision"),
        pytest.param(started("--model=Qwen/Qwen3-8B", uri=None), QWEN, id="by a flag"),
        pytest.param(started(QWEN, uri=None), QWEN, id="by its place"),
        pytest.param(started("--model-path", QWEN, uri=None, engine=SGLANG), QWEN, id="by SGLang's flag"),
        pytest.param(started(uri="s3://models/Qwen/Qwen3-8B"), None, id="a bucket may hold anything"),
        pytest.param(started("--model=/models/qwen3-8b", uri=None), None, id="and so may a path"),
        pytest.param(started("--model=$(MODEL)", uri=None), None, id="only the kubelet knows"),
        pytest.param(started(uri=None), None, id="not said"),
        pytest.param(started(uri="hf://RedHatAI/Qwen3-8B-quantized.w4a16"), None, id="not in the catalogue"),
        pytest.param(started(uri="hf://unsloth/Qwen3-8B"), None, id="the model of another organisation"),
        pytest.param(started(engine=EngineType.LLAMACPP), None, id="llama.cpp loads other files"),
        pytest.param(started(engine=EngineType.CUSTOM), None, id="an unknown engine"),
        pytest.param(started(command=["sh", "-c", "vllm serve Qwen/Qwen3-8B"]), None, id="a shell is opaque"),
        pytest.param(started("--max-num", "8"), None, id="refused where it is rendered"),
    ],
)
def test_model(given: Start | None, name: str | None) -> None:
    assert (given and given.repository) == name


@pytest.mark.parametrize(
    ("args", "field", "value"),
    [
        pytest.param((), "context", None, id="the model's own context"),
        pytest.param(("--max-model-len=8192",), "context", 8192, id="a shorter one"),
        pytest.param(("--max_model_len", "8k"), "context", 8000, id="k are thousands"),
        pytest.param(("--max-model-len=8K",), "context", 8192, id="K are 1024"),
        pytest.param(("--max-model-len=8192",), "context_flag", "--max-model-len", id="room for one is demanded"),
        pytest.param(("--max-model-len=auto",), "context_flag", "", id="not where the engine shortens it itself"),
        pytest.param(("--max-model-len=-1",), "context_flag", "", id="nor here"),
        pytest.param(("--max-model-len=$(LENGTH)",), "context_flag", "", id="nor where only the kubelet knows it"),
        pytest.param(("--kv-cache-dtype=nvfp4",), "context_flag", "", id="nor with a cache of unknown size"),
        pytest.param(("-dcp", "2"), "context_flag", "", id="nor with a cache over several devices"),
        pytest.param(("--kv-cache-memory-bytes=1G",), "share_most", 10_000, id="a cache of its own size"),
        pytest.param((), "share_most", 9200, id="what vLLM takes"),
        pytest.param(("--gpu-memory-utilization=0.5",), "share", 5000, id="half of the device"),
        pytest.param(("--gpu-memory-utilization", ".955"), "share", 9550, id="more of it"),
        pytest.param(("--gpu-memory-utilization=$(SHARE)",), "share_most", 10_000, id="perhaps all of it"),
        pytest.param(("--kv-cache-dtype=fp8_e4m3",), "element", 1, id="a cache of 8 bits"),
        pytest.param(("--kv-cache-dtype", "auto"), "element", None, id="a cache as the model has it"),
        pytest.param(("--quantization=fp8",), "quantized", "fp8", id="quantized at start"),
        pytest.param(("-q", "modelopt_fp4"), "quantized", None, id="quantized already"),
        pytest.param(("-q", "bitsandbytes"), "lessens", ("--quantization",), id="quantized to an unknown size"),
        pytest.param(("-q", "bitsandbytes"), "adds", ("--quantization",), id="which may be more than is counted"),
        pytest.param(("--load-format=dummy",), "lessens", ("--load-format",), id="other files"),
        pytest.param(("--load-format=runai_streamer",), "lessens", (), id="the same files, read in another way"),
        pytest.param(("--cpu-offload-gb=40",), "lessens", ("--cpu-offload-gb",), id="offloaded"),
        pytest.param(("--cpu-offload-gb=40",), "adds", (), id="which adds nothing"),
        pytest.param(("--enable-lora", "--max-loras=4"), "lessens", (), id="adapters lessen nothing"),
        pytest.param(("--enable-lora", "--max-loras=4"), "adds", ("--enable-lora",), id="but take more"),
        pytest.param(("--no-enable-lora",), "adds", (), id="denied"),
        pytest.param(("--hf-overrides.num_hidden_layers", "4"), "lessens", ("--hf-overrides",), id="another model"),
        pytest.param(("--half-the-memory",), "lessens", ("--half-the-memory",), id="a flag of a later version"),
        pytest.param(("--max-num-seqs=32",), "adds", (), id="a small batch"),
        pytest.param(("--max-num-seqs=4096",), "adds", ("--max-num-seqs",), id="a large one"),
        pytest.param(("--dtype=float32",), "adds", ("--dtype",), id="weights of 32 bits"),
        pytest.param(("--block-size=128", "--enable-prefix-caching"), "adds", (), id="flags without an effect"),
    ],
)
def test_flags_of_vllm(args: tuple[str, ...], field: str, value: object) -> None:
    found = started(*args)
    assert found is not None
    assert getattr(found, field) == value


@pytest.mark.parametrize(
    ("engine", "args", "topology", "field", "value"),
    [
        pytest.param(SGLANG, ("--context-length", "8192"), Topology(), "context", 8192, id="SGLang's context"),
        pytest.param(SGLANG, (), Topology(), "context_flag", "", id="for which it demands no room"),
        pytest.param(SGLANG, ("--mem-fraction-static=0.8",), Topology(), "share", 8000, id="its share"),
        pytest.param(SGLANG, (), Topology(2, data=2, data_local=2), "lessens", ("workers.topology.data",), id="data"),
        pytest.param(SGLANG, (), Topology(2, 2), "lessens", ("workers.topology.pipeline",), id="its own pipeline"),
        pytest.param(TRTLLM, ("--max_seq_len", "8192"), Topology(), "context", 8192, id="TensorRT-LLM's context"),
        pytest.param(TRTLLM, ("--config", "x.yaml"), Topology(), "lessens", ("--config",), id="a file with settings"),
        pytest.param(VLLM, (), Topology(2, 2), "lessens", (), id="vLLM's pipeline is counted"),
    ],
)
def test_engines(engine: EngineType, args: tuple[str, ...], topology: Topology, field: str, value: object) -> None:
    found = started(*args, engine=engine, topology=topology)
    assert found is not None
    assert getattr(found, field) == value


def test_an_uneven_pipeline_is_not_counted() -> None:
    found = started(topology=Topology(2, 2), env=[{"name": "VLLM_PP_LAYER_PARTITION", "value": "4,32"}])
    assert found is not None
    assert found.lessens == found.adds == ("VLLM_PP_LAYER_PARTITION",)


@pytest.mark.parametrize("engine", list(starting.MEANINGS))
def test_every_flag_is_one_of_the_engine(engine: EngineType) -> None:
    found, table = starting.MEANINGS[engine], DIALECTS[engine].table
    single = (found.limits, found.share, found.quantizes, found.loads, found.cache, found.tokens, found.sequences)
    names = {*single, found.precision, *found.lessen, *found.add, *found.change, *found.undemanding} - {""}
    assert names <= {option.name for option, _ in table.known.values()}
