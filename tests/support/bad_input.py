"""Texts and devices nobody should have to think of: what a selector engine meets when its input is bad.

`texts` mutates good expressions and glues odd pieces together, `devices` makes devices of odd names and values; both
are the same for the same seed. `EXTREMES` are single texts that are large, deep, or dear to evaluate.
`python -m tests.support.bad_input` asks many and prints the dearest with the CPU time each took; it ends with 1 when
anything but a verdict or a diagnosis came out, or when one took longer than the limit.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import resource
import sys
import time
import traceback
from collections.abc import Iterator, Sequence
from pathlib import Path

from modelplane.devices import selector
from modelplane.devices.hints import advice, mistakes
from modelplane.devices.model import Attribute, AttributeKind, Device
from modelplane.errors import InvalidSelector

CORPUS = Path(__file__).parents[1] / "conformance" / "oracle" / "recorded" / "answers.jsonl"
PROFILES = tuple(selector.PROFILES.values())
GPU = 'device.attributes["gpu.nvidia.com"]'
CPU_SECONDS_MAX = 10.0
"""What one input may cost: the run-time limit of Kubernetes lets a selector do a million small steps."""
CHEAP = 100_000

_LARGE = 1_000_000
_DEEP = 3_000

# Characters that break lexers: ends, signs of direction, halves of pairs, wide ones, other kinds of space and quote.
_ODD = [
    *"\x00\x07\x1a\x7f\x85\xa0\u00df\u0130\u0301\u2028\u202e\u2066\u200b\u201c\u201d\uff1d\ufeff\ufffe\ufffd",
    *("\ud800", "\udfff", "\U0001f600", "\U0010ffff", "\r\n", "\\", "`", '"', "'", '"""', "'''", "r'", "b'", "//"),
]
_PIECES = [
    *("device", ".", "[", "]", "(", ")", "{", "}", ",", ":", "?", "?.", "[?", "&&", "||", "!", "-", "+", "*", "/", "%"),
    *("==", "!=", "<", "<=", ">", ">=", " in ", "true", "false", "null", "int", "type", "dyn", "has", "cel.bind"),
    *(
        "0",
        "1",
        "-1",
        "9223372036854775807",
        "9223372036854775808",
        "18446744073709551616u",
        "0x7f",
        "0xffffffffffffffff",
    ),
    *("1e308", "1e309", "-0.0", "1e-400", "0.1", "1.", ".5", "1u", "00", "1_000"),
    *('"a"', '""', "b'\\xff'", '"\\u0000"', '"\\ud800"', '"\\U00110000"', '"\\x"', 'r"\\d+("', "'\\''"),
    *(
        "device.driver",
        GPU,
        f"{GPU}.model",
        'device.capacity["gpu.nvidia.com"].memory',
        "device.allowMultipleAllocations",
    ),
    *('quantity("1e999999999")', 'quantity("9" + "9")', 'semver("1.2.3")', 'ip("::1")', 'cidr("::/0")', 'url("a:b")'),
    *('duration("1h")', 'timestamp("9999-12-31T23:59:59Z")', "optional.of(1)", "optional.none()", "lists.range(9)"),
    *(".matches(", ".exists(x, ", ".all(i, v, ", ".map(x, ", ".filter(x, ", ".sortBy(x, ", ".transformMap(k, v, "),
    *(".size()", ".split(", ".replace(", ".substring(", ".format(", ".flatten(", ".orValue(", ".compareTo(", ".join("),
]


def _binds(levels: int, first: str, step: str, last: str) -> str:
    """Return `levels` bindings within each other, each made of the one before by `step`."""
    text = f"cel.bind(v0, {first}, "
    text += "".join(f"cel.bind(v{n}, {step.format(f'v{n - 1}')}, " for n in range(1, levels))
    return text + last.format(f"v{levels - 1}") + ")" * levels


def _loops(levels: int, of: str) -> str:
    return "".join(f"{of}.all(x{n}, " for n in range(levels)) + "true" + ")" * levels


EXTREMES: tuple[tuple[str, str], ...] = (
    ("nothing", ""),
    ("open brackets", "(" * _LARGE),
    ("closed brackets", ")" * _LARGE),
    ("brackets in balance", "(" * _DEEP + "true" + ")" * _DEEP),
    ("lists in lists", "[" * _DEEP + "]" * _DEEP + " == []"),
    ("maps in maps", "{1:" * _DEEP + "1" + "}" * _DEEP + " == {}"),
    ("many nots", "!" * _LARGE + "true"),
    ("many signs", "-" * _DEEP + "1 == 1"),
    ("minus and not in turn", "!-" * _DEEP + "true"),
    ("a long and", " && ".join(["true"] * 100_000)),
    ("an and of the largest size", " && ".join(["true"] * 1_200)),
    ("an or of comparisons", " || ".join(f'{GPU}.model == "{n}"' for n in range(170))),
    ("a long sum", " + ".join(["1"] * 50_000) + " == 1"),
    ("a sum of the largest size", "+".join(["1"] * 5_000) + " == 1"),
    ("a long chain of fields", "device" + ".a" * _LARGE),
    ("a chain of fields of the largest size", "device" + ".a" * 5_000),
    ("a long chain of indexes", "[[1]]" + "[0]" * 3_000 + " == 1"),
    ("a long chain of calls", '"a"' + ".trim()" * 1_400 + ' == "a"'),
    ("a long ladder of conditions", "true ? true : " * 20_000 + "true"),
    ("conditions within each other", "(true ? " * 200 + "true" + " : true)" * 200),
    ("a long literal", '"' + "x" * _LARGE + '" == ""'),
    ("a long name", "x" * _LARGE),
    ("a long number", "9" * _LARGE + " == 1"),
    ("a long fraction", "0." + "9" * _LARGE + " == 1.0"),
    ("a long exponent", "1e" + "9" * 5_000 + " == 1.0"),
    ("a long comment", "//" + "x" * _LARGE),
    ("a long list", "[" + "1," * 300_000 + "1].size() == 1"),
    ("a list of the largest size", "[" + "1," * 5_000 + "1].size() == 1"),
    ("quotes", '"' * _LARGE),
    ("escapes", '"' + "\\" * _LARGE + '"'),
    ("zeros", "\x00" * _LARGE),
    ("halves of pairs", "\ud800" * 100_000),
    ("wide characters", "\U0001f600" * 100_000),
    ("line ends", "\n" * _LARGE + "true &&"),
    ("spaces", " " * _LARGE + "tru"),
    ("a huge quantity", 'sign(quantity("1e999999999")) == 1'),
    ("a tiny quantity", 'sign(quantity("1e-999999999")) == 1'),
    ("a long quantity", f'sign(quantity("{"9" * _LARGE}")) == 1'),
    ("a long quantity of few bytes", f'sign(quantity("{"9" * 9_000}Ei")) == 1'),
    ("a sum of huge quantities", 'quantity("1e999").add(quantity("1e-999")).isInteger()'),
    ("a long version", f'semver("1.2.3-{"a." * 500_000}b").major() == 1'),
    ("a version of huge numbers", f'semver("{"9" * 9_000}.0.0").major() == 1'),
    ("a number in a text", f'int("{"9" * 9_000}") == 1'),
    ("a double in a text", f'double("1e{"9" * 9_000}") == 1.0'),
    ("a long duration", f'duration("{"9" * 9_000}h") == duration("1h")'),
    ("a pattern within patterns", f'"a".matches("{"(" * 4_000}a{")" * 4_000}")'),
    ("a pattern that repeats repeats", '"a".matches("' + "(" * 20 + "a" + "{50})" * 20 + '")'),
    ("a pattern that goes back", '("a".replace("a", "' + "a" * 4_000 + '") + "b").matches("(a*)*(a*)*(a*)*c")'),
    ("a pattern of large repeats", '"aaaa".matches("((a{1000}){1000}){1000}")'),
    ("a pattern of classes", '"a".matches("' + "[\\\\p{L}\\\\p{N}]" * 600 + '")'),
    ("a broken pattern", '"a".matches("(((((((((((((((((")'),
    ("a text that doubles", _binds(60, '"xxxxxxxxxxxxxxxx"', "{0} + {0}", '{0} == ""')),
    ("bytes that double", _binds(60, "b'xxxxxxxxxxxxxxxx'", "{0} + {0}", "{0} == b''")),
    ("a list that doubles", _binds(60, "[1, 2, 3, 4]", "{0} + {0}", "{0}.size() == 1")),
    ("a list that doubles and is compared", _binds(60, "[1, 2, 3, 4]", "{0} + {0}", "{0} == [1]")),
    ("a list that doubles by lists", _binds(60, "[1]", "[{0}, {0}]", "{0} == {0}")),
    ("a list that doubles by lists and is written", _binds(60, "[1]", "[{0}, {0}]", '"%s".format([{0}]) == ""')),
    (
        "a map that doubles",
        _binds(60, "{1: 1}", "{{1: {0}, 2: {0}}}", "{0} == {0}"),
    ),
    ("a text that is replaced", _binds(30, '"aaaaaaaa"', '{0}.replace("a", {0})', '{0} == ""')),
    ("texts that are joined", _binds(30, '"aaaaaaaa"', '{0}.split("").join({0})', '{0} == ""')),
    ("texts in texts", _binds(30, '"aaaa"', '"%s%s%s".format([{0}, {0}, {0}])', '{0} == ""')),
    ("a wide format", '"%.999999999f".format([1.0]) == ""'),
    ("a number of many digits", '"%.300f".format([1e308]) == ""'),
    ("a huge range", "lists.range(9223372036854775807).size() == 1"),
    ("a large range", "lists.range(1000000).size() == 1"),
    (
        "ranges of ranges",
        "lists.range(1000).map(x, lists.range(1000).map(y, [lists.range(9)])).flatten(3).size() == 1",
    ),
    ("loops over ranges", _loops(6, "lists.range(100)")),
    ("loops within loops", _loops(60, "[1, 2, 3, 4]")),
    ("loops to the deepest", _loops(260, "[1]")),
    ("loops that keep", "[1, 2, 3].map(x, " * 14 + "x" + ")" * 14 + ".size() == 1"),
    ("a list without repeats", "lists.range(3000).map(x, [x]).distinct().size() == 1"),
    ("sets of a size", "sets.equivalent(lists.range(3000), lists.range(3000).reverse())"),
    ("a long sort", 'lists.range(3000).sortBy(x, "%d".format([x])).size() == 1'),
    ("bindings within each other", _binds(245, "1", "{0} + 1", "{0} == 1")),
    ("bindings beyond depth", _binds(2_000, "1", "{0} + 1", "{0} == 1")),
    ("has of has", "has(" * 1_000 + "device.driver" + ")" * 1_000),
    ("optionals in optionals", "optional.of(" * 240 + "1" + ")" * 240 + ".hasValue()"),
    ("a wide address", f'ip("{"1." * 4_000}1").isLoopback()'),
    ("a long address", f'url("http://{"a" * 9_000}/{"%41" * 100}").getHost() == ""'),
    ("a type of a type", "type(" * 240 + "1" + ")" * 240 + " == type"),
)


def corpus() -> tuple[str, ...]:
    """Return the recorded expressions."""
    asked = (json.loads(line)["asked"] for line in CORPUS.read_text(encoding="utf-8").splitlines())
    return tuple(question["expression"] for question in asked if question["kind"] == "selector")


def texts(seed: int, count: int) -> Iterator[str]:
    """Yield `count` texts: most are recorded expressions with a few changes, the rest pieces and noise."""
    known = corpus()
    for number in range(count):
        draw = random.Random(seed * 1_000_003 + number)  # noqa: S311 - the same texts for the same seed
        kind = draw.random()
        if kind < 0.4:
            yield _with_other_values(draw, draw.choice(known))
        elif kind < 0.7:
            yield _mutated(draw, draw.choice(known), known)
        elif kind < 0.85:
            yield "".join(draw.choice(_PIECES) for _ in range(draw.randint(1, 30)))
        elif kind < 0.95:
            yield draw.randbytes(draw.randint(0, 60)).decode("utf-8", draw.choice(["surrogateescape", "replace"]))
        else:
            yield "".join(draw.choice(_ODD) if draw.random() < 0.5 else chr(draw.randint(1, 126)) for _ in range(20))


_LITERAL = re.compile(r'"[^"\\]*"|\b[0-9]+\b')


def _with_other_values(draw: random.Random, text: str) -> str:
    """Return an expression with some of its literals changed, which mostly still compiles."""

    def changed(match: re.Match[str]) -> str:
        if draw.random() < 0.6:
            return match[0]
        if match[0][0] != '"':
            return str(draw.choice([0, 1, 2, 31, 64, 255, 10_000, (1 << 31) - 1, (1 << 63) - 1]))
        return json.dumps(draw.choice([*_STRINGS[:8], "x" * 300, match[0][1:-1] * 9, "1.2.3", "80Gi", "PT1H", "%999d"]))

    return _LITERAL.sub(changed, text)


def _mutated(draw: random.Random, text: str, known: Sequence[str]) -> str:
    for _ in range(draw.choice([1, 1, 2, 3, 6])):
        start = draw.randint(0, len(text))
        end = min(len(text), start + draw.choice([0, 1, 1, 2, 5, 20]))
        other = draw.choice(known)
        cut = draw.randint(0, len(other))
        put = draw.choice(
            [
                "",
                draw.choice(_PIECES),
                draw.choice(_ODD),
                text[start:end] * draw.choice([2, 3, 50]),
                other[cut : cut + draw.randint(1, 30)],
                f"({other})",
                str(draw.choice([-1, 0, 1]) + (1 << draw.choice([7, 31, 32, 53, 63, 64, 128]))),
            ]
        )
        text = text[:start] + put + text[end:]
    return text


_NAMES = [
    *("model", "type", "", "/", "a/", "/a", "a/b/c", "gpu.nvidia.com/model", "GPU.NVIDIA.COM/Model", "\x00", "\ud800"),
    *("in", "null", "\u202emodel", "x" * 10_000, "a.b.c/d", "resource.kubernetes.io/pcieRoot", "\U0001f600"),
]
_DRIVERS = ["gpu.nvidia.com", "", "/", "\x00", "\ud800", "x" * 10_000, "GPU.nvidia.com", "a/b"]
_INTS = [0, -1, 1 << 31, (1 << 63) - 1, -(1 << 63), 1 << 63, 1 << 200, -(1 << 5_000)]
_STRINGS = ["", "Hopper", "\x00", "\ud800", "\u202e", "a" * 20_000, "(", "1.2.3", "1e999999999", "\U0010ffff"]
_VERSIONS = [
    "1.2.3",
    "",
    "v1",
    "1.2",
    "01.2.3",
    "1.2.3-" + "a." * 2_000 + "b",
    "9" * 5_000 + ".0.0",
    "\ud800",
    "1.2.3\n",
]
_QUANTITIES = [
    *("80Gi", "", "0", "-1", "1e999999999", "1e-999999999", "9" * 5_000, "1.5Gi", "1E", "1Ei", "NaN", " 1", "1\n"),
    *("\ud800", "9223372036854775808", "0.0000000001", "1_0", "\uff11", "+5", "1e", "--1"),
]


def devices(seed: int, count: int) -> Iterator[Device]:
    """Yield `count` devices, most of them as no driver would publish them."""
    for number in range(count):
        draw = random.Random(seed * 1_000_033 + number)  # noqa: S311 - the same devices for the same seed
        attributes = {draw.choice(_NAMES): _attribute(draw) for _ in range(draw.choice([0, 1, 2, 5]))}
        capacity = {draw.choice(_NAMES): draw.choice(_QUANTITIES) for _ in range(draw.choice([0, 0, 1, 3]))}
        yield Device(
            draw.choice(_NAMES),
            draw.choice(_DRIVERS),
            draw.choice([0, 1, 8, -1]),
            attributes=tuple(attributes.items()),
            capacity=tuple(capacity.items()),
            allow_multiple_allocations=draw.random() < 0.2,
        )


def _attribute(draw: random.Random) -> Attribute:
    kind = draw.choice(list(AttributeKind))
    values: dict[AttributeKind, Sequence[str | int | bool]] = {
        AttributeKind.STRING: _STRINGS,
        AttributeKind.INT: _INTS,
        AttributeKind.BOOL: [True, False],
        AttributeKind.VERSION: _VERSIONS,
    }
    if kind.element is kind:
        return Attribute(kind, draw.choice(values[kind]))
    return Attribute(kind, tuple(draw.choice(values[kind.element]) for _ in range(draw.choice([0, 1, 2, 5]))))


def verdict(text: str, device: Device, profile: selector.Profile = selector.V1_36) -> str:
    """Return what comes out for a text and a device: "refused", or an outcome with and without counting the cost.

    Anything but that is an exception, which is what is looked for.
    """
    advice.selector_advice(text, device)
    try:
        compiled = mistakes.compile(text, device.driver, profile, admit=False)
    except InvalidSelector as error:
        assert error.message
        str(error).encode("utf-8", "backslashreplace")
        return "refused"
    counted, cost = compiled.measure(device)
    # what may be dear is counted in any case, and would only be asked twice
    plain = compiled.evaluate(device) if compiled.estimated_cost < CHEAP else counted
    assert plain.outcome == counted.outcome, (plain, counted)
    assert cost >= 0
    assert counted.cause or not counted.aborts
    return str(plain.outcome)


def main() -> int:
    """Return 0 when every input came to a verdict or a diagnosis within the limit."""
    parser = argparse.ArgumentParser(prog="python -m tests.support.bad_input", description=__doc__)
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=7)
    options = parser.parse_args()
    escaped, counts, dearest = 0, dict[str, int](), list[tuple[float, str]]()
    named = ((f"[{name}]", text) for name, text in EXTREMES)
    mutated = ((repr(text[:120]), text) for text in texts(options.seed, options.count))
    sources = [named, mutated]
    odd = devices(options.seed, len(EXTREMES) + options.count)
    for number, (name, text) in enumerate(pair for source in sources for pair in source):
        device, begun = next(odd), time.process_time()
        try:
            result = verdict(text, device, PROFILES[number % len(PROFILES)])
        except Exception:
            escaped += 1
            result = "escaped"
            sys.stdout.write(f"{name} on {str(device)[:300]!r}:\n{traceback.format_exc(limit=-4)[-1500:]}\n")
        counts[result] = counts.get(result, 0) + 1
        dearest = sorted([*dearest, (time.process_time() - begun, name)], reverse=True)[:10]
    sys.stdout.writelines(f"{seconds:.3f} s  {name}\n" for seconds, name in dearest)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    sys.stdout.write(f"{sum(counts.values())} inputs: {counts}; {escaped} escaped; at most {peak} MiB\n")
    return 1 if escaped or dearest[0][0] > CPU_SECONDS_MAX else 0


if __name__ == "__main__":
    sys.exit(main())
