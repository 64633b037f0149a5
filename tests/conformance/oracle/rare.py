"""What the grammar of `questions` hardly ever says: a value of any type wherever a call takes another.

Every overload that is declared is called with a value of every type behind `dyn` in one place; values of every type stand
as keys of maps, in optionals that go by a name, and in format(); numbers, times and texts are taken at their ends.
"""

# ruff: noqa: E501, S311, SIM905 - one example per line is easier to extend, words split at spaces too; no secret

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

from kubecel.check import signatures
from kubecel.check.signatures import Overload
from kubecel.check.typesystem import Type
from tests.conformance.oracle import questions, vocabulary

A = vocabulary.A
TYPICAL = {
    "dyn": "dyn(1)", "any": f"{A}.index", "bool": "true", "bytes": 'b"ab"', "double": "1.5", "int": "1", "uint": "1u",
    "string": '"ab"', "google.protobuf.Duration": 'duration("1s")', "type": "int", "null_type": "null",
    "google.protobuf.Timestamp": 'timestamp("2024-01-01T00:00:00Z")', "kubernetes.Quantity": 'quantity("1")',
    "kubernetes.Semver": 'semver("1.2.3")', "net.IP": 'ip("1.2.3.4")', "net.CIDR": 'cidr("1.2.3.0/24")',
    "kubernetes.URL": 'url("http://a/b")', "kubernetes.NamedFormat": "format.uuid()",
}  # fmt: skip
VALUES = (
    *TYPICAL.values(), "-1", "0", "9223372036854775807", "18446744073709551615u", "-0.0", 'double("NaN")', 'double("Inf")',
    '""', '"ü日"', '"10.0.0.1"', '"1.2.3"', "[1]", "[]", '["a"]', '{"a": 1}', "{}", "optional.of(1)", 'optional.of("ab")',
    "optional.none()", "optional.of(optional.of(1))", 'optional.of(semver("1.2.3"))', 'optional.of(quantity("1"))',
    f"{A}.cudaComputeCapability", f"{A}.nosuch", "[[1]]", '[quantity("1")]', '[dyn(1), dyn("a")]', "net.IP", "list",
    'timestamp("2024-01-01T00:00:00+05:30")', "lists.range(2)", "[1].map(x, x)", "device.attributes",
)  # fmt: skip
OPERATORS = {
    "_+_": "+", "_-_": "-", "_*_": "*", "_/_": "/", "_%_": "%", "_==_": "==", "_!=_": "!=", "@in": "in",
    "_<_": "<", "_<=_": "<=", "_>_": ">", "_>=_": ">=",
}  # fmt: skip
# what is written otherwise than as a call, or ends Kubernetes' process with a number of any size
LEFT_OUT = frozenset({"_&&_", "_||_", "_?_:_", "@not_strictly_false", "_[_]", "_[?_]", "_?._", "cel.@mapInsert",
                      "@sortByAssociatedKeys", "lists.range"})  # fmt: skip
AROUND = (  # V is the value, W another; only a cost, never a result, may depend on the order of a map's keys
    "{V: 1}[V] == 1", "V in {V: 1}", "{V: 1, V: 2}.size() == 1", "{dyn(V): 1} == {dyn(V): 1}", "dyn(V) in {dyn(W): 1}",
    "cel.bind(m, V, m in {m: 1})", "dyn(V) in device.attributes", f"dyn(V) in {A}", "dyn(V) in [W]", "dyn(V) in [1, 2u, 1.5]",
    "cel.bind(o, optional.of(V), o.hasValue())", "cel.bind(o, optional.of(V), o.value() == V)", "optional.of(V).optMap(x, x) == optional.of(V)",
    "[optional.of(V)].all(o, o.value() == V)", "(true ? optional.of(V) : optional.none()).value() == V", "optional.of(V).?a.hasValue()",
    "[V].first().optMap(x, x == V).orValue(false)", '{"a": optional.of(V)}.?a.hasValue()', "optional.of(V)[?0].hasValue()",
    '"%s".format([V]) == "1"', '"%d-%s".format([dyn(V), W]) == "1"', '"%e".format([dyn(V)]).size() == 13', '"%.2f".format([dyn(V)]) == "1"', '"%x".format([dyn(V)]) == "1"',
    "[10, 20][dyn(V)] == 20", "[10, 20][?dyn(V)].hasValue()", "{1: 2}[?dyn(V)].hasValue()", "dyn(V)[?dyn(W)].hasValue()", "dyn(V).?a.?b.hasValue()",
    "[V, V].distinct().size() == 1", "[dyn(V), dyn(W)].sort().size() == 2", "[dyn(V)].min() == V", "sets.contains([dyn(V)], [dyn(W)])",
    '{"k": V}.transformMapEntry(k, v, {dyn(v): k}).size() == 1', '{"k": V}.transformMap(k, v, v == V) == {"k": true}', "[V].transformList(i, v, v) == [V]",
    "type(V) == type(W)", 'string(type(V)) == "int"', "optional.ofNonZeroValue(V).hasValue()", 'dyn(V).matches("a|b")', 'dyn(V).find("[a-z]+") == "ab"',
    "{'a': dyn(V)}.exists(k, v, v == W)", "dyn(V).all(k, v, k == v)", "dyn(V) < dyn(W)", "dyn(V) == dyn(W)",
)  # fmt: skip
OVER_DEVICE = ("device.attributes", "device.capacity", A, vocabulary.C, 'device.attributes["nosuch"]')
COUNTED = ("M.exists(k, v, k.contains(k + 'x'))", "M.transformList(k, v, k).exists(k, k.contains(k + 'x'))", "M.transformMap(k, v, k.size()).size() == 2",
           "cel.bind(m, M, m.exists(k, v, k.startsWith(k + 'x')))", "M.exists(k, v, k == 'x')", "M.map(k, k + k).size() == 1")  # fmt: skip
NUMBERS = ('"0x1_0p0" "0x.p0" "0x_.8p0" "0x1p5000" "0x1.8p-1074" "+nan" "+inf" "1_000.5" "1__0" "1e400" "-0x1P+3" "0X.8p1" "00012" "+7" "-0" "1e" ".5"'
           ' "9223372036854775808" "-9223372036854775808" "18446744073709551616" "0.1e-5" "Infinity" "0b1"').split(" ")  # fmt: skip
ZONES = '"America/New_York" "Asia/Kolkata" "Etc/GMT+5" "+99999999999999999999:00" "+9223372036854775807:00" "-0:30" "+05:30" "1:2:3" "Local" "nowhere" "1:-30"'.split()
PARTS = "FullYear Month Date DayOfMonth DayOfWeek DayOfYear Hours Minutes Seconds Milliseconds".split()


def selectors(seed: int, count: int, minor: int) -> Iterator[dict[str, Any]]:
    """Yield `count` questions for Kubernetes 1.`minor`."""
    choice = random.Random(seed)
    calls = _calls(minor)
    makers: tuple[Callable[[], str], ...] = (
        *[lambda: _call(choice, *choice.choice(calls))] * 4,
        *[lambda: choice.choice(AROUND).replace("V", choice.choice(VALUES)).replace("W", choice.choice(VALUES))] * 4,
        lambda: choice.choice(COUNTED).replace("M", choice.choice(OVER_DEVICE)),
        lambda: (
            f"{choice.choice(('int', 'uint', 'double', 'duration', 'quantity'))}({choice.choice(NUMBERS)}) == dyn(1)"
        ),
        lambda: (
            f"timestamp({choice.choice(vocabulary.STAMPS)}).get{choice.choice(PARTS)}({choice.choice(ZONES)}) == {choice.choice((0, 1, 5, 12))}"
        ),
    )
    yield from questions.of_expressions(tuple(choice.choice(makers)() for _ in range(count)))


def _calls(minor: int) -> list[tuple[str, Overload]]:
    """Return the overloads whose every argument there is an example for, by name."""
    declared = signatures.functions(minor)
    found = [(name, overload) for name, overloads in sorted(declared.items()) for overload in overloads]
    return [
        (name, overload)
        for name, overload in found
        if name not in LEFT_OUT and overload.params and all(_typical(type_) for type_ in overload.params)
    ]


def _call(choice: random.Random, name: str, overload: Overload) -> str:
    """Return a call with one argument of another type, as only `dyn` lets it be written."""
    args = [_typical(type_) for type_ in overload.params]
    args[choice.randrange(len(args))] = f"dyn({choice.choice(VALUES)})"
    if name in OPERATORS:
        return f"dyn({args[0]} {OPERATORS[name]} {args[1]}) == dyn(1)"
    if name in ("!_", "-_"):
        return f"dyn({name[0]}{args[0]}) == dyn(1)"
    if overload.member:
        return f"dyn({args[0]}.{name}({', '.join(args[1:])})) == dyn(1)"
    return f"dyn({name}({', '.join(args)})) == dyn(1)"


def _typical(type_: Type) -> str:
    """Return an expression of a type, empty where there is none."""
    parts = [_typical(part) for part in type_.params]
    if type_.kind == "param":
        return "1"
    if type_.kind == "list":
        return f"[{parts[0]}]"
    if type_.kind == "map":
        return f"{{{parts[0]}: {parts[1]}}}"
    return f"optional.of({parts[0]})" if type_.name == "optional_type" else TYPICAL.get(type_.name, "")
