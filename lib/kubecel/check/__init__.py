"""The types of expressions, for the declaration of variables."""

from kubecel.check.typesystem import (
    ANY,
    BOOL,
    BYTES,
    DOUBLE,
    DURATION,
    DYN,
    INT,
    QUANTITY,
    SEMVER,
    STRING,
    TIMESTAMP,
    UINT,
    Type,
    list_of,
    map_of,
    object_type,
)

__all__ = [
    "ANY",
    "BOOL",
    "BYTES",
    "DOUBLE",
    "DURATION",
    "DYN",
    "INT",
    "QUANTITY",
    "SEMVER",
    "STRING",
    "TIMESTAMP",
    "UINT",
    "Type",
    "list_of",
    "map_of",
    "object_type",
]
