"""The notes on a replica's workload: arguments that were added, what an override has written, why it is not ready."""

from __future__ import annotations

from dataclasses import replace

from modelplane import names, seen
from modelplane.api import replica
from modelplane_cli.planning.explanation import Answer
from modelplane_cli.simulator.store import Key, Store


def told(answer: Answer, store: Store) -> Answer:
    """Return the answer with the arguments that were added for each replica, its overrides, and why it is not ready."""
    replicas = {
        one.replica.name: Key(names.GROUP, replica.KIND, answer.namespace, one.replica.name) for one in answer.standings
    }
    return replace(
        answer,
        arguments={name: _noted(store, key, names.ANNOTATION_ENGINE_ARGUMENTS) for name, key in replicas.items()},
        overrides={name: _noted(store, key, names.ANNOTATION_OVERRIDES) for name, key in replicas.items()},
        errors={name: _unready(store, key) for name, key in replicas.items()},
        scaling=_scaling(store, Key(names.GROUP, "ModelDeployment", answer.namespace, answer.name)),
    )


def _scaling(store: Store, key: Key) -> str:
    """Return the message of the condition about its scaler, empty without one."""
    condition = seen.condition((store.get(key) or {}).get("status"), "ScalerReady")
    reason, message = seen.text(condition.get("reason")), seen.text(condition.get("message"))
    if seen.verdict(condition) is True:
        return message
    return f"{reason}: {message}" if reason else ""


def _unready(store: Store, key: Key) -> str:
    """Return why workers are not ready, with the first useful error of their pods; empty where they are, or unknown."""
    condition = seen.condition((store.get(key) or {}).get("status"), "WorkloadReady")
    if seen.verdict(condition) is not False:
        return ""
    return f"{seen.text(condition.get('reason'))}: {seen.text(condition.get('message'))}"


def _noted(store: Store, key: Key, annotation: str) -> str:
    """Return the note on the workload among the replica's objects, empty while nothing is rendered."""
    for child in store.controlled_by(key):
        spec = (store.get(child) or {}).get("spec") or {}
        manifest = (spec.get("forProvider") or {}).get("manifest") or {}
        note = ((manifest.get("metadata") or {}).get("annotations") or {}).get(annotation)
        if note:
            return str(note)
    return ""
