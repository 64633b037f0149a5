"""The check for code that no program reaches: programs of a few lines, and what it finds in them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.lint import reach, unreached
from tests.support.lint.unreached import Kept

# fmt: off
FOUND: tuple[tuple[str, dict[str, str], list[str]], ...] = (
    ("a function nobody calls", {"a": "def main(): pass\ndef lost(): pass"}, ["a.lost"]),
    ("a chain of lost functions", {"a": "def main(): pass\ndef b(): c()\ndef c(): pass"}, ["a.b", "a.c"]),
    ("a module nobody imports", {"a": "def main(): pass", "b": "X = 1"}, ["b.X"]),
    ("what an import runs is reached", {"a": "import b\ndef main(): pass", "b": "def f(): pass\nf()"}, []),
    ("an import alone reaches nothing", {"a": "from b import f\ndef main(): pass", "b": "def f(): pass"}, ["b.f"]),
    ("a function that another module hands on",
     {"a": "import b\ndef main(): b.f()", "b": "from c import f", "c": "def f(): pass"}, []),
    ("a parameter of the same name is another thing", {"a": "def main(lost): lost()\ndef lost(): pass"}, ["a.lost"]),
    ("a name in a comprehension is another thing",
     {"a": "def main(): [lost for lost in ()]\ndef lost(): pass"}, ["a.lost"]),
    ("what is imported inside a function", {"a": "def main():\n from b import f\n f()", "b": "def f(): pass"}, []),
    ("a method nobody calls",
     {"a": "class K:\n def used(self): pass\n def lost(self): pass\ndef main(): K().used()"}, ["a.K.lost"]),
    ("a lost class stands for its members", {"a": "class K:\n def lost(self): pass\ndef main(): pass"}, ["a.K"]),
    ("a method of the same name in another class, told apart by annotation",
     {"a": "class K:\n def x(self): pass\nclass L:\n def x(self): pass\ndef main(k: K, l: 'L'): k.x()"}, ["a.L.x"]),
    ("a method that a class below overrides",
     {"a": "class K:\n def x(self): pass\nclass L(K):\n def x(self): pass\ndef main(k: K): k.x(); L"}, []),
    ("a method that a library calls",
     {"a": "import json\nclass E(json.JSONEncoder):\n def default(self, o): pass\n def lost(self): pass\n"
           "def main(): E"}, ["a.E.lost"]),
    ("a protocol's method is any method of that name",
     {"a": "import typing\nclass P(typing.Protocol):\n def x(self): ...\nclass K:\n def x(self): pass\n"
           "def main(p: P): p.x(); K"}, []),
    ("a module that stands as a value",
     {"a": "import b\nT = {'b': b}\ndef main(): T['b'].f()", "b": "def f(): pass\ndef lost(): pass"}, ["b.lost"]),
    ("a member of an enumeration",
     {"a": "import enum\nclass K(enum.Enum):\n A = 1\n B = 2\ndef main(): K.A"}, ["a.K.B"]),
    ("an enumeration that texts are read with",
     {"a": "import enum\nclass K(enum.Enum):\n A = 1\n B = 2\ndef main(): K(1)"}, []),
    ("a field nobody reads", {"a": "class K:\n x: int\n y: int\ndef main(k: K): k.x"}, ["a.K.y"]),
    ("a field that a pattern reads",
     {"a": "class K:\n x: int\n y: int\ndef main(k):\n match k:\n  case K(1, y=2): pass"}, []),
    ("a field of a field", {"a": "class K:\n x: int\nclass L:\n k: K\n x: int\ndef main(l: L): l.k.x"}, ["a.L.x"]),
    ("a field of a pydantic model, and a method of it",
     {"a": "import pydantic\nclass K(pydantic.BaseModel):\n x: int\n def lost(self): pass\ndef main(): K"},
     ["a.K.lost"]),
    ("a function that a decorator of ours keeps",
     {"a": "def keep(f): return f\n@keep\ndef f(): pass\ndef main(): pass"}, []),
    ("a main block counts for a program",
     {"a": "def main(): pass\ndef f(): pass\nif __name__ == '__main__': f()"}, []),
    ("a main block does not for a module",
     {"a": "import b\ndef main(): pass", "b": "def f(): pass\nif __name__ == '__main__': f()"}, ["b.f"]),
)
# fmt: on


@pytest.mark.parametrize(("sources", "lost"), [pytest.param(*row[1:], id=row[0]) for row in FOUND])
def test_what_no_program_reaches_is_found(tmp_path: Path, sources: dict[str, str], lost: list[str]) -> None:
    _write(tmp_path, sources)
    found = reach.unreached(reach.modules([tmp_path]), ["a", "a.main"])
    assert sorted(one.name for one in found) == lost


_FROZEN = "import dataclasses\n@dataclasses.dataclass(frozen=True)\nclass K:\n a: int = 0\n b: int = 0\n"
_READS = "def main(k: K): k.a, k.b, "

GIVEN: tuple[tuple[str, str, list[str]], ...] = (
    ("by keyword", f"{_FROZEN}{_READS}K(b=1)", ["a.K.a"]),
    ("by place", f"{_FROZEN}{_READS}K(1)", ["a.K.b"]),
    ("by a mapping", f"{_FROZEN}{_READS}K(**{{}})", []),
    ("in a copy", f"{_FROZEN}{_READS}dataclasses.replace(k, a=1)", ["a.K.b"]),
    ("by whoever gets the class", f"{_FROZEN}{_READS}map(K, ())", []),
    ("by nobody", f"{_FROZEN}{_READS}K()", ["a.K.a", "a.K.b"]),
    ("to another class", f"{_FROZEN}class L:\n def __init__(self, a): pass\n{_READS}K(b=1), L(a=1)", ["a.K.a"]),
)


@pytest.mark.parametrize(("source", "bare"), [pytest.param(*row[1:], id=row[0]) for row in GIVEN])
def test_a_field_that_always_has_its_default_is_found(tmp_path: Path, source: str, bare: list[str]) -> None:
    _write(tmp_path, {"a": source})
    assert [one.name for one in reach.never_given(reach.modules([tmp_path]), ["a", "a.main"])] == bare


def test_an_exception_excuses_and_one_that_is_not_needed_is_found(tmp_path: Path) -> None:
    _write(tmp_path, {"a": "def main(): pass\ndef lost(): pass"})
    known = reach.modules([tmp_path])
    started = ["a", "a.main"]
    assert unreached.complaints(known, started, [], tmp_path) == ["a.py:2: no program reaches function a.lost"]
    assert unreached.complaints(known, started, [Kept("a.lost", "why")], tmp_path) == []
    assert unreached.complaints(known, started, [Kept("a.lost", "why"), Kept("a.main", "why")], tmp_path) == [
        "unreached.toml: the exception a.main is not needed"
    ]


def test_programs_are_those_of_the_project() -> None:
    scripts = {
        "package": "python functions/package/made.py {args}",
        "test": "pytest",
        "both": ["x", "python functions/package/b.py"],
    }
    project = {
        "project": {"scripts": {"command": "a.b:main"}},
        "tool": {"hatch": {"envs": {"default": {"scripts": scripts}}}},
    }
    assert unreached.programs(project) == ["a.b", "a.b.main", "b", "made"]


def test_an_exception_without_a_reason_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "kept.toml"
    path.write_text('[[kept]]\nname = "a.b"\nreason = " "\n')
    with pytest.raises(ValueError, match=r"a\.b needs a reason"):
        unreached.exceptions(path)


def test_an_entry_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    _write(tmp_path, {"a": "def main(): pass"})
    with pytest.raises(KeyError, match=r"a\.compose"):
        reach.unreached(reach.modules([tmp_path]), ["a", "a.compose"])


def _write(folder: Path, sources: dict[str, str]) -> None:
    for name, text in sources.items():
        (folder / f"{name}.py").write_text(text + "\n")
