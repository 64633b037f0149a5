"""The quickstart's deployment in two sizes, written in Python: prints documents for `modelplane` and for kubectl.

python examples/python/quickstart.py | modelplane validate -
"""

from __future__ import annotations

import sys

from modelplane_schemas import model_deployment, model_service, wire
from modelplane_schemas.model_deployment import ModelDeployment
from modelplane_schemas.model_service import ModelService

NAMESPACE = "ml-team"


def deployment(name: str, repository: str, *, replicas: int, memory: str) -> ModelDeployment:
    """Return a model on one GPU per replica with at least `memory`."""
    engine = model_deployment.Container(
        name="engine",
        image="vllm/vllm-openai:v0.23.0",
        args=["--max-model-len=16384", "--gpu-memory-utilization=0.92"],
        resources=model_deployment.Resources(requests={"cpu": "4", "memory": "24Gi"}),
    )
    pod = model_deployment.TemplateSpec(containers=[engine])
    return ModelDeployment(
        metadata=wire.ObjectMeta(name=name, namespace=NAMESPACE),
        spec=model_deployment.Spec(
            replicas=replicas,
            model=model_deployment.Model(name=name, uri=f"hf://{repository}"),
            node_selector=model_deployment.NodeSelector(
                cel=f'device.capacity["gpu.nvidia.com"].memory.compareTo(quantity("{memory}")) >= 0'
            ),
            workers=model_deployment.Workers(
                topology=model_deployment.Topology(tensor=1), template=model_deployment.Template(spec=pod)
            ),
        ),
    )


def service(name: str) -> ModelService:
    """Return one URL over all replicas of a deployment."""
    selector = model_service.Selector(match_labels={"modelplane.ai/deployment": name})
    return ModelService(
        metadata=wire.ObjectMeta(name=name, namespace=NAMESPACE),
        spec=model_service.Spec(endpoints=[model_service.Endpoint(selector=selector)]),
    )


def documents() -> list[wire.Document]:
    """Return all documents."""
    small = deployment("qwen3-4b", "Qwen/Qwen3-4B", replicas=1, memory="12Gi")
    large = deployment("qwen3-8b", "Qwen/Qwen3-8B", replicas=2, memory="20Gi")
    return [small, service("qwen3-4b"), large, service("qwen3-8b")]


if __name__ == "__main__":
    sys.stdout.write(wire.to_yaml(documents()))
