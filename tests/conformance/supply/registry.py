"""A registry on this machine, and the programs that a release is pushed, signed and verified with."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.conformance.tools import workshop

START_SECONDS = 30
COMMAND_SECONDS = 300
PUBLIC = "xpkg.modelplane.ai"
"""The registry that the pages name."""


@dataclass(frozen=True)
class Machine:
    """A machine of a release: a clone, programs on its path, and the address of a registry."""

    clone: Path
    programs: Path
    registry: str

    def run(self, commands: str) -> subprocess.CompletedProcess[str]:
        """Return how commands of a page end in the clone. They meet our registry under the name of the public one."""
        script = ["bash", "-euo", "pipefail", "-c", commands.replace(PUBLIC, self.registry)]
        return subprocess.run(
            script, cwd=self.clone, env=self._environment(), stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=COMMAND_SECONDS, check=False,
        )  # fmt: skip

    def done(self, commands: str) -> str:
        """Return the output of commands that must end with 0."""
        ended = self.run(commands)
        assert ended.returncode == 0, f"{commands}\nended with {ended.returncode}:\n{ended.stdout}\n{ended.stderr}"
        return ended.stdout

    def _environment(self) -> Mapping[str, str]:
        # No credentials, keys or settings of whoever runs the tests; the key of the tests has an empty password.
        path = f"{self.programs}:{os.environ['PATH']}"
        return {"PATH": path, "HOME": str(self.programs), "COSIGN_PASSWORD": "", "GIT_CONFIG_GLOBAL": os.devnull}


@dataclass(frozen=True)
class Shelf:
    """One repository of a registry, over its own protocol: what somebody can do there who may write to it.

    Source: the OCI distribution specification 1.1.
    """

    registry: str
    repository: str

    def manifest(self, name: str) -> Any:
        """Return the manifest of a tag or digest."""
        return json.loads(self._ask("GET", f"manifests/{name}"))

    def blob(self, digest: str) -> bytes:
        """Return a blob."""
        return self._ask("GET", f"blobs/{digest}")

    def put_blob(self, content: bytes) -> dict[str, Any]:
        """Write a blob and return what names it: its digest and size."""
        described = _described(content)
        self._ask("POST", f"blobs/uploads/?digest={described['digest']}", content)
        return described

    def put_manifest(self, manifest: Any, tag: str = "") -> dict[str, Any]:
        """Write a manifest under a tag, or under its digest, and return what names it."""
        content = json.dumps(manifest).encode()
        described = _described(content)
        self._ask("PUT", f"manifests/{tag or described['digest']}", content, manifest["mediaType"])
        return described

    def _ask(self, method: str, path: str, content: bytes | None = None, media_type: str = "") -> bytes:
        url = f"http://{self.registry}/v2/{self.repository}/{path}"
        headers = {"Content-Type": media_type or "application/octet-stream"}
        asked = urllib.request.Request(url, data=content, method=method, headers=headers)
        with urllib.request.urlopen(asked, timeout=START_SECONDS) as answer:  # noqa: S310 - http, as written above
            return bytes(answer.read())


def _described(content: bytes) -> dict[str, Any]:
    return {"digest": f"sha256:{hashlib.sha256(content).hexdigest()}", "size": len(content)}


def install(folder: Path) -> Path:
    """Return a folder with the programs that the pages name. `hatch run` runs our own of the clone."""
    folder.mkdir()
    for name, program in (("crossplane", "crossplane-cli"), ("cosign", "cosign"), ("crane", "crane")):
        (folder / name).symlink_to(workshop.program(program))
    hatch = folder / "hatch"
    hatch.write_text(f'#!/bin/sh -e\nname=$2; shift 2\nexec {sys.executable} functions/package/"$name".py "$@"\n')
    hatch.chmod(0o755)
    return folder


@contextmanager
def serving(address: str, log: Path) -> Iterator[str]:
    """Yield the address of an empty registry (of go-containerregistry), which forgets everything when it ends."""
    command = [str(workshop.program("crane")), "registry", "serve", "--address", address]
    with log.open("w") as written:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=written, stderr=subprocess.STDOUT)
    try:
        _await(address, process, log)
        yield address
    finally:
        process.terminate()
        process.wait(timeout=START_SECONDS)


def _await(address: str, process: subprocess.Popen[bytes], log: Path) -> None:
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until and process.poll() is None:
        try:
            with urllib.request.urlopen(f"http://{address}/v2/", timeout=5):
                return
        except (urllib.error.URLError, TimeoutError):
            time.sleep(0.1)
    raise AssertionError(f"no registry on {address}:\n{log.read_text()}")


def committed(clone: Path) -> None:
    """Make a clone of a folder: a commit, and nothing that differs from it."""
    git = shutil.which("git")
    assert git is not None
    author = ("-c", "user.name=release", "-c", "user.email=release@example.com", "-c", "commit.gpgsign=false")
    for command in (("init", "-q"), ("add", "."), (*author, "commit", "-q", "-m", "release")):
        subprocess.run([git, *command], cwd=clone, check=True, capture_output=True)
