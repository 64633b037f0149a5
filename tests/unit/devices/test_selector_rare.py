"""What Kubernetes' own code answered to questions nobody writes: found by asking it, kept so that it stays so."""

from __future__ import annotations

import pytest

from kubecel.caches import CACHES
from modelplane.devices import selector
from modelplane.devices.model import Attribute, AttributeKind, Device
from modelplane.devices.selector import PROFILES, Outcome
from modelplane.errors import InvalidSelector

GPU = Device(
    "gpu",
    "gpu.nvidia.com",
    8,
    attributes=(("cudaComputeCapability", Attribute(AttributeKind.VERSION, "9.0.0")),),
    capacity=(("memory", "81559Mi"),),
)
YES, NO, ABORT = Outcome.MATCH, Outcome.NO_MATCH, Outcome.ABORT
VERSION = 'device.attributes["gpu.nvidia.com"].cudaComputeCapability'


@pytest.mark.parametrize(
    ("expression", "outcome"),
    [
        pytest.param('double("0x1_0p0") == 16.0', YES, id="hexadecimal-with-underscores"),
        pytest.param('double(dyn("0x.p0")) == 0.0', ABORT, id="hexadecimal-without-digits"),
        pytest.param('double(dyn("0x1p5000")) == 0.0', ABORT, id="hexadecimal-beyond-double"),
        pytest.param("[10, 20][?dyn(9223372036854775808u)].hasValue()", ABORT, id="no-index-beyond-64-bits"),
        pytest.param("[10, 20][?dyn(-9223372036854775808.0)].hasValue()", ABORT, id="nor-the-least-double"),
        pytest.param('[1, 2].slice(dyn("0"), 2) == [1]', ABORT, id="slice-wants-numbers"),
        pytest.param('[[1]].flatten(dyn("0")) == [1]', ABORT, id="flatten-wants-a-number"),
        pytest.param('dyn([1]).indexOf("a", 1) == -1', ABORT, id="lists-have-no-index-from"),
        pytest.param('dyn(int).matches("^in")', YES, id="a-constant-pattern-matches-the-name-of-a-type"),
        pytest.param('dyn(optional.of("ab")).find("b") == "b"', YES, id="and-what-is-in-an-optional"),
        pytest.param('dyn(int).matches("^in" + device.driver.substring(0, 0))', ABORT, id="a-computed-one-does-not"),
        pytest.param("{duration('1s'): 1}.size() == 1 && duration('1s') in {duration('1000ms'): 1}", YES, id="keys"),
        pytest.param("cel.bind(t, timestamp('2024-01-01T00:00:00+05:30'), t in {t: 1})", YES, id="one-half-zone"),
        pytest.param(
            "timestamp('2024-01-01T00:00:00+05:30') in {timestamp('2024-01-01T00:00:00+05:30'): 1}",
            NO,
            id="a-zone-of-half-an-hour-is-another-each-time",
        ),
        pytest.param("cel.bind(l, [1], l in {l: 1})", YES, id="a-list-is-the-key-it-is"),
        pytest.param("[1] in {[1]: 1}", NO, id="not-one-like-it"),
        pytest.param("cel.bind(n, double('NaN'), n in {n: 1})", NO, id="nan-is-no-key"),
        pytest.param(f"{VERSION} in device.attributes", NO, id="a-version-is-no-domain"),
        pytest.param(f"{VERSION} in {{1: 1}}", ABORT, id="and-no-key-elsewhere"),
        pytest.param("dyn(format.uuid()) in [1]", ABORT, id="nor-is-a-format"),
        pytest.param("{device: 1, device: 2}.size() == 1", ABORT, id="maps-of-the-device-as-keys-are-not-compared"),
        pytest.param("{device: 1}.size() == 1", YES, id="one-is-fine"),
        pytest.param("type(ip('::1')) == net.IP && type(1) != net.CIDR", YES, id="types-of-addresses"),
        pytest.param('"%.3e".format([1.5]) == "1.500000×10⁰⁰"', YES, id="e-takes-the-precision-for-the-width"),
        pytest.param('"%.20e".format([1.5]) == "       1.500000×10⁰⁰"', YES, id="and-pads"),
        pytest.param('"%f %e".format([-0.0, -0.0]) == "0.000000 0.000000×10⁰⁰"', YES, id="zero-loses-its-sign"),
        pytest.param(
            'timestamp("0001-01-01T00:00:00Z").getFullYear("America/New_York") == 0', YES, id="before-the-first-year"
        ),
        pytest.param(
            'timestamp("9999-12-31T23:59:59Z").getFullYear("Asia/Tokyo") == 10000', YES, id="after-the-last-year"
        ),
        pytest.param(
            'timestamp("2024-01-01T00:00:00Z").getHours("+99999999999999999999:00") == 0',
            ABORT,
            id="zone-beyond-64-bits",
        ),
        pytest.param(
            f'timestamp("2024-01-01T00:00:00Z").getHours("{"9" * 5000}:00") == 0', ABORT, id="zone-beyond-all-bounds"
        ),
    ],
)
def test_rare_questions(expression: str, outcome: Outcome) -> None:
    try:
        compiled = selector.compile(expression, admit=False)
    except InvalidSelector:
        assert outcome is ABORT  # what is constant fails when it is compiled
    else:
        assert (compiled.evaluate(GPU).outcome, compiled.measure(GPU)[0].outcome) == (outcome, outcome)


@pytest.mark.parametrize(
    ("expression", "before", "since"),
    [
        pytest.param(f"cel.bind(o, optional.of({VERSION}), o.value() == {VERSION})", ABORT, YES, id="a-version"),
        pytest.param("cel.bind(o, optional.of(quantity('1')), o.hasValue())", YES, YES, id="that-it-is-there"),
        pytest.param(
            "cel.bind(o, optional.of(optional.of(1)), o.value() == optional.of(1))", NO, YES, id="an-optional-in-it"
        ),
        pytest.param("optional.of(quantity('1')).value().isInteger()", YES, YES, id="without-a-name"),
    ],
)
def test_an_optional_that_goes_by_a_name_loses_what_cannot_leave_cel_up_to_1_36(
    expression: str, before: Outcome, since: Outcome
) -> None:
    outcomes = [
        selector.compile(expression, profile, admit=False).evaluate(GPU).outcome for profile in PROFILES.values()
    ]
    assert outcomes == [before, before, before, since]


@pytest.mark.parametrize("version", ["1.34", "1.35", "1.36", "1.37"])
def test_a_host_has_several_colons_up_to_1_35(version: str) -> None:
    compiled = selector.compile('isURL("http://h:80:80")', PROFILES[version])
    assert compiled.evaluate(GPU).matches == (version < "1.36")


@pytest.mark.parametrize(
    ("over", "cost"),
    [
        pytest.param("device.attributes", 1763, id="domains"),
        pytest.param('device.attributes["x"]', 1764, id="attributes-as-long-as-their-values"),
        pytest.param('device.capacity["x"]', 196, id="capacities-have-no-length"),
    ],
)
def test_the_estimate_takes_values_for_keys_where_two_names_share_a_path(over: str, cost: int) -> None:
    assert selector.compile(f"{over}.exists(k, v, k.contains(k))").estimated_cost == cost


def test_few_large_patterns_are_kept() -> None:
    for number in range(40):
        assert selector.compile(f'!device.driver.matches("\\\\pL{{200}}x{number}")').evaluate(GPU).matches
    assert CACHES["kubecel.functions.patterns._large_pattern"].cache_info().currsize <= 8  # each takes two megabytes
    for number in range(2_000):
        assert selector.compile(f'!device.driver.matches("x{number}$")').evaluate(GPU).matches
    assert CACHES["kubecel.functions.patterns._small_pattern"].cache_info().currsize <= 1024


def test_a_pattern_may_be_as_large_as_in_go() -> None:
    assert selector.compile('!device.driver.matches("\\\\pL{1000}x")').evaluate(GPU).matches


@pytest.mark.parametrize("expression", ['{b"a": 1}.size() == 1', 'true || {b"a": 1} == {b"a": 1}'])
def test_bytes_as_the_key_of_a_constant_map_are_refused(expression: str) -> None:
    with pytest.raises(InvalidSelector, match=r"line 1, column \d+: .*unhashable type types\.Bytes"):
        selector.compile(expression, admit=False)
