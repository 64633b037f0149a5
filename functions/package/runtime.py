"""The runtime image's content: Debian's Python and nothing that runs beside it, our wheel and its locked dependencies.

No container daemon and no base image: mmdebstrap unpacks Debian packages into a tar, pip unpacks wheels into a folder.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import archive

DEBIAN = "bookworm"
PYTHON = "3.11"
# What Debian's Python needs to run the server; their own dependencies come with them.
PACKAGES = (f"python{PYTHON}-minimal", f"libpython{PYTHON}-stdlib", "libstdc++6", "libssl3")
# Only what files say about their copyright stays of the documentation.
_PATH_OPTIONS = (
    "path-exclude=/usr/share/doc/*",
    "path-include=/usr/share/doc/*/copyright",
    "path-exclude=/usr/share/man/*",
    "path-exclude=/usr/share/info/*",
    "path-exclude=/usr/share/locale/*",
)
# Unpacked packages leave no record. Each says what it is in a file of its own, as in other images without a package
# manager, which is where scanners and our bill of materials look.
_RECORDS = "var/lib/dpkg/status.d/"
# Package management is unpacked with the rest, and with it tools that start programs; nothing may use them here.
_REMOVED = ("dpkg", "tar")
_RECORD = (
    f'mkdir -p "$1/{_RECORDS}" && for deb in "$1"/var/cache/apt/archives/*.deb; do '
    f'dpkg-deb --field "$deb" > "$1/{_RECORDS}$(dpkg-deb --field "$deb" Package)" || exit 1; done'
    f' && cd "$1/{_RECORDS}" && rm {" ".join(_REMOVED)}'
)
_UNUSED = (
    "var/",
    "etc/apt",
    "etc/dpkg",
    "etc/cron.daily",
    "etc/rmt",
    # The builder's own, copied by mmdebstrap: a stranger would learn its name and its name servers.
    "etc/hostname",
    "etc/resolv.conf",
    "usr/share/bug",
    "usr/libexec",
    "usr/lib/apt",
    "usr/lib/dpkg",
    "usr/bin/dpkg",
    "usr/bin/tar",
    "usr/bin/update-alternatives",
    "usr/sbin/",
    *(f"usr/share/doc/{name}/" for name in _REMOVED),
    "usr/share/lintian",
)
_WHEEL_PLATFORMS = {
    "amd64": ("manylinux_2_28_x86_64", "manylinux_2_17_x86_64", "manylinux2014_x86_64"),
    "arm64": ("manylinux_2_28_aarch64", "manylinux_2_17_aarch64", "manylinux2014_aarch64"),
}
_SITE = f"usr/local/lib/python{PYTHON}/dist-packages"
_USER_ID = 65532
_COMMAND = f"""#!/usr/bin/python{PYTHON}
import sys

from modelplane_cli.__main__ import main

sys.exit(main())
"""

ARCHITECTURES = tuple(sorted(_WHEEL_PLATFORMS))


def image(repository: Path, work: Path, architecture: str) -> archive.Image:
    """Return the runtime image; `work` is a directory for what may be kept between builds."""
    config = {
        "Entrypoint": ["/usr/local/bin/modelplane", "serve"],
        "Env": ["PATH=/usr/local/bin:/usr/bin", "PYTHONUNBUFFERED=1", "PYTHONDONTWRITEBYTECODE=1"],
        "ExposedPorts": {"9443/tcp": {}},
        "User": f"{_USER_ID}:{_USER_ID}",
        "WorkingDir": "/",
        "Labels": {"org.opencontainers.image.title": "function-modelplane"},
    }
    base = archive.normalised_tar(_debian(work, architecture), without=_UNUSED, but=_RECORDS)
    application = archive.tar_of_directory(_application(repository, work, architecture))
    bare = archive.Image(architecture, config=config)
    return bare.with_layer(archive.layer(base)).with_layer(archive.layer(application))


def _debian(work: Path, architecture: str) -> bytes:
    """Return a tar with the interpreter, unpacked and never configured: no script of a package runs.

    What was unpacked once is used again until it is removed from `work`; a release starts with an empty one.
    """
    wanted = hashlib.sha256(repr((PACKAGES, _PATH_OPTIONS, _RECORD)).encode()).hexdigest()[:12]
    target = work / f"{DEBIAN}-{architecture}-{wanted}.tar"
    if not target.exists():
        work.mkdir(parents=True, exist_ok=True)
        partial = target.with_suffix(".partial.tar")
        _run(
            "mmdebstrap",
            "--variant=extract",
            f"--architectures={architecture}",
            "--hook-dir=/usr/share/mmdebstrap/hooks/merged-usr",
            f"--extract-hook={_RECORD}",
            f"--include={','.join(PACKAGES)}",
            *(f"--dpkgopt={option}" for option in _PATH_OPTIONS),
            DEBIAN,
            str(partial),
        )
        partial.rename(target)
    return target.read_bytes()


def _application(repository: Path, work: Path, architecture: str) -> Path:
    """Return a directory with our wheel, its dependencies, the command and the user it runs as.

    What pip installed, with the digest of each file, is left beside it in `work` (see provenance.py).
    """
    root = work / f"application-{architecture}"
    wheels = work / "wheels"
    for stale in (root, wheels):
        shutil.rmtree(stale, ignore_errors=True)
    site = root / _SITE
    site.mkdir(parents=True)
    python = _builder(work)
    platforms = [f"--platform={platform}" for platform in _WHEEL_PLATFORMS[architecture]]
    install = [python, "-m", "pip", "install", "-q", "--no-deps", "--no-compile", f"--target={site}"]
    target = [*platforms, "--only-binary=:all:", f"--python-version={PYTHON}", "--implementation=cp"]
    lock = Path(__file__).with_name("requirements.txt")
    report = work / f"dependencies-{architecture}.json"
    _run(*install, *target, "--require-hashes", f"--requirement={lock}", f"--report={report}")
    wheel = _wheel(repository, work, wheels, python)
    _run(*install, *target, str(wheel))
    # Scripts would run the builder's interpreter, and this file names a path of the builder's machine.
    shutil.rmtree(site / "bin", ignore_errors=True)
    for trace in site.glob("*.dist-info/direct_url.json"):
        trace.unlink()
    command = root / "usr/local/bin/modelplane"
    command.parent.mkdir(parents=True)
    command.write_text(_COMMAND)
    command.chmod(0o755)
    (root / "etc").mkdir()
    (root / "etc/passwd").write_text(f"root:x:0:0::/:/sbin/nologin\nnonroot:x:{_USER_ID}:{_USER_ID}::/:/sbin/nologin\n")
    (root / "etc/group").write_text(f"root:x:0:\nnonroot:x:{_USER_ID}:\n")
    return root


def _wheel(repository: Path, work: Path, wheels: Path, python: str) -> Path:
    """Return our wheel, built by what build-requirements.txt locks.

    It is installed anew each time, so that the report beside it names every file with its digest (see provenance.py).
    """
    lock = Path(__file__).with_name("build-requirements.txt")
    install = [python, "-m", "pip", "install", "-q", "--no-deps", "--only-binary=:all:", "--force-reinstall"]
    _run(*install, "--require-hashes", f"--requirement={lock}", f"--report={work / 'dependencies-build.json'}")
    build = [python, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "--check-build-dependencies"]
    _run(*build, f"--wheel-dir={wheels}", str(repository))
    (wheel,) = wheels.glob("modelplane-*.whl")
    return wheel


def _builder(work: Path) -> str:
    """Return a Python with pip; the one that runs this may have none."""
    home = work / f"builder-{sys.version_info.major}.{sys.version_info.minor}"
    python = home / "bin" / "python"
    if not python.exists():
        venv.create(home, with_pip=True, clear=True)
    return str(python)


def _run(*command: str) -> None:
    """Run a tool of the build; its own words are the best explanation when it fails."""
    if shutil.which(command[0]) is None:
        raise SystemExit(
            f"build: {command[0]} is not installed (Debian: apt-get install {os.path.basename(command[0])})"
        )
    # Every command is written above; what varies is a path of this repository and the architecture, chosen from a list.
    done = subprocess.run(  # noqa: S603 - as said, nothing a stranger wrote
        command, check=False, stdin=subprocess.DEVNULL, env={**os.environ, "SOURCE_DATE_EPOCH": "0"}
    )
    if done.returncode != 0:
        raise SystemExit(f"build: {command[0]} ended with {done.returncode}")
