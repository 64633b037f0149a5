"""The memory of a model: a config.json that nobody should have to think of, and laws of the answer."""

from __future__ import annotations

import copy
import math
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from modelplane.errors import InvalidInput, Unsupported
from modelplane.sizing import architecture, cache, catalogue, fit, need, precision
from modelplane.sizing.fit import Fitting, Hardware, Load
from modelplane.sizing.need import Need
from modelplane.topology.shape import Topology

Json = Any
MODELS = catalogue.read()
_FIELDS = sorted(
    {key for entry in MODELS.values() for key in entry.config}
    | {key for entry in MODELS.values() for key in entry.config.get("text_config", {})}
)
_ODD = st.one_of(
    st.none(),
    st.booleans(),
    st.sampled_from([0, 1, -1, 2, 3, 7, 64, 2**24, 2**24 + 1, 10**400, -(10**400), math.nan, math.inf, 0.5, 1e308]),
    st.integers(min_value=-5, max_value=5000),
    st.sampled_from(["", "full_attention", "sliding_attention", "sparse", "M*E-", "fp8", "\ud800", "a\nb", "9" * 50]),
    st.lists(st.sampled_from([0, 1, "dense", "full_attention", "mamba", None, [], {}, 10**400]), max_size=70),
    st.dictionaries(
        st.sampled_from(
            ["quant_method", "bits", "config_groups", "ignore", "hidden_size", "depth", "weight_block_size"]
        ),
        st.one_of(st.integers(), st.text(max_size=5), st.lists(st.integers(0, 300), max_size=2), st.none()),
        max_size=4,
    ),
    st.text(max_size=8),
)


@st.composite
def configs(draw: st.DrawFn) -> dict[str, Json]:
    """Return a config.json of the catalogue with some fields of its own or of others replaced or left out."""
    config: dict[str, Json] = copy.deepcopy(dict(MODELS[draw(st.sampled_from(sorted(MODELS)))].config))
    for _ in range(draw(st.integers(0, 4))):
        inner = config.get("text_config")
        target = inner if isinstance(inner, dict) and draw(st.booleans()) else config
        name = draw(st.sampled_from([*sorted(target), *_FIELDS, "quantization_config", "indexer_types", "model_type"]))
        if draw(st.booleans()):
            target.pop(name, None)
        elif name == "model_type" and draw(st.booleans()):
            target[name] = draw(st.sampled_from(architecture.known()))
        else:
            target[name] = draw(_ODD)
    return config


def _wanted(config: Json) -> Need | None:
    try:
        model = architecture.read(config)
        return Need(model, precision.published(config, model), 2)
    except (InvalidInput, Unsupported) as error:
        assert str(error)
        assert str(error).isprintable()
        assert len(str(error)) < 700
        return None


@given(config=configs())
@example(config={})
@example(config={"text_config": {}, "model_type": "llama"})
@example(config={"model_type": "llama", "hidden_size": 10**400})
def test_any_config_is_computed_or_refused_in_one_line(config: Json) -> None:
    wanted = _wanted(config)
    if wanted is None:
        return
    assert all(amount >= 0 for amount in wanted.weights().values())
    assert len(list(fit.answers(wanted, Load(min(4096, wanted.model.context), 2), Hardware(80 * 2**30, 8)))) > 0


@given(config=st.recursive(_ODD, lambda inner: st.dictionaries(st.sampled_from(_FIELDS), inner), max_leaves=12))
def test_anything_else_is_refused(config: Json) -> None:
    assert _wanted(config) is None


@st.composite
def questions(draw: st.DrawFn) -> tuple[Need, Load, Hardware]:
    """Return a model of the catalogue, a load and a node."""
    config = MODELS[draw(st.sampled_from(sorted(MODELS)))].config
    model = architecture.read(config)
    bits = draw(st.sampled_from(["", *precision.ASKED]))
    wanted = Need(
        model,
        precision.asked(bits) if bits else precision.published(config, model),
        draw(st.sampled_from(sorted(cache.ELEMENT_BYTES.values()))),
    )
    load = Load(draw(st.integers(1, model.context)), draw(st.integers(1, 2000)))
    hardware = Hardware(draw(st.integers(2**30, 300 * 2**30)), draw(st.sampled_from([1, 2, 3, 4, 6, 8, 16])))
    return wanted, load, hardware


@given(question=questions())
def test_what_holds_never_exceeds_a_device_and_the_engine_takes_its_topology(
    question: tuple[Need, Load, Hardware],
) -> None:
    wanted, load, hardware = question
    for one in fit.answers(wanted, load, hardware):
        if isinstance(one, Fitting):
            assert one.weights + one.cache + one.reserve + one.free == need.usable(hardware.memory)
            assert one.free >= 0
            assert one.topology.devices_per_node <= hardware.count
            assert load.context <= one.context_max <= wanted.model.context
            assert one.concurrency_max >= load.concurrency
            assert wanted.model.heads % one.topology.tensor == 0


@given(question=questions())
def test_more_memory_or_a_smaller_load_never_loses_a_topology(question: tuple[Need, Load, Hardware]) -> None:
    wanted, load, hardware = question
    smaller = Load(max(1, load.context // 2), max(1, load.concurrency - 1))
    before = _held(wanted, load, hardware)
    after = _held(wanted, smaller, hardware)
    for key, nodes in before.items():
        assert after.get(key, nodes + 1) <= nodes


def _held(wanted: Need, load: Load, hardware: Hardware) -> dict[tuple[int, bool], int]:
    """Return the nodes of the smallest topology by tensor size and kind."""
    answers = fit.answers(wanted, load, hardware)
    return {
        (one.topology.tensor, one.topology.expert): one.topology.nodes for one in answers if isinstance(one, Fitting)
    }


@given(question=questions(), pipeline=st.integers(1, 8), tensor=st.sampled_from([1, 2, 4, 8]))
def test_the_stages_together_hold_all_weights_and_all_tokens(
    question: tuple[Need, Load, Hardware], pipeline: int, tensor: int
) -> None:
    wanted, load, _ = question
    topology = Topology(tensor, pipeline)
    sizes = need.split(len(wanted.model.layers), pipeline)
    assert sum(sizes) == len(wanted.model.layers)
    assert max(sizes) - min(sizes) <= 1
    counted: dict[int, int] = {}
    start = 0
    for size in sizes:
        for place in wanted.order[start : start + size]:
            counted[place] = counted.get(place, 0) + 1
        start += size
    (whole,) = wanted.stages(1)
    assert dict(whole.counts) == counted
    most = max(wanted.weights_on_rank(stage, topology) for stage in wanted.stages(pipeline))
    assert most * tensor * pipeline >= sum(wanted.weights().values())
    one = max(wanted.sequence(stage, tensor, load.context) for stage in wanted.stages(pipeline))
    assert one * tensor * pipeline >= wanted.sequence(whole, 1, load.context)
