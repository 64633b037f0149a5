"""A kind added from outside: a definition, a composer, and one entry that describes it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from modelplane import names, structural
from modelplane.api import kinds, summary
from modelplane.api.kinds import Kind, Reference, SecretUse
from modelplane_cli.checks import references
from modelplane_cli.output import outline, tree
from modelplane_cli.simulator import offline
from modelplane_cli.simulator.definitions import Definition, Definitions
from modelplane_cli.simulator.offline import Assume, World
from modelplane_cli.simulator.store import key_of
from modelplane_functions import registry, responder

Json = Any
FREE = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


def _parts(resource: summary.Resource) -> Iterator[summary.Part]:
    yield summary.Part("string", f"{resource['spec']['length']} m")


KITE = Kind(
    "SkyKite",
    "Flying",
    lambda resource: f"{resource['spec']['colour']} kite",
    parts=_parts,
    references=(Reference(("spec", "cluster"), "InferenceCluster"),),
    secrets=(SecretUse(("spec", "permit"), "the permit to fly"),),
    cluster_of=lambda resource: (resource.get("spec") or {}).get("cluster"),
)
DEFINITION = Definition(
    structural.kind_of(
        {
            "spec": {
                "group": names.GROUP,
                "names": {"kind": "SkyKite"},
                "scope": "Namespaced",
                "versions": [
                    {
                        "name": "v1alpha1",
                        "storage": True,
                        "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": FREE, "status": FREE}}},
                    }
                ],
            }
        }
    ),
    {
        "metadata": {"name": "skykites.modelplane.ai"},
        "spec": {"mode": "Pipeline", "pipeline": [{"step": "compose", "functionRef": {"name": "function-modelplane"}}]},
    },
)


@pytest.fixture
def kite_world(monkeypatch: pytest.MonkeyPatch) -> World:
    """Return a settled world with one kite, asked of the real server through the real registry."""
    monkeypatch.setitem(kinds.KINDS, "SkyKite", KITE)
    monkeypatch.setattr(registry, "PACKAGES", [*registry.PACKAGES, "tests.unit.seams.composers"])
    kite = {
        "apiVersion": names.API_VERSION,
        "kind": "SkyKite",
        "metadata": {"name": "red", "namespace": "beach"},
        "spec": {"colour": "red", "length": 40, "cluster": "gke-us", "permit": {"name": "permit", "key": "text"}},
    }
    return offline.build({key_of(kite): kite}, Definitions([DEFINITION]), responder.answer, Assume.READY)


def test_it_is_composed_and_its_object_stands_on_the_cluster_it_names(kite_world: World) -> None:
    text = outline.text(tree.trees(kite_world))
    assert "SkyKite red" in text
    assert "red kite" in text
    assert "string" in text
    assert "40 m" in text
    assert "on gke-us" in text
    assert "ConfigMap beach/red" in text


def test_its_secret_is_looked_for(kite_world: World) -> None:
    (missing,) = references.missing_secrets(kite_world)
    assert "the permit to fly" in str(missing)


def test_the_module_of_a_kind_is_named_after_it() -> None:
    assert [kind.module for kind in (KITE, *kinds.KINDS.values())][:4] == [
        "sky_kite",
        "llm_inference",
        "model_service",
        "model_deployment",
    ]
