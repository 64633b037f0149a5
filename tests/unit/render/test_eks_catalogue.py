"""The catalogue of classes of EKS: what it says of a node is what the node has, and a pool of each can be made."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from modelplane.api import inference_class
from modelplane.api.fields import Field
from modelplane.render.clouds import eks
from modelplane.render.clouds.eks import sizes
from modelplane.render.provisioning import POOL
from tests.support import eks as world
from tests.support.examples import EXAMPLES

Json = Any

CLASSES = [one for one in yaml.safe_load_all((EXAMPLES / "classes" / "eks.yaml").read_text()) if one]

# GPUs, processors, GiB of memory, pods: Amazon's "Specifications for accelerated computing instances", and
# amazon-vpc-cni-k8s v1.23.2, misc/eni-max-pods.txt.
NODES = {
    "g5.xlarge": (4, 16, 58), "g5.12xlarge": (48, 192, 737), "g5.24xlarge": (96, 384, 737),
    "g5.48xlarge": (192, 768, 345), "g6.xlarge": (4, 16, 58), "g6.12xlarge": (48, 192, 234),
    "g6.24xlarge": (96, 384, 737), "g6.48xlarge": (192, 768, 737), "g6e.xlarge": (4, 32, 58),
    "g6e.12xlarge": (48, 384, 292), "g6e.24xlarge": (96, 768, 492), "g6e.48xlarge": (192, 1536, 492),
    "p4d.24xlarge": (96, 1152, 737), "p4de.24xlarge": (96, 1152, 737), "p5.4xlarge": (16, 256, 118),
    "p5.48xlarge": (192, 2048, 100), "p5e.48xlarge": (192, 2048, 100), "p5en.48xlarge": (192, 2048, 198),
    "p6-b200.48xlarge": (192, 2048, 198), "p6-b300.48xlarge": (192, 4096, 198),
}  # fmt: skip


def _type(document: Json) -> str:
    name = document["spec"]["provisioning"]["eks"]["instanceType"]
    assert isinstance(name, str)
    return name


by_type = pytest.mark.parametrize("document", CLASSES, ids=_type)


def test_every_type_with_a_class_is_known_and_named_after_it() -> None:
    assert {_type(one) for one in CLASSES} == set(NODES)
    assert set(NODES) <= set(sizes.SIZES)
    assert [one["metadata"]["name"] for one in CLASSES] == [f"eks-{_type(one).replace('.', '-')}" for one in CLASSES]


@by_type
def test_node_is_what_kubernetes_leaves_of_it(document: Json) -> None:
    """EKS keeps 6% of the first processor, 1% of the second, 0.5% of two more and 0.25% of the rest."""
    cpus, gibibytes, pods = NODES[_type(document)]
    millis = cpus * 1000 - 60 - 10 - 10 - (cpus - 4) * 5 // 2
    mebibytes = gibibytes * 1024 * 95 // 100 - 255 - 100 - 11 * pods
    assert document["spec"]["node"]["cpu"] == f"{millis}m"
    assert abs(int(document["spec"]["node"]["memory"].removesuffix("Mi")) - mebibytes) <= 1


@by_type
def test_a_pool_of_the_class_can_be_made(document: Json) -> None:
    size = sizes.SIZES[_type(document)]
    recipe = document["spec"]["provisioning"]["eks"]
    decoded = inference_class.decode(document)
    assert sum(one.count for one in decoded.devices) == size.gpus
    word = document["spec"]["devices"][0]["attributes"]["productName"]["string"].replace("-", " ").split()
    assert size.product in word
    of = world.pool(recipe=recipe, devices=size.gpus)
    where = world.site(privateNodes=True)
    assert list(eks.problems(where, (of,))) == []
    assert POOL in {one.key for one in world.settled_pool(where, of)}
    assert Field(recipe).at("efaInterfaces").integer(0) in (0, size.fabric)
