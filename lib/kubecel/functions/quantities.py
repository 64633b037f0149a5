"""Quantities and versions inside expressions.

Source: pkg/cel/library/{quantity,semverlib}.go of k8s.io/apiserver v0.34.0 to v0.37.2.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from kubecel import caches, quantity, version
from kubecel.errors import InvalidQuantity
from kubecel.quantity import Quantity
from kubecel.values.errors import Err, no_such_overload
from kubecel.values.runtime import QuantityBox, Value
from kubecel.version import Version


@caches.kept(4096)
def _parsed(text: str) -> Quantity:
    return quantity.parse(text)


def _quantity(text: Value) -> Value:
    if type(text) is not str:
        return no_such_overload()
    try:
        return QuantityBox(_parsed(text))
    except InvalidQuantity as error:
        return Err(error.message)


def _is_quantity(text: Value) -> Value:
    return no_such_overload() if type(text) is not str else type(_quantity(text)) is QuantityBox


def _version(text: Value, normalize: Value = False) -> Value:  # noqa: FBT002 - CEL's own signature
    if type(text) is not str or type(normalize) is not bool:
        return no_such_overload()
    try:
        return version.parse(text, normalize=normalize)
    except InvalidQuantity as error:
        return Err(error.message)


def _is_version(text: Value, normalize: Value = False) -> Value:  # noqa: FBT002 - CEL's own signature
    if type(text) is not str or type(normalize) is not bool:
        return no_such_overload()
    return type(_version(text, normalize)) is Version


def _compare(left: Value, right: Value) -> int | Err:
    """Return the order; a big quantity on either side leaves the left one big."""
    if type(left) is QuantityBox and type(right) is QuantityBox:
        mine, theirs = left.quantity, right.quantity
        if theirs.big and not mine.big:
            left.cell = [mine.promoted()]
        return mine.compare(theirs)
    if type(left) is Version and type(right) is Version:
        return left.compare(right)
    return no_such_overload()


def _test(sign: int) -> Callable[[Value, Value], Value]:
    def holds(left: Value, right: Value) -> Value:
        order = _compare(left, right)
        return order if isinstance(order, Err) else order == sign

    return holds


def _sum(*, subtract: bool, shared: bool) -> Callable[[Value, Value], Value]:
    def result(left: Value, right: Value) -> Value:
        if type(left) is not QuantityBox:
            return no_such_overload()
        if type(right) is int:
            return left.plus(Quantity.of(right), subtract=subtract, shared=shared)
        if type(right) is QuantityBox:
            return left.plus(right.quantity, subtract=subtract, shared=shared)
        return no_such_overload()

    return result


def _of_quantity(read: Callable[[Quantity], Any]) -> Callable[[Value], Value]:
    def result(value: Value) -> Value:
        return read(value.quantity) if type(value) is QuantityBox else no_such_overload()

    return result


def _integer(quantity: Quantity) -> Value:
    return quantity.as_integer() if quantity.is_integer else Err("cannot convert value to integer")


def _component(name: str) -> Callable[[Value], Value]:
    def result(value: Value) -> Value:
        if type(value) is not Version:
            return no_such_overload()
        number: int = getattr(value, name)
        return number - (1 << 64) if number >= 1 << 63 else number

    return result


# From this version on add and sub work on a copy; before, a quantity in the big form shares its decimal with the sum.
_COPIES_FROM: Final = 37


def functions(minor: int) -> Mapping[str, Callable[..., Any]]:
    """Return the functions as Kubernetes 1.`minor` has them."""
    shared = minor < _COPIES_FROM
    sums = {"add": _sum(subtract=False, shared=shared), "sub": _sum(subtract=True, shared=shared)}
    return {**_FUNCTIONS, **sums}


_FUNCTIONS: Final[Mapping[str, Callable[..., Any]]] = {
    "quantity": _quantity,
    "isQuantity": _is_quantity,
    "semver": _version,
    "isSemver": _is_version,
    "compareTo": _compare,
    "isGreaterThan": _test(1),
    "isLessThan": _test(-1),
    "sign": _of_quantity(lambda quantity: quantity.sign),
    "isInteger": _of_quantity(lambda quantity: quantity.is_integer),
    "asInteger": _of_quantity(_integer),
    "asApproximateFloat": _of_quantity(lambda quantity: quantity.as_approximate_float()),
    "major": _component("major"),
    "minor": _component("minor"),
    "patch": _component("patch"),
}
