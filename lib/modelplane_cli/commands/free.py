"""`modelplane free`: the free devices of a fleet."""

from __future__ import annotations

from collections.abc import Sequence

from modelplane_cli.commands import look
from modelplane_cli.output import usage_text
from modelplane_cli.parsers import free as free_parser
from modelplane_cli.planning import usage
from modelplane_cli.planning.usage import By


def main(arguments: Sequence[str]) -> int:
    """Return the exit code of `modelplane free`."""
    options = free_parser.parser().parse_args(list(arguments))
    by = By(options.by)
    return look.run(
        options,
        lambda store, screen: usage_text.free(usage.free(store, by), by, screen),
        lambda store: usage.encode_free(usage.free(store, by), by),
    )
