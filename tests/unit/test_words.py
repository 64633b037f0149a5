"""The words that messages share."""

from __future__ import annotations

import pytest

from modelplane import words


@pytest.mark.parametrize(
    ("items", "separator", "said"),
    [
        pytest.param([], ", ", "", id="nothing"),
        pytest.param(["a"], ", ", "a", id="one"),
        pytest.param(["a", "b"], ", ", "a, b", id="as many as are said"),
        pytest.param(["a", "b", "c", "d"], ", ", "a, b and 2 more", id="more names"),
        pytest.param(["a x", "b y", "c z"], "; ", "a x; b y; and 1 more", id="more sentences"),
        pytest.param([1, 2, 3], ", ", "1, 2 and 1 more", id="what is no text"),
    ],
)
def test_the_first_of_many_are_named_and_the_rest_is_counted(items: list[object], separator: str, said: str) -> None:
    assert words.first(items, 2, separator) == said
