"""Flags of Dynamo's workers: `python3 -m dynamo.vllm`, `dynamo.sglang` and `dynamo.trtllm`.

vLLM and SGLang take the engine's own flags beside Dynamo's, without those of the engine's HTTP server. TensorRT-LLM
takes Dynamo's alone. A table has no flag that the operator writes.

Source: the wheel ai-dynamo 1.6.1 (dynamo/vllm/args.py, dynamo/sglang/args.py, dynamo/trtllm/backend_args.py,
dynamo/common/configuration/groups/runtime_args.py), with vLLM 0.31 and SGLang 0.5.21; internal/dynamo/backend_*.go of
the operator.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from modelplane.render.dialects import DIALECTS as ENGINES
from modelplane.render.dialects import Dialect, Flag, Launcher
from modelplane.render.flags import sglang, table, vllm
from modelplane.render.flags.table import Form, Option, Reading, Table, Takes
from modelplane.workload.model import EngineType


def _launchers(module: str) -> tuple[Launcher, ...]:
    return Launcher(("python3", "-m", module)), Launcher(("python", "-m", module))


def _with(of: Table, name: str) -> Table:
    """Return the engine's table with a flag of Dynamo's that takes one value."""
    option = Option((name,), Takes.ONE)
    return replace(of, options=(*of.options, option), known={**of.known, name: (option, False)})


def _written(engine: EngineType, *flags: Flag) -> dict[Flag, str]:
    """Return flags that are written as the engine alone would be told."""
    return {flag: ENGINES[engine].options[flag] for flag in flags}


_ROLE_FLAG = "--disaggregation-mode"

DIALECTS: Mapping[EngineType, Dialect] = {
    EngineType.VLLM: Dialect(
        table=_with(vllm.TABLE, _ROLE_FLAG),
        launchers=_launchers("dynamo.vllm"),
        options={
            **_written(
                EngineType.VLLM,
                *(Flag.MODEL, Flag.REVISION, Flag.SERVED_NAME, Flag.TENSOR, Flag.PIPELINE, Flag.DATA, Flag.CONTEXT),
                *(Flag.EXPERT, Flag.KV_TRANSFER),
            ),
            Flag.DISAGGREGATION: _ROLE_FLAG,
        },
        compared=frozenset({Flag.CONTEXT}),
    ),
    EngineType.SGLANG: Dialect(
        table=sglang.TABLE,
        launchers=_launchers("dynamo.sglang"),
        options=_written(
            EngineType.SGLANG,
            *(Flag.MODEL, Flag.REVISION, Flag.SERVED_NAME, Flag.TENSOR, Flag.PIPELINE, Flag.DATA, Flag.DATA_ATTENTION),
            *(Flag.ATTENTION_DATA, Flag.EXPERT, Flag.HOST, Flag.DISAGGREGATION, Flag.TRANSFER_BACKEND),
        ),
        compared=frozenset({Flag.ATTENTION_DATA}),
    ),
    EngineType.TRTLLM: Dialect(
        table=table.of(
            "dynamo.trtllm",
            ("1.6.1", "1.6.1"),
            Reading.ARGPARSE,
            {
                Form.ONE: "model,model-path served-model-name tensor-parallel-size pipeline-parallel-size "
                "expert-parallel-size"
            },
        ),
        launchers=_launchers("dynamo.trtllm"),
        options={
            Flag.MODEL: "--model",
            Flag.SERVED_NAME: "--served-model-name",
            Flag.TENSOR: "--tensor-parallel-size",
            Flag.PIPELINE: "--pipeline-parallel-size",
            Flag.EXPERT: "--expert-parallel-size",
        },
    ),
}

_WIRED = "Dynamo's operator wires the ranks; remove it"
_FOUND = "Dynamo's operator tells workers how to find each other; remove it"
_ANSWERED = "the frontend answers requests instead of the worker; remove it"
_ROLE = "the role follows from spec.prefill; remove it"

_OF_THE_RUNTIME = dict.fromkeys(("--endpoint", "--namespace", "--discovery-backend", "--kv-state-endpoint"), _FOUND)

REFUSED: Mapping[EngineType, Mapping[str, str]] = {
    EngineType.VLLM: {
        **_OF_THE_RUNTIME,
        "--connector": "dynamo.vllm no longer takes it; use --kv-transfer-config",
        "--tool-call-parser": "the frontend parses calls of tools; use --dyn-tool-call-parser",
        "--chat-template": "the frontend applies templates; use --custom-jinja-template",
        "--enable-elastic-ep": "it needs a Ray cluster, which is not offered; remove it",
        **dict.fromkeys(
            (
                *("--headless", "--nnodes", "-n", "--node-rank", "-r", "--master-addr", "--master-port"),
                *("--data-parallel-size-local", "-dpl", "--data-parallel-address", "-dpa", "--data-parallel-rpc-port"),
                *("-dpp", "--data-parallel-hybrid-lb", "-dph", "--data-parallel-external-lb", "-dpe"),
                *(
                    "--data-parallel-rank",
                    "-dpn",
                    "--data-parallel-start-rank",
                    "-dpr",
                    "--data-parallel-backend",
                    "-dpb",
                ),
            ),
            _WIRED,
        ),
        **dict.fromkeys(
            (
                *(
                    "--host",
                    "--port",
                    "--uds",
                    "--api-key",
                    "--api-server-count",
                    "-asc",
                    "--root-path",
                    "--middleware",
                ),
                *("--allow-credentials", "--allowed-origins", "--allowed-methods", "--allowed-headers"),
                *("--ssl-keyfile", "--ssl-certfile", "--ssl-ca-certs", "--ssl-cert-reqs", "--enable-ssl-refresh"),
                *("--uvicorn-log-level", "--disable-uvicorn-access-log", "--disable-fastapi-docs"),
                *("--enable-request-id-headers", "--enable-auto-tool-choice", "--tool-parser-plugin", "--tool-server"),
                *("--response-role", "--lora-modules", "--chat-template-content-format", "--max-log-len"),
            ),
            _ANSWERED,
        ),
    },
    EngineType.SGLANG: {
        **_OF_THE_RUNTIME,
        **dict.fromkeys(("--nnodes", "--node-rank", "--dist-init-addr", "--nccl-init-addr"), _WIRED),
        "--port": _ANSWERED,
        "--api-key": _ANSWERED,
    },
    EngineType.TRTLLM: {
        **_OF_THE_RUNTIME,
        "--gpus-per-node": _WIRED,
        "--disaggregation-mode": "Dynamo cannot hand the KV cache of TensorRT-LLM from prefill to decode; remove it",
        **dict.fromkeys(("--host", "--port"), _ANSWERED),
    },
}
"""Flags that contradict what Dynamo does, or that its workers do not have, each with the reason."""

REFUSED_IN_ONE_ROLE = {_ROLE_FLAG: _ROLE}
"""Flags of a worker that is one of two roles, where there is only one."""
