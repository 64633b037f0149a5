"""Images as docker-archive files, written byte for byte the same from the same content.

Source: the Docker image specification v1.2 (what `docker save` writes and go-containerregistry's tarball package
reads), and Crossplane's contributing/specifications/xpkg.md. In an archive, which has no place for a layer's
annotations, a package's layer is named by a label of the image's config.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import tarfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

EPOCH_SECONDS = 0
CREATED = "1970-01-01T00:00:00Z"
PACKAGE_LABEL = "io.crossplane.xpkg"


@dataclass(frozen=True, slots=True)
class Layer:
    """One layer: gzip bytes, and the digests of those and of the tar inside."""

    compressed: bytes
    diff_id: str
    digest: str


@dataclass(frozen=True, slots=True)
class Image:
    """An image for one architecture; `config` is the runtime part of its config file (entrypoint, user, labels)."""

    architecture: str
    layers: tuple[Layer, ...] = ()
    config: Mapping[str, Any] = field(default_factory=dict)

    def with_layer(self, layer: Layer, *, label: str | None = None) -> Image:
        """Return the image with one more layer, marked for Crossplane where `label` says what it holds."""
        config = dict(self.config)
        if label is not None:
            config["Labels"] = {**config.get("Labels", {}), f"{PACKAGE_LABEL}:sha256:{layer.digest}": label}
        return Image(self.architecture, (*self.layers, layer), config)


def layer(tar: bytes) -> Layer:
    """Return a layer that holds an uncompressed tar."""
    compressed = gzip.compress(tar, compresslevel=6, mtime=EPOCH_SECONDS)
    return Layer(compressed, hashlib.sha256(tar).hexdigest(), hashlib.sha256(compressed).hexdigest())


def tar_of_directory(root: Path) -> bytes:
    """Return a tar of everything below `root`: sorted, owned by root, without times, readable by all."""
    entries = [(path.relative_to(root).as_posix(), path) for path in sorted(root.rglob("*"))]
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name, path in entries:
            info = archive.gettarinfo(str(path), arcname=name)
            _anonymise(info)
            if info.isfile():
                with path.open("rb") as content:
                    archive.addfile(info, content)
            else:
                archive.addfile(info)
    return buffer.getvalue()


def tar_of_files(files: Mapping[str, bytes]) -> bytes:
    """Return a tar of `files` by path."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name in sorted(files):
            _add(archive, name, files[name])
    return buffer.getvalue()


def normalised_tar(tar: bytes, *, without: Iterable[str] = (), but: str = "\0") -> bytes:
    """Return the same tar in sorted order, without times, and without paths that start with one of `without`.

    What starts with `but` stays all the same.
    """
    dropped = tuple(without)
    buffer = io.BytesIO()
    with (
        tarfile.open(fileobj=io.BytesIO(tar)) as source,
        tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as archive,
    ):
        for info in sorted(source.getmembers(), key=lambda member: member.name):
            name = info.name.removeprefix("./")
            if (name.startswith(but) or not name.startswith(dropped)) and not info.isdev():
                info.mtime = EPOCH_SECONDS
                info.pax_headers = {}
                archive.addfile(info, source.extractfile(info) if info.isfile() else None)
    return buffer.getvalue()


def write(image: Image, path: Path, *, tag: str | None = None) -> None:
    """Write `image` to `path` as a docker-archive."""
    config = _config_file(image)
    config_name = f"sha256:{hashlib.sha256(config).hexdigest()}"
    names = [f"{one.digest}.tar.gz" for one in image.layers]
    manifest = [{"Config": config_name, "RepoTags": [tag] if tag else [], "Layers": names}]
    path.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(path, mode="w", format=tarfile.PAX_FORMAT) as archive:
        _add(archive, config_name, config)
        for name, one in dict(zip(names, image.layers, strict=True)).items():
            _add(archive, name, one.compressed)
        _add(archive, "manifest.json", json.dumps(manifest).encode())


def _config_file(image: Image) -> bytes:
    content = {
        "architecture": image.architecture,
        "os": "linux",
        "created": CREATED,
        "config": dict(image.config),
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{one.diff_id}" for one in image.layers]},
        "history": [{"created": CREATED, "created_by": "functions/package/build.py"} for _ in image.layers],
    }
    return json.dumps(content, sort_keys=True).encode()


def _add(archive: tarfile.TarFile, name: str, content: bytes) -> None:
    info = tarfile.TarInfo(name)
    info.size = len(content)
    _anonymise(info)
    archive.addfile(info, io.BytesIO(content))


def _anonymise(info: tarfile.TarInfo) -> None:
    info.mtime = EPOCH_SECONDS
    info.uid = info.gid = 0
    info.uname = info.gname = ""
    if not info.issym():
        info.mode = 0o755 if info.isdir() or info.mode & 0o100 else 0o644
