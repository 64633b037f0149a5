"""A service with everything around it, as the API server would hold it once every composer has run."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import Any

from modelplane_functions import registry
from modelplane_functions.exchange import Ready
from tests.support import routing
from tests.support.exchange import settle

Json = Any


def objects(service: Json, endpoints: Sequence[Json], *, gateway: Json | None = None) -> list[Json]:
    """Return every object that the composers of these documents emit, composed until nothing changes."""
    door = gateway or routing.inference_gateway()
    store = [door, *endpoints]
    emitted: list[Json] = []
    for document in (door, *endpoints, service):
        emitted += [
            child for child in _composed(document, store).values() if "crossplane.io" not in child["apiVersion"]
        ]
    return emitted


def secret(name: str, data: Mapping[str, str], *, namespace: str = routing.NAMESPACE) -> Json:
    """Return a Secret as the API server holds it."""
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": name, "namespace": namespace},
        "data": {key: base64.b64encode(value.encode()).decode() for key, value in data.items()},
    }


def _composed(document: Json, store: Sequence[Json]) -> dict[str, Json]:
    compose = registry.composer(document["apiVersion"], document["kind"]).load()
    children: dict[str, Json] = {}
    for _ in range(6):
        outcome = settle(compose, document, children=children, store=store)
        applied = routing.observed(outcome)
        if applied == children:
            assert outcome.ready is Ready.TRUE, [f"{each.type}: {each.message}" for each in outcome.conditions]
            return {
                key: {"apiVersion": child["apiVersion"], "kind": child["kind"], **_bare(child)}
                for key, child in children.items()
            }
        children = applied
    raise AssertionError("the composer does not come to rest")


def _bare(child: Json) -> Json:
    metadata = {key: child["metadata"][key] for key in ("name", "namespace", "labels") if key in child["metadata"]}
    return {"metadata": metadata, **{part: child[part] for part in ("spec", "data") if part in child}}
