"""GPUs to ask about: those of the InferenceClasses of documents, or well-known ones in nodes of eight."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from modelplane import seen, units
from modelplane.devices import memory, published
from modelplane.devices.model import Device, NodeClass
from modelplane.errors import InvalidInput

if TYPE_CHECKING:  # YAML loads only where there are documents
    from modelplane_cli.documents.reading import Document, Problem

_NODE = 8
_CLUSTER = "InferenceCluster"  # the module of the kind loads placement, which `fit` does not need


@dataclass(frozen=True, slots=True)
class Offer:
    """The equal devices of a node. `price` is that of the node for an hour; None where it is unknown."""

    name: str
    device: str
    memory: int
    count: int
    is_part: bool = False
    price: str | None = None
    currency: str = "USD"
    pools: tuple[tuple[str, str], ...] = ()
    product: str = ""


def well_known() -> list[Offer]:
    """Return the well-known GPUs with the memory that each publishes, in nodes of eight."""
    found: dict[tuple[str, str], Offer] = {}
    for product in published.PRODUCTS:
        if not product.profile and (product.word, product.publishes) not in found:
            amount = units.quantity(product.publishes).ceil()
            name = f"{product.word} {product.nominal_gigabytes}GB"
            found[product.word, product.publishes] = Offer(name, product.driver, amount, _NODE)
    return list(found.values())


def of_kind(found: Sequence[Offer], kind: str) -> list[Offer]:
    """Return those with `kind` in the name of the class or of the product. Raises: InvalidInput where none has it."""
    word = _plain(kind)
    left = [one for one in found if word and word in (_plain(one.name) + " " + _plain(one.product))]
    if not left:
        there = ", ".join(sorted({one.name for one in found}))
        raise InvalidInput(f"--gpu {kind[:40]!r}: no class or GPU has that in its name; there are {there}")
    return left


def _plain(text: str) -> str:
    return "".join(letter for letter in text.lower() if letter.isalnum())


def of_documents(documents: Sequence[Document]) -> tuple[list[Offer], list[Problem]]:
    """Return the devices with a memory of the InferenceClasses, and a problem for each class that cannot be read."""
    from modelplane.api import inference_class  # noqa: PLC0415 - the definitions load only where there are documents

    offers: list[Offer] = []
    problems: list[Problem] = []
    pools = _pools(documents)
    for document in documents:
        if document.data.get("kind") != inference_class.KIND:
            continue
        try:
            node = inference_class.decode(document.data)
        except InvalidInput as error:
            problems.append(document.problem(error.message, error.path))
            continue
        offers += _of_class(node, tuple(pools.get(node.name, ())))
    return offers, problems


def _of_class(node: NodeClass, pools: tuple[tuple[str, str], ...]) -> Iterator[Offer]:
    for device in node.devices:
        amount = memory.published(device)
        if amount and device.count:
            yield Offer(
                name=node.name,
                device=device.name,
                memory=amount,
                count=device.count,
                is_part=device.is_shared or "profile" in dict(device.attributes),
                price=node.cost_per_node_hour,
                currency=node.currency,
                pools=pools,
                product=_product(device),
            )


def _product(device: Device) -> str:
    name = dict(device.attributes).get("productName")
    return "" if name is None else str(name.value)


def _pools(documents: Sequence[Document]) -> dict[str, list[tuple[str, str]]]:
    """Return the pools of each class as (cluster, pool). What cannot be read is left out: `validate` reports it."""
    found: dict[str, list[tuple[str, str]]] = {}
    for document in documents:
        if document.data.get("kind") != _CLUSTER:
            continue
        cluster = seen.text(seen.at(document.data, "metadata", "name"))
        for pool in seen.objects(seen.at(document.data, "spec", "nodePools")):
            found.setdefault(seen.text(pool.get("className")), []).append((cluster, seen.text(pool.get("name"))))
    return found
