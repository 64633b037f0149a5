"""Every golden case: the whole outcome of a composer for one situation.

A case is a file `<kind>/<situation>.yaml` with `reason` (why it matters), `given` (composite, observed children, the
store that requirements are answered from, and the kinds that are served where that is asked) and `want`.
`pytest tests/golden --update-golden` rewrites `want`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from modelplane.errors import InvalidInput, Unsupported
from modelplane_functions import registry
from tests.support import exchange

FOLDER = Path(__file__).parent
CASES = sorted(
    path for path in FOLDER.glob("*/*.yaml") if {"reason", "given"} <= set(yaml.safe_load(path.read_text()) or {})
)


def decided(given: dict[str, Any]) -> dict[str, Any]:
    composite = given["composite"]
    compose = registry.composer(composite["apiVersion"], composite["kind"]).load()
    try:
        outcome = exchange.settle(
            compose, composite, children=given.get("children"), store=given.get("store") or (), kinds=given.get("kinds")
        )
    except (InvalidInput, Unsupported) as error:
        return {"refused": {"reason": error.reason, "message": str(error)}}
    return exchange.plain(outcome)


@pytest.mark.parametrize("path", CASES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_the_outcome_is_as_agreed(path: Path, request: pytest.FixtureRequest) -> None:
    case = yaml.safe_load(path.read_text())
    want = decided(case["given"])
    if request.config.getoption("--update-golden"):
        document = {"reason": case["reason"], "given": case["given"], "want": want}
        path.write_text(yaml.safe_dump(document, sort_keys=False, width=118, allow_unicode=True))
    assert yaml.safe_load(path.read_text())["want"] == want, case["reason"]
    assert decided(case["given"]) == want, "the same question gave two answers"
