"""First documents of somebody who has none: one class, one cluster, one gateway, one model."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from modelplane import names
from modelplane.devices import published
from modelplane.devices.published import Product
from modelplane.errors import InvalidInput
from modelplane.sizing import catalogue

Json: TypeAlias = Any

FLEET, MODEL = "fleet.yaml", "model.yaml"
_DRIVER = "gpu.nvidia.com"
_NAME_MAX = 40


@dataclass(frozen=True, slots=True)
class Answers:
    """Answers about the fleet and the model. `gpus` is None where the model decides it."""

    product: Product
    model: str
    gpus: int | None
    gpus_per_node: int
    nodes: int
    cluster: str
    region: str
    name: str
    namespace: str


def products() -> list[Product]:
    """Return the GPUs to choose from: whole devices that the default image runs on, each memory once."""
    found: dict[tuple[str, str], Product] = {}
    for one in published.PRODUCTS:
        if not one.profile and one.driver == _DRIVER:
            found.setdefault((one.word, one.publishes), one)
    return list(found.values())


def title(product: Product) -> str:
    """Return the common name of a GPU."""
    return f"{product.word} {product.nominal_gigabytes}GB"


def product(text: str) -> Product:
    """Return the GPU that a text means. Raises: InvalidInput with the choices."""
    wanted = _plain(text)
    every = products()
    found = [one for one in every if wanted in (_plain(one.word), _plain(title(one)))]
    if len(found) == 1:
        return found[0]
    shown = ", ".join(map(title, found or every))
    raise InvalidInput(f"GPU {text[:40]!r} {'may mean' if found else 'is not known; there are'} {shown}")


def model(text: str) -> tuple[str, bool]:
    """Return the repository that a text means, and whether its memory is known. Raises: InvalidInput."""
    if "/" not in text:
        return catalogue.find(text).name, True
    return text, catalogue.published(text) is not None


def number(text: str, most: int) -> int:
    """Return a number of the text. Raises: InvalidInput."""
    if not (text.isascii() and text.isdecimal() and len(text) < 10 and 1 <= int(text) <= most):
        raise InvalidInput(f"{text[:40]!r} must be a whole number from 1 to {most}")
    return int(text)


def name_of(repository: str) -> str:
    """Return a name for the service of a model: Qwen/Qwen3-8B -> qwen3-8b."""
    plain = re.sub(r"[^a-z0-9]+", "-", repository.rpartition("/")[2].lower())[:_NAME_MAX].strip("-")
    return plain if plain[:1].isalpha() else f"model-{plain}".rstrip("-")


def fleet(said: Answers) -> Sequence[Json]:
    """Return the documents of the platform team."""
    gpu, class_name = said.product, f"{said.product.word.lower()}-{said.product.nominal_gigabytes}gb"
    device: dict[str, Json] = {
        "name": "gpu",
        "driver": gpu.driver,
        "claim": "DRA",
        "deviceClassName": gpu.driver,
        "count": said.gpus_per_node,
        "capacity": {"memory": {"value": gpu.publishes}},
    }
    if gpu.architecture:
        device["attributes"] = {"architecture": {"string": gpu.architecture}}
    class_name = f"{class_name}-{said.gpus_per_node}x"
    reached = {"namespace": names.SYSTEM_NAMESPACE, "name": said.cluster, "key": "kubeconfig"}
    cluster = _document("InferenceCluster", {"name": said.cluster})
    if said.region:
        cluster["metadata"]["labels"] = {names.LABEL_REGION: said.region}
    cluster["spec"] = {
        "cluster": {"source": "Existing", "existing": {"secretRef": reached}},
        "nodePools": [{"name": "gpu", "className": class_name, "nodeCount": said.nodes}],
    }
    node_class = _document("InferenceClass", {"name": class_name})
    node_class["spec"] = {"description": f"{said.gpus_per_node} x {title(gpu)}", "devices": [device]}
    gateway = _document("InferenceGateway", {"name": "default"})
    gateway["spec"] = {"type": "Envoy"}
    return (node_class, cluster, gateway)


def inference(said: Answers) -> Json:
    """Return the document of the ML team."""
    found = _document("LLMInference", {"name": said.name, "namespace": said.namespace})
    found["spec"] = {"model": said.model} | ({} if said.gpus is None else {"gpu": said.gpus})
    return found


def _document(kind: str, metadata: dict[str, Json]) -> dict[str, Json]:
    return {"apiVersion": names.API_VERSION, "kind": kind, "metadata": metadata}


def _plain(text: str) -> str:
    return "".join(letter for letter in text.lower() if letter.isalnum())
