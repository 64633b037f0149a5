"""Engine of a container image, recognized by the name of the image.

Only repositories with published, known content are recognized. All others are `custom`, so that Modelplane never adds
arguments to an unknown command line.
"""

from __future__ import annotations

from modelplane.workload.model import EngineType

# Last path segments, and segments anywhere in the path, by engine. A private mirror keeps the tail of the path
# (registry.example/mirror/vllm/vllm-openai), so tails are compared and hosts are not.
_TAILS: tuple[tuple[tuple[str, ...], EngineType], ...] = (
    (("vllm", "vllm-openai"), EngineType.VLLM),
    (("vllm-openai",), EngineType.VLLM),
    (("rocm", "vllm"), EngineType.VLLM),
    (("llm-d", "llm-d"), EngineType.VLLM),
    (("llm-d-cuda",), EngineType.VLLM),
    (("llm-d-rocm",), EngineType.VLLM),
    (("llm-d-xpu",), EngineType.VLLM),
    (("llm-d-cpu",), EngineType.VLLM),
    (("rayproject", "ray-llm"), EngineType.VLLM),
    (("vllm-runtime",), EngineType.VLLM),
    (("sglang-runtime",), EngineType.SGLANG),
    (("tensorrtllm-runtime",), EngineType.TRTLLM),
    (("lmsysorg", "sglang"), EngineType.SGLANG),
    (("nvidia", "tensorrt-llm", "release"), EngineType.TRTLLM),
    (("nvidia", "tensorrt-llm"), EngineType.TRTLLM),
    (("ggml-org", "llama.cpp"), EngineType.LLAMACPP),
    (("ggerganov", "llama.cpp"), EngineType.LLAMACPP),
)

_WITHOUT_VIRTUAL_ENVIRONMENT = (("vllm", "vllm-openai"), ("rayproject", "ray-llm"), ("vllm-runtime",))


def seen_in(image: str) -> EngineType:
    """Return the engine of `image`, `custom` if its name does not tell."""
    path = _repository(image)
    for tail, engine in _TAILS:
        if path[-len(tail) :] == tail:
            return engine
    return EngineType.CUSTOM


def allows_non_root(image: str) -> bool:
    """Return whether the image is known to run as a non-root user; for most images this is unknown."""
    return _repository(image)[-1].startswith("llm-d")


def lacks_ray(image: str) -> bool:
    """Return whether the image is known to hold no Ray: those of the engines themselves do not."""
    return seen_in(image) is not EngineType.CUSTOM and _repository(image)[-1] != "ray-llm"


def lacks_virtual_environment(image: str) -> bool:
    """Return whether the image is known to have no vLLM in /opt/venv: vLLM's own and Dynamo's have it elsewhere."""
    path = _repository(image)
    return any(path[-len(tail) :] == tail for tail in _WITHOUT_VIRTUAL_ENVIRONMENT)


def lacks_dynamo(image: str) -> bool:
    """Return whether the image is known to hold no Dynamo: only its own runtimes do."""
    return seen_in(image) is not EngineType.CUSTOM and not _repository(image)[-1].endswith("-runtime")


def _repository(image: str) -> tuple[str, ...]:
    """Return the path segments of an image reference without tag and digest."""
    *folders, last = image.split("@", 1)[0].split("/")
    return (*folders, last.partition(":")[0])
