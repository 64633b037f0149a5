"""`modelplane report`: the data of the page, the page as a file, and the server that follows its sources."""

from __future__ import annotations

import base64
import hashlib
import http.client
import json
import re
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

from modelplane_cli import report as room
from modelplane_cli.commands import report_serving
from modelplane_cli.documents import live
from modelplane_cli.output import models
from modelplane_cli.parsers import report as report_parser
from modelplane_cli.report import page, server, watching
from tests.bench import files
from tests.support import examples
from tests.support import planning as given

Json = Any
ROOT = Path(__file__).parents[3]
FLEET = "examples/quickstart"
WALK = ("--clusters", "60", "--nodes", "2", "--deployments", "6")


@pytest.fixture(autouse=True)
def _at_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


def answer(*arguments: str) -> Json:
    ran = given.run("report", *arguments, "-o", "json")
    assert ran.code == 0, ran.err
    models.adapter("report").validate_json(ran.out)
    return ran.json


# --- the data ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("folder", examples.fleets())
def test_what_is_drawn_on_nodes_is_what_the_ledger_counts(folder: str) -> None:
    """The devices of a pool that are in use are those of its holdings, but where pods take whole nodes or parts."""
    (frame,) = answer(f"examples/{folder}")["frames"]
    used = {(one["cluster"], one["pool"]): one for one in frame["plan"]["pools"]}
    for cluster in frame["clusters"]:
        for pool in cluster["pools"]:
            held = Counter[str]()
            for one in pool["held"]:
                held.update(one["devices"])
            counted = used[cluster["name"], pool["name"]]["devices"]
            for name, device in counted.items():
                if not cluster["wholeNodes"] and name not in pool["shared"]:
                    assert device["used"] == held[name], (cluster["name"], pool["name"], name)


def test_nodes_are_those_that_the_cluster_recorded() -> None:
    (frame,) = answer(FLEET)["frames"]
    held = {
        cluster["name"]: [(one["replica"], one["node"], one["devices"]) for one in pool["held"]]
        for cluster in frame["clusters"]
        for pool in cluster["pools"]
    }
    assert held == {
        "eks-eu": [("ml-team/qwen3-8b-1", 0, {"gpu": 1})],
        "gke-us": [("ml-team/qwen3-8b-0", 0, {"gpu": 1})],
    }


def test_replicas_services_and_urls_hang_together() -> None:
    (frame,) = answer(FLEET)["frames"]
    (service,) = frame["services"]
    assert [(one["replica"], one["cluster"], one["ready"], one["share"]) for one in service["endpoints"]] == [
        ("qwen3-8b-1", "eks-eu", True, 0.5),
        ("qwen3-8b-0", "gke-us", True, 0.5),
    ]
    assert frame["plan"]["routes"][0]["url"] == "http://default.gateway.assumed.invalid/ml-team/qwen3-8b"


def test_the_plan_of_a_frame_is_the_plan_of_plan() -> None:
    (frame,) = answer(FLEET)["frames"]
    assert frame["plan"] == given.run("plan", FLEET, "-o", "json").json
    assert frame["holders"] == given.run("top", FLEET, "-o", "json").json["rows"]


def test_events_add_moments_with_the_steps_of_simulate() -> None:
    events = ("--drain", "gke-us", "--scale", "ml-team/qwen3-8b=3")
    found = answer(FLEET, *events)
    steps = given.run("simulate", FLEET, *events, "-o", "json").json["steps"]
    assert [one["event"] for one in found["frames"]] == ["", "drain gke-us", "scale ml-team/qwen3-8b to 3"]
    for frame, step in zip(found["frames"][1:], steps, strict=True):
        assert (frame["event"], frame["fits"], frame["stages"]) == (step["event"], step["fits"], step["stages"])
        assert frame["plan"]["changes"] == step["changes"]
    by_name = {one["name"]: one["pools"][0]["held"] for one in found["frames"][1]["clusters"]}
    assert by_name["gke-us"] == []
    assert [one["replica"] for one in by_name["eks-eu"]] == ["ml-team/qwen3-8b-1", "ml-team/qwen3-8b-2"]


def test_a_comparison_has_the_moment_before_and_the_one_after(tmp_path: Path) -> None:
    base = (given.node_class(price="10"), given.cluster("a"))
    before = given.written(tmp_path, "before", *base, given.deployment(replicas=1))
    after = given.written(tmp_path, "after", *base, given.deployment(replicas=2))
    found = answer(after, "--against", before)
    assert found["comparison"]
    assert [one["plan"]["deployments"][0]["placed"] for one in found["frames"]] == [1, 2]
    changes = given.run("plan", after, "--against", before, "-o", "json").json["changes"]
    assert found["frames"][1]["plan"]["changes"] == changes


def test_what_waits_says_why_and_what_would_help(tmp_path: Path) -> None:
    file = given.written(tmp_path, "all", given.node_class(), given.cluster("a", nodes=1), given.deployment(tensor=8))
    (frame,) = answer(file)["frames"]
    (row,) = frame["plan"]["deployments"]
    assert row["unschedulable"]["count"] == 1
    assert row["unschedulable"]["closest"]["change"]
    assert not frame["fits"]


def test_documents_with_a_status_are_drawn_as_they_are(tmp_path: Path) -> None:
    """The replica that the control plane has placed nowhere stays without a place, though it would have one."""
    settled = given.run("render", FLEET, "-o", "json").json["items"]
    settled = [one for one in settled if one["kind"] not in ("ModelReplica", "ModelEndpoint")]
    file = tmp_path / "live.json"
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": settled}))
    found = answer(str(file))
    assert not found["rehearsed"]
    assert found["frames"][0]["plan"]["deployments"][0]["replicas"] == []
    # What the ledger counts is shown all the same: the pods may still run.
    assert [one["replica"] for one in found["frames"][0]["clusters"][0]["pools"][0]["held"]] == ["ml-team/qwen3-8b-1"]
    assert answer(str(file), "--drain", "gke-us")["rehearsed"]


def test_a_pool_that_is_not_declared_any_more_is_shown_with_what_it_holds(tmp_path: Path) -> None:
    settled = given.run("render", FLEET, "-o", "json").json["items"]
    (cluster,) = [one for one in settled if one["kind"] == "InferenceCluster" and one["metadata"]["name"] == "eks-eu"]
    cluster["spec"]["nodePools"][0]["name"] = "other"
    file = tmp_path / "live.json"
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": settled}))
    pools = answer(str(file))["frames"][0]["clusters"][0]["pools"]
    assert [(one["name"], one["declared"], len(one["held"])) for one in pools] == [
        ("other", True, 0),
        ("h100", False, 1),
    ]


def test_headroom_is_that_of_simulate() -> None:
    wanted = given.run("simulate", FLEET, "--headroom", "-o", "json").json["headroom"]
    assert answer(FLEET, "--headroom")["headroom"] == wanted


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        pytest.param((FLEET, "--drain", "nowhere"), "no InferenceCluster nowhere", id="an event about nothing"),
        pytest.param((FLEET, "--scale", "x"), "write NAMESPACE/NAME=N", id="an event that is no event"),
        pytest.param(("/nowhere",), "/nowhere", id="a path that is not there"),
        pytest.param((), "nothing to read", id="no source"),
        pytest.param(
            (FLEET, "-o", "/dev/null/x.html"), "/dev/null/x.html: cannot be written", id="a place for no file"
        ),
        pytest.param((FLEET, "--serve", "-o", "x.html"), "one of --serve and -o", id="two ways out"),
        pytest.param(("-", "--serve"), "cannot follow standard input", id="a stream is read once"),
        pytest.param((FLEET, "--serve", "--listen", "x:1"), "write an IPv4 address and a port", id="no address"),
        pytest.param((FLEET, "--serve", "--listen", "127.0.0.1:99999"), "write an IPv4 address", id="no port"),
        pytest.param(("/nowhere", "--serve"), "/nowhere", id="nothing to serve"),
    ],
)
def test_bad_input_is_one_line_and_code_2(arguments: tuple[str, ...], words: str) -> None:
    ran = given.run("report", *arguments)
    assert ran.code == 2
    assert words in ran.err
    assert "Traceback" not in ran.err
    assert ran.out == ""


@pytest.mark.slow
def test_sixty_clusters_become_a_page_and_a_headroom_figure(tmp_path: Path) -> None:
    """The walk-through of docs/report.md."""
    fleet, out = str(tmp_path / "fleet"), tmp_path / "fleet.html"
    assert f"out/fleet {' '.join(WALK)}" in (ROOT / "docs" / "report.md").read_text(encoding="utf-8")
    assert files.main([fleet, *WALK]) == 0
    assert given.run("report", fleet, "-o", str(out)).code == 0
    assert b"cluster-00059" in out.read_bytes()
    told = given.run("simulate", fleet, "--headroom").out.splitlines()
    at = told.index(next(line for line in told if line.startswith("any ")))
    assert re.fullmatch(r"any (one cluster|\d+ clusters) may be lost", told[at])
    assert told[at + 1].startswith("the largest loss ")


# --- the page ---------------------------------------------------------------------------------------------------------


def test_the_page_is_the_same_for_the_same_input(tmp_path: Path) -> None:
    for name in ("a", "b"):
        assert given.run("report", FLEET, "-o", str(tmp_path / f"{name}.html")).code == 0
    made = (tmp_path / "a.html").read_bytes()
    assert made == (tmp_path / "b.html").read_bytes()
    assert given.run("report", FLEET, "-o", "-").out.encode() == made


def test_the_page_permits_its_own_style_and_program_alone_and_loads_nothing() -> None:
    text = page.html_page({"frames": []}, "title").decode()
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)
    assert policy is not None
    assert policy[1].startswith("default-src 'none'; ")
    for element, source in (("style", "style-src"), ('script type="module"', "script-src")):
        inside = text.split(f"<{element}>", 1)[1].split(f"</{element.split()[0]}>", 1)[0]
        digest = base64.b64encode(hashlib.sha256(inside.encode()).digest()).decode()
        assert f"{source} 'sha256-{digest}'" in policy[1]
    assert "connect-src 'none'" in policy[1]
    markup = re.sub(r"<(script|style)\b.*?</\1>", "", text, flags=re.DOTALL)
    assert not re.search(r"\b(src|href)=", markup)
    assert "connect-src 'self'" in page.html_page({"frames": []}, "title", version="1").decode()


HOSTILE = "</script><script>alert(1)</script><!-- \u2028 \u2029 \" ' & \u202e \ud800"


def test_no_text_of_a_document_ends_the_element_that_holds_it() -> None:
    made = page.embedded({"text": HOSTILE})
    assert made.isascii()
    assert not set("<>&") & set(made)
    assert json.loads(made) == {"text": HOSTILE}
    text = page.html_page({"text": HOSTILE}, "</title><script>alert(1)</script>").decode()
    assert text.count("<script") == 2
    assert "<title>&lt;/title&gt;" in text


def test_the_library_is_that_of_the_package_with_its_licence() -> None:
    table = page.read("README.md", "vendor")
    digest = hashlib.sha256(page.read("preact.mjs", "vendor").encode()).hexdigest()
    assert digest in table
    assert "MIT" in page.read("preact.LICENSE", "vendor")
    assert "Copyright (c)" in page.script().split("*/", 1)[0]


def test_every_source_of_the_page_is_in_it_and_writes_no_markup() -> None:
    folder = resources.files(room).joinpath("page")
    assert {one.name for one in folder.iterdir()} == {*page.PROGRAM, "page.css"}
    ours = "".join(page.read(name) for name in page.PROGRAM)
    for way in (
        "innerHTML",
        "outerHTML",
        "insertAdjacentHTML",
        "document.write",
        "eval(",
        "new Function",
        "dangerously",
    ):
        assert way not in ours


# --- the server -------------------------------------------------------------------------------------------------------


@pytest.fixture
def served() -> Iterator[server.Server]:
    board = server.Board("title")
    board.show({"frames": [], "rehearsed": True})
    made = server.Server(("127.0.0.1", 0), board)
    threading.Thread(target=made.serve_forever, daemon=True).start()
    yield made
    made.shutdown()
    made.server_close()


def asked(served: server.Server, method: str, path: str, host: str = "") -> http.client.HTTPResponse:
    connection = http.client.HTTPConnection("127.0.0.1", served.server_address[1], timeout=10)
    connection.request(method, path, headers={"Host": host} if host else {})
    return connection.getresponse()


def test_the_server_binds_this_machine_alone_by_default() -> None:
    options = report_parser.parser().parse_args(["--serve"])
    assert report_serving._address(options.listen) == ("127.0.0.1", report_parser.PORT)


@pytest.mark.parametrize(
    ("method", "path", "host", "status"),
    [
        pytest.param("GET", "/", "", 200, id="the page"),
        pytest.param("HEAD", "/", "", 200, id="its headers"),
        pytest.param("GET", "/?x=1", "", 200, id="a query"),
        pytest.param("GET", "/report.json", "", 200, id="the data"),
        pytest.param("HEAD", "/events", "", 200, id="the headers of events"),
        pytest.param("GET", "/../pyproject.toml", "", 404, id="a file of the machine"),
        pytest.param("GET", "/page.css", "", 404, id="a file of the package"),
        pytest.param("POST", "/", "", 501, id="nothing is written"),
        pytest.param("DELETE", "/report.json", "", 501, id="nothing is deleted"),
        pytest.param("GET", "/", "evil.example", 421, id="a name that leads here"),
        pytest.param("GET", "/report.json", "evil.example:8484", 421, id="the data by that name"),
    ],
)
def test_the_server_answers_only_what_it_serves(
    served: server.Server, method: str, path: str, host: str, status: int
) -> None:
    found = asked(served, method, path, host)
    assert found.status == status
    if status == 200:
        assert found.headers["Cache-Control"] == "no-store"
        assert "Access-Control-Allow-Origin" not in found.headers
        assert bool(found.read()) == (method == "GET")


def test_events_say_each_version_and_each_trouble_once(served: server.Server) -> None:
    found = asked(served, "GET", "/events")
    first = served.board.version
    assert found.readline() == b"event: version\n"
    assert found.readline() == f"data: {first}\n".encode()
    assert not served.board.show({"frames": [], "rehearsed": True})
    served.board.complain("two\nlines")
    assert [found.readline() for _ in range(3)] == [b"\n", b"event: trouble\n", b"data: two lines\n"]
    assert served.board.show({"frames": [], "rehearsed": False})
    assert [found.readline() for _ in range(3)][1:] == [b"event: version\n", f"data: {served.board.version}\n".encode()]
    assert json.loads(asked(served, "GET", "/report.json").read()) == {
        "title": "title",
        "frames": [],
        "rehearsed": False,
    }


@pytest.mark.parametrize("change", ["write", "add", "remove", "rename"])
def test_a_change_of_a_file_rings_the_bell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: str) -> None:
    monkeypatch.setattr(watching, "LOOK_SECONDS", 0.02)
    monkeypatch.setattr(watching, "CALM_SECONDS", 0.02)
    file = tmp_path / "folder" / "one.yaml"
    file.parent.mkdir()
    file.write_text("a")
    bell = watching.Bell()
    thread = watching.files([str(tmp_path)], bell)
    changes: dict[str, Callable[[], object]] = {
        "write": lambda: file.write_text("another"),
        "add": lambda: (tmp_path / "two.yaml").write_text("b"),
        "remove": file.unlink,
        "rename": lambda: file.rename(tmp_path / "three.yaml"),
    }
    changes[change]()
    assert bell.hear()
    bell.stop()
    thread.join(10)
    assert not thread.is_alive()
    assert not bell.hear()


def test_a_change_on_the_control_plane_rings_the_bell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """kubectl is asked for each kind of ours, and for nothing that writes."""
    log, flag = tmp_path / "log", tmp_path / "changed"
    program = tmp_path / "kubectl"
    program.write_text(
        f'#!/bin/sh\necho "$@" >> {log}\n'
        'case "$2" in api-resources) printf "modelreplicas.modelplane.ai\\npods\\nsecrets\\n";;\n'
        f"get) while [ ! -e {flag} ]; do sleep 0.05; done; echo modelreplica/a; exec sleep 60;; esac\n"
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setattr(watching, "LOOK_SECONDS", 0.05)
    monkeypatch.setattr(watching, "CALM_SECONDS", 0.05)
    bell = watching.Bell()
    (thread,) = watching.context("prod", bell)
    flag.write_text("")
    assert bell.hear()
    bell.stop()
    thread.join(20)
    assert not thread.is_alive()
    assert log.read_text().splitlines() == [
        "--context=prod api-resources --verbs=list --no-headers -o name",
        "--context=prod get modelreplicas.modelplane.ai --all-namespaces --watch-only -o name",
    ]
    assert live.kinds("prod") == ["modelreplicas.modelplane.ai"]
