"""The folders of `examples/`, sorted by what a test can do with them."""

from __future__ import annotations

from pathlib import Path
from typing import Final

EXAMPLES: Final = Path(__file__).resolve().parents[2] / "examples"

NO_WORLD: Final = frozenset({"ci", "gitops", "metrics", "python", "rbac", "render"})
"""Pipelines, settings of other programs, a program, permissions, and the arguments of one `composition render`."""

NO_COMPOSITES: Final = NO_WORLD | {"classes"}
"""The class catalogue is documents that lead to nothing by themselves."""

REFUSING: Final = frozenset({"quota"})
"""Examples that ask for more than the platform allows, so that `render` shows what is refused and exits 1."""

SEVERAL: Final = frozenset({"backends", "clouds", "queues"})
"""Folders of examples, each complete by itself."""


def folders() -> list[str]:
    """Return the name of every folder that holds an example, below `examples` or below a folder of several."""
    outer = [path for path in EXAMPLES.iterdir() if path.is_dir()]
    inner = [path for several in outer for path in several.iterdir() if several.name in SEVERAL and path.is_dir()]
    found = [path for path in (*outer, *inner) if path.name not in SEVERAL]
    return sorted(path.relative_to(EXAMPLES).as_posix() for path in found)


def created() -> list[str]:
    """Return the folders whose clusters a cloud makes, of kinds that only its provider defines."""
    return [name for name in folders() if name.startswith("clouds/")]


def worlds() -> list[str]:
    """Return the folders whose documents can be applied together."""
    return [name for name in folders() if name not in NO_WORLD]


def fleets() -> list[str]:
    """Return the folders whose documents lead to composed resources."""
    return [name for name in folders() if name not in NO_COMPOSITES]
