"""The selectors of a deployment: refused where they do not compile, at the field where their author wrote them."""

from __future__ import annotations

from collections.abc import Iterable

from modelplane.api.fields import Field
from modelplane.devices import selector
from modelplane.devices.hints import mistakes
from modelplane.errors import InvalidInput, InvalidSelector
from modelplane.workload.model import Role, Workload
from modelplane_functions.exchange import Resource

_USUAL_DRIVER = "gpu.nvidia.com"


def prepare() -> None:
    """Compile one selector, by which the tables of the language are made."""
    selector.compile(f'device.driver == "{_USUAL_DRIVER}"')


def check(workload: Workload, spec: Resource, *, classes: Iterable[Resource]) -> None:
    """Compile every selector of the workload that `spec` says; examples in a refusal are of devices in `classes`.

    Raises: InvalidSelector with the path of the selector and a hint (the author's fault).
    """
    for role in workload.roles:
        prefix: tuple[str, ...] = ("spec", "prefill") if role.role is Role.PREFILL else ("spec",)
        short = Field(spec).at(*prefix[1:], "nodeSelector", "cel").is_set
        for position, request in enumerate(role.requests):
            for number, text in enumerate(request.selectors):
                try:
                    selector.compile(text)
                except InvalidSelector as error:
                    error.hint = mistakes.hint(text, error, _driver(classes))
                    tail: tuple[str | int, ...] = (
                        ("cel",) if short else ("devices", position, "selectors", number, "cel")
                    )
                    raise error.under(*prefix, "nodeSelector", *tail) from None


def _driver(classes: Iterable[Resource]) -> str:
    """Return a driver whose devices a selector may be meant for, for examples of how to write one."""
    for resource in classes:
        try:
            return next(device.at("driver").text() for device in Field(resource).at("spec", "devices").items())
        except (InvalidInput, StopIteration):
            continue  # said of the class itself
    return _USUAL_DRIVER
