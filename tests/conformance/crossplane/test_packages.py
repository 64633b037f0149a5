"""The packages of a release: built twice, read by Crossplane's own command, unpacked and run.

Needs mmdebstrap, Go for the command, and root for the part that runs the image (a mount namespace and chroot stand in
for a container runtime; nothing of the host but /dev is inside).
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest
import yaml
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

from tests.support import crossplane, functionserver, gobinaries, live, requests

HERE = Path(__file__).resolve().parent
SUITE = "packages"


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of what is packaged, so that an edit during the tests changes nothing."""
    return copied(gobinaries.REPOSITORY, tmp_path_factory.mktemp("source") / "here")


@pytest.fixture(scope="module")
def built(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    live.needs(SUITE, "go", "mmdebstrap", "dpkg-deb")
    return build(source, tmp_path_factory.mktemp("first"))


@pytest.fixture(scope="module")
def cli() -> Path:
    live.needs(SUITE, "go")
    return crossplane.cli()


def copied(repository: Path, to: Path) -> Path:
    """Copy what the builder reads."""
    to.mkdir(parents=True)
    for folder in ("apis", "functions", "lib", "schemas"):
        shutil.copytree(repository / folder, to / folder, ignore=shutil.ignore_patterns("__pycache__"))
    for file in ("LICENSE", "README.md", "crossplane.yaml", "pyproject.toml"):
        shutil.copy(repository / file, to / file)
    return to


def build(repository: Path, out: Path) -> Path:
    cache = gobinaries.REPOSITORY / ".cache" / "package"
    script = repository / "functions" / "package" / "build.py"
    run(sys.executable, str(script), "--out", str(out), "--cache", str(cache))
    return out


def run(*command: str) -> str:
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=900, check=False)
    assert done.returncode == 0, f"{command} ended with {done.returncode}:\n{done.stdout}\n{done.stderr}"
    return done.stdout


def crossplane_builds(cli: Path, root: Path, package: Path, *more: str) -> None:
    """Let Crossplane's own command build a package from the files below `root`."""
    given = (f"--package-root={root}", f"--package-file={package}", f"--examples-root={root / 'none'}")
    run(str(cli), "xpkg", "build", *given, *more)


def content(tar: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    """Return what a file of an archive holds."""
    file = tar.extractfile(member)
    assert file is not None, f"{member.name} is no file"
    return file.read()


def members(archive: Path) -> dict[str, bytes]:
    """Return the files of an image archive by name."""
    with tarfile.open(archive) as tar:
        return {one.name: content(tar, one) for one in tar.getmembers()}


def image_of(archive: Path) -> tuple[dict[str, Any], list[bytes]]:
    """Return the config file and the layers (compressed) of an image archive."""
    files = members(archive)
    (manifest,) = json.loads(files["manifest.json"])
    return json.loads(files[manifest["Config"]]), [files[name] for name in manifest["Layers"]]


def package_of(archive: Path) -> list[Any]:
    """Return the documents of a package: of the layer that the config's label marks as the package's."""
    config, layers = image_of(archive)
    (marked,) = [label for label, value in config["config"]["Labels"].items() if value == "base"]
    (layer,) = [one for one in layers if f"io.crossplane.xpkg:sha256:{hashlib.sha256(one).hexdigest()}" == marked]
    with tarfile.open(fileobj=io.BytesIO(gzip.decompress(layer))) as tar:
        (only,) = tar.getmembers()
        assert only.name == "package.yaml"
        return [one for one in yaml.safe_load_all(content(tar, only)) if one]


def extracted(cli: Path, archive: Path, into: Path) -> list[Any]:
    """Return the documents of a package as Crossplane's command extracts them."""
    target = into / f"{archive.stem}.gz"
    run(str(cli), "xpkg", "extract", "--from-xpkg", str(archive), "-o", str(target))
    return [one for one in yaml.safe_load_all(gzip.decompress(target.read_bytes())) if one]


def normal(documents: list[Any]) -> list[str]:
    """Return documents in one order, without what only Crossplane's serialiser adds (empty status, null times)."""
    return sorted(json.dumps(_bare(one), sort_keys=True) for one in documents)


def _bare(value: Any) -> Any:
    if isinstance(value, dict):
        bare = {key: _bare(one) for key, one in value.items() if key not in ("status", "creationTimestamp")}
        return {key: one for key, one in bare.items() if one is not None}
    return [_bare(one) for one in value] if isinstance(value, list) else value


@pytest.mark.slow
def test_the_same_source_gives_the_same_bytes(source: Path, built: Path, tmp_path: Path) -> None:
    again = build(copied(source, tmp_path / "elsewhere" / "and-deeper"), tmp_path / "out")
    names = sorted(path.name for path in built.iterdir())
    assert names == ["configuration.xpkg", "function-amd64.xpkg", "runtime-amd64.tar"]
    assert {name: digest(built / name) for name in names} == {name: digest(again / name) for name in names}


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_the_configuration_holds_every_definition_and_composition(source: Path, built: Path) -> None:
    documents = package_of(built / "configuration.xpkg")
    meta, *rest = documents
    assert (meta["apiVersion"], meta["kind"]) == ("meta.pkg.crossplane.io/v1", "Configuration")
    folders = sorted(path.name for path in (source / "apis").iterdir() if path.is_dir())
    for kind in ("CompositeResourceDefinition", "Composition"):
        named = sorted(one["metadata"]["name"].split(".")[0] for one in rest if one["kind"] == kind)
        assert named == folders
    (function,) = [one for one in meta["spec"]["dependsOn"] if one["kind"] == "Function"]
    steps = {
        step["functionRef"]["name"] for one in rest if one["kind"] == "Composition" for step in one["spec"]["pipeline"]
    }
    # Crossplane installs a dependency under its repository path with "/" as "-"; the Compositions must find it there.
    assert steps == {function["package"].partition("/")[2].replace("/", "-")}


def test_crossplanes_command_reads_and_builds_the_same_configuration(
    source: Path, built: Path, cli: Path, tmp_path: Path
) -> None:
    ours = built / "configuration.xpkg"
    assert normal(extracted(cli, ours, tmp_path)) == normal(package_of(ours))
    root = tmp_path / "root"
    shutil.copytree(source / "apis", root / "apis")
    (root / "crossplane.yaml").write_text(yaml.safe_dump(package_of(ours)[0]))
    theirs = tmp_path / "theirs.xpkg"
    crossplane_builds(cli, root, theirs)
    assert normal(package_of(theirs)) == normal(package_of(ours))


def test_crossplanes_command_builds_the_same_function(built: Path, cli: Path, tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    shutil.copy(gobinaries.REPOSITORY / "functions" / "package" / "crossplane.yaml", root)
    theirs, ours = tmp_path / "theirs.xpkg", built / "function-amd64.xpkg"
    image = f"--embed-runtime-image-tarball={built / 'runtime-amd64.tar'}"
    crossplane_builds(cli, root, theirs, image)
    assert normal(package_of(theirs)) == normal(package_of(ours)) == normal(extracted(cli, ours, tmp_path))
    (their_config, their_layers), (our_config, our_layers) = image_of(theirs), image_of(ours)
    assert [hashlib.sha256(one).hexdigest() for one in their_layers[:-1]] == [
        hashlib.sha256(one).hexdigest() for one in our_layers[:-1]
    ]
    for key in ("Entrypoint", "User", "Env", "ExposedPorts"):
        assert their_config["config"][key] == our_config["config"][key]


@pytest.fixture(scope="module")
def rootfs(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the unpacked function package: what a container runtime would mount."""
    root = tmp_path_factory.mktemp("rootfs")
    _, layers = image_of(built / "function-amd64.xpkg")
    for layer in layers:
        with tarfile.open(fileobj=io.BytesIO(gzip.decompress(layer))) as tar:
            tar.extractall(root, filter="fully_trusted")  # noqa: S202 - what we just built
    root.chmod(0o755)
    return root


def test_the_image_holds_no_trace_of_the_builder(source: Path, rootfs: Path) -> None:
    site = rootfs / "usr/local/lib/python3.11/dist-packages"
    assert (site / "modelplane_functions" / "servicer.py").is_file()
    assert not list(rootfs.rglob("__pycache__"))
    assert not list(site.glob("*.dist-info/direct_url.json"))
    homes = [str(path).encode() for path in (source, gobinaries.REPOSITORY)]
    files = [path for path in site.rglob("*") if path.is_file()]
    assert [path for path in files if any(home in path.read_bytes() for home in homes)] == []
    assert (rootfs / "usr/share/doc/libpython3.11-minimal/copyright").is_file()
    # mmdebstrap copies these of the machine it runs on.
    assert [name for name in ("resolv.conf", "hostname") if (rootfs / "etc" / name).exists()] == []


def test_the_image_holds_no_program_but_the_interpreter(rootfs: Path) -> None:
    programs = [path for path in rootfs.rglob("*") if path.parent.name in {"bin", "sbin", "libexec"} and path.is_file()]
    assert {path.name for path in programs} == {"python3.11", "modelplane"}
    native = [path for path in rootfs.rglob("*") if path.is_file() and path.read_bytes()[:4] == b"\x7fELF"]
    started = [path for path in native if path.stat().st_mode & 0o111 and ".so" not in path.name]
    assert {path.name for path in started} == {"python3.11"}
    shells = re.compile(rb"#! ?(/usr)?/bin/(ba|da)?sh")
    scripts = [path for path in rootfs.rglob("*") if path.is_file() and path.stat().st_mode & 0o111]
    assert [path for path in scripts if shells.match(path.read_bytes()[:20])] == []


def test_nobody_gains_rights_in_the_image(rootfs: Path, built: Path) -> None:
    assert image_of(built / "function-amd64.xpkg")[0]["config"]["User"] == "65532:65532"
    found = [path for path in rootfs.rglob("*") if not path.is_symlink()]
    assert [path for path in found if path.stat().st_mode & 0o6000] == []
    assert [path for path in found if path.is_file() and path.stat().st_mode & 0o022] == []


def test_the_bill_of_materials_holds_all_that_is_in_the_image(rootfs: Path, built: Path, tmp_path: Path) -> None:
    image = tmp_path / "function-amd64.xpkg"
    shutil.copy(built / "function-amd64.xpkg", image)
    bill = bill_of(image)
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(bill) is None
    assert bill_of(image) == bill
    components = json.loads(bill)["components"]
    assert all(one["licenses"] for one in components)
    python = {one["purl"].rpartition("@")[0] for one in components if one["purl"].startswith("pkg:pypi/")}
    site = rootfs / "usr/local/lib/python3.11/dist-packages"
    installed = {path.name.split("-")[0].lower().replace("_", "-") for path in site.glob("*.dist-info")}
    assert python == {f"pkg:pypi/{name}" for name in installed}
    lock = (gobinaries.REPOSITORY / "functions" / "package" / "requirements.txt").read_text()
    assert python == {f"pkg:pypi/{name}" for name in re.findall(r"^([\w-]+)==", lock, re.MULTILINE)} | {
        "pkg:pypi/modelplane"
    }
    # A package whose copyright file is in the image is in the bill, but for two that are unpacked into nothing.
    debian = {one["name"] for one in components if one["purl"].startswith("pkg:deb/debian/")}
    documented = {path.parent.name for path in (rootfs / "usr/share/doc").glob("*/copyright")}
    assert documented <= debian
    assert "libpython3.11-minimal" in documented


def bill_of(image: Path) -> str:
    """Return the bill of materials that our command writes beside an image."""
    run(sys.executable, str(gobinaries.REPOSITORY / "functions" / "package" / "sbom.py"), str(image))
    return image.with_suffix(".cdx.json").read_text()


def test_the_documented_commands_sign_and_verify_what_was_built(built: Path, tmp_path: Path) -> None:
    live.needs(SUITE, "openssl")
    page = (gobinaries.REPOSITORY / "functions" / "package" / "README.md").read_text()
    keys, sign, verify = re.findall(r"```bash\n# (?:keys|sign|verify)\n(.*?)```", page, re.DOTALL)
    (tmp_path / "dist").mkdir()
    for path in built.iterdir():
        shutil.copy(path, tmp_path / "dist")
    for commands in (keys, sign, verify):
        assert shell(commands, tmp_path).returncode == 0, commands
    package = tmp_path / "dist" / "function-amd64.xpkg"
    package.write_bytes(package.read_bytes()[:-1] + b"\1")
    assert shell(verify, tmp_path).returncode != 0
    sums = tmp_path / "dist" / "SHA256SUMS"
    sums.write_text("".join(f"{digest(tmp_path / 'dist' / name)}  {name}\n" for name in ("function-amd64.xpkg",)))
    assert shell(verify, tmp_path).returncode != 0, "sums that somebody else wrote"


def shell(commands: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Return how commands of a page end, run one after the other in a folder."""
    script = ["bash", "-euo", "pipefail", "-c", commands]
    return subprocess.run(script, cwd=folder, capture_output=True, text=True, timeout=60, check=False)


@pytest.fixture
def container(rootfs: Path, built: Path) -> Iterator[functionserver.Server]:
    """Yield the server of the image, started as its config says: its own user, root directory and environment."""
    live.needs(SUITE, "unshare", "chroot")
    if os.geteuid() != 0:
        pytest.skip("entering the image needs root (chroot)")
    config = image_of(built / "function-amd64.xpkg")[0]["config"]
    environment = " ".join(f"export {pair};" for pair in config["Env"])
    chroot = f'exec "$chroot" --userspec={config["User"]} "$root" "$@"'
    # Read-only, as the runtime configuration that we ship asks for.
    mounts = 'mount --bind "$root" "$root"; mount -o remount,ro,bind "$root"; mount --bind /dev "$root/dev"'
    script = f'chroot=$(command -v chroot); root="$1"; shift; {mounts}; {environment} {chroot}'
    enter = ("unshare", "--mount", "env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "sh", "-ec", script, "enter")
    with functionserver.running(["--insecure"], command=(*enter, str(rootfs), *config["Entrypoint"])) as server:
        yield server


def test_the_image_serves(container: functionserver.Server) -> None:
    composite = {"apiVersion": "modelplane.ai/v1alpha1", "kind": "Gadget", "metadata": {"name": "x"}}
    with grpc.insecure_channel(container.target) as channel:
        response = requests.call(channel, requests.request(composite))
    assert [one.reason for one in response.conditions] == ["UnknownKind"]
    assert container.stop() == 0


def test_every_composer_loads_in_the_image(container: functionserver.Server) -> None:
    """An import that the image cannot satisfy would be an RPC error; a refusal for the empty spec is fine."""
    from modelplane_functions import registry  # noqa: PLC0415 - only what this test needs

    with grpc.insecure_channel(container.target) as channel:
        for kind in sorted(registry.composers()):
            composite = {
                "apiVersion": "modelplane.ai/v1alpha1",
                "kind": kind,
                "metadata": {"name": "x", "namespace": "ns"},
                "spec": {},
            }
            try:
                requests.call(channel, requests.request(composite))
            except grpc.RpcError as error:
                assert "Error'>: cannot import" not in str(error.details()), kind
                assert "ModuleNotFoundError" not in str(error.details()), kind
