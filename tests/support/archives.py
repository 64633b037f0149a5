"""Archives in memory, as images are made of."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Mapping


def tar(files: Mapping[str, bytes]) -> bytes:
    """Return a tar archive of the files by name."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return buffer.getvalue()
