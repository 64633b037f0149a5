"""The folders of `examples/`, sorted by what a test can do with them."""

from __future__ import annotations

from pathlib import Path
from typing import Final

EXAMPLES: Final = Path(__file__).resolve().parents[2] / "examples"

NO_WORLD: Final = frozenset({"python", "rbac", "render"})
"""A program, permissions, and the arguments of one `crossplane composition render` with objects given twice."""

NO_COMPOSITES: Final = NO_WORLD | {"classes"}
"""The class catalogue is documents that lead to nothing by themselves."""


def folders() -> list[str]:
    """Return the name of every folder."""
    return sorted(path.name for path in EXAMPLES.iterdir() if path.is_dir())


def worlds() -> list[str]:
    """Return the folders whose documents can be applied together."""
    return [name for name in folders() if name not in NO_WORLD]


def fleets() -> list[str]:
    """Return the folders whose documents lead to composed resources."""
    return [name for name in folders() if name not in NO_COMPOSITES]
