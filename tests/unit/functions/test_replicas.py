"""What a replica asks of its cluster is what its spec says, however many were read before it."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import pytest

from modelplane.api import replica
from modelplane.errors import InvalidInput
from modelplane.placement import demand
from modelplane_functions import deployment_sight, quotas, replicas
from modelplane_functions.compose import model_deployment
from modelplane_functions.exchange import Observed
from tests.support import fleet

Json = Any


@pytest.fixture(autouse=True)
def nothing_read() -> Iterator[None]:
    replicas._ASKED.clear()
    yield
    replicas._ASKED.clear()


@pytest.fixture
def two() -> list[Json]:
    """Return two ModelReplicas that a deployment proposes for one cluster."""
    required = {
        deployment_sight.CLUSTERS: (fleet.inference_cluster("a", nodes=8),),
        deployment_sight.CLASSES: (fleet.inference_class(),),
        deployment_sight.NAMESAKES: (),
        deployment_sight.RULES: (),
        quotas.QUOTAS: (),
    }
    outcome = model_deployment.compose(Observed(fleet.model_deployment(replicas=2), {}, required))
    return [copy.deepcopy(dict(child.resource)) for child in outcome.children.values()]


def really(resource: Json) -> Any:
    found = replica.decode(resource)
    digests = replica.fingerprint(found), replica.workload_digest(found)
    return replicas.Asked(demand.held(found), found.priority, *digests, found)


def test_replicas_of_one_deployment_are_read_once(two: list[Json]) -> None:
    two[0]["spec"]["crossplane"] = {"resourceRefs": [{"name": "its-own"}]}
    one, other = (replicas.asked(resource) for resource in two)
    assert one is other
    assert one == really(two[0])


@pytest.mark.parametrize(
    ("path", "value"),
    [
        pytest.param(("priority",), 7, id="priority"),
        pytest.param(("workers", "count"), 2, id="workers"),
        pytest.param(("pool",), "elsewhere", id="pool"),
        pytest.param(("devices", 0, "count"), 3, id="devices"),
    ],
)
def test_one_that_differs_is_read_for_itself(two: list[Json], path: tuple[Any, ...], value: Any) -> None:
    before = replicas.asked(two[0])
    at = two[1]["spec"]
    for step in path[:-1]:
        at = at[step]
    at[path[-1]] = value
    assert replicas.asked(two[1]) == really(two[1]) != before


@pytest.mark.parametrize("value", [True, 1.0, "1"], ids=repr)
def test_one_is_not_taken_for_another_that_only_equals_it(two: list[Json], value: Any) -> None:
    two[0]["spec"]["workers"]["count"] = 1
    replicas.asked(two[0])
    two[1]["spec"]["workers"]["count"] = value
    with pytest.raises(InvalidInput, match=r"spec\.workers\.count"):
        replicas.asked(two[1])


def test_a_spec_that_is_too_long_is_not_kept(two: list[Json]) -> None:
    two[0]["spec"]["model"]["name"] = "x" * replicas.ASKED_CHARACTERS_MAX
    assert replicas.asked(two[0]) == really(two[0])
    assert not replicas._ASKED


def test_so_many_are_kept_and_no_more(two: list[Json]) -> None:
    for number in range(2 * replicas.ASKED_MAX + 1):
        two[0]["spec"]["priority"] = number
        assert replicas.asked(two[0]).priority == number
        assert len(replicas._ASKED) <= replicas.ASKED_MAX
