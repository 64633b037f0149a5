"""The provenance of a release holds for the files that were built, and for nothing else."""

from __future__ import annotations

import base64
import copy
import gzip
import importlib.util
import json
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from tests.support import archives

PACKAGE = Path(__file__).resolve().parents[3] / "functions" / "package"
COMMIT = "a" * 40
BUILDER = "https://example.com/release-machine"
LOCKS = {"amd64": "requirements.txt", "build": "build-requirements.txt"}
PINNED, BUILT = (re.findall(r"sha256:([0-9a-f]{64})", (PACKAGE / lock).read_text())[0] for lock in LOCKS.values())


@pytest.fixture(scope="module")
def provenance() -> ModuleType:
    """The program as a module."""
    sys.path.insert(0, str(PACKAGE))
    try:
        spec = importlib.util.spec_from_file_location("provenance", PACKAGE / "provenance.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(PACKAGE))
    return module


@dataclass
class Release:
    """A folder with packages, what the build left beside it, and the keys of the release."""

    folder: Path
    cache: Path
    key: Path
    public: Path

    def make(self, program: ModuleType) -> int:
        given = [str(self.folder), "--key", str(self.key), "--builder", BUILDER, "--cache", str(self.cache)]
        return int(program.main(given))

    def verify(self, program: ModuleType, key: Path | None = None) -> int:
        return int(program.main([str(self.folder), "--verify", str(key or self.public)]))

    @property
    def envelope(self) -> Path:
        return self.folder / "provenance.intoto.json"

    def payload(self) -> Any:
        return json.loads(base64.b64decode(json.loads(self.envelope.read_text())["payload"]))


@pytest.fixture
def release(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, provenance: ModuleType) -> Release:
    folder, cache = tmp_path / "dist", tmp_path / "cache"
    folder.mkdir()
    cache.mkdir()
    (folder / "configuration.xpkg").write_bytes(b"configuration")
    (folder / "function-amd64.xpkg").write_bytes(image())
    (cache / "bookworm-amd64-0.tar").write_bytes(b"debian")
    report(cache, PINNED)
    report(cache, BUILT, "build", "Builder")
    said = {"status": "", "rev-parse": COMMIT}
    monkeypatch.setattr(provenance, "_git", lambda verb, *_rest: said[verb])
    key, public = keys(tmp_path, "release")
    return Release(folder, cache, key, public)


def report(cache: Path, digest: str, what: str = "amd64", name: str = "Thing") -> None:
    url = f"https://files.example.com/packages/{name.lower()}-1-py3-none-any.whl"
    file = {"url": url, "archive_info": {"hashes": {"sha256": digest}}}
    one = {"metadata": {"name": name, "version": "1"}, "download_info": file}
    (cache / f"dependencies-{what}.json").write_text(json.dumps({"install": [one]}))


def keys(folder: Path, name: str) -> tuple[Path, Path]:
    private = ec.generate_private_key(ec.SECP256R1())
    key, public = folder / f"{name}.key", folder / f"{name}.pub"
    pem = serialization.Encoding.PEM
    none = serialization.NoEncryption()
    key.write_bytes(private.private_bytes(pem, serialization.PrivateFormat.PKCS8, none))
    public.write_bytes(private.public_key().public_bytes(pem, serialization.PublicFormat.SubjectPublicKeyInfo))
    return key, public


def image() -> bytes:
    layer = {
        "usr/local/lib/python3.11/dist-packages/thing-1.dist-info/METADATA": b"Name: thing\nVersion: 1\n\n",
        "var/lib/dpkg/status.d/zlib1g": b"Package: zlib1g\nVersion: 1:1.2\nArchitecture: amd64\n",
    }
    return archives.tar(
        {"layer.tar.gz": gzip.compress(archives.tar(layer)), "manifest.json": b'[{"Layers": ["layer.tar.gz"]}]'}
    )


def test_the_statement_says_what_was_built_from_what_and_holds(release: Release, provenance: ModuleType) -> None:
    assert (release.make(provenance), release.verify(provenance)) == (0, 0)
    made = release.payload()
    assert [one["name"] for one in made["subject"]] == ["configuration.xpkg", "function-amd64.xpkg"]
    definition = made["predicate"]["buildDefinition"]
    named = {one.get("name"): one for one in definition["resolvedDependencies"]}
    assert named["source"]["digest"] == {"gitCommit": COMMIT}
    assert named["thing-1-py3-none-any.whl"] == {
        "name": "thing-1-py3-none-any.whl",
        "uri": "pkg:pypi/thing@1",
        "digest": {"sha256": PINNED},
    }
    assert named["builder-1-py3-none-any.whl"]["digest"] == {"sha256": BUILT}
    assert named["zlib1g"]["uri"].startswith("pkg:deb/debian/zlib1g@")
    assert "sha256" in named["bookworm-amd64-0.tar"]["digest"]
    assert made["predicate"]["runDetails"]["builder"]["id"] == BUILDER


def test_the_same_build_gives_the_same_statement(release: Release, provenance: ModuleType) -> None:
    release.make(provenance)
    first = release.payload()
    release.make(provenance)
    assert release.payload() == first


def test_openssl_finds_the_signature_right(release: Release, provenance: ModuleType) -> None:
    """DSSE signs `DSSEv1 SP length SP type SP length SP payload`, whoever verifies it."""
    release.make(provenance)
    envelope = json.loads(release.envelope.read_text())
    payload, kind = base64.b64decode(envelope["payload"]), envelope["payloadType"].encode()
    signed, signature = release.folder / "signed", release.folder / "signature"
    signed.write_bytes(b"DSSEv1 %d %s %d %s" % (len(kind), kind, len(payload), payload))
    signature.write_bytes(base64.b64decode(envelope["signatures"][0]["sig"]))
    check = ["openssl", "dgst", "-sha256", "-verify", str(release.public), "-signature", str(signature), str(signed)]
    assert subprocess.run(check, capture_output=True, check=False).stdout == b"Verified OK\n"
    signed.write_bytes(signed.read_bytes() + b" ")
    assert subprocess.run(check, capture_output=True, check=False).returncode != 0


def test_a_file_that_was_changed_added_or_taken_away_is_found(release: Release, provenance: ModuleType) -> None:
    release.make(provenance)
    package = release.folder / "configuration.xpkg"
    package.write_bytes(b"another")
    assert release.verify(provenance) == 1
    package.unlink()
    assert release.verify(provenance) == 1
    package.write_bytes(b"configuration")
    assert release.verify(provenance) == 0
    (release.folder / "function-arm64.xpkg").write_bytes(b"nobody spoke of it")
    assert release.verify(provenance) == 1


def test_another_key_and_another_payload_are_found(
    release: Release, provenance: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    release.make(provenance)
    assert release.verify(provenance, keys(tmp_path, "another")[1]) == 1
    envelope = json.loads(release.envelope.read_text())
    made = release.payload()
    made["predicate"]["runDetails"]["builder"]["id"] = "https://example.com/another"
    envelope["payload"] = base64.b64encode(json.dumps(made).encode()).decode()
    release.envelope.write_text(json.dumps(envelope))
    assert release.verify(provenance) == 1
    envelope["signatures"] = []
    release.envelope.write_text(json.dumps(envelope))
    assert release.verify(provenance) == 1
    assert capsys.readouterr().err.count("the signature does not hold") == 3


def test_the_predicate_is_written_of_a_statement_that_holds(release: Release, provenance: ModuleType) -> None:
    release.make(provenance)
    written = release.folder / "predicate.json"
    given = [str(release.folder), "--verify", str(release.public), "--predicate", str(written)]
    (release.folder / "configuration.xpkg").write_bytes(b"another")
    assert provenance.main(given) == 1
    assert not written.exists()
    (release.folder / "configuration.xpkg").write_bytes(b"configuration")
    assert provenance.main(given) == 0
    assert json.loads(written.read_text()) == release.payload()["predicate"]
    with pytest.raises(SystemExit):
        provenance.main([str(release.folder), "--key", str(release.key), "--builder", BUILDER, *given[-2:]])


def test_a_statement_of_another_form_is_refused(release: Release, provenance: ModuleType) -> None:
    release.make(provenance)
    good = release.payload()
    provenance.check(good)
    changes: list[Callable[[Any], object]] = [
        lambda one: one["predicate"].update(colour="blue"),
        lambda one: one["predicate"]["runDetails"]["builder"].clear(),
        lambda one: one.update(subject=[]),
        lambda one: one.update(_type="https://in-toto.io/Statement/v0.1"),
        lambda one: one["subject"][0].pop("digest"),
    ]
    for change in changes:
        changed = copy.deepcopy(good)
        change(changed)
        with pytest.raises(provenance.Wrong):
            provenance.check(changed)


def test_what_is_not_pinned_not_committed_or_not_known_is_not_stated(
    release: Release, provenance: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    for what, pinned in (("amd64", PINNED), ("build", BUILT)):
        for digest in ("0" * 64, BUILT if what == "amd64" else PINNED):
            report(release.cache, digest, what)
            assert release.make(provenance) == 1
        (release.cache / f"dependencies-{what}.json").unlink()
        assert release.make(provenance) == 1
        report(release.cache, pinned, what)
        assert release.make(provenance) == 0
    monkeypatch.setattr(provenance, "_git", lambda *_given: " M lib/modelplane/names.py")
    assert release.make(provenance) == 1
    with pytest.raises(SystemExit):
        provenance.main([str(release.folder), "--key", str(release.key)])
