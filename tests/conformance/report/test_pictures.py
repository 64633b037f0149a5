"""The pictures of the documentation are what the page looks like."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.conformance.report import pictures

ALIKE = 0.03
"""The share of squares in which other fonts and versions of the browser may differ."""


@pytest.mark.parametrize("name", pictures.PICTURES)
def test_a_picture_is_what_the_page_looks_like(
    browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(pictures.ROOT)
    made = pictures.taken(browser, tmp_path, pictures.PICTURES[name])
    found = pictures.difference(browser, made, (pictures.FOLDER / name).read_bytes())
    assert found < ALIKE, f"{found:.1%} differs: python -m tests.conformance.report.pictures {name}"


def test_a_page_that_looks_different_is_seen(browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The comparison can fail: another moment, and other colours, are too far from the picture."""
    monkeypatch.chdir(pictures.ROOT)
    name, picture = "report-drain.png", pictures.PICTURES["report-drain.png"]
    published = (pictures.FOLDER / name).read_bytes()
    for fragment in ("#frame=2&theme=dark", "#frame=1&theme=light"):
        made = pictures.taken(browser, tmp_path, picture, fragment)
        assert pictures.difference(browser, made, published) > ALIKE, fragment


def test_every_picture_of_the_page_is_made_and_shown() -> None:
    text = (pictures.ROOT / "docs" / "report.md").read_text(encoding="utf-8")
    assert set(re.findall(r"\(images/([^)]+)\)", text)) == set(pictures.PICTURES)
    assert {file.name for file in pictures.FOLDER.iterdir()} == set(pictures.PICTURES)
