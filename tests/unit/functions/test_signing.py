"""The commands of the packages' README that sign and verify, run as they are written on files of a folder."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

README = Path(__file__).resolve().parents[3] / "functions" / "package" / "README.md"
KEYS, SIGN, VERIFY = re.findall(r"```bash\n# (?:keys|sign|verify)\n(.*?)```", README.read_text(), re.DOTALL)


def ends_well(commands: str, folder: Path) -> bool:
    return subprocess.run(["bash", "-euo", "pipefail", "-c", commands], cwd=folder, check=False).returncode == 0


@pytest.mark.skipif(shutil.which("openssl") is None, reason="needs openssl")
def test_what_was_signed_is_verified_and_what_was_changed_afterwards_is_not(tmp_path: Path) -> None:
    built = tmp_path / "dist"
    built.mkdir()
    for name in ("configuration.xpkg", "function-amd64.xpkg", "runtime-amd64.tar"):
        (built / name).write_bytes(name.encode())
    assert all(ends_well(commands, tmp_path) for commands in (KEYS, SIGN, VERIFY))
    (built / "runtime-amd64.tar").write_bytes(b"another")
    assert not ends_well(VERIFY, tmp_path)
    sums = subprocess.run(["sha256sum", "runtime-amd64.tar"], cwd=built, check=True, capture_output=True).stdout
    (built / "SHA256SUMS").write_bytes(sums)
    assert not ends_well(VERIFY, tmp_path), "sums that somebody else wrote"
