"""The flags that we write for Dynamo's workers, held to those that its parsers declare.

vLLM and SGLang parse what Dynamo's own parser leaves over; TensorRT-LLM has no other parser.
Source: the wheel ai-dynamo 1.6.1, as tests/support/dynamo_flags.py has recorded it.
"""

from __future__ import annotations

import pytest

from modelplane.render.backends.dynamo import dialects
from modelplane.render.dialects import DIALECTS, Flag
from modelplane.workload.model import EngineType, Replica, Role
from tests.support import dynamo, dynamo_flags

RECORDED = dynamo_flags.recorded()
OWN = {engine: {*RECORDED[str(engine)], *RECORDED[dynamo_flags.RUNTIME]} for engine in dialects.DIALECTS}
OF_DYNAMO = {(EngineType.VLLM, Flag.DISAGGREGATION)}


def _names(engine: EngineType, flag: Flag) -> tuple[str, ...]:
    dialect = dialects.DIALECTS[engine]
    return dialect.table.known[dialect.options[flag]][0].names


def _every_name(engine: EngineType) -> set[str]:
    return {name for flag in dialects.DIALECTS[engine].options for name in _names(engine, flag)}


@pytest.mark.parametrize("flag", dialects.DIALECTS[EngineType.TRTLLM].options)
def test_the_worker_of_tensorrt_llm_declares_every_flag_that_we_write(flag: Flag) -> None:
    assert set(_names(EngineType.TRTLLM, flag)) <= OWN[EngineType.TRTLLM]


@pytest.mark.parametrize("engine", [EngineType.VLLM, EngineType.SGLANG])
def test_an_engines_flag_reaches_the_engine(engine: EngineType) -> None:
    """Dynamo takes none of them for its own, also not as the beginning of one, which argparse would complete."""
    for flag in dialects.DIALECTS[engine].options:
        for name in _names(engine, flag):
            if (engine, flag) in OF_DYNAMO:
                assert name in OWN[engine]
            elif name.startswith("--"):
                assert name not in OWN[engine]
                assert engine is EngineType.VLLM or not [one for one in OWN[engine] if one.startswith(name)]


@pytest.mark.parametrize("engine", [EngineType.VLLM, EngineType.SGLANG])
def test_an_engine_is_told_in_its_own_spelling(engine: EngineType) -> None:
    theirs = DIALECTS[engine].options
    for flag, option in dialects.DIALECTS[engine].options.items():
        if (engine, flag) not in OF_DYNAMO:
            assert option == theirs[flag]


def test_roles_are_those_of_dynamo() -> None:
    assert {str(role) for role in Role} <= set(RECORDED[dynamo_flags.ROLES])


@pytest.mark.parametrize("engine", dialects.DIALECTS)
def test_what_is_suggested_instead_exists(engine: EngineType) -> None:
    for why in dialects.REFUSED[engine].values():
        for word in why.replace(";", " ").split():
            if word.startswith("--"):
                assert word in OWN[engine] | _every_name(engine)


@dynamo.every_shape
def test_every_flag_of_a_rendered_worker_is_known(replica: Replica) -> None:
    for name, component in dynamo.components(replica).items():
        if name == "frontend":
            continue
        engine = EngineType(dynamo.main(component)["command"][2].removeprefix("dynamo."))
        known = _every_name(engine) | OWN[engine]
        assert {word for word in dynamo.main(component)["args"] if word.startswith("-")} <= known


def test_the_reader_finds_what_a_source_declares() -> None:
    source = 'add(g, flag_name="--a-b", obsolete_flag="--old", help="--x"); p.add_argument("--v"); f("--no flag")'
    assert dynamo_flags.flags(source) == ["--a-b", "--old", "--v"]
    assert dynamo_flags.roles('class DisaggregationMode(Enum):\n    """Text."""\n    A = "a"\n    B = "b"') == [
        "a",
        "b",
    ]
