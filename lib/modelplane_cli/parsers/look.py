"""The arguments of the commands that look at a fleet and compare nothing."""

from __future__ import annotations

import argparse

from modelplane_cli.parsers import reader, sources


def add(made: argparse.ArgumentParser) -> None:
    """Add the sources, the form of the answer and the namespace."""
    sources.add(made)
    made.add_argument("-o", "--output", choices=("table", "yaml", "json"), default="table", help="default: table")
    sources.add_namespace(made)
    reader.add(made)
