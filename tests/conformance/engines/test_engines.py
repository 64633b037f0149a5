"""The tables of flags say what the parsers of the engines say: names, values, shortenings and whole command lines."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import pytest

from modelplane.errors import InvalidInput
from modelplane.render import arguments
from modelplane.render.dialects import DIALECTS, Dialect
from modelplane.render.flags import llamacpp, sglang, trtllm, vllm
from modelplane.render.flags.table import Table, Takes
from tests.conformance.engines import lines, sources

Json = Any

TABLES: Mapping[str, Table] = {"vllm": vllm.TABLE, "sglang": sglang.TABLE}
PARSERS = [(name, version) for name, versions in sources.VERSIONS.items() for version in versions]
LINES = 400
_TAKES = {None: Takes.ONE, 0: Takes.NOTHING, "?": Takes.MAYBE, "+": Takes.MANY, "*": Takes.ANY}
every_parser = pytest.mark.parametrize(("name", "version"), PARSERS)


@cache
def _flags(name: str, version: str) -> list[Json]:
    flags: list[Json] = sources.asked(name, version, [], [])["flags"]
    return flags


@pytest.mark.parametrize(("name", "table"), TABLES.items())
def test_the_range_of_a_table_ends_where_parsers_were_asked(name: str, table: Table) -> None:
    assert table.versions == (sources.VERSIONS[name][0], sources.VERSIONS[name][-1])


@every_parser
def test_every_flag_of_a_parser_is_in_the_table(name: str, version: str) -> None:
    assert list(_missing(TABLES[name], _flags(name, version))) == []


def _missing(table: Table, flags: list[Json]) -> Iterator[str]:
    """Yield what a table says otherwise than a parser."""
    for flag in flags:
        for spelt in (*flag["names"], *flag["denials"]):
            found = table.known.get(spelt)
            if found is None:
                yield f"{spelt} is not in the table"
                continue
            option, negated = found
            if (option.takes, negated, option.repeats) != (
                _TAKES[flag["nargs"]],
                spelt in flag["denials"],
                flag["appends"],
            ):
                yield f"{spelt} takes {_TAKES[flag['nargs']]}, not {option.takes}"
            if flag["names"][0] not in option.names:
                yield f"{spelt} is a name of {flag['names'][0]}, not of {option.name}"


def test_the_check_above_can_fail() -> None:
    lacking = [{"names": ["--new"], "denials": [], "nargs": None, "appends": False}]
    other = [{"names": ["--port"], "denials": [], "nargs": 0, "appends": False}]
    assert len(list(_missing(vllm.TABLE, lacking))) == len(list(_missing(vllm.TABLE, other))) == 1


@pytest.mark.parametrize("name", TABLES)
def test_every_name_of_a_table_is_known_to_a_parser(name: str) -> None:
    real = {
        spelt
        for version in sources.VERSIONS[name]
        for flag in _flags(name, version)
        for spelt in (*flag["names"], *flag["denials"])
    }
    assert set(TABLES[name].known) - real == set()


@every_parser
def test_a_shortened_name_means_the_same(name: str, version: str) -> None:
    table = TABLES[name]
    known = [spelt for flag in _flags(name, version) for spelt in (*flag["names"], *flag["denials"])]
    words = sorted({spelt[:size] for spelt in known for size in range(2, len(spelt) + 1)} - {"--"})
    meant = sources.asked(name, version, words, [])["meant"]
    for word in words:
        # A name of another version, which is short for something else in this one, stays that name.
        if len(meant[word]) == 1 and (word in known or word not in table.known):
            assert _meaning(word, table) in (table.known[meant[word][0]], None), word


def _meaning(word: str, table: Table) -> object:
    """Return the flag of a word and whether it is denied, None where other versions make it unclear."""
    for tail in ([], ["3"]):
        try:
            (given,) = arguments.read([word, *tail], table).given
        except InvalidInput as error:
            if "is short for" in error.message:
                return None
            continue
        return None if given.option is None else (given.option, given.negated)
    raise AssertionError(f"{word} is refused with and without a value")


@every_parser
def test_command_lines_mean_the_same(name: str, version: str) -> None:
    asked = lines.some(_flags(name, version), seed=14, count=LINES)
    answers = sources.asked(name, version, [], asked)["answers"]
    dests = {spelt: flag["dest"] for flag in _flags(name, version) for spelt in (*flag["names"], *flag["denials"])}
    taken = 0
    for line, answer in zip(asked, answers, strict=True):
        try:
            words = arguments.read(line, TABLES[name])
        except InvalidInput as error:
            # What other versions make unclear is refused, too.
            assert "error" in answer or "is short for" in error.message, (line, error)
            continue
        if "set" in answer:
            taken += 1
            given = {dests[next(iter(set(one.option.names) & dests.keys()))] for one in words.given if one.option}
            unsaid = {key for key in answer["set"] if key != "model_tag"} - given
            assert not unsaid, (line, unsaid)
            assert all(one.option for one in words.given), line
            assert bool(words.loose) == ("model_tag" in answer["set"]), line
    assert taken > LINES // 4


def test_options_of_llamacpp() -> None:
    found = subprocess.run([str(sources.llamacpp_options())], capture_output=True, text=True, check=True).stdout
    takes = {"0": Takes.NOTHING, "1": Takes.ONE, "2": Takes.TWO}
    real: dict[str, tuple[Takes, bool, str]] = {}
    for entry in found.splitlines():
        kind, *names = entry.split()
        real.update((name.removeprefix("!"), (takes[kind], name.startswith("!"), names[0])) for name in names)
    table = llamacpp.TABLE
    assert set(table.known) == set(real)
    for name, (kind, negated, first) in real.items():
        option, denies = table.known[name]
        assert (option.takes, denies, first in option.names) == (kind, negated, True), name


def _recorded() -> dict[str, list[Json]]:
    found = json.loads(sources.RECORDED.read_text())
    return {name: value for name, value in found.items() if name != "source"}


@pytest.mark.parametrize("commit", _recorded())
def test_options_of_tensorrt_llm(commit: str) -> None:
    table = trtllm.TABLE
    for recorded in _recorded()[commit]:
        for spelt in (*recorded["names"], *recorded.get("denials", ())):
            option, denies = table.known[spelt]
            takes = Takes.NOTHING if recorded["is_flag"] else Takes.ONE
            assert (option.takes, option.repeats) == (takes, recorded["multiple"]), spelt
            assert denies == (spelt in recorded.get("denials", ())), spelt
    known = {name for recorded in _recorded().values() for one in recorded for name in one["names"]}
    known |= {name for recorded in _recorded().values() for one in recorded for name in one.get("denials", ())}
    assert set(table.known) - known == {"--help"}


def test_command_lines_of_tensorrt_llm_mean_the_same_to_click() -> None:
    options = _recorded()["029e223"]
    shape = [
        {
            "names": one["names"],
            "denials": one.get("denials", []),
            "nargs": 0 if one["is_flag"] else None,
            "choices": None,
            "type": "str",
        }
        for one in options
    ]
    asked = lines.some(shape, seed=14, count=LINES)
    command = [sys.executable, str(sources.HERE / "clicking.py"), str(sources.reader("click"))]
    given = json.dumps({"options": options, "lines": asked})
    answers = json.loads(subprocess.run(command, input=given, capture_output=True, text=True, check=True).stdout)
    taken = 0
    for line, answer in zip(asked, answers, strict=True):
        try:
            words = arguments.read(line, trtllm.TABLE)
        except InvalidInput as error:
            assert "error" in answer, (line, error)
            continue
        if "set" in answer:
            taken += 1
            given_names = {
                next(one["names"][0] for one in options if one["names"][0] in flag.option.names)
                for flag in words.given
                if flag.option
            }
            said = {f"--{key.replace('_', '-')}" for key in answer["set"] if key != "model"}
            assert said <= {name.replace("_", "-") for name in given_names}, line
            assert all(flag.option for flag in words.given), line
            assert bool(words.loose) == ("model" in answer["set"]), line
    assert taken > LINES // 4


@pytest.mark.parametrize("dialect", DIALECTS.values(), ids=lambda dialect: dialect.table.engine)
def test_what_a_dialect_names_is_in_its_table(dialect: Dialect) -> None:
    named = [*dialect.options.values()]
    for refused in (dialect.refused, dialect.refused_in_gang, dialect.refused_with_data):
        named.extend(name.partition("=")[0] for name in refused)
    assert [name for name in named if name not in dialect.table.known] == []
