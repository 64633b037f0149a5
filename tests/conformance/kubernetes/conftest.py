"""One API server for this folder, with our kinds as Crossplane itself derived them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support import controlplane, installation, live


@pytest.fixture(scope="session")
def plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[controlplane.Plane]:
    live.needs("kubernetes", "go")
    with controlplane.running(tmp_path_factory.mktemp("kubernetes")) as plane:
        core = installation.crossplane_core(plane)
        installation.our_api(plane)
        # The definitions stay. The core would go on writing into every composite, and this is about what people write.
        core.stop()
        yield plane
