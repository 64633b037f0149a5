"""Validation of the selectors of a deployment. A refusal names the field of the selector."""

from __future__ import annotations

from collections.abc import Iterable

from kubecel import interruption
from modelplane.api import workload
from modelplane.api.fields import Field
from modelplane.devices import search_budget, selector, selector_budget
from modelplane.devices.hints import mistakes
from modelplane.devices.model import NodeClass
from modelplane.errors import InvalidInput, InvalidSelector, OverBudget
from modelplane.placement.snapshot import Demand
from modelplane_functions.exchange import Resource

_USUAL_DRIVER = "gpu.nvidia.com"


def prepare() -> None:
    """Compile one selector, which builds the tables of the language."""
    selector.compile(f'device.driver == "{_USUAL_DRIVER}"')


def check(spec: Resource, *, classes: Iterable[Resource]) -> None:
    """Compile every selector of a deployment's spec. The examples in a refusal use devices of `classes`.

    Raises: InvalidSelector with the path of the selector and a hint. OverBudget when the selectors together are too
    expensive for the devices in `classes`. Both are the author's fault.
    """
    driver = _driver(classes)
    written = list(workload.selectors(spec))
    texts = [field.text() for field in written]
    _refuse(selector_budget.over_bytes(texts))
    for field in written:
        interruption.checkpoint()
        try:
            mistakes.compile(field.text(), driver)
        except InvalidSelector as error:
            raise error.under(*field.path) from None
    _refuse(selector_budget.over_cost(texts, _kinds(classes)))


def check_search(need: Demand, classes: Iterable[NodeClass]) -> None:
    """Refuse a deployment whose devices are too dear to search for on all classes of its clusters together.

    Raises: OverBudget with the classes that take most. InvalidSelector. Both are the author's fault.
    """
    _refuse(search_budget.over_steps([(role.requests, role.constraints) for role in need.roles], classes))


def _refuse(problem: str) -> None:
    if problem:
        raise OverBudget(problem, path=("spec", "nodeSelector"))


def _kinds(classes: Iterable[Resource]) -> int:
    """Return the number of device entries in all classes. A class that cannot be read has none."""
    found = 0
    for resource in classes:
        try:
            found += sum(1 for _ in Field(resource).at("spec", "devices").items())
        except InvalidInput:
            continue  # said of the class itself
    return found


def _driver(classes: Iterable[Resource]) -> str:
    """Return the driver to use in examples."""
    for resource in classes:
        try:
            return next(device.at("driver").text() for device in Field(resource).at("spec", "devices").items())
        except (InvalidInput, StopIteration):
            continue  # said of the class itself
    return _USUAL_DRIVER
