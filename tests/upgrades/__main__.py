"""The archive of the earlier release, written anew: of the last tag, or of the commit that is named."""

from __future__ import annotations

import sys

from tests.upgrades import released


def main(arguments: list[str]) -> int:
    """Write the archive and return the exit code."""
    wanted = arguments[0] if arguments else released.last_tag()
    if wanted is None:
        sys.stderr.write("no tag is in this clone: name a commit, or fetch the tags (git fetch --tags)\n")
        return 2
    content = released.archived(wanted)
    if content is None:
        sys.stderr.write(f"git archives no {wanted}: name a commit that this clone has\n")
        return 2
    released.keep(content)
    sys.stdout.write(f"{released.ARCHIVE}: {released.commit()}, {released.ARCHIVE.stat().st_size} bytes\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
