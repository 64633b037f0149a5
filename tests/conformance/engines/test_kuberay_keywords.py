"""The keyword arguments for Ray Serve LLM are what vLLM's own parser makes of the same flags.

Source: vLLM 0.29.0, which Ray 2.60.0 ships.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from modelplane.errors import InvalidInput
from modelplane.render.backends.kuberay import flags, keywords
from modelplane.render.backends.kuberay.flags import Kind
from tests.conformance.engines import sources

Json = Any

_VALUES = (
    "3",
    "-1",
    "0.5",
    "1k",
    "1K",
    "1.5k",
    "1.5K",
    "auto",
    "text",
    "A-B",
    '{"a": [1]}',
    "{",
    "[1]",
    "true",
)
# What vLLM's parser lets pass as a text or as any JSON, and refuses when it makes its configuration of it.
_LATER = (Kind.OBJECT, Kind.EITHER)
_LEVEL = "optimization_level"


@cache
def _flags() -> dict[str, Json]:
    found = sources.asked("vllm", sources.RAYS_VLLM, [], [])["flags"]
    return {flag["dest"]: flag for flag in found if flag["dest"] != "help"}


def test_every_flag_of_vllm_is_passed_on_or_refused() -> None:
    ours = flags.KINDS.keys() | flags.REFUSED.keys() | keywords._KNOWN_OTHERWISE
    assert sorted(set(_flags()) ^ set(ours)) == []


def test_what_takes_nothing_and_what_takes_several_is_told_apart() -> None:
    several = {Kind.TEXTS, Kind.COUNTS}
    for keyword, kind in flags.KINDS.items():
        takes = _flags()[keyword]["nargs"]
        assert (kind is Kind.SWITCH, kind in several) == (takes == 0, takes == "+"), keyword


def _asked() -> list[list[str]]:
    lines: list[list[str]] = []
    for keyword in flags.KINDS:
        flag = _flags()[keyword]
        name = flag["names"][0]
        values = [*_VALUES, *(flag["choices"] or ())[:2]]
        lines += (
            [[f"{name}={value}"] for value in values]
            if flag["nargs"] != 0
            else [[name], *([d] for d in flag["denials"])]
        )
    return lines


def test_every_value_becomes_what_vllm_makes_of_it() -> None:
    lines = _asked()
    answers = sources.asked("vllm", sources.RAYS_VLLM, [], lines)["answers"]
    compared = 0
    for line, answer in zip(lines, answers, strict=True):
        try:
            found = keywords.of(line)
        except InvalidInput as error:
            keyword = line[0].partition("=")[0][2:].replace("-", "_")
            assert "error" in answer or flags.KINDS[keyword] in _LATER or keyword == _LEVEL, (line, answer, error)
            continue
        if "error" in answer or not answer["set"]:
            continue  # vLLM refuses a choice when it starts, or the value is what it would be without the flag
        compared += 1
        ((keyword, value),) = found.items()
        assert answer["set"] == {keyword: repr(str(value) if keyword == _LEVEL else value)}, line
    assert compared > len(flags.KINDS)


@pytest.mark.parametrize("keyword", sorted(flags.REFUSED))
def test_what_is_refused_is_a_flag_of_vllm(keyword: str) -> None:
    assert keyword in _flags()
