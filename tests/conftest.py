"""Options shared by all tests."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, settings

# A test asks the same of everybody, every time, on any machine: nothing is drawn by chance, remembered from an earlier
# run, or judged by how long it took. Other questions are those of `hatch run laws` (tests/property/long.py).
settings.register_profile(
    "fixed",
    derandomize=True,
    database=None,
    deadline=None,
    max_examples=100,
    print_blob=False,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("fixed")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden",
        action="store_true",
        help="write what composers decide now into the golden files; read the difference before committing it",
    )
