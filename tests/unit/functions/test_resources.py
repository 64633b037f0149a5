"""Decoded resources are shared between calls, so no composer may change one; and of a large fleet not all are kept."""

from __future__ import annotations

import pytest
from google.protobuf import struct_pb2

from modelplane_functions import wire
from modelplane_functions.exchange import Resource
from modelplane_functions.memory.resources import Fetched, Memory, recall
from tests.support import examples, memories, rendered


@pytest.mark.parametrize("example", examples.fleets())
def test_nobody_changes_what_was_decoded(monkeypatch: pytest.MonkeyPatch, example: str) -> None:
    memories.empty(monkeypatch)
    rendered.folder(examples.EXAMPLES / example)
    for memory in (wire._MEMORY, wire._COMPOSITES):
        assert memory._known
        for text, resource in memory._known.items():
            assert resource == wire._decode_struct(struct_pb2.Struct.FromString(text)), resource["kind"]


def test_what_was_seen_last_is_kept() -> None:
    memory, read = Memory(3), []

    def seen(text: bytes) -> None:
        memory.recall(text, lambda: read.append(text) or {"says": text})  # type: ignore[func-returns-value]

    for text in (b"a", b"b", b"c", b"a", b"d", b"a", b"b"):
        seen(text)
    assert read == [b"a", b"b", b"c", b"d", b"b"], "b was forgotten for d, since a was seen after it"
    assert memory.recall(b"larger than all", lambda: {"says": 1}) == {"says": 1}
    assert not memory._known, "and nothing is kept beyond the bound, be it one object"
    seen(b"a")
    assert list(memory._known) == [b"a"]


def test_what_was_read_of_resources_fetched_together_is_kept_with_them_and_nowhere_else() -> None:
    read: list[str] = []

    def one(fetched: tuple[Resource, ...]) -> str:
        return recall(fetched, "names", lambda: read.append("once") or str(fetched[0]["name"]))  # type: ignore[func-returns-value]

    together = Fetched([{"name": "a"}])
    assert [one(together), one(together)] == ["a", "a"]
    assert len(read) == 1
    assert one(Fetched([{"name": "b"}])) == "b"
    assert [one(({"name": "c"},)), one(({"name": "c"},))] == ["c", "c"]
    assert len(read) == 4, "a plain tuple keeps nothing"
