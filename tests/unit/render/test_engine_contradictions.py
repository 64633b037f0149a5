"""Arguments of an author that contradict the fleet or themselves, and those that only look so."""

from __future__ import annotations

import pytest

from modelplane.errors import InvalidInput
from modelplane.render import engines
from modelplane.render.engines import Launch, Member
from modelplane.topology.shape import Topology
from modelplane.workload.model import EngineType
from tests.support import launches

_SGLANG = launches.launch(EngineType.SGLANG)
_TRTLLM = launches.launch(EngineType.TRTLLM)
_LLAMA = launches.launch(EngineType.LLAMACPP)


@pytest.mark.parametrize(
    ("launch", "args", "index", "says"),
    [
        pytest.param(
            launches.launch(), ["--host=127.0.0.1"], 0, "probes and routes reach says 0.0.0.0 or ::", id="host"
        ),
        pytest.param(launches.launch(), ["m", "--host", "localhost"], 1, "says localhost", id="host as two words"),
        pytest.param(_SGLANG, ["--host", "127.0.0.1"], 0, "says 0.0.0.0", id="host of SGLang"),
        pytest.param(_TRTLLM, ["m", "--host=localhost"], 1, "says 0.0.0.0", id="host of TensorRT-LLM"),
        pytest.param(_LLAMA, ["--host", "127.0.0.1,10.0.0.1"], 0, "says 0.0.0.0", id="hosts of llama.cpp"),
        pytest.param(_LLAMA, ["--api-prefix", "/x"], 0, "without a prefix; remove it", id="prefix"),
        pytest.param(launches.launch(), ["--ssl-keyfile", "/k"], 0, "HTTP without TLS", id="TLS"),
        pytest.param(_SGLANG, ["--ssl-certfile=/k"], 0, "HTTP without TLS", id="TLS of SGLang"),
        pytest.param(launches.launch(), ["--uds", "/s"], 0, "speak HTTP to the engine's port", id="socket"),
        pytest.param(launches.launch(), ["--grpc"], 0, "speak HTTP to the engine's port", id="gRPC"),
        pytest.param(_TRTLLM, ["m", "--grpc"], 1, "speak HTTP to the engine's port", id="gRPC of TensorRT-LLM"),
        pytest.param(launches.launch(), ["--headless"], 0, "nothing would answer", id="no server on one node"),
        pytest.param(_LLAMA, ["--version"], 0, "prints a text and ends", id="the engine ends"),
        pytest.param(launches.launch(), ["-h"], 0, "prints a text and ends", id="the engine ends, in short"),
        pytest.param(
            launches.launch(), ["-n2"], 0, "workers.topology (one node) says 1", id="nodes that nobody starts"
        ),
        pytest.param(
            launches.launch(topology=Topology(data=2, data_local=2)),
            ["--data-parallel-rank", "0"],
            0,
            "one rank of its own",
            id="one rank of several",
        ),
        pytest.param(launches.launch(), ["-pcp", "2"], 0, "context parallelism takes more devices", id="context"),
        pytest.param(_TRTLLM, ["m", "--cp_size=2"], 1, "context parallelism takes more devices", id="its context"),
        pytest.param(
            launches.launch(EngineType.TRTLLM, served_names=launches.NAMES),
            ["m", "--served_model_name", "x"],
            1,
            "says llama",
            id="name",
        ),
        pytest.param(
            launches.launch(EngineType.LLAMACPP, served_names=launches.NAMES),
            ["-a", "x,y"],
            0,
            "says llama",
            id="alias",
        ),
        pytest.param(
            launches.launch(topology=Topology(pipeline=2), member=Member.LEADER),
            ["--node-rank=0"],
            0,
            "place in the gang",
            id="rank",
        ),
        pytest.param(
            launches.launch(topology=Topology(pipeline=2), member=Member.LEADER),
            ["--nnodes=4"],
            0,
            "says 2",
            id="nodes of a gang",
        ),
    ],
)
def test_what_keeps_probes_and_routes_away_is_refused(launch: Launch, args: list[str], index: int, says: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        launches.line(launch, args=args)
    assert says in caught.value.message
    assert caught.value.path == ("args", index)


@pytest.mark.parametrize(
    ("engine", "args"),
    [
        pytest.param(EngineType.VLLM, ["m", "--host", "0.0.0.0"], id="every address"),  # noqa: S104 - a pod serves
        pytest.param(EngineType.VLLM, ["m", "--host=::"], id="every address of IPv6"),
        pytest.param(EngineType.VLLM, ["m", "--host", "$(POD_IP)"], id="an address only the kubelet knows"),
        pytest.param(EngineType.LLAMACPP, ["--host", "127.0.0.1,0.0.0.0"], id="every address beside another"),
        pytest.param(EngineType.LLAMACPP, ["--lora", "a", "--lora", "b"], id="a flag that adds to what it says"),
        pytest.param(EngineType.VLLM, ["m", "--middleware", "a", "--middleware", "b"], id="vLLM's own such flag"),
        pytest.param(EngineType.VLLM, ["m", "-cc.mode", "3", "-cc.backend", "x"], id="two parts of one object"),
        pytest.param(EngineType.VLLM, ["m", "--not-known-yet", "a", "b"], id="a flag of a newer engine with values"),
    ],
)
def test_what_harms_nothing_is_taken(engine: EngineType, args: list[str]) -> None:
    assert launches.line(launches.launch(engine), args=args)[1][: len(args)] == args


@pytest.mark.parametrize(
    ("engine", "args", "index", "says"),
    [
        pytest.param(EngineType.VLLM, ["m", "--dtype=auto", "--dtype", "half"], 2, "states what --dtype", id="twice"),
        pytest.param(EngineType.VLLM, ["-tp=1", "--tensor_parallel_size", "1"], 1, "states what -tp", id="other names"),
        pytest.param(
            EngineType.VLLM,
            ["--enable-prefix-caching", "--no-enable-prefix-caching"],
            1,
            "remove one of them",
            id="denied",
        ),
        pytest.param(EngineType.VLLM, ["--enable-lora", "--disable-lora"], 1, "remove one of them", id="denied anew"),
        pytest.param(
            EngineType.VLLM, ["-cc.mode=3", "--compilation-config", "{}"], 1, "states what", id="and in parts"
        ),
        pytest.param(EngineType.VLLM, ["-cc", "{}", "-cc.mode=3"], 2, "states what -cc", id="first whole"),
        pytest.param(EngineType.VLLM, ["-cc.mode=3", "-cc.mode", "0"], 1, "states what -cc.mode", id="one part twice"),
        pytest.param(EngineType.VLLM, ["-cc", "{}", "-cc.splitting_ops+=a"], 2, "states what -cc", id="whole and more"),
        pytest.param(EngineType.VLLM, ["-O3", "--optimization-level=1"], 1, "states what -O3", id="level"),
        pytest.param(EngineType.VLLM, ["m", "--model", "m"], 1, "states the model", id="model"),
        pytest.param(EngineType.SGLANG, ["--tp", "1", "--tp-size=1"], 2, "states what --tp", id="SGLang"),
        pytest.param(EngineType.TRTLLM, ["m", "--tp_size=1", "--tensor_parallel_size=1"], 2, "states what", id="click"),
        pytest.param(EngineType.LLAMACPP, ["-c", "1", "--ctx_size", "2"], 2, "states what -c", id="llama.cpp"),
    ],
)
def test_what_is_stated_twice_is_refused(engine: EngineType, args: list[str], index: int, says: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        launches.line(launches.launch(engine), args=args)
    assert says in caught.value.message
    assert caught.value.path == ("args", index)


def test_what_adds_to_a_list_is_no_second_statement() -> None:
    """vLLM takes the elements of a list one by one: --object.key+ a --object.key+=b."""
    args = ["-cc.splitting_ops+", "a", "--compilation-config.splitting_ops+=b,c", "-cc.mode=3"]
    assert launches.line(launches.launch(), args=args)[1][: len(args)] == args


@pytest.mark.parametrize(
    ("path", "said", "is_taken"),
    [
        pytest.param("org/m", "org/m:Q4_K_M", True, id="a quantization of the repository"),
        pytest.param("org/m:Q4_K_M", "org/m:Q4_K_M", True, id="the same"),
        pytest.param("org/m:Q4_K_M", "org/m:Q8_0", False, id="another quantization"),
        pytest.param("org/m:Q4_K_M", "org/m", False, id="any quantization"),
        pytest.param("org/m", "org/n:Q4_K_M", False, id="another repository"),
    ],
)
def test_llamacpp_takes_a_quantization_behind_the_repository(path: str, said: str, is_taken: bool) -> None:  # noqa: FBT001 - a table
    launch = launches.launch(EngineType.LLAMACPP, model_path=path)
    if is_taken:
        assert launches.line(launch, args=["-hf", said])[1][:2] == ["-hf", said]
        return
    with pytest.raises(InvalidInput, match=f"-hf says {said}, "):
        launches.line(launch, args=["-hf", said])


def test_a_refusal_names_the_word_where_it_was_written() -> None:
    with pytest.raises(InvalidInput) as caught:
        launches.line(launches.launch(), command=["vllm", "serve", "m", "--port", "1"], args=["--dtype=auto"])
    assert caught.value.path == ("command", 3)
    with pytest.raises(InvalidInput) as caught:
        launches.line(launches.launch(), command=["vllm", "serve", "m"], args=["--dtype=auto", "--port=1"])
    assert caught.value.path == ("args", 1)
    with pytest.raises(InvalidInput) as caught:
        launches.line(launches.launch(), args=["vllm", "serve", "m", "--port=1"])
    assert caught.value.path == ("args", 3)


def test_the_role_in_a_kv_transfer_given_in_parts_is_read() -> None:
    launch = launches.launch(is_disaggregated=True)
    with pytest.raises(InvalidInput, match="the role decode says kv_consumer or kv_both"):
        launches.line(
            launch, args=["--kv-transfer-config.kv_connector", "X", "--kv-transfer-config.kv_role", "kv_producer"]
        )


@pytest.mark.parametrize(
    ("launch", "args", "says"),
    [
        pytest.param(
            launches.launch(), ["-pp", "2"], "workers.topology.pipeline says 1", id="pipeline without a topology"
        ),
        pytest.param(
            launches.launch(), ["--enable-expert-parallel"], "workers.topology.expert says false", id="experts"
        ),
        pytest.param(
            launches.launch(topology=Topology(expert=True)),
            ["--no-enable-expert-parallel"],
            "expert says true",
            id="denied",
        ),
        pytest.param(launches.launch(), ["--port=9000"], "serving technology's port says 8000", id="port"),
        pytest.param(launches.launch(model_path="a/b"), ["c/d"], "model.uri says a/b", id="model"),
        pytest.param(launches.launch(model_path="a/b"), ["--model", "c/d"], "model.uri says a/b", id="model by flag"),
        pytest.param(
            launches.launch(served_names=launches.NAMES),
            ["--served-model-name", "x", "y"],
            "model.name says",
            id="name",
        ),
        pytest.param(
            launches.launch(is_disaggregated=True),
            ["--kv-transfer-config", '{"kv_role":"kv_producer"}'],
            "the role decode says kv_consumer or kv_both",
            id="KV role",
        ),
        pytest.param(
            launches.launch(is_disaggregated=True),
            ["--kv-transfer-config", "{"],
            "needs a JSON object",
            id="KV configuration",
        ),
        pytest.param(
            launches.launch(is_disaggregated=True),
            ["--kv-transfer-config", '{"a":' + "[" * 100_000],
            "needs a JSON object",
            id="KV configuration without end",
        ),
        pytest.param(
            launches.launch(topology=Topology(pipeline=2), member=Member.LEADER),
            ["--headless"],
            "remove it",
            id="headless",
        ),
        pytest.param(
            launches.launch(topology=Topology(data=2), member=Member.LEADER),
            ["--data-parallel-hybrid-lb"],
            "only the leader",
            id="own balancing",
        ),
        pytest.param(
            launches.launch(topology=Topology(pipeline=2), member=Member.LEADER),
            ["--distributed-executor-backend", "ray"],
            "without Ray",
            id="Ray",
        ),
    ],
)
def test_contradictions_are_refused_with_both_values(launch: Launch, args: list[str], says: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        launches.line(launch, args=args)
    assert says in caught.value.message


@pytest.mark.parametrize(
    ("launch", "args"),
    [
        pytest.param(
            launches.launch(served_names=launches.NAMES), ["--served-model-name", "x", "llama"], id="a further name"
        ),
        pytest.param(
            launches.launch(topology=Topology(tensor=8)), ["-tp", "$(TP)"], id="a value only the kubelet knows"
        ),
        pytest.param(
            launches.launch(topology=Topology(data=2)), ["--distributed-executor-backend", "mp"], id="not Ray"
        ),
        pytest.param(launches.launch(), ["--headless-mode-of-mine"], id="a longer name is another flag"),
    ],
)
def test_what_does_not_contradict_is_taken(launch: Launch, args: list[str]) -> None:
    assert launches.line(launch, args=args)[1][: len(args)] == args


@pytest.mark.parametrize(
    ("launch", "args", "correction"),
    [
        pytest.param(launches.launch(), ["--port=9"], "write 8000, or leave the flag out and it is added", id="port"),
        pytest.param(
            launches.launch(), ["--host=a"], "write 0.0.0.0 or ::, or leave the flag out", id="vLLM's own default"
        ),
        pytest.param(
            _SGLANG, ["--host=a"], "write 0.0.0.0 or ::, or leave the flag out and it is added", id="not SGLang's"
        ),
        pytest.param(
            launches.launch(),
            ["--tensor-parallel-size=4"],
            "change one of them, or leave the flag out",
            id="a size of 1",
        ),
        pytest.param(
            launches.launch(topology=Topology(tensor=2)),
            ["--tensor-parallel-size=4"],
            "change one of them, or leave the flag out and it is added",
            id="a size",
        ),
    ],
)
def test_the_correction_is_one_that_is_taken(launch: Launch, args: list[str], correction: str) -> None:
    """Nothing is called changeable that is fixed, and nothing added that is not."""
    with pytest.raises(InvalidInput) as raised:
        engines.command_line(launch, {"args": args})
    assert str(raised.value).endswith(f": {correction}")
    without = engines.command_line(launch, {"args": []})
    assert (args[0].partition("=")[0] in without.added) == correction.endswith("is added")
