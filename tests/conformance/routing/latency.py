"""The time of a hop through the gateway: `python -m tests.conformance.routing.latency` prints a table."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.conformance.routing import access, fleet, load
from tests.conformance.routing.test_traffic import CHAT
from tests.conformance.routing.worlds import KEY, Door
from tests.support import routing

Json = Any
_COUNT = 1000
_ROUNDS = 15
_SPECS: dict[str, Json] = {
    "a service of one cluster": {},
    "endpoints that stand by for each other (locality)": {"locality": {}},
    "keys, a limit per key, networks, size, CORS, session": {
        "auth": access.KEYS,
        "rateLimit": {"requests": 4_000_000, "unit": "Hour", "per": "Client"},
        "clients": {"allowedCIDRs": ["127.0.0.0/8"]},
        "cors": {"allowOrigins": ["https://app.example"]},
        "maxRequestSize": "8Mi",
        "affinity": {},
    },
}


def main() -> None:
    """Print the times to an upstream directly and through Envoy, and what each hop adds."""
    sys.stdout.write(f"{'':54}{'p50 ms':>8}{'p99 ms':>8}{'+p50':>8}{'+p99':>8}\n")
    for name, spec in _SPECS.items():
        with tempfile.TemporaryDirectory() as folder:
            _one(name, spec, Path(folder))


def _one(name: str, spec: Json, folder: Path) -> None:
    world = Door(folder)
    try:
        ports = world.serve_replicas("eu-0")
        secret = fleet.secret("callers", {"alice": "sk-alice"})
        world.start(routing.model_service(access.A, **spec), [access.EU[0]], secret, ports=ports)
        assert world.envoy is not None
        assert world.ask(headers=KEY).code == 200
        upstream, envoy = world.upstreams["eu-0"].port, world.envoy.port
        plain = _least(upstream, {})
        hop = _least(envoy, KEY)
        for label, found in (("directly", plain), (name, hop)):
            more = "".join(f"{now - was:8.2f}" for now, was in zip(found, plain, strict=True)) if found is hop else ""
            sys.stdout.write(f"{label:54}{found[0]:8.2f}{found[1]:8.2f}{more}\n")
    finally:
        world.close()


def _least(port: int, headers: Mapping[str, str]) -> tuple[float, float]:
    """Return p50 and p99 in milliseconds, each the least of some rounds: others use the machine, too."""
    rounds = [load.times(port, _COUNT, CHAT, headers) for _ in range(_ROUNDS)]
    half, most = (min(found[len(found) * part // 100] for found in rounds) * 1000 for part in (50, 99))
    return half, most


if __name__ == "__main__":
    main()
