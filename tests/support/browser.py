"""A real Chromium without a window, a new profile each time, and the page of `modelplane report` in it."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from typing import Any

from playwright import sync_api
from playwright.sync_api import Browser, Page

from modelplane_cli.report import page as pages

PROGRAM = "chromium"
WIDTH, HEIGHT = 1400, 900
ARGUMENTS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
)  # fmt: skip
RULES = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa")

Json = Any


@contextlib.contextmanager
def started() -> Iterator[Browser]:
    """Yield the browser. Raises: RuntimeError where it is not installed."""
    path = shutil.which(PROGRAM)
    if path is None:
        raise RuntimeError(f"{PROGRAM} is not on PATH; install the package chromium")
    with sync_api.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=list(ARGUMENTS))
        yield browser
        browser.close()


class Sheet:
    """A page in the browser, with everything that it asked for and complained about."""

    def __init__(self, browser: Browser, **settings: Any) -> None:
        self.context = browser.new_context(viewport={"width": WIDTH, "height": HEIGHT}, **settings)
        self.page: Page = self.context.new_page()
        self.asked: list[str] = []
        self.told: list[str] = []
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.on("console", lambda message: self.told.append(message.text))
        self.page.on("pageerror", lambda error: self.told.append(str(error)))
        self.page.on("dialog", lambda dialog: self.told.append(f"dialog {dialog.message}"))

    def open(self, file: Path | str, fragment: str = "") -> Page:
        """Return the page after it was drawn."""
        self.page.goto(f"{file.as_uri() if isinstance(file, Path) else file}{fragment}")
        self.page.wait_for_selector("#picture", state="attached")
        return self.page

    def violations(self) -> list[str]:
        """Return what axe-core finds against WCAG 2.2 AA, as rule and elements."""
        source = resources.files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")
        self.page.evaluate(source)
        found: Json = self.page.evaluate(
            "rules => axe.run(document, {runOnly: {type: 'tag', values: rules}})", list(RULES)
        )
        return [
            f"{one['id']}: {node['html'][:160]} ({node['failureSummary'][:200]})"
            for one in found["violations"]
            for node in one["nodes"][:3]
        ]


def written(file: Path, data: Json, title: str = "Fleet") -> Path:
    """Write the page of these data, and return the file."""
    file.write_bytes(pages.html_page(data, title))
    return file


def opened(page: Page) -> None:
    """Open everything that can be opened, what appears by that included."""
    for _ in range(2):
        page.evaluate("() => document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        page.wait_for_timeout(100)
