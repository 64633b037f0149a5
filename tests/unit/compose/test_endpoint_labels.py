"""The region, zone and tier of a replica's cluster on its endpoint, and that nothing but the platform moves it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from modelplane.api import replica_endpoint
from modelplane.errors import InvalidInput
from tests.unit.compose.test_model_deployment import Running

Json = Any
REGION, ZONE, TIER = "modelplane.ai/region", "modelplane.ai/zone", "modelplane.ai/tier"


def labels_of(running: Running, name: str = "llama-0") -> dict[str, str]:
    return dict(running.compose().children[f"endpoint-{name}"].resource["metadata"]["labels"])


def placed_with(**labels: str) -> Running:
    """Return a deployment whose cluster a has these labels beside its own."""
    running = Running()
    running.clusters[0]["metadata"]["labels"] = {f"modelplane.ai/{key}": value for key, value in labels.items()}
    running.step()
    return running


def test_an_endpoint_has_the_labels_of_the_place_of_its_cluster() -> None:
    running = placed_with(region="eu", zone="eu-1", tier="gold", other="x")
    found = labels_of(running)
    assert (found[REGION], found[ZONE], found[TIER]) == ("eu", "eu-1", "gold")
    assert "modelplane.ai/other" not in found
    before = running.compose().children["endpoint-llama-0"]
    assert running.compose().children["endpoint-llama-0"] == before, "it changes only when its content does"


def _gone(running: Running) -> None:
    running.clusters.pop(0)


def _unlabelled(running: Running) -> None:
    del running.clusters[0]["metadata"]["labels"]


def _empty(running: Running) -> None:
    running.clusters[0]["metadata"]["labels"] = {REGION: ""}


def _illegible(running: Running) -> None:
    running.clusters[0]["spec"]["nodePools"] = "x"


@pytest.mark.parametrize("change", [_gone, _unlabelled, _empty, _illegible])
def test_hold_a_cluster_that_blinks_or_loses_a_label_moves_no_endpoint(change: Callable[[Running], None]) -> None:
    running = placed_with(region="eu")
    change(running)
    assert labels_of(running)[REGION] == "eu"


def test_another_value_moves_the_endpoint_at_once() -> None:
    running = placed_with(region="eu")
    running.clusters[0]["metadata"]["labels"] = {REGION: "us"}
    assert labels_of(running)[REGION] == "us"


def test_the_labels_of_a_template_do_not_say_where_a_replica_stands() -> None:
    running = placed_with(region="eu")
    child = running.children["replica-llama-0"]
    child["spec"]["workers"]["template"]["metadata"] = {"labels": {REGION: "us", ZONE: "us-1", "team": "ml"}}
    with pytest.raises(InvalidInput, match="are reserved"):
        running.compose()
    found = replica_endpoint.labels(child)
    assert found["team"] == "ml"
    assert not found.keys() & {REGION, ZONE, TIER}, "not even where nobody validates"
