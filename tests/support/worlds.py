"""Small worlds of made-up kinds, to test the offline Crossplane apart from what our composers decide."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from modelplane import structural
from modelplane_cli.simulator import conditions, offline
from modelplane_cli.simulator.definitions import Definition, Definitions
from modelplane_cli.simulator.offline import Assume, World
from modelplane_cli.simulator.pipeline import Function
from modelplane_cli.simulator.store import Key, key_of
from modelplane_functions import responder
from modelplane_functions.exchange import Child, Observed, Outcome, Ready

Json = Any
Compose = Callable[[Observed], Outcome]

GROUP = "example.org"
API_VERSION = f"{GROUP}/v1"


@dataclass(frozen=True)
class Composer:
    """A composer as the registry returns one."""

    compose: Compose
    condition: str = "Accepted"

    def load(self) -> Compose:
        return self.compose


def definition(kind: str, *, namespaced: bool = True, composed: bool = True, spec: Json = None) -> Definition:
    """Return a composite kind whose spec and status are free, or as `spec` describes it."""
    free = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    plural = f"{kind.lower()}s"
    served = structural.kind_of(
        {
            "spec": {
                "group": GROUP,
                "names": {"kind": kind},
                "scope": "Namespaced" if namespaced else "Cluster",
                "versions": [
                    {
                        "name": "v1",
                        "storage": True,
                        "schema": {
                            "openAPIV3Schema": {"type": "object", "properties": {"spec": spec or free, "status": free}}
                        },
                    }
                ],
            }
        }
    )
    composition = {
        "metadata": {"name": f"{plural}.{GROUP}"},
        "spec": {"mode": "Pipeline", "pipeline": [{"step": "compose", "functionRef": {"name": "f"}}]},
    }
    return Definition(served, composition if composed else None)


def resource(kind: str, name: str, namespace: str | None = "ns", **parts: Json) -> dict[str, Json]:
    """Return an object of a made-up kind; `api_version`, `labels` and the like go where they belong."""
    metadata: dict[str, Json] = {"name": name}
    if namespace:
        metadata["namespace"] = namespace
    for part in ("labels", "annotations", "ownerReferences", "uid"):
        if part in parts:
            metadata[part] = parts.pop(part)
    return {"apiVersion": parts.pop("api_version", API_VERSION), "kind": kind, "metadata": metadata, **parts}


def function(composers: Mapping[str, Compose]) -> Function:
    """Return the real servicer over made-up composers."""

    def find(_api_version: str, kind: str) -> Any:
        return Composer(composers[kind])

    return lambda request: responder.answer(request, find=find)


def world(
    objects: list[dict[str, Json]],
    composers: Mapping[str, Compose],
    definitions: list[Definition] | None = None,
    assume: Assume = Assume.NOTHING,
) -> World:
    """Return the settled world of `objects`; every composer's kind is namespaced unless defined otherwise."""
    kinds = Definitions(definitions or [definition(kind) for kind in composers])
    given = {key_of(one): one for one in objects}
    return offline.build(given, kinds, function(composers), assume)


def key(kind: str, name: str, namespace: str = "ns", group: str = GROUP) -> Key:
    """Return the identity of a made-up object."""
    return Key(group, kind, namespace, name)


def get(settled: World, kind: str, name: str, namespace: str = "ns", group: str = GROUP) -> Json:
    """Return an object that must exist."""
    found = settled.store.get(Key(group, kind, namespace, name))
    assert found is not None, f"no {kind} {namespace}/{name}"
    return found


def thing(name: str | None = "child", spec: Json = None, **metadata: Json) -> dict[str, Json]:
    """Return a resource that nothing defines, to be composed; with no name unless one is given."""
    made: dict[str, Json] = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": dict(metadata)}
    if name:
        made["metadata"]["name"] = name
    if spec is not None:
        made["spec"] = spec
    return made


def composes(*children: tuple[str, dict[str, Json]], ready: Ready = Ready.TRUE, **rest: Json) -> Compose:
    """Return a composer that answers with the same children, by key, whatever it observes."""
    outcome = Outcome(children={name: Child(body, ready) for name, body in children}, **rest)
    return lambda _observed: outcome


def condition(settled: World, kind: str, name: str = "x") -> tuple[str, str, str]:
    """Return the status, the reason and the message of a condition of the composite `name`."""
    found = conditions.find(get(settled, "Top", name), kind)
    assert found is not None, f"no condition {kind}"
    return found["status"], found["reason"], found.get("message", "")


def child(settled: World, name: str = "child", namespace: str = "ns") -> Json:
    """Return a composed `thing` as it is in the store."""
    return get(settled, "ConfigMap", name, namespace, group="")
