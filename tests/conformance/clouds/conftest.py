"""One API server that serves the kinds of every cloud whose definitions can be had."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.conformance.clouds.providers import PROVIDERS
from tests.support import controlplane, installation, live


@pytest.fixture(scope="session")
def plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[controlplane.Plane]:
    live.needs("clouds", "go")
    with controlplane.running(tmp_path_factory.mktemp("clouds")) as plane:
        installation.crossplane_definitions(plane)  # of Usage, in which order things are deleted
        # The configurations by which a new cluster is reached.
        installation.definitions(plane, "provider-kubernetes", "provider-helm")
        for provider in PROVIDERS.values():
            installation.apply_definitions(plane, provider.documents())
        yield plane
