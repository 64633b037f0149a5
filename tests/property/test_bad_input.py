"""Any text and any device come to a verdict or a diagnosis, never to an exception.

MODELPLANE_BAD_INPUTS is the number of mutated texts (default 1500) and MODELPLANE_SEED what decides them (default 7);
`python -m tests.support.bad_input` asks 100,000 and says what the dearest cost.
"""

from __future__ import annotations

import os
from collections import Counter

import pytest

from modelplane.devices import selector
from modelplane.devices.model import Device
from tests.support import bad_input

COUNT = int(os.environ.get("MODELPLANE_BAD_INPUTS", "1500"))
SEED = int(os.environ.get("MODELPLANE_SEED", "7"))
PLAIN = Device("gpu", "gpu.nvidia.com", 1)
# A million small steps, which is what Kubernetes allows a selector, take seconds here.
DEAR = {"loops over ranges", "loops within loops", "loops that keep"}


@pytest.mark.parametrize(
    "text",
    [pytest.param(text, id=name, marks=pytest.mark.slow if name in DEAR else ()) for name, text in bad_input.EXTREMES],
)
def test_a_large_or_deep_text_comes_to_a_verdict_or_a_diagnosis(text: str) -> None:
    assert bad_input.verdict(text, PLAIN) in ("refused", "match", "no match", "abort")


def test_changed_texts_on_odd_devices_come_to_a_verdict_or_a_diagnosis() -> None:
    pairs = zip(bad_input.texts(SEED, COUNT), bad_input.devices(SEED, COUNT), strict=True)
    results = Counter(
        bad_input.verdict(text, device, bad_input.PROFILES[number % len(bad_input.PROFILES)])
        for number, (text, device) in enumerate(pairs)
    )
    assert results["refused"] < COUNT * 0.8, "changes so coarse that nothing compiles find nothing"
    assert results["abort"], results


def test_a_list_that_kubernetes_would_make_for_nothing_is_not_made() -> None:
    doubled = "a"
    for _ in range(12):
        doubled = f"cel.bind(a, {doubled} + {doubled}, a)"
    text = f"cel.bind(a, lists.range(5000), {doubled}).size() == 1"
    verdict, _ = selector.compile(text, admit=False).measure(PLAIN)
    assert verdict.aborts
    assert "parts is not made" in verdict.cause


def test_many_lists_of_a_size_count_together() -> None:
    once = "(a + a).size() == 10000"
    text = f"cel.bind(a, lists.range(5000), {' && '.join([once] * 300)})"
    assert selector.compile(text.replace(" * 300", "")).evaluate(PLAIN).matches
    verdict, _ = selector.compile(f"cel.bind(a, lists.range(5000), {' && '.join([once] * 500)})", admit=False).measure(
        PLAIN
    )
    assert "parts is not made" in verdict.cause


def test_a_number_of_many_digits_is_read_where_its_digits_are_zeros() -> None:
    zeros = "0" * 5_000
    for text in (f'int("{zeros}7") == 7', f'uint("{zeros}7") == 7u', f'int("-{zeros}7") == -7'):
        assert selector.compile(text).evaluate(PLAIN).matches, text[:9]
    assert selector.compile(f'duration("{zeros}7h") == duration("7h")').evaluate(PLAIN).matches


def test_what_stands_in_many_places_is_compared_once_and_still_by_value() -> None:
    twice = "cel.bind(a, {0}, cel.bind(b, [a, a], cel.bind(c, [b, b], c == [[{0}, {0}], [{0}, {0}]])))"
    assert selector.compile(twice.replace("{0}", '["x"]')).evaluate(PLAIN).matches
    not_a_number = twice.replace("{0}", '[double("NaN")]')
    assert not selector.compile(not_a_number, admit=False).evaluate(PLAIN).matches


@pytest.mark.parametrize(
    "text", ["1e999999999", "1e-999999999", "9" * 100_000, "\ud800", "\x00", "1" + "0" * 9_000 + "Ei"]
)
def test_an_odd_quantity_is_read_or_refused(text: str) -> None:
    device = Device("gpu", "gpu.nvidia.com", 1, capacity=(("memory", text),))
    compiled = selector.compile('sign(device.capacity["gpu.nvidia.com"].memory) == 1')
    verdict = compiled.evaluate(device)
    assert verdict.matches or "capacity memory" in verdict.cause


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("b'{0}' == b''", id="bytes"),
        pytest.param("b'\\x00{0}\\x00' == b''", id="bytes with escapes"),
        pytest.param("'{0}'.matches('x')", id="a text that is matched"),
        pytest.param("'x'.matches('{0}')", id="a pattern"),
        pytest.param("'x'.findAll('{0}') == []", id="a pattern that is searched"),
        pytest.param("format.named('uri').value().validate('{0}').hasValue()", id="a named format"),
        pytest.param(
            "format.named('dns1123Label').value().validate('{0}').hasValue()", id="a named format with a limit"
        ),
        pytest.param(
            "'%X' .format(['{0}']) == '' || url('http://{0}').getHost() == ''", id="hexadecimal and an address"
        ),
    ],
)
def test_a_half_of_a_pair_is_a_character_like_others(text: str) -> None:
    assert bad_input.verdict(text.replace("{0}", "\ud800"), PLAIN) in ("refused", "match", "no match", "abort")
