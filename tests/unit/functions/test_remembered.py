"""Decoded resources are shared between calls, so no composer may change one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from google.protobuf import struct_pb2

from modelplane_functions import wire
from tests.support import rendered

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
FOLDERS = sorted(path.name for path in EXAMPLES.iterdir() if path.is_dir() and path.name not in ("classes", "render"))


@pytest.mark.parametrize("example", FOLDERS)
def test_nobody_changes_what_was_decoded(monkeypatch: pytest.MonkeyPatch, example: str) -> None:
    known: dict[bytes, Any] = {}

    def remembered(text: bytes) -> Any:
        if text not in known:
            known[text] = wire._decode_struct(struct_pb2.Struct.FromString(text))
        return known[text]

    monkeypatch.setattr(wire, "_remembered", remembered)
    rendered.folder(EXAMPLES / example)
    assert known
    for text, resource in known.items():
        assert resource == wire._decode_struct(struct_pb2.Struct.FromString(text)), resource["kind"]
