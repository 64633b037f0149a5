"""The command of the staging pod, run as it is rendered, with the real client against a server of the hub's protocol.

What differs from a pod: the folder of the claim is one of this machine, and the termination message is a file there.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from modelplane.render import staging, staging_program
from modelplane.render.staging import Staging, Volume
from modelplane.workload.cached import SecretKey, Source
from tests.support.hub import Hub, serving

Json = Any
REPO, COMMIT, LATER = "owner/model", "a" * 40, "b" * 40
SECRET = "hf_a-token-that-opens"  # noqa: S105 - it opens a server of this test
SMALL = {"config.json": b'{"model_type": "llama"}', "original/weights.pth": b"p" * 1000}
# The interpreter with the client; another may be named, with the client of the default image.
PYTHON = os.environ.get("MODELPLANE_STAGING_PYTHON", sys.executable)


def a_hub(**changed: Any) -> Hub:
    given: dict[str, Any] = {"repo": REPO, "files": dict(SMALL), "branches": {"main": COMMIT}, **changed}
    return Hub(**given)


def rendered(hub: Hub, *, commit: str = "", **changed: Any) -> tuple[Json, Json | None]:
    """Return the containers that stage and resolve, as the pod of the Job has them; None where nothing is resolved."""
    source = Source(**{"uri": f"hf://{REPO}", "revision": "main", "exclude": ("original/*",), **changed})
    made = Staging("ml-team", "llama", "gke-us", source.key, source, Volume("c", "1Gi", "s", "ReadWriteMany"), commit)
    pod = staging.job(made).resource["spec"]["template"]["spec"]
    return pod["containers"][0], next(iter(pod.get("initContainers", ())), None)


def command(container: Json, root: Path) -> list[str]:
    """Return the command line of a container, with the folder of the claim moved to `root`."""
    words = [*container["command"], *container["args"]]
    assert words.count(staging.ROOT) == 1
    return [PYTHON if word == "python3" else str(root) if word == staging.ROOT else word for word in words]


def environment(container: Json, root: Path, hub: Hub, token: str = "") -> Mapping[str, str]:
    given = {entry["name"]: entry.get("value", token) for entry in container["env"]}
    moved = {key: value.replace(staging.ROOT, str(root)) for key, value in given.items()}
    return {
        **moved,
        "PATH": os.environ["PATH"],
        "HOME": str(root / ".home"),
        "HF_ENDPOINT": hub.url,
        "MODELPLANE_TERMINATION_LOG": str(root / "termination-log"),
    }


def run(container: Json, root: Path, hub: Hub, token: str = "", before: Sequence[str] = ()) -> Any:
    line = [*before, *command(container, root)]
    return subprocess.run(
        line,
        env=dict(environment(container, root, hub, token)),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def continues_files() -> bool:
    """Return whether the client goes on inside a file: that of the default image does, one of 2.x begins it again."""
    asked = [PYTHON, "-c", "import huggingface_hub; print(huggingface_hub.__version__)"]
    said = subprocess.run(asked, capture_output=True, text=True, check=True)
    return said.stdout.startswith("0.")


def folder(root: Path, container: Json) -> Path:
    return root / str(container["args"][4])


def test_the_files_that_match_are_fetched_and_no_others(tmp_path: Path) -> None:
    with serving(a_hub()) as hub:
        stager, resolver = rendered(hub)
        assert resolver is not None
        assert run(resolver, tmp_path, hub).returncode == 0
        ended = run(stager, tmp_path, hub)
    assert ended.returncode == 0, ended.stderr
    assert (folder(tmp_path, stager) / "config.json").read_bytes() == SMALL["config.json"]
    assert not (folder(tmp_path, stager) / "original").exists()
    assert (tmp_path / "termination-log").read_text() == COMMIT


def test_a_revision_is_resolved_once_whatever_happens_to_the_branch(tmp_path: Path) -> None:
    hub = a_hub()
    with serving(hub):
        stager, resolver = rendered(hub)
        assert run(resolver, tmp_path, hub).returncode == 0
        hub.branches = {"main": LATER, "older": COMMIT}
        assert run(resolver, tmp_path, hub).returncode == 0
        hub.asked.clear()
        assert run(stager, tmp_path, hub).returncode == 0
    assert (tmp_path / "termination-log").read_text() == COMMIT
    assert not any(LATER in path or "/main" in path for _, path, _ in hub.asked), hub.asked


def test_a_pod_that_is_killed_is_continued_and_not_begun_again(tmp_path: Path) -> None:
    weights = os.urandom(64) * 500_000
    hub = a_hub(files={"model.safetensors": weights}, seconds_per_chunk=0.02)
    with serving(hub):
        stager, _ = rendered(hub, revision=COMMIT)
        killed = subprocess.Popen(
            command(stager, tmp_path), env=dict(environment(stager, tmp_path, hub)), stderr=subprocess.DEVNULL
        )
        try:
            _wait_for_a_part(tmp_path)
        finally:
            killed.send_signal(signal.SIGKILL)
            killed.wait()
        assert not (folder(tmp_path, stager) / "model.safetensors").exists()
        hub.asked.clear()
        ended = run(stager, tmp_path, hub)
    assert ended.returncode == 0, ended.stderr
    found = (folder(tmp_path, stager) / "model.safetensors").read_bytes()
    assert hashlib.sha256(found).digest() == hashlib.sha256(weights).digest()
    assert not list(tmp_path.rglob("*.incomplete")), "what a killed pod leaves must not fill the claim"
    if not continues_files():
        return
    ranges = [asked for method, path, asked in hub.asked if method == "GET" and "/resolve/" in path]
    assert ranges, hub.asked
    assert all(asked.startswith("bytes=") and not asked.startswith("bytes=0-") for asked in ranges), ranges


def _wait_for_a_part(root: Path) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if any(part.stat().st_size > 500_000 for part in root.rglob("*.incomplete")):
            return
        time.sleep(0.05)
    raise AssertionError("no part of the file arrived")


def test_complete_files_are_not_fetched_again(tmp_path: Path) -> None:
    with serving(a_hub()) as hub:
        stager, _ = rendered(hub, revision=COMMIT)
        assert run(stager, tmp_path, hub).returncode == 0
        hub.asked.clear()
        assert run(stager, tmp_path, hub).returncode == 0
    assert not [one for one in hub.asked if one[0] == "GET" and "/resolve/" in one[1]]


@pytest.mark.parametrize(
    ("hub", "changed", "token", "code"),
    [
        pytest.param(
            a_hub(), {"revision": "no-such"}, "", staging_program.NO_REVISION, id="a-revision-that-is-not-there"
        ),
        pytest.param(a_hub(), {"revision": LATER}, "", staging_program.NO_REVISION, id="a-commit-that-is-not-there"),
        pytest.param(a_hub(), {"uri": "hf://owner/other"}, "", staging_program.NO_REPOSITORY, id="no-repository"),
        pytest.param(a_hub(token=SECRET), {}, "", staging_program.NO_REPOSITORY, id="a-private-one-without-a-token"),
        pytest.param(a_hub(token=SECRET), {}, "hf_wrong", staging_program.DENIED, id="a-token-that-is-refused"),
        pytest.param(a_hub(token=SECRET, is_gated=True), {}, SECRET, staging_program.DENIED, id="terms-not-accepted"),
        pytest.param(a_hub(), {"include": ("*.gguf",)}, "", staging_program.NO_FILES, id="patterns-that-match-nothing"),
    ],
)
def test_what_another_attempt_cannot_mend_has_an_exit_code_of_its_own(
    hub: Hub, changed: dict[str, Any], token: str, code: int, tmp_path: Path
) -> None:
    secret = SecretKey("hf-token", "HF_TOKEN") if token else None
    with serving(hub):
        stager, resolver = rendered(hub, secret=secret, **changed)
        ended = [run(one, tmp_path, hub, token) for one in (resolver, stager) if one is not None]
    assert ended[-1].returncode == code, ended[-1].stderr
    assert code in staging_program.EXITS
    assert all(token not in one.stderr + one.stdout for one in ended if token), "a token must never be in a log"


def test_a_token_that_opens_the_repository_is_used(tmp_path: Path) -> None:
    with serving(a_hub(token=SECRET)) as hub:
        stager, resolver = rendered(hub, secret=SecretKey("hf-token", "HF_TOKEN"))
        assert resolver is not None
        assert run(resolver, tmp_path, hub, SECRET).returncode == 0
        assert run(stager, tmp_path, hub, SECRET).returncode == 0
    left = [path for path in tmp_path.rglob("*") if path.is_file() and SECRET.encode() in path.read_bytes()]
    assert not left, "the claim is read by others"


def test_a_hub_that_is_not_reached_is_tried_again(tmp_path: Path) -> None:
    hub = a_hub()
    hub.url = "http://127.0.0.1:1"
    stager, _ = rendered(hub, revision=COMMIT)
    ended = run(stager, tmp_path, hub)
    assert ended.returncode not in {0, *staging_program.EXITS}


@pytest.mark.skipif(shutil.which("unshare") is None, reason="a small disk needs a mount namespace")
@pytest.mark.parametrize(
    "tells_sizes", [pytest.param(True, id="known-before"), pytest.param(False, id="met-on-the-way")]
)
def test_a_disk_that_is_too_small_ends_the_job(tells_sizes: bool, tmp_path: Path) -> None:  # noqa: FBT001 - of pytest
    hub = a_hub(files={"model.safetensors": os.urandom(8_000_000)}, tells_sizes=tells_sizes)
    mounted = f'mount -t tmpfs -o size=4m none "{tmp_path}" && exec "$@"'
    with serving(hub):
        stager, _ = rendered(hub, revision=COMMIT)
        ended = run(stager, tmp_path, hub, before=["unshare", "-rm", "sh", "-c", mounted, "sh"])
        fetched = any(method == "GET" and "/resolve/" in path for method, path, _ in hub.asked)
    assert ended.returncode == staging_program.NO_ROOM, ended.stderr
    assert fetched is not tells_sizes


def test_texts_of_authors_stay_data(tmp_path: Path) -> None:
    """The API refuses these; the program must not need that."""
    hostile = ("$(touch x)", "--help", "`id`", "a b", "';import os;'")
    with serving(a_hub()) as hub:
        stager, _ = rendered(hub, revision=COMMIT, exclude=hostile)
        ended = run(stager, tmp_path, hub)
    assert ended.returncode == 0, ended.stderr
    assert sorted(one.name for one in folder(tmp_path, stager).iterdir() if one.name != ".cache") == [
        "config.json",
        "original",
    ]


def test_the_kubelet_expands_nothing_in_the_program() -> None:
    assert "$(" not in staging_program.TEXT
    compile(staging_program.TEXT, "program", "exec")
