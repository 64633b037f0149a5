"""Quantities and versions of Kubernetes, parsed from the text of an author.

The values are those of `kubecel`, so that a selector and a template mean the same amount. This module turns a parse
error into an error of the author (`InvalidInput`).
"""

from __future__ import annotations

import kubecel.errors
import kubecel.quantity
import kubecel.version
from kubecel.quantity import Format, Quantity
from kubecel.version import Version
from modelplane.errors import InvalidQuantity

__all__ = ["Format", "Quantity", "Version", "quantity", "version"]


def quantity(text: str) -> Quantity:
    """Return the quantity written as `text`.

    Raises: InvalidQuantity, the author's fault, with the text of Kubernetes.
    """
    try:
        return kubecel.quantity.parse(text)
    except kubecel.errors.InvalidQuantity as error:
        raise InvalidQuantity(error.message) from error


def version(text: str) -> Version:
    """Return the version written as `text`.

    Raises: InvalidQuantity, the author's fault, with the text of Kubernetes.
    """
    try:
        return kubecel.version.parse(text)
    except kubecel.errors.InvalidQuantity as error:
        raise InvalidQuantity(error.message) from error
