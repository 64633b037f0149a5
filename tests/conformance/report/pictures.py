"""Program that makes the pictures of the documentation from the page in a real browser.

`hatch run python -m tests.conformance.report.pictures` writes docs/images; a test of this suite makes them again and
compares. Other fonts move letters by a pixel, so that pictures are compared by the colour of their squares.
"""

from __future__ import annotations

import base64
import json
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from playwright.sync_api import Browser

from tests.bench import stated
from tests.support import browser as browsers
from tests.support import planning as given
from tests.support.browser import Sheet

ROOT = Path(__file__).resolve().parents[3]
FOLDER = ROOT / "docs" / "images"
SQUARE = 8
"""The side of a square in pixels."""
FAR = 24
"""The distance of two colours, of 255 in each of red, green and blue, that a reader sees."""


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture: what is drawn, how high, and in which colours.

    `fleet` is the numbers of clusters and replicas of a generated fleet; without it the quickstart is drawn.
    """

    arguments: tuple[str, ...]
    fragment: str
    height: int
    theme: Literal["light", "dark"]
    fleet: tuple[int, int] | None = None


PICTURES: Mapping[str, Picture] = {
    "report.png": Picture((), "", 760, "light", (60, 900)),
    "report-drain.png": Picture(
        ("--drain", "gke-us", "--scale", "ml-team/qwen3-8b=40"), "#frame=1&theme=dark", 560, "dark"
    ),
}


def taken(browser: Browser, folder: Path, picture: Picture, fragment: str = "") -> bytes:
    """Return a picture as PNG; a fragment replaces its own. Files that it needs are written into the folder."""
    file = folder / "page.html"
    source = "examples/quickstart"
    if picture.fleet is not None:
        source = str(folder / "fleet.json")
        clusters, replicas = picture.fleet
        objects = stated.objects(clusters, replicas)
        Path(source).write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))
    ran = given.run("report", source, *picture.arguments, "-o", str(file))
    if ran.code != 0:
        raise RuntimeError(ran.err)
    sheet = Sheet(browser, color_scheme=picture.theme)
    page = sheet.open(file, fragment or picture.fragment)
    page.set_viewport_size({"width": 1280, "height": picture.height})
    page.wait_for_timeout(300)
    made = page.screenshot()
    sheet.context.close()
    return made


_COMPARED = """async ([one, other, square, far]) => {
  const squares = async (data) => {
    const image = new Image();
    image.src = `data:image/png;base64,${data}`;
    await image.decode();
    const canvas = Object.assign(document.createElement("canvas"), { width: image.width, height: image.height });
    const context = canvas.getContext("2d");
    context.drawImage(image, 0, 0);
    const found = [];
    for (let y = 0; y + square <= image.height; y += square) {
      for (let x = 0; x + square <= image.width; x += square) {
        const pixels = context.getImageData(x, y, square, square).data;
        const sums = [0, 0, 0];
        for (let at = 0; at < pixels.length; at++) if (at % 4 < 3) sums[at % 4] += pixels[at];
        found.push(sums.map((sum) => sum / (square * square)));
      }
    }
    return { size: `${image.width}x${image.height}`, found };
  };
  const [a, b] = [await squares(one), await squares(other)];
  if (a.size !== b.size) return 1;
  const isFar = (colour, at) => colour.some((part, band) => Math.abs(part - b.found[at][band]) > far);
  return a.found.filter(isFar).length / a.found.length;
}"""


def difference(browser: Browser, one: bytes, other: bytes) -> float:
    """Return the share of squares whose colours differ so that a reader sees it: 0 for the same picture."""
    sheet = Sheet(browser)
    words = [base64.b64encode(data).decode() for data in (one, other)]
    found: float = sheet.page.evaluate(_COMPARED, [*words, SQUARE, FAR])
    sheet.context.close()
    return found


def main(given_: Sequence[str] | None = None) -> int:
    """Write the pictures that look different, and return 0."""
    names = list(sys.argv[1:] if given_ is None else given_) or list(PICTURES)
    with browsers.started() as browser, tempfile.TemporaryDirectory() as folder:
        for name in names:
            made, file = taken(browser, Path(folder), PICTURES[name]), FOLDER / name
            share = difference(browser, made, file.read_bytes()) if file.exists() else 1
            if share:
                file.write_bytes(made)
            sys.stdout.write(f"{name}: {share:.1%} differs{', written' if share else ''}\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
