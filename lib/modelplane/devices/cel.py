"""Device selectors in CEL, answered exactly as Kubernetes answers them.

`compile` takes the expression of a selector and returns it ready to evaluate; `Selector.evaluate` says of one
device: match, no match, or abort, because on a cluster a run-time error ends the scheduling of the pod instead of
skipping the device. `compile_rule` takes an x-kubernetes-validations rule.

Source: k8s.io/dynamic-resource-allocation v0.36.2 (cel-go v0.26.0); the language parts are in the modules beside
this one.

Known divergences, none of which has been seen in a selector:

- message types and message literals of protobuf are refused when they are written;
- maps of the device as two keys of one map abort, where Kubernetes tells them apart by where they are in memory;
- timestamps as keys of a map that say one instant as `Z` and as `+00:00` are one key here;
- a constant map with bytes for a key ends Kubernetes' own code with a panic;
- one evaluation may make `errors.PARTS_MAX` parts of lists and texts, then it aborts; Kubernetes has no such bound;
- a cost that depends on the order in which Go walks through a map is one of those possible.

Only this module knows the engine for regular expressions, and it is loaded by the first pattern that
needs it.
"""

from __future__ import annotations

import functools
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, TypeVar

from modelplane.cel import (
    access,
    arithmetic,
    checker,
    costs,
    errors,
    estimate,
    formatting,
    lists,
    literals,
    named_formats,
    network,
    parser,
    plan,
    profiles,
    program,
    quantities,
    runtime,
    signatures,
    strings,
    times,
    tree,
    typesystem,
    urls,
)
from modelplane.cel.errors import Abort, CompileError, Err
from modelplane.cel.profiles import PROFILES, V1_34, V1_35, V1_36, V1_37, Profile
from modelplane.devices import cel_device
from modelplane.devices.model import Device
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
    "Rule",
    "Selector",
    "Verdict",
    "compile",
    "compile_rule",
]

Result = TypeVar("Result")

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
            return _deeply(lambda: self.evaluate(device))

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
            return _deeply(lambda: self.measure(device))
        return verdict, tracker.cost


class Rule:
    """A compiled validation rule over `self` (or what else its subject is called) and `oldSelf`."""

    __slots__ = ("_run", "_subject", "expression")

    def __init__(self, expression: str, run: access.Run, subject: str) -> None:
        self.expression = expression
        self._run = run
        self._subject = subject

    def evaluate(self, value: Any, *, old: Any = None) -> bool:
        """Return whether the rule holds of a JSON value (and of the one it replaces).

        Raises: InvalidSelector when the rule cannot be evaluated on it; the API server refuses the object too.
        """
        try:
            result = self._run(access.Frame({self._subject: value, "oldSelf": old}))
        except Abort as error:
            raise InvalidSelector(f"the rule {self.expression!r} cannot be evaluated: {error}") from error
        if isinstance(result, Err):
            raise InvalidSelector(f"the rule {self.expression!r} cannot be evaluated: {result.message}")
        if not isinstance(result, bool):
            raise InvalidSelector(f"the rule {self.expression!r} does not give true or false")
        return result


def compile(expression: str, profile: Profile = V1_36, *, admit: bool = True) -> Selector:  # noqa: A001 - the verb of the domain
    """Return the compiled selector, the same object for the same text.

    With `admit` (the default) an expression the API server would refuse is refused here too; without it only one
    that does not compile at all is: the scheduler runs expressions that were admitted by older versions. Raises:
    InvalidSelector, the author's fault, with line, column, the offending text and a caret.
    """
    selector = _compiled(expression, profile)
    if admit and selector.refusal:
        raise InvalidSelector(f"the API server refuses the selector: {selector.refusal}")
    return selector


@functools.lru_cache(maxsize=4096)
def compile_rule(expression: str, *, subject: str = "self") -> Rule:
    """Return the compiled rule; `self` and `oldSelf` have no static type.

    Other rules over one document call it otherwise: `subject` is "object" for a readiness query of provider-
    kubernetes.

    Raises: InvalidSelector with line, column, the offending text and a caret.
    """
    try:
        return _built_rule(expression, subject)
    except RecursionError:
        return _deeply(lambda: _built_rule(expression, subject))


def _built_rule(expression: str, subject: str) -> Rule:
    try:
        root = parser.parse(expression, profiles.macros(_LATEST))
        _unescape(root)
        variables = {subject: typesystem.DYN, "oldSelf": typesystem.DYN}
        checked = checker.check(root, checker.Declarations(signatures.functions(_LATEST), variables))
        literals.validate(checked, _functions(_LATEST))
        if checked.result not in (typesystem.BOOL, typesystem.DYN):
            raise CompileError(f"must evaluate to bool, not {checked.result}", root.offset)
        step = plan.plan(checked, _functions(_LATEST))
    except CompileError as error:
        raise errors.located(expression, error) from error
    return Rule(expression, program.program(step, tracked=False), subject)


_LATEST: Final = 37


def _deeply(again: Callable[[], Result]) -> Result:
    """Return what `again` returns, with room for the 250 levels an expression may be nested.

    The limit stays raised: lowering it could fail another thread in the middle of such an expression.
    """
    if sys.getrecursionlimit() >= _DEEP_RECURSION:
        raise InvalidSelector("the expression is nested too deeply to be handled")
    sys.setrecursionlimit(_DEEP_RECURSION)
    return again()


_DEEP_RECURSION: Final = 20_000


@functools.lru_cache(maxsize=4096)
def _compiled(expression: str, profile: Profile) -> Selector:
    try:
        return _built(expression, profile)
    except RecursionError:
        return _deeply(lambda: _built(expression, profile))


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
    if profile.minor >= profiles.DYNAMIC_FROM and not profile.list_attributes:
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
    return functions, frozenset(profiles.fields(profile, profile.minor)) - frozenset(profiles.fields(profile, before))


def _planned(expression: str, profile: Profile, minor: int) -> tuple[checker.Checked, plan.Step]:
    root = parser.parse(expression, profiles.macros(minor))
    checked = checker.check(root, profiles.declarations(profile, minor))
    literals.validate(checked, _functions(minor))
    allowed = (typesystem.BOOL, profiles.attribute(profile, minor))
    if checked.result not in allowed:
        raise CompileError(f"must evaluate to bool or the unknown type, not {checked.result}", root.offset)
    return checked, plan.plan(checked, _functions(minor))


@functools.cache
def _functions(minor: int) -> plan.Functions:
    return {
        **arithmetic.FUNCTIONS,
        **times.FUNCTIONS,
        **strings.FUNCTIONS,
        **strings.patterns(_pattern),
        **lists.FUNCTIONS,
        **quantities.functions(minor),
        **network.FUNCTIONS,
        **urls.functions(minor),
        **named_formats.functions(minor),
        **formatting.FUNCTIONS,
    }


# --- regular expressions


class _Re2:
    __slots__ = ("_compiled",)

    def __init__(self, compiled: Any) -> None:
        self._compiled = compiled

    @property
    def instructions(self) -> int:
        """How large the compiled pattern is."""
        size: int = self._compiled.programsize
        return size

    def test(self, text: str) -> bool:
        return self._compiled.search(_encodable(text)) is not None

    def find_all(self, text: str, limit: int) -> list[str]:
        """Return the occurrences as Go finds them: an empty one right after another does not count."""
        found: list[str] = []
        text = _encodable(text)
        position, previous = 0, -1
        while position <= len(text) and (limit < 0 or len(found) < limit):
            match = self._compiled.search(text, position)
            if match is None:
                break
            start, end = match.span()
            if end > start or start != previous:
                found.append(match.group())
            previous = end
            position = end if end > start else end + 1
        return found


_ESCAPES: Final = re.compile(r"\\Q.*?(?:\\E|$)|\\.", re.DOTALL)


def _encodable(text: str) -> str:
    """Return the text as Kubernetes reads it from JSON: a half of a surrogate pair is no character there."""
    return text if text.isascii() else _HALVES.sub("\ufffd", text)


_HALVES: Final = re.compile("[\ud800-\udfff]")


# Go takes patterns that need more than the 8 MiB that RE2 allows by itself; few of those are kept.
_PATTERN_BYTES_MAX: Final = 32 << 20
_SMALL_PATTERN: Final = 2_000
_LARGE: Final = Err("a large pattern is kept apart")


def _pattern(pattern: str) -> strings.Pattern | Err:
    found = _small_pattern(pattern)
    return _large_pattern(pattern) if found is _LARGE else found


@functools.lru_cache(maxsize=1024)
def _small_pattern(pattern: str) -> strings.Pattern | Err:
    """Return the compiled pattern, an error, or `_LARGE` for one of so many instructions that few may be kept."""
    found = _compiled_pattern(pattern)
    if not isinstance(found, _Re2) or found.instructions <= _SMALL_PATTERN:
        return found
    import re2  # noqa: PLC0415 - as below

    re2.purge()  # the library keeps the last patterns too, and asks for no size
    return _LARGE


@functools.lru_cache(maxsize=8)
def _large_pattern(pattern: str) -> strings.Pattern | Err:
    return _compiled_pattern(pattern)


def _compiled_pattern(pattern: str) -> _Re2 | Err:
    import re2  # noqa: PLC0415 - a C++ library: loaded by the first pattern

    if any(escape == r"\C" for escape in _ESCAPES.findall(pattern)):
        # RE2 has it, Go's dialect of RE2 has not
        return Err(r"error parsing regexp: invalid escape sequence: `\C`")
    options = re2.Options()
    options.log_errors = False
    options.max_mem = _PATTERN_BYTES_MAX
    try:
        return _Re2(re2.compile(_encodable(pattern), options))
    except re2.error as error:
        text = error.args[0]
        return Err(f"error parsing regexp: {text.decode() if isinstance(text, bytes) else text}")


# --- devices


_devices: dict[int, tuple[Device, cel_device.Prepared]] = {}


def _prepared(device: Device) -> cel_device.Prepared:
    """Return the device read once per object; the entry keeps the object alive, so its id stays its own."""
    known = _devices.get(id(device))
    if known is not None:
        return known[1]
    if len(_devices) >= _PREPARED_LIMIT:
        _devices.clear()
    prepared = cel_device.Prepared(device)
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


# --- what an author sees


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
