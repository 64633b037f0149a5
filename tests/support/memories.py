"""The caches of the function server, empty as when it starts, or such that keep nothing."""

from __future__ import annotations

import pytest

from modelplane_functions import wire
from modelplane_functions.memory import fragments, resources, structs


def empty(patch: pytest.MonkeyPatch) -> None:
    """Give the server empty caches."""
    patch.setattr(wire, "_MEMORY", resources.Memory(wire.REMEMBERED_BYTES))
    patch.setattr(wire, "_COMPOSITES", resources.Memory(wire.COMPOSITE_BYTES))
    patch.setattr(wire, "_STRUCTS", structs.Structs(wire.WRITTEN_BYTES))
    patch.setattr(wire, "_FRAGMENTS", fragments.Fragments())


def none(patch: pytest.MonkeyPatch) -> None:
    """Let the server keep nothing."""
    patch.setattr(wire, "_MEMORY", resources.Memory(0))
    patch.setattr(wire, "_COMPOSITES", resources.Memory(0))
    patch.setattr(wire, "_STRUCTS", structs.Structs(0))
    patch.setattr(wire, "_FRAGMENTS", fragments.Fragments(parts=0))
