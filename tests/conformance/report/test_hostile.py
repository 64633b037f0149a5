"""Texts that a page must not believe, in a real browser; and what the page is made of."""

from __future__ import annotations

import copy
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from modelplane_cli.report import page as pages
from tests.support import browser as browsers
from tests.support import planning as given
from tests.support.browser import Sheet

Json = Any
ROOT = Path(__file__).parents[3]

HOSTILE = (
    "</script><script>window.owned=1</script>",
    "\"'><img src=x onerror='window.owned=1'>",
    "javascript:window.owned=1",
    "\u202eright to left\u202c \u05e9\u05dc\u05d5\u05dd \u0645\u0631\u062d\u0628\u0627",
    "x" * 5000,
    "<!--<script>\u2028\u2029\u0000&lt;b&gt;{{7*7}}${7*7}",
    "__proto__",
    "constructor",
)
_KEPT = {"change", "status", "severity", "condition", "role", "op"}


def poisoned(value: Json, text: str, name: str = "") -> Json:
    """Return the data with the text at the end of every text, and in every key that a document names."""
    if isinstance(value, dict):
        free = name in ("labels", "devices", "devicesPerNode", "devicesPerPod", "cost")
        return {f"{key}{text}" if free else key: poisoned(one, text, "" if free else key) for key, one in value.items()}
    if isinstance(value, list):
        return [poisoned(one, text, name) for one in value]
    if not isinstance(value, str) or name in _KEPT or re.fullmatch(r"[\d.]+", value):
        return value
    # A URL may have any scheme; everything else keeps its beginning, so that references still lead somewhere.
    return text if name in ("url", "urlBefore") else f"{value}{text}"


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_texts_stay_texts(sheet: Sheet, folder: Path, text: str) -> None:
    given_ = given.run("report", str(ROOT / "examples" / "quickstart"), "--drain", "gke-us", "-o", "json").json
    for row in given_["frames"][1]["plan"]["deployments"]:
        document = {"kind": "k", "name": "n"}
        change = [{"document": document, "op": "add", "path": "/p", "value": {"a": text}}]
        closest = {"cluster": "c", "pool": "p", "misses": ["m"], "wouldFitIf": "w", "notInDocuments": ["n"]}
        reasons = [{"reason": "r", "clusters": 1, "examples": ["e"], "detail": "d"}]
        row["unschedulable"] = {
            "count": 1,
            "message": "m",
            "reasons": reasons,
            "closest": {**closest, "change": change},
        }
    file = browsers.written(folder / "hostile.html", poisoned(copy.deepcopy(given_), text), f"Fleet {text}")
    page = sheet.open(file, "#frame=1")
    browsers.opened(page)
    for kind in ("cluster", "replica", "deployment", "service"):
        items = page.locator(f'[data-sel^="{kind}/"]:visible')
        assert items.count() > 0, kind
        items.first.hover()
        items.first.click()
        browsers.opened(page)
        assert page.locator("#details [data-sel]:visible").count() > 0
    for element in ("#ns", "#class", "#label"):
        options = page.locator(f"{element} option")
        if options.count() > 1:
            page.select_option(element, index=1)
    assert page.evaluate("() => window.owned") is None
    assert page.evaluate("() => document.querySelectorAll('img, iframe, object, embed, script').length") == 2
    hrefs = page.evaluate("() => [...document.links].map((one) => one.href)")
    assert [href for href in hrefs if not href.startswith(("http://", "https://", f"{file.as_uri()}#"))] == []
    assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth"), "a long text widens the page"
    assert sheet.told == []
    assert sheet.asked == [file.as_uri()]
    if len(text) < 100 and "\u0000" not in text and "\u202e" not in text:
        assert text in page.locator("h1").inner_text()


def test_hostile_statuses_of_a_control_plane_stay_texts(sheet: Sheet, folder: Path) -> None:
    """The API server admits any text in a message, a model or a taint's neighbour; others write statuses."""
    settled = given.run("render", str(ROOT / "examples" / "quickstart"), "-o", "json").json["items"]
    for one in settled:
        for condition in (one.get("status") or {}).get("conditions") or ():
            condition |= {"message": HOSTILE[0], "status": "False"}
        if one["kind"] == "ModelService":
            one["status"]["url"] = HOSTILE[2]
    source = folder / "settled.json"
    source.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": settled}))
    file = folder / "from-statuses.html"
    ran = given.run("report", str(source), "-o", str(file))
    assert ran.code == 0, ran.err
    page = sheet.open(file, "#sel=service/ml-team/qwen3-8b")
    browsers.opened(page)
    expect(page.locator("#attention")).to_contain_text(HOSTILE[0])
    expect(page.locator("#details")).to_contain_text(HOSTILE[2])
    assert page.evaluate("() => [window.owned, document.querySelectorAll('#details a').length]") == [None, 0]
    assert sheet.told == []


# --- what it is made of -----------------------------------------------------------------------------------------------


def test_the_library_is_the_one_that_the_registry_has(tmp_path: Path) -> None:
    if shutil.which("npm") is None:
        pytest.skip("npm is not installed; tests/unit/cli/test_report.py compares the digest")
    version = re.search(r"\| ([\d.]+) \| MIT", pages.read("README.md", "vendor"))
    assert version is not None
    packed = subprocess.run(
        ["npm", "pack", f"preact@{version[1]}", "--json", "--ignore-scripts"],
        cwd=tmp_path, capture_output=True, text=True, check=True, timeout=120,
    )  # fmt: skip
    name = json.loads(packed.stdout)[0]["filename"]
    shutil.unpack_archive(tmp_path / name, tmp_path)
    assert (tmp_path / "package" / "dist" / "preact.mjs").read_text() == pages.read("preact.mjs", "vendor")
    assert (tmp_path / "package" / "LICENSE").read_text() == pages.read("preact.LICENSE", "vendor")
