"""The function server with deployments that ask for the whole fleet in every call: what two steps are compared with."""

from __future__ import annotations

from modelplane_functions import __main__ as server
from tests.support import two_steps

if __name__ == "__main__":
    with two_steps.at_once():
        raise SystemExit(server.main())
