"""Topologies that hold a model: the demands of the engine, and the room that is left."""

from __future__ import annotations

import pytest

from modelplane.sizing import architecture, catalogue, fit, need, precision
from modelplane.sizing.fit import Fitting, Hardware, Load, Refusal
from modelplane.sizing.need import GIB, Need
from modelplane.topology.shape import Topology

MODELS = catalogue.read()
H100 = Hardware(81559 * 2**20, 8)
L4 = Hardware(23034 * 2**20, 1)


def wanted(name: str, bits: str | None = None) -> Need:
    config = catalogue.find(name).config
    model = architecture.read(config)
    return Need(model, precision.asked(bits) if bits else precision.published(config, model), 2)


def found(name: str, load: Load, hardware: Hardware, bits: str | None = None) -> dict[Topology, Fitting | Refusal]:
    return {one.topology: one for one in fit.answers(wanted(name, bits), load, hardware)}


def test_an_8b_model_fits_on_one_device() -> None:
    one = found("Llama-3.1-8B", Load(32768, 1), H100)[Topology(1)]
    assert isinstance(one, Fitting)
    assert one.weights == pytest.approx(2 * 8.03e9, rel=0.001)
    assert one.cache == 32768 * 131072
    assert one.weights + one.cache + one.reserve + one.free == need.usable(H100.memory)


@pytest.mark.parametrize(
    ("bits", "devices"),
    [pytest.param("bf16", 4, id="140 GB need four"), pytest.param("fp8", 2, id="70 GB need two")],
)
def test_a_70b_model_needs_several(bits: str, devices: int) -> None:
    held = [one for one in found("Llama-3.1-70B", Load(32768, 1), H100, bits).values() if isinstance(one, Fitting)]
    assert min(one.topology.devices for one in held if one.topology.nodes == 1) == devices


def test_405b_in_16_bits_does_not_fit_on_eight_devices_of_80_gb() -> None:
    one = next(one for one in found("Llama-3.1-405B", Load(8192, 1), H100, "bf16").values() if one.topology.tensor == 8)
    assert isinstance(one, Fitting)
    assert one.topology.pipeline == 2


def test_a_trillion_parameters_do_not_fit_on_one_small_device() -> None:
    answers = found("Kimi-K2", Load(1024, 1), L4)
    assert answers
    assert all(isinstance(one, Refusal) and "of which 20.2 may be used" in one.reason for one in answers.values())


@pytest.mark.parametrize(
    ("name", "tensor", "said"),
    [
        pytest.param("Qwen3.5-27B", 16, "tensor 16 must divide num_attention_heads 24", id="heads"),
        pytest.param(
            "Qwen3-235B-A22B-FP8", 8, "expert 1536 / 8 is no multiple of the quantization block 128", id="block"
        ),
    ],
)
def test_a_tensor_size_that_the_engine_refuses_is_refused(name: str, tensor: int, said: str) -> None:
    one = found(name, Load(1024, 1), Hardware(200 * GIB, tensor))[Topology(tensor)]
    assert isinstance(one, Refusal)
    assert said in one.reason


def test_whole_experts_on_each_rank_need_no_division() -> None:
    answers = found("Qwen3-235B-A22B-FP8", Load(1024, 1), H100)
    assert isinstance(answers[Topology(8)], Refusal)
    assert isinstance(answers[Topology(8, expert=True)], Fitting)


def test_slices_of_a_device_do_not_work_together() -> None:
    answers = found("Llama-3.1-70B", Load(1024, 1), Hardware(81152 * 2**20, 8, is_part=True))
    assert list(answers) == [Topology(1)]


@pytest.mark.parametrize("name", ["Qwen3-8B", "DeepSeek-V3", "gpt-oss-120b", "Qwen3.5-35B-A3B"])
def test_the_room_that_is_named_is_there_and_no_more(name: str) -> None:
    load = Load(4096, 3)
    question = wanted(name)
    for one in fit.answers(question, load, H100):
        if isinstance(one, Fitting):
            for more, holds in ((0, True), (1, False)):
                asked = Load(load.context, one.concurrency_max + more)
                assert _holds(question, asked, one.topology) is holds
            assert _holds(question, Load(one.context_max, load.concurrency), one.topology)
            if one.context_max < question.model.context:
                assert not _holds(question, Load(one.context_max + 1, load.concurrency), one.topology)


def _holds(question: Need, load: Load, topology: Topology) -> bool:
    return isinstance(fit.holding(question, load, H100, topology), Fitting)


@pytest.mark.parametrize(
    ("layers", "pipeline", "sizes"),
    [(80, 4, [20, 20, 20, 20]), (61, 4, [15, 15, 16, 15]), (62, 4, [15, 16, 16, 15]), (5, 3, [2, 2, 1]), (1, 1, [1])],
)
def test_layers_of_stages(layers: int, pipeline: int, sizes: list[int]) -> None:
    assert need.split(layers, pipeline) == sizes


def test_a_tied_head_is_copied_to_the_last_stage() -> None:
    question = wanted("Qwen3-0.6B")
    whole = sum(question.weights().values())
    parts = sum(question.weights_on_rank(stage, Topology(1, 2)) for stage in question.stages(2))
    assert parts - whole == pytest.approx(2 * 151936 * 1024, rel=0.001)


@pytest.mark.parametrize("name", sorted(MODELS))
def test_the_ranks_of_a_stage_hold_all_weights(name: str) -> None:
    question = wanted(name)
    (stage,) = question.stages(1)
    whole = sum(question.weights().values())
    assert question.weights_on_rank(stage, Topology(1)) == pytest.approx(whole, rel=1e-6)
    assert 2 * question.weights_on_rank(stage, Topology(2)) >= whole
