"""The metrics of the function server, read by Prometheus' own parser while real calls are made."""

from __future__ import annotations

import asyncio
import concurrent.futures
import importlib.metadata
import os
import socket
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import grpc
import prometheus_client
import pytest
from crossplane.function.proto.v1 import run_function_pb2 as fnv1
from prometheus_client import parser

from modelplane.errors import InvalidInput
from modelplane_functions import metrics, runner, servicer
from tests.contract.conftest import PROBES
from tests.support import functionserver, requests, waiting

SECRET = "hunter2-namespace"  # noqa: S105 - it must not be seen


def composite(kind: str, **spec: Any) -> dict[str, Any]:
    metadata = {"name": "x", "namespace": SECRET}
    return {"apiVersion": "modelplane.ai/v1alpha1", "kind": kind, "metadata": metadata, "spec": spec}


@contextmanager
def measured(*arguments: str) -> Iterator[tuple[functionserver.Server, grpc.Channel]]:
    given = ["--insecure", "--metrics-address", "127.0.0.1:0", *arguments]
    with (
        functionserver.running(given, command=PROBES) as server,
        grpc.insecure_channel(server.target) as channel,
    ):
        yield server, channel


def scrape(server: functionserver.Server) -> str:
    (port,) = (event["metricsPort"] for event in server.events() if event["msg"] == "serving")
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as answer:
        assert answer.headers["Content-Type"].startswith("text/plain")
        text: str = answer.read().decode()
    return text


def samples(text: str, name: str) -> dict[tuple[str, ...], float]:
    """Return the samples of one name by the values of their labels."""
    found = (one for family in parser.text_string_to_metric_families(text) for one in family.samples)
    return {tuple(one.labels.values()): one.value for one in found if one.name == name}


def test_calls_are_counted_by_kind_and_outcome() -> None:
    with measured() as (server, channel):
        for _ in range(3):
            requests.call(channel, requests.request(composite("Echo")))
        requests.call(channel, requests.request(composite("Refuse", how="invalid")))
        with pytest.raises(grpc.RpcError):
            requests.call(channel, requests.request(composite("Refuse")))  # it has a bug where nothing says how
        requests.call(channel, requests.request(composite("Gadget")))
        text = scrape(server)
    kinds = samples(text, "modelplane_function_calls_total")
    assert kinds[("Echo", "answered")] == 3
    assert {key[1] for key in kinds if key[0] == "Refuse"} == {"refused", "UNKNOWN"}
    assert {key for key in kinds if key[0] == metrics.OTHER} == {(metrics.OTHER, "refused")}, (
        "of no kind that is served"
    )
    assert samples(text, "modelplane_function_call_duration_seconds_count")[("Echo",)] == 3


def test_the_bytes_are_those_on_the_wire() -> None:
    message = requests.request(composite("Echo"))
    with measured() as (server, channel):
        response = requests.call(channel, message)
        text = scrape(server)
    assert samples(text, "modelplane_function_request_bytes_sum") == {("Echo",): message.ByteSize()}
    assert samples(text, "modelplane_function_response_bytes_sum") == {("Echo",): response.ByteSize()}


def test_requirements_are_counted() -> None:
    with measured() as (server, channel):
        requests.call(channel, requests.request(composite("Chain")))
        text = scrape(server)
    assert samples(text, "modelplane_function_required_resources_sum") == {("Chain",): 1}


def test_a_call_that_was_given_up_is_counted(tmp_path: Path) -> None:
    begun, enough = tmp_path / "begun", tmp_path / "enough"
    message = requests.request(composite("Busy", begun=str(begun), enough=str(enough)))
    with measured() as (server, channel):
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            call = pool.submit(requests.call, channel, message, timeout_seconds=1)
            waiting.until(begun.exists, "the call is under way")
            assert samples(scrape(server), "modelplane_function_computing_calls")[()] >= 1
            with pytest.raises(grpc.RpcError):
                call.result()
        enough.touch()

        def given_up() -> bool:
            return samples(scrape(server), "modelplane_function_calls_total").get(("Busy", "CANCELLED")) == 1

        waiting.until(given_up, "the call is counted")


def test_no_name_of_an_object_is_in_them() -> None:
    with measured() as (server, channel):
        for kind in ("Echo", "Refuse", f"{SECRET}-kind"):
            requests.call(channel, requests.request(composite(kind, how="invalid", text=SECRET)))
        text = scrape(server)
    assert SECRET not in text
    assert f'version="{importlib.metadata.version("modelplane")}"' in text
    assert samples(text, "process_resident_memory_bytes")[()] > 1e6


def test_without_an_address_nothing_listens_and_nothing_is_measured() -> None:
    with functionserver.running(["--insecure"], command=PROBES) as server:
        (event,) = (event for event in server.events() if event["msg"] == "serving")
    assert event["metricsPort"] is None
    assert runner._metrics(runner.Settings("localhost:0", None), servicer.FunctionRunner()) == ((), None)


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        pytest.param(":9464", ("0.0.0.0", 9464), id="every interface"),  # noqa: S104
        pytest.param("127.0.0.1:9464", ("127.0.0.1", 9464), id="one interface"),
        pytest.param("[::1]:9464", ("::1", 9464), id="version 6"),
        pytest.param("localhost:0", ("localhost", 0), id="any port"),
    ],
)
def test_an_address_is_read(address: str, expected: tuple[str, int]) -> None:
    assert metrics.parsed(address) == expected


@pytest.mark.parametrize("address", ["9464", "localhost", ":", ":x", ":65536", ":-1", ":٣", "localhost:"])
def test_what_is_no_address_is_refused(address: str) -> None:
    with pytest.raises(InvalidInput, match="--metrics-address"):
        metrics.parsed(address)


def test_a_port_in_use_is_one_line_and_code_2() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        process = functionserver.start(["--insecure", "--address", "localhost:0", "--metrics-address", address])
        out, err = process.communicate(timeout=60)
    assert process.returncode == 2
    said = f"{out}{err or ''}"
    assert f"cannot serve metrics on {address}: " in said
    assert "Traceback" not in said


def test_a_path_beside_the_metrics_has_no_content_of_ours() -> None:
    """The library answers every path with the metrics; nothing else of the process is reachable."""
    with measured() as (server, _):
        (port,) = (event["metricsPort"] for event in server.events() if event["msg"] == "serving")
        for path in ("/..%2f..%2fetc/passwd", "/metrics?name[]=process_open_fds"):
            with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=10) as answer:
                assert b"root:" not in answer.read()


class Raising:
    """A handler whose calls end as a test says."""

    def __init__(self, code: grpc.StatusCode | None) -> None:
        self._code = code

    def code(self) -> grpc.StatusCode | None:
        return self._code


@pytest.mark.parametrize(
    ("code", "outcome"),
    [
        pytest.param(grpc.StatusCode.RESOURCE_EXHAUSTED, "RESOURCE_EXHAUSTED", id="too many calls wait"),
        pytest.param(grpc.StatusCode.UNAVAILABLE, "UNAVAILABLE", id="the server stops"),
        pytest.param(None, "UNKNOWN", id="a bug"),
    ],
)
def test_an_outcome_is_the_status_that_the_caller_sees(code: grpc.StatusCode | None, outcome: str) -> None:
    registry = prometheus_client.CollectorRegistry()
    interceptor = metrics.Interceptor(registry, {"Echo"})

    async def respond(_request: Any, _context: Any) -> fnv1.RunFunctionResponse:
        raise RuntimeError(os.devnull)

    with pytest.raises(RuntimeError):
        asyncio.run(interceptor._measured(requests.request(composite("Echo")), 1, Raising(code), respond, bytes))
    labels = {"kind": "Echo", "outcome": outcome}
    assert registry.get_sample_value("modelplane_function_calls_total", labels) == 1
