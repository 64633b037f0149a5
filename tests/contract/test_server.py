"""Starting, refusing to start, who may call, and stopping."""

from __future__ import annotations

import concurrent.futures
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import grpc
import pytest
from crossplane.function.proto.v1 import run_function_pb2 as fnv1

from tests.contract.conftest import PROBES
from tests.support import certificates, functionserver, requests, waiting
from tests.support.functionserver import Server

REFUSED = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED)


def composite(kind: str, **spec: Any) -> dict[str, Any]:
    return {"apiVersion": "modelplane.ai/v1alpha1", "kind": kind, "metadata": {"name": "x"}, "spec": spec}


def assert_turned_away(channel: grpc.Channel) -> None:
    with channel, pytest.raises(grpc.RpcError) as caught:
        requests.call(channel, requests.request(composite("Echo")), timeout_seconds=5)
    assert caught.value.code() in REFUSED


def test_plaintext_is_turned_away(server: Server) -> None:
    assert_turned_away(grpc.insecure_channel(server.target))


def test_a_client_without_a_certificate_is_turned_away(server: Server, client_certificates: Path) -> None:
    credentials = grpc.ssl_channel_credentials(root_certificates=(client_certificates / "ca.crt").read_bytes())
    assert_turned_away(grpc.secure_channel(server.target, credentials))


def test_a_stranger_is_turned_away(server: Server, tmp_path: Path, server_certificates: Path) -> None:
    stranger = certificates.authority("a stranger").issue(tmp_path / "stranger", "crossplane")
    (stranger / "ca.crt").write_bytes((server_certificates / "ca.crt").read_bytes())
    assert_turned_away(functionserver.secure_channel(server.target, stranger))


def test_insecure_serves_plaintext_only(server_certificates: Path, client_certificates: Path) -> None:
    arguments = ["--insecure", "--tls-server-certs-dir", str(server_certificates)]
    with functionserver.running(arguments, command=PROBES) as server:
        with grpc.insecure_channel(server.target) as channel:
            response = requests.call(channel, requests.request(composite("Echo")))
            assert response.desired.composite.ready == fnv1.READY_TRUE
        assert_turned_away(functionserver.secure_channel(server.target, client_certificates))


@pytest.mark.parametrize("command", [functionserver.PRODUCTION, (sys.executable, "-m", "modelplane_cli", "serve")])
def test_what_is_shipped_starts_and_stops(command: tuple[str, ...]) -> None:
    with functionserver.running(["--insecure"], command=command) as server:
        with grpc.insecure_channel(server.target) as channel:
            response = requests.call(channel, requests.request(composite("Gadget")))
        assert [c.reason for c in response.conditions] == ["UnknownKind"]
        assert server.stop() == 0


@pytest.mark.parametrize("signum", [signal.SIGTERM, signal.SIGINT])
def test_a_call_under_way_finishes(signum: int, tmp_path: Path) -> None:
    begun, enough = tmp_path / "begun", tmp_path / "enough"
    message = requests.request(composite("Busy", begun=str(begun), enough=str(enough)))
    with functionserver.running(["--insecure"], command=PROBES) as server:
        channel = grpc.insecure_channel(server.target)
        with channel, concurrent.futures.ThreadPoolExecutor(1) as pool:
            call = pool.submit(requests.call, channel, message)
            waiting.until(begun.exists, "the call is under way")
            server.process.send_signal(signum)
            waiting.until(lambda: any(str(e["msg"]).startswith("stopping") for e in server.events()), "it is stopping")
            assert not call.done()
            enough.touch()
            assert call.result().desired.composite.ready == fnv1.READY_TRUE
            assert server.process.wait(timeout=60) == 0
        assert_turned_away(grpc.insecure_channel(server.target))
        until = time.monotonic() + 10  # its last line is read by a thread of ours
        while server.events()[-1]["msg"] != "stopped":
            assert time.monotonic() < until, server.events()[-1]
            time.sleep(0.05)


def run(arguments: list[str]) -> subprocess.CompletedProcess[str]:
    process = functionserver.start(arguments)
    output, _ = process.communicate(timeout=60)
    return subprocess.CompletedProcess(arguments, process.returncode, output)


def broken(directory: Path, authority: certificates.Authority, what: str) -> Path:
    """Return a certificate directory with one fault."""
    authority.issue(directory, "function")
    if what == "mixed":
        other = authority.issue(directory / "other", "other")
        (directory / "tls.key").write_bytes((other / "tls.key").read_bytes())
    elif what.startswith("no "):
        (directory / what.removeprefix("no ")).unlink()
    elif what.startswith("text "):
        (directory / what.removeprefix("text ")).write_text("not a certificate")
    return directory


@pytest.mark.parametrize(
    ("what", "says"),
    [
        pytest.param("no tls.crt", "cannot read", id="no-certificate"),
        pytest.param("no tls.key", "tls.key: No such file", id="no-key"),
        pytest.param("no ca.crt", "ca.crt: No such file", id="no-authority: everybody would be let in"),
        pytest.param("text ca.crt", "ca.crt contains no PEM certificate", id="authority-is-text"),
        pytest.param("text tls.crt", "are not a PEM certificate and its private key", id="certificate-is-text"),
        pytest.param("mixed", "KEY_VALUES_MISMATCH", id="key-of-another-certificate"),
    ],
)
def test_bad_certificates_are_one_line(tmp_path: Path, authority: certificates.Authority, what: str, says: str) -> None:
    ended = run(["--address", "localhost:0", "--tls-certs-dir", str(broken(tmp_path / "tls", authority, what))])
    assert ended.returncode == 2
    assert says in ended.stdout
    assert len(ended.stdout.splitlines()) == 1


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        pytest.param(["--address", "localhost:0"], "or --insecure", id="neither-certificates-nor-insecure"),
        pytest.param(["--insecure", "--max-recv-message-size", "0"], "between 1 and 2047", id="size-zero"),
        pytest.param(["--insecure", "--max-send-message-size", "4096"], "between 1 and 2047", id="size-past-32-bits"),
        pytest.param(["--insecure", "--max-recv-message-size", "big"], "not a valid integer", id="size-is-text"),
        pytest.param(["--insecure", "--address", "nowhere.invalid:1"], "cannot listen on nowhere", id="address"),
        pytest.param(["--colour"], "No such option", id="unknown-flag"),
    ],
)
def test_settings_that_cannot_be_served(arguments: list[str], says: str) -> None:
    ended = run(arguments)
    assert ended.returncode == 2
    assert says in ended.stdout
    assert "Traceback" not in ended.stdout


def test_a_port_that_is_taken_is_refused() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        ended = run(["--insecure", "--address", f"127.0.0.1:{taken.getsockname()[1]}"])
    assert ended.returncode == 2
    assert "the port is already in use" in ended.stdout


def test_a_second_server_does_not_share_the_port() -> None:
    with functionserver.running(["--insecure"]) as first:
        ended = run(["--insecure", "--address", first.target])
        assert ended.returncode == 2
        assert "the port is already in use" in ended.stdout
