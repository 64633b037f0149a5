"""What Crossplane gets to see, over real gRPC with real certificates."""

from __future__ import annotations

import concurrent.futures
from pathlib import Path
from typing import Any

import grpc
import pytest
from crossplane.function.proto.v1 import run_function_pb2 as fnv1
from crossplane.function.proto.v1beta1 import run_function_pb2 as fnv1beta1
from crossplane.function.proto.v1beta1 import run_function_pb2_grpc as grpcv1beta1
from google.protobuf import json_format
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

from tests.support import requests, waiting
from tests.support.functionserver import Server

MIB = 1024 * 1024


def composite(kind: str, **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "modelplane.ai/v1alpha1",
        "kind": kind,
        "metadata": {"name": "x", "namespace": "ns"},
        "spec": spec,
    }


def thing(name: str, **spec: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Thing", "metadata": {"name": name}, "spec": spec}


def child_spec(response: Any, key: str) -> dict[str, Any]:
    found: dict[str, Any] = json_format.MessageToDict(response.desired.resources[key].resource)["spec"]
    return found


def test_one_call(channel: grpc.Channel) -> None:
    response = requests.call(channel, requests.request(composite("Echo"), children={"a": thing("a")}))
    assert response.meta.tag == "test"
    assert child_spec(response, "echo") == {"seen": 1}
    assert response.desired.composite.ready == fnv1.READY_TRUE


def test_requirements_two_levels_deep_settle(channel: grpc.Channel) -> None:
    store = [thing("first", next="second"), thing("second"), thing("unrelated")]
    response, calls = requests.settle(
        lambda message: requests.call(channel, message), requests.request(composite("Chain")), store
    )
    assert child_spec(response, "found") == {"found": ["first", "second"]}
    # ask for the first; see it and ask for the second; answer, with requirements that no longer change
    assert calls == 3


def test_a_requirement_that_is_not_there_is_an_answer_and_keeps_the_children(channel: grpc.Channel) -> None:
    message = requests.request(composite("Chain"), children={"found": thing("found")})
    first = requests.call(channel, message)
    assert not first.desired.resources
    assert not first.conditions
    response, calls = requests.settle(lambda m: requests.call(channel, m), message, [])
    assert calls == 2
    assert [c.reason for c in response.conditions] == ["FirstMissing"]
    assert sorted(response.desired.resources) == ["found"]


@pytest.mark.parametrize(
    ("how", "reason", "says"),
    [
        pytest.param("invalid", "InvalidInput", "spec.how: is wrong", id="author"),
        pytest.param("unsupported", "NotHere", "not here; use another", id="not-offered"),
        pytest.param("fatal", "Told", "as told", id="composer-decides"),
    ],
)
def test_fatal_comes_with_its_condition_and_last(channel: grpc.Channel, how: str, reason: str, says: str) -> None:
    response = requests.call(channel, requests.request(composite("Refuse", how=how)))
    assert [c.reason for c in response.conditions] == [reason]
    assert response.results[-1].severity == fnv1.SEVERITY_FATAL
    assert says in response.results[-1].message
    assert all(result.severity != fnv1.SEVERITY_FATAL for result in response.results[:-1])
    assert not response.desired.resources


def test_a_bug_is_an_rpc_error(channel: grpc.Channel) -> None:
    with pytest.raises(grpc.RpcError) as caught:
        requests.call(channel, requests.request(composite("Refuse", how="otherwise")))
    assert caught.value.code() == grpc.StatusCode.UNKNOWN


def test_an_unknown_kind_is_told_which_are_known(channel: grpc.Channel) -> None:
    response = requests.call(channel, requests.request(composite("Gadget")))
    assert "Kind=Gadget; it composes modelplane.ai/v1alpha1" in response.results[-1].message
    assert "ModelDeployment" in response.results[-1].message


@pytest.mark.parametrize("mebibytes", [5, 16])
def test_a_large_request_is_answered(channel: grpc.Channel, mebibytes: int) -> None:
    children = {f"c{n}": thing(f"c{n}", text="x" * MIB) for n in range(mebibytes)}
    message = requests.request(composite("Echo"), children=children)
    assert message.ByteSize() > mebibytes * MIB
    assert child_spec(requests.call(channel, message), "echo") == {"seen": mebibytes}


def test_a_request_past_the_limit_is_refused_by_name(channel: grpc.Channel) -> None:
    with pytest.raises(grpc.RpcError) as caught:
        requests.call(channel, requests.request(composite("Echo", text="x" * (65 * MIB))))
    assert caught.value.code() == grpc.StatusCode.RESOURCE_EXHAUSTED


def test_the_largest_response_arrives_at_a_client_with_defaults(channel: grpc.Channel) -> None:
    response = requests.call(channel, requests.request(composite("Large", bytes=4 * MIB - 200)))
    assert len(child_spec(response, "large")["text"]) == 4 * MIB - 200


def test_a_response_that_cannot_arrive_is_a_refusal_that_can(channel: grpc.Channel) -> None:
    response = requests.call(channel, requests.request(composite("Large", bytes=4 * MIB)))
    assert [c.reason for c in response.conditions] == ["ResponseTooLarge"]
    assert "Crossplane receives at most 4194304" in response.results[-1].message


def test_the_beta_service_answers_too(channel: grpc.Channel) -> None:
    message = fnv1beta1.RunFunctionRequest.FromString(requests.request(composite("Echo")).SerializeToString())
    stub = grpcv1beta1.FunctionRunnerServiceStub(channel)  # type: ignore[no-untyped-call]  # generated
    response = stub.RunFunction(message, timeout=60)
    assert child_spec(response, "echo") == {"seen": 0}


def test_reflection_lists_both_versions(channel: grpc.Channel) -> None:
    stub = reflection_pb2_grpc.ServerReflectionStub(channel)
    (answer,) = stub.ServerReflectionInfo(iter([reflection_pb2.ServerReflectionRequest(list_services="")]), timeout=60)
    served = {service.name for service in answer.list_services_response.service}
    assert {
        "apiextensions.fn.proto.v1.FunctionRunnerService",
        "apiextensions.fn.proto.v1beta1.FunctionRunnerService",
        "grpc.health.v1.Health",
    } <= served


@pytest.mark.parametrize("service", ["", "apiextensions.fn.proto.v1.FunctionRunnerService", "grpc.health.v1.Health"])
def test_a_server_that_listens_is_healthy(channel: grpc.Channel, service: str) -> None:
    stub = health_pb2_grpc.HealthStub(channel)
    answer = stub.Check(health_pb2.HealthCheckRequest(service=service), timeout=60)
    assert answer.status == health_pb2.HealthCheckResponse.SERVING


def test_the_health_of_another_service_is_not_known_and_no_stream_stays_open(channel: grpc.Channel) -> None:
    stub = health_pb2_grpc.HealthStub(channel)
    with pytest.raises(grpc.RpcError) as caught:
        stub.Check(health_pb2.HealthCheckRequest(service="a.B"), timeout=60)
    assert caught.value.code() is grpc.StatusCode.NOT_FOUND
    with pytest.raises(grpc.RpcError) as caught:
        list(stub.Watch(health_pb2.HealthCheckRequest(), timeout=60))
    assert caught.value.code() is grpc.StatusCode.UNIMPLEMENTED


def test_a_computing_call_does_not_make_the_server_look_dead(channel: grpc.Channel, tmp_path: Path) -> None:
    begun, enough = tmp_path / "begun", tmp_path / "enough"
    message = requests.request(composite("Busy", begun=str(begun), enough=str(enough)))
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        busy = pool.submit(requests.call, channel, message)
        waiting.until(begun.exists, "the call has begun")
        answer = health_pb2_grpc.HealthStub(channel).Check(health_pb2.HealthCheckRequest(), timeout=5)
        enough.touch()
        busy.result(timeout=60)
    assert answer.status == health_pb2.HealthCheckResponse.SERVING


def test_many_calls_at_once(channel: grpc.Channel) -> None:
    message = requests.request(composite("Echo"), children={"a": thing("a")})
    with concurrent.futures.ThreadPoolExecutor(32) as pool:
        responses = list(pool.map(lambda _: requests.call(channel, message), range(200)))
    assert [child_spec(response, "echo") for response in responses] == [{"seen": 1}] * 200


def test_a_computing_call_does_not_hold_up_the_others(channel: grpc.Channel, tmp_path: Path) -> None:
    begun, enough = tmp_path / "begun", tmp_path / "enough"
    message = requests.request(composite("Busy", begun=str(begun), enough=str(enough)))
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        busy = pool.submit(requests.call, channel, message, timeout_seconds=240)
        waiting.until(begun.exists, "the busy call is under way")
        for _ in range(3):
            requests.call(channel, requests.request(composite("Echo")), timeout_seconds=240)
        # Were the loop blocked, the first light call would only return together with the busy one.
        assert not busy.done()
        enough.touch()
    assert busy.result().desired.composite.ready == fnv1.READY_TRUE


def test_logs_name_the_object_and_nothing_in_it(server: Server, channel: grpc.Channel) -> None:
    phrase = "correct-horse-battery-staple"
    requests.call(channel, requests.request(composite("Echo", token=phrase)))
    with pytest.raises(grpc.RpcError):
        requests.call(channel, requests.request({**composite("Refuse", how="bug"), "data": {"token": phrase}}))
    waiting.until(
        lambda: any(str(e["msg"]).startswith("internal error") for e in server.events()), "a log line about the bug"
    )
    bugs = [e for e in server.events() if str(e["msg"]).startswith("internal error")]
    answered = [event for event in server.events() if event["msg"] == "answered" and event["kind"] == "Echo"]
    assert {"tag": "test", "namespace": "ns", "name": "x", "level": "info"}.items() <= answered[-1].items()
    assert isinstance(answered[-1]["durationMs"], float)
    assert bugs[-1]["kind"] == "Refuse"
    assert bugs[-1]["error"] == "ValueError"
    assert "compose_refuse" in str(bugs[-1]["trace"])
    assert phrase not in "".join(server.lines)
