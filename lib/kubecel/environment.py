"""The public interface: an environment compiles expressions, and a program evaluates one.

    environment = Environment("1.36", variables={"memory": check.QUANTITY})
    program = environment.compile('memory.isGreaterThan(quantity("80Gi"))')
    program.evaluate({"memory": QuantityBox(quantity.parse("81559Mi"))})

Environments and programs are immutable and may be shared. Create an environment once and keep it, because its creation
builds the tables that it reads.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Set
from dataclasses import dataclass, field
from typing import Final, TypeVar

from kubecel.check import checker, signatures
from kubecel.check.typesystem import Type
from kubecel.cost import costs, estimate
from kubecel.cost.ranges import Range
from kubecel.cost.shapes import Shape
from kubecel.errors import EvaluationError
from kubecel.functions import library, literals
from kubecel.run import plan, program
from kubecel.run.access import Frame, Run
from kubecel.syntax import depth, errors, expansion, parser, tree
from kubecel.syntax.errors import CompileError
from kubecel.syntax.tree import Node
from kubecel.values.errors import Abort, Err
from kubecel.values.runtime import Value

VERSIONS: Final = ("1.33", "1.34", "1.35", "1.36", "1.37")
LATEST: Final = VERSIONS[-1]
COST_LIMIT: Final = costs.LIMIT
"""The cost at which the API server refuses an expression and a cluster ends its evaluation."""

Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class Results:
    """The allowed types of a whole expression. `said` names them in a refusal."""

    types: tuple[Type, ...]
    said: str


@dataclass(frozen=True, slots=True)
class Measurement:
    """The cost and the value of one evaluation. `error` is the reason for a missing value, otherwise None."""

    cost: int
    value: Value = None
    error: str | None = None


@dataclass(frozen=True, eq=False)
class Environment:
    """The functions and macros of a Kubernetes version, and the declared variables.

    `objects` are the fields of object types by the name of the type (`check.object_type`). `shapes` bound the sizes of
    variables in cost estimates. Other variables have no bound. `results` restricts the type of the whole expression.
    `withheld` are functions that a feature gate disables. `field_name` converts the name of a field in an expression to
    its name in the data.

    Raises: ValueError for a version that is not one of VERSIONS.
    """

    version: str = LATEST
    variables: Mapping[str, Type] = field(default_factory=dict)
    objects: Mapping[str, Mapping[str, Type]] = field(default_factory=dict)
    shapes: Mapping[str, Shape] = field(default_factory=dict)
    results: Results | None = None
    withheld: frozenset[str] = frozenset()
    field_name: Callable[[str], str] | None = None

    def __post_init__(self) -> None:
        if self.version not in VERSIONS:
            raise ValueError(f"unknown Kubernetes version {self.version}; the known versions are {', '.join(VERSIONS)}")

    @functools.cached_property
    def minor(self) -> int:
        """The minor version of Kubernetes."""
        return int(self.version.partition(".")[2])

    @property
    def functions(self) -> frozenset[str]:
        """The names of the functions, operators and methods that an expression may call."""
        return frozenset(self._declarations.functions)

    def compile(self, expression: str) -> Program:
        """Return the compiled expression.

        Raises: InvalidExpression with line, column, the offending text and a caret.
        """
        return self._located(expression, lambda: self._compiled(expression))

    def check(self, expression: str) -> None:
        """Return when the expression compiles.

        Raises: InvalidExpression, as `compile` does.
        """
        self._located(expression, lambda: self._planned(expression))

    def parse(self, expression: str) -> Node:
        """Return the tree of the expression with its macros expanded. Types and names are not checked.

        Raises: InvalidExpression with line, column, the offending text and a caret.
        """
        return self._located(expression, lambda: self._parsed(expression))

    def _located(self, expression: str, make: Callable[[], Answer]) -> Answer:
        try:
            try:
                return make()
            except RecursionError:
                return depth.with_room(make)
        except CompileError as error:
            raise errors.located(expression, error) from error

    def _parsed(self, expression: str) -> Node:
        root = parser.parse(expression, self._macros)
        if self.field_name is not None:
            for node in tree.walk(root):
                if isinstance(node, tree.Select):
                    node.field = self.field_name(node.field)
        return root

    def _planned(self, expression: str) -> tuple[checker.Checked, plan.Step]:
        checked = checker.check(self._parsed(expression), self._declarations)
        literals.validate(checked, self._functions)
        if self.results is not None and checked.result not in self.results.types:
            raise CompileError(f"must evaluate to {self.results.said}, not {checked.result}", checked.root.offset)
        return checked, plan.plan(checked, self._functions)

    def _compiled(self, expression: str) -> Program:
        checked, step = self._planned(expression)
        return Program(self, expression, checked, program.program(step, tracked=False, minor=self.minor))

    def _estimated(self, checked: checker.Checked) -> Range:
        return estimate.estimate(checked, self._sizes, self.minor)

    @functools.cached_property
    def _macros(self) -> expansion.Table:
        return expansion.macros(self.minor)

    @functools.cached_property
    def _functions(self) -> plan.Functions:
        return library.functions(self.minor)

    @functools.cached_property
    def _declarations(self) -> checker.Declarations:
        functions = _signatures(self.minor, self.withheld)
        return checker.Declarations(functions, self.variables, self.objects)

    @functools.cached_property
    def _sizes(self) -> estimate.Sizes:
        return estimate.Sizes(self.shapes)


class Program:
    """A compiled expression. `calls` are the names of the functions that it calls."""

    __slots__ = ("_checked", "_counted", "_estimate", "_run", "calls", "environment", "expression")

    def __init__(self, environment: Environment, expression: str, checked: checker.Checked, run: Run) -> None:
        self.environment = environment
        self.expression = expression
        self.calls: Set[str] = checked.functions
        self._run = run
        # The tree is kept only until its cost is estimated. Thousands of trees in memory would make every garbage
        # collection slower. A program that counts its cost is compiled again from the text for the same reason.
        self._checked: checker.Checked | None = checked
        self._estimate: Range | None = None
        self._counted: Run | None = None

    def evaluate(self, variables: Mapping[str, Value]) -> Value:
        """Return the value of the expression. bool, int, float, str, bytes, None, list and dict are Python's own.

        Raises: EvaluationError for an error that no operator absorbs.
        """
        try:
            return self.attempt(variables)
        except RecursionError:
            return depth.with_room(lambda: self.attempt(variables))

    def attempt(self, variables: Mapping[str, Value]) -> Value:
        """Return the value as `evaluate` does, without a second attempt.

        Raises: EvaluationError; RecursionError when the stack is too short (`with_room`). A comparison may change the
        form of a quantity, so the caller creates such variables anew before a second attempt.
        """
        try:
            value = self._run(Frame(variables))
        except Abort as error:
            raise EvaluationError(str(error)) from error
        if type(value) is Err:
            raise EvaluationError(value.message)
        return value

    def measure(self, variables: Mapping[str, Value], *, limit: int = COST_LIMIT) -> Measurement:
        """Return the cost and the value of one evaluation. It ends with an error at the limit.

        Raises: RecursionError, as `attempt`.
        """
        tracker = costs.Tracker(limit)
        try:
            if self._counted is None:
                _, step = self.environment._planned(self.expression)
                self._counted = program.program(step, tracked=True, minor=self.environment.minor)
            value = self._counted(Frame(variables, tracker))
        except Abort as error:
            return Measurement(tracker.cost, error=str(error))
        if type(value) is Err:
            return Measurement(tracker.cost, error=value.message)
        return Measurement(tracker.cost, value)

    def estimate(self) -> Range:
        """Return the minimum and maximum cost of an evaluation, as the API server estimates it."""
        if self._estimate is None:
            checked, self._checked = self._tree(), None
            self._estimate = self.environment._estimated(checked)
        return self._estimate

    def fields_of(self, type_: Type) -> Iterator[str]:
        """Yield the fields of an object type that the expression reads, in the order of the text."""
        checked = self._tree()
        for node in tree.walk(checked.root):
            if isinstance(node, tree.Select) and checked.types[node.operand.id] == type_:
                yield node.field

    def _tree(self) -> checker.Checked:
        return self._checked if self._checked is not None else self.environment._planned(self.expression)[0]


def with_room(again: Callable[[], Answer]) -> Answer:
    """Return the result of `again`, with room on the stack for the deepest expression that Kubernetes allows."""
    return depth.with_room(again)


def _signatures(minor: int, withheld: frozenset[str]) -> Mapping[str, tuple[signatures.Overload, ...]]:
    declared = signatures.functions(minor)
    return {name: overloads for name, overloads in declared.items() if name not in withheld} if withheld else declared


__all__ = [
    "COST_LIMIT",
    "LATEST",
    "VERSIONS",
    "Environment",
    "Measurement",
    "Program",
    "Range",
    "Results",
    "Shape",
    "with_room",
]
