"""Which nodes a slice or a device can be used from.

Source: k8s.io/component-helpers v0.36.2, node affinity.
"""

from __future__ import annotations

import re

from modelplane.errors import InvalidInput
from tests.support.allocator.slices import Node, Reach, Requirement, Term

NAME_FIELD = "metadata.name"
_INTEGER = re.compile(r"[+-]?[0-9]+")


def reaches(reach: Reach, node: Node) -> bool:
    """Return whether the node is among those meant.

    Raises: InvalidInput for a selector that Kubernetes cannot read (the driver's fault).
    """
    if reach.node_name:
        return reach.node_name == node.name
    if reach.all_nodes:
        return True
    if reach.selector is None:
        return False
    terms = [term for term in reach.selector if term.expressions or term.fields]
    for term in terms:
        _check(term)
    return any(_holds(term, node) for term in terms)


def _check(term: Term) -> None:
    for requirement in term.expressions:
        if requirement.operator not in _VALUES or not _VALUES[requirement.operator](len(requirement.values)):
            raise InvalidInput(
                f"the node selector cannot be read: operator {requirement.operator} on {requirement.key} "
                f"with {len(requirement.values)} values"
            )
        if requirement.operator in ("Gt", "Lt") and not _INTEGER.fullmatch(requirement.values[0]):
            raise InvalidInput(f"the node selector cannot be read: {requirement.values[0]!r} is no whole number")
    for requirement in term.fields:
        if requirement.operator not in ("In", "NotIn") or len(requirement.values) != 1:
            raise InvalidInput(
                f"the node selector cannot be read: a field takes In or NotIn and one value, "
                f"{requirement.key} has {requirement.operator} and {len(requirement.values)}"
            )


_VALUES = {
    "In": lambda count: count > 0,
    "NotIn": lambda count: count > 0,
    "Exists": lambda count: count == 0,
    "DoesNotExist": lambda count: count == 0,
    "Gt": lambda count: count == 1,
    "Lt": lambda count: count == 1,
}
"""The operators on labels, and how many values each takes."""


def _holds(term: Term, node: Node) -> bool:
    fields = {NAME_FIELD: node.name}
    return all(_label_holds(one, node) for one in term.expressions) and all(
        (fields.get(one.key, "") == one.values[0]) is (one.operator == "In") for one in term.fields
    )


def _label_holds(requirement: Requirement, node: Node) -> bool:
    value = node.labels.get(requirement.key)
    match requirement.operator:
        case "In":
            return value is not None and value in requirement.values
        case "NotIn":
            return value is None or value not in requirement.values
        case "Exists":
            return value is not None
        case "DoesNotExist":
            return value is None
    if value is None or not _INTEGER.fullmatch(value):
        return False
    bound = int(requirement.values[0])
    return int(value) > bound if requirement.operator == "Gt" else int(value) < bound
