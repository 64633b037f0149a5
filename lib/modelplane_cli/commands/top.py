"""`modelplane top`: who holds the devices of a fleet."""

from __future__ import annotations

from collections.abc import Sequence

from modelplane_cli.commands import look
from modelplane_cli.output import usage_text
from modelplane_cli.parsers import top as top_parser
from modelplane_cli.planning import usage
from modelplane_cli.planning.usage import Whose


def main(arguments: Sequence[str]) -> int:
    """Return the exit code of `modelplane top`."""
    options = top_parser.parser().parse_args(list(arguments))
    whose = Whose(options.by)
    return look.run(
        options,
        lambda store, screen: usage_text.top(usage.top(store, whose), whose, screen),
        lambda store: usage.encode_top(usage.top(store, whose), whose),
    )
