"""The composer of a kind that only these tests know."""

from __future__ import annotations

from modelplane.render import objects
from modelplane.render.manifest import Manifest
from modelplane_functions.exchange import Child, Condition, Observed, Outcome, Ready, Truth


def compose(observed: Observed) -> Outcome:
    """Return the kite's one object on its cluster."""
    manifest = Manifest(
        "kite", {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "red", "namespace": "beach"}}
    )
    wrapped = objects.wrap(
        manifest,
        provider_config={"kind": "ClusterProviderConfig", "name": "other-name"},
        namespace=observed.namespace,
        owner=observed.name,
    )
    return Outcome(
        children={"kite": Child(wrapped, Ready.TRUE)},
        conditions=(Condition("Flying", Truth.TRUE, "Wind"),),
        ready=Ready.TRUE,
    )
