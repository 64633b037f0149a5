"""The overloads of each function, as the type checker reads them from the table of `declarations`.

The comparisons are made here, since all four have the same overloads.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from kubecel import caches
from kubecel.check import declarations, typesystem
from kubecel.check.typesystem import Type

_NAMED: Final = {
    "dyn": typesystem.DYN,
    "bool": typesystem.BOOL,
    "bytes": typesystem.BYTES,
    "double": typesystem.DOUBLE,
    "int": typesystem.INT,
    "uint": typesystem.UINT,
    "string": typesystem.STRING,
    "Duration": typesystem.DURATION,
    "Timestamp": typesystem.TIMESTAMP,
    "net.IP": typesystem.ADDRESS,
    "net.CIDR": typesystem.NETWORK,
}
_COMPARED: Final = [
    "bool",
    "int64",
    "int64_double",
    "int64_uint64",
    "uint64",
    "uint64_double",
    "uint64_int64",
    "double",
    "double_int64",
    "double_uint64",
    "string",
    "bytes",
    "timestamp",
    "duration",
]
_OPERATORS: Final = {"_<_": "less", "_<=_": "less_equals", "_>_": "greater", "_>=_": "greater_equals"}
_SHORT: Final = {
    "int64": typesystem.INT,
    "uint64": typesystem.UINT,
    "duration": typesystem.DURATION,
    "timestamp": typesystem.TIMESTAMP,
    **_NAMED,
}


@dataclass(frozen=True, slots=True)
class Overload:
    """One signature of a function; a member's receiver is its first parameter."""

    id: str
    member: bool
    params: tuple[Type, ...]
    result: Type
    type_params: tuple[Type, ...] = ()


# By overload, the version that no longer knows it.
_WITHDRAWN: Final[Mapping[str, int]] = {"int64_to_duration": 37}


@caches.kept(caches.VERSIONS_MAX)
def functions(minor: int) -> Mapping[str, tuple[Overload, ...]]:
    """Return the overloads by function name that the environment of Kubernetes 1.`minor` knows."""
    found: dict[str, list[Overload]] = {}
    offered = False
    for line in declarations.TABLE.strip().splitlines():
        if line.startswith("# "):
            offered = int(line.rsplit(" ", 1)[1]) <= minor
        elif offered:
            name, overload = _overload(line)
            if minor < _WITHDRAWN.get(overload.id, minor + 1):
                found.setdefault(name, []).append(overload)
    for name, prefix in _OPERATORS.items():
        found[name] = [_comparison(prefix, suffix) for suffix in _COMPARED]
    return {name: tuple(overloads) for name, overloads in found.items()}


def _comparison(prefix: str, suffix: str) -> Overload:
    left, _, right = suffix.partition("_")
    params = (_SHORT[left], _SHORT[right or left])
    return Overload(f"{prefix}_{suffix}", member=False, params=params, result=typesystem.BOOL)


def _overload(line: str) -> tuple[str, Overload]:
    name, identifier, params, result = (part.strip() for part in line.split(" |"))
    types = tuple(_type(text) for text in _split(params))
    free: dict[Type, None] = {}
    for type_ in (*types, _type(result)):
        _collect(type_, free)
    return name.removeprefix("."), Overload(identifier, name.startswith("."), types, _type(result), tuple(free))


def _collect(type_: Type, free: dict[Type, None]) -> None:
    if type_.kind == "param":
        free[type_] = None
    for part in type_.params:
        _collect(part, free)


def _split(text: str) -> list[str]:
    """Return the parts between the commas that stand outside parentheses."""
    parts, depth, start = [], 0, 0
    for index, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if character == "," and depth == 0:
            parts.append(text[start:index].strip())
            start = index + 1
    last = text[start:].strip()
    return [*parts, last] if last else parts


def _type(text: str) -> Type:
    name, _, inner = text.partition("(")
    params = tuple(_type(part) for part in _split(inner[:-1])) if inner else ()
    if name in _NAMED:
        return _NAMED[name]
    if name in ("list", "map", "type"):
        return Type(name, name, params)
    if name == "optional":
        return Type("opaque", "optional_type", params)
    if name.startswith("k8s."):
        return Type("struct", "kubernetes." + name.removeprefix("k8s."))
    return typesystem.param(name)
