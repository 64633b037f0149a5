"""The example of each backend: it runs whole, and it has every shape that the backend's table claims."""

from __future__ import annotations

import functools

import pytest

from modelplane.api import replica as replicas
from modelplane.devices.model import Claim
from modelplane.render import backend as seam
from modelplane.render.backends import selection
from modelplane.workload.model import Replica
from tests.support import examples, rendering

every_backend = pytest.mark.parametrize("backend", sorted(selection.BACKENDS))


def test_every_backend_has_an_example_and_every_example_a_backend() -> None:
    found = {path.name for path in (examples.EXAMPLES / "backends").iterdir()}
    assert found == {name.lower() for name in selection.BACKENDS}


@functools.cache
def _replicas(backend: str) -> dict[str, Replica]:
    """Return the replicas of the example that its own backend runs, with their phases."""
    world = rendering.world(rendering.example(f"backends/{backend.lower()}"))
    found = [one for key in world.store if key.kind == replicas.KIND and (one := world.store.get(key)) is not None]
    assert found
    assert {
        one["metadata"]["name"]: one["status"]["phase"] for one in found if one["status"]["phase"] != "Running"
    } == {}
    return {one["metadata"]["name"]: replicas.decode(one) for one in found if one["spec"]["backend"] == backend}


@every_backend
def test_every_replica_of_an_example_runs(backend: str) -> None:
    assert _replicas(backend)


@every_backend
def test_an_example_has_every_shape_of_the_table(backend: str) -> None:
    can = selection.backend(backend).CAPABILITIES
    found = {seam.shape_of(bound.spec) for one in _replicas(backend).values() for bound in one.roles}
    assert found == can.shapes, "a shape of the table has no example"
    apart = {one.engine for one in _replicas(backend).values() if one.is_disaggregated}
    assert apart <= can.disaggregated
    assert bool(apart) == bool(can.disaggregated), "prefill and decode apart have no example"


@every_backend
def test_an_example_has_every_claim_of_the_table(backend: str) -> None:
    roles = [bound for one in _replicas(backend).values() for bound in one.roles]
    found = {device.claim for bound in roles for device in bound.devices}
    assert found == selection.claims(backend) - {Claim.SYNTHETIC}, "nothing claims a synthetic device"
