"""The composed HorizontalPodAutoscaler, and the HPA controller that acts on it.

Only times are shortened: how often the controller looks, and how long it waits before it takes a replica away.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conformance.scaling import metrics, stage
from tests.support import controlplane, fleet, live

WISH = {"min": 1, "max": 5, "target": {"requests": 16}}


@pytest.fixture(scope="module")
def plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[controlplane.Plane]:
    live.needs("scaling", "go")
    with stage.plane(tmp_path_factory.mktemp("autoscaler")) as found:
        yield found


def _soon(resource: stage.Document) -> None:
    resource["spec"]["behavior"]["scaleDown"]["stabilizationWindowSeconds"] = 2


def test_replicas_follow_the_load_and_stay_while_it_is_unknown(plane: controlplane.Plane, tmp_path: Path) -> None:
    load = metrics.Load(external=8)
    certificates = plane.issue("external-metrics", "external-metrics")
    with metrics.serve(load, certificates) as port:
        stage.external_metrics(plane, port)
        stage.deployment(plane, WISH)
        one = stage.Stage(plane, frozenset(), stage.around("http://unused"), _soon)
        one.step()
        stage.autoscaling(plane)

        one.until(lambda: len(load.asked) > 3, seconds=90, what="a look at the load")
        assert load.asked[-1].endswith(
            f"/namespaces/{stage.NAMESPACE}/modelplane_requests "
            "modelplane_ai_deployment=llama,modelplane_ai_namespace=ml-team"
        )
        # No replica serves yet, and there is no pod here: what counts is what has a place.
        one.stays(1, seconds=5)

        load.external = 48
        one.until(one.wants(3), seconds=90, what="two more replicas")
        one.stays(3, seconds=8)

        load.fails = True
        one.stays(3, seconds=8)
        load.fails = False
        load.external = None
        one.stays(3, seconds=8)

        load.external = 16
        # Both were added within the period in which one may go at a time; in earnest the window is longer than that.
        one.until(one.wants(1), seconds=60, what="the end of the load")
        assert one.seen == [1, 3, 1]

        outcome = one.step()
        told = next(each for each in outcome.conditions if each.type == "ScalerReady")
        assert (told.status.value, told.reason) == ("True", "ScalerReady"), one.said()

        document = one.deployment()
        plane.api.merge(document, {"spec": {"scaling": None}})
        one.step()
        assert one.scaler("autoscaler") is None
        one.stays(1, seconds=3)


def test_who_writes_replicas(plane: controlplane.Plane) -> None:
    """A document without replicas, applied again, leaves what a scaler wrote; one with it takes it back."""
    document = fleet.model_deployment("owned")
    del document["spec"]["replicas"], document["metadata"]["uid"]
    document["spec"]["scaling"] = WISH
    created = plane.api.apply(document, owner="argocd-controller")
    assert created["spec"]["replicas"] == 1, "the default of the definition"
    path = f"{plane.api.path_of(document)}/scale"
    scale = plane.api.request("GET", path)
    scale["spec"]["replicas"] = 4
    plane.api.request("PUT", path, scale)
    assert plane.api.apply(document, owner="argocd-controller")["spec"]["replicas"] == 4
    owners = plane.api.apply({**document, "spec": {**document["spec"], "replicas": 2}}, owner="argocd-controller")
    assert owners["spec"]["replicas"] == 2
