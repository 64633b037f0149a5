"""The page of `modelplane report` in a real browser: pointer, keyboard, filters, themes, print, hostile texts."""

from __future__ import annotations

import shutil
import statistics
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.bench import report, stated
from tests.support import browser as browsers
from tests.support import planning as given
from tests.support.browser import Sheet

Json = Any
ROOT = Path(__file__).parents[3]


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
    return browsers.written(folder / "sixty.html", data)


@pytest.fixture(scope="module")
def few(folder: Path) -> Path:
    """Return the page of six clusters: axe looks at every element of every view."""
    file = folder / "few.json"
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(ROOT)
        assert stated.main([str(file), "--clusters", "6", "--replicas", "24"]) == 0
    return browsers.written(folder / "few.html", given.run("report", str(file), "-o", "json").json)


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
    browsers.opened(page)
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


# --- a large fleet ----------------------------------------------------------------------------------------------------

DRAWN_MS, FILTER_MS = 2000, 100
"""What a page of 1,000 clusters and 5,000 replicas may cost, in milliseconds of CPU of its main thread."""


@pytest.fixture(scope="module")
def thousand(folder: Path) -> Path:
    """Return the page of 1,000 clusters with 5,000 replicas."""
    file = folder / "thousand.json"
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(ROOT)
        assert stated.main([str(file), "--clusters", "1000", "--replicas", "5000"]) == 0
    return browsers.written(folder / "thousand.html", given.run("report", str(file), "-o", "json").json)


@pytest.mark.parametrize("fragment", ["", "#zoom=nodes"])
def test_a_large_fleet_is_drawn_and_filtered_at_once(sheet: Sheet, thousand: Path, fragment: str) -> None:
    """A filter is measured until what it brings near the window is drawn. CPU, so that neighbours do not count."""
    found = report.measured(sheet, thousand, fragment)
    assert found.cpu < DRAWN_MS
    each = [found.ticks[at :: len(report.CHOICES)] for at in range(len(report.CHOICES))]
    assert max(map(statistics.median, each)) < FILTER_MS, each


def test_clusters_away_from_the_window_are_as_they_should_be_when_they_come_near(sheet: Sheet, thousand: Path) -> None:
    """What waits for its turn shows no earlier filter, neither after scrolling nor on paper."""
    page = sheet.open(thousand, "#zoom=nodes")
    page.select_option("#ns", "chat")
    dim = "(run) => run.classList.contains('dim') === !run.dataset.sel.startsWith('replica/chat/')"
    last = page.locator("#picture .cluster:not([hidden])").last
    last.scroll_into_view_if_needed()
    expect(last.locator(".run.dim").first).to_be_attached()
    assert last.locator(".run").evaluate_all(f"(runs) => runs.length > 0 && runs.every({dim})")
    page.evaluate("() => dispatchEvent(new Event('beforeprint'))")
    shown_ = page.locator("#picture .cluster:not([hidden]) .run")
    assert shown_.count() > 1000
    assert shown_.evaluate_all(f"(runs) => runs.every({dim})")
    page.get_by_role("button", name="Clear filters").click()
    page.evaluate("() => dispatchEvent(new Event('beforeprint'))")
    assert page.locator("#picture .run.dim").count() == 0
    assert page.locator("#picture .cluster .pool").count() == 3000
    assert sheet.told == []
