"""One API server that serves every kind we write."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from modelplane.api import catalogue
from tests.conformance.tools import pins
from tests.support import controlplane, dynamo_definition, installation, live


@pytest.fixture(scope="session")
def plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[controlplane.Plane]:
    live.needs("manifests", "go")
    with controlplane.running(tmp_path_factory.mktemp("manifests")) as plane:
        installation.crossplane_definitions(plane)
        installation.definitions(plane, *pins.DEFINITIONS)
        installation.apply_definitions(plane, [dynamo_definition.document()])
        installation.apply_definitions(plane, [dict(catalogue.derived(kind)) for kind in catalogue.kinds()])
        yield plane
