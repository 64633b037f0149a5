"""The composers by kind.

A composer's module is imported by the first request for its kind, or by `prepare` once the server listens. The server
therefore listens at once, and a fault in one composer affects no other kind.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import TypeAlias, cast

from modelplane import names
from modelplane.api import kinds
from modelplane.errors import Unsupported
from modelplane_functions.exchange import Observed, Outcome

Compose: TypeAlias = Callable[[Observed], Outcome]

PACKAGES = ["modelplane_functions.compose"]
"""The packages with one module per kind, named after it. The first package that has the module wins."""


@dataclass(frozen=True, slots=True)
class Composer:
    """The composer of a kind: its module, and the condition that reports a refusal."""

    module: str
    condition: str

    def load(self) -> Compose:
        """Return the module's `compose`.

        Raises: Unsupported when this build has no such module. An error inside the module is a bug and is not caught.
        """
        return cast(Compose, self._module().compose)

    def prepare(self) -> None:
        """Load the module and prepare it for its first call. Raises: as `load`."""
        prepare = getattr(self._module(), "prepare", None)
        if prepare is not None:
            prepare()

    def _module(self) -> ModuleType:
        for path in (f"{package}.{self.module}" for package in PACKAGES):
            try:
                return importlib.import_module(path)
            except ModuleNotFoundError as error:
                if error.name != path:
                    raise
        raise Unsupported(f"this build of the function has no composer {self.module!r}; install a release that has it")


def composers() -> Mapping[str, Composer]:
    """Return the composer of every kind by the kind's name."""
    return {name: found for name in kinds.KINDS if (found := find(name)) is not None}


def find(kind: str) -> Composer | None:
    """Return the composer of the kind of this name, None if there is none."""
    found = kinds.KINDS.get(kind)
    return None if found is None else Composer(found.module, found.condition)


def composer(api_version: str, kind: str) -> Composer:
    """Return the composer of a kind.

    Raises: Unsupported for an unknown kind. The message lists the known kinds.
    """
    found = find(kind) if api_version == names.API_VERSION else None
    if found is not None:
        return found
    asked = f"{api_version}, Kind={kind}" if kind else "a request without a composite resource"
    raise Unsupported(
        f"this function does not compose {asked}; it composes {names.API_VERSION} {', '.join(sorted(composers()))}; "
        "name another function in the Composition's pipeline",
        reason="UnknownKind",
    )
