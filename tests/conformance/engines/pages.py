"""Program that asks vLLM for the sizes of caches, of states and of pipeline stages.

Argument: the folder of its package. Standard input: {"pages": [...], "states": [...], "stages": [[layers, pipeline]]}.
Standard output: the same keys with a list of answers each, and "utilization".
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import io
import json
import os
import re
import sys
import types
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))
import standins  # type: ignore[import-not-found]

Json = Any
# They look at devices or compile kernels when they are imported.
_COVERED = ("vllm.ir", "vllm.kernels", "vllm.platforms", "vllm.distributed", "vllm.config", "vllm.logger")


def _settings() -> None:
    sys.modules["regex"] = re
    os.environ["VLLM_TARGET_DEVICE"] = "cpu"


def _page(specs: Any, asked: Json) -> Json:
    """Return the bytes of a page, and the blocks of one request."""
    common = {"block_size": asked["block"], "num_kv_heads": asked["heads"], "dtype": asked["bytes"]}
    if asked["kind"] == "packed":
        made = specs.MLAAttentionSpec(head_size=asked["key"] + asked["value"], cache_dtype_str="fp8_ds_mla", **common)
    elif asked["kind"] == "latent":
        made = specs.MLAAttentionSpec(head_size=asked["key"] + asked["value"], **common)
    else:
        common |= {"head_size": asked["key"], "head_size_v": asked["value"]}
        if asked["kind"] == "sliding":
            made = specs.SlidingWindowSpec(sliding_window=asked["window"], **common)
        elif asked["kind"] == "chunked":
            del common["head_size_v"]  # unknown to the oldest version; it is the width of keys without it
            made = specs.ChunkedLocalAttentionSpec(attention_chunk_size=asked["window"], **common)
        else:
            made = specs.FullAttentionSpec(**common)
    return {"page": made.page_size_bytes, "blocks": _blocks(made, asked)}


def _blocks(made: Any, asked: Json) -> int:
    if hasattr(made, "max_admission_blocks_per_request"):
        found: int = made.max_admission_blocks_per_request(asked["in_flight"], asked["tokens"])
        return found
    parallel = types.SimpleNamespace(decode_context_parallel_size=1, prefill_context_parallel_size=1)
    model = types.SimpleNamespace(max_model_len=asked["tokens"])
    config = types.SimpleNamespace(model_config=model, parallel_config=parallel)
    whole: int = made.max_memory_usage_bytes(config)
    return int(whole // made.page_size_bytes)


def _state(calculator: Any, specs: Any, asked: Json) -> int:
    numbers = asked["numbers"]
    if asked["kind"] == "delta":
        shapes = calculator.gated_delta_net_state_shape(asked["tensor"], *numbers)
    else:
        shapes = calculator.mamba2_state_shape(asked["tensor"], *numbers)
    made = specs.MambaSpec(block_size=16, shapes=tuple(shapes), dtypes=(2, asked["bytes"]))
    size: int = made.page_size_bytes
    return size


def _alone(path: str) -> Any:
    """Return a module of the package without the packages above it, which import most of the engine."""
    file = Path(sys.argv[1], *path.split(".")).with_suffix(".py")
    spec = importlib.util.spec_from_file_location(path.replace(".", "_"), file)
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = made
    spec.loader.exec_module(made)
    return made


def _stages(indices: Any, layers: int, pipeline: int) -> list[int]:
    found = [indices(layers, rank, pipeline) for rank in range(pipeline)]
    return [end - start for start, end in found]


def _main() -> Json:
    standins.install("vllm", sys.argv[1], _COVERED, _settings)
    specs: Any = importlib.import_module("vllm.v1.kv_cache_interface")
    states = _alone("vllm.model_executor.layers.mamba.mamba_utils")
    indices = _alone("vllm.distributed.utils").get_pp_indices
    # torch is a stand-in: a type of elements is the number of their bytes
    specs.get_dtype_size = lambda dtype: dtype
    states.divide = lambda whole, parts: whole // parts if whole % parts == 0 else 1 / 0
    settings: Any = importlib.import_module("vllm.envs")
    settings.VLLM_PP_LAYER_PARTITION = None
    asked = json.load(sys.stdin)
    return {
        "pages": [_page(specs, one) for one in asked["pages"]],
        "states": [_state(states.MambaStateShapeCalculator, specs, one) for one in asked["states"]],
        "stages": [_stages(indices, *one) for one in asked["stages"]],
    }


if __name__ == "__main__":
    with contextlib.redirect_stdout(io.StringIO()):
        _answer = _main()
    sys.__stdout__.write(json.dumps(_answer))  # type: ignore[union-attr]
