"""The values that an expression takes and gives, where Python has none of the kind."""

from kubecel.values.runtime import Domains, Duration, Named, Optional, QuantityBox, Timestamp, Uint, Value, type_name

__all__ = ["Domains", "Duration", "Named", "Optional", "QuantityBox", "Timestamp", "Uint", "Value", "type_name"]
