"""Files, folders and standard input become documents with a place, or problems with one."""

from __future__ import annotations

import concurrent.futures
import io
import os
from pathlib import Path

import pytest

from modelplane_cli.documents import reading

POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: a, namespace: n}\n"


def write(folder: Path, name: str, text: str | bytes) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def test_a_folder_is_read_in_order_and_hidden_or_other_files_are_not(tmp_path: Path) -> None:
    for name in ("b.yaml", "a.yml", "sub/c.json", ".hidden.yaml", ".git/d.yaml", "notes.txt"):
        write(tmp_path, name, '{"kind": "K"}')
    found = reading.read([str(tmp_path)])
    assert [os.path.relpath(one.file, tmp_path) for one in found.documents] == ["a.yml", "b.yaml", "sub/c.json"]
    assert not found.problems


def test_a_file_given_twice_is_read_once(tmp_path: Path) -> None:
    path = write(tmp_path, "a.yaml", POD)
    assert len(reading.read([str(path), str(tmp_path), f"{tmp_path}/./a.yaml"]).documents) == 1


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    class Stdin:
        buffer = io.BytesIO((POD + "---\n" + POD).encode())

    monkeypatch.setattr("sys.stdin", Stdin)
    found = reading.read(["-"])
    assert [(one.file, one.index) for one in found.documents] == [("<stdin>", 1), ("<stdin>", 2)]


def test_lists_are_opened_and_lines_are_those_of_the_items(tmp_path: Path) -> None:
    pods = "".join(f"- kind: Pod\n  metadata:\n    name: {name}\n" for name in ("first", "second"))
    text = f"apiVersion: v1\nkind: List\nitems:\n{pods}"
    path = write(tmp_path, "list.yaml", text)
    first, second = reading.read([str(path)]).documents
    assert (first.subject, second.subject) == ("Pod first", "Pod second")
    problem = second.problem("is wrong", ("metadata", "name"))
    assert str(problem) == f"{path}:9: document 1 (Pod second): metadata.name: is wrong"


PROBLEMS = [
    pytest.param("a: 1\n---\nb: [", 3, "did not find expected node content", id="the second document is broken"),
    pytest.param("- a\n- b\n", 1, "is not a Kubernetes object", id="a list at the top"),
    pytest.param("just words\n", 1, "is not a Kubernetes object", id="text"),
    pytest.param("kind: List\nitems: 3\n", 2, "must be a list of objects", id="items is no list"),
    pytest.param("kind: List\nitems: [1]\n", 2, "is not a Kubernetes object", id="an item is no object"),
    pytest.param(b"a: \xff\n", 1, "is not UTF-8", id="latin-1"),
    pytest.param("a: 1\n".encode("utf-16"), 1, "is UTF-16 text; save it as UTF-8", id="UTF-16"),
    pytest.param("a: 1\n".encode("utf-16-be"), 1, "character #x0000 is not allowed", id="UTF-16 that does not say so"),
    pytest.param(b"\x89PNG\r\n\x1a\n\0\0", 1, "byte 0x89, it looks like a binary file", id="an image"),
    pytest.param("a:\n\tb: 1\n", 2, "a tab is used for indentation", id="tab"),
    pytest.param("a: 1\nb: 2\na: 3\n", 3, "the key 'a' is given twice in one map (first on line 1)", id="double"),
    pytest.param("", 0, "holds no documents", id="empty file"),
    pytest.param("# only a comment\n", 0, "holds no documents", id="only a comment"),
]


@pytest.mark.parametrize(("text", "line", "message"), PROBLEMS)
def test_problems_have_a_file_and_a_line(tmp_path: Path, text: str | bytes, line: int, message: str) -> None:
    path = write(tmp_path, "x.yaml", text)
    (problem,) = reading.read([str(path)]).problems
    assert (problem.file, problem.line) == (str(path), line)
    assert message in problem.message


def test_a_path_that_does_not_exist_and_an_empty_folder(tmp_path: Path) -> None:
    (missing,) = reading.read([str(tmp_path / "nowhere")]).problems
    assert "does not exist" in str(missing)
    (empty,) = reading.read([str(tmp_path)]).problems
    assert "holds no documents" in str(empty)


@pytest.mark.parametrize("raw", [POD.replace("\n", "\r\n").encode(), POD.encode("utf-8-sig")], ids=["CRLF", "BOM"])
def test_what_other_systems_write_is_read(tmp_path: Path, raw: bytes) -> None:
    found = reading.read([str(write(tmp_path, "a.yaml", raw))])
    assert not found.problems
    assert [one.data["metadata"]["name"] for one in found.documents] == ["a"]


def test_linked_folders_are_read_once_and_circles_end(tmp_path: Path) -> None:
    write(tmp_path, "elsewhere/a.yaml", POD)
    write(tmp_path, "fleet/b.yaml", POD)
    (tmp_path / "fleet/linked").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "fleet/again").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "fleet/up").symlink_to(tmp_path)
    (tmp_path / "elsewhere/back").symlink_to(tmp_path / "fleet")
    (tmp_path / "fleet/self.yaml").symlink_to("self.yaml")
    found = reading.read([str(tmp_path / "fleet")])
    assert sorted(os.path.basename(one.file) for one in found.documents) == ["a.yaml", "b.yaml"]
    assert [problem.message for problem in found.problems] == ["cannot be read: Too many levels of symbolic links"]


def test_a_file_that_may_not_be_read_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = str(write(tmp_path, "a.yaml", POD))

    def refuse(*_arguments: object) -> None:
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr("builtins.open", refuse)  # an administrator may read everything
    (problem,) = reading.read([path]).problems
    assert str(problem) == f"{path}: cannot be read: Permission denied"


def test_five_thousand_files_and_some_that_are_no_documents(tmp_path: Path) -> None:
    for number in range(5000):
        write(tmp_path, f"{number % 50}/{number}.{'yaml' if number % 2 else 'txt'}", POD)
    found = reading.read([str(tmp_path)])
    assert (len(found.documents), found.problems) == (2500, ())


def test_a_device_is_not_read(tmp_path: Path) -> None:
    (problem,) = reading.read(["/dev/zero"]).problems
    assert "not a file" in problem.message


def test_what_is_fine_is_read_beside_what_is_not(tmp_path: Path) -> None:
    write(tmp_path, "a.yaml", POD)
    write(tmp_path, "b.yaml", "a: [")
    found = reading.read([str(tmp_path)])
    assert (len(found.documents), len(found.problems)) == (1, 1)


def test_ten_megabytes_are_read(tmp_path: Path) -> None:
    one = POD + "spec:\n" + "".join(f"  key{n}: {{name: value-{n}, count: {n}}}\n" for n in range(40))
    path = write(tmp_path, "big.yaml", "---\n".join([one] * (10_000_000 // len(one))))
    # About three seconds; quadratic behaviour would take hours.
    found = reading.read([str(path)])
    assert len(found.documents) > 5000


def test_a_pipe_in_a_folder_is_told_and_not_waited_for(tmp_path: Path) -> None:
    write(tmp_path, "a.yaml", POD)
    os.mkfifo(tmp_path / "b.yaml")
    found = reading.read([str(tmp_path)])
    assert len(found.documents) == 1
    assert [str(problem) for problem in found.problems] == [
        f"{tmp_path}/b.yaml: is a pipe in a folder; give it by itself"
    ]


def test_a_pipe_that_is_given_by_itself_is_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "b.yaml")
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        writing = pool.submit((tmp_path / "b.yaml").write_text, POD)
        assert len(reading.read([str(tmp_path / "b.yaml")]).documents) == 1
        writing.result(10)


def test_more_documents_than_a_fleet_has_are_one_problem_and_nothing_is_done_with_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "MAX_DOCUMENTS", 2)
    write(tmp_path, "a.yaml", f"{POD}---\n{POD}")
    assert len(reading.read([str(tmp_path)]).documents) == 2
    write(tmp_path, "b.yaml", POD)
    found = reading.read([str(tmp_path)])
    assert not found.documents
    assert [problem.file for problem in found.problems] == [f"{tmp_path}/b.yaml"]
    assert "give fewer files, or split it" in found.problems[0].message
