"""The limits of Kubernetes' own workloads. A combination that cannot work is refused before a device is reserved."""

from __future__ import annotations

from modelplane.errors import InvalidInput
from modelplane.render import capability, pods, volume, weights
from modelplane.render.backend import Capabilities, Shape
from modelplane.render.backends.native import launching
from modelplane.workload.model import EngineType, Role, RoleSpec, Workload

CAPABILITIES = Capabilities(
    name="Native",
    shapes=frozenset(Shape),
    # The engine fetches hf:// by itself and a claim is mounted; nothing stands beside the engine that would download.
    schemes=frozenset({weights.HUGGING_FACE, volume.SCHEME}),
    disaggregated=frozenset(),
    # TensorRT-LLM spans nodes with MPI over ssh and llama.cpp with a list of RPC servers; neither is wired by a
    # LeaderWorkerSet.
    gangs=frozenset({EngineType.VLLM, EngineType.SGLANG, EngineType.CUSTOM}),
)


def check(workload: Workload) -> None:
    """Return when a Deployment or a LeaderWorkerSet can run the workload as it is written.

    Raises: InvalidInput with the path of what the author must change.
    """
    if len(workload.roles) > 1:
        raise InvalidInput(
            "Native runs prefill and decode in the same pods: nothing there hands the KV cache over; remove prefill",
            path=Role.PREFILL.path,
        )
    if workload.model_cache is not None:
        raise InvalidInput(
            "model caches are not offered with Native; use model.uri with pvc:// for weights on a volume",
            path=("spec", "modelCacheRef"),
        )
    capability.check_source(CAPABILITIES, workload)
    for role in workload.roles:
        capability.check_shape(CAPABILITIES, workload.engine, role)
        _check_ranks(workload.engine, role)
        volume.check(workload, role)
        for member in pods.members(role.topology):
            capability.command_line(launching.launch(workload.engine, workload.model, role, member), role)


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
