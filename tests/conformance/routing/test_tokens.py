"""JSON Web Tokens, checked by a real Envoy with the keys of a real server over TLS."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.routing.test_traffic import CHAT
from tests.conformance.routing.tokens import ISSUER, Issuer
from tests.conformance.routing.upstream import Upstream
from tests.conformance.routing.worlds import Door
from tests.support import certificates, live, routing

Json = Any
JWT = {"jwt": {"issuer": ISSUER, "jwksUri": f"{ISSUER}/keys", "audiences": ["models"]}}
OURS = Issuer()
LATER = 4_000_000_000


@pytest.fixture
def world(tmp_path: Path) -> Iterator[Door]:
    live.needs("routing", "go")
    made = Door(tmp_path)
    issued = certificates.authority().issue(tmp_path / "issuer", "issuer")
    made.authority = issued / "ca.crt"
    made.upstreams["issuer"] = Upstream("issuer", certificate=issued)
    made.upstreams["issuer"].document = OURS.document()
    yield made
    made.close()


def start(world: Door, **spec: Json) -> None:
    world.serve("a-0")
    service = routing.model_service(routing.group(deployment="a"), auth=JWT, **spec)
    ports = {"issuer.example.com:443": world.upstreams["issuer"].port}
    world.start(service, [routing.replica_endpoint("a-0", "a")], ports=ports)
    world.listen()


def bearer(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"}


def test_a_token_lets_its_client_in_and_reaches_no_endpoint(world: Door) -> None:
    start(world)
    wrong = {
        "none": "",
        "nonsense": "abc",
        "another key": Issuer().token(aud="models"),
        "another issuer": OURS.token(aud="models", iss="https://evil.example"),
        "another audience": OURS.token(aud="other"),
        "no audience": OURS.token(),
        "over": OURS.token(aud="models", exp=1),
        "unsigned": OURS.token("none", aud="models"),
    }
    codes = {name: world.ask(headers=bearer(token) if token else {}).code for name, token in wrong.items()}
    assert set(codes.values()) <= {401, 403}, codes
    assert world.upstreams["a-0"].seen == []
    assert world.ask(headers=bearer(OURS.token(aud="models"))).code == 200
    assert "authorization" not in world.upstreams["a-0"].seen[0].headers
    assert "Bearer" not in world.told()


def test_each_subject_has_a_limit_of_its_own_and_those_without_one_share_one(world: Door) -> None:
    start(world, rateLimit={"requests": 2, "unit": "Hour", "per": "Client"})
    for subject in ("alice", "bob"):
        sent = bearer(OURS.token(aud="models", sub=subject))
        assert [world.ask(headers=sent).code for _ in range(3)] == [200, 200, 429]
    nameless = list(bearer(OURS.token(aud="models")).items())
    forged = [world.raw(CHAT, [*nameless, ("x-modelplane-client", f"name-{n}")]).code for n in range(4)]
    assert forged == [200, 200, 429, 429], "a name that a client writes itself is none"
    assert all("x-modelplane-client" not in seen.headers for seen in world.upstreams["a-0"].seen)
