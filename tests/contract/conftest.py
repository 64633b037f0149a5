"""Servers that the contract tests share; each is a process of its own."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import grpc
import pytest

from tests.support import certificates, functionserver
from tests.support.functionserver import Server

PROBES = (sys.executable, str(Path(__file__).with_name("probes.py")))


@pytest.fixture(scope="session")
def authority() -> certificates.Authority:
    return certificates.authority()


@pytest.fixture(scope="session")
def client_certificates(authority: certificates.Authority, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return authority.issue(tmp_path_factory.mktemp("client"), "crossplane")


@pytest.fixture(scope="session")
def server_certificates(authority: certificates.Authority, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return authority.issue(tmp_path_factory.mktemp("server"), "function-modelplane")


@pytest.fixture(scope="session")
def server(server_certificates: Path) -> Iterator[Server]:
    """Yield a server with mTLS and the probe composers."""
    with functionserver.running(["--tls-server-certs-dir", str(server_certificates)], command=PROBES) as running:
        yield running


@pytest.fixture
def channel(server: Server, client_certificates: Path) -> Iterator[grpc.Channel]:
    """Yield a channel as Crossplane opens it: mTLS, and the 4 MB a client receives by default."""
    with functionserver.secure_channel(server.target, client_certificates) as channel:
        yield channel
