"""The values of expressions for which Python has no type of its own."""

from kubecel.values.runtime import Domains, Duration, Named, Optional, QuantityBox, Timestamp, Uint, Value, type_name

__all__ = ["Domains", "Duration", "Named", "Optional", "QuantityBox", "Timestamp", "Uint", "Value", "type_name"]
