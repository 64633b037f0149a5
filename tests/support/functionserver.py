"""A function server in a process of its own, started and stopped as Kubernetes does it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import grpc

START_SECONDS = 60
# A server that answers a million calls writes as many lines.
LINES_MAX = 50_000
REPOSITORY = Path(__file__).resolve().parents[2]
PRODUCTION = (sys.executable, "-m", "modelplane_functions")


@dataclass
class Server:
    """A running server: its process, the port it chose, and the last of the log lines read so far."""

    process: subprocess.Popen[str]
    port: int
    lines: list[str] = field(default_factory=list)

    @property
    def target(self) -> str:
        """Return the address to dial."""
        return f"localhost:{self.port}"

    def events(self) -> list[dict[str, object]]:
        """Return the structured log lines so far."""
        return [json.loads(line) for line in self.lines if line.startswith("{")]

    def resident_mb(self) -> float:
        """Return the memory of the process that is in use now."""
        for line in Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) / 1024
        return float("nan")

    def cpu_seconds(self) -> float:
        """Return the processor time that all threads of the process have used so far."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def cpu_clock(self) -> float:
        """Return what `cpu_seconds` does, to the microsecond: the clock of another process (clock_getcpuclockid)."""
        return time.clock_gettime((~self.process.pid << 3) | 2)

    def stop(self, signum: int = signal.SIGTERM) -> int:
        """Ask the process to end and return its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(signum)
        return self.process.wait(timeout=60)


@contextmanager
def running(arguments: Sequence[str], *, command: Sequence[str] = PRODUCTION) -> Iterator[Server]:
    """Yield a server on a free port of localhost; it is stopped afterwards."""
    process = start([*arguments, "--address", "localhost:0"], command=command)
    lines: list[str] = []
    port = _await_port(process, lines)
    server = Server(process, port, lines)
    threading.Thread(target=_drain, args=(process, lines), daemon=True).start()
    try:
        yield server
    finally:
        if process.poll() is None:
            process.terminate()
            try:
                process.wait(timeout=40)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def start(arguments: Sequence[str], *, command: Sequence[str] = PRODUCTION) -> subprocess.Popen[str]:
    """Return the server's process; output and errors come on one pipe."""
    environment = {key: value for key, value in os.environ.items() if key not in _FLAG_VARIABLES}
    environment["PYTHONPATH"] = str(REPOSITORY)
    return subprocess.Popen(
        [*command, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=environment,
        cwd=REPOSITORY,
    )


def secure_channel(target: str, certificates: Path, **options: int) -> grpc.Channel:
    """Return a channel that presents the certificates of a directory."""
    credentials = grpc.ssl_channel_credentials(
        root_certificates=(certificates / "ca.crt").read_bytes(),
        private_key=(certificates / "tls.key").read_bytes(),
        certificate_chain=(certificates / "tls.crt").read_bytes(),
    )
    return grpc.secure_channel(target, credentials, options=list(options.items()))


_FLAG_VARIABLES = frozenset(
    {
        "ADDRESS",
        "DEBUG",
        "INSECURE",
        "TLS_SERVER_CERTS_DIR",
        "MAX_RECV_MESSAGE_SIZE",
        "MAX_GRPC_MESSAGE_SIZE",
        "MAX_SEND_MESSAGE_SIZE",
        "WORKERS",
    }
)


def _await_port(process: subprocess.Popen[str], lines: list[str]) -> int:
    killer = threading.Timer(START_SECONDS, process.kill)
    killer.start()
    try:
        assert process.stdout is not None
        for line in process.stdout:
            lines.append(line)
            if line.startswith("{") and (event := json.loads(line)).get("msg") == "serving":
                return int(event["port"])
    finally:
        killer.cancel()
    raise AssertionError(f"the server ended with {process.wait()} before it served:\n{''.join(lines)}")


def _drain(process: subprocess.Popen[str], lines: list[str]) -> None:
    assert process.stdout is not None
    for line in process.stdout:
        lines.append(line)
        if len(lines) > 2 * LINES_MAX:
            del lines[:LINES_MAX]
