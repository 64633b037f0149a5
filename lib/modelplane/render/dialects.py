"""Dialects of the known engines: launchers and spelling of flags, one table per engine.

Source: vLLM 0.23 (`vllm serve`, engine/arg_utils; --nnodes and --node-rank with the mp backend from 0.12), SGLang 0.5
(launch_server), TensorRT-LLM 1.x (trtllm-serve), llama.cpp (llama-server). A table has no entry for a flag that its
engine does not have, and nothing is added for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from modelplane.render.arguments import Option, Takes
from modelplane.workload.model import EngineType


class Flag(StrEnum):
    """The meaning of a flag, independent of its name in an engine."""

    MODEL = "model"
    REVISION = "revision"
    SERVED_NAME = "served name"
    TENSOR = "tensor"
    PIPELINE = "pipeline"
    DATA = "data"
    DATA_LOCAL = "dataLocal"
    DATA_ATTENTION = "data-parallel attention"
    EXPERT = "expert"
    HOST = "host"
    PORT = "port"
    KV_TRANSFER = "KV transfer"
    DISAGGREGATION = "role in disaggregation"
    TRANSFER_BACKEND = "means of KV transfer"
    BOOTSTRAP_PORT = "port where KV transfers are agreed"
    METRICS = "metrics"
    NODES = "nodes of the gang"
    RANK = "rank in the gang"
    LEADER = "leader of the gang"
    HEADLESS = "no HTTP server"
    DATA_ADDRESS = "address of data-parallel rank 0"
    DATA_PORT = "port of data-parallel rank 0"


@dataclass(frozen=True, slots=True)
class Launcher:
    """The words that start an engine. With `takes_model` the model may follow without a flag."""

    words: tuple[str, ...]
    takes_model: bool = False


@dataclass(frozen=True, slots=True)
class Dialect:
    """The dialect of an engine: its launchers, its flags, and the flags that are refused in a gang.

    Modelplane uses the first launcher.
    """

    launchers: tuple[Launcher, ...]
    options: Mapping[Flag, Option]
    refused_in_gang: Mapping[str, str] = field(default_factory=dict)


_OWN_LOAD_BALANCING = (
    "only the leader of a gang receives requests, so every rank must be served by it; "
    "leave the flag out and vLLM balances over the ranks itself"
)

_VLLM = Dialect(
    launchers=(
        Launcher(("vllm", "serve"), takes_model=True),
        Launcher(("python3", "-m", "vllm.entrypoints.openai.api_server")),
        Launcher(("python", "-m", "vllm.entrypoints.openai.api_server")),
    ),
    options={
        Flag.MODEL: Option(("--model",)),
        Flag.REVISION: Option(("--revision",)),
        Flag.SERVED_NAME: Option(("--served-model-name",), Takes.MANY),
        Flag.TENSOR: Option(("--tensor-parallel-size", "-tp")),
        Flag.PIPELINE: Option(("--pipeline-parallel-size", "-pp")),
        Flag.DATA: Option(("--data-parallel-size", "-dp")),
        Flag.DATA_LOCAL: Option(("--data-parallel-size-local", "-dpl")),
        Flag.EXPERT: Option(("--enable-expert-parallel", "-ep"), Takes.NOTHING),
        Flag.PORT: Option(("--port",)),
        Flag.KV_TRANSFER: Option(("--kv-transfer-config",)),
        Flag.NODES: Option(("--nnodes", "-n")),
        Flag.RANK: Option(("--node-rank", "-r")),
        Flag.LEADER: Option(("--master-addr",)),
        Flag.HEADLESS: Option(("--headless",), Takes.NOTHING),
        Flag.DATA_ADDRESS: Option(("--data-parallel-address", "-dpa")),
        Flag.DATA_PORT: Option(("--data-parallel-rpc-port", "-dpp")),
    },
    refused_in_gang={
        "--headless": "it is added to the workers of a gang and must be absent on the leader; leave it out",
        "--data-parallel-hybrid-lb": _OWN_LOAD_BALANCING,
        "-dph": _OWN_LOAD_BALANCING,
        "--data-parallel-external-lb": _OWN_LOAD_BALANCING,
        "-dpe": _OWN_LOAD_BALANCING,
        "--data-parallel-rank": _OWN_LOAD_BALANCING,
        "-dpn": _OWN_LOAD_BALANCING,
        "--data-parallel-start-rank": "it follows from the pod's rank in the gang; leave it out",
        "-dpr": "it follows from the pod's rank in the gang; leave it out",
        "--distributed-executor-backend=ray": "a gang is wired without Ray; leave the flag out",
        "--data-parallel-backend=ray": "a gang is wired without Ray; leave the flag out",
    },
)

_SGLANG = Dialect(
    launchers=(
        Launcher(("python3", "-m", "sglang.launch_server")),
        Launcher(("python", "-m", "sglang.launch_server")),
        Launcher(("sglang", "serve")),
    ),
    options={
        Flag.MODEL: Option(("--model-path", "--model")),
        Flag.REVISION: Option(("--revision",)),
        Flag.SERVED_NAME: Option(("--served-model-name",)),
        Flag.TENSOR: Option(("--tp-size", "--tensor-parallel-size", "--tp")),
        Flag.PIPELINE: Option(("--pp-size", "--pipeline-parallel-size", "--pp")),
        Flag.DATA: Option(("--dp-size", "--data-parallel-size", "--dp")),
        Flag.DATA_ATTENTION: Option(("--enable-dp-attention",), Takes.NOTHING),
        Flag.EXPERT: Option(("--ep-size", "--expert-parallel-size", "--ep")),
        Flag.HOST: Option(("--host",)),
        Flag.PORT: Option(("--port",)),
        Flag.NODES: Option(("--nnodes",)),
        Flag.RANK: Option(("--node-rank",)),
        Flag.LEADER: Option(("--dist-init-addr", "--nccl-init-addr")),
        Flag.DISAGGREGATION: Option(("--disaggregation-mode",)),
        Flag.TRANSFER_BACKEND: Option(("--disaggregation-transfer-backend",)),
        Flag.BOOTSTRAP_PORT: Option(("--disaggregation-bootstrap-port",)),
        Flag.METRICS: Option(("--enable-metrics",), Takes.NOTHING),
    },
)

_TRTLLM = Dialect(
    launchers=(Launcher(("trtllm-serve", "serve"), takes_model=True), Launcher(("trtllm-serve",), takes_model=True)),
    options={
        Flag.TENSOR: Option(("--tp_size", "--tensor_parallel_size")),
        Flag.PIPELINE: Option(("--pp_size", "--pipeline_parallel_size")),
        Flag.EXPERT: Option(("--ep_size", "--moe_expert_parallel_size")),
        Flag.HOST: Option(("--host",)),
        Flag.PORT: Option(("--port",)),
    },
)

_LLAMACPP = Dialect(
    launchers=(Launcher(("/app/llama-server",)), Launcher(("llama-server",))),
    options={
        Flag.MODEL: Option(("--hf-repo", "-hf", "-hfr", "--model", "-m")),
        Flag.SERVED_NAME: Option(("--alias", "-a")),
        Flag.HOST: Option(("--host",)),
        Flag.PORT: Option(("--port",)),
        Flag.METRICS: Option(("--metrics",), Takes.NOTHING),
    },
)

DIALECTS: Mapping[EngineType, Dialect] = {
    EngineType.VLLM: _VLLM,
    EngineType.SGLANG: _SGLANG,
    EngineType.TRTLLM: _TRTLLM,
    EngineType.LLAMACPP: _LLAMACPP,
}
