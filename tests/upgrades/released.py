"""The earlier release as its users run it: its functions in a process of their own, its definitions, its examples.

It is kept as an archive of its source, so that a clone without history has it too. `python -m tests.upgrades` writes
the archive anew; a test compares it with git where git has the commit.
"""

from __future__ import annotations

import functools
import io
import json
import lzma
import os
import subprocess
import tarfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import grpc
from crossplane.function.proto.v1 import run_function_pb2_grpc as grpcv1

from modelplane import structural
from modelplane.structural import crossplane
from modelplane_cli.simulator.definitions import Definition, Definitions, builtin
from modelplane_cli.simulator.pipeline import Function
from modelplane_functions import responder
from tests.support import examples, functionserver

Json = Any
ARCHIVE: Final = Path(__file__).with_name("earlier.tar.xz")
REPOSITORY: Final = Path(__file__).resolve().parents[2]
KEPT: Final = (
    "lib/kubecel",
    "lib/modelplane",
    "functions/modelplane_functions",
    "schemas/modelplane_schemas/__init__.py",
    "schemas/modelplane_schemas/apis.json",
    "examples",
)
"""The parts of the source that serve calls, and the examples."""
_PATHS: Final = ("lib", "functions", "schemas")
_MIB: Final = 1024 * 1024


@dataclass(frozen=True)
class Release:
    """Functions and definitions that belong together."""

    name: str
    function: Function
    definitions: Definitions


def commit() -> str:
    """Return the commit that the archive is of, which git writes into it."""
    with tarfile.open(ARCHIVE) as archive:
        return str(archive.pax_headers["comment"])


def files(content: bytes) -> dict[str, bytes]:
    """Return the files of an uncompressed archive by their path."""
    with tarfile.open(fileobj=io.BytesIO(content)) as archive:
        members = [one for one in archive.getmembers() if one.isfile()]
        return {one.name: _read(archive, one) for one in members}


def _read(archive: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    found = archive.extractfile(member)
    assert found is not None
    return found.read()


def last_tag() -> str | None:
    """Return the commit of the last tagged release before this one, None where git knows of none."""
    tag = _git("describe", "--tags", "--abbrev=0", "--match", "v*", "HEAD^")
    found = _git("rev-parse", f"{tag.decode().strip()}^{{commit}}") if tag is not None else None
    return None if found is None else found.decode().strip()


def archived(commit: str) -> bytes | None:
    """Return the uncompressed archive of a commit, None where git does not have it."""
    return _git("archive", "--format=tar", f"{commit}^{{commit}}", "--", *KEPT)


def _git(*arguments: str) -> bytes | None:
    """Return what git says, None where it fails."""
    try:
        done = subprocess.run(["git", *arguments], cwd=REPOSITORY, capture_output=True, check=False)
    except OSError:
        return None
    return done.stdout if done.returncode == 0 else None


def keep(content: bytes) -> None:
    """Keep an uncompressed archive as the earlier release."""
    ARCHIVE.write_bytes(lzma.compress(content, preset=9 | lzma.PRESET_EXTREME))


def kept() -> bytes:
    """Return the uncompressed archive that is kept."""
    return lzma.decompress(ARCHIVE.read_bytes())


def unpack(folder: Path) -> None:
    """Write the files of the archive below a folder."""
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(folder, filter="data")


def definitions(folder: Path) -> Definitions:
    """Return the kinds of the release that is unpacked in a folder."""
    text = (folder / "schemas/modelplane_schemas/apis.json").read_text(encoding="utf-8")
    bundle: Mapping[str, Mapping[str, Json]] = json.loads(text)
    return Definitions(
        [
            Definition(structural.kind_of(crossplane.derive(one["definition"])), one["composition"])
            for one in bundle.values()
        ]
    )


@functools.cache
def fleets() -> tuple[str, ...]:
    """Return the examples of the release that lead to composed resources."""
    paths = [Path(path) for path in files(kept()) if path.startswith("examples/") and path.endswith(".yaml")]
    names = {path.parent.relative_to("examples") for path in paths}
    return tuple(
        sorted(name.as_posix() for name in names if name.parts and name.parts[0] not in examples.NO_COMPOSITES)
    )


def environment(folder: Path) -> dict[str, str]:
    """Return the environment of a process of the release: it finds its own code before what is installed."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(str(folder / one) for one in _PATHS)}


@contextmanager
def earlier(folder: Path) -> Iterator[Release]:
    """Yield the earlier release, which is unpacked in a folder. Its server is asked over gRPC, as by Crossplane."""
    command = (
        *("env", "-C", str(folder), f"PYTHONPATH={environment(folder)['PYTHONPATH']}"),
        *functionserver.PRODUCTION,
    )
    with functionserver.running(["--insecure"], command=command) as server:
        options = [("grpc.max_receive_message_length", 64 * _MIB), ("grpc.max_send_message_length", 64 * _MIB)]
        with grpc.insecure_channel(server.target, options=options) as channel:
            stub = grpcv1.FunctionRunnerServiceStub(channel)  # type: ignore[no-untyped-call]  # generated
            yield Release("earlier", functools.partial(stub.RunFunction, timeout=60), definitions(folder))


def today() -> Release:
    """Return the release of this working tree, asked in this process."""
    return Release("today", responder.answer, builtin())
