"""The browser of these suites, and a page in it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.support import browser as browsers
from tests.support import live
from tests.support.browser import Sheet

SUITE = "report"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    live.needs(SUITE, browsers.PROGRAM)
    with browsers.started() as found:
        yield found


@pytest.fixture
def sheet(browser: Browser) -> Iterator[Sheet]:
    made = Sheet(browser)
    yield made
    made.context.close()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("pages")
