"""The limits of workloads that run as a Deployment or a LeaderWorkerSet, without an operator."""

from __future__ import annotations

from modelplane.errors import InvalidInput
from modelplane.render import capability, volume, weights
from modelplane.render.backend import Capabilities
from modelplane.workload.model import EngineType, RoleSpec, Workload

SCHEMES = frozenset({weights.HUGGING_FACE, volume.SCHEME})
"""The engine downloads hf://, and a claim is mounted. No other container downloads anything."""

GANGS = frozenset({EngineType.VLLM, EngineType.SGLANG, EngineType.CUSTOM})
"""TensorRT-LLM spans nodes with MPI over ssh, llama.cpp with RPC servers. LeaderWorkerSet sets up neither."""


def check(can: Capabilities, workload: Workload) -> None:
    """Check the rules of every backend whose pods no operator creates. The backend checks command lines.

    Raises: InvalidInput with the path of the field that the author must change.
    """
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
