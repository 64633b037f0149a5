"""What may make a truth value, a number, a text or a value of no known type."""

# ruff: noqa: E501 - one example per line is easier to extend than formatted tables

from __future__ import annotations

from collections.abc import Callable

from tests.conformance.oracle.grammar import Grammar
from tests.conformance.oracle.vocabulary import (
    ATTRIBUTES,
    DOUBLES,
    FORMATS,
    FUNCTIONS,
    INTS,
    METHODS,
    STRINGS,
    TYPES,
    UINTS,
    ZONES,
    A,
)


class Scalars(Grammar):
    """The makers of plain values, a method a type."""

    def _bool(self, d: int) -> list[Callable[[], str]]:
        leaves: list[Callable[[], str]] = [
            lambda: self._pick(("true", "false")),
            lambda: f"{A}.ecc",
            lambda: f"has({A}.{self._pick(ATTRIBUTES)})",
            lambda: f"has(device.attributes[{self._pick(STRINGS)}].{self._pick(ATTRIBUTES)})",
            lambda: f"{self._pick(STRINGS)} in {A}",
            lambda: f"{self._pick(STRINGS)} in device.attributes",
            lambda: 'device.driver == "gpu.nvidia.com"',
            lambda: "device.allowMultipleAllocations",
        ]
        if d <= 0:
            return leaves
        kind = self._pick(TYPES)
        ordered = self._pick(("int", "uint", "double", "string", "duration", "timestamp", "any", "bytes"))
        operator = self._pick(("<", "<=", ">", ">="))
        return [
            *leaves[1:4],
            *self._common("bool", d),
            lambda: f"({self.of('bool', d - 1)} && {self.of('bool', d - 1)})",
            lambda: f"{self.of('bool', d - 1)} || {self.of('bool', d - 1)}",
            lambda: f"({self.of('any', d - 1)} {self._pick(('&&', '||'))} {self.of('bool', d - 1)})",
            lambda: f"!{self.of('bool', 0)}",
            lambda: f"!({self.of('any', d - 1)})",
            lambda: f"{self.of(kind, d - 1)} == {self.of(kind, d - 1)}",
            lambda: f"{self.of(kind, d - 1)} != {self.of(kind, d - 1)}",
            lambda: f"{self.of('any', d - 1)} == {self.of(kind, d - 1)}",
            lambda: f"{self.of(kind, d - 1)} {self._pick(('==', '!='))} {self.of('any', d - 1)}",
            lambda: f"{self.of(ordered, d - 1)} {operator} {self.of(ordered, d - 1)}",
            lambda: f"{self.of('any', d - 1)} {operator} {self.of(ordered, d - 1)}",
            lambda: f"{self.of('int', d - 1)} {operator} {self.of(self._pick(('double', 'uint')), d - 1)}",
            lambda: (
                f"{self.of('string', d - 1)}.{self._pick(('startsWith', 'endsWith', 'contains'))}({self.of('string', d - 1)})"
            ),
            lambda: f"{self.of('any', d - 1)}.{self._pick(('startsWith', 'contains'))}({self.of('string', d - 1)})",
            lambda: f"{self.of('string', d - 1)}.matches({self._pick(STRINGS)})",
            lambda: f"matches({self.of('string', d - 1)}, {self.of('string', d - 1)})",
            lambda: f"{self.of('int', d - 1)} in {self.of('list_int', d - 1)}",
            lambda: f"{self.of('any', d - 1)} in {self.of(self._pick(('list_int', 'list_string')), d - 1)}",
            lambda: f"{self.of('string', d - 1)} in {self.of('list_string', d - 1)}",
            lambda: f"{self.of('string', d - 1)} in {self.of('map', d - 1)}",
            lambda: (
                f"{self.of('quantity', d - 1)}.{self._pick(('isGreaterThan', 'isLessThan'))}({self.of('quantity', d - 1)})"
            ),
            lambda: f"{self.of('quantity', d - 1)}.isInteger()",
            lambda: (
                f"{self.of('version', d - 1)}.{self._pick(('isGreaterThan', 'isLessThan'))}({self.of('version', d - 1)})"
            ),
            lambda: f"isQuantity({self.of('string', d - 1)})",
            lambda: f"isSemver({self.of('string', d - 1)}{self._pick(('', ', true'))})",
            lambda: f"isURL({self.of('string', d - 1)})",
            lambda: f"is{self._pick(('IP', 'CIDR'))}({self.of('string', d - 1)})",
            lambda: f"ip.isCanonical({self.of('string', d - 1)})",
            lambda: (
                f"{self.of('ip', d - 1)}.is{self._pick(('Loopback', 'GlobalUnicast', 'Unspecified', 'LinkLocalUnicast'))}()"
            ),
            lambda: f"{self.of('cidr', d - 1)}.containsIP({self.of(self._pick(('ip', 'string')), d - 1)})",
            lambda: f"{self.of('cidr', d - 1)}.containsCIDR({self.of(self._pick(('cidr', 'string')), d - 1)})",
            lambda: f"format.{self._pick(FORMATS)}().validate({self.of('string', d - 1)}).hasValue()",
            lambda: f"{self.of('optional_int', d - 1)}.hasValue()",
            lambda: (
                f"sets.{self._pick(('contains', 'intersects', 'equivalent'))}({self.of('list_int', d - 1)}, {self.of('list_int', d - 1)})"
            ),
            lambda: f"{self.of(self._pick(('list_int', 'list_string')), d - 1)}.isSorted()",
            lambda: self._quantified("list_int", "int", d),
            lambda: self._quantified("list_string", "string", d),
            lambda: self._quantified("map", "string", d),
            lambda: self._quantified_two(d),
            lambda: (
                f"type({self.of(kind, d - 1)}) == {self._pick(('int', 'string', 'bool', 'list', 'type(1)', 'double'))}"
            ),
            lambda: f"bool({self._pick(STRINGS)})",
            lambda: f"{A}[?{self.of('string', d - 1)}].hasValue()",
            lambda: f"{A}[{self.of('string', d - 1)}] == {self.of(kind, d - 1)}",
            lambda: (
                f"device.attributes[{self.of('string', d - 1)}].{self._pick(ATTRIBUTES)} == {self.of('any', d - 1)}"
            ),
        ]

    def _quantified(self, source: str, element: str, d: int) -> str:
        items = self.of(source, d - 1)
        macro = self._pick(("all", "exists", "exists_one"))
        return self._in_scope(element, lambda name: f"{items}.{macro}({name}, {self.of('bool', d - 1)})")

    def _quantified_two(self, d: int) -> str:
        items, macro = self.of("list_int", d - 1), self._pick(("all", "exists", "existsOne", "exists_one"))
        self._scopes += [("i", "int"), ("e", "int")]
        try:
            return f"{items}.{macro}(i, e, {self.of('bool', d - 1)})"
        finally:
            del self._scopes[-2:]

    def _any(self, d: int) -> list[Callable[[], str]]:
        leaves: list[Callable[[], str]] = [
            lambda: f"{A}.{self._pick(ATTRIBUTES)}",
            lambda: f"{A}.{self._pick(ATTRIBUTES[:-1])}",
            lambda: f'{A}["{self._pick(ATTRIBUTES)}"]',
            lambda: f'device.attributes["{self._pick(("amd.com", "net.example.com"))}"].rdma',
        ]
        if d <= 0:
            return leaves
        return [
            *leaves,
            *leaves,
            lambda: f"dyn({self.of(self._pick(TYPES), d - 1)})",
            lambda: f"{A}.?{self._pick(ATTRIBUTES)}.orValue({self.of('any', d - 1)})",
            lambda: f"({self.of('any', d - 1)} + {self.of(self._pick(('int', 'string', 'any')), d - 1)})",
            lambda: (
                f"({self.of('any', d - 1)} {self._pick('+-*/%')} {self.of(self._pick(('int', 'double', 'uint', 'any')), d - 1)})"
            ),
            lambda: f"{self.of('any', d - 1)}.{self._pick(METHODS)}({self.of(self._pick(TYPES), d - 1)})",
            lambda: f"{self.of('any', d - 1)}.{self._pick(METHODS)}()",
            lambda: f"{self._pick(FUNCTIONS)}({self.of('any', d - 1)})",
            lambda: f"{self._pick(FUNCTIONS)}({self.of(self._pick(TYPES), d - 1)})",
            lambda: f"dyn({self.of('map', d - 1)}).{self._pick('abx')}",
            lambda: (
                f"dyn({self.of('list_int', d - 1)})[{self.of(self._pick(('int', 'uint', 'double', 'any')), d - 1)}]"
            ),
            lambda: f"{{{self.of('any', d - 1)}: {self.of('any', d - 1)}}}[{self.of('any', d - 1)}]",
            lambda: f"[{self.of('any', d - 1)}, {self.of('any', d - 1)}][{self._pick('012')}]",
            lambda: f"{self.of('optional_int', d - 1)}.orValue({self.of('any', d - 1)})",
            lambda: f"cel.bind(m, {self.of('any', d - 1)}, {self._pick(('m', 'm.a', 'm[0]', 'm.?a.orValue(1)'))})",
        ]

    def _int(self, d: int) -> list[Callable[[], str]]:
        leaves: list[Callable[[], str]] = [lambda: self._pick(INTS)]
        if d <= 0:
            return leaves
        kind = self._pick(("string", "bytes", "list_int", "list_string", "map"))
        return [
            *leaves,
            *self._common("int", d),
            lambda: f"({self.of('int', d - 1)} {self._pick('+-*/%')} {self.of('int', d - 1)})",
            lambda: f"-({self.of('int', d - 1)})",
            lambda: (
                f"int({self.of(self._pick(('int', 'uint', 'double', 'string', 'duration', 'timestamp', 'any')), d - 1)})"
            ),
            lambda: f"size({self.of(kind, d - 1)})",
            lambda: f"{self.of(kind, d - 1)}.size()",
            lambda: f"{self.of('string', d - 1)}.{self._pick(('indexOf', 'lastIndexOf'))}({self.of('string', d - 1)})",
            lambda: (
                f"{self.of('string', d - 1)}.{self._pick(('indexOf', 'lastIndexOf'))}({self.of('string', d - 1)}, {self._pick('0123')})"
            ),
            lambda: f"{self.of('list_int', d - 1)}.{self._pick(('indexOf', 'lastIndexOf'))}({self.of('int', d - 1)})",
            lambda: f"{self.of('list_int', d - 1)}.{self._pick(('sum', 'min', 'max'))}()",
            lambda: f"{self.of('quantity', d - 1)}.compareTo({self.of('quantity', d - 1)})",
            lambda: f"{self.of('quantity', d - 1)}.asInteger()",
            lambda: f"sign({self.of('quantity', d - 1)})",
            lambda: f"{self.of('version', d - 1)}.{self._pick(('major', 'minor', 'patch'))}()",
            lambda: f"{self.of('version', d - 1)}.compareTo({self.of('version', d - 1)})",
            lambda: (
                f"{self.of('timestamp', d - 1)}.get{self._pick(('FullYear', 'Month', 'Date', 'DayOfWeek', 'DayOfYear', 'Hours', 'Milliseconds'))}()"
            ),
            lambda: (
                f"{self.of('timestamp', d - 1)}.get{self._pick(('FullYear', 'DayOfMonth', 'Hours', 'Minutes'))}({self._pick(ZONES)})"
            ),
            lambda: f"{self.of('duration', d - 1)}.get{self._pick(('Hours', 'Minutes', 'Seconds', 'Milliseconds'))}()",
            lambda: f"{self.of('list_int', d - 1)}[{self._pick('0123')}]",
            lambda: f"{self.of('map', d - 1)}[{self._pick(STRINGS)}]",
            lambda: f"{self.of('map', d - 1)}.{self._pick('ab')}",
            lambda: f"{self.of('optional_int', d - 1)}.{self._pick(('value()', 'orValue(7)'))}",
            lambda: f"{self.of('ip', d - 1)}.family()",
            lambda: f"{self.of('cidr', d - 1)}.prefixLength()",
        ]

    def _uint(self, d: int) -> list[Callable[[], str]]:
        leaves: list[Callable[[], str]] = [lambda: self._pick(UINTS)]
        if d <= 0:
            return leaves
        return [
            *leaves,
            lambda: f"({self.of('uint', d - 1)} {self._pick('+-*/%')} {self.of('uint', d - 1)})",
            lambda: f"uint({self.of(self._pick(('int', 'double', 'string')), d - 1)})",
        ]

    def _double(self, d: int) -> list[Callable[[], str]]:
        leaves: list[Callable[[], str]] = [lambda: self._pick(DOUBLES)]
        if d <= 0:
            return leaves
        return [
            *leaves,
            lambda: f"({self.of('double', d - 1)} {self._pick('+-*/')} {self.of('double', d - 1)})",
            lambda: f"double({self.of(self._pick(('int', 'uint', 'string', 'any')), d - 1)})",
            lambda: f"{self.of('quantity', d - 1)}.asApproximateFloat()",
            lambda: f"-({self.of('double', d - 1)})",
        ]

    def _string(self, d: int) -> list[Callable[[], str]]:
        leaves: list[Callable[[], str]] = [
            lambda: self._pick(STRINGS),
            lambda: self._pick(STRINGS),
            lambda: "device.driver",
        ]
        if d <= 0:
            return leaves
        scalars = ("int", "uint", "double", "bool", "bytes", "duration", "timestamp", "string", "ip", "cidr", "any")
        return [
            *leaves,
            *self._common("string", d),
            lambda: f"({self.of('string', d - 1)} + {self.of('string', d - 1)})",
            lambda: f"string({self.of(self._pick(scalars), d - 1)})",
            lambda: f"{self.of('string', d - 1)}.{self._pick(('lowerAscii', 'upperAscii', 'trim'))}()",
            lambda: f"{self.of('string', d - 1)}.charAt({self.of('int', d - 1)})",
            lambda: f"{self.of('string', d - 1)}.substring({self._pick('0123')})",
            lambda: f"{self.of('string', d - 1)}.substring({self._pick('0123')}, {self._pick('0123')})",
            lambda: f"{self.of('string', d - 1)}.replace({self.of('string', d - 1)}, {self.of('string', d - 1)})",
            lambda: (
                f"{self.of('string', d - 1)}.replace({self._pick(STRINGS)}, {self._pick(STRINGS)}, {self._pick(('-1', '0', '1'))})"
            ),
            lambda: f"{self.of('list_string', d - 1)}.join({self._pick(('', self._pick(STRINGS)))})",
            lambda: f"{self.of('string', d - 1)}.find({self._pick(STRINGS)})",
            lambda: f"strings.quote({self.of('string', d - 1)})",
            lambda: f"{self._format(d)}",
            lambda: f"{self.of('url', d - 1)}.get{self._pick(('Scheme', 'Host', 'Hostname', 'Port', 'EscapedPath'))}()",
        ]

    def _format(self, d: int) -> str:
        clauses = {
            "s": self._pick(TYPES[:11]),
            "d": "int",
            "x": self._pick(("int", "string")),
            "b": "int",
            "o": "uint",
            "f": "double",
        }
        letters = [self._pick(clauses) for _ in range(self._random.choice((1, 2)))]
        text = "-".join(f"%{self._pick(('', '.2')) if letter == 'f' else ''}{letter}" for letter in letters)
        return f'"{text}".format([{", ".join(self.of(clauses[letter], d - 1) for letter in letters)}])'

    def _bytes(self, d: int) -> list[Callable[[], str]]:
        leaves: list[Callable[[], str]] = [lambda: self._pick(('b"ab"', 'b""', 'b"\\xff"', 'b"ü"'))]
        if d <= 0:
            return leaves
        return [
            *leaves,
            lambda: f"bytes({self.of('string', d - 1)})",
            lambda: f"({self.of('bytes', d - 1)} + {self.of('bytes', d - 1)})",
        ]
