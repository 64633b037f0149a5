"""What may make a list, a map or an optional value."""

from __future__ import annotations

from collections.abc import Callable

from tests.conformance.oracle.grammar import Grammar
from tests.conformance.oracle.vocabulary import INTS, STRINGS


class Containers(Grammar):
    """The makers of values that hold others, a method a type."""

    def _list_int(self, d: int) -> list[Callable[[], str]]:
        leaves: list[Callable[[], str]] = [lambda: self._pick(("[1, 2, 3]", "[]", "[7]", "[3, 1, 2, 3]"))]
        if d <= 0:
            return leaves
        return [
            *leaves,
            *self._common("list_int", d),
            lambda: f"[{', '.join(self.of('int', d - 1) for _ in range(self._random.choice((1, 2, 3))))}]",
            lambda: f"({self.of('list_int', d - 1)} + {self.of('list_int', d - 1)})",
            lambda: f"[{self.of('int', d - 1)}, ?{self.of('optional_int', d - 1)}]",
            lambda: self._mapped("list_int", "int", "int", d),
            lambda: self._mapped("list_string", "string", "int", d),
            lambda: self._filtered("list_int", "int", d),
            lambda: f"{self.of('list_int', d - 1)}.{self._pick(('sort', 'distinct', 'reverse'))}()",
            lambda: f"{self.of('list_int', d - 1)}.slice({self._pick('01')}, {self._pick('123')})",
            lambda: f"[{self.of('list_int', d - 1)}, {self.of('list_int', d - 1)}].flatten()",
            lambda: f"lists.range({self._pick(('0', '3', '10'))})",
            lambda: self._sorted_by(d),
            lambda: f"{self.of('list_int', d - 1)}.transformList(i, e, {self._pick(('i', 'e', 'i + e'))})",
        ]

    def _mapped(self, source: str, element: str, result: str, d: int) -> str:
        items = self.of(source, d - 1)
        if self._random.random() < 0.3:
            return self._in_scope(
                element, lambda name: f"{items}.map({name}, {self.of('bool', d - 1)}, {self.of(result, d - 1)})"
            )
        return self._in_scope(element, lambda name: f"{items}.map({name}, {self.of(result, d - 1)})")

    def _filtered(self, source: str, element: str, d: int) -> str:
        items = self.of(source, d - 1)
        return self._in_scope(element, lambda name: f"{items}.filter({name}, {self.of('bool', d - 1)})")

    def _sorted_by(self, d: int) -> str:
        items = self.of("list_int", d - 1)
        return self._in_scope("int", lambda name: f"{items}.sortBy({name}, {self.of('int', d - 1)})")

    def _list_string(self, d: int) -> list[Callable[[], str]]:
        leaves: list[Callable[[], str]] = [lambda: self._pick(('["a", "Hopper"]', "[]", '["gpu"]', '["b", "a", "c"]'))]
        if d <= 0:
            return leaves
        return [
            *leaves,
            *self._common("list_string", d),
            lambda: f"[{', '.join(self.of('string', d - 1) for _ in range(self._random.choice((1, 2, 3))))}]",
            lambda: f"{self.of('string', d - 1)}.split({self._pick(STRINGS)})",
            lambda: f"{self.of('string', d - 1)}.split({self._pick(STRINGS)}, {self._pick(('-1', '0', '1', '2'))})",
            lambda: f"{self.of('string', d - 1)}.findAll({self._pick(STRINGS)}{self._pick(('', ', 1'))})",
            lambda: self._mapped("list_int", "int", "string", d),
            lambda: self._filtered("list_string", "string", d),
            lambda: f"{self.of('list_string', d - 1)}.{self._pick(('sort', 'distinct', 'reverse'))}()",
        ]

    def _map(self, d: int) -> list[Callable[[], str]]:
        leaves: list[Callable[[], str]] = [lambda: self._pick(('{"a": 1}', "{}", '{"b": 2}'))]
        if d <= 0:
            return leaves
        return [
            *leaves,
            *self._common("map", d),
            lambda: f"{{{self.of('string', d - 1)}: {self.of('int', d - 1)}}}",
            lambda: f"{{?{self.of('string', d - 1)}: {self.of('optional_int', d - 1)}}}",
            lambda: f"{self.of('map', d - 1)}.transformMap(k, v, {self._pick(('v', 'v + 1', '1'))})",
            lambda: f"{self.of('map', d - 1)}.transformMapEntry(k, v, {{{self._pick(('k', 'k + k'))}: v}})",
        ]

    def _optional_int(self, d: int) -> list[Callable[[], str]]:
        leaves: list[Callable[[], str]] = [
            lambda: "optional.none()",
            lambda: f"optional.of({self._pick(INTS)})",
        ]
        if d <= 0:
            return leaves
        return [
            *leaves,
            lambda: f"optional.ofNonZeroValue({self.of('int', d - 1)})",
            lambda: f"{self.of('map', d - 1)}.?a",
            lambda: f"{self.of('map', d - 1)}[?{self.of('string', d - 1)}]",
            lambda: f"{self.of('list_int', d - 1)}[?{self._pick('012')}]",
            lambda: f"{self.of('optional_int', d - 1)}.or({self.of('optional_int', d - 1)})",
            lambda: self._optional_map(d),
            lambda: f"{self.of('list_int', d - 1)}.{self._pick(('first', 'last'))}()",
        ]

    def _optional_map(self, d: int) -> str:
        source = self.of("optional_int", d - 1)
        if self._random.random() < 0.5:
            return self._in_scope("int", lambda name: f"{source}.optMap({name}, {self.of('int', d - 1)})")
        return self._in_scope("int", lambda name: f"{source}.optFlatMap({name}, {self.of('optional_int', d - 1)})")
