"""An API server with kube-scheduler and the controllers that DRA needs; nodes are objects and run nothing."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.conformance.scheduler import fleets, hardware
from tests.support import controlplane, live


@pytest.fixture(scope="session")
def plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[controlplane.Plane]:
    live.needs("scheduler", "go")
    with controlplane.running(tmp_path_factory.mktemp("scheduler")) as plane:
        classes = [one for seed in range(200) for one in fleets.documents(seed) if one["kind"] == "InferenceClass"]
        for document in hardware.device_classes(classes):
            plane.api.create(document)
        plane.controller_manager("resourceclaim-controller", "garbage-collector-controller")
        plane.scheduler()
        yield plane
