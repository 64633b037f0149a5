"""What holds for every shape that a backend which renders pods of its own takes."""

from __future__ import annotations

import copy
import dataclasses
import json
from typing import Any

import pytest

from modelplane.render.backends import dynamo, kaito, kuberay, llmd, native, vllmstack
from modelplane.render.manifest import Lifecycle, Purpose
from modelplane.workload.model import Replica
from tests.support import dynamo as dynamo_shapes
from tests.support import kaito as kaito_shapes
from tests.support import kserve as kserve_shapes
from tests.support import kuberay as kuberay_shapes
from tests.support import llmd as llmd_shapes
from tests.support import native as native_shapes
from tests.support import vllmstack as vllmstack_shapes

BACKENDS: tuple[tuple[Any, Any, Any, Any], ...] = (
    (dynamo, dynamo_shapes.SHAPES, dynamo_shapes.asked, kserve_shapes.FACTS),
    (kaito, kaito_shapes.SHAPES, native_shapes.asked, kserve_shapes.FACTS),
    (kuberay, kuberay_shapes.SHAPES, kuberay_shapes.asked, kserve_shapes.FACTS),
    (llmd, llmd_shapes.SHAPES, native_shapes.asked, llmd_shapes.WATCHED),
    (native, native_shapes.SHAPES, native_shapes.asked, kserve_shapes.FACTS),
    (vllmstack, vllmstack_shapes.SHAPES, vllmstack_shapes.asked, kserve_shapes.FACTS),
)
"""A backend, its shapes, the workload of a shape, and the cluster on which most is rendered."""
every_shape = pytest.mark.parametrize(
    ("backend", "replica", "asked", "facts"),
    [
        pytest.param(backend, replica, asked, facts, id=f"{backend.__name__.rpartition('.')[2]}-{name}")
        for backend, shapes, asked, facts in BACKENDS
        for name, replica in shapes.items()
    ],
)


@every_shape
def test_two_renders_are_equal_and_leave_the_replica_as_it_was(
    backend: Any, replica: Replica, asked: Any, facts: Any
) -> None:
    before = copy.deepcopy([bound.spec.template for bound in replica.roles])
    first, second = backend.render(replica, facts), backend.render(replica, facts)
    assert first == second
    assert [bound.spec.template for bound in replica.roles] == before
    assert len({manifest.key for manifest in first}) == len(first)
    json.dumps([manifest.resource for manifest in first])


@every_shape
def test_it_is_checked_as_it_is_rendered(backend: Any, replica: Replica, asked: Any, facts: Any) -> None:
    backend.check(asked(replica))


@every_shape
def test_names_and_labels_fit_for_the_longest_replica_name(
    backend: Any, replica: Replica, asked: Any, facts: Any
) -> None:
    for manifest in backend.render(dataclasses.replace(replica, name="a" * 33 + "-12"), facts):
        metadata = manifest.resource["metadata"]
        assert len(metadata["name"]) <= 63
        assert [value for value in metadata.get("labels", {}).values() if len(value) > 63] == []


@every_shape
def test_only_the_namespace_is_shared_and_kept(backend: Any, replica: Replica, asked: Any, facts: Any) -> None:
    for manifest in backend.render(replica, facts):
        is_namespace = manifest.resource["kind"] == "Namespace"
        assert (manifest.lifecycle is Lifecycle.KEEP) == is_namespace == (manifest.purpose is Purpose.SHARED)
        assert is_namespace == (replica.name not in json.dumps(manifest.resource))
        assert is_namespace or manifest.resource["metadata"]["namespace"] == replica.namespace
