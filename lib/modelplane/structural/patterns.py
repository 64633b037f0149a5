"""Words for a text that does not match a pattern: what to write, where more is known than the pattern."""

from __future__ import annotations

import re
from typing import Final

QUANTITY: Final = r"^(\+)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?[0-9]+))?$"
"""Pattern of a Kubernetes quantity, as every definition writes it."""
_MEASURE = re.compile(r"^\+?(?P<number>[0-9]+(\.[0-9]*)?|\.[0-9]+)\s*(?P<unit>[A-Za-z]{1,3})$")
_UNITS: Final = {
    "k": "k", "kb": "k", "ki": "Ki", "kib": "Ki",
    "m": "M", "mb": "M", "mi": "Mi", "mib": "Mi",
    "g": "G", "gb": "G", "gi": "Gi", "gib": "Gi",
    "t": "T", "tb": "T", "ti": "Ti", "tib": "Ti",
}  # fmt: skip


def instead(text: str, pattern: str) -> str:
    """Return the correction of a text that does not match the pattern; without a better one, the pattern itself."""
    if pattern != QUANTITY:
        return f"must match {pattern}"
    found = _MEASURE.match(text.strip())
    unit = _UNITS.get(found["unit"].lower()) if found is not None else None
    if found is None or unit is None:
        return "is no Kubernetes quantity; write a number and a unit, for example 500m, 400G or 64Gi"
    return f"is no Kubernetes quantity; write {found['number']}{unit}"
