"""The problems that need several documents, and the refusals of functions for documents that every schema accepts.

Each composite is passed to its function once, together with all other documents. A reference to an object that is not
among the documents is a warning, because the control plane may have the object.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from modelplane import names
from modelplane.api import kinds
from modelplane.errors import InvalidInput, InvalidSelector, Unsupported
from modelplane_cli.checks.acceptance import Checked
from modelplane_cli.documents.reading import WARNING, Problem
from modelplane_cli.simulator.crossplane import Crossplane
from modelplane_cli.simulator.definitions import Definitions
from modelplane_cli.simulator.pipeline import Handed
from modelplane_cli.simulator.store import Store
from modelplane_functions import registry, responder
from modelplane_functions.exchange import Observed, Outcome


def check(checked: Checked, definitions: Definitions) -> list[Problem]:
    """Return the problems of documents that are valid by themselves.

    Cost: one call of its function per composite.
    """
    return list(dict.fromkeys([*_refused(checked, definitions), *_dangling(checked)]))


def _refused(checked: Checked, definitions: Definitions) -> Iterator[Problem]:
    store = Store()
    for key in sorted(checked.objects):
        store.put(dict(checked.objects[key]))
    ear = _Ear()
    crossplane = Crossplane(store, definitions, Handed(ear.answer))
    for key in crossplane.composites():
        crossplane.reconcile(key)
        fault, ear.fault = ear.fault, None
        if fault is None:
            continue
        document = checked.sources[key]
        if isinstance(fault, Unsupported):
            yield document.problem(fault.message)
        elif isinstance(fault, InvalidSelector):
            yield document.problem(fault.said, fault.path)
        else:
            yield document.problem(fault.message, fault.path)


@dataclass(slots=True)
class _Ear:
    """A recorder of a composer's refusal with its field, before it becomes text."""

    fault: InvalidInput | Unsupported | None = field(default=None)

    def answer(self, request: Any, **how: Any) -> Any:
        """Return the function's answer."""
        return responder.answer(request, find=self._find, **how)

    def _find(self, api_version: str, kind: str) -> registry.Composer:
        found = registry.composer(api_version, kind)
        return _Heard(found.module, found.condition, self)


@dataclass(frozen=True, slots=True)
class _Heard(registry.Composer):
    ear: _Ear

    def load(self) -> registry.Compose:
        """Return the composer with the recorder around it."""
        compose = registry.Composer(self.module, self.condition).load()

        def heard(observed: Observed) -> Outcome:
            try:
                return compose(observed)
            except (InvalidInput, Unsupported) as fault:
                self.ear.fault = fault
                raise

        return heard


def _dangling(checked: Checked) -> Iterator[Problem]:
    known: dict[str, list[str]] = {}
    for key in checked.objects:
        if key.group == names.GROUP:
            known.setdefault(key.kind, []).append(key.name)
    for key in sorted(checked.objects):
        kind = kinds.KINDS.get(key.kind) if key.group == names.GROUP else None
        for reference in kind.references if kind else ():
            # Without any document of that kind nothing is reported, because one file may be checked alone.
            there = known.get(reference.kind, [])
            for path, name in kinds.values_at(checked.objects[key], reference.path):
                if there and isinstance(name, str) and name and name not in there:
                    said = f"{reference.kind} {name} is not among the documents{_meant(name, there)}"
                    yield checked.sources[key].problem(said, path, WARNING)


def _meant(name: str, known: list[str]) -> str:
    close = difflib.get_close_matches(name, sorted(known), n=1, cutoff=0.6)
    return f"; did you mean {close[0]}?" if close else "; is it on the control plane?"
