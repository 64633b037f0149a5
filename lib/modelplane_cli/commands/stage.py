"""The preparation of a rehearsal: documents are read and checked, and problems are reported on standard error."""

from __future__ import annotations

import gc
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from modelplane_cli.checks import acceptance
from modelplane_cli.checks.acceptance import Checked
from modelplane_cli.documents import reading
from modelplane_cli.output import problem_lines, progress
from modelplane_cli.planning.rehearsal import Act, Rehearsal
from modelplane_cli.simulator import definitions
from modelplane_cli.simulator.store import Key

Json: TypeAlias = Any
Objects: TypeAlias = Mapping[Key, Mapping[str, Json]]

_LITTER = 1_000_000
"""Objects made and not let go before cycles among them are looked for; at most some hundred megabytes."""


@dataclass(frozen=True, slots=True)
class Stage:
    """The kinds of the API, and the progress line."""

    kinds: definitions.Definitions
    told: progress.Progress

    @classmethod
    def empty(cls) -> Stage:
        """Return a stage with the kinds as they are installed.

        A world is millions of small objects that stay, and looking through them for cycles took a fifth of a command.
        """
        gc.set_threshold(_LITTER)
        return cls(definitions.builtin(), progress.Progress())

    def objects(self, given: reading.Input, namespace: str) -> Objects | None:
        """Return the objects that an API server would store, None when it would refuse one. Problems are reported."""
        checked = self.checked(given, namespace)
        return None if checked is None else checked.objects

    def checked(self, given: reading.Input, namespace: str) -> Checked | None:
        """Return the same with the document of each object."""
        checked = acceptance.check(given.documents, self.kinds, namespace)
        problems = (*given.problems, *checked.problems)
        problem_lines.write(problems)
        return None if reading.has_errors(problems) else checked

    def rehearsal(self, objects: Objects) -> Rehearsal:
        """Return the objects with the real functions around them."""
        # protobuf and gRPC load only once the input is known to be good
        from modelplane_cli.simulator.pipeline import Handed  # noqa: PLC0415 - as said
        from modelplane_functions import responder  # noqa: PLC0415 - as said

        return Rehearsal(objects, self.kinds, Handed(responder.answer), self.told)

    def settle(self, rehearsal: Rehearsal) -> Act:
        """Return the settled act. The progress line is removed afterwards."""
        try:
            return rehearsal.settle()
        finally:
            self.told.done()
