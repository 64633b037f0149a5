"""What may make a quantity, a version, a time, an address or a URL."""

# ruff: noqa: E501 - one example per line is easier to extend than formatted tables

from __future__ import annotations

from collections.abc import Callable

from tests.conformance.oracle.grammar import Grammar
from tests.conformance.oracle.vocabulary import CAPACITIES, DURATIONS, QUANTITIES, STAMPS, STRINGS, VERSIONS, C


class ExactValues(Grammar):
    """The makers of values that Kubernetes or the standard library reads from a text, a method a type."""

    def _quantity(self, d: int) -> list[Callable[[], str]]:
        leaves: list[Callable[[], str]] = [
            lambda: f'quantity("{self._pick(QUANTITIES)}")',
            lambda: f"{C}.{self._pick(CAPACITIES[:3])}",
            lambda: f"{C}.{self._pick(CAPACITIES)}",
        ]
        if d <= 0:
            return leaves
        return [
            *leaves,
            *self._common("quantity", d),
            lambda: (
                f"{self.of('quantity', d - 1)}.{self._pick(('add', 'sub'))}({self.of(self._pick(('quantity', 'int')), d - 1)})"
            ),
            lambda: f"quantity({self.of('string', d - 1)})",
        ]

    def _version(self, d: int) -> list[Callable[[], str]]:
        leaves: list[Callable[[], str]] = [lambda: f'semver("{self._pick(VERSIONS)}"{self._pick(("", ", true"))})']
        return (
            leaves if d <= 0 else [*leaves, *self._common("version", d), lambda: f"semver({self.of('string', d - 1)})"]
        )

    def _duration(self, d: int) -> list[Callable[[], str]]:
        leaves: list[Callable[[], str]] = [lambda: f"duration({self._pick(DURATIONS)})"]
        if d <= 0:
            return leaves
        return [
            *leaves,
            lambda: f"({self.of('duration', d - 1)} {self._pick('+-')} {self.of('duration', d - 1)})",
            lambda: f"({self.of('timestamp', d - 1)} - {self.of('timestamp', d - 1)})",
            lambda: f"duration({self.of('string', d - 1)})",
        ]

    def _timestamp(self, d: int) -> list[Callable[[], str]]:
        leaves: list[Callable[[], str]] = [lambda: f"timestamp({self._pick(STAMPS)})"]
        if d <= 0:
            return leaves
        return [
            *leaves,
            lambda: f"({self.of('timestamp', d - 1)} {self._pick('+-')} {self.of('duration', d - 1)})",
            lambda: f"timestamp({self.of(self._pick(('string', 'int')), d - 1)})",
        ]

    def _ip(self, d: int) -> list[Callable[[], str]]:
        leaves: list[Callable[[], str]] = [lambda: self._pick(('ip("10.1.2.3")', 'ip("::1")', 'ip("fe80::1")'))]
        return (
            leaves
            if d <= 0
            else [*leaves, lambda: f"ip({self.of('string', d - 1)})", lambda: f"{self.of('cidr', d - 1)}.ip()"]
        )

    def _cidr(self, d: int) -> list[Callable[[], str]]:
        leaves: list[Callable[[], str]] = [
            lambda: self._pick(('cidr("10.0.0.0/8")', 'cidr("fe80::1/64")', 'cidr("10.1.2.3/17")'))
        ]
        return (
            leaves
            if d <= 0
            else [*leaves, lambda: f"{self.of('cidr', d - 1)}.masked()", lambda: f"cidr({self.of('string', d - 1)})"]
        )

    def _url(self, d: int) -> list[Callable[[], str]]:
        return [lambda: f"url({self._pick(STRINGS)})", lambda: f"url({self.of('string', max(0, d - 1))})"]
