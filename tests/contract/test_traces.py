"""The traces of the function server, received by the protocol's own stubs while real calls are made."""

from __future__ import annotations

import contextlib
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import grpc
import pytest
from crossplane.function.proto.v1 import run_function_pb2_grpc as grpcv1

from modelplane.errors import InvalidInput
from modelplane_functions import spans, tracing
from tests.contract.conftest import PROBES
from tests.support import functionserver, requests, trace_receiver
from tests.support.trace_receiver import Receiver, attributes

SERVER_KIND, ERROR = 2, 2  # Source: opentelemetry-proto v1, Span.SpanKind and Status.StatusCode
CONTENT = "hunter2"


def composite(kind: str, **spec: Any) -> dict[str, Any]:
    metadata = {"name": "x", "namespace": "team"}
    return {"apiVersion": "modelplane.ai/v1alpha1", "kind": kind, "metadata": metadata, "spec": spec}


@contextmanager
def traced(endpoint: str, *arguments: str) -> Iterator[tuple[functionserver.Server, grpc.Channel]]:
    given = ["--insecure", "--traces-endpoint", endpoint, *arguments]
    with (
        functionserver.running(given, command=PROBES) as server,
        grpc.insecure_channel(server.target) as channel,
    ):
        yield server, channel


@pytest.fixture(name="receiver")
def _receiver(monkeypatch: pytest.MonkeyPatch) -> Iterator[Receiver]:
    monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "100")
    with trace_receiver.running() as found:
        yield found


def test_a_call_is_a_span_with_its_tag_and_what_computed_it(receiver: Receiver) -> None:
    message = requests.request(composite("Echo", secret=CONTENT))
    with traced(receiver.endpoint) as (_, channel):
        requests.call(channel, message)
        call, compute = receiver.spans(2)
    said = attributes(call.attributes)
    assert (call.name, call.kind, call.status.code) == ("RunFunction Echo", SERVER_KIND, 0)
    assert said["modelplane.tag"] == message.meta.tag == "test"
    assert (said["modelplane.kind"], said["modelplane.namespace"], said["modelplane.name"]) == ("Echo", "team", "x")
    assert (said["modelplane.seen"], said["modelplane.children"], said["modelplane.requirements"]) == (1, 1, 0)
    assert said["rpc.response.status_code"] == "OK"
    assert (compute.name, compute.parent_span_id, compute.trace_id) == ("compute", call.span_id, call.trace_id)
    assert call.start_time_unix_nano <= compute.start_time_unix_nano
    assert compute.end_time_unix_nano <= call.end_time_unix_nano
    (resource,) = {one["service.name"]: one for one in receiver.resources}.values()
    assert resource["service.name"] == spans.SERVICE
    assert CONTENT not in str(call) + str(compute), "a span says what was called, and never what is in it"


def test_the_trace_of_the_caller_goes_on(receiver: Receiver) -> None:
    trace, parent = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
    with traced(receiver.endpoint) as (_, channel):
        stub = grpcv1.FunctionRunnerServiceStub(channel)  # type: ignore[no-untyped-call]  # generated
        metadata = (("traceparent", f"00-{trace}-{parent}-01"), ("x-bin", b"\x00"))
        stub.RunFunction(requests.request(composite("Echo")), metadata=metadata)
        call, _ = receiver.spans(2)
    assert (call.trace_id.hex(), call.parent_span_id.hex()) == (trace, parent)


@pytest.mark.parametrize(
    ("spec", "status", "is_fatal"),
    [
        pytest.param({"how": "invalid"}, "OK", [True], id="refused"),
        pytest.param({}, "UNKNOWN", [], id="bug"),
    ],
)
def test_what_becomes_of_a_call_is_said(
    receiver: Receiver, spec: dict[str, Any], status: str, is_fatal: list[bool]
) -> None:
    with traced(receiver.endpoint) as (_, channel):
        with contextlib.suppress(grpc.RpcError):
            requests.call(channel, requests.request(composite("Refuse", **spec)))
        call = next(one for one in receiver.spans(2) if one.name != "compute")
    said = attributes(call.attributes)
    assert said["rpc.response.status_code"] == status
    assert [bool(said[key]) for key in ("modelplane.fatal",) if key in said] == is_fatal
    assert (call.status.code == ERROR) is (status != "OK")


def test_a_call_that_is_given_up_is_said(receiver: Receiver) -> None:
    with traced(receiver.endpoint) as (_, channel):
        stub = grpcv1.FunctionRunnerServiceStub(channel)  # type: ignore[no-untyped-call]  # generated
        with pytest.raises(grpc.RpcError):
            stub.RunFunction(requests.request(composite("Long", seconds=20)), timeout=0.5)
        call = next(one for one in receiver.spans(1) if one.name != "compute")
    assert attributes(call.attributes)["rpc.response.status_code"] == "CANCELLED"
    assert call.status.code == ERROR


def test_a_caller_cannot_choose_the_names_of_spans(receiver: Receiver) -> None:
    with traced(receiver.endpoint) as (_, channel):
        requests.call(channel, requests.request(composite("Gadget")))
        call = next(one for one in receiver.spans(2) if one.name != "compute")
    assert call.name == f"RunFunction {spans.OTHER}"


def test_variables_of_opentelemetry_decide(receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    """The endpoint is a variable too: a deployment has it from its platform."""
    for name, value in {
        "OTEL_EXPORTER_OTLP_ENDPOINT": receiver.endpoint,
        "OTEL_SERVICE_NAME": "ours",
        "OTEL_RESOURCE_ATTRIBUTES": "deployment.environment.name=prod",
        "OTEL_EXPORTER_OTLP_HEADERS": "x-tenant=platform",
    }.items():
        monkeypatch.setenv(name, value)
    with (
        functionserver.running(["--insecure"], command=PROBES) as server,
        grpc.insecure_channel(server.target) as channel,
    ):
        requests.call(channel, requests.request(composite("Echo")))
        receiver.spans(2)
    assert {one["service.name"] for one in receiver.resources} == {"ours"}
    assert {one["deployment.environment.name"] for one in receiver.resources} == {"prod"}
    assert {one["x-tenant"] for one in receiver.metadata} == {"platform"}


def test_spans_of_the_last_calls_are_sent_at_the_end(receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "60000")
    with traced(receiver.endpoint) as (server, channel):
        requests.call(channel, requests.request(composite("Echo")))
        assert server.stop() == 0
    assert len(receiver.spans(2)) == 2


@pytest.mark.parametrize("what", ["nobody listens", "nobody answers"])
def test_an_endpoint_that_does_not_answer_holds_up_nobody(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "50")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        endpoint = f"http://127.0.0.1:{taken.getsockname()[1]}"
        if what == "nobody listens":
            taken.close()
        with traced(endpoint) as (server, channel):
            for _ in range(50):
                requests.call(channel, requests.request(composite("Echo")))
            begun = time.monotonic()
            assert server.stop() == 0
            # A second for what computes and a second for spans, which the runner allows; the rest is a busy machine.
            assert time.monotonic() - begun < 10


@pytest.mark.parametrize(
    "endpoint",
    [
        pytest.param("otel-collector:4317", id="no-scheme"),
        pytest.param("http://", id="no-host"),
        pytest.param("http://collector:port", id="no-port"),
        pytest.param("unix:///run/otel.sock", id="no-url-of-ours"),
        pytest.param("http://[::1", id="half-an-address"),
    ],
)
def test_an_endpoint_that_is_no_url_is_refused(endpoint: str) -> None:
    with pytest.raises(InvalidInput, match=r"--traces-endpoint is .*write the URL"):
        tracing.check(endpoint)


def test_without_an_endpoint_nothing_of_opentelemetry_is_loaded() -> None:
    code = "import sys, modelplane_functions.__main__; print([m for m in sys.modules if m.startswith('opentelemetry')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "[]"
