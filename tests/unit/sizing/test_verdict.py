"""Verdicts whether a model fits: a sure no, a yes with the engine's own memory, and what is open between both."""

from __future__ import annotations

import pytest

from modelplane.sizing import catalogue, verdict
from modelplane.sizing.fit import Hardware
from modelplane.sizing.verdict import Start
from modelplane.topology.shape import Topology

MIB = 2**20
L4, A100, H100, H200 = 23034 * MIB, 40960 * MIB, 81559 * MIB, 143771 * MIB

B405, B70, B8 = (f"meta-llama/Llama-3.1-{size}-Instruct" for size in ("405B", "70B", "8B"))
QWEN, KIMI, R1 = "Qwen/Qwen3-8B", "moonshotai/Kimi-K2-Instruct", "deepseek-ai/DeepSeek-R1"


def vllm(name: str, *, context: int | None = None, element: int | None = None, share: int | None = None) -> Start:
    """Return the start of an engine that demands room for one request."""
    flag = "--max-model-len"
    return Start(name, context=context, element=element, share=share, share_most=9200, context_flag=flag)


@pytest.mark.parametrize(
    ("start", "topology", "memory", "reason"),
    [
        pytest.param(Start(KIMI), Topology(1), L4, "WeightsTooLarge", id="a trillion parameters on one small device"),
        pytest.param(Start(KIMI), Topology(8), H100, "WeightsTooLarge", id="nor on eight of 80 GB"),
        pytest.param(Start(KIMI), Topology(8, 2), H100, "Fits", id="but on sixteen"),
        pytest.param(Start(B405), Topology(8), H100, "WeightsTooLarge", id="405B in 16 bits on eight of 80 GB"),
        pytest.param(Start(B405), Topology(8, 2), H100, "Fits", id="a pipeline over two nodes holds it"),
        pytest.param(
            Start(B405, quantized="fp8", context=8192), Topology(8), H100, "Fits", id="and so does fp8 on one"
        ),
        pytest.param(Start(B405, quantized="fp8"), Topology(4), H100, "WeightsTooLarge", id="not on four"),
        pytest.param(vllm(B70, context=8192), Topology(2), H100, "Tight", id="70B on two leaves no room"),
        pytest.param(vllm(B70, context=8192), Topology(4), H100, "Fits", id="70B on four"),
        pytest.param(vllm(QWEN), Topology(1), L4, "ContextTooLong", id="8B, with the model's own context"),
        pytest.param(Start(QWEN), Topology(1), L4, "Tight", id="8B, of an engine that takes a shorter context itself"),
        pytest.param(vllm(QWEN, context=8192), Topology(1), L4, "Fits", id="8B, with a shorter context"),
        pytest.param(vllm(QWEN, element=1), Topology(1), L4, "Tight", id="8B, with a cache of 8 bits"),
        pytest.param(vllm(B8, share=3000), Topology(1), A100, "WeightsTooLarge", id="a part of the device"),
        pytest.param(Start(R1, context=8192), Topology(1, data=16, data_local=8), H200, "Fits", id="experts in slices"),
        pytest.param(
            Start(R1, context=8192), Topology(1, data=16, data_local=8, expert=True), H200, "Fits", id="experts spread"
        ),
        pytest.param(Start(R1), Topology(1, data=4, data_local=4), H200, "WeightsTooLarge", id="spread over too few"),
        pytest.param(
            Start(B8), Topology(3), H100, "HeadsNotDivisible", id="heads that the tensor size does not divide"
        ),
        pytest.param(Start(B8), Topology(1, 64), H100, "NotComputed", id="more stages than layers"),
        pytest.param(Start(KIMI, lessens=("--cpu-offload-gb",)), Topology(1), L4, "FlagsNotCounted", id="offloaded"),
        pytest.param(Start(KIMI, adds=("--enable-lora",)), Topology(1), L4, "WeightsTooLarge", id="adapters add only"),
        pytest.param(Start(B8, adds=("--enable-lora",)), Topology(1), H100, "FlagsNotCounted", id="adapters beside it"),
        pytest.param(Start(B8, lessens=("--cpu-offload-gb",)), Topology(1), H100, "Fits", id="fits without offloading"),
        pytest.param(Start(B8), Topology(1), None, "MemoryUnknown", id="a class without a memory"),
        pytest.param(Start(f"RedHatAI/{B70}-FP8"), Topology(1), L4, None, id="a model that nobody knows"),
        pytest.param(
            Start("someone/Llama-3.1-405B"), Topology(1), L4, None, id="another organisation's may be smaller"
        ),
        pytest.param(Start("nvidia/Kimi-K2.5-NVFP4"), Topology(4), H100, "WeightsTooLarge", id="published in 4 bits"),
        pytest.param(Start("nvidia/Kimi-K2.5-NVFP4"), Topology(8), H200, "Fits", id="a trillion in 4 bits on eight"),
        pytest.param(Start("Qwen/Qwen3-32B-FP8", context=8192), Topology(1), A100, "Tight", id="32B, published in fp8"),
        pytest.param(Start("Qwen/Qwen3-32B", context=8192), Topology(1), A100, "WeightsTooLarge", id="32B in 16 bits"),
    ],
)
def test_verdict(start: Start, topology: Topology, memory: int | None, reason: str | None) -> None:
    found = verdict.judge(start, topology, memory)
    assert (found and found.reason) == reason
    if found is not None:
        sure = {"Fits": True, "WeightsTooLarge": False, "ContextTooLong": False, "HeadsNotDivisible": False}
        assert found.holds is sure.get(found.reason)


@pytest.mark.parametrize("name", sorted(catalogue.read()))
def test_every_model_of_the_catalogue_is_judged(name: str) -> None:
    found = verdict.judge(Start(name), Topology(1), 2**20)
    assert found is not None
    assert found.reason == "WeightsTooLarge"


def test_a_refusal_has_its_numbers_and_the_flag_that_helps() -> None:
    found = verdict.judge(vllm(QWEN), Topology(1), L4)
    assert found is not None
    assert found.message == (
        "Qwen/Qwen3-8B at bf16 puts 15.3 GiB of weights and 5.6 GiB of cache for one request of 40960 tokens on a "
        "device with tensor 1 x pipeline 1, and the engine may use 20.7 of its 22.5 GiB"
    )
    flag, _, tokens = found.instead.partition("=")
    assert flag == "--max-model-len"
    shorter = verdict.judge(vllm(QWEN, context=int(tokens)), Topology(1), L4)
    longer = verdict.judge(vllm(QWEN, context=int(tokens) + 16), Topology(1), L4)
    assert (shorter and shorter.holds, longer and longer.holds) == (True, None)


def test_of_a_shared_device_only_the_no_is_sure() -> None:
    small, large = Start(B8, context=8192), Start(KIMI)
    found = [verdict.judge(start, Topology(1), H100, is_shared=True) for start in (small, large)]
    assert [one and one.reason for one in found] == ["DevicesShared", "WeightsTooLarge"]


@pytest.mark.parametrize("name", [B405, B70, B8, QWEN, KIMI, R1])
@pytest.mark.parametrize("memory", [L4, A100, H100, H200])
def test_a_no_and_the_topology_that_is_proposed_never_contradict_each_other(name: str, memory: int) -> None:
    start = vllm(name, context=8192)
    best = verdict.suited(start, Hardware(memory, 8))
    if best is not None:
        found = verdict.judge(start, best.topology, memory)
        assert found is not None
        assert found.holds is True
