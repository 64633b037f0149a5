"""The capability tables, walked: what a table claims is checked and rendered, and everything else is refused.

Engine, shape of a worker, prefill and decode apart, claim of devices, source of the weights and cache are combined;
what an engine itself cannot do is listed here with its reason.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest

from modelplane.devices.model import Claim
from modelplane.errors import InvalidInput, Unsupported
from modelplane.render.backend import Capabilities, Shape
from modelplane.render.backends import selection
from modelplane.render.manifest import Purpose
from modelplane.workload import cached
from modelplane.workload.model import EngineType, Model, Replica
from tests.support import any_backend, kserve

DOCUMENT: Final = Path(__file__).parents[3] / "docs" / "backends.md"
SHAPES: Final = {
    Shape.SINGLE_NODE: "tensor",
    Shape.PIPELINE: "pipeline",
    Shape.DATA: "data over nodes",
    Shape.PIPELINE_AND_DATA: "both",
}
CLAIMS: Final = (Claim.DRA, Claim.DEVICE_PLUGIN, Claim.SYNTHETIC)
URIS: Final = {
    "hf": "hf://a/b",
    "pvc": "pvc://weights/llama",
    "s3": "s3://bucket/llama",
    "gs": "gs://bucket/llama",
    "oci": "oci://registry.example.com/llama:1",
}
KEY, URI = "0123456789abcdef", f"hf://a/b:{'a' * 40}"
CACHES: Final[Mapping[str, Mapping[str, Any]]] = {
    "none": {},
    "in a claim": {"model_cache": "llama", "cache_key": KEY},
    "on nodes": {"model_cache": "llama", "cache_key": KEY, "cache_uri": URI},
}
ENGINES: Final = {
    "KServe": set(EngineType),
    "LLMD": set(EngineType),
    "Native": set(EngineType),
    "KAITO": set(EngineType),
    "KubeRay": {EngineType.VLLM},
    "VLLMStack": {EngineType.VLLM},
    "Dynamo": {EngineType.VLLM, EngineType.SGLANG, EngineType.TRTLLM},
}
"""The engines on one node, as docs/backends.md has them."""

every_backend = pytest.mark.parametrize("backend", any_backend.NAMES)


def _of(backend: str, shape: Shape, claim: Claim, *, is_apart: bool) -> Iterator[Replica]:
    for one in any_backend.plain(backend):
        made = any_backend.claimed(claim)(any_backend.FEATURES[SHAPES[shape]](one))
        yield any_backend.apart(made) if is_apart else made


def _is_claimed(can: Capabilities, replica: Replica, shape: Shape, claim: Claim) -> bool:
    spans = shape is not Shape.SINGLE_NODE
    return (
        shape in can.shapes
        and (not spans or replica.engine in can.gangs)
        and (not replica.is_disaggregated or replica.engine in can.disaggregated)
        and claim in can.claims
    )


def _check(replica: Replica) -> None:
    """Check and render a replica. Raises: InvalidInput or Unsupported, with the reason."""
    workload = any_backend.workload(replica)
    selection.check(replace(workload, cache_key=replica.cache_key, cache_uri=replica.cache_uri), replica.backend)
    claims = {device.claim for bound in replica.roles for device in bound.devices}
    if not claims <= selection.claims(replica.backend):
        raise Unsupported("its pods cannot claim these devices", reason="NoMatchingDevice")
    manifests = selection.backend(replica.backend).render(cached.mounted(replica), kserve.FACTS)
    assert any(one.purpose is Purpose.WORKLOAD for one in manifests)
    assert any(one.purpose is Purpose.ROUTE for one in manifests)


def _excuse(replica: Replica, shape: Shape, claim: Claim) -> str:
    """Return why the engine or its wiring cannot do what the table leaves to it, empty without a reason."""
    if replica.backend == "Dynamo" and shape is not Shape.SINGLE_NODE and claim is Claim.SYNTHETIC:
        return "the operator counts the devices of a node to wire vLLM" if replica.engine is EngineType.VLLM else ""
    return ""


@every_backend
def test_every_engine_of_the_table_is_taken(backend: str) -> None:
    assert {one.engine for one in any_backend.plain(backend)} == ENGINES[backend]


@every_backend
@pytest.mark.parametrize("is_apart", [False, True], ids=["one role", "apart"])
@pytest.mark.parametrize("claim", CLAIMS, ids=str)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_a_shape_is_rendered_where_the_table_claims_it(
    backend: str,
    shape: Shape,
    claim: Claim,
    is_apart: bool,  # noqa: FBT001
) -> None:
    can = selection.backend(backend).CAPABILITIES
    for replica in _of(backend, shape, claim, is_apart=is_apart):
        if _is_claimed(can, replica, shape, claim) and not _excuse(replica, shape, claim):
            _check(replica)
        else:
            with pytest.raises((InvalidInput, Unsupported)):
                _check(replica)


@every_backend
@pytest.mark.parametrize(("scheme", "files"), list(itertools.product(URIS, CACHES)))
def test_weights_are_loaded_where_the_table_claims_it(backend: str, scheme: str, files: str) -> None:
    can = selection.backend(backend).CAPABILITIES
    for one in any_backend.plain(backend):
        replica = replace(one, model=Model("llama", URIS[scheme]), **CACHES[files])
        of_cache = {"none": True, "in a claim": "pvc" in can.schemes, "on nodes": can.has_node_files}[files]
        is_taken = (scheme in can.schemes if files == "none" else scheme != "pvc") and of_cache
        if is_taken:
            _check(replica)
        else:
            with pytest.raises((InvalidInput, Unsupported)):
                _check(replica)


# --- the table that users read ----------------------------------------------------------------------------------------


def _row(name: str) -> dict[str, str]:
    """Return a row of the table by backend."""
    text = DOCUMENT.read_text()
    head = next(line for line in text.splitlines() if line.startswith("| | KServe |"))
    row = next(line for line in text.splitlines() if line.startswith(f"| {name}"))
    backends, cells = ([cell.strip() for cell in line.strip("| ").split("|")] for line in (head, row))
    return dict(zip(backends, cells[1:], strict=True))


@every_backend
def test_the_page_has_the_schemes_of_the_table(backend: str) -> None:
    said = set(re.findall(r"`(\w+)://`", _row("`model.uri`")[backend]))
    assert said == selection.backend(backend).CAPABILITIES.schemes


@every_backend
def test_the_page_says_who_can_part_prefill_and_decode(backend: str) -> None:
    can = selection.backend(backend).CAPABILITIES
    assert (_row("prefill and decode apart")[backend] == "no") == (not can.disaggregated)


@every_backend
def test_the_page_says_who_can_span_nodes(backend: str) -> None:
    can = selection.backend(backend).CAPABILITIES
    assert (_row("over nodes")[backend] == "no") == (can.shapes == {Shape.SINGLE_NODE})
    assert _row("`pipeline` and `data` both")[backend].startswith("yes") == (Shape.PIPELINE_AND_DATA in can.shapes)


@every_backend
def test_the_page_says_how_devices_are_claimed(backend: str) -> None:
    assert _row("devices")[backend].startswith("DRA") == (Claim.DRA in selection.claims(backend))
