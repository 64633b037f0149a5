"""The time of a hop through the gateway: `python -m tests.conformance.routing.latency` prints a table."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

from tests.conformance.routing import access, fleet, load
from tests.conformance.routing.test_traffic import CHAT
from tests.conformance.routing.worlds import KEY, Door
from tests.support import routing

Json = Any
_COUNT = 4000
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
        plain = load.times(world.upstreams["eu-0"].port, _COUNT, CHAT)
        hop = load.times(world.envoy.port, _COUNT, CHAT, KEY)
        half, most = len(plain) // 2, len(plain) * 99 // 100
        for label, found in (("directly", plain), (name, hop)):
            more = "".join(f"{(found[at] - plain[at]) * 1000:8.2f}" for at in (half, most)) if found is hop else ""
            sys.stdout.write(f"{label:54}{found[half] * 1000:8.2f}{found[most] * 1000:8.2f}{more}\n")
    finally:
        world.close()


if __name__ == "__main__":
    main()
