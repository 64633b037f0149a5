"""TLS with client certificates between two real Envoys with the configuration of the real Envoy Gateway."""

from __future__ import annotations

import http.client
import json
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from modelplane import names
from tests.conformance.routing import mutual
from tests.conformance.routing.identities import Pair, Signer
from tests.conformance.routing.proxy import Envoy
from tests.conformance.routing.test_translation import accepted
from tests.conformance.routing.upstream import Upstream
from tests.support import live, routing

Json = Any
CHAT = "/ml-team/llama/v1/chat/completions"


class World:
    """The fleet's gateway, a cluster's gateway and a server behind it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.clients, self.servers = Signer("clients"), Signer("servers")
        self.client = self.clients.issue(mutual.ME)
        self.server = self.servers.issue(mutual.CLUSTER, mutual.SERVER)
        self.upstream = Upstream("a-0")
        self.near: Envoy | None = None
        self.far: Envoy | None = None

    def start(self, *, client: Pair | None = None, is_fresh: bool = False) -> None:
        self.start_cluster()
        done = mutual.fleet_side(self.folder, mutual.endpoint(self.servers), client=self.client)
        rotating = {
            mutual.CLIENT_SDS: mutual.shown(client or self.client),
            mutual.TRUSTED_SDS: mutual.trusts(self.servers.certificate),
        }
        assert self.far is not None
        ports = {f"{mutual.ADDRESS}:443": self.far.port}
        self.near = Envoy(done, self.folder / "near", ports=ports, secrets={}, rotating=rotating, is_fresh=is_fresh)

    def start_cluster(self) -> None:
        done = mutual.cluster_side(
            self.folder, server=self.server, clients=(mutual.ME,), trusted=self.clients.certificate
        )
        rotating = {
            mutual.SERVER_SDS: mutual.shown(self.server),
            mutual.CLIENTS_SDS: mutual.trusts(self.clients.certificate),
        }
        ports = {f"{mutual.PODS}:80": self.upstream.port}
        self.far = Envoy(done, self.folder / "far", ports=ports, secrets={}, rotating=rotating)

    def ask(self, body: Json = None) -> tuple[int, bytes]:
        assert self.near is not None
        connection = http.client.HTTPConnection("127.0.0.1", self.near.port, timeout=60)
        try:
            payload = json.dumps({"model": "m", **(body or {})})
            connection.request("POST", CHAT, payload, {"content-type": "application/json"})
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def direct(self, client: Pair | None) -> int:
        """Return the answer of the cluster's gateway to somebody who reaches its address."""
        assert self.far is not None
        return mutual.ask(self.far.port, self.folder, self.servers.certificate, client)

    def close(self) -> None:
        for envoy in (self.near, self.far):
            if envoy is not None:
                envoy.close()
        self.upstream.close()


class Traffic:
    """Requests without a pause, and what became of them."""

    def __init__(self, world: World, workers: int = 4) -> None:
        self.codes: Counter[int | str] = Counter()
        self._world, self._ends, self._lock = world, threading.Event(), threading.Lock()
        self._threads = [threading.Thread(target=self._run, daemon=True) for _ in range(workers)]

    def __enter__(self) -> Traffic:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ends.set()
        for thread in self._threads:
            thread.join(60)

    def _run(self) -> None:
        while not self._ends.is_set():
            try:
                code: int | str = self._world.ask()[0]
            except OSError as error:
                code = type(error).__name__
            with self._lock:
                self.codes[code] += 1


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    live.needs("routing", "go")
    made = World(tmp_path)
    yield made
    made.close()


def test_envoy_gateway_accepts_every_object_of_both_sides(world: World) -> None:
    near = mutual.fleet_side(world.folder, mutual.endpoint(world.servers), client=world.client)
    far = mutual.cluster_side(
        world.folder, server=world.server, clients=(mutual.ME,), trusted=world.clients.certificate
    )
    assert list(accepted(near)) == []
    assert list(accepted(far)) == []
    assert mutual.presented(near) == {mutual.SERVER: [mutual.CLIENT_SDS]}


def test_a_shared_rule_shows_the_certificate_too(world: World) -> None:
    spare = routing.replica_endpoint("b-0", "b", cluster="north")
    groups = (routing.group(deployment="a"), routing.group(deployment="b", priority=1))
    near = mutual.fleet_side(world.folder, mutual.endpoint(world.servers), spare, client=world.client, groups=groups)
    assert list(accepted(near)) == []
    assert mutual.presented(near)[mutual.SERVER] == [mutual.CLIENT_SDS]


def test_a_provider_that_asks_is_shown_the_certificate_as_well(world: World) -> None:
    """Envoy Gateway has one certificate for all upstreams of a Gateway; the security page says so."""
    saas = routing.model_endpoint("saas", "https://api.example.com")
    near = mutual.fleet_side(world.folder, saas, client=world.client, groups=(routing.group(endpoint="saas"),))
    assert mutual.presented(near) == {"api.example.com": [mutual.CLIENT_SDS]}


def test_a_request_goes_through_both_gateways(world: World) -> None:
    world.start()
    assert world.ask()[0] == 200
    (seen,) = world.upstream.seen
    assert seen.headers["host"] == names.internal_host("ml-team", "a-0")


def test_the_clusters_gateway_refuses_everybody_else(world: World) -> None:
    world.start_cluster()
    assert world.direct(world.client) == 200
    strangers = {
        "nobody": None,
        "the same name from another authority": Signer("clients").issue(mutual.ME),
        "another gateway of the same authority": world.clients.issue(names.gateway_identity("other")),
        "a name that begins alike": world.clients.issue(f"{mutual.ME}-2"),
        "the cluster itself": world.server,
    }
    for who, pair in strangers.items():
        with pytest.raises(OSError):
            pytest.fail(f"{who} was answered {world.direct(pair)}")
    assert len(world.upstream.seen) == 1


def test_the_fleets_gateway_refuses_a_cluster_of_another_name_or_authority(world: World) -> None:
    world.start()
    assert world.far is not None
    for pair in (
        world.servers.issue(names.cluster_identity("west"), names.server_name("west")),
        Signer("servers").issue(mutual.CLUSTER, mutual.SERVER),
    ):
        world.far.rotate(mutual.SERVER_SDS, mutual.shown(pair))
        assert _eventually(lambda: world.ask()[0] == 503)


@pytest.mark.parametrize("is_fresh", [pytest.param(False, id="kept connections"), pytest.param(True, id="new ones")])
def test_both_certificates_rotate_under_traffic_without_a_failed_request(world: World, is_fresh: bool) -> None:  # noqa: FBT001 - a table's column
    world.start(is_fresh=is_fresh)
    assert world.near is not None
    assert world.far is not None
    with Traffic(world) as traffic:
        for _ in range(6):
            world.near.rotate(mutual.CLIENT_SDS, mutual.shown(world.clients.issue(mutual.ME)))
            time.sleep(0.4)
            world.far.rotate(mutual.SERVER_SDS, mutual.shown(world.servers.issue(mutual.CLUSTER, mutual.SERVER)))
            time.sleep(0.4)
    assert set(traffic.codes) == {200}, traffic.codes


def test_authorities_are_renewed_and_replaced_under_traffic_without_a_failed_request(world: World) -> None:
    """A renewed one keeps its key; another one is trusted beside the old one before anything is signed with it."""
    world.start(is_fresh=True)
    near, far = world.near, world.far
    assert near is not None
    assert far is not None
    with Traffic(world) as traffic:
        clients, servers = world.clients.renewed(), world.servers.renewed()
        near.rotate(mutual.TRUSTED_SDS, mutual.trusts(servers.certificate))
        far.rotate(mutual.CLIENTS_SDS, mutual.trusts(clients.certificate))
        time.sleep(0.5)
        other = Signer("clients again")
        far.rotate(mutual.CLIENTS_SDS, mutual.trusts(other.certificate + clients.certificate))
        time.sleep(0.5)
        near.rotate(mutual.CLIENT_SDS, mutual.shown(other.issue(mutual.ME)))
        time.sleep(0.5)
    assert set(traffic.codes) == {200}, traffic.codes


def test_an_endpoint_moves_to_tls_under_traffic_without_a_failed_request(world: World) -> None:
    world.start_cluster()
    plain = mutual.fleet_side(world.folder, mutual.endpoint(None), client=world.client)
    rotating = {
        mutual.CLIENT_SDS: mutual.shown(world.client),
        mutual.TRUSTED_SDS: mutual.trusts(world.servers.certificate),
    }
    assert world.far is not None
    ports = {f"{mutual.ADDRESS}:80": world.upstream.port, f"{mutual.ADDRESS}:443": world.far.port}
    world.near = Envoy(plain, world.folder / "near", ports=ports, secrets={}, rotating=rotating)
    secure = mutual.fleet_side(world.folder, mutual.endpoint(world.servers), client=world.client)
    with Traffic(world) as traffic:
        for done in (secure, plain, secure):
            time.sleep(0.7)
            world.near.cluster(done)
        time.sleep(0.7)
    assert set(traffic.codes) == {200}, traffic.codes


def test_an_expired_client_certificate_is_let_in_and_one_of_a_server_is_not(world: World) -> None:
    """What serves goes on: a stream that is open when the server's certificate expires ends as it would have."""
    world.start(client=world.clients.issue(mutual.ME, expired=True))
    assert world.ask()[0] == 200
    assert world.far is not None
    answers: list[tuple[int, bytes]] = []
    stream = threading.Thread(target=lambda: answers.append(world.ask({"stream": True, "pauses": [0.5] * 6})))
    stream.start()
    time.sleep(0.5)
    expired = world.servers.issue(mutual.CLUSTER, mutual.SERVER, expired=True)
    world.far.rotate(mutual.SERVER_SDS, mutual.shown(expired))
    stream.join(30)
    assert answers[0][0] == 200
    assert answers[0][1].count(b"a-0") == 6
    if world.near is not None:
        world.near.close()
    done = mutual.fleet_side(world.folder, mutual.endpoint(world.servers), client=world.client)
    rotating = {
        mutual.CLIENT_SDS: mutual.shown(world.client),
        mutual.TRUSTED_SDS: mutual.trusts(world.servers.certificate),
    }
    ports = {f"{mutual.ADDRESS}:443": world.far.port}
    world.near = Envoy(done, world.folder / "again", ports=ports, secrets={}, rotating=rotating)
    assert world.ask()[0] == 503


def _eventually(holds: Any, seconds: float = 15) -> bool:
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        if holds():
            return True
        time.sleep(0.3)
    return False
