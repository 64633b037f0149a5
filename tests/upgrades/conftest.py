"""The two releases, once for all tests of a process."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.upgrades import released
from tests.upgrades.released import Release


@pytest.fixture(scope="session")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("earlier")
    released.unpack(folder)
    return folder


@pytest.fixture(scope="session")
def earlier(unpacked: Path) -> Iterator[Release]:
    with released.earlier(unpacked) as release:
        yield release


@pytest.fixture(scope="session")
def today() -> Release:
    return released.today()
