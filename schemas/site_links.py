"""A hook of the builder of the site: links out of docs/ lead to the repository, and a dead one fails the build."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from mkdocs.exceptions import PluginError

ROOT = Path(__file__).resolve().parent.parent
# [text](../examples/quickstart) or ](../../lib/...), not a link between pages.
_LINK = re.compile(r"\]\((?P<path>\.\./[^)#\s]+)(?P<anchor>#[^)\s]*)?\)")


def on_page_markdown(markdown: str, page: Any, config: Any, **_: Any) -> str:
    """Return the page with links to files of the repository made absolute. Raises: PluginError for a dead one."""
    folder = (ROOT / "docs" / page.file.src_uri).parent

    def absolute(found: re.Match[str]) -> str:
        target = (folder / found["path"]).resolve()
        if target.is_relative_to(ROOT / "docs"):
            return found[0]
        if not target.exists() or not target.is_relative_to(ROOT):
            raise PluginError(f"{page.file.src_uri}: {found['path']} is not in the repository")
        kind = "tree" if target.is_dir() else "blob"
        return f"]({config.repo_url.rstrip('/')}/{kind}/main/{target.relative_to(ROOT)}{found['anchor'] or ''})"

    return _LINK.sub(absolute, markdown)
