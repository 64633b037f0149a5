"""What the production stack's operator makes of a VLLMRuntime, written to a real API server and read back.

The operator is played (tests/support/production_stack.py); what it compares is what this server stores.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from modelplane.workload.model import Replica
from tests.support import controlplane, installation, kubeapi, production_stack
from tests.support import vllmstack as shapes

Json = Any
APPS = "apps/v1"


def _stands(plane: controlplane.Plane, runtime: Json) -> Json:
    """Create the VLLMRuntime and the Deployment that the operator makes of it; return both as they are stored."""
    installation.namespace(plane, runtime["metadata"]["namespace"])
    made = plane.api.create(runtime)
    return made, plane.api.create(production_stack.deployment(made))


def _put(plane: controlplane.Plane, found: Json, runtime: Json) -> Json:
    """Update the Deployment as the operator does, with all of what it would make."""
    made = production_stack.deployment(runtime)
    plane.api.request("PUT", plane.api.path_of(found), made)
    return plane.api.get(APPS, "Deployment", found["metadata"]["name"], found["metadata"]["namespace"])


@pytest.fixture
def standing(plane: controlplane.Plane) -> Any:
    """Return a function that makes a VLLMRuntime stand; what it made is deleted afterwards."""
    made: list[Json] = []

    def stand(replica: Replica) -> Json:
        found = _stands(plane, shapes.runtime(replica))
        made.extend(found)
        return found

    yield stand
    for one in made:
        plane.api.request("DELETE", plane.api.path_of(one))


@pytest.mark.parametrize("shape", shapes.SHAPES)
def test_the_operator_comes_to_rest(standing: Callable[[Replica], Any], shape: str) -> None:
    runtime, found = standing(shapes.SHAPES[shape])
    assert not production_stack.needs_update(found, runtime)


def test_an_edit_reaches_the_pods_and_a_count_does_not_restart_them(
    plane: controlplane.Plane, standing: Callable[[Replica], Any]
) -> None:
    _, found = standing(shapes.replica())
    scaled = shapes.runtime(shapes.replica(shapes.role(workers=3)))
    edited = shapes.runtime(shapes.replica(shapes.role(pod_template=shapes.template(engine={"args": ["--seed=1"]}))))
    for runtime, is_restarted in ((scaled, False), (edited, True)):
        assert production_stack.needs_update(found, runtime)
        now = _put(plane, found, runtime)
        assert (now["spec"]["template"] != found["spec"]["template"]) == is_restarted
        assert not production_stack.needs_update(now, runtime)
        found = now


def test_a_quantity_as_its_author_wrote_it_would_be_updated_for_ever(
    plane: controlplane.Plane, standing: Callable[[Replica], Any]
) -> None:
    """A test of the test: the server writes it in another way."""
    runtime, found = standing(shapes.replica(name="llama-1"))
    amounts = {**runtime["spec"]["deploymentConfig"]["resources"], "cpu": "1000m"}
    deployment = {**runtime["spec"]["deploymentConfig"], "resources": amounts}
    raw = {**runtime, "spec": {**runtime["spec"], "deploymentConfig": deployment}}
    for _ in range(2):
        assert production_stack.needs_update(found, raw)
        found = _put(plane, found, raw)


def test_a_label_that_changes_is_refused(plane: controlplane.Plane, standing: Callable[[Replica], Any]) -> None:
    """So a change of labels is another VLLMRuntime."""
    runtime, found = standing(shapes.replica(name="llama-2"))
    labels = {**runtime["metadata"]["labels"], "team": "a"}
    changed = {**runtime, "metadata": {**runtime["metadata"], "labels": labels}}
    with pytest.raises(kubeapi.Refused, match="field is immutable"):
        _put(plane, found, changed)


def test_an_unknown_field_is_refused(plane: controlplane.Plane) -> None:
    runtime = shapes.runtime(shapes.replica(name="llama-3"))
    installation.namespace(plane, runtime["metadata"]["namespace"])
    runtime["spec"]["deploymentConfig"]["resourceClaims"] = []
    with pytest.raises(kubeapi.Refused, match="resourceClaims"):
        plane.api.create(runtime, dry_run=True)
