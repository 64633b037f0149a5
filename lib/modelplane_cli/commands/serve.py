"""`modelplane serve`: the function server, with the flags and environment of the function SDK."""

from __future__ import annotations

from collections.abc import Sequence


def main(arguments: Sequence[str]) -> int:
    """Return the exit code of the server: 0 after an orderly stop, 2 for settings that cannot be served."""
    # gRPC takes longer to load than every other command takes to run.
    from modelplane_functions import __main__ as server  # noqa: PLC0415 - as said

    return server.main(arguments, program="modelplane serve")
