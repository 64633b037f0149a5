"""Laws of a plan as a comment: no text of a document is anything but text, and the comment is bounded.

The comment is read by the parser of GitHub (cmark-gfm) and by that of GitLab (comrak) with all of its extensions.
"""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from html.parser import HTMLParser

import cmarkgfm
import comrak
import pytest
from cmarkgfm.cmark import Options
from hypothesis import example, given
from hypothesis import strategies as st

from modelplane_cli.output import markdown, plan_markdown
from modelplane_cli.planning.capacity import DeviceUse, PoolUse
from modelplane_cli.planning.changes import Action, Change
from modelplane_cli.planning.plan import NEW, RETAINED, DeploymentRow, Plan, ReplicaRow, Unschedulable
from modelplane_cli.planning.replicas import Deployment, ObservedReplica, ObservedRole, ReplicaId
from modelplane_cli.planning.routes import Part, Route, RouteRow, Split

LIMIT = 65_536
"""Characters that GitHub takes."""
TAGS = {
    "h3", "p", "strong", "em", "ul", "li", "table", "thead", "tbody", "tr", "th", "td", "code", "details", "summary",
}  # fmt: skip
HOSTILE = (
    "@everyone", "cc @octo/core", "#1", "!2", "GH-3", "octo/repo#4", "a@b.example", "www.evil.example",
    "https://evil.example/?a=1&b=2", "[a](https://evil.example)", "![a](https://evil.example/x.png)", "<b>x</b>",
    "<script>alert(1)</script>", "</details>", "<!--", "-->", "<img src=x onerror=alert(1)>", "a | b || c", "`", "``",
    "```\n", "`a", "a`", "\\", "\\|", "\\`", "\\\\|", "**a**", "_a_", "~~a~~", "# a", "- [x] a", "1. a", "> a",
    "| --- |",
    "a\n\n/merge\n/close", "/approve", "$`a`$", "$a$", "$$a$$", "{+ a +}", ":smile:", "[[a]]", "[^1]", "&lt;b&gt;",
    "&#124;",
    "\N{RIGHT-TO-LEFT OVERRIDE}a", "a\x00b", "a\u2028b", "\ud800", "  a  ", " ", "", "---", "===", "    a",
    "0123456789abcdef0123456789abcdef01234567", "%1", "~bug", "&1", "::: a", ">>>", "a" * 5000, "|" * 5000, "\t",
)  # fmt: skip
texts = st.one_of(
    st.sampled_from(HOSTILE),
    st.text(max_size=40),
    st.text(alphabet="|`\\\n<>&@#!*_~[]()$ /-=+:ax1", max_size=40),
    st.lists(st.sampled_from(HOSTILE), min_size=1, max_size=4).map("".join),
)


def _github(text: str) -> str:
    # The comment is read without the sanitizer of either site, which would hide what went wrong.
    made: str = cmarkgfm.github_flavored_markdown_to_html(text, Options.CMARK_OPT_UNSAFE)
    return made


def _gitlab(text: str) -> str:
    extensions = comrak.ExtensionOptions()
    for name in (
        "alerts", "autolink", "description_lists", "footnotes", "math_code", "math_dollars", "multiline_block_quotes",
        "strikethrough", "table", "tasklist", "wikilinks_title_after_pipe", "shortcodes", "underline", "spoiler",
    ):  # fmt: skip
        setattr(extensions, name, True)
    render = comrak.RenderOptions()
    render.unsafe_ = True
    return comrak.render_markdown(text, extension_options=extensions, render_options=render)


PARSERS = {"GitHub": _github, "GitLab": _gitlab}


@dataclass
class _Read(HTMLParser):
    """The page as a browser has it: tags, the text of table cells and items, and what stands outside of code."""

    tags: list[str] = field(default_factory=list)
    attributes: list[str] = field(default_factory=list)
    cells: list[str] = field(default_factory=list)
    outside: str = ""
    depth: int = 0

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [name for name, _ in attrs]
        self.depth += tag == "code"
        if tag in ("td", "th", "li", "p"):
            self.cells.append("")

    def handle_endtag(self, tag: str) -> None:
        self.tags.append(f"/{tag}")
        self.depth -= tag == "code"

    def handle_data(self, data: str) -> None:
        if self.cells:
            self.cells[-1] += data.rstrip("\n") if self.depth == 0 else data
        if not self.depth:
            self.outside += data

    @property
    def skeleton(self) -> list[str]:
        return [tag for tag in self.tags if tag.strip("/") != "code"]


def _read(text: str, parse: Callable[[str], str]) -> _Read:
    found = _Read()
    found.feed(parse(text))
    found.close()
    return found


def _plan(said: Iterator[str]) -> Plan:
    """Return a plan with every text of documents from `said`."""

    def replica() -> ObservedReplica:
        namespace, name = next(said), next(said)
        return ObservedReplica(
            id=ReplicaId(namespace, next(said), next(said)),
            deployment=Deployment(namespace, name),
            roles=(ObservedRole(next(said), next(said), 1, ((next(said), 2),)),),
            backend=next(said), phase=next(said), admitted=True, serves=True, replaces=None, written="",
        )  # fmt: skip

    def use() -> PoolUse:
        devices = {next(said): DeviceUse(8, 1, 7, 8)}
        return PoolUse(next(said), next(said), next(said), 1, 0, 1, devices, Decimal("1.5"), next(said))

    def route() -> Route:
        group = Split(next(said), 1, 0, 1, 1, Fraction(1), (Part(next(said), 1, Fraction(1)),))
        return Route(next(said), next(said), next(said), (group,), next(said))

    was, now, other = replica(), replica(), replica()
    missing = Unschedulable(1, next(said), (), {"cluster": next(said), "wouldFitIf": next(said)})
    row = DeploymentRow(
        Deployment(next(said), next(said)), 3, 2, next(said),
        (ReplicaRow(now, NEW, (1,), next(said)), ReplicaRow(other, RETAINED, (1,))), missing, (next(said),),
    )  # fmt: skip
    return Plan(
        deployments=(row,),
        pools=(use(), use()),
        pools_before=(use(),),
        changes=(
            Change(Action.MOVED, was, now, next(said), interrupted=True),
            Change(Action.LOST, other, None, "gone"),
        ),
        routes=(RouteRow(route(), route()), RouteRow(None, route()), RouteRow(route(), None)),
        refused=(next(said),),
    )


def _endless(words: list[str]) -> Iterator[str]:
    """Yield the words again and again, each with a number, so that no two texts are the same."""
    for position in itertools.count():
        yield f"{words[position % len(words)]}{position}"


def _lines(plan: Plan, *, is_change: bool) -> list[str]:
    text = plan_markdown.text(plan, is_change=is_change)
    assert len(text) <= LIMIT
    text.encode()
    return text.splitlines()


@pytest.mark.parametrize("parse", PARSERS.values(), ids=list(PARSERS))
@given(words=st.lists(texts, min_size=1, max_size=12), is_change=st.booleans())
@example(words=list(HOSTILE), is_change=True)
@example(words=list(HOSTILE), is_change=False)
def test_no_text_of_a_document_becomes_markup(
    parse: Callable[[str], str], words: list[str], *, is_change: bool
) -> None:
    lines = _lines(_plan(_endless(words)), is_change=is_change)
    found = _read("\n".join(lines), parse)
    assert set(found.tags) <= TAGS | {f"/{tag}" for tag in TAGS}
    assert not set(found.attributes) - {"class"}
    # Everything outside of code is a sentence of ours, or a character that ends a code span or a cell.
    assert re.fullmatch(r"[\w\s%.,;:()>|`\\…-]*", found.outside, re.ASCII | re.DOTALL), found.outside
    assert not re.search(r"://|www\.", found.outside)
    # A line of GitLab that begins with a slash is a command of the account that writes the comment.
    assert [
        line for line in lines if line[:1] not in ("", "|", "-", "*", "#", "<", "_") and not line[0].isalnum()
    ] == []


@pytest.mark.parametrize("parse", PARSERS.values(), ids=list(PARSERS))
@given(word=texts)
@pytest.mark.parametrize("place", ["| a | {} | b |", "- {}", "{} is here"], ids=["a cell", "an item", "a line"])
def test_a_text_is_read_back_as_it_was_but_for_spaces_and_what_has_no_shape(
    parse: Callable[[str], str], word: str, place: str
) -> None:
    start = "| x | y | z |\n| --- | --- | --- |\n" if place.startswith("|") else ""
    found = _read(start + place.format(markdown.code(word)), parse)
    wanted = " ".join(word.split())
    wanted = wanted if len(wanted) <= 600 else f"{wanted[:600]}…"
    wanted = "".join("\ufffd" if unicodedata.category(one) in ("Cc", "Cf", "Cs") else one for one in wanted)
    if place.startswith("|"):
        assert found.cells[3:] == ["a", wanted, "b"]
    else:
        assert found.cells[-1].strip() == place[2 * place.startswith("-") :].format(wanted).strip()


@pytest.mark.parametrize("parse", PARSERS.values(), ids=list(PARSERS))
@given(words=st.lists(texts.filter(lambda word: len(word) < 60), min_size=1, max_size=12))
def test_the_shape_of_a_comment_does_not_depend_on_the_texts(parse: Callable[[str], str], words: list[str]) -> None:
    hostile, plain = (
        _read("\n".join(_lines(_plan(_endless(said)), is_change=True)), parse).skeleton for said in (words, ["x"])
    )
    assert Counter(hostile) == Counter(plain)


@given(count=st.integers(0, 400), word=texts, room=st.sampled_from([markdown.ROOM, 20_000]))
def test_a_comment_is_bounded_and_counts_what_it_leaves_out(count: int, word: str, room: int) -> None:
    rows = [markdown.code(f"{number} {word}") for number in range(count)]
    sections = [
        markdown.items("messages", "**First**", rows),
        markdown.table("rows", ["A"], [[row] for row in rows], "**Second**"),
        markdown.collapsed(markdown.table("others", ["A"], [[row] for row in rows]), "Third"),
    ]
    text = markdown.comment(["head"], sections, room)
    assert len(text.encode()) <= room
    kept = {"messages": text.count("\n- "), "rows": 0, "others": 0}
    for noun in ("rows", "others"):
        part = text.partition("**Second**")[2].partition("Third")[0 if noun == "rows" else 2]
        kept[noun] = max(0, part.count("\n| ") - 2)
    for noun, shown in kept.items():
        note = re.search(rf"(\d+) of (\d+) {noun} are left out", text)
        assert (0 if note is None else int(note[1])) == count - shown
    lines = text.splitlines()  # a text of a document may say the same inside its code span
    assert lines.count("<details>") == lines.count("</details>")


@pytest.mark.parametrize("many", [1, 100, 3000])
def test_a_plan_of_any_size_keeps_its_summary_and_a_place_for_each_part(many: int) -> None:
    plan = _plan(_endless(["a long name of something that is there many times"]))
    plan = replace(plan, changes=plan.changes * many, deployments=plan.deployments * many, routes=plan.routes * many)
    text = "\n".join(_lines(plan, is_change=True))
    assert f"{many} moved" in text
    assert text.count("<details>") == text.count("</details>") >= 2
    assert ("changed replicas are left out of this comment" in text) == (many > 1)
