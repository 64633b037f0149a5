"""The arguments of a replica's engine that its author did not write, as its renderer noted them."""

from __future__ import annotations

from dataclasses import replace

from modelplane import names
from modelplane.api import replica
from modelplane_cli.planning.explanation import Answer
from modelplane_cli.simulator.store import Key, Store


def told(answer: Answer, store: Store) -> Answer:
    """Return the answer with the arguments that were added for each replica."""
    replicas = [one.replica.name for one in answer.standings]
    added = {name: _added(store, Key(names.GROUP, replica.KIND, answer.namespace, name)) for name in replicas}
    return replace(answer, arguments=added)


def _added(store: Store, key: Key) -> str:
    """Return the note on the workload among the replica's objects, empty while nothing is rendered."""
    for child in store.controlled_by(key):
        spec = (store.get(child) or {}).get("spec") or {}
        manifest = (spec.get("forProvider") or {}).get("manifest") or {}
        note = ((manifest.get("metadata") or {}).get("annotations") or {}).get(names.ANNOTATION_ENGINE_ARGUMENTS)
        if note:
            return str(note)
    return ""
