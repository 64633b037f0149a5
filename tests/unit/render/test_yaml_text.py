"""Plain data as YAML text, read back by another parser."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from modelplane.render import yaml_text

_TEXT = st.text(st.characters(exclude_categories=["Cs"]))
_SCALAR = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | _TEXT
_DATA = st.recursive(
    _SCALAR, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXT, inner, max_size=3), max_leaves=12
)


@given(_DATA)
@example({"yes": {"on": "off"}, "": [[], {}, [["a", {"b": [1]}]]]})
@example(["1e3", 1e300, 1e-7, "\x85\u2028\x7f", "😀", "- a: b", "{", "'", '"', "a\nb", "#", "|"])
def test_what_is_written_is_read_back(data: Any) -> None:
    assert yaml.safe_load(yaml_text.of(data)) == data


def test_it_is_written_as_a_person_would() -> None:
    data = {"applications": [{"name": "llm", "args": {"sizes": [1, 2], "is_on": True, "none": {}}}], "a.b": None}
    assert yaml_text.of(data) == (
        'applications:\n  - name: "llm"\n    args:\n      sizes:\n        - 1\n        - 2\n      is_on: true\n'
        '      none: {}\n"a.b": null\n'
    )


@pytest.mark.parametrize("number", [float("nan"), float("inf"), -float("inf")])
def test_a_number_that_is_not_finite_is_refused(number: float) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        yaml_text.of([number])


def test_half_a_character_is_no_reason_to_fail() -> None:
    assert yaml_text.of(["\ud83d"]) == '- "\\ud83d"\n'
