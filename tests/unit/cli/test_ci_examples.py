"""The pipelines of examples/ci: read by the schemas of their sites and an auditor, and their blocks run as they are."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import yaml

from modelplane_cli.output import plan_markdown
from tests.support import examples

Json = Any
FOLDER = examples.EXAMPLES / "ci"
GITHUB, GITLAB = FOLDER / "github.yml", FOLDER / "gitlab.yml"
WORKFLOW: Json = yaml.safe_load(GITHUB.read_text(encoding="utf-8"))
PIPELINE: Json = yaml.safe_load(GITLAB.read_text(encoding="utf-8"))
PROGRAMS = Path(sys.executable).parent
MARK = plan_markdown.MARK
BOT, PERSON = {"login": "github-actions[bot]", "id": 7}, {"login": "mallory", "id": 8}


def block(job: str, name: str) -> str:
    """Return the shell block of a step of the workflow."""
    (found,) = (step["run"] for step in WORKFLOW["jobs"][job]["steps"] if step.get("name") == name)
    return str(found)


def blocks() -> list[str]:
    """Return every shell block of both files."""
    steps = [step["run"] for job in WORKFLOW["jobs"].values() for step in job["steps"] if "run" in step]
    return steps + [
        line for job in PIPELINE.values() for part in ("before_script", "script") for line in job.get(part, ())
    ]


@pytest.mark.parametrize(
    ("schema", "arguments"),
    [
        pytest.param("vendor.github-workflows", [str(GITHUB)], id="GitHub"),
        pytest.param("vendor.gitlab-ci", ["--data-transform", "gitlab-ci", str(GITLAB)], id="GitLab"),
    ],
)
def test_the_schema_of_the_site_takes_the_file(schema: str, arguments: list[str]) -> None:
    command = [str(PROGRAMS / "check-jsonschema"), "--builtin-schema", schema, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_an_auditor_of_workflows_finds_nothing(tmp_path: Path) -> None:
    """zizmor looks for injected templates, permissions that are too wide, actions without a pin, and more."""
    folder = tmp_path / ".github" / "workflows"
    folder.mkdir(parents=True)
    (folder / "modelplane.yml").write_bytes(GITHUB.read_bytes())
    command = [str(PROGRAMS / "zizmor"), "--offline", "--no-config", "--persona", "pedantic", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_no_text_of_a_pull_request_enters_a_shell_block() -> None:
    assert blocks()
    assert [text for text in blocks() if "${{" in text or "$[[" in text] == []
    assert "eval" not in "".join(blocks())


def test_what_may_write_has_no_checkout() -> None:
    assert set(WORKFLOW[True]) == {"pull_request"}, "pull_request_target would give a fork the permissions to write"
    assert WORKFLOW["permissions"] == {}
    allowed = {name: job["permissions"] for name, job in WORKFLOW["jobs"].items()}
    assert allowed == {"plan": {"contents": "read"}, "comment": {"pull-requests": "write"}}
    assert [step for step in WORKFLOW["jobs"]["comment"]["steps"] if "uses" in step] == []
    assert PIPELINE["modelplane-comment"]["variables"]["GIT_STRATEGY"] == "none"


def test_what_comes_from_elsewhere_is_pinned() -> None:
    uses = re.findall(r"uses: (\S+) # v[\d.]+$", GITHUB.read_text(encoding="utf-8"), re.MULTILINE)
    steps = [step["uses"] for job in WORKFLOW["jobs"].values() for step in job["steps"] if "uses" in step]
    assert steps == uses
    assert all(re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}", one) for one in uses)
    assert not any(job["runs-on"].endswith("latest") for job in WORKFLOW["jobs"].values())
    assert re.fullmatch(r"python:\d+\.\d+\.\d+-\w+", PIPELINE[".modelplane"]["image"])
    requirements = {WORKFLOW["env"]["MODELPLANE"], PIPELINE["modelplane-plan"]["variables"]["MODELPLANE"]}
    assert len(requirements) == 1
    assert re.search(r"@v\d+\.\d+\.\d+$", requirements.pop())


# --- the blocks, run --------------------------------------------------------------------------------------------------


@dataclass
class Fleet:
    """A clone of a repository whose HEAD merges a change of `fleet/` into its first parent."""

    root: Path
    clone: Path = field(init=False)

    def __post_init__(self) -> None:
        self.clone = self.root / "clone; touch pwned"
        self.clone.mkdir()
        self.git("init", "-q", "-b", "main")

    def git(self, *arguments: str) -> str:
        who = ("-c", "user.name=a", "-c", "user.email=a@b.example", "-c", "commit.gpgsign=false")
        done = subprocess.run(["git", *who, *arguments], cwd=self.clone, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    def write(self, name: str, *folders: str) -> None:
        """Write the documents of examples into a file of the fleet."""
        texts = [
            file.read_text(encoding="utf-8")
            for folder in folders
            for file in sorted((examples.EXAMPLES / folder).glob("*.yaml"))
        ]
        (self.clone / "fleet").mkdir(exist_ok=True)
        (self.clone / "fleet" / name).write_text("\n---\n".join(texts), encoding="utf-8")

    def merged(self, change: str) -> None:
        """Commit the base, and merge what `change` makes of it on a branch with a name like a command."""
        (self.clone / "README").write_text("fleet\n", encoding="utf-8")
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "base")
        self.git("checkout", "-q", "-b", "$(touch${IFS}pwned)")
        if change == "canary":
            self.write("canary.yaml", "canary")
        elif change == "wrong":
            (self.clone / "fleet").mkdir(exist_ok=True)
            wrong = (
                "apiVersion: modelplane.ai/v1alpha1\nkind: ModelDeployment\nmetadata: {name: a}\nspec: {replica: 1}\n"
            )
            (self.clone / "fleet" / "wrong.yaml").write_text(wrong, encoding="utf-8")
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", "`touch pwned`")
        self.git("checkout", "-q", "main")
        self.git("merge", "-q", "--no-ff", "-m", "merge", "$(touch${IFS}pwned)")

    def run(self, script: str, variables: Mapping[str, str], *shell: str) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [*(shell or ("bash", "--noprofile", "--norc", "-eo", "pipefail")), "-c", script],
            cwd=self.clone,
            env={"PATH": f"{PROGRAMS}{os.pathsep}{os.environ['PATH']}", "HOME": str(self.root), **variables},
            capture_output=True,
            text=True,
            check=False,
        )
        assert list(self.root.rglob("pwned")) == []
        return done


@pytest.fixture
def fleet(tmp_path: Path) -> Fleet:
    return Fleet(tmp_path)


CHANGES = [
    pytest.param("canary", True, 0, 0, "4 created", id="more deployments"),
    pytest.param("nothing", True, 0, 0, "No replica changes.", id="no change"),
    pytest.param("wrong", True, 2, 2, "There is no plan", id="a document that is wrong"),
    pytest.param("canary", False, 0, 0, "4 of 4 replicas placed", id="the first documents: no base to compare with"),
]


@pytest.mark.parametrize(("change", "has_base", "validates", "plans", "said"), CHANGES)
def test_the_workflow_plans_the_merge_against_its_base(
    fleet: Fleet, change: str, *, has_base: bool, validates: int, plans: int, said: str
) -> None:
    if has_base:
        fleet.write("base.yaml", "quickstart")
    fleet.merged(change)
    temporary = fleet.root / "runner's temp"
    temporary.mkdir()
    files = {"GITHUB_OUTPUT": str(temporary / "output"), "GITHUB_STEP_SUMMARY": str(temporary / "summary")}
    variables = {
        **{name: str(value) for name, value in WORKFLOW["env"].items()},
        **files,
        "RUNNER_TEMP": str(temporary),
    }
    assert fleet.run(block("plan", "Validate"), variables).returncode == validates
    done = fleet.run(block("plan", "Plan"), variables)
    assert done.returncode == plans, done.stderr
    summary = (temporary / "summary").read_text(encoding="utf-8")
    assert summary.startswith(f"{MARK}\n")
    assert said in summary
    assert ("unknown field" in summary) is (change == "wrong"), "the comment says what is wrong, and where"
    # The form of a value of several lines, as the runner reads it.
    found = re.fullmatch(r"comment<<(end-[0-9a-f-]{36})\n(.*)\n\1\n", (temporary / "output").read_text(), re.DOTALL)
    assert found is not None
    assert found[2] == summary.rstrip("\n")


@pytest.mark.parametrize(("change", "has_base", "validates", "plans", "said"), CHANGES)
def test_the_job_of_gitlab_plans_the_change_against_its_base(
    fleet: Fleet, change: str, *, has_base: bool, validates: int, plans: int, said: str
) -> None:
    if has_base:
        fleet.write("base.yaml", "quickstart")
    fleet.merged(change)
    variables = {
        **PIPELINE["modelplane-plan"]["variables"],
        "CI_MERGE_REQUEST_DIFF_BASE_SHA": fleet.git("rev-parse", "HEAD^1"),
    }
    (script,) = PIPELINE["modelplane-plan"]["script"]
    done = fleet.run(script, variables, "bash", "-eo", "pipefail")
    assert done.returncode == max(validates, plans), done.stderr
    text = (fleet.clone / "plan.md").read_text(encoding="utf-8")
    assert said in text
    assert ("unknown field" in text) is (change == "wrong"), "the comment says what is wrong, and where"


# --- the comment ------------------------------------------------------------------------------------------------------


@dataclass
class Site:
    """The comments of one request, as the API of a site keeps them."""

    comments: list[dict[str, Json]] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)
    address: str = ""

    def add(self, text: str, author: Mapping[str, Json]) -> None:
        number = len(self.comments) + 1
        url = f"{self.address}/repos/acme/fleet/issues/comments/{number}"
        self.comments.append({"id": number, "url": url, "body": text, "user": author, "author": author})

    def answer(self, method: str, path: str, query: Mapping[str, list[str]], body: Json) -> Json:
        self.calls.append(method)
        if path == "/user":
            return BOT
        if method == "GET":
            start = 100 * (int(query["page"][0]) - 1)
            assert query["per_page"] == ["100"]
            return self.comments[start : start + 100]
        if method == "POST":
            self.add(body["body"], BOT)
            return self.comments[-1]
        self.comments[int(path.rpartition("/")[2]) - 1]["body"] = body["body"]
        return {}


class _Handler(BaseHTTPRequestHandler):
    def __init__(self, site: Site, *arguments: Any) -> None:
        self.site = site
        super().__init__(*arguments)

    def _serve(self) -> None:
        known = {self.headers.get("Authorization"), self.headers.get("PRIVATE-TOKEN")}
        address = urlsplit(self.path)
        text = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        allowed = bool(known & {"Bearer secret", "secret"})
        found = self.site.answer(self.command, address.path, parse_qs(address.query), json.loads(text or "null"))
        answer = json.dumps(found).encode()
        self.send_response(200 if allowed else 401)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    do_GET = do_POST = do_PATCH = do_PUT = _serve  # noqa: N815 - the names that the standard library calls

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name of the standard library
        pass


@contextmanager
def serving(site: Site) -> Iterator[None]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Handler, site))
    site.address = f"http://127.0.0.1:{server.server_port}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()


def write_github(fleet: Fleet, site: Site, text: str, token: str) -> int:
    (step,) = WORKFLOW["jobs"]["comment"]["steps"]
    variables = {
        "TOKEN": token, "NUMBER": "12", "COMMENT": text,
        "GITHUB_API_URL": site.address, "GITHUB_REPOSITORY": "acme/fleet",
    }  # fmt: skip
    assert set(step["env"]) <= set(variables)
    return fleet.run(step["run"], variables).returncode


def write_gitlab(fleet: Fleet, site: Site, text: str, token: str) -> int:
    (fleet.clone / "plan.md").write_text(text, encoding="utf-8")
    (script,) = PIPELINE["modelplane-comment"]["script"]
    variables = {
        "MODELPLANE_TOKEN": token, "CI_API_V4_URL": site.address, "CI_PROJECT_ID": "5", "CI_MERGE_REQUEST_IID": "12",
    }  # fmt: skip
    return fleet.run(script, variables, "bash", "-eo", "pipefail").returncode


@pytest.mark.parametrize("write", [write_github, write_gitlab], ids=["GitHub", "GitLab"])
@pytest.mark.parametrize("others", [0, 99, 100, 230], ids=lambda count: f"{count} comments of others")
def test_there_is_one_comment_however_often_it_is_written(fleet: Fleet, write: Any, others: int) -> None:
    site = Site()
    with serving(site):
        for number in range(others):
            site.add(f"{MARK}\nnot ours" if number % 2 else "hello", PERSON)
        before = [dict(one) for one in site.comments]
        for text in (
            f"{MARK}\nfirst",
            f"{MARK}\nsecond 'x' \"y\" $(touch pwned) `touch pwned` \\ \N{SNOWMAN}\n" + "z" * 60_000,
        ):
            assert write(fleet, site, text, "secret") == 0
            assert [one["body"] for one in site.comments[others:]] == [text]
        assert site.comments[:others] == before
    assert site.calls.count("POST") == 1


@pytest.mark.parametrize("write", [write_github, write_gitlab], ids=["GitHub", "GitLab"])
def test_a_site_that_refuses_fails_the_job(fleet: Fleet, write: Any) -> None:
    site = Site()
    with serving(site):
        assert write(fleet, site, f"{MARK}\n", "wrong") != 0
    assert "POST" not in site.calls


@pytest.mark.slow
def test_the_block_that_installs_gives_the_command(fleet: Fleet) -> None:
    subprocess.run([sys.executable, "-m", "venv", str(fleet.root / "env")], check=True)
    repository = examples.EXAMPLES.parent
    path = f"{fleet.root / 'env' / 'bin'}{os.pathsep}{os.environ['PATH']}"
    variables = {"PATH": path, "MODELPLANE": f"modelplane @ {repository.as_uri()}"}
    done = fleet.run(block("plan", "Install"), variables)
    assert done.returncode == 0, done.stderr
    assert fleet.run("modelplane --version", variables).stdout.startswith("modelplane ")
