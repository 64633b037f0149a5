"""Dialects of the known engines: their launchers, and the flags that mean something to Modelplane.

Names and values of all flags are in the tables (`flags`). A dialect has no entry for a flag that its engine does not
have, and nothing is added for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from modelplane.render.flags import llamacpp, sglang, trtllm, vllm
from modelplane.render.flags.table import Table
from modelplane.workload.model import EngineType


class Flag(StrEnum):
    """The meaning of a flag, independent of its name in an engine."""

    MODEL = "model"
    MODEL_FILE = "file of the model"
    REVISION = "revision"
    SERVED_NAME = "served name"
    TENSOR = "tensor"
    PIPELINE = "pipeline"
    DATA = "data"
    DATA_LOCAL = "dataLocal"
    DATA_ATTENTION = "data-parallel attention"
    ATTENTION_DATA = "ranks of data-parallel attention"
    CONTEXT = "context parallel"
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
    """The words that start an engine.

    With `takes_model` the model is written behind them without a flag. With `reads_model` the author may do so.
    """

    words: tuple[str, ...]
    takes_model: bool = False
    reads_model: bool = False


@dataclass(frozen=True, slots=True)
class Dialect:
    """The dialect of an engine: its launchers, its table, and the names of its flags.

    Modelplane uses the first launcher, and writes the names in `options`. Flags that are `compared` are never added.
    `refused` are the names that would keep probes or routes from the engine, with the reason; "=" and a value limits
    the refusal to it. `refused_in_gang` are refused where a worker spans nodes, `refused_with_data` where it has data
    ranks.
    """

    table: Table
    launchers: tuple[Launcher, ...]
    options: Mapping[Flag, str]
    compared: frozenset[Flag] = frozenset()
    refused: Mapping[str, str] = field(default_factory=dict)
    refused_in_gang: Mapping[str, str] = field(default_factory=dict)
    refused_with_data: Mapping[str, str] = field(default_factory=dict)


_OWN_LOAD_BALANCING = (
    "only the leader of a gang receives requests, so every rank must be served by it; "
    "leave the flag out and vLLM balances over the ranks itself"
)
_ONE_RANK = (
    "the pod would run one rank of its own, and workers.topology.data runs all of them; "
    "leave the flag out and vLLM balances over the ranks itself"
)
_ENDS = "the engine prints a text and ends; remove it"
_NO_HTTP = "probes and routes speak HTTP to the engine's port; remove it"
_NO_TLS = "probes and routes speak HTTP without TLS to the engine, the gateway ends TLS; remove it"
_ANOTHER_PATH = "probes and routes ask for /health and /v1 without a prefix; remove it"

_VLLM = Dialect(
    table=vllm.TABLE,
    launchers=(
        Launcher(("vllm", "serve"), takes_model=True, reads_model=True),
        Launcher(("python3", "-m", "vllm.entrypoints.openai.api_server")),
        Launcher(("python", "-m", "vllm.entrypoints.openai.api_server")),
    ),
    options={
        Flag.MODEL: "--model",
        Flag.REVISION: "--revision",
        Flag.SERVED_NAME: "--served-model-name",
        Flag.TENSOR: "--tensor-parallel-size",
        Flag.PIPELINE: "--pipeline-parallel-size",
        Flag.DATA: "--data-parallel-size",
        Flag.DATA_LOCAL: "--data-parallel-size-local",
        Flag.CONTEXT: "--prefill-context-parallel-size",
        Flag.EXPERT: "--enable-expert-parallel",
        Flag.HOST: "--host",
        Flag.PORT: "--port",
        Flag.KV_TRANSFER: "--kv-transfer-config",
        Flag.NODES: "--nnodes",
        Flag.RANK: "--node-rank",
        Flag.LEADER: "--master-addr",
        Flag.HEADLESS: "--headless",
        Flag.DATA_ADDRESS: "--data-parallel-address",
        Flag.DATA_PORT: "--data-parallel-rpc-port",
    },
    # Without it vLLM listens on every address.
    compared=frozenset({Flag.HOST, Flag.CONTEXT}),
    refused={
        "--uds": _NO_HTTP,
        "--grpc": _NO_HTTP,
        "--headless": "nothing would answer probes and routes; remove it, it is added where it is needed",
        "--ssl-keyfile": _NO_TLS,
        "--ssl-certfile": _NO_TLS,
        "--help": _ENDS,
    },
    refused_in_gang={
        "--data-parallel-hybrid-lb": _OWN_LOAD_BALANCING,
        "--data-parallel-external-lb": _OWN_LOAD_BALANCING,
        "--data-parallel-rank": _OWN_LOAD_BALANCING,
        "--data-parallel-start-rank": "it follows from the pod's rank in the gang; remove it",
        "--distributed-executor-backend=ray": "a gang is wired without Ray; remove it",
        "--data-parallel-backend=ray": "a gang is wired without Ray; remove it",
    },
    refused_with_data={
        "--data-parallel-external-lb": _ONE_RANK,
        "--data-parallel-multi-port-external-lb": _ONE_RANK,
        "--data-parallel-rank": _ONE_RANK,
    },
)

_SGLANG = Dialect(
    table=sglang.TABLE,
    launchers=(
        Launcher(("python3", "-m", "sglang.launch_server")),
        Launcher(("python", "-m", "sglang.launch_server")),
        Launcher(("sglang", "serve"), reads_model=True),
    ),
    options={
        Flag.MODEL: "--model-path",
        Flag.REVISION: "--revision",
        Flag.SERVED_NAME: "--served-model-name",
        Flag.TENSOR: "--tp-size",
        Flag.PIPELINE: "--pp-size",
        Flag.DATA: "--dp-size",
        Flag.DATA_ATTENTION: "--enable-dp-attention",
        Flag.ATTENTION_DATA: "--attn-dp-size",
        Flag.EXPERT: "--ep-size",
        Flag.HOST: "--host",
        Flag.PORT: "--port",
        Flag.NODES: "--nnodes",
        Flag.RANK: "--node-rank",
        Flag.LEADER: "--dist-init-addr",
        Flag.DISAGGREGATION: "--disaggregation-mode",
        Flag.TRANSFER_BACKEND: "--disaggregation-transfer-backend",
        Flag.BOOTSTRAP_PORT: "--disaggregation-bootstrap-port",
        Flag.METRICS: "--enable-metrics",
    },
    compared=frozenset({Flag.ATTENTION_DATA}),
    refused={
        "--grpc-mode": _NO_HTTP,
        "--smg-grpc-mode": _NO_HTTP,
        "--ssl-keyfile": _NO_TLS,
        "--ssl-certfile": _NO_TLS,
        "--help": _ENDS,
    },
)

_TRTLLM = Dialect(
    table=trtllm.TABLE,
    launchers=(
        Launcher(("trtllm-serve", "serve"), takes_model=True, reads_model=True),
        Launcher(("trtllm-serve",), takes_model=True, reads_model=True),
    ),
    options={
        Flag.SERVED_NAME: "--served_model_name",
        Flag.TENSOR: "--tp_size",
        Flag.PIPELINE: "--pp_size",
        Flag.EXPERT: "--ep_size",
        Flag.CONTEXT: "--cp_size",
        Flag.HOST: "--host",
        Flag.PORT: "--port",
    },
    # 1.2 has no name to be served by.
    compared=frozenset({Flag.SERVED_NAME, Flag.CONTEXT}),
    refused={"--grpc": _NO_HTTP, "--help": _ENDS},
)

_LLAMACPP = Dialect(
    table=llamacpp.TABLE,
    launchers=(Launcher(("/app/llama-server",)), Launcher(("llama-server",))),
    options={
        Flag.MODEL: "--hf-repo",
        Flag.MODEL_FILE: "--model",
        Flag.SERVED_NAME: "--alias",
        Flag.HOST: "--host",
        Flag.PORT: "--port",
        Flag.METRICS: "--metrics",
    },
    compared=frozenset({Flag.MODEL_FILE}),
    refused={
        "--api-prefix": _ANOTHER_PATH,
        "--ssl-key-file": _NO_TLS,
        "--ssl-cert-file": _NO_TLS,
        **dict.fromkeys(("--help", "--version", "--cache-list", "--list-devices", "--completion-bash"), _ENDS),
    },
)

DIALECTS: Mapping[EngineType, Dialect] = {
    EngineType.VLLM: _VLLM,
    EngineType.SGLANG: _SGLANG,
    EngineType.TRTLLM: _TRTLLM,
    EngineType.LLAMACPP: _LLAMACPP,
}
