"""The provenance of a release: who built which files from what, as a signed SLSA statement.

    python functions/package/provenance.py dist --key release.key --builder https://example.com/release-machine

writes dist/provenance.intoto.json: an in-toto Statement v1 with a SLSA Provenance v1 predicate, in a DSSE envelope. Its
subjects are the packages and images in the folder. What they were made of is the commit, each Python file that pip
installed with the digest that requirements.txt pins, or build-requirements.txt for what built our wheel, each Debian
package by version, and the unpacked Debian packages by digest. No time is in it, so the same build gives the same
statement.

    python functions/package/provenance.py dist --verify release.pub

ends with 1 unless the signature, the form of the statement and the digest of every subject are right. With `--predicate
FILE` it then writes what the statement says of its subjects, for a tool that attaches it to another name of the same
thing: to the digest that a package has in a registry (`cosign attest --predicate`).
"""

from __future__ import annotations

import argparse
import hashlib
import json
import platform
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import sbom
from cryptography.hazmat.primitives import serialization
from google.protobuf import json_format
from in_toto_attestation.predicates.provenance.v1 import provenance_pb2
from in_toto_attestation.v1 import statement as statements
from in_toto_attestation.v1 import statement_pb2
from securesystemslib import dsse, exceptions
from securesystemslib.signer import CryptoSigner, SSlibKey

REPOSITORY = Path(__file__).resolve().parents[2]
FILE = "provenance.intoto.json"
PAYLOAD_TYPE = "application/vnd.in-toto+json"
PREDICATE_TYPE = "https://slsa.dev/provenance/v1"
BUILD_TYPE = "https://github.com/modelplane/modelplane/functions/package/build.py@v1"
_SUBJECTS = ("*.xpkg", "*.tar")

Json = Any


class Wrong(Exception):
    """A statement that does not hold, or cannot be made."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Return 0 when the statement was written or holds, 1 when it does not."""
    options = _options(arguments)
    try:
        if options.verify is not None:
            names = verified(options.folder, options.verify.read_bytes())
            if options.predicate is not None:
                options.predicate.write_text(predicate(options.folder))
            sys.stdout.write(f"{options.folder / FILE}: holds for {', '.join(names)}\n")
            return 0
        made = statement(options.folder, options.cache, builder=options.builder, source=options.source)
        (options.folder / FILE).write_text(signed(made, options.key.read_bytes()))
        count = len(made["predicate"]["buildDefinition"]["resolvedDependencies"])
        sys.stdout.write(f"{options.folder / FILE}: {len(made['subject'])} subjects, {count} dependencies\n")
    except Wrong as wrong:
        sys.stderr.write(f"provenance: {wrong}\n")
        return 1
    return 0


# --- the statement ----------------------------------------------------------------------------------------------------


def statement(folder: Path, cache: Path, *, builder: str, source: str) -> Json:
    """Return the statement about the files of a folder. Raises: Wrong when what it has to say is not known."""
    subjects = _subjects(folder)
    images = sorted(folder.glob("function-*.xpkg"))
    dependencies = [_source(source)]
    if images:
        dependencies += _python(cache, "build", "build-requirements.txt")
    for image in images:
        architecture = image.stem.removeprefix("function-")
        dependencies += _python(cache, architecture, "requirements.txt")
        dependencies += _debian(image, cache, architecture)
    made = {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": subjects,
        "predicateType": PREDICATE_TYPE,
        "predicate": {
            "buildDefinition": {
                "buildType": BUILD_TYPE,
                "externalParameters": {
                    "source": dependencies[0]["uri"],
                    "version": tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]["version"],
                    "architectures": [image.stem.removeprefix("function-") for image in images],
                },
                "internalParameters": {"SOURCE_DATE_EPOCH": "0"},
                "resolvedDependencies": dependencies,
            },
            "runDetails": {
                "builder": {"id": builder, "version": {"python": platform.python_version()}},
                "metadata": {"invocationId": _digest(json.dumps(subjects, sort_keys=True).encode())},
            },
        },
    }
    check(made)
    return made


def check(made: Json) -> None:
    """Raise Wrong unless a statement has the form that in-toto and SLSA define, without fields of its own."""
    try:
        parsed = json_format.ParseDict(made, statement_pb2.Statement())
        statements.Statement.copy_from_pb(parsed).validate()
        predicate = json_format.ParseDict(made["predicate"], provenance_pb2.Provenance())
    except (json_format.ParseError, ValueError, KeyError, TypeError) as error:
        raise Wrong(f"not a statement of SLSA: {error}") from error
    if made["predicateType"] != PREDICATE_TYPE:
        raise Wrong(f"the predicate is {made['predicateType']}; must be {PREDICATE_TYPE}")
    if not predicate.build_definition.build_type or not predicate.run_details.builder.id:
        raise Wrong("the statement says neither how nor by whom the files were built")


def _subjects(folder: Path) -> list[Json]:
    paths = sorted(path for pattern in _SUBJECTS for path in folder.glob(pattern))
    if not paths:
        raise Wrong(f"{folder} holds no package; build them first (functions/package/build.py)")
    return [{"name": path.name, "digest": {"sha256": _digest(path.read_bytes())}} for path in paths]


def _source(source: str) -> Json:
    """Return the commit that is checked out. Raises: Wrong when the files are not those of a commit."""
    if _git("status", "--porcelain", "--untracked-files=no"):
        raise Wrong("files differ from the commit that is checked out; commit them, and build again")
    return {"uri": f"git+{source}", "digest": {"gitCommit": _git("rev-parse", "HEAD")}, "name": "source"}


def _python(cache: Path, what: str, lock: str) -> Iterator[Json]:
    """Yield the files that pip installed for an architecture or the build, each held to a digest of a lock by pip."""
    report = cache / f"dependencies-{what}.json"
    if not report.exists():
        raise Wrong(f"{report} is missing; build the packages again")
    pinned = Path(__file__).with_name(lock).read_text()
    for one in json.loads(report.read_text())["install"]:
        file = one["download_info"]
        digest = file["archive_info"]["hashes"]["sha256"]
        if digest not in pinned:
            raise Wrong(f"{one['metadata']['name']} was installed from a file that {lock} does not pin")
        name, version = one["metadata"]["name"].lower().replace("_", "-"), one["metadata"]["version"]
        file_name = unquote(urlsplit(file["url"]).path.rpartition("/")[2])
        yield {"name": file_name, "uri": f"pkg:pypi/{name}@{version}", "digest": {"sha256": digest}}


def _debian(image: Path, cache: Path, architecture: str) -> Iterator[Json]:
    """Yield the unpacked Debian packages as one file, and each package by its version."""
    for unpacked in sorted(cache.glob(f"*-{architecture}-*.tar")):
        yield {"name": unpacked.name, "digest": {"sha256": _digest(unpacked.read_bytes())}}
    for part in sbom.parts(sbom.files(image), sbom.allow_list()):
        if part.kind == "deb":
            yield {"name": part.name, "uri": part.purl.to_string()}


def _git(*arguments: str) -> str:
    command = ["git", "-C", str(REPOSITORY), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - written here
    if done.returncode:
        raise Wrong(f"git {arguments[0]}: {done.stderr.strip()}")
    return done.stdout.strip()


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


# --- the envelope -----------------------------------------------------------------------------------------------------


def signed(made: Json, key: bytes) -> str:
    """Return the envelope of a statement, signed with a private key in PEM."""
    try:
        private = serialization.load_pem_private_key(key, password=None)
        signer = CryptoSigner(private)  # type: ignore[arg-type]  # which keys it takes is its own to say
    except (ValueError, TypeError, exceptions.UnsupportedLibraryError) as error:
        raise Wrong(f"the key cannot sign: {error}") from error
    payload = json.dumps(made, sort_keys=True, separators=(",", ":")).encode()
    envelope = dsse.Envelope(payload, PAYLOAD_TYPE, {})
    envelope.sign(signer)
    return json.dumps(envelope.to_dict(), indent=2) + "\n"


def verified(folder: Path, key: bytes) -> list[str]:
    """Return the names of the files that the statement in a folder holds for. Raises: Wrong."""
    try:
        envelope = dsse.Envelope.from_dict(json.loads((folder / FILE).read_text()))
        # The name of the key is the signer's to choose.
        name = next(iter(envelope.signatures), "")
        public = SSlibKey.from_crypto(serialization.load_pem_public_key(key), keyid=name)  # type: ignore[arg-type]
        envelope.verify([public], 1)
    except (OSError, ValueError, KeyError, TypeError, exceptions.VerificationError) as error:
        raise Wrong(f"the signature does not hold: {error}") from error
    if envelope.payload_type != PAYLOAD_TYPE:
        raise Wrong(f"the payload is {envelope.payload_type}; must be {PAYLOAD_TYPE}")
    made = json.loads(envelope.payload)
    check(made)
    for subject in made["subject"]:
        path = folder / subject["name"]
        if path.parent != folder or not path.is_file() or _digest(path.read_bytes()) != subject["digest"]["sha256"]:
            raise Wrong(f"{subject['name']} is not the file that was built")
    told = {subject["name"] for subject in made["subject"]}
    for one in _subjects(folder):
        if one["name"] not in told:
            raise Wrong(f"nothing is said of {one['name']}")
    return sorted(told)


def predicate(folder: Path) -> str:
    """Return the predicate of the statement in a folder, which was verified before."""
    envelope = dsse.Envelope.from_dict(json.loads((folder / FILE).read_text()))
    return json.dumps(json.loads(envelope.payload)["predicate"], sort_keys=True, indent=2) + "\n"


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where the packages are")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--key", type=Path, help="the private key of the release, in PEM: write the statement")
    what.add_argument("--verify", type=Path, metavar="KEY", help="the public key of the release, in PEM: verify it")
    parser.add_argument(
        "--predicate", type=Path, metavar="FILE", help="with --verify: write the predicate, if it holds"
    )
    parser.add_argument("--builder", default="", help="a URI that names the machine and who runs it")
    parser.add_argument(
        "--source", default="https://github.com/modelplane/modelplane", help="where the commit is published"
    )
    parser.add_argument("--cache", type=Path, default=REPOSITORY / ".cache" / "package", help="as build.py was given")
    options = parser.parse_args(arguments)
    if options.key and not urlsplit(options.builder).scheme:
        parser.error("--builder: a URI is required; consumers decide by it whom they believe")
    if options.predicate and not options.verify:
        parser.error("--predicate: only a statement that was verified is written; add --verify")
    return options


if __name__ == "__main__":
    sys.exit(main())
