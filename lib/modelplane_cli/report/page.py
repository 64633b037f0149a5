"""The page as one file: markup, style, program and data, none of which loads anything.

What may never happen here: text of a document that the browser reads as markup or program, or a byte that depends on
anything but the data.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from collections.abc import Mapping
from importlib import resources
from typing import Any, TypeAlias

Json: TypeAlias = Any

LIBRARY = "preact.mjs"
PROGRAM = ("format.js", "model.js", "state.js", "parts.js", "picture.js", "details.js", "sections.js", "app.js")
"""The sources of the program in their order; they share one scope."""

_EXPORT = re.compile(r"export\{([^{}]*)\};?\s*(?://# sourceMappingURL=\S+\s*)?\Z")
# In JSON these occur in texts alone, where the escape means the same.
_ESCAPES = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})


def html_page(data: Mapping[str, Json], title: str, *, version: str = "") -> bytes:
    """Return the page with its data. One with the version of a server's data asks that server for the next."""
    style, program = read("page.css"), script()
    policy = (
        f"default-src 'none'; script-src '{_digest(program)}'; style-src '{_digest(style)}'; "
        f"connect-src {chr(39)}{'self' if version else 'none'}{chr(39)}; base-uri 'none'; form-action 'none'"
    )
    body = f'<body data-live="{html.escape(version)}">' if version else "<body>"
    return "\n".join(
        (
            '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta name="color-scheme" content="light dark">\n<meta name="referrer" content="no-referrer">',
            f"<title>{html.escape(title)}</title>\n<style>{style}</style>\n</head>",
            f'{body}\n<div id="page"><p>This page draws its data with JavaScript.</p></div>',
            f'<script type="application/json" id="data">{embedded({"title": title, **data})}</script>',
            f'<script type="module">{program}</script>\n</body>\n</html>\n',
        )
    ).encode()


def embedded(data: Json) -> str:
    """Return JSON that ends no element of a page: ASCII without the characters of markup."""
    return json.dumps(data, separators=(",", ":")).translate(_ESCAPES)


def script() -> str:
    """Return the program: the library in a scope of its own, then our sources."""
    library, exports = _EXPORT.subn(_bound, read(LIBRARY, "vendor"))
    if exports != 1:
        raise ValueError(f"{LIBRARY} does not end with its exports")
    licence = read("preact.LICENSE", "vendor").strip()
    sources = "\n".join(read(name) for name in PROGRAM)
    return f"/* Preact (https://preactjs.com)\n{licence}\n*/\nconst Preact=(()=>{{{library}}})();\n{sources}"


def _bound(found: re.Match[str]) -> str:
    pairs = (one.split(" as ") for one in found[1].split(","))
    return f"return {{{','.join(f'{name}:{local}' for local, name in pairs)}}};"


def read(name: str, folder: str = "page") -> str:
    """Return the text of a source."""
    return resources.files(__package__).joinpath(folder, name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
