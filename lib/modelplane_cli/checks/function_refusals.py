"""The problems that need several documents, and the refusals of functions for documents that every schema accepts.

Each composite is passed to its function once, together with all other documents.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from modelplane import names
from modelplane.api import backend_rules
from modelplane.errors import InvalidInput, InvalidSelector, ModelplaneError, NoCapableBackend, Unsupported
from modelplane.render.backends import preference
from modelplane_cli.checks import clouds
from modelplane_cli.checks.acceptance import Checked
from modelplane_cli.documents.reading import Document, Problem
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
    return list(dict.fromkeys([*_refused(checked, definitions), *_rules(checked), *clouds.check(checked)]))


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
        yield from _said(checked.sources[key], fault)


def _said(document: Document, fault: ModelplaneError, backend: str = "") -> Iterator[Problem]:
    """Yield a refusal at the field that it names; of a workload that no backend can run, one for each `backend`."""
    prefix = f"{backend}: " if backend else ""
    if isinstance(fault, NoCapableBackend):
        for name, refusal in fault.refusals.items():
            yield from _said(document, refusal, name)
    elif isinstance(fault, InvalidSelector):
        yield document.problem(f"{prefix}{fault.said}", fault.path)
    elif isinstance(fault, InvalidInput):
        yield document.problem(f"{prefix}{fault.message}", fault.path)
    else:
        yield document.problem(f"{prefix}{fault}")


def _rules(checked: Checked) -> Iterator[Problem]:
    """Yield the rules between backends that do not compile. Their function refuses each alone, and not the object."""
    for key in sorted(checked.objects):
        if (key.group, key.kind) != (names.GROUP, backend_rules.KIND):
            continue
        rules, _ = backend_rules.decode(checked.objects[key])
        for index, rule in enumerate(rules):
            try:
                preference.compiled(rule)
            except InvalidInput as error:
                said = f"rule {rule.text}: {error.message}"
                yield checked.sources[key].problem(said, ("spec", "rules", index, "when"))


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
