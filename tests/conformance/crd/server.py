"""Answers of the real validator: asked live where Go is installed and it is wanted, else as recorded.

`python -m tests.conformance.crd.server` asks again and records. An answer is recorded with a digest of what was asked
(definition without its descriptions, and documents), so that a stale one is noticed.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from modelplane.api import catalogue
from tests.conformance import recorded
from tests.conformance.crd import cases, documents

Json = Any

HERE = Path(__file__).resolve().parent
RECORDED = HERE / "recorded" / "answers.json"


def questions() -> dict[str, dict[str, Json]]:
    """Return what is asked, by id."""
    asked: dict[str, dict[str, Json]] = {}
    for case in cases.REFUSED:
        asked[case.id] = {"document": case.document(), "old": case.previous()}
    for fine in cases.ACCEPTED:
        old = None if fine.old is None else documents.document(fine.kind, *fine.old)
        asked[fine.id] = {"document": documents.document(fine.kind, *fine.changes), "old": old}
    return asked


def digests() -> dict[str, str]:
    """Return what each question and each definition is, in short."""
    found = {kind: recorded.digest(without_descriptions(catalogue.definition(kind))) for kind in catalogue.kinds()}
    for name, question in questions().items():
        found[name] = recorded.digest([question, found[question["document"]["kind"]]])
    return found


def without_descriptions(schema: Json) -> Json:
    """Return a schema without what only people read."""
    if isinstance(schema, Mapping):
        return {
            key: without_descriptions(value)
            for key, value in schema.items()
            if not (key == "description" and isinstance(value, str))
        }
    return [without_descriptions(item) for item in schema] if isinstance(schema, list) else schema


def answers() -> dict[str, Json]:
    """Return {"digests", "derived": {kind: {crd, errors}}, "answers": {id: ...}}."""
    return recorded.answers(RECORDED, ask)


def ask() -> dict[str, Json]:
    """Return fresh answers. Cost: a Go build, a minute when nothing is cached."""
    with tempfile.TemporaryDirectory() as folder:
        program, bundle = _built(Path(folder))
        derived = _run(program, "derive", bundle, "")
        answered = _judge(program, bundle, questions())
    return {
        "digests": digests(),
        "derived": {
            entry["kind"]: {"crd": without_descriptions(entry["crd"]), "errors": entry["errors"]} for entry in derived
        },
        "answers": answered,
    }


def judged(asked: Mapping[str, Mapping[str, Json]]) -> dict[str, Json]:
    """Return fresh answers to any documents, by id."""
    with tempfile.TemporaryDirectory() as folder:
        return _judge(*_built(Path(folder)), asked)


def _built(folder: Path) -> tuple[Path, Path]:
    program, bundle = folder / "crd", folder / "bundle.json"
    subprocess.run(["nice", "go", "build", "-o", str(program), "."], cwd=HERE, check=True)
    bundle.write_text(json.dumps([catalogue.definition(kind) for kind in catalogue.kinds()]))
    return program, bundle


def _judge(program: Path, bundle: Path, asked: Mapping[str, Mapping[str, Json]]) -> dict[str, Json]:
    lines = "".join(json.dumps({"id": name, **question}) + "\n" for name, question in asked.items())
    return {reply["id"]: reply for reply in _run(program, "validate", bundle, lines)}


def _run(program: Path, command: str, bundle: Path, text: str) -> list[Json]:
    done = subprocess.run([str(program), command, str(bundle)], input=text, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{program.name} {command}: {done.stderr}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def text_of(found: dict[str, Json]) -> str:
    """Return answers as text with a line for each, so that a difference is a line."""
    parts = []
    for part in sorted(found):
        entries = found[part]
        lines = ",\n".join(f"{json.dumps(key)}: {json.dumps(entries[key], sort_keys=True)}" for key in sorted(entries))
        parts.append(f"{json.dumps(part)}: {{\n{lines}\n}}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


if __name__ == "__main__":
    RECORDED.parent.mkdir(exist_ok=True)
    RECORDED.write_text(text_of(ask()))
    sys.exit(0)
