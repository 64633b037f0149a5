"""KServe's own answers: asked live where that is wanted, else as recorded.

`python -m tests.conformance.kserve.merging` asks again and records. An answer is recorded with a digest of what was
asked, so that a stale one is noticed.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from tests.conformance import recorded
from tests.conformance.kserve import cases

Json = Any

HERE = Path(__file__).resolve().parent
RECORDED = HERE / "recorded" / "answers.json"
_MODULE = "github.com/kserve/kserve"
_PODS = ("template", "worker")


def digests() -> dict[str, str]:
    """Return what each question is, in short."""
    return {name: recorded.digest(objects) for name, objects in cases.objects().items()}


def answers() -> dict[str, Json]:
    """Return {"digests", "answers": {id: {"error"} or {"pods": {role/member: PodSpec}, "annotations", ...}}}."""
    return recorded.answers(RECORDED, ask)


def ask() -> dict[str, Json]:
    """Return fresh answers. Cost: the first build of KServe's controller takes minutes and half a gigabyte of
    modules.
    """
    with tempfile.TemporaryDirectory() as folder:
        program = _built(Path(folder))
        presets = Path(_go(Path(folder), "list", "-mod=mod", "-m", "-f", "{{.Dir}}", _MODULE).strip())
        done = subprocess.run(
            [str(program), str(presets / "config" / "llmisvcconfig")],
            input=json.dumps(cases.objects()),
            capture_output=True,
            text=True,
            check=True,
        )
    found = json.loads(done.stdout)
    return {"digests": digests(), "answers": {name: _reduced(found[name]) for name in sorted(found)}}


def _built(folder: Path) -> Path:
    for name in ("go.mod", "main.go"):
        (folder / name).write_text((HERE / name).read_text())
    _go(folder, "build", "-mod=mod", "-o", "kserve", ".")
    return folder / "kserve"


def _go(folder: Path, *words: str) -> str:
    done = subprocess.run(["go", *words], cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"go {' '.join(words)}: {done.stderr[-2000:]}")
    return done.stdout


def _reduced(answer: Json) -> Json:
    """Return the pods of an answer, and what the scheduler is told; routes are KServe's own business."""
    if "error" in answer:
        return {"error": answer["error"]}
    merged = answer["merged"]
    pods = {f"decode/{key}": merged[key] for key in _PODS if key in merged}
    pods.update({f"prefill/{key}": merged["prefill"][key] for key in _PODS if key in merged.get("prefill", {})})
    scheduler = merged["router"].get("scheduler", {})
    told = {key: scheduler[key] for key in ("config", "pool") if key in scheduler}
    return {"pods": pods, "annotations": merged.get("annotations", {}), "scheduler": told}


if __name__ == "__main__":
    RECORDED.write_text(json.dumps(ask(), indent=1, sort_keys=True) + "\n")
