"""The selectors of a deployment: refused where they do not compile, at the field where their author wrote them."""

from __future__ import annotations

from collections.abc import Iterable

from modelplane.api import workload
from modelplane.api.fields import Field
from modelplane.devices import selector
from modelplane.devices.hints import mistakes
from modelplane.errors import InvalidInput, InvalidSelector
from modelplane_functions.exchange import Resource

_USUAL_DRIVER = "gpu.nvidia.com"


def prepare() -> None:
    """Compile one selector, by which the tables of the language are made."""
    selector.compile(f'device.driver == "{_USUAL_DRIVER}"')


def check(spec: Resource, *, classes: Iterable[Resource]) -> None:
    """Compile every selector of a deployment's spec; examples in a refusal are of devices in `classes`.

    Raises: InvalidSelector with the path of the selector and a hint (the author's fault).
    """
    driver = _driver(classes)
    for field in workload.selectors(spec):
        try:
            mistakes.compile(field.text(), driver)
        except InvalidSelector as error:
            raise error.under(*field.path) from None


def _driver(classes: Iterable[Resource]) -> str:
    """Return a driver whose devices a selector may be meant for, for examples of how to write one."""
    for resource in classes:
        try:
            return next(device.at("driver").text() for device in Field(resource).at("spec", "devices").items())
        except (InvalidInput, StopIteration):
            continue  # said of the class itself
    return _USUAL_DRIVER
