"""Overrides of backends that are not in use: what no backend takes is a warning, and what is refused is said once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from modelplane_cli.commands import validate
from tests.support import fleet

Json = Any

TAKEN: Json = {"spec": {"progressDeadlineSeconds": 7200}}
COUNT: Json = {"spec": {"replicas": 7}}


def _said(
    overrides: list[Json], backend: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> tuple[int, list[str]]:
    document = fleet.model_deployment()
    del document["metadata"]["uid"]
    document["spec"].update(backend=backend, overrides=overrides)
    (tmp_path / "all.yaml").write_text(yaml.safe_dump(document))
    code = validate.main([str(tmp_path)])
    return code, [line for line in capsys.readouterr().out.splitlines() if "spec.overrides" in line]


@pytest.mark.parametrize(
    ("overrides", "says"),
    [
        pytest.param([{"backend": "LLMD", "patch": TAKEN}], None, id="a field that the other backend lists"),
        pytest.param(
            [{"backend": "LLMD", "patch": COUNT}], "spec.overrides[0].patch.spec.replicas: warning: ", id="a count"
        ),
        pytest.param(
            [{"backend": "KAITO", "patch": COUNT}], "and KAITO is refused while it is there", id="it lists nothing"
        ),
        pytest.param(
            [{"backend": "Native", "patch": TAKEN}, {"backend": "LLMD", "patch": {"spec": {"minReadySeconds": None}}}],
            "spec.overrides[1].patch.spec.minReadySeconds: warning: null removes nothing here",
            id="a null, beside one that is taken",
        ),
    ],
)
def test_it_is_a_warning(
    overrides: list[Json], says: str | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, lines = _said(overrides, "Native", tmp_path, capsys)
    assert code == 0
    assert len(lines) == (says is not None)
    assert all(says is not None and says in line for line in lines)


def test_an_entry_of_the_backend_in_use_is_refused_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    overrides = [{"backend": "Native", "patch": COUNT}, {"backend": "KAITO", "patch": COUNT}]
    code, (refused, warned) = _said(overrides, "Native", tmp_path, capsys)
    assert code == 2
    assert "spec.overrides[0].patch.spec.replicas: " in refused
    assert "warning" not in refused
    assert "spec.overrides[1].patch: warning: cannot be written by an override, which can write nothing" in warned
