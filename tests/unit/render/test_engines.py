"""Command lines: what is added, what is left alone, and how a flag is read."""

from __future__ import annotations

from typing import Any

import pytest

from modelplane.errors import InvalidInput
from modelplane.render import authored, engines
from modelplane.render.engines import Launch, Member
from modelplane.topology.shape import Topology
from modelplane.workload.model import EngineType, Role
from tests.support import launches


@pytest.mark.parametrize(
    ("launch", "container", "command", "args"),
    [
        pytest.param(
            launches.launch(),
            {},
            "vllm serve",
            "--port 8000",
            id="nothing known but the port",
        ),
        pytest.param(
            launches.launch(model_path="meta-llama/L", served_names=launches.NAMES),
            {"args": ["--max-model-len", "32768"]},
            "vllm serve",
            "meta-llama/L --max-model-len 32768 --served-model-name llama publishers/ml-team/models/llama --port 8000",
            id="model first, ours after the author's",
        ),
        pytest.param(
            launches.launch(topology=Topology(tensor=8)),
            {"args": ["--model=meta-llama/L"]},
            "vllm serve",
            "--model=meta-llama/L --port 8000 --tensor-parallel-size 8",
            id="the author's spelling stays",
        ),
        pytest.param(
            launches.launch(model_path="meta-llama/L"),
            {"command": ["vllm", "serve", "meta-llama/L"], "args": ["--dtype=auto"]},
            "vllm serve",
            "meta-llama/L --dtype=auto --port 8000",
            id="model inside the command",
        ),
        pytest.param(
            launches.launch(model_path="meta-llama/L"),
            {"command": ["python3", "-m", "vllm.entrypoints.openai.api_server"]},
            "python3 -m vllm.entrypoints.openai.api_server",
            "--model meta-llama/L --port 8000",
            id="the older launcher takes no positional model",
        ),
        pytest.param(
            launches.launch(),
            {"args": ["/usr/local/bin/vllm", "serve", "m"]},
            "/usr/local/bin/vllm serve",
            "m --port 8000",
            id="launcher written as arguments",
        ),
        pytest.param(
            launches.launch(topology=Topology(tensor=2, data=4, data_local=4, expert=True)),
            {},
            "vllm serve",
            "--port 8000 --tensor-parallel-size 2 --data-parallel-size 4 --data-parallel-size-local 4 "
            "--enable-expert-parallel",
            id="data and expert parallel on one node",
        ),
        pytest.param(
            launches.launch(topology=Topology(tensor=8, pipeline=2), member=Member.LEADER),
            {},
            "vllm serve",
            "--port 8000 --tensor-parallel-size 8 --pipeline-parallel-size 2 --nnodes "
            "$(MODELPLANE_WORLD_SIZE) --node-rank $(MODELPLANE_RANK) --master-addr "
            "$(MODELPLANE_LEADER_ADDRESS)",
            id="leader of a pipeline",
        ),
        pytest.param(
            launches.launch(topology=Topology(tensor=8, pipeline=2), member=Member.WORKER, served_names=launches.NAMES),
            {},
            "vllm serve",
            "--tensor-parallel-size 8 --pipeline-parallel-size 2 --nnodes $(MODELPLANE_WORLD_SIZE) "
            "--node-rank $(MODELPLANE_RANK) --master-addr $(MODELPLANE_LEADER_ADDRESS) --headless",
            id="worker of a pipeline serves nothing",
        ),
        pytest.param(
            launches.launch(topology=Topology(tensor=4, data=4, data_local=2), member=Member.LEADER),
            {},
            "vllm serve",
            "--port 8000 --tensor-parallel-size 4 --data-parallel-size 4 --data-parallel-size-local 2 "
            "--nnodes $(MODELPLANE_WORLD_SIZE) --node-rank $(MODELPLANE_RANK) --master-addr "
            "$(MODELPLANE_LEADER_ADDRESS) --data-parallel-address $(MODELPLANE_POD_IP) "
            "--data-parallel-rpc-port 5555",
            id="leader of data-parallel ranks binds its own address",
        ),
        pytest.param(
            launches.launch(is_disaggregated=True, role=Role.PREFILL),
            {},
            "vllm serve",
            '--port 8000 --kv-transfer-config {"kv_connector":"NixlConnector","kv_role":"kv_producer"}',
            id="prefill produces the KV cache",
        ),
        pytest.param(
            launches.launch(is_disaggregated=True, port=8001),
            {"args": ["--kv-transfer-config", '{"kv_connector":"LMCache","kv_role":"kv_both"}']},
            "vllm serve",
            '--kv-transfer-config {"kv_connector":"LMCache","kv_role":"kv_both"} --port 8001',
            id="an author's connector that does both stays",
        ),
        pytest.param(
            launches.launch(is_disaggregated=True),
            {"args": ["--kv-transfer-config.kv_role", "kv_both"]},
            "vllm serve",
            "--kv-transfer-config.kv_role kv_both --port 8000",
            id="a configuration given in parts is not given twice",
        ),
        pytest.param(
            launches.launch(EngineType.SGLANG, Topology(tensor=4), model_path="Qwen/Q", served_names=launches.NAMES),
            {},
            "python3 -m sglang.launch_server",
            "--model-path Qwen/Q --served-model-name llama --host 0.0.0.0 --port 8000 --tp-size 4",
            id="SGLang listens on all addresses and has one name",
        ),
        pytest.param(
            launches.launch(
                EngineType.SGLANG, Topology(tensor=2, data=8, data_local=4, expert=True), member=Member.WORKER
            ),
            {},
            "python3 -m sglang.launch_server",
            "--tp-size 16 --dp-size 8 --enable-dp-attention --ep-size 16 --nnodes "
            "$(MODELPLANE_WORLD_SIZE) --node-rank $(MODELPLANE_RANK) --dist-init-addr "
            "$(MODELPLANE_LEADER_ADDRESS):20000",
            id="SGLang's ranks over nodes share one tensor group",
        ),
        pytest.param(
            launches.launch(EngineType.TRTLLM, Topology(tensor=8, expert=True), model_path="nvidia/N"),
            {"args": ["--max_batch_size", "8"]},
            "trtllm-serve serve",
            "nvidia/N --max_batch_size 8 --host 0.0.0.0 --port 8000 --tp_size 8 --ep_size 8",
            id="TensorRT-LLM",
        ),
        pytest.param(
            launches.launch(EngineType.LLAMACPP, model_path="ggml-org/g:Q4_K_M", served_names=launches.NAMES),
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
    line = engines.command_line(launches.launch(engine, Topology(tensor=8), model_path="m"), container)
    assert line.is_opaque
    assert line.added == ()
    assert (*line.command, *line.args) == (*container.get("command", ()), *container.get("args", ()))


@pytest.mark.parametrize(
    ("engine", "args", "index", "says"),
    [
        pytest.param(EngineType.VLLM, ["--tensor-parallel", "2"], 0, "says 2, workers.topology.tensor", id="shortened"),
        pytest.param(
            EngineType.VLLM, ["--tensor_parallel=2"], 0, "says 2, workers.topology.tensor", id="and rewritten"
        ),
        pytest.param(EngineType.SGLANG, ["--tp", "2"], 0, "says 2, workers.topology.tensor", id="SGLang's documents"),
        pytest.param(EngineType.SGLANG, ["--tensor-parallel-size=2"], 0, "says 2", id="SGLang's longer name"),
        pytest.param(EngineType.TRTLLM, ["m", "--tensor_parallel_size", "2"], 1, "says 2", id="TensorRT-LLM"),
        pytest.param(EngineType.TRTLLM, ["--tp_size", "2", "m"], 0, "says 2", id="model behind its flags"),
        pytest.param(EngineType.SGLANG, ["--tp_size", "2"], 0, "write --tp-size", id="SGLang has no underscores"),
        pytest.param(EngineType.TRTLLM, ["m", "--tp-size", "2"], 1, "write --tp_size", id="click has no dashes"),
        pytest.param(EngineType.LLAMACPP, ["--port=8000"], 0, 'write "--port", "8000"', id="llama.cpp has no ="),
        pytest.param(EngineType.VLLM, ["--data-par", "2"], 0, "write one of them in full", id="short for several"),
        pytest.param(EngineType.VLLM, ["m", "--max-model-len"], 1, "needs one value behind it", id="value forgotten"),
        pytest.param(EngineType.VLLM, ["--enforce-eager=true"], 0, "remove =true", id="value too much"),
        pytest.param(EngineType.VLLM, ["m", "n"], 1, "n does not belong to a flag", id="two models"),
        pytest.param(EngineType.LLAMACPP, ["serve"], 0, "does not belong to a flag", id="a word of its own"),
    ],
)
def test_a_flag_is_read_as_its_engine_reads_it(engine: EngineType, args: list[str], index: int, says: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        launches.line(launches.launch(engine), args=args)
    assert says in caught.value.message
    assert caught.value.path == ("args", index)


def test_sglangs_own_size_of_attention_stands_for_the_older_pair() -> None:
    launch = launches.launch(EngineType.SGLANG, Topology(tensor=2, data=8, data_local=8, expert=True))
    assert launches.line(launch, args=["--attn-dp-size", "8"])[1] == [
        *("--attn-dp-size", "8", "--host", "0.0.0.0", "--port", "8000", "--tp-size", "16", "--ep-size", "16"),  # noqa: S104 - a pod serves
    ]
    for args in (["--attn-dp-size=4"], ["--attn-dp-size=8", "--dp-size=8"]):
        with pytest.raises(InvalidInput):
            launches.line(launch, args=args)


def test_an_opaque_command_without_arguments_fills_both_fields() -> None:
    assert launches.line(launches.launch(EngineType.CUSTOM), command=["serve", "--x", "y"]) == (["serve"], ["--x", "y"])


@pytest.mark.parametrize(
    "spelling", [["-tp", "4"], ["-tp=4"], ["--tensor-parallel-size=4"], ["--tensor_parallel_size", "4"]]
)
def test_every_spelling_of_a_flag_is_understood(spelling: list[str]) -> None:
    with pytest.raises(InvalidInput) as caught:
        launches.line(launches.launch(topology=Topology(tensor=8)), args=["m", *spelling])
    assert "says 4" in caught.value.message
    assert "says 8" in caught.value.message
    assert caught.value.path == ("args", 1)
    assert (
        "--tensor-parallel-size"
        not in launches.line(launches.launch(topology=Topology(tensor=4)), args=["m", *spelling])[1][3:]
    )


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
    assert authored.served_model(launches.launch().engine, container) == model
