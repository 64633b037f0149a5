"""Real Go programs, built once from pinned modules into an ignored cache."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
CACHE = REPOSITORY / ".cache" / "go-bin"
BUILD_SECONDS = 3600


def build(module: Path, package: str, name: str, *, stamps: tuple[str, ...] = ()) -> Path:
    """Return the program `package`, built as the go.mod in `module` pins it.

    `stamps` are variables that the linker sets (`package.Name=value`); a program with others needs another name.
    Cost: minutes for the first build of a large program, nothing after it; the cache follows the content of go.sum.
    Raises: RuntimeError with the compiler's words, or with what to install.
    """
    go = shutil.which("go")
    if go is None:
        raise RuntimeError(f"building {name} needs Go 1.26 or later on PATH")
    target = CACHE / name
    stamp = target.with_suffix(".sum")
    wanted = (module / "go.mod").read_text() + (module / "go.sum").read_text()
    if target.exists() and stamp.exists() and stamp.read_text() == wanted:
        return target
    CACHE.mkdir(parents=True, exist_ok=True)
    partial = CACHE / f"{name}.{os.getpid()}.partial"
    flags = " ".join(["-s", "-w", *(f"-X {one}" for one in stamps)])
    done = subprocess.run(
        [go, "build", "-trimpath", "-ldflags", flags, "-o", str(partial), package],
        cwd=module,
        env={"GOFLAGS": "-mod=readonly -buildvcs=false", **os.environ},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=BUILD_SECONDS,
        check=False,
    )
    if done.returncode != 0:
        raise RuntimeError(f"go build {package} ended with {done.returncode}:\n{done.stderr[-4000:]}")
    partial.rename(target)
    stamp.write_text(wanted)
    return target
