"""The page of `modelplane report` in a real browser: pointer, keyboard, filters, themes, print, hostile texts."""

from __future__ import annotations

import copy
import json
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal

import pytest
from playwright.sync_api import Browser, Page, expect

from modelplane_cli.report import page as pages
from tests.bench import stated
from tests.support import browser as browsers
from tests.support import live
from tests.support import planning as given
from tests.support.browser import Sheet

Json = Any
SUITE = "report"
ROOT = Path(__file__).parents[3]


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


@pytest.fixture(scope="module")
def drained(folder: Path) -> Path:
    """Return the page of the quickstart before and after a drain and a scaling that does not fit."""
    file = folder / "drained.html"
    events = ("--drain", "gke-us", "--scale", "ml-team/qwen3-8b=40")
    ran = given.run("report", str(ROOT / "examples" / "quickstart"), *events, "-o", str(file))
    assert ran.code == 0, ran.err
    return file


@pytest.fixture(scope="module")
def data(folder: Path) -> Json:
    """Return the data of sixty clusters with three hundred replicas."""
    file = folder / "stated.json"
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(ROOT)
        assert stated.main([str(file), "--clusters", "60", "--replicas", "300"]) == 0
    return given.run("report", str(file), "-o", "json").json


@pytest.fixture(scope="module")
def sixty(folder: Path, data: Json) -> Path:
    return written(folder / "sixty.html", data)


@pytest.fixture(scope="module")
def few(folder: Path) -> Path:
    """Return the page of six clusters: axe looks at every element of every view."""
    file = folder / "few.json"
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(ROOT)
        assert stated.main([str(file), "--clusters", "6", "--replicas", "24"]) == 0
    return written(folder / "few.html", given.run("report", str(file), "-o", "json").json)


def written(file: Path, data: Json, title: str = "Fleet") -> Path:
    file.write_bytes(pages.html_page(data, title))
    return file


def opened(page: Page) -> None:
    """Open everything that can be opened, what appears by that included."""
    for _ in range(2):
        page.evaluate("() => document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        page.wait_for_timeout(100)


def selected(page: Page) -> str:
    return page.locator("#details h2").inner_text()


# --- what it asks for and says ----------------------------------------------------------------------------------------


def test_it_asks_for_nothing_and_complains_of_nothing(sheet: Sheet, sixty: Path) -> None:
    page = sheet.open(sixty)
    page.mouse.wheel(0, 5000)
    page.wait_for_timeout(300)
    assert sheet.asked == [sixty.as_uri()]
    assert sheet.told == []


def test_the_policy_stops_what_somebody_adds(sheet: Sheet, drained: Path) -> None:
    """The policy of the page is in force: neither an inline handler nor a request leaves it."""
    page = sheet.open(drained)
    page.evaluate(
        "() => { const b = document.createElement('b'); b.setAttribute('onclick', 'window.x = 1'); b.click(); }"
    )
    assert page.evaluate("() => window.x") is None
    assert page.evaluate("() => fetch('https://example.invalid/').then(() => 1, () => 0)") == 0
    assert any("Content Security Policy" in told for told in sheet.told)


def test_cells_are_the_devices_that_the_ledger_counts(sheet: Sheet, data: Json, sixty: Path) -> None:
    page = sheet.open(sixty)
    page.evaluate("() => dispatchEvent(new Event('beforeprint'))")
    drawn = page.evaluate(
        """() => {
          const cells = (run) => Number(run.style.getPropertyValue("--n"));
          const sum = (pool) => [...pool.querySelectorAll(".run")].reduce((sum, run) => sum + cells(run), 0);
          const clusters = [...document.querySelectorAll("#picture .cluster")];
          return clusters.map((cluster) => [...cluster.querySelectorAll(".pool")].map(sum));
        }"""
    )
    (frame,) = data["frames"]
    used = {(one["cluster"], one["pool"]): one["devices"]["gpu"]["used"] for one in frame["plan"]["pools"]}
    order = sorted(frame["clusters"], key=lambda one: (one["region"], one["name"]))
    wanted = [[used[one["name"], pool["name"]] for pool in one["pools"]] for one in order]
    assert drawn == wanted
    assert sum(sum(pools_) for pools_ in wanted) > 800


# --- pointer and keyboard ---------------------------------------------------------------------------------------------


def test_a_click_leads_from_a_cell_to_replica_deployment_service_and_url(sheet: Sheet, sixty: Path) -> None:
    page = sheet.open(sixty)
    cell = page.locator("#picture .run").first
    key = str(cell.get_attribute("data-sel")).removeprefix("replica/")
    cell.hover()
    expect(page.locator("#tip")).to_contain_text(key)
    cell.click()
    assert selected(page) == key
    deployment = page.locator('#details [data-sel^="deployment/"]')
    name = deployment.inner_text()
    service = page.locator('#details [data-sel^="service/"]').first
    assert service.inner_text() == name
    deployment.click()
    assert selected(page) == name
    page.locator('#details [data-sel^="service/"]').first.click()
    expect(page.locator("#details a")).to_have_attribute("href", f"https://models.example/{name}")
    page.go_back()
    page.go_back()
    assert selected(page) == key
    page.locator('#details [data-sel^="cluster/"]').click()
    expect(page.locator("#details caption").first).to_have_text("Pools")


def test_the_keyboard_does_what_the_pointer_does(sheet: Sheet, sixty: Path) -> None:
    page = sheet.open(sixty)
    page.keyboard.press("Tab")
    expect(page.locator(".skip")).to_be_focused()
    page.keyboard.press("Enter")
    names = page.locator("#picture .name")
    expect(names.first).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(names.nth(1)).to_be_focused()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowRight")
    cell = page.locator("#picture .run").first
    expect(cell).to_be_focused()
    expect(page.locator("#tip")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#tip")).to_be_hidden()
    page.keyboard.press("Enter")
    expect(page.locator("#selected")).to_be_focused()
    page.keyboard.press("Escape")
    expect(cell).to_be_focused()
    page.keyboard.press("End")
    assert page.evaluate("() => document.activeElement.closest('#picture') !== null")
    page.keyboard.press("Tab")
    assert page.evaluate("() => document.activeElement.closest('#picture') === null"), "the picture is one stop"


def test_one_stop_of_the_picture_is_always_there(sheet: Sheet, sixty: Path) -> None:
    page = sheet.open(sixty)
    page.fill("#q", "central1-03")
    assert page.locator('#picture [tabindex="0"]').count() == 1
    assert page.locator('#picture section:not([hidden]) [tabindex="0"]').count() == 1


# --- filters and the address ------------------------------------------------------------------------------------------


def shown(page: Page) -> int:
    return page.locator("#picture .cluster:not([hidden])").count()


FILTERS: dict[str, tuple[str, Callable[[Json], bool]]] = {
    "ns": ("chat", lambda cluster: any(held["replica"].startswith("chat/") for held in held_of(cluster))),
    "class": ("h100-8x", lambda _cluster: True),
    "label": ("modelplane.ai/region=us-east-2", lambda cluster: cluster["region"] == "us-east-2"),
}


@pytest.mark.parametrize("field", FILTERS)
def test_a_filter_leaves_what_it_names(sheet: Sheet, sixty: Path, data: Json, field: str) -> None:
    value, wanted = FILTERS[field]
    page = sheet.open(sixty)
    page.select_option(f"#{field}", value)
    clusters = data["frames"][0]["clusters"]
    assert shown(page) == sum(wanted(one) for one in clusters)
    expect(page.locator("#filters [role=status]")).to_contain_text("match")
    assert f"{field}=" in page.url
    page.get_by_role("button", name="Clear filters").click()
    assert shown(page) == len(clusters)
    assert "#" not in page.url


def held_of(cluster: Json) -> list[Json]:
    return [held for pool in cluster["pools"] for held in pool["held"]]


def test_text_finds_clusters_and_replicas(sheet: Sheet, sixty: Path) -> None:
    page = sheet.open(sixty)
    page.fill("#q", "QWEN3-8B-001-2")
    assert shown(page) == 1
    assert page.locator("#picture .cluster:not([hidden]) .run:not(.dim)").count() == 1
    page.fill("#q", "no such thing")
    assert shown(page) == 0
    expect(page.locator("#picture")).to_contain_text("No cluster matches")


def test_the_address_keeps_the_view(sheet: Sheet, browser: Browser, drained: Path) -> None:
    page = sheet.open(drained)
    page.locator("#moment").focus()
    page.keyboard.press("ArrowRight")
    page.select_option("#by", "deployment")
    page.select_option("#theme", "dark")
    page.locator("#picture .name").first.click()
    other = Sheet(browser)
    again = other.open(page.url)
    assert selected(again) == selected(page)
    assert again.locator("#moment").input_value() == "1"
    assert again.locator("#by").input_value() == "deployment"
    assert again.evaluate("() => getComputedStyle(document.body).backgroundColor") == "rgb(16, 21, 27)"
    other.context.close()


@pytest.mark.parametrize(
    "fragment", ["#frame=99", "#frame=-1&by=x&zoom=y&theme=z", "#sel=replica/none", "#sel=%00", "#%E0%A4%A", "#ns=none"]
)
def test_an_address_that_says_nonsense_is_no_error(sheet: Sheet, drained: Path, fragment: str) -> None:
    sheet.open(drained, fragment)
    assert sheet.told == []
    expect(sheet.page.locator("h1")).to_be_visible()


# --- moments ----------------------------------------------------------------------------------------------------------


def test_the_slider_moves_through_the_events(sheet: Sheet, drained: Path) -> None:
    page = sheet.open(drained)
    cluster = page.locator('#picture [aria-label="cluster gke-us"]')
    expect(cluster.locator(".run")).to_have_count(1)
    page.locator("#moment").focus()
    page.keyboard.press("ArrowRight")
    expect(cluster.locator(".run")).to_have_count(0)
    expect(page.locator("#moments [role=status]")).to_contain_text("drain gke-us: 1 moved; everything fits")
    expect(page.locator("#picture .run.fresh")).to_have_count(1)
    page.get_by_role("button", name="Later moment").click()
    expect(page.locator("#moments [role=status]")).to_contain_text("not everything fits")
    expect(page.locator(".figures .bad")).to_contain_text("24")
    expect(page.locator("#attention .waiting")).to_contain_text("It would fit if")


def test_a_comparison_shows_before_and_after(sheet: Sheet, folder: Path) -> None:
    base = (given.node_class(), given.cluster("a"))
    before = given.written(folder, "before", *base, given.deployment(replicas=1))
    after = given.written(folder, "after", *base, given.deployment(replicas=3))
    file = folder / "change.html"
    assert given.run("report", after, "--against", before, "-o", str(file)).code == 0
    page = sheet.open(file)
    expect(page.locator("#picture .run")).to_have_count(1)
    page.get_by_role("button", name="after the change").click()
    expect(page.locator("#picture .run")).to_have_count(3)
    expect(page.locator("#picture .run.fresh")).to_have_count(2)
    page.get_by_text("2 changed replicas").click()
    expect(page.locator("#moments tbody tr")).to_have_count(2)


# --- for every eye ----------------------------------------------------------------------------------------------------

VIEWS = (
    "",
    "#zoom=clusters",
    "#by=state&ns=chat",
    "#sel=cluster/dc-us-central1-00",
    "#sel=deployment/search/llama-4-maverick",
    "#frame=2&sel=service/ml-team/qwen3-8b",
)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("view", VIEWS)
def test_axe_finds_nothing_against_wcag_aa(
    browser: Browser, few: Path, drained: Path, theme: Literal["light", "dark"], view: str
) -> None:
    sheet = Sheet(browser, color_scheme=theme)
    page = sheet.open(drained if "frame" in view else few, view)
    opened(page)
    found = sheet.violations()
    sheet.context.close()
    assert found == []


def contrast(page: Page, script: str) -> float:
    found: float = page.evaluate(
        """(script) => {
          const [a, b] = new Function("style", `return ${script}`)(getComputedStyle(document.documentElement));
          const light = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16) / 255)
            .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
            .reduce((sum, c, at) => sum + c * [0.2126, 0.7152, 0.0722][at], 0);
          const [x, y] = [light(a.trim()), light(b.trim())].sort((p, q) => q - p);
          return (x + 0.05) / (y + 0.05);
        }""",
        script,
    )
    return found


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_colour_of_a_cell_stands_out(browser: Browser, drained: Path, theme: Literal["light", "dark"]) -> None:
    """WCAG 1.4.11: 3 to 1 between what carries meaning and what is beside it; axe does not look at it."""
    sheet = Sheet(browser, color_scheme=theme, bypass_csp=True)
    page = sheet.open(drained)
    for name in [*(f"--k{number}" for number in range(10)), "--kx", "--edge", "--bad", "--focus"]:
        for beside in ("--card", "--paper"):
            script = f'[style.getPropertyValue("{name}"), style.getPropertyValue("{beside}")]'
            assert contrast(page, script) >= 3, (name, beside)
    sheet.context.close()


def test_it_prints_every_cluster_and_no_control(sheet: Sheet, sixty: Path, folder: Path) -> None:
    page = sheet.open(sixty)
    page.emulate_media(media="print")
    made = page.pdf(path=str(folder / "sixty.pdf"), print_background=True)
    assert made.startswith(b"%PDF-")
    assert page.locator("#filters").is_hidden()
    assert page.locator("#picture .cluster .pool").count() == 60 * 3
    text = shutil.which("pdftotext")
    if text is not None:
        said = subprocess.run([text, str(folder / "sixty.pdf"), "-"], capture_output=True, text=True, check=True).stdout
        assert "dc-us-central1-00" in said


def test_without_javascript_it_says_what_is_missing(browser: Browser, drained: Path) -> None:
    sheet = Sheet(browser, java_script_enabled=False)
    sheet.page.goto(drained.as_uri())
    expect(sheet.page.locator("body")).to_contain_text("draws its data with JavaScript")
    sheet.context.close()


# --- hostile texts ----------------------------------------------------------------------------------------------------

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
    file = written(folder / "hostile.html", poisoned(copy.deepcopy(given_), text), f"Fleet {text}")
    page = sheet.open(file, "#frame=1")
    opened(page)
    for kind in ("cluster", "replica", "deployment", "service"):
        items = page.locator(f'[data-sel^="{kind}/"]:visible')
        assert items.count() > 0, kind
        items.first.hover()
        items.first.click()
        opened(page)
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
    opened(page)
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
