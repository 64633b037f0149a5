"""Files of a change, as histories of several shapes tell them."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.support.ci import change

DAY = 24 * 3600


class History:
    """A repository with commits at hours of our choosing."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self.git("init", "-q", "-b", "main")

    def git(self, *arguments: str, hour: int = 0) -> str:
        when = f"{1_700_000_000 + hour * 3600} +0000"
        names = {f"GIT_{who}_{what}": "x@example.com" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
        dates = {"GIT_AUTHOR_DATE": when, "GIT_COMMITTER_DATE": when, "GIT_CONFIG_GLOBAL": "/dev/null"}
        return subprocess.run(
            ["git", *arguments],
            cwd=self.folder,
            env={**os.environ, **names, **dates},
            check=True,
            capture_output=True,
            text=True,
        ).stdout.strip()

    def commit(self, name: str, hour: int) -> str:
        (self.folder / name).write_text(name)
        self.git("add", name)
        self.git("commit", "-q", "-m", name, hour=hour)
        return self.git("rev-parse", "HEAD")

    def files(self, named: str = "") -> set[str] | None:
        found = change.since_landing(change.here(self.folder), named).files
        return None if found is None else set(found)


@pytest.fixture
def history(tmp_path: Path) -> History:
    made = History(tmp_path / "here")
    for hour, name in ((0, "oldest"), (10, "old"), (30, "new"), (50, "newest")):
        made.commit(name, hour)
    return made


def test_on_main_it_is_the_last_day(history: History) -> None:
    # 24 hours before the newest commit lies between "old" and "new"
    assert history.files() == {"new", "newest"}


def test_on_a_branch_it_is_what_the_branch_adds(history: History) -> None:
    history.git("checkout", "-q", "-b", "branch")
    history.commit("mine", 51)
    found = change.since_landing(change.here(history.folder))
    assert found == change.Change(frozenset({"mine"}), found.against)
    assert "main" in found.against


def test_work_that_is_not_committed_counts(history: History) -> None:
    (history.folder / "untracked").write_text("")
    (history.folder / "oldest").write_text("changed")
    found = history.files()
    assert found is not None
    assert {"untracked", "oldest"} <= found


def test_a_rename_is_both_names(history: History) -> None:
    history.git("mv", "oldest", "moved")
    found = history.files()
    assert found is not None
    assert {"oldest", "moved"} <= found


def test_a_clone_of_main_alone_tells_the_same(history: History, tmp_path: Path) -> None:
    history.git(
        "clone", "-q", "--single-branch", "--branch", "main", f"file://{history.folder}", str(tmp_path / "clone")
    )
    clone = History(tmp_path / "clone")
    assert clone.files() == {"new", "newest"}
    clone.git("checkout", "-q", "--detach")
    clone.git("branch", "-q", "-D", "main")
    clone.git("remote", "remove", "origin")
    assert clone.files() == {"new", "newest"}


def test_a_shallow_clone_knows_nothing(history: History, tmp_path: Path) -> None:
    history.git("clone", "-q", "--depth", "2", f"file://{history.folder}", str(tmp_path / "clone"))
    assert History(tmp_path / "clone").files() is None


def test_a_young_history_knows_nothing(tmp_path: Path) -> None:
    made = History(tmp_path / "young")
    assert made.files() is None, "without a commit"
    made.commit("first", 0)
    made.commit("second", 1)
    assert made.files() is None, "nothing is older than a day"


def test_no_repository_knows_nothing(tmp_path: Path) -> None:
    assert change.since_landing(lambda *_: None).files is None


def test_a_commit_may_be_named(history: History) -> None:
    assert history.files("HEAD~1") == {"newest"}
    assert history.files("nowhere") is None
