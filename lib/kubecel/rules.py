"""Rules over JSON values: those of x-kubernetes-validations, and readiness queries, which are the same but for a name.

Source: pkg/apiserver/schema/cel of k8s.io/apiextensions-apiserver v0.36.2.
"""

from __future__ import annotations

import functools
from typing import Any, Final

from kubecel.check import checker, signatures, typesystem
from kubecel.errors import EvaluationError
from kubecel.functions import library, literals
from kubecel.run import access, plan, program
from kubecel.syntax import depth, errors, expansion, parser, tree
from kubecel.syntax.errors import CompileError
from kubecel.values.errors import Abort, Err

# A rule has no version of its own: it may use what the newest one knows.
_LATEST: Final = 37


class Rule:
    """A compiled validation rule over `self` (or what else its subject is called) and `oldSelf`."""

    __slots__ = ("_run", "_subject", "expression")

    def __init__(self, expression: str, run: access.Run, subject: str) -> None:
        self.expression = expression
        self._run = run
        self._subject = subject

    def evaluate(self, value: Any, *, old: Any = None) -> bool:
        """Return whether the rule holds of a JSON value (and of the one it replaces).

        Raises: EvaluationError when the rule cannot be evaluated on it; the API server refuses the object too.
        """
        try:
            result = self._run(access.Frame({self._subject: value, "oldSelf": old}))
        except Abort as error:
            raise EvaluationError(f"the rule {self.expression!r} cannot be evaluated: {error}") from error
        if isinstance(result, Err):
            raise EvaluationError(f"the rule {self.expression!r} cannot be evaluated: {result.message}")
        if not isinstance(result, bool):
            raise EvaluationError(f"the rule {self.expression!r} does not give true or false")
        return result


@functools.lru_cache(maxsize=4096)
def compile(expression: str, *, subject: str = "self") -> Rule:  # noqa: A001 - the verb of the domain, as for selectors
    """Return the compiled rule; `self` and `oldSelf` have no static type.

    Other rules over one document call it otherwise: `subject` is "object" for a readiness query of provider-
    kubernetes.

    Raises: InvalidExpression with line, column, the offending text and a caret.
    """
    try:
        return _built(expression, subject)
    except RecursionError:
        return depth.with_room(lambda: _built(expression, subject))


def _built(expression: str, subject: str) -> Rule:
    try:
        root = parser.parse(expression, expansion.macros(_LATEST))
        _unescape(root)
        variables = {subject: typesystem.DYN, "oldSelf": typesystem.DYN}
        checked = checker.check(root, checker.Declarations(signatures.functions(_LATEST), variables))
        literals.validate(checked, library.functions(_LATEST))
        if checked.result not in (typesystem.BOOL, typesystem.DYN):
            raise CompileError(f"must evaluate to bool, not {checked.result}", root.offset)
        step = plan.plan(checked, library.functions(_LATEST))
    except CompileError as error:
        raise errors.located(expression, error) from error
    return Rule(expression, program.program(step, tracked=False), subject)


def _unescape(root: tree.Node) -> None:
    """Give fields their real names: a rule writes `namespace` as `__namespace__` and `a-b` as `a__dash__b`."""
    for node in tree.walk(root):
        if isinstance(node, tree.Select):
            node.field = _unescaped(node.field)


def _unescaped(name: str) -> str:
    inner = name[2:-2]
    if name.startswith("__") and name.endswith("__") and inner in literals.ESCAPED_KEYWORDS:
        return inner
    for written, meant in (("__dot__", "."), ("__dash__", "-"), ("__slash__", "/"), ("__underscores__", "__")):
        name = name.replace(written, meant)
    return name
