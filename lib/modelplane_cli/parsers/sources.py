"""The arguments that name the sources of documents."""

from __future__ import annotations

import argparse


def add(made: argparse.ArgumentParser, live: str = "live control plane") -> None:
    """Add the arguments that name the sources. `live` is what a context leads to."""
    made.add_argument("paths", metavar="PATH", nargs="*", help="file, directory (recursive) or - for standard input")
    made.add_argument(
        "--context",
        metavar="NAME",
        help=f"also read a {live} through this kubeconfig context (needs kubectl)",
    )


def add_namespace(made: argparse.ArgumentParser) -> None:
    """Add the argument that names the namespace of documents without one."""
    made.add_argument(
        "-n", "--namespace", default="default", help="namespace of documents that name none (default: default)"
    )
