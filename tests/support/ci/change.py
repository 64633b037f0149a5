"""Files of the change that is to be proven, as git tells them."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

Git: TypeAlias = Callable[..., str | None]
"""Runs git with arguments; its output without the line's end, None where it fails."""
SETTLED_SECONDS = 24 * 3600
"""What is older than the newest commit by so much has been proven by an earlier run."""
MAIN = ("origin/main", "main", "origin/master", "master")


@dataclass(frozen=True, slots=True)
class Change:
    """The files of a change, None where git cannot tell, and what they are compared with."""

    files: frozenset[str] | None
    against: str


def here(folder: Path) -> Git:
    """Return git in a folder."""

    def git(*arguments: str) -> str | None:
        try:
            done = subprocess.run(
                ["git", *arguments], cwd=folder, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
            )
        except OSError:
            return None
        return done.stdout.rstrip("\n") if done.returncode == 0 else None

    return git


def since_landing(git: Git, named: str = "") -> Change:
    """Return what a branch adds to main; on main itself what it got in the last day before its newest commit.

    `named` is a commit to compare with, for whoever knows better. Without a history that reaches so far, and for a
    commit that is not there, nothing is known of the change.
    """
    if named:
        return _against(git, named, f"{named}, as asked for")
    if git("rev-parse", "HEAD") is None or git("rev-parse", "--is-shallow-repository") != "false":
        return Change(None, "nothing: there is no history, or not all of it")
    head = git("rev-parse", "HEAD")
    for main in MAIN:
        base = git("merge-base", main, "HEAD")
        if base is not None and base != head:
            return _against(git, base, f"{main}, from which this branch comes ({base[:10]})")
    newest = git("log", "-1", "--format=%ct", "HEAD") or "0"
    before = int(newest) - SETTLED_SECONDS
    older = git("rev-list", "-1", "--first-parent", f"--before={before}", "HEAD")
    if not older:
        return Change(None, "nothing: no commit is older than a day")
    return _against(git, older, f"{older[:10]}, the last commit a day before the newest one")


def _against(git: Git, base: str, words: str) -> Change:
    parts: Sequence[str | None] = (
        git("diff", "--name-only", "--no-renames", base, "--"),
        git("ls-files", "--others", "--exclude-standard"),
    )
    if parts[0] is None:
        return Change(None, f"nothing: git does not know {base}")
    return Change(frozenset(line for part in parts if part for line in part.splitlines()), words)
