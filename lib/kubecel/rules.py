"""Rules over JSON values: those of x-kubernetes-validations, and readiness queries with another name for the subject.

Source: pkg/apiserver/schema/cel of k8s.io/apiextensions-apiserver v0.36.2.
"""

from __future__ import annotations

from typing import Any, Final

from kubecel import caches, check
from kubecel.environment import Environment, Measurement, Program, Results, with_room
from kubecel.errors import EvaluationError

_ESCAPED_KEYWORDS: Final = frozenset({
    "true", "false", "null", "in", "as", "break", "const", "continue", "else", "for", "function", "if", "import", "let",
    "loop", "package", "namespace", "return", "var", "void", "while",
})  # fmt: skip


class Rule:
    """A compiled rule over its subject, usually named `self`, and `oldSelf`."""

    __slots__ = ("_program", "_subject")

    def __init__(self, program: Program, subject: str) -> None:
        self._program = program
        self._subject = subject

    @property
    def expression(self) -> str:
        """The text of the rule."""
        return self._program.expression

    def evaluate(self, value: Any, *, old: Any = None) -> bool:
        """Return whether the rule holds for a JSON value (and for the one it replaces).

        Raises: EvaluationError when the evaluation fails. The API server also refuses such an object.
        """
        try:
            result = self._program.evaluate({self._subject: value, "oldSelf": old})
        except EvaluationError as error:
            raise EvaluationError(f"the rule {self.expression!r} cannot be evaluated: {error}") from error
        if not isinstance(result, bool):
            raise EvaluationError(f"the rule {self.expression!r} does not return a bool")
        return result

    def measure(self, value: Any, *, limit: int) -> Measurement:
        """Return the cost and the value of one evaluation. It ends with an error at the limit.

        Use it where one person writes the rule and another one the value: the cost of a rule has no other bound.
        """
        given = {self._subject: value, "oldSelf": None}
        try:
            return self._program.measure(given, limit=limit)
        except RecursionError:
            return with_room(lambda: self._program.measure(given, limit=limit))


@caches.kept(4096)
def compile(expression: str, *, subject: str = "self") -> Rule:  # noqa: A001 - the verb of the domain, as for selectors
    """Return the compiled rule. Its subject and `oldSelf` have no static type.

    A readiness query of provider-kubernetes is a rule whose `subject` is "object".

    Raises: InvalidExpression with line, column, the offending text and a caret.
    """
    return Rule(_environment(subject).compile(expression), subject)


@caches.kept(caches.VERSIONS_MAX)
def _environment(subject: str) -> Environment:
    """Return the environment of rules. It is the newest version, because rules have no version of their own."""
    return Environment(
        variables={subject: check.DYN, "oldSelf": check.DYN},
        results=Results((check.BOOL, check.DYN), "bool"),
        field_name=_unescaped,
    )


def _unescaped(name: str) -> str:
    """Return the unescaped name of a field. A rule writes `namespace` as `__namespace__` and `a-b` as `a__dash__b`."""
    inner = name[2:-2]
    if name.startswith("__") and name.endswith("__") and inner in _ESCAPED_KEYWORDS:
        return inner
    for written, meant in (("__dot__", "."), ("__dash__", "-"), ("__slash__", "/"), ("__underscores__", "__")):
        name = name.replace(written, meant)
    return name
