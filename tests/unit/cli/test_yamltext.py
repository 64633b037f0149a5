"""Text is read as kubectl reads it: values, lines, and bounds."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from modelplane_cli.documents import yamltext
from modelplane_cli.output import manifests

VALUES = [
    pytest.param("a: 1", {"a": 1}, id="integer"),
    pytest.param("a: 1.0", {"a": 1}, id="an integral float is the same JSON number"),
    pytest.param("a: 1.5", {"a": 1.5}, id="float"),
    pytest.param("a: 1e3", {"a": 1000}, id="exponent without a dot is a number to goyaml"),
    pytest.param("a: 0x1F", {"a": 31}, id="hexadecimal"),
    pytest.param("a: 010", {"a": 8}, id="octal as in YAML 1.1"),
    pytest.param("a: 09", {"a": 9}, id="not octal, so decimal float syntax"),
    pytest.param("a: 1_000", {"a": 1000}, id="underscores"),
    pytest.param("a: -7", {"a": -7}, id="negative"),
    pytest.param("a: 1:30", {"a": "1:30"}, id="no sexagesimal numbers"),
    pytest.param("a: 2026-01-02", {"a": "2026-01-02"}, id="no timestamps"),
    pytest.param("a: yes", {"a": True}, id="yes is a boolean"),
    pytest.param("a: 'yes'", {"a": "yes"}, id="quoted is text"),
    pytest.param("a: y", {"a": True}, id="y is a boolean to goyaml v2"),
    pytest.param("on: push", {"true": "push"}, id="a boolean key becomes its JSON text"),
    pytest.param("8000: http", {"8000": "http"}, id="a number key becomes text"),
    pytest.param("a: ~", {"a": None}, id="null"),
    pytest.param("a:", {"a": None}, id="empty is null"),
    pytest.param("a: 1.2.3", {"a": "1.2.3"}, id="a version of three parts is text"),
    pytest.param("a: 23034Mi", {"a": "23034Mi"}, id="a quantity is text"),
    pytest.param("a: !!str 1", {"a": "1"}, id="explicit text"),
    pytest.param("a: &x {b: 1}\nc: *x", {"a": {"b": 1}, "c": {"b": 1}}, id="alias"),
    pytest.param("a: &x {b: 1, c: 2}\nd: {<<: *x, b: 3}", {"a": {"b": 1, "c": 2}, "d": {"b": 3, "c": 2}}, id="merge"),
    pytest.param('{"a": 1.0, "b": [true, null]}', {"a": 1, "b": [True, None]}, id="JSON"),
    pytest.param('\ufeff{"a": "\\ud83d\\ude00"}', {"a": "\U0001f600"}, id="JSON with a mark and a surrogate pair"),
    pytest.param("{a: 1, b: [x]}", {"a": 1, "b": ["x"]}, id="a YAML flow map is not JSON"),
]


@pytest.mark.parametrize(("text", "value"), VALUES)
def test_values_are_those_of_kubectl(text: str, value: object) -> None:
    (parsed,) = yamltext.read(text)
    assert parsed.value == value
    assert json.dumps(parsed.value) == json.dumps(value)  # True is not 1 here


REFUSED = [
    pytest.param("a: 1\na: 2", "given twice in one map (first on line 1)", 2, id="double key"),
    pytest.param('{"a": 1, "a": 2}', "given twice", 1, id="double key in JSON"),
    pytest.param("a: [1", "flow sequence (line 1)", 1, id="unfinished"),
    pytest.param("a: b: c", "not YAML", 1, id="mapping values are not allowed here"),
    pytest.param("a:\n\t- b", "a tab is used for indentation", 2, id="tab"),
    pytest.param("a: {{ .Values.x }}", "must be text", 1, id="a template is no document"),
    pytest.param("a: .inf", "not a JSON number", 1, id="infinity"),
    pytest.param("a: 1e999", "too large", 1, id="overflow"),
    pytest.param("a: !!python/object:os.system x", "has no meaning", 1, id="foreign tag"),
    pytest.param("a: !Ref x", "has no meaning", 1, id="local tag"),
    pytest.param("a: *nobody", "has no anchor before it", 1, id="alias without anchor"),
    pytest.param("a: &a [*a]", "has no anchor before it", 1, id="alias inside its own anchor"),
    pytest.param("a: \x07", "is not allowed in a document", 1, id="control character"),
    pytest.param("? [a]\n: b", "must be text", 1, id="a list as a key"),
    pytest.param("a: {<<: 1}", "takes a map", 1, id="merge of a number"),
    pytest.param("[" * 5000, "nested deeper than 100 levels", 1, id="nesting bomb"),
    pytest.param("[" * 500, "nested deeper than 100 levels", 1, id="nesting that libyaml itself allows"),
    pytest.param("- " * 5000, "nested deeper than 100 levels", 1, id="nesting bomb of a block"),
    pytest.param("a: 1\nb: " + "{a: " * 5000, "nested deeper than 100 levels", 2, id="nesting bomb in a later line"),
]


@pytest.mark.parametrize(("text", "message", "line"), REFUSED)
def test_text_that_is_no_document_is_refused_with_its_line(text: str, message: str, line: int) -> None:
    with pytest.raises(yamltext.TextError) as caught:
        list(yamltext.read(text))
    assert message in caught.value.message
    assert caught.value.line == line


def test_an_alias_bomb_is_refused_before_it_costs_anything() -> None:
    levels = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    levels += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
    # Ten to the twelfth values: a reader that made them would not come back.
    with pytest.raises(yamltext.TextError, match="aliases add more than"):
        list(yamltext.read("\n".join(levels)))


def test_copies_of_an_anchor_do_not_share_state() -> None:
    (parsed,) = yamltext.read("a: &x {b: [1]}\nc: *x")
    parsed.value["a"]["b"].append(2)
    assert parsed.value["c"] == {"b": [1]}


LINES = """\
# a comment first
kind: A
spec:
  list:
  - one: 1
    two: 2
  -
    three: 3
  long: >-
    folded
    text
---

kind: B
"""


@pytest.mark.parametrize(
    ("path", "line"),
    [
        (("kind",), 2),
        (("spec",), 3),
        (("spec", "list", 0, "two"), 6),
        (("spec", "list", 1, "three"), 8),
        (("spec", "long"), 9),
        (("spec", "missing"), 3),
        (("spec", "list", 7, "x"), 4),
        ((), 2),
    ],
)
def test_every_field_knows_its_line_and_a_missing_one_its_parent(path: yamltext.Path, line: int) -> None:
    first, second = yamltext.read(LINES)
    assert first.lines().of(path) == line
    assert second.lines().of(("kind",)) == 14


def test_empty_documents_are_left_out() -> None:
    assert [parsed.value for parsed in yamltext.read("---\n---\n# nothing\n---\na: 1\n---\nnull\n")] == [{"a": 1}]


plain = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(min_size=1), inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(st.text(min_size=1), plain, min_size=1, max_size=4))
def test_what_is_written_as_yaml_is_read_back_equal(value: dict[str, object]) -> None:
    (parsed,) = yamltext.read(manifests.one_yaml(value))
    assert parsed.value == value


@given(st.dictionaries(st.text(min_size=1), plain, min_size=1, max_size=4))
def test_what_is_written_as_json_is_read_back_equal(value: dict[str, object]) -> None:
    (parsed,) = yamltext.read(manifests.to_json([value]))
    assert parsed.value["items"] == [value]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("a: " + "9" * 5000, "has 5000 digits, too large for a number", id="decimal"),
        pytest.param("a: 0x" + "f" * 5000, "has 5002 digits, too large for a number", id="hexadecimal"),
        pytest.param("a: 0" + "7" * 5000, "has 5001 digits, too large for a number", id="octal"),
        pytest.param('{"a": ' + "9" * 5000 + "}", "has 5000 digits, too large for a number", id="JSON"),
        pytest.param(
            '{"a": 1' + "".join(f',"k{n}":1' for n in range(50_000)) + ',"k7":1}', "'k7' is given twice", id="double"
        ),
    ],
)
def test_numbers_and_objects_without_measure_are_told_and_short(text: str, message: str) -> None:
    with pytest.raises(yamltext.TextError, match=message) as caught:
        list(yamltext.read(text))
    assert len(caught.value.message) < 120


def test_sixty_thousand_merges_are_those_of_one() -> None:
    (parsed,) = yamltext.read("a: &a {x: 1}\nb:\n" + "  <<: *a\n" * 60_000)
    assert parsed.value["b"] == {"x": 1}


def test_the_lines_of_a_json_text_are_looked_for_once_whatever_is_wrong_with_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looked: list[str] = []

    def lines_of(text: str) -> yamltext.Lines:
        looked.append(text)
        return yamltext.Lines(1)

    monkeypatch.setattr(yamltext, "_lines_of", lines_of)
    (parsed,) = yamltext.read('{"a": 1}')
    assert [parsed.lines().of(("a",)) for _ in range(3)] == [1, 1, 1]
    assert len(looked) == 1
