"""The law of mutations in the short run: fixed questions; `python -m tests.property.mutations` asks new ones."""

from __future__ import annotations

import pytest

from tests.property import mutations

SEED = 7


@pytest.mark.parametrize("kind", mutations.kinds())
def test_one_wrong_field_takes_nothing_away(kind: str) -> None:
    assert list(mutations.ask(kind, 120, SEED)) == []
