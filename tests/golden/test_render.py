"""The tree of every example as a person sees it: the whole way from documents to a served URL.

`pytest tests/golden/test_render.py --update-golden` rewrites the files; read the difference before committing it.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from modelplane_cli.output import outline, tree
from tests.support import rendering

FOLDER = Path(__file__).parent / "render"


@pytest.mark.parametrize("name", rendering.EXAMPLES)
def test_the_tree_of_an_example(name: str, request: pytest.FixtureRequest) -> None:
    shown = outline.text(tree.trees(rendering.world(rendering.example(name))))
    golden = FOLDER / f"{name}.txt"
    if request.config.getoption("--update-golden"):
        golden.write_text(shown, encoding="utf-8")
    assert shown == golden.read_text(encoding="utf-8")
