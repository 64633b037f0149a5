"""Programs built from pinned modules into an ignored cache, and the files of those modules.

The cache follows the content of what pins a module (go.mod, go.sum, the linker's stamps), so a second run builds
nothing. Builds run one at a time and yield to everything else on the machine.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from tests.conformance.tools.pins import DEFINITIONS, MODULES, Module
from tests.support import crossplane

_HERE = Path(__file__).resolve().parent
REPOSITORY = _HERE.parents[2]
CACHE = REPOSITORY / ".cache" / "conformance"
BUILD_SECONDS = 7200
# Two compilers at a time: linking an API server takes 3 GiB, and the tests of others run beside it.
PARALLEL = 2
# Pinned beside the suite that compares with them, which needs nothing else of what is built here.
CROSSPLANE = {
    "crossplane": crossplane.binary,
    "crossplane-cli": crossplane.cli,
    "crossplane-rbac": crossplane.rbac_manager,
}
_DIGITS = 12


class Missing(Exception):
    """A program or a file that is not there, with the reason and what to do."""


def names() -> list[str]:
    """Return the name of every program that can be asked for."""
    return [program.name for module in MODULES for program in module.programs] + list(CROSSPLANE)


def program(name: str) -> Path:
    """Return a program, built when the cache does not hold it.

    Cost: many minutes for the first build of Kubernetes, nothing after it.
    Raises: Missing, with the compiler's words or with what to install.
    """
    if name in CROSSPLANE:
        try:
            return CROSSPLANE[name]()
        except RuntimeError as error:
            raise Missing(str(error)) from error
    module = module_of(name)
    folder = cached(module)
    if not (folder / name).exists():
        _build(module, name, folder / name)
    return folder / name


def module_of(name: str) -> Module:
    """Return the module that holds a program. Raises: Missing for a name nobody knows."""
    for module in MODULES:
        if any(one.name == name for one in module.programs):
            return module
    raise Missing(f"no program is named {name!r}; there are: {', '.join(names())}")


def cached(module: Module) -> Path:
    """Return the folder that holds (or will hold) the programs of a module as it is pinned now."""
    digest = hashlib.sha256()
    for text in ((module.folder / "go.mod").read_bytes(), (module.folder / "go.sum").read_bytes()):
        digest.update(text)
    made_with = [module.stamps, [one.package for one in module.programs], *([module.tags] if module.tags else ())]
    digest.update(json.dumps(made_with).encode())
    return CACHE / f"{module.name}-{digest.hexdigest()[:_DIGITS]}"


def source(pin: str, path: str) -> Path:
    """Return the folder of a pinned module's files.

    Raises: Missing when the module proxy does not serve it.
    """
    return module_files(_HERE / pin, path)


@cache
def module_files(folder: Path, path: str) -> Path:
    """Return the folder of the files of the module `path`, as the go.mod in `folder` pins it.

    Raises: Missing when the module proxy does not serve it.
    """
    _go("mod", "download", path, folder=folder)
    return Path(_go("list", "-m", "-f", "{{.Dir}}", path, folder=folder).strip())


def definitions(name: str) -> list[Path]:
    """Return the files with a project's CustomResourceDefinitions, sorted by name."""
    wanted = DEFINITIONS[name]
    root = source(wanted.pin, wanted.path) if wanted.pin else _HERE / wanted.path
    found = sorted(path for pattern in wanted.files for path in root.glob(pattern))
    if not found:
        raise Missing(f"{wanted.path} holds no file that matches {', '.join(wanted.files)}")
    return found


def _build(module: Module, name: str, target: Path) -> None:
    with _one_at_a_time():
        if target.exists():
            return  # another process built it while we waited
        target.parent.mkdir(parents=True, exist_ok=True)
        partial = target.with_suffix(f".{os.getpid()}.partial")
        (package,) = (one.package for one in module.programs if one.name == name)
        flags = " ".join(["-s", "-w", *(f"-X {stamp}" for stamp in module.stamps)])
        try:
            tags = f"-tags={','.join(module.tags)}"
            _go("build", "-trimpath", tags, "-ldflags", flags, "-o", str(partial), package, folder=module.folder)
            partial.rename(target)
        finally:
            partial.unlink(missing_ok=True)
        for old in CACHE.glob(f"{module.name}-" + "?" * _DIGITS):
            if old != target.parent:
                shutil.rmtree(old)


@contextmanager
def _one_at_a_time() -> Iterator[None]:
    CACHE.mkdir(parents=True, exist_ok=True)
    with (CACHE / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _go(*arguments: str, folder: Path) -> str:
    go = shutil.which("go")
    if go is None:
        raise Missing("Go 1.26 or later is not on PATH; install it from go.dev/dl")
    done = subprocess.run(
        ["nice", "-n", "19", go, *arguments],
        cwd=folder,
        env={**os.environ, "GOFLAGS": f"-mod=readonly -p={PARALLEL}"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=BUILD_SECONDS,
        check=False,
    )
    if done.returncode != 0:
        raise Missing(f"`go {' '.join(arguments)}` in {folder.name}: {done.stderr.strip()[-3000:]}")
    return done.stdout
