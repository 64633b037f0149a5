"""`modelplane validate -o markdown`: the problems as a comment for a pull request."""

from __future__ import annotations

from pathlib import Path

import pytest

from modelplane_cli.output import markdown, problems_markdown
from tests.support import planning as given

GOLDEN = Path(__file__).parents[2] / "golden" / "validate" / "wrong.md"
DEPLOYMENT = """\
apiVersion: modelplane.ai/v1alpha1
kind: ModelDeployment
metadata: {name: chat, namespace: ml-team}
spec:
  replicas: 1
  nodeSelector: {cel: "true"}
  workers:
    template:
      spec:
        containers:
        - name: engine
          image: vllm/vllm-openai:latest
"""
WRONG = """\
apiVersion: modelplane.ai/v1alpha1
kind: ModelDeployment
metadata: {name: wrong, namespace: ml-team}
spec:
  gpus: 2
  "@everyone `|</td>": 1
"""


def test_the_comment_names_each_problem_and_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in (("a.yaml", DEPLOYMENT), ("b.yaml", WRONG), ("c.yaml", "spec: [\n")):
        (tmp_path / name).write_text(text, encoding="utf-8")
    ran = given.run("validate", ".", "-o", "markdown")
    assert (ran.code, ran.err) == (2, "")
    if request.config.getoption("--update-golden"):
        GOLDEN.parent.mkdir(exist_ok=True)
        GOLDEN.write_text(ran.out, encoding="utf-8")
    assert ran.out == GOLDEN.read_text(encoding="utf-8")


def test_documents_without_a_problem_are_counted(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(DEPLOYMENT.replace(":latest", ":v0.23.0"), encoding="utf-8")
    ran = given.run("validate", str(tmp_path), "-o", "markdown")
    assert (ran.code, ran.out) == (
        0, f"{problems_markdown.MARK}\n### Modelplane validate\n\n1 document, no problem\n"
    )  # fmt: skip


def test_a_long_answer_is_cut_and_says_so(tmp_path: Path) -> None:
    """Errors are cut last, since they are what fails the check."""
    documents = [DEPLOYMENT.replace("name: chat", f"name: chat-{number}") for number in range(400)]
    documents += [WRONG.replace("name: wrong", f"name: wrong-{number}") for number in range(20)]
    (tmp_path / "a.yaml").write_text("---\n".join(documents), encoding="utf-8")
    out = given.run("validate", str(tmp_path), "-o", "markdown").out
    assert len(out.encode()) <= markdown.ROOM
    assert "wrong-19" in out.partition("**Warnings**")[0]
    assert " warnings are left out of this comment." in out
    assert " errors are left out" not in out
