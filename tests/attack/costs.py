"""Attacks by cost: what one object, one call or one file takes of the processor, memory and time of everybody."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import grpc
from crossplane.function.proto.v1 import run_function_pb2_grpc as grpcv1

from tests.attack.play import Play, must
from tests.support import functionserver, hostile, requests

Json = Any
# What was measured took a tenth of these; the machine may be busy with other tests.
CALL_CPU_SECONDS = 20
END_SECONDS = 20
FILE_SECONDS = 60
FILE_BYTES = 10_000_000
BESIDE_SECONDS = 20
FOREVER = 600


def many_selectors(play: Play) -> str:
    """1,024 selectors, each within the cost limit, in 200 KB; others ask meanwhile."""
    objects = hostile.world(nodeSelector=hostile.many_selectors())
    return _beside(play, hostile.last_request(objects, "ModelDeployment"))


def one_unsatisfiable(play: Play) -> str:
    """32 requests on eight kinds of device, one of which cannot be met; the call's deadline; SIGTERM meanwhile."""
    wanted = {
        "devices": [
            {"name": one.name, "count": one.count, "selectors": [{"cel": text} for text in one.selectors]}
            for one in hostile.one_unsatisfiable()
        ]
    }
    objects = hostile.world(nodeSelector=wanted)
    said = _beside(play, hostile.last_request(objects, "ModelDeployment"))
    return f"{said}; {_deadline(play)}; {_sigterm()}"


def _beside(play: Play, message: Json) -> str:
    """Send a dear call, and short ones of another tenant beside it; return what both took."""
    short = hostile.last_request(hostile.world(), "ModelDeployment")
    short.observed.composite.resource["metadata"]["namespace"] = "modest"
    requests.call(play.channel, short)
    cpu = play.server.cpu_seconds()
    answers: list[Json] = []
    done = threading.Event()

    def dear() -> None:
        try:
            answers.append(requests.call(play.channel, message, timeout_seconds=CALL_CPU_SECONDS * 6))
        finally:
            done.set()

    threading.Thread(target=dear, daemon=True).start()
    slowest = 0.0
    while True:
        began = time.monotonic()
        requests.call(play.channel, short, timeout_seconds=BESIDE_SECONDS)
        slowest = max(slowest, time.monotonic() - began)
        if done.wait(0.05):
            break
    spent = play.server.cpu_seconds() - cpu
    must(answers, "the dear call was not answered")
    must(spent < CALL_CPU_SECONDS, f"the server computed for {spent:.0f} s")
    said, beside = hostile.told(answers[0])[:60], f"{slowest * 1000:.0f} ms"
    return f"{said}: {spent:.2f} s of CPU, a short call beside it at most {beside}"


def _dear(number: int) -> Json:
    selector = {"cel": hostile.dear_selector(number, width=9)}
    message = hostile.last_request(hostile.world(), "ModelDeployment")
    message.observed.composite.resource["spec"].update({"nodeSelector": selector})
    return message


def _deadline(play: Play) -> str:
    """Return for how long the server computes after the deadlines of calls that are as dear as is allowed."""
    stub = grpcv1.FunctionRunnerServiceStub(play.channel)  # type: ignore[no-untyped-call]  # generated
    calls = [stub.RunFunction.future(_dear(1000 + number), timeout=0.2) for number in range(10)]
    for call in calls:
        call.exception()
    began = time.monotonic()
    _await(lambda: _idles(play.server), seconds=END_SECONDS, what="the server still computes after the deadlines")
    return f"idle {time.monotonic() - began:.1f} s after the deadlines"


def _sigterm() -> str:
    """Return how long a process that computes lives after SIGTERM."""
    with functionserver.running(["--insecure"]) as server, grpc.insecure_channel(server.target) as channel:
        stub = grpcv1.FunctionRunnerServiceStub(channel)  # type: ignore[no-untyped-call]  # generated
        calls = [stub.RunFunction.future(_dear(number), timeout=FOREVER) for number in range(20)]
        _await(lambda: not _idles(server), seconds=END_SECONDS, what="the server does not compute")
        began = time.monotonic()
        server.process.send_signal(signal.SIGTERM)
        try:
            server.process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            must(False, f"the process lives {END_SECONDS} s after SIGTERM")  # noqa: FBT003 - it never is
        for call in calls:
            call.cancel()
    return f"ended {time.monotonic() - began:.1f} s after SIGTERM"


def _idles(server: functionserver.Server) -> bool:
    before = server.cpu_seconds()
    time.sleep(0.5)
    return server.cpu_seconds() - before < 0.1


def _await(what_is: Callable[[], bool], *, seconds: float, what: str) -> None:
    until = time.monotonic() + seconds
    while not what_is():
        must(time.monotonic() < until, what)


def files(play: Play) -> str:
    """The command reads a file of 10 MB made of merges, and a folder with a FIFO."""
    line = "  - <<: *a\n"
    text = "a: &a {b: 1}\nlist:\n" + line * (FILE_BYTES // len(line))
    (play.folder / "large").mkdir(exist_ok=True)
    (play.folder / "large" / "merges.yaml").write_text(text)
    (play.folder / "pipe").mkdir(exist_ok=True)
    if not (play.folder / "pipe" / "fifo.yaml").exists():
        os.mkfifo(play.folder / "pipe" / "fifo.yaml")
    return "; ".join(f"{name} answered in {_validate(play, name):.1f} s" for name in ("large", "pipe"))


def _validate(play: Play, name: str) -> float:
    began = time.monotonic()
    command = [sys.executable, "-m", "modelplane_cli", "validate", str(play.folder / name)]
    try:
        done = subprocess.run(command, capture_output=True, timeout=FILE_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        must(False, f"no answer about {name} in {FILE_SECONDS} s")  # noqa: FBT003 - it never is
        raise
    must(b"Traceback" not in done.stderr, f"{name}: {done.stderr[-200:]!r}")
    return time.monotonic() - began
