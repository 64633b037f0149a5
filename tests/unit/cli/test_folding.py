"""Text and tables in a limited width: nothing is lost, and a line is wider only where a heading is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from modelplane_cli.output import folding, table
from modelplane_cli.output.screen import Screen

TEXTS = st.text(alphabet="ab-/. 模́", max_size=30)


@pytest.mark.parametrize(
    ("text", "room", "lines"),
    [
        pytest.param("", 5, [""], id="nothing"),
        pytest.param("one two", 7, ["one two"], id="exactly as wide"),
        pytest.param("one two three", 7, ["one two", "three"], id="between words"),
        pytest.param("eu/gpu-l40s", 7, ["eu/gpu-", "l40s"], id="inside a word at its joints"),
        pytest.param("abcdefgh", 3, ["abc", "def", "gh"], id="inside a word without joints"),
        pytest.param("go abcdefgh", 4, ["go", "abcd", "efgh"], id="a wide word begins a line"),
        pytest.param("模型模型", 5, ["模型", "模型"], id="wide characters"),
    ],
)
def test_a_line_ends_between_words_if_it_can(text: str, room: int, lines: list[str]) -> None:
    assert folding.folded(text, room) == lines


@given(TEXTS, st.integers(2, 40))
def test_folded_text_is_whole_and_fits(text: str, room: int) -> None:
    found = folding.folded(text, room)
    assert all(folding.width(line) <= room for line in found)
    assert "".join("".join(found).split()) == "".join(text.split())


@given(st.data(), st.integers(1, 5), st.integers(40, 200))
def test_a_table_fits_and_breaks_no_word_of_a_heading(data: st.DataObject, columns: int, width: int) -> None:
    headings = ["REPLICA", "NODES IN USE", "WHY", "PER POD", "DEVICE"][:columns]
    row = st.lists(TEXTS, min_size=columns, max_size=columns)
    rows = data.draw(st.lists(row, max_size=4))
    found = table.lines(headings, rows, screen=Screen(width))
    assert all(folding.width(line) <= width for line in found)
    assert {word for line in found for word in line.split()} >= {word for one in headings for word in one.split()}
    plain = table.lines(headings, rows)
    assert sorted("".join("".join(found).split())) == sorted("".join("".join(plain).split())), "nothing is lost"
    if max(map(folding.width, plain)) <= width:
        assert found == plain
