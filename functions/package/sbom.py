"""The bill of materials of an image, read out of the image itself, and its licences checked against the list.

    python functions/package/sbom.py dist/function-amd64.xpkg

writes dist/function-amd64.cdx.json (CycloneDX 1.6) and prints every component with its licence. Ends with 1 when a
licence is not in licences.toml. The same image gives the same bytes.
"""

from __future__ import annotations

import argparse
import email.parser
import gzip
import hashlib
import io
import json
import re
import sys
import tarfile
import tomllib
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email.message import Message
from pathlib import Path

from cyclonedx.contrib.license.factories import LicenseFactory
from cyclonedx.model import HashAlgorithm, HashType
from cyclonedx.model.bom import Bom, BomMetaData
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.output import make_outputter
from cyclonedx.schema import OutputFormat, SchemaVersion
from packageurl import PackageURL

_DEBIAN = re.compile(r"(?:\./)?var/lib/dpkg/status\.d/([^/]+)$")
_COPYRIGHT = re.compile(r"(?:\./)?usr/share/doc/([^/]+)/copyright$")
_PYTHON = re.compile(r"(?:\./)?usr/local/lib/python[^/]+/dist-packages/[^/]+\.dist-info/METADATA$")
# Only its own bytes tell an image from another.
_SERIALS = uuid.UUID("6d6f6465-6c70-5c61-8e65-73626f6d0000")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_SYMBOL = re.compile(r"[A-Za-z0-9.+-]+")
_OPERATORS = frozenset({"AND", "OR", "WITH"})


@dataclass(frozen=True, slots=True)
class Part:
    """One package in the image. `licence` is an SPDX expression for Python's, empty for Debian's."""

    kind: str
    name: str
    version: str
    architecture: str
    licence: str

    @property
    def purl(self) -> PackageURL:
        """Return the package's URL, by which advisories name it."""
        if self.kind == "pypi":
            return PackageURL("pypi", None, self.name.lower().replace("_", "-"), self.version)
        return PackageURL("deb", "debian", self.name, self.version, {"arch": self.architecture, "distro": "bookworm"})


@dataclass(frozen=True, slots=True)
class Allowed:
    """The list of licences: SPDX names, Debian packages that were looked at, and what older metadata means."""

    spdx: frozenset[str]
    debian: frozenset[str]
    said: Mapping[str, str]


def main(arguments: Sequence[str] | None = None) -> int:
    """Return 0 when every licence is allowed, 1 when one is not."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("image", type=Path, help="a package or an image, as functions/package/build.py wrote it")
    image = parser.parse_args(arguments).image
    allowed = allow_list()
    found = parts(files(image), allowed)
    target = image.with_suffix(".cdx.json")
    target.write_text(bill(image, found))
    for part in found:
        sys.stdout.write(f"{part.kind:5} {part.name:32} {part.version:24} {part.licence or 'see its copyright file'}\n")
    problems = refused(found, allowed)
    for problem in problems:
        sys.stderr.write(f"sbom: {problem}\n")
    sys.stdout.write(f"{target}: {len(found)} components\n")
    return 1 if problems else 0


def allow_list() -> Allowed:
    """Return the content of licences.toml."""
    data = tomllib.loads(Path(__file__).with_name("licences.toml").read_text())
    return Allowed(frozenset(data["spdx"]), frozenset(data["debian"]), data["said"])


def files(image: Path) -> dict[str, bytes]:
    """Return the files of an image that say what is in it, by path."""
    found: dict[str, bytes] = {}
    with tarfile.open(image) as archive:
        (manifest,) = json.loads(_content(archive, "manifest.json"))
        for name in manifest["Layers"]:
            with tarfile.open(fileobj=io.BytesIO(gzip.decompress(_content(archive, name)))) as layer:
                for member in layer.getmembers():
                    wanted = any(one.match(member.name) for one in (_DEBIAN, _COPYRIGHT, _PYTHON))
                    if member.isfile() and wanted:
                        found[member.name.removeprefix("./")] = _content(layer, member)
    return found


def parts(found: Mapping[str, bytes], allowed: Allowed) -> list[Part]:
    """Return the packages that the files speak of, sorted. Raises: SystemExit for an image that has no records."""
    parts = sorted(_parts(found, allowed), key=lambda part: (part.kind, part.name))
    if {part.kind for part in parts} != {"deb", "pypi"}:
        raise SystemExit("sbom: the image has no list of its packages; build it with functions/package/build.py")
    return parts


def refused(found: Sequence[Part], allowed: Allowed) -> list[str]:
    """Return a line for each package whose licence is not on the list, or is not known."""
    problems = []
    for part in found:
        if part.kind == "deb":
            if part.name not in allowed.debian:
                problems.append(f"{part.name}: its licence is not reviewed; read its copyright file, then list it")
        elif unknown := sorted(_symbols(part.licence) - allowed.spdx) or (["no licence"] if not part.licence else []):
            problems.append(f"{part.name} {part.version}: {', '.join(unknown)} is not on the list of licences.toml")
    return problems


def bill(image: Path, found: Sequence[Part]) -> str:
    """Return the CycloneDX document."""
    digest = hashlib.sha256(image.read_bytes()).hexdigest()
    subject = Component(
        name=image.stem,
        type=ComponentType.CONTAINER,
        bom_ref="image",
        hashes=[HashType(alg=HashAlgorithm.SHA_256, content=digest)],
    )
    document = Bom(
        serial_number=uuid.uuid5(_SERIALS, digest),
        metadata=BomMetaData(component=subject, timestamp=_EPOCH),
        components=[_component(part) for part in found],
    )
    document.register_dependency(subject, document.components)
    return make_outputter(document, OutputFormat.JSON, SchemaVersion.V1_6).output_as_string(indent=2) + "\n"


def _component(part: Part) -> Component:
    factory = LicenseFactory()
    licence = (
        factory.make_from_string(part.licence)
        if part.licence
        else factory.make_with_name(f"/usr/share/doc/{part.name}/copyright")
    )
    return Component(
        name=part.name,
        version=part.version,
        type=ComponentType.LIBRARY,
        bom_ref=part.purl.to_string(),
        purl=part.purl,
        licenses=[licence],
    )


def _parts(found: Mapping[str, bytes], allowed: Allowed) -> Iterator[Part]:
    for path, content in found.items():
        if _COPYRIGHT.match(path):
            continue
        fields = email.parser.Parser().parsestr(content.decode(errors="replace"), headersonly=True)
        if _DEBIAN.match(path):
            yield Part("deb", fields["Package"], fields["Version"], fields["Architecture"], "")
        else:
            yield Part("pypi", fields["Name"], fields["Version"], "", _expression(fields, allowed.said))


def _expression(metadata: Message, said: Mapping[str, str]) -> str:
    """Return the SPDX expression of a Python package: its own, else what its older fields stand for, else nothing."""
    if expression := metadata["License-Expression"]:
        return str(expression)
    older = [str(metadata["License"] or ""), *metadata.get_all("Classifier", [])]
    return next((said[one] for one in older if one in said), "")


def _symbols(expression: str) -> set[str]:
    return set(_SYMBOL.findall(expression)) - _OPERATORS


def _content(archive: tarfile.TarFile, member: str | tarfile.TarInfo) -> bytes:
    file = archive.extractfile(member)
    if file is None:
        raise SystemExit(f"sbom: {member} is not a file")
    return file.read()


if __name__ == "__main__":
    sys.exit(main())
