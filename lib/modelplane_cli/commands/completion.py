"""`modelplane completion`: the script that completes the command in a shell, and its answers to that script."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence

from modelplane_cli import exits
from modelplane_cli.completing import proposals, scripts
from modelplane_cli.parsers import completion as completion_parser


def main(arguments: Sequence[str]) -> int:
    """Return the exit code of `modelplane completion`."""
    options = completion_parser.parser().parse_args(list(arguments))
    sys.stdout.write(scripts.SCRIPTS[options.shell])
    return exits.FINE


def answer(line: str, commands: Mapping[str, str]) -> int:
    """Print a proposal on each line, the word and its meaning apart by a tab; return the exit code."""
    found = proposals.of(proposals.read(line), commands)
    sys.stdout.write("".join(f"{one.word}\t{' '.join(one.about.split())}\n" for one in found))
    return exits.FINE
