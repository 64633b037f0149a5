"""Device selectors in CEL, evaluated exactly as Kubernetes evaluates them.

`compile` returns the compiled selector, and `Selector.evaluate` returns match, no match or abort for one device. Abort
exists because on a cluster a run-time error ends the scheduling of the pod instead of skipping the device. The language
itself is `kubecel`.

Source: k8s.io/dynamic-resource-allocation v0.36.2 (cel-go v0.26.0).

Known divergences, none of which has been seen in a selector:

- message types and message literals of protobuf do not compile;
- maps of the device as two keys of one map abort; Kubernetes compares them by their address in memory;
- timestamps as keys of a map that write one instant as `Z` and as `+00:00` are one key here;
- a constant map with bytes as a key does not compile here; Kubernetes' own code panics on it;
- an evaluation that creates about four million parts of lists and texts aborts; Kubernetes has no such limit;
- a cost that depends on the order in which Go iterates over a map is one of the possible costs.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from kubecel import caches
from kubecel.environment import COST_LIMIT, Program, with_room
from kubecel.errors import EvaluationError, InvalidExpression
from kubecel.values import Value, type_name
from modelplane.devices import selector_device, selector_language
from modelplane.devices.model import Device
from modelplane.devices.selector_language import PROFILES, V1_34, V1_35, V1_36, V1_36_LISTS, V1_37, Profile
from modelplane.errors import InvalidSelector

__all__ = [
    "MATCH",
    "NO_MATCH",
    "PROFILES",
    "V1_34",
    "V1_35",
    "V1_36",
    "V1_36_LISTS",
    "V1_37",
    "Outcome",
    "Profile",
    "Selector",
    "Verdict",
    "compile",
    "written",
]

MAX_BYTES: Final = 10 * 1024
MAX_COST: Final = COST_LIMIT
_CERTAINLY_CHEAP: Final = MAX_COST // 10


class Outcome(StrEnum):
    """The answer of a selector for a device."""

    MATCH = "match"
    NO_MATCH = "no match"
    ABORT = "abort"


@dataclass(frozen=True, slots=True)
class Verdict:
    """The outcome and, for an abort, its cause."""

    outcome: Outcome
    cause: str = ""

    @property
    def matches(self) -> bool:
        """Return whether the device is selected."""
        return self.outcome is Outcome.MATCH

    @property
    def aborts(self) -> bool:
        """Return whether the device would end the scheduling of the pod."""
        return self.outcome is Outcome.ABORT


MATCH: Final = Verdict(Outcome.MATCH)
NO_MATCH: Final = Verdict(Outcome.NO_MATCH)


class Selector:
    """A compiled selector. It is immutable and shared by all callers in the process.

    `estimated_cost` is the worst case that the API server computes. `refusal` is the reason why the API server would
    not admit the expression, empty if it would.
    """

    __slots__ = ("_attempt", "_is_counted", "_program", "estimated_cost", "profile", "refusal")

    def __init__(self, program: Program, profile: Profile) -> None:
        self._program = program
        self._attempt = program.attempt
        self.profile = profile
        self.estimated_cost = program.estimate().maximum
        self.refusal = _refusal(program, profile, self.estimated_cost)
        self._is_counted = self.estimated_cost > _CERTAINLY_CHEAP

    @property
    def expression(self) -> str:
        """Return the text of the selector."""
        return self._program.expression

    @property
    def api_server_accepts(self) -> bool:
        """Return whether a new object with this expression is admitted."""
        return not self.refusal

    def evaluate(self, device: Device) -> Verdict:
        """Return the verdict on one device.

        Cost: some microseconds. A selector whose worst case is near the run-time limit is measured while it runs.
        """
        prepared = _prepared(device)
        if self._is_counted or prepared.is_odd:
            return self.measure(device)[0]
        try:
            value = self._attempt(prepared.variables())
        except EvaluationError as error:
            return Verdict(Outcome.ABORT, error.message)
        except RecursionError:
            return with_room(lambda: self.evaluate(device))
        return MATCH if value is True else _verdict(value)

    def measure(self, device: Device) -> tuple[Verdict, int]:
        """Return the verdict on one device and the cost of the evaluation."""
        prepared = _prepared(device)
        if prepared.fault:
            return Verdict(Outcome.ABORT, prepared.fault), 0
        try:
            measured = self._program.measure(prepared.variables())
        except RecursionError:
            return with_room(lambda: self.measure(device))
        if measured.error is not None:
            return Verdict(Outcome.ABORT, measured.error), measured.cost
        return _verdict(measured.value), measured.cost


def compile(expression: str, profile: Profile = V1_36, *, admit: bool = True) -> Selector:  # noqa: A001 - the verb of the domain
    """Return the compiled selector; the same text returns the same object.

    With `admit` (the default) an expression that the API server would refuse is refused here too. Without it, only an
    expression that does not compile is refused, because the scheduler runs expressions that older versions admitted.
    Raises: InvalidSelector, the author's fault, with line, column, the offending text and a caret.
    """
    try:
        selector = _compiled(expression, profile)
    except InvalidExpression as error:
        place = (error.line, error.column) if error.line is not None and error.column is not None else None
        raise InvalidSelector(error.message, place=place, offending=error.offending) from error
    if admit and selector.refusal:
        raise InvalidSelector(f"the API server refuses the selector: {selector.refusal}")
    return selector


def written(expression: str) -> Selector:
    """Return the compiled selector of an author, who may mean clusters with the gate for lists and others.

    A selector that only compiles with lists is compiled so, and `Selector.profile` says it.
    Raises: InvalidSelector, as `compile` without lists.
    """
    try:
        return compile(expression)
    except InvalidSelector as error:
        try:
            return compile(expression, V1_36_LISTS)
        except InvalidSelector:
            raise error from None


@caches.kept(4096)
def _compiled(expression: str, profile: Profile) -> Selector:
    return Selector(selector_language.environment(profile).compile(expression), profile)


def _refusal(program: Program, profile: Profile, cost: int) -> str:
    """Return why the API server would not admit the expression, empty when it would."""
    expression = program.expression
    size = len(expression) if expression.isascii() else len(expression.encode("utf-8", "surrogatepass"))
    if size > MAX_BYTES:
        return f"it is {size} bytes long, the limit is {MAX_BYTES}"
    if cost > MAX_COST:
        return f"too complex, exceeds cost limit: its worst case costs {cost}, the limit is {MAX_COST}"
    unknown = _unknown_before(program, profile)
    return (
        f"a new object may use only what Kubernetes 1.{profile.admission_minor} supports: {unknown}" if unknown else ""
    )


def _unknown_before(program: Program, profile: Profile) -> str:
    """Return what the environment of the version before refuses in the expression, empty where it takes it."""
    if profile.minor >= selector_language.DYNAMIC_FROM and not profile.list_attributes:
        try:
            selector_language.admission(profile).check(program.expression)
        except InvalidExpression as error:
            return error.diagnosis
        return ""
    functions, fields = _not_yet(profile)
    if not functions.isdisjoint(program.calls):
        return f"not {min(functions.intersection(program.calls))!r}"
    # Looking for the names in the text first is far cheaper than a walk through the tree.
    if any(name in program.expression for name in fields):
        read = (field for field in program.fields_of(selector_language.DEVICE) if field in fields)
        return next((f"not {field!r}" for field in read), "")
    return ""


def _not_yet(profile: Profile) -> tuple[frozenset[str], frozenset[str]]:
    """Return the functions and the fields of a device that this version runs and does not admit in new objects."""
    now, before = selector_language.environment(profile), selector_language.admission(profile)
    functions = now.functions - before.functions
    if profile.list_attributes:
        functions -= {"includes"}  # what a gate adds may be used from the moment it is on
    fields = frozenset(selector_language.fields(profile, profile.minor))
    return functions, fields - frozenset(selector_language.fields(profile, profile.admission_minor))


# --- devices


@caches.kept(4096)
def _prepared(device: Device) -> selector_device.Prepared:
    """Return the device, read once."""
    return selector_device.Prepared(device)


def _verdict(result: Value) -> Verdict:
    if result is True:
        return MATCH
    if result is False:
        return NO_MATCH
    return Verdict(Outcome.ABORT, f"CEL result of type {type_name(result)} could not be converted to bool")
