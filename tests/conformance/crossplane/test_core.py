"""Crossplane's own core on our running server: what `modelplane render` shows is what Crossplane does.

`modelplane render` settles each example offline. Here one reconcile of the real core is run for every composite of that
settled world. It must find nothing to change and nothing to delete; and it must delete nothing when an input is gone.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import pytest
import yaml
from google.protobuf import json_format

from modelplane.api import catalogue
from modelplane_cli.simulator import assumption
from modelplane_functions import responder
from tests.support import crossplane, examples, functionserver, gobinaries, kubeapi, live, requests

Document = dict[str, Any]

SUITE = "crossplane-core"
FUNCTION = "function-modelplane"
# Nothing there serves the kinds of the clouds' providers (tests/conformance/clouds has them).
EXAMPLES = [one for one in examples.fleets() if one not in examples.created()]
# The core's in-memory client takes every kind for namespaced; these are not, and a namespaced composite must not
# have them.
CLUSTER_SCOPED = frozenset({"GatewayClass", "ClusterProviderConfig", "ClusterUsage", "Namespace", "ClusterRole"})
# Conditions of the core itself: one says how busy its watches are, and nothing about us.
NOT_COMPARED = frozenset({"Responsive"})
# What whoever composes an object says in its metadata; the rest is the API server's.
OWN_METADATA = ("name", "namespace", "labels", "annotations", "ownerReferences", "finalizers")


@dataclass(frozen=True)
class World:
    """A settled example: every object that would exist."""

    objects: tuple[Document, ...]

    def composites(self) -> list[Document]:
        return [one for one in self.objects if one["kind"] in compositions()]

    def children(self, composite: Document) -> list[Document]:
        uid = composite["metadata"]["uid"]
        return [
            one
            for one in self.objects
            if any(ref["uid"] == uid and ref.get("controller") for ref in one["metadata"].get("ownerReferences", []))
        ]

    def others(self, composite: Document) -> list[Document]:
        return [one for one in self.objects if crossplane.identity(one) != crossplane.identity(composite)]


@cache
def compositions() -> dict[str, Document]:
    """Return our Compositions by the kind they compose."""
    paths = sorted((gobinaries.REPOSITORY / "apis").glob("*/composition.yaml"))
    documents = [yaml.safe_load(path.read_text()) for path in paths]
    return {one["spec"]["compositeTypeRef"]["kind"]: one for one in documents}


@cache
def world(example: str) -> World:
    folder = gobinaries.REPOSITORY / "examples" / example
    done = subprocess.run(
        [sys.executable, "-m", "modelplane_cli", "render", str(folder), "-o", "json"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == int(example in examples.REFUSING), done.stderr
    return World(tuple(json.loads(done.stdout)["items"]))


@pytest.fixture(scope="module")
def target() -> Iterator[str]:
    live.needs(SUITE, "go")
    crossplane.binary()
    with functionserver.running(["--insecure"]) as server:
        yield server.target


def reconcile(
    target: str, composite: Document, *, observed: list[Document], required: list[Document]
) -> crossplane.Rendered:
    return crossplane.render(
        composite,
        compositions()[composite["kind"]],
        functions={FUNCTION: target},
        observed=observed,
        required=required,
    )


def difference(applied: Any, shown: Any, path: str = "") -> list[str]:
    """Return where the two differ, in either direction."""
    if isinstance(applied, Mapping) and isinstance(shown, Mapping):
        keys = sorted(applied.keys() | shown.keys())
        return [text for key in keys for text in difference(_at(applied, key), _at(shown, key), f"{path}.{key}")]
    if isinstance(applied, list) and isinstance(shown, list) and len(applied) == len(shown):
        pairs = enumerate(zip(applied, shown, strict=True))
        return [text for index, (one, two) in pairs for text in difference(one, two, f"{path}[{index}]")]
    return [] if applied == shown else [f"{path}: Crossplane applies {applied!r}, we showed {shown!r}"]


def _at(found: Mapping[str, Any], key: str) -> Any:
    return found.get(key, "nothing")


def stored(document: Document) -> Document:
    """Return a composed object as the API server would keep it: one of ours with the defaults of its definition."""
    if document["kind"] not in catalogue.kinds():
        return document
    return dict(catalogue.structural_kind(document["kind"]).stored(document))


def owned(document: Document) -> Document:
    """Return what a composed object says: without its status, what others write, and our mark on what is assumed."""
    metadata = document["metadata"]
    kept = {key: metadata[key] for key in OWN_METADATA if key in metadata}
    kept["annotations"] = {key: value for key, value in metadata["annotations"].items() if key != assumption.ANNOTATION}
    spec = document.get("spec", {})
    if document["kind"] in compositions():
        # A composite's own reconciler writes there, not whoever composed it.
        spec = {key: value for key, value in spec.items() if key != "crossplane"}
    return {**{key: value for key, value in document.items() if key != "status"}, "metadata": kept, "spec": spec}


def said(document: Document) -> dict[str, Any]:
    """Return a composite's status with its conditions by type, without times."""
    status = document.get("status", {})
    conditions = {
        one["type"]: (one["status"], one["reason"], one.get("message", ""))
        for one in status.get("conditions", [])
        if one["type"] not in NOT_COMPARED
    }
    return {**status, "conditions": conditions}


@pytest.mark.parametrize(
    ("shown", "expected"),
    [
        pytest.param({"spec": {"a": [1, {"b": 2}]}}, [], id="alike"),
        pytest.param({"spec": {"a": [1, {}]}}, [".spec.a[1].b"], id="we lack a field"),
        pytest.param({"spec": {"a": [1, {"b": 2}], "c": None}}, [".spec.c"], id="we add a field"),
        pytest.param({"spec": {"a": [1, {"b": 2}, 3]}}, [".spec.a"], id="we add an item"),
        pytest.param({"spec": {"a": [1, {"b": "2"}]}}, [".spec.a[1].b"], id="another value"),
    ],
)
def test_the_comparison_looks_both_ways(shown: Document, expected: list[str]) -> None:
    found = difference({"spec": {"a": [1, {"b": 2}]}}, shown)
    assert [text.split(":")[0] for text in found] == expected


@pytest.mark.parametrize("example", EXAMPLES)
def test_what_is_shown_is_what_crossplane_does(target: str, example: str) -> None:
    settled = world(example)
    assert settled.composites()
    for composite in settled.composites():
        name = f"{composite['kind']} {composite['metadata']['name']}"
        children = settled.children(composite)
        result = reconcile(target, composite, observed=children, required=settled.others(composite))
        assert result.fatal is None, name
        assert result.deleted == [], name
        shown = {crossplane.identity(one): one for one in children}
        assert [crossplane.identity(one) for one in result.composed] == sorted(shown), name
        differing = [
            text
            for one in result.composed
            for text in difference(
                owned(stored(one)), owned(shown[crossplane.identity(one)]), f"{one['kind']} {one['metadata']['name']}"
            )
        ]
        assert differing == [], name
        assert said(result.composite) == said(composite), name
        assert asked_by_core(result) == asked_offline(composite, children, settled.others(composite)), name


def asked_by_core(result: crossplane.Rendered) -> set[str]:
    """Return what the core was asked for, one line per requirement."""
    return {json.dumps(_selector(one), sort_keys=True) for one in result.requirements}


def asked_offline(composite: Document, children: list[Document], others: list[Document]) -> set[str]:
    """Return what the function asks for offline, over the same objects."""
    keyed = {one["metadata"]["annotations"][crossplane.KEY_ANNOTATION]: one for one in children}
    response, _ = requests.settle(responder.answer, requests.request(composite, children=keyed), others)
    asked = [json_format.MessageToDict(one) for one in response.requirements.resources.values()]
    return {json.dumps(_selector(one), sort_keys=True) for one in asked}


def _selector(one: Document) -> Document:
    """Return a requirement without what says nothing: an empty name, no labels."""
    labels = (one.get("matchLabels") or {}).get("labels") or {}
    named = {key: one.get(key) for key in ("apiVersion", "kind", "namespace", "matchName") if one.get(key)}
    return {**named, "labels": dict(sorted(labels.items()))}


@pytest.mark.parametrize("example", EXAMPLES)
def test_a_namespaced_composite_composes_nothing_cluster_scoped(target: str, example: str) -> None:
    settled = world(example)
    for composite in settled.composites():
        if composite["metadata"].get("namespace"):
            kinds = {child["kind"] for child in settled.children(composite)}
            assert not kinds & CLUSTER_SCOPED, composite["kind"]


def losses(result: crossplane.Rendered, children: list[Document]) -> list[tuple[str, ...]]:
    """Return what would be deleted, but for replicas that no cluster admitted: these are proposed again elsewhere."""
    proposed = {
        crossplane.identity(one)
        for one in children
        if one["kind"] == "ModelReplica" and kubeapi.condition(one, "Admitted").get("status") == "False"
    }
    return [found for one in result.deleted if (found := crossplane.identity(one)) not in proposed]


def required_kinds(result: crossplane.Rendered) -> list[str]:
    return sorted({one["kind"] for one in result.requirements})


@pytest.mark.parametrize("example", EXAMPLES)
def test_law_nothing_is_deleted_when_an_input_is_gone(target: str, example: str) -> None:
    """Hold, don't drop: take away all objects of one required kind at a time and look at what the core would delete."""
    settled = world(example)
    broken = 0
    for composite in settled.composites():
        children, others = settled.children(composite), settled.others(composite)
        asked = required_kinds(reconcile(target, composite, observed=children, required=others))
        for kind in asked:
            left = [one for one in others if one["kind"] != kind]
            result = reconcile(target, composite, observed=children, required=left)
            name = f"{composite['kind']} {composite['metadata']['name']} without any {kind}"
            assert losses(result, children) == [], name
            broken += 1
    assert broken, "no composite requires anything: this test would prove nothing"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        pytest.param(("nodeSelector", "cel"), "device.capcity['x'].memory > 1", id="selector-mistyped"),
        pytest.param(("nodeSelector", "cel"), "device.driver ==", id="selector-cut-short"),
        pytest.param(("workers", "topology", "tensor"), 16, id="a-shape-no-node-has"),
        pytest.param(("backend",), "KAITO", id="another-backend"),
        pytest.param(("modelCacheRef",), {"name": "nowhere"}, id="a-cache-that-is-not-there"),
    ],
)
def test_law_a_wrong_edit_deletes_nothing(target: str, field: tuple[str, ...], value: Any) -> None:
    settled = world("quickstart")
    (deployment,) = [one for one in settled.composites() if one["kind"] == "ModelDeployment"]
    edited: Document = json.loads(json.dumps(deployment))
    where = edited["spec"]
    for key in field[:-1]:
        where = where[key]
    where[field[-1]] = value
    result = reconcile(target, edited, observed=settled.children(deployment), required=settled.others(deployment))
    assert [crossplane.identity(one) for one in result.deleted] == []
    truths = {one["status"] for one in result.composite["status"]["conditions"]}
    assert truths & {"False", "Unknown"}, "a wrong edit must be said"


def test_an_unknown_kind_is_fatal_and_says_why(target: str) -> None:
    composite = {"apiVersion": "modelplane.ai/v1alpha1", "kind": "Gadget", "metadata": {"name": "x", "namespace": "ns"}}
    composition = {
        **compositions()["ModelDeployment"],
        "metadata": {"name": "gadgets"},
        "spec": {
            "mode": "Pipeline",
            "compositeTypeRef": {"apiVersion": "modelplane.ai/v1alpha1", "kind": "Gadget"},
            "pipeline": [{"step": "compose", "functionRef": {"name": FUNCTION}}],
        },
    }
    result = crossplane.render(composite, composition, functions={FUNCTION: target})
    assert result.fatal is not None
    assert "Kind=Gadget" in result.fatal
    assert result.condition("Accepted")["reason"] == "UnknownKind"
    assert result.condition("Synced")["status"] == "False"
