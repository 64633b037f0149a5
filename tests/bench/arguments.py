"""What the programs of this folder are called with, and the help each of them gives."""

from __future__ import annotations

import argparse


def parser(program: str, described: str | None, *, example: str) -> argparse.ArgumentParser:
    """Return the parser of `python -m tests.bench.<program>`, whose help is the module's own text and an example."""
    return argparse.ArgumentParser(
        prog=f"python -m tests.bench.{program}",
        description=described,
        epilog=f"example: python -m tests.bench.{program} {example}".rstrip(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )


def add_sizes(to: argparse.ArgumentParser, *, default: list[int]) -> None:
    """Let the program be called with numbers of clusters, found as `sizes`."""
    usual = " and ".join(f"{size:,}" for size in default)
    to.add_argument(
        "sizes",
        metavar="CLUSTERS",
        nargs="*",
        type=positive,
        default=default,
        help=f"sizes of a fleet ({usual})",
    )


def positive(text: str) -> int:
    """Return a number of things there has to be at least one of. Raises: ArgumentTypeError."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number of at least 1")
    return int(text)
