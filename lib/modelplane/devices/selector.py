"""Device selectors in CEL, answered exactly as Kubernetes answers them.

`compile` takes the expression of a selector and returns it ready to evaluate; `Selector.evaluate` says of one
device: match, no match, or abort, because on a cluster a run-time error ends the scheduling of the pod instead of
skipping the device. The language itself is `kubecel`.

Source: k8s.io/dynamic-resource-allocation v0.36.2 (cel-go v0.26.0).

Known divergences, none of which has been seen in a selector:

- message types and message literals of protobuf are refused when they are written;
- maps of the device as two keys of one map abort, where Kubernetes tells them apart by where they are in memory;
- timestamps as keys of a map that say one instant as `Z` and as `+00:00` are one key here;
- a constant map with bytes for a key ends Kubernetes' own code with a panic, and is refused when it is written here;
- one evaluation may make `errors.PARTS_MAX` parts of lists and texts, then it aborts; Kubernetes has no such bound;
- a cost that depends on the order in which Go walks through a map is one of those possible.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from kubecel.check import checker, signatures, typesystem
from kubecel.cost import costs, estimate
from kubecel.errors import InvalidExpression
from kubecel.functions import library, literals
from kubecel.run import access, plan, program
from kubecel.syntax import depth, errors, expansion, parser, tree
from kubecel.syntax.errors import CompileError
from kubecel.values import runtime
from kubecel.values.errors import Abort, Err
from modelplane.devices import selector_device, selector_language
from modelplane.devices.model import Device
from modelplane.devices.selector_language import PROFILES, V1_34, V1_35, V1_36, V1_37, Profile
from modelplane.errors import InvalidSelector

__all__ = [
    "MATCH",
    "NO_MATCH",
    "PROFILES",
    "V1_34",
    "V1_35",
    "V1_36",
    "V1_37",
    "Outcome",
    "Profile",
    "Selector",
    "Verdict",
    "compile",
]

MAX_BYTES: Final = 10 * 1024
MAX_COST: Final = costs.LIMIT
_CERTAINLY_CHEAP: Final = MAX_COST // 10
_PREPARED_LIMIT: Final = 4096


class Outcome(StrEnum):
    """What a selector says of a device."""

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
        """Whether the device is selected."""
        return self.outcome is Outcome.MATCH

    @property
    def aborts(self) -> bool:
        """Whether the scheduling of the pod would end here."""
        return self.outcome is Outcome.ABORT


MATCH: Final = Verdict(Outcome.MATCH)
NO_MATCH: Final = Verdict(Outcome.NO_MATCH)


class Selector:
    """A compiled selector; immutable, and shared by every caller in the process.

    `estimated_cost` is the worst case the API server computes; `refusal` says why it would not admit the
    expression, empty when it would.
    """

    __slots__ = ("_counted", "_run", "estimated_cost", "expression", "profile", "refusal")

    def __init__(self, expression: str, profile: Profile, run: access.Run, admission: tuple[int, str]) -> None:
        self.expression = expression
        self.profile = profile
        self._run = run
        # Few selectors are ever counted: that program is made for the first evaluation that wants it, and from the
        # text, since thousands of plans kept for it would make every garbage collection dearer than the rest.
        self._counted: access.Run | None = None
        self.estimated_cost, self.refusal = admission

    @property
    def api_server_accepts(self) -> bool:
        """Whether a new object with this expression is admitted."""
        return not self.refusal

    def evaluate(self, device: Device) -> Verdict:
        """Return the verdict on one device.

        Cost: some microseconds; selectors whose worst case is near the run-time limit are counted as they run.
        """
        if self.estimated_cost > _CERTAINLY_CHEAP:
            return self.measure(device)[0]
        prepared = _prepared(device)
        if prepared.is_odd:
            return self.measure(device)[0]
        try:
            return _verdict(self._run(access.Frame(prepared.variables())))
        except Abort as error:
            return Verdict(Outcome.ABORT, str(error))
        except RecursionError:
            return depth.with_room(lambda: self.evaluate(device))

    def measure(self, device: Device) -> tuple[Verdict, int]:
        """Return the verdict on one device and what the evaluation cost."""
        prepared = _prepared(device)
        if prepared.fault:
            return Verdict(Outcome.ABORT, prepared.fault), 0
        tracker = costs.Tracker(MAX_COST)
        try:
            if self._counted is None:
                _, step = _planned(self.expression, self.profile, self.profile.minor)
                self._counted = program.program(step, tracked=True, minor=self.profile.minor)
            verdict = _verdict(self._counted(access.Frame(prepared.variables(), tracker)))
        except Abort as error:
            verdict = Verdict(Outcome.ABORT, str(error))
        except RecursionError:
            return depth.with_room(lambda: self.measure(device))
        return verdict, tracker.cost


def compile(expression: str, profile: Profile = V1_36, *, admit: bool = True) -> Selector:  # noqa: A001 - the verb of the domain
    """Return the compiled selector, the same object for the same text.

    With `admit` (the default) an expression the API server would refuse is refused here too; without it only one
    that does not compile at all is: the scheduler runs expressions that were admitted by older versions. Raises:
    InvalidSelector, the author's fault, with line, column, the offending text and a caret.
    """
    try:
        selector = _compiled(expression, profile)
    except InvalidExpression as error:
        place = (error.line, error.column) if error.line is not None and error.column is not None else None
        raise InvalidSelector(error.message, place=place, offending=error.offending) from error
    if admit and selector.refusal:
        raise InvalidSelector(f"the API server refuses the selector: {selector.refusal}")
    return selector


@functools.lru_cache(maxsize=4096)
def _compiled(expression: str, profile: Profile) -> Selector:
    try:
        return _built(expression, profile)
    except RecursionError:
        return depth.with_room(lambda: _built(expression, profile))


def _built(expression: str, profile: Profile) -> Selector:
    try:
        checked, step = _planned(expression, profile, profile.minor)
        cost = estimate.estimate(checked, profile.minor).maximum
    except CompileError as error:
        raise errors.located(expression, error) from error
    run = program.program(step, tracked=False, minor=profile.minor)
    return Selector(expression, profile, run, (cost, _refusal(expression, checked, profile, cost)))


def _refusal(expression: str, checked: checker.Checked, profile: Profile, cost: int) -> str:
    """Return why the API server would not admit the expression, empty when it would."""
    size = len(expression) if expression.isascii() else len(expression.encode("utf-8", "surrogatepass"))
    if size > MAX_BYTES:
        return f"it is {size} bytes long, {MAX_BYTES} are allowed"
    if cost > MAX_COST:
        return f"too complex, exceeds cost limit: its worst case costs {cost}, {MAX_COST} is the limit"
    if profile.minor >= selector_language.DYNAMIC_FROM and not profile.list_attributes:
        try:
            _planned(expression, profile, profile.admission_minor)
        except CompileError as error:
            return f"a new object may only use what Kubernetes 1.{profile.admission_minor} knows: {error.message}"
        return ""
    functions, fields = _not_yet(profile)
    if checked.functions.isdisjoint(functions) and not any(name in expression for name in fields):
        return ""
    for node in tree.walk(checked.root):
        unknown = ""
        if isinstance(node, tree.Call):
            unknown = node.function if node.function in functions else ""
        elif isinstance(node, tree.Select) and checked.types[node.operand.id] == typesystem.DEVICE:
            unknown = node.field if node.field in fields else ""
        if unknown:
            return f"a new object may only use what Kubernetes 1.{profile.admission_minor} knows: not {unknown!r}"
    return ""


@functools.cache
def _not_yet(profile: Profile) -> tuple[frozenset[str], frozenset[str]]:
    """Return the functions and the fields of a device that this version runs and does not admit in new objects."""
    before = profile.admission_minor
    functions = frozenset(signatures.functions(profile.minor)) - frozenset(signatures.functions(before))
    if profile.list_attributes:
        functions -= {"includes"}  # what a gate adds may be used from the moment it is on
    return functions, frozenset(selector_language.fields(profile, profile.minor)) - frozenset(
        selector_language.fields(profile, before)
    )


def _planned(expression: str, profile: Profile, minor: int) -> tuple[checker.Checked, plan.Step]:
    root = parser.parse(expression, expansion.macros(minor))
    checked = checker.check(root, selector_language.declarations(profile, minor))
    literals.validate(checked, library.functions(minor))
    allowed = (typesystem.BOOL, selector_language.attribute(profile, minor))
    if checked.result not in allowed:
        raise CompileError(f"must evaluate to bool or the unknown type, not {checked.result}", root.offset)
    return checked, plan.plan(checked, library.functions(minor))


# --- devices


_devices: dict[int, tuple[Device, selector_device.Prepared]] = {}


def _prepared(device: Device) -> selector_device.Prepared:
    """Return the device read once per object; the entry keeps the object alive, so its id stays its own."""
    known = _devices.get(id(device))
    if known is not None:
        return known[1]
    if len(_devices) >= _PREPARED_LIMIT:
        _devices.clear()
    prepared = selector_device.Prepared(device)
    _devices[id(device)] = (device, prepared)
    return prepared


def _verdict(result: Any) -> Verdict:
    if result is True:
        return MATCH
    if result is False:
        return NO_MATCH
    if isinstance(result, Err):
        return Verdict(Outcome.ABORT, result.message)
    name = runtime.type_name(result)
    return Verdict(Outcome.ABORT, f"CEL result of type {name} could not be converted to bool")
