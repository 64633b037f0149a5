"""Builds the two packages of a release, without a container daemon.

    python functions/package/build.py --out dist

writes dist/configuration.xpkg, dist/function-<arch>.xpkg and dist/runtime-<arch>.tar (the image without the package, a
docker-archive for `docker load` or `crossplane xpkg build --embed-runtime-image-tarball`).
"""

from __future__ import annotations

import argparse
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import archive
import runtime
import yaml

REPOSITORY = Path(__file__).resolve().parents[2]
FUNCTION = "function-modelplane"
# A Configuration may hold these and nothing else (xpkg.md).
_ALLOWED = {
    "apiextensions.crossplane.io/v2": {"CompositeResourceDefinition"},
    "apiextensions.crossplane.io/v1": {"Composition"},
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Return the exit code; say what was written and how large it is."""
    options = _options(arguments)
    architectures = options.arch or ["amd64"]
    written = [_configuration(options.out / "configuration.xpkg", repository=options.repository)]
    if not options.configuration_only:
        for architecture in architectures:
            written += _function(options.out, options.cache, architecture)
    for path in written:
        sys.stdout.write(f"{path} {path.stat().st_size} bytes\n")
    return 0


def configuration_stream(repository: str) -> bytes:
    """Return the package.yaml of the Configuration: its metadata, then every definition and composition."""
    version = _version()
    meta = yaml.safe_load((REPOSITORY / "crossplane.yaml").read_text())
    for dependency in meta["spec"]["dependsOn"]:
        if dependency["kind"] == "Function":
            dependency["package"] = f"{repository}/{FUNCTION}"
            dependency["version"] = f">=v{version}"
    documents = [meta]
    for path in sorted((REPOSITORY / "apis").rglob("*.yaml")):
        for document in yaml.safe_load_all(path.read_text()):
            if document["kind"] not in _ALLOWED.get(document["apiVersion"], set()):
                raise SystemExit(f"build: {path}: a Configuration package may not hold a {document['kind']}")
            documents.append(document)
    return _stream(documents)


def function_stream() -> bytes:
    """Return the package.yaml of the Function."""
    return _stream([yaml.safe_load(Path(__file__).with_name("crossplane.yaml").read_text())])


def _configuration(path: Path, *, repository: str) -> Path:
    image = archive.Image("amd64").with_layer(_package_layer(configuration_stream(repository)), label="base")
    archive.write(image, path)
    return path


def _function(out: Path, cache: Path, architecture: str) -> list[Path]:
    image = runtime.image(REPOSITORY, cache, architecture)
    bare = out / f"runtime-{architecture}.tar"
    archive.write(image, bare, tag=f"{FUNCTION}:v{_version()}")
    package = out / f"function-{architecture}.xpkg"
    archive.write(image.with_layer(_package_layer(function_stream()), label="base"), package)
    return [bare, package]


def _package_layer(stream: bytes) -> archive.Layer:
    return archive.layer(archive.tar_of_files({"package.yaml": stream}))


def _stream(documents: Sequence[Any]) -> bytes:
    return yaml.safe_dump_all(documents, sort_keys=False, explicit_start=True, width=10_000).encode()


def _version() -> str:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())
    return str(project["project"]["version"])


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=REPOSITORY / "dist", help="output directory (default: dist)")
    parser.add_argument(
        "--cache", type=Path, default=REPOSITORY / ".cache" / "package", help="cache directory for the next build"
    )
    parser.add_argument("--arch", action="append", choices=runtime.ARCHITECTURES, help="repeatable (default: amd64)")
    parser.add_argument(
        "--repository",
        default="xpkg.modelplane.ai",
        help="registry that holds function-modelplane; the Configuration depends on it there. A path below it changes "
        "the name under which the dependency is installed, and the Compositions would not find it",
    )
    parser.add_argument("--configuration-only", action="store_true", help="build the Configuration and no image")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
