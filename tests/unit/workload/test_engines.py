"""Engines seen from image names."""

from __future__ import annotations

import pytest

from modelplane.workload import engines
from modelplane.workload.model import EngineType


@pytest.mark.parametrize(
    ("image", "engine"),
    [
        pytest.param("vllm/vllm-openai:v0.23.0", EngineType.VLLM, id="upstream vLLM"),
        pytest.param("docker.io/vllm/vllm-openai@sha256:0a1b", EngineType.VLLM, id="by digest"),
        pytest.param(
            "registry.corp:5000/mirror/vllm/vllm-openai:v1@sha256:0a1b", EngineType.VLLM, id="mirror with a port"
        ),
        pytest.param("ghcr.io/llm-d/llm-d-cuda:v0.8.0", EngineType.VLLM, id="llm-d carries vLLM"),
        pytest.param("rocm/vllm:latest", EngineType.VLLM, id="AMD's build"),
        pytest.param("lmsysorg/sglang:v0.5.1", EngineType.SGLANG, id="SGLang"),
        pytest.param("nvcr.io/nvidia/tensorrt-llm/release:1.0.0", EngineType.TRTLLM, id="TensorRT-LLM"),
        pytest.param("ghcr.io/ggml-org/llama.cpp:server-cuda", EngineType.LLAMACPP, id="llama.cpp"),
        pytest.param(
            "ghcr.io/acme/my-vllm-openai-fork:1", EngineType.CUSTOM, id="a fork under another name is not known"
        ),
        pytest.param("vllm", EngineType.CUSTOM, id="a bare word says nothing"),
        pytest.param("acme/vllm:1", EngineType.CUSTOM, id="another organisation's vllm is not known"),
    ],
)
def test_engine_is_seen_in_the_image(image: str, engine: EngineType) -> None:
    assert engines.seen_in(image) is engine
