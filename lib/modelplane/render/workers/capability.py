"""The limits that a Deployment or a LeaderWorkerSet without an operator sets to a workload."""

from __future__ import annotations

from modelplane.errors import InvalidInput
from modelplane.render import capability, volume, weights
from modelplane.render.backend import Capabilities
from modelplane.workload.model import EngineType, RoleSpec, Workload

SCHEMES = frozenset({weights.HUGGING_FACE, volume.SCHEME})
"""The engine fetches hf:// by itself and a claim is mounted; nothing stands beside the engine that would download."""

GANGS = frozenset({EngineType.VLLM, EngineType.SGLANG, EngineType.CUSTOM})
"""TensorRT-LLM spans nodes with MPI over ssh, llama.cpp with a list of RPC servers; no LeaderWorkerSet wires these."""


def check(can: Capabilities, workload: Workload) -> None:
    """Check what is the same for every backend whose pods no operator makes; command lines are the backend's.

    Raises: InvalidInput with the path of what the author must change.
    """
    if workload.model_cache is not None:
        raise InvalidInput(
            f"model caches are not offered with {can.name}; use model.uri with pvc:// for weights on a volume",
            path=("spec", "modelCacheRef"),
        )
    capability.check_source(can, workload)
    capability.check_picker(can, workload)
    for role in workload.roles:
        capability.check_shape(can, workload.engine, role)
        _check_ranks(workload.engine, role)
        volume.check(workload, role)


def _check_ranks(engine: EngineType, role: RoleSpec) -> None:
    """Refuse a pipeline whose stages vLLM would put on one node, where the topology has them on several.

    Source: vLLM 0.23, engine/arg_utils: the ranks of one data-parallel copy are counted through before the next one's.
    """
    topology = role.topology
    if engine is EngineType.VLLM and topology.pipeline > 1 and topology.data_local > 1:
        raise InvalidInput(
            f"vllm keeps the {topology.pipeline} stages of a pipeline side by side, so that {topology.data_local} data "
            "copies cannot share each node; set dataLocal to 1",
            path=(*role.role.path, "workers", "topology", "dataLocal"),
        )
