"""A release in a registry: pushed, signed and attested as the pages say, and anything else is refused.

The blocks of docs/release.md are run as they are written, with cosign and Crossplane's command, without a service of
Sigstore. What stands in for the public registry is the one of go-containerregistry, on this machine.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.crossplane import test_packages as packages
from tests.conformance.supply import registry
from tests.conformance.supply.registry import Machine
from tests.support import controlplane, gobinaries, live

SUITE = "supply"
PAGE = (gobinaries.REPOSITORY / "docs" / "release.md").read_text(encoding="utf-8")
BLOCKS = dict(re.findall(r"```bash\n# ([a-z]+)[^\n]*\n(.*?)```", PAGE, re.DOTALL))
FUNCTION = f"{registry.PUBLIC}/function-modelplane"
DIGEST = f'"{FUNCTION}@$(crane digest {FUNCTION}:v0.2.0)"'
VERIFY = "cosign verify --key ../release.pub --private-infrastructure"
ATTESTED = "cosign verify-attestation --key ../release.pub --private-infrastructure --type"
PREDICATES = {"slsaprovenance1": "https://slsa.dev/provenance/v1", "cyclonedx": "https://cyclonedx.org/bom"}


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    """Yield a machine that has built a release and run every block of the page up to the one that verifies."""
    live.needs(SUITE, "go", "git", "mmdebstrap", "dpkg-deb", "openssl")
    root = tmp_path_factory.mktemp("release")
    clone = packages.copied(gobinaries.REPOSITORY, root / "clone")
    registry.committed(clone)
    packages.build(clone, clone / "dist")
    (clone / ".cache").mkdir()
    (clone / ".cache" / "package").symlink_to(gobinaries.REPOSITORY / ".cache" / "package")
    programs = registry.install(root / "programs")
    with registry.serving(f"127.0.0.1:{free_port()}", root / "registry.log") as address:
        machine = Machine(clone, programs, address)
        machine.done("hatch run sbom dist/function-amd64.xpkg")
        for name in ("keys", "checksums", "provenance", "push", "sign"):
            machine.done(BLOCKS[name])
        yield machine


@pytest.fixture
def empty(released: Machine, tmp_path: Path) -> Iterator[Machine]:
    """Yield the same machine with another registry, in which nothing is."""
    with registry.serving(f"127.0.0.1:{free_port()}", tmp_path / "registry.log") as address:
        yield Machine(released.clone, released.programs, address)


def test_what_was_released_is_verified_with_the_public_key_alone(released: Machine) -> None:
    released.done(BLOCKS["verify"])


@pytest.mark.parametrize("kind", PREDICATES)
def test_what_is_attested_is_what_was_made_of_the_build(released: Machine, kind: str) -> None:
    made = statement(released.done(f"{ATTESTED} {kind} {DIGEST}"))
    assert made["predicateType"] == PREDICATES[kind]
    pushed = released.done(f"crane digest {FUNCTION}:v0.2.0").strip()
    assert [one["digest"] for one in made["subject"]] == [{"sha256": pushed.removeprefix("sha256:")}]
    file = {"slsaprovenance1": "provenance.json", "cyclonedx": "function-amd64.cdx.json"}[kind]
    ours = json.loads((released.clone / "dist" / file).read_text())
    assert made["predicate"] == ours


def test_the_provenance_names_the_commit_and_the_builder(released: Machine) -> None:
    predicate = statement(released.done(f"{ATTESTED} slsaprovenance1 {DIGEST}"))["predicate"]
    commit = released.done("git rev-parse HEAD").strip()
    (source,) = [one for one in predicate["buildDefinition"]["resolvedDependencies"] if one.get("name") == "source"]
    assert source["digest"] == {"gitCommit": commit}
    assert predicate["runDetails"]["builder"]["id"] == "https://example.com/release-machine"


def test_another_package_under_the_same_tag_is_refused(released: Machine, empty: Machine) -> None:
    """Somebody who may write to the registry moves the tag; the signatures of the first package are still there."""
    copy_all(released, empty)
    empty.done(BLOCKS["verify"])
    layer = released.clone.parent / "layer.tar"
    released.done(f"tar -cf {layer} --owner=0 --group=0 LICENSE")
    empty.done(f"crane append --base {FUNCTION}:v0.2.0 --new_layer {layer} --new_tag {FUNCTION}:v0.2.0")
    for command in (VERIFY, *(f"{ATTESTED} {kind}" for kind in PREDICATES)):
        ended = empty.run(f"{command} {DIGEST}")
        assert ended.returncode != 0, command
        assert "no signatures found" in ended.stderr or "no matching attestations" in ended.stderr, ended.stderr
    assert empty.run(BLOCKS["verify"]).returncode != 0


def test_a_package_that_is_not_the_one_that_was_built_is_not_signed(released: Machine, empty: Machine) -> None:
    empty.done(BLOCKS["push"])
    layer = released.clone.parent / "another.tar"
    released.done(f"tar -cf {layer} --owner=0 --group=0 LICENSE")
    empty.done(f"crane append --base {FUNCTION}:v0.2.0 --new_layer {layer} --new_tag {FUNCTION}:v0.2.0")
    assert empty.run(BLOCKS["sign"]).returncode != 0
    assert empty.run(f"{VERIFY} {DIGEST}").returncode != 0, "nothing is signed"


def test_another_key_is_refused(released: Machine) -> None:
    other = "openssl ecparam -name prime256v1 -genkey -noout | openssl ec -pubout -out ../other.pub"
    released.done(other)
    for command in (VERIFY, *(f"{ATTESTED} {kind}" for kind in PREDICATES)):
        assert released.run(f"{command.replace('release.pub', 'other.pub')} {DIGEST}").returncode != 0, command


def test_a_package_that_nobody_attested_is_refused(released: Machine, empty: Machine) -> None:
    empty.done(BLOCKS["push"])
    assert empty.run(f"{VERIFY} {DIGEST}").returncode != 0
    empty.done(f"cosign sign --yes --key ../cosign.key --use-signing-config=false --tlog-upload=false {DIGEST}")
    empty.done(f"{VERIFY} {DIGEST}")
    for kind in PREDICATES:
        assert empty.run(f"{ATTESTED} {kind} {DIGEST}").returncode != 0, kind


@pytest.mark.parametrize(
    ("builder", "said"), [("release-machine", ""), ("another-machine", "none of the attestations matched")]
)
def test_an_attestation_that_was_changed_is_refused(released: Machine, empty: Machine, builder: str, said: str) -> None:
    """The bundles are put in place one by one; with the builder's own name in them they hold as they did.

    What cosign cannot verify it leaves out, and then finds no provenance among the rest.
    """
    copy_all(released, empty)
    digest = empty.done(f"crane digest {FUNCTION}:v0.2.0").strip()
    shelf = registry.Shelf(empty.registry, "function-modelplane")
    index = shelf.manifest(digest.replace(":", "-"))
    for entry in index["manifests"]:
        manifest = shelf.manifest(entry["digest"])
        (layer,) = manifest["layers"]
        bundle = json.loads(shelf.blob(layer["digest"]))
        payload = base64.b64decode(bundle["dsseEnvelope"]["payload"]).replace(b"release-machine", builder.encode())
        bundle["dsseEnvelope"]["payload"] = base64.b64encode(payload).decode()
        layer |= shelf.put_blob(json.dumps(bundle).encode())
        entry.update(shelf.put_manifest(manifest))
    shelf.put_manifest(index, digest.replace(":", "-"))
    ended = empty.run(f"{ATTESTED} slsaprovenance1 {DIGEST}")
    assert (ended.returncode == 0) is (not said), ended.stderr
    assert said in ended.stderr
    assert empty.run(f"{ATTESTED} cyclonedx {DIGEST}").returncode == 0, "the other one is as it was"


def free_port() -> int:
    (port,) = controlplane.free_ports(1)
    return port


def copy_all(source: Machine, to: Machine) -> None:
    """Copy the release to another registry with its signatures and attestations."""
    for repository in ("function-modelplane", "modelplane"):
        here, there = f"{source.registry}/{repository}", f"{to.registry}/{repository}"
        digest = source.done(f"crane digest {here}:v0.2.0").strip()
        for tag in ("v0.2.0", digest.replace(":", "-")):
            source.done(f"crane copy {here}:{tag} {there}:{tag}")


def statement(output: str) -> Any:
    """Return the statement in the envelope that cosign prints."""
    (line,) = [line for line in output.splitlines() if line.startswith("{")]
    return json.loads(base64.b64decode(json.loads(line)["payload"]))
