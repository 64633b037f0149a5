"""The arguments of the commands whose text is read on a terminal, once or again and again."""

from __future__ import annotations

import argparse

INTERVAL_SECONDS = 5.0
_SECONDS_MIN, _SECONDS_MAX = 0.1, 3600.0


def add(made: argparse.ArgumentParser) -> None:
    """Add what says how the answer is shown."""
    made.add_argument("--no-pager", action="store_true", help="do not show the answer with $PAGER on a terminal")
    made.add_argument("--watch", action="store_true", help="show the answer again when files change, until Ctrl-C")
    made.add_argument(
        "--interval",
        metavar="SECONDS",
        type=_seconds,
        default=INTERVAL_SECONDS,
        help="with --watch and --context: how often the control plane is read (default: 5)",
    )


def _seconds(text: str) -> float:
    try:
        found = float(text)
    except ValueError:
        found = 0.0
    if not _SECONDS_MIN <= found <= _SECONDS_MAX:
        bounds = f"{_SECONDS_MIN:g} to {_SECONDS_MAX:g}"
        raise argparse.ArgumentTypeError(f"must be seconds from {bounds}, not {text[:40]!r}")
    return found
