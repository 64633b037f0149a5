"""The documentation leads somewhere: links, generated pages, and commands that run or say why they are not run here."""

from __future__ import annotations

import itertools
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.support import examples

REPOSITORY = Path(__file__).resolve().parents[2]
ROOMS = ("docs", "examples", "functions", "lib")
PAGES = sorted(
    path
    for path in [*REPOSITORY.glob("*.md"), *(page for room in ROOMS for page in REPOSITORY.glob(f"{room}/**/*.md"))]
    if "reference" not in path.parts
)
_LINK = re.compile(r"\]\((?!https?:)([^)#\s]*)(#[^)]*)?\)")
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
_FENCE = re.compile(r"(?P<before>[^\n]*)\n```(?:bash|console|sh|shell)\n(?P<body>.*?)```", re.DOTALL)
_NOT_RUN = re.compile(r"<!-- not run: .{8,} -->$")
# The checkout's own programs; everything else of a block needs a control plane, an image registry or minutes.
_RUN = ("modelplane ",)
# The columns of names in the picture of the code, and the folders that it shows.
_LEFT = 47
_RINGS = ("lib/kubecel", "lib/modelplane", "lib/modelplane_cli", "functions/package", "functions/modelplane_functions")
_PROGRAMS = (*_RUN, "$ ", "kubectl ", "crossplane ", "hatch ", "python ", "git ")


class Block(NamedTuple):
    """A block of commands with the line before it, which may say why it is not run."""

    page: Path
    before: str
    commands: tuple[str, ...]


def _blocks() -> Iterator[Block]:
    for page in PAGES:
        for found in _FENCE.finditer(page.read_text(encoding="utf-8")):
            lines = (line.removeprefix("$ ") for line in found["body"].splitlines())
            yield Block(page, found["before"], tuple(line for line in lines if line.strip() and line[0] != "#"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(REPOSITORY)))
def test_links_lead_to_files_and_headings(page: Path) -> None:
    dead = [
        f"{link}{heading}"
        for link, heading in _LINK.findall(page.read_text(encoding="utf-8"))
        if not _leads(page.parent / link if link else page, heading)
    ]
    assert dead == []


def _leads(target: Path, heading: str) -> bool:
    """Return whether the file is there, and the heading in it."""
    if not target.exists():
        return False
    return not heading or heading.removeprefix("#") in _anchors(target.read_text(encoding="utf-8"))


def _anchors(text: str) -> set[str]:
    """Return the anchors of the headings of a page, as mkdocs and the usual hosts of repositories make them."""
    bare = (re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", one).replace("`", "") for one in _HEADING.findall(text))
    return {re.sub(r"[\s]+", "-", re.sub(r"[^\w\s-]", "", one).strip().lower()) for one in bare}


def test_every_file_that_somebody_looked_for_is_there() -> None:
    text = (REPOSITORY / "tests" / "support" / "whereis.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`((?:lib|functions)/[\w/]+\.py)`", text))
    assert len(named) > 20
    assert [path for path in sorted(named) if not (REPOSITORY / path).exists()] == []


def _pictured() -> Iterator[Path]:
    """Yield the file or folder of each name on the left of the picture in ARCHITECTURE.md."""
    text = (REPOSITORY / "ARCHITECTURE.md").read_text(encoding="utf-8")
    rooms: dict[int, Path] = {}
    for line in text.split("```text\n", 1)[1].split("```", 1)[0].splitlines():
        indent = len(line) - len(line.lstrip())
        names = line[:_LEFT].split()
        if indent == 0:
            rooms = {0: REPOSITORY / names[0]} if names[0].startswith(("lib/", "functions/")) else {}
        if indent == 0 or not rooms or not names:
            continue
        rooms = {at: room for at, room in rooms.items() if at < indent}
        room = rooms[max(rooms)]
        if names[0].endswith("/") and not all(name.endswith("/") for name in names[1:] or [""]):
            rooms[indent] = room = room / names.pop(0)
            yield room
        yield from (room / name for name in names)


def test_every_name_in_the_picture_of_the_code_is_a_file_or_a_folder_there() -> None:
    found = list(_pictured())
    assert len(found) > 100
    assert [path for path in found if not path.exists() and not path.with_suffix(".py").exists()] == []


def test_every_room_of_the_code_is_in_the_picture() -> None:
    found = set(_pictured())
    files = itertools.chain.from_iterable((REPOSITORY / ring).rglob("*.py") for ring in _RINGS)
    assert {path.parent for path in files} - found - {REPOSITORY / ring for ring in _RINGS} == set()


def test_the_reference_is_what_its_generator_writes(tmp_path: Path) -> None:
    program = str(REPOSITORY / "schemas" / "reference.py")
    subprocess.run([sys.executable, program, str(tmp_path)], check=True)
    written = {path.name: path.read_text() for path in tmp_path.glob("*.md")}
    kept = {path.name: path.read_text() for path in (REPOSITORY / "docs" / "reference").glob("*.md")}
    assert kept == written, "run `hatch run python schemas/reference.py`"


def test_every_block_of_commands_is_run_or_says_why_not() -> None:
    silent = [
        f"{block.page.relative_to(REPOSITORY)}: {block.commands[0] if block.commands else '(empty)'}"
        for block in _blocks()
        if not all(command.startswith(_RUN) for command in block.commands) and not _NOT_RUN.search(block.before)
    ]
    assert silent == [], "write <!-- not run: reason --> in the line above the block"


def test_the_readme_is_at_most_six_screens() -> None:
    lines = (REPOSITORY / "README.md").read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 6 * 24, "a screen has 24 lines; move the rest to docs/"


def test_the_table_of_the_examples_has_every_folder() -> None:
    links = set(_LINK.findall((examples.EXAMPLES / "README.md").read_text(encoding="utf-8")))
    assert [folder for folder in examples.folders() if (folder, "") not in links] == []


def test_no_command_hides_in_an_indented_block() -> None:
    hidden = [
        f"{page.relative_to(REPOSITORY)}: {line.strip()}"
        for page in PAGES
        for before, line in itertools.pairwise(page.read_text(encoding="utf-8").splitlines())
        if not before.strip() and line.startswith("    ") and line.strip().startswith(_PROGRAMS)
    ]
    assert hidden == [], "write a block that begins with ```bash"


def _commands() -> list[str]:
    return list(dict.fromkeys(command for block in _blocks() for command in _runnable(block)))


def _runnable(block: Block) -> Iterator[str]:
    if not _NOT_RUN.search(block.before):
        yield from (command for command in block.commands if command.startswith(_RUN))


@pytest.mark.slow
@pytest.mark.parametrize("command", _commands())
def test_a_command_of_the_documentation_runs(command: str, tmp_path: Path) -> None:
    words = shlex.split(command, comments=True)
    words = [str(tmp_path / word) if word.startswith(("out/", ".schemas")) else word for word in words]
    done = subprocess.run(
        [sys.executable, "-m", "modelplane_cli", *words[1:]],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert (done.stdout + done.stderr).strip()
