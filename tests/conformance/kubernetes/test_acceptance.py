"""The real API server accepts every example, and refuses what the refusal tables hold with the promised words."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from modelplane.api import gateway as gateways
from modelplane.render import gateway as rendering
from modelplane.structural import Cause
from tests.conformance.crd import case as case_form
from tests.conformance.crd import cases, documents
from tests.support import controlplane, installation, kubeapi, routing

Json = Any

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
OURS = "modelplane.ai/v1alpha1"

# Two findings name their field in the text only.
_IN_TEXT = (
    re.compile(r"Checked value must be of type integer .* in (.*)$"),
    re.compile(r'"(.*)" must validate at least one schema \(anyOf\)$'),
)

# Accepted by the schema (and by our offline admission), refused by what stands behind the definition: the scale
# subresource reads its field with an accessor that knows no floats. YAML tools send 2 for 2.0; raw JSON arrives here.
REFUSED_BEHIND_THE_SCHEMA = {"whole-float": ".spec.replicas accessor error: 2 is of the type float64, expected int64"}


def _examples() -> list[Any]:
    return [
        pytest.param(one, id=f"{file.relative_to(EXAMPLES)}-{one['kind']}-{one['metadata']['name']}")
        for file in sorted(EXAMPLES.rglob("*.yaml"))
        for one in installation.documents(file)
        if one.get("apiVersion") == OURS  # settings of other programs are no objects
    ]


def _namespace_of(plane: controlplane.Plane, document: Json) -> None:
    if namespace := document["metadata"].get("namespace"):
        installation.namespace(plane, namespace)


@pytest.mark.parametrize("example", _examples())
def test_example_is_accepted_and_applying_it_again_changes_nothing(plane: controlplane.Plane, example: Json) -> None:
    _namespace_of(plane, example)
    if "uid" in (given := example["metadata"]):  # of an object as it was observed; only the server gives one
        example = {**example, "metadata": {key: value for key, value in given.items() if key != "uid"}}
    try:
        first = plane.api.apply(example)
        again = plane.api.apply(example)
    finally:
        plane.api.delete(example)  # another example may hold one of the same name
    assert again == first


def test_the_policy_on_the_proxies_is_accepted(plane: controlplane.Plane) -> None:
    """Every network that is excepted must be one, and lie inside the block it is excepted from."""
    endpoints = {
        "deniedCIDRs": ["10.96.0.0/12", "2001:db8::/32", "fd00:10:96::/112"],
        "networkPolicy": {"enabled": True, "namespace": "gateways"},
    }
    gateway = gateways.decode(routing.inference_gateway(endpoints=endpoints))
    (policy,) = rendering.proxy_policy(gateway)
    installation.namespace(plane, "gateways")
    stored = plane.api.apply(dict(policy.resource))
    assert stored["spec"] == policy.resource["spec"]


@pytest.mark.parametrize("case", cases.REFUSED, ids=lambda case: case.id)
def test_refused_with_the_promised_words(plane: controlplane.Plane, case: case_form.Case) -> None:
    refusal = _refusal(plane, case.document(), case.previous())
    assert refusal is not None, "the API server accepts it"
    assert any(_path(cause) == case.path and _says(cause, case.says) for cause in refusal.causes), refusal.causes


@pytest.mark.parametrize("fine", cases.ACCEPTED, ids=lambda fine: fine.id)
def test_accepted(plane: controlplane.Plane, fine: case_form.Fine) -> None:
    old = None if fine.old is None else documents.document(fine.kind, *fine.old)
    refusal = _refusal(plane, documents.document(fine.kind, *fine.changes), old)
    if fine.id in REFUSED_BEHIND_THE_SCHEMA:
        assert refusal is not None, "no longer refused: strike it from the table"
        assert REFUSED_BEHIND_THE_SCHEMA[fine.id] in refusal.message
    else:
        assert refusal is None, refusal


def _refusal(plane: controlplane.Plane, document: Json, old: Json) -> kubeapi.Refused | None:
    """Return how the server refuses a document (a change of `old`, where there is one), None where it accepts it."""
    _namespace_of(plane, document)
    collection = plane.api.path_of(document).rsplit("/", 1)[0]
    # As kubectl without --validate: unknown fields are dropped with a warning, which is what the tables are about.
    query = {"dryRun": "All", "fieldValidation": "Warn"}
    try:
        if old is None:
            plane.api.request("POST", collection, document, query=query)
        else:
            _change(plane, document, old)
    except kubeapi.Refused as refused:
        return refused
    return None


def _change(plane: controlplane.Plane, document: Json, old: Json) -> None:
    plane.api.delete(old)
    stored = plane.api.create(old)
    try:
        # What only the server knows must be as it was; the name is part of what a case may try to change.
        versioned = {**document, "metadata": {**document["metadata"], **_server_metadata(stored)}}
        plane.api.request("PUT", plane.api.path_of(old), versioned, query={"dryRun": "All", "fieldValidation": "Warn"})
    finally:
        plane.api.delete(old)


def _server_metadata(stored: Json) -> dict[str, Json]:
    return {key: stored["metadata"][key] for key in ("resourceVersion", "uid")}


def _path(cause: Json) -> str:
    named = next((match[1] for pattern in _IN_TEXT if (match := pattern.search(cause["message"]))), cause["field"])
    return re.sub(r"\[([^\]]*)\]", r".\1", named).replace('"', "").replace("<nil>", "").strip(".")


def _says(cause: Json, wanted: str | Cause) -> bool:
    if isinstance(wanted, Cause):
        return bool(cause["reason"] == wanted.value)
    return wanted in cause["message"]
