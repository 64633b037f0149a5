"""Quantities and versions as Kubernetes understands them; nothing here may round where Kubernetes does not."""

from modelplane.units.quantity import Format, Quantity
from modelplane.units.version import Version

__all__ = ["Format", "Quantity", "Version"]
