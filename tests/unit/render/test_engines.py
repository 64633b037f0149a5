"""Command lines: what is added, what is refused, and what is left alone."""

from __future__ import annotations

from typing import Any

import pytest

from modelplane.errors import InvalidInput
from modelplane.render import engines
from modelplane.render.engines import Launch, Member
from modelplane.topology.shape import Topology
from modelplane.workload.model import EngineType, Role

NAMES = ("llama", "publishers/ml-team/models/llama")


def _launch(engine: EngineType = EngineType.VLLM, topology: Topology | None = None, **fields: Any) -> Launch:
    given: dict[str, Any] = {"role": Role.DECODE, "member": Member.ALONE, "port": 8000}
    return Launch(engine=engine, topology=topology or Topology(), **{**given, **fields})


def _line(launch: Launch, **container: Any) -> tuple[list[str], list[str]]:
    line = engines.command_line(launch, container)
    return list(line.command), list(line.args)


@pytest.mark.parametrize(
    ("launch", "container", "command", "args"),
    [
        pytest.param(
            _launch(),
            {},
            "vllm serve",
            "--port 8000",
            id="nothing known but the port",
        ),
        pytest.param(
            _launch(model_path="meta-llama/L", served_names=NAMES),
            {"args": ["--max-model-len", "32768"]},
            "vllm serve",
            "meta-llama/L --max-model-len 32768 --served-model-name llama publishers/ml-team/models/llama --port 8000",
            id="model first, ours after the author's",
        ),
        pytest.param(
            _launch(topology=Topology(tensor=8)),
            {"args": ["--model=meta-llama/L"]},
            "vllm serve",
            "--model=meta-llama/L --port 8000 --tensor-parallel-size 8",
            id="the author's spelling stays",
        ),
        pytest.param(
            _launch(model_path="meta-llama/L"),
            {"command": ["vllm", "serve", "meta-llama/L"], "args": ["--dtype=auto"]},
            "vllm serve",
            "meta-llama/L --dtype=auto --port 8000",
            id="model inside the command",
        ),
        pytest.param(
            _launch(model_path="meta-llama/L"),
            {"command": ["python3", "-m", "vllm.entrypoints.openai.api_server"]},
            "python3 -m vllm.entrypoints.openai.api_server",
            "--model meta-llama/L --port 8000",
            id="the older launcher takes no positional model",
        ),
        pytest.param(
            _launch(),
            {"args": ["/usr/local/bin/vllm", "serve", "m"]},
            "/usr/local/bin/vllm serve",
            "m --port 8000",
            id="launcher written as arguments",
        ),
        pytest.param(
            _launch(topology=Topology(tensor=2, data=4, data_local=4, expert=True)),
            {},
            "vllm serve",
            "--port 8000 --tensor-parallel-size 2 --data-parallel-size 4 --data-parallel-size-local 4 "
            "--enable-expert-parallel",
            id="data and expert parallel on one node",
        ),
        pytest.param(
            _launch(topology=Topology(tensor=8, pipeline=2), member=Member.LEADER),
            {},
            "vllm serve",
            "--port 8000 --tensor-parallel-size 8 --pipeline-parallel-size 2 --nnodes "
            "$(MODELPLANE_WORLD_SIZE) --node-rank $(MODELPLANE_RANK) --master-addr "
            "$(MODELPLANE_LEADER_ADDRESS)",
            id="leader of a pipeline",
        ),
        pytest.param(
            _launch(topology=Topology(tensor=8, pipeline=2), member=Member.WORKER, served_names=NAMES),
            {},
            "vllm serve",
            "--tensor-parallel-size 8 --pipeline-parallel-size 2 --nnodes $(MODELPLANE_WORLD_SIZE) "
            "--node-rank $(MODELPLANE_RANK) --master-addr $(MODELPLANE_LEADER_ADDRESS) --headless",
            id="worker of a pipeline serves nothing",
        ),
        pytest.param(
            _launch(topology=Topology(tensor=4, data=4, data_local=2), member=Member.LEADER),
            {},
            "vllm serve",
            "--port 8000 --tensor-parallel-size 4 --data-parallel-size 4 --data-parallel-size-local 2 "
            "--nnodes $(MODELPLANE_WORLD_SIZE) --node-rank $(MODELPLANE_RANK) --master-addr "
            "$(MODELPLANE_LEADER_ADDRESS) --data-parallel-address $(MODELPLANE_POD_IP) "
            "--data-parallel-rpc-port 5555",
            id="leader of data-parallel ranks binds its own address",
        ),
        pytest.param(
            _launch(is_disaggregated=True, role=Role.PREFILL),
            {},
            "vllm serve",
            '--port 8000 --kv-transfer-config {"kv_connector":"NixlConnector","kv_role":"kv_producer"}',
            id="prefill produces the KV cache",
        ),
        pytest.param(
            _launch(is_disaggregated=True, port=8001),
            {"args": ["--kv-transfer-config", '{"kv_connector":"LMCache","kv_role":"kv_both"}']},
            "vllm serve",
            '--kv-transfer-config {"kv_connector":"LMCache","kv_role":"kv_both"} --port 8001',
            id="an author's connector that does both stays",
        ),
        pytest.param(
            _launch(is_disaggregated=True),
            {"args": ["--kv-transfer-config.kv_role", "kv_both"]},
            "vllm serve",
            "--kv-transfer-config.kv_role kv_both --port 8000",
            id="a configuration given in parts is not given twice",
        ),
        pytest.param(
            _launch(EngineType.SGLANG, Topology(tensor=4), model_path="Qwen/Q", served_names=NAMES),
            {},
            "python3 -m sglang.launch_server",
            "--model-path Qwen/Q --served-model-name llama --host 0.0.0.0 --port 8000 --tp-size 4",
            id="SGLang listens on all addresses and has one name",
        ),
        pytest.param(
            _launch(EngineType.SGLANG, Topology(tensor=2, data=8, data_local=4, expert=True), member=Member.WORKER),
            {},
            "python3 -m sglang.launch_server",
            "--tp-size 16 --dp-size 8 --enable-dp-attention --ep-size 16 --nnodes "
            "$(MODELPLANE_WORLD_SIZE) --node-rank $(MODELPLANE_RANK) --dist-init-addr "
            "$(MODELPLANE_LEADER_ADDRESS):20000",
            id="SGLang's ranks over nodes share one tensor group",
        ),
        pytest.param(
            _launch(EngineType.TRTLLM, Topology(tensor=8, expert=True), model_path="nvidia/N"),
            {"args": ["--max_batch_size", "8"]},
            "trtllm-serve serve",
            "nvidia/N --max_batch_size 8 --host 0.0.0.0 --port 8000 --tp_size 8 --ep_size 8",
            id="TensorRT-LLM",
        ),
        pytest.param(
            _launch(EngineType.LLAMACPP, model_path="ggml-org/g:Q4_K_M", served_names=NAMES),
            {"args": ["-ngl", "99"]},
            "/app/llama-server",
            "-ngl 99 --hf-repo ggml-org/g:Q4_K_M --alias llama --host 0.0.0.0 --port 8000",
            id="llama.cpp",
        ),
    ],
)
def test_what_follows_is_added(launch: Launch, container: dict[str, Any], command: str, args: str) -> None:
    line = engines.command_line(launch, container)
    assert (" ".join(line.command), " ".join(line.args)) == (command, args)


@pytest.mark.parametrize(
    ("engine", "container"),
    [
        pytest.param(EngineType.VLLM, {"command": ["sh", "-c", "vllm serve x -tp 3"]}, id="shell"),
        pytest.param(EngineType.VLLM, {"command": ["/bin/bash", "-lc"], "args": ["vllm serve x"]}, id="shell by path"),
        pytest.param(EngineType.VLLM, {"args": ["sh", "-c", "x"]}, id="shell in the arguments"),
        pytest.param(EngineType.VLLM, {"command": ["/entry.sh"], "args": ["-tp", "3"]}, id="unknown program"),
        pytest.param(EngineType.CUSTOM, {"command": ["vllm", "serve"], "args": ["-tp", "3"]}, id="custom engine"),
    ],
)
def test_opaque_commands_are_neither_read_nor_changed(engine: EngineType, container: dict[str, Any]) -> None:
    line = engines.command_line(_launch(engine, Topology(tensor=8), model_path="m"), container)
    assert line.is_opaque
    assert line.added == ()
    assert (*line.command, *line.args) == (*container.get("command", ()), *container.get("args", ()))


def test_an_opaque_command_without_arguments_fills_both_fields() -> None:
    assert _line(_launch(EngineType.CUSTOM), command=["serve", "--x", "y"]) == (["serve"], ["--x", "y"])


@pytest.mark.parametrize(
    "spelling", [["-tp", "4"], ["-tp=4"], ["--tensor-parallel-size=4"], ["--tensor_parallel_size", "4"]]
)
def test_every_spelling_of_a_flag_is_understood(spelling: list[str]) -> None:
    with pytest.raises(InvalidInput) as caught:
        _line(_launch(topology=Topology(tensor=8)), args=["m", *spelling])
    assert "says 4" in caught.value.message
    assert "says 8" in caught.value.message
    assert caught.value.path == ("args", 1)
    assert "--tensor-parallel-size" not in _line(_launch(topology=Topology(tensor=4)), args=["m", *spelling])[1][3:]


@pytest.mark.parametrize(
    ("launch", "args", "says"),
    [
        pytest.param(_launch(), ["-pp", "2"], "workers.topology.pipeline says 1", id="pipeline without a topology"),
        pytest.param(_launch(), ["--enable-expert-parallel"], "workers.topology.expert says false", id="experts"),
        pytest.param(
            _launch(topology=Topology(expert=True)),
            ["--no-enable-expert-parallel"],
            "expert says true",
            id="denied",
        ),
        pytest.param(_launch(), ["--port=9000"], "serving technology's port says 8000", id="port"),
        pytest.param(_launch(model_path="a/b"), ["c/d"], "model.uri says a/b", id="model"),
        pytest.param(_launch(model_path="a/b"), ["--model", "c/d"], "model.uri says a/b", id="model by flag"),
        pytest.param(_launch(served_names=NAMES), ["--served-model-name", "x", "y"], "model.name says", id="name"),
        pytest.param(
            _launch(is_disaggregated=True),
            ["--kv-transfer-config", '{"kv_role":"kv_producer"}'],
            "the role decode says kv_consumer or kv_both",
            id="KV role",
        ),
        pytest.param(
            _launch(is_disaggregated=True), ["--kv-transfer-config", "{"], "needs a JSON object", id="KV configuration"
        ),
        pytest.param(
            _launch(is_disaggregated=True),
            ["--kv-transfer-config", '{"a":' + "[" * 100_000],
            "needs a JSON object",
            id="KV configuration without end",
        ),
        pytest.param(
            _launch(topology=Topology(pipeline=2), member=Member.LEADER), ["--headless"], "leave it out", id="headless"
        ),
        pytest.param(
            _launch(topology=Topology(data=2), member=Member.LEADER),
            ["--data-parallel-hybrid-lb"],
            "only the leader",
            id="own balancing",
        ),
        pytest.param(
            _launch(topology=Topology(pipeline=2), member=Member.LEADER),
            ["--distributed-executor-backend", "ray"],
            "without Ray",
            id="Ray",
        ),
    ],
)
def test_contradictions_are_refused_with_both_values(launch: Launch, args: list[str], says: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        _line(launch, args=args)
    assert says in caught.value.message


@pytest.mark.parametrize(
    ("launch", "args"),
    [
        pytest.param(_launch(served_names=NAMES), ["--served-model-name", "x", "llama"], id="a further name"),
        pytest.param(_launch(topology=Topology(tensor=8)), ["-tp", "$(TP)"], id="a value only the kubelet knows"),
        pytest.param(_launch(), ["--enable-expert-parallel", "--no-enable-expert-parallel"], id="the last one wins"),
        pytest.param(_launch(topology=Topology(data=2)), ["--distributed-executor-backend", "mp"], id="not Ray"),
        pytest.param(_launch(), ["--headless-mode-of-mine"], id="a longer name is another flag"),
    ],
)
def test_what_does_not_contradict_is_taken(launch: Launch, args: list[str]) -> None:
    assert _line(launch, args=args)[1][: len(args)] == args


@pytest.mark.parametrize(
    ("container", "model"),
    [
        pytest.param({"args": ["a/b"]}, "a/b", id="leading"),
        pytest.param({"args": ["--x", "--model=a/b"]}, "a/b", id="flag"),
        pytest.param({"args": ["--x", "y"]}, None, id="not said"),
        pytest.param({"args": ["$(MODEL)"]}, None, id="only the kubelet knows"),
        pytest.param({"command": ["sh", "-c", "vllm serve a/b"]}, None, id="opaque"),
    ],
)
def test_model_the_arguments_name(container: dict[str, Any], model: str | None) -> None:
    assert engines.served_model(_launch(), container) == model
