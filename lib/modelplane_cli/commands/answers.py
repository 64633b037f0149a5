"""The answer of a command on standard output: as text for the reader there is, or as data."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from modelplane_cli.output import manifests, screen
from modelplane_cli.output.screen import Screen

_DATA = ("yaml", "json")


def show(output: str, text: Callable[[Screen], str], encode: Callable[[], dict[str, Any]]) -> None:
    """Print the answer in the form that `-o` names; anything but YAML and JSON is text."""
    if output in _DATA:
        sys.stdout.write(manifests.answer(encode(), output))
    else:
        sys.stdout.write(text(screen.of(sys.stdout)))
    sys.stdout.flush()
