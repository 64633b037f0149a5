"""Real API servers as plain processes on loopback: etcd, kube-apiserver, and the controllers that are asked for.

A test says `with controlplane.running(folder) as plane:` and gets an empty cluster; logs are in the folder, and nothing
runs afterwards. Authorization is RBAC; the test itself is a member of system:masters.
"""

from __future__ import annotations

import base64
import contextlib
import ctypes
import json
import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import yaml
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from tests.conformance.tools import workshop
from tests.support import certificates, kubeapi

START_SECONDS = 180
STOP_SECONDS = 30
TOKEN = "conformance"  # noqa: S105  of a server that lives for one test on loopback
# One service range for every plane: nothing routes to it.
SERVICE_RANGE = "10.96.0.0/16"


@dataclass
class Process:
    """One program that is started, stopped and started again with the same arguments; its output is one log.

    A file beside the log says which process it is, so that another run may find and stop it.
    """

    name: str
    command: Sequence[str]
    log: Path
    environment: Mapping[str, str] = field(default_factory=dict)
    child: subprocess.Popen[bytes] | None = None
    outlives: bool = True
    """Whether it goes on when the command that started it ends, in whatever way."""

    def start(self) -> None:
        """Start it in a session of its own, so that Ctrl-C reaches the test alone, which then stops it."""
        with self.log.open("ab") as log:
            self.child = subprocess.Popen(
                list(self.command),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env={**_clean_environment(), **self.environment},
                start_new_session=True,
                preexec_fn=None if self.outlives else _die_with_parent,  # noqa: PLW1509 - it makes one system call
            )
        self._note.write_text(json.dumps([self.child.pid, _started(self.child.pid)]))

    def check(self) -> None:
        """Raise AssertionError with the end of the log when it has ended by itself."""
        assert self.is_running, f"{self.name} has ended:\n{self.tail()}"

    @property
    def is_running(self) -> bool:
        """Return whether it runs, whoever started it."""
        if self.child is not None and self.child.poll() is not None:
            return False
        return self._pid() is not None

    def tail(self, size: int = 3000) -> str:
        """Return the end of the log."""
        return self.log.read_bytes()[-size:].decode(errors="replace") if self.log.exists() else ""

    def stop(self, signum: int = signal.SIGTERM) -> None:
        """Ask it to end, and end it when it does not; nothing happens to one that does not run."""
        for each in (signum, signal.SIGKILL):
            if self._pid() is None:
                break
            self.signal(each)
            self._await_end()
        self.child = None
        self._note.unlink(missing_ok=True)

    def signal(self, signum: int) -> None:
        """Send it a signal; nothing happens to one that does not run."""
        pid = self._pid()
        if pid is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signum)

    @property
    def _note(self) -> Path:
        return self.log.with_suffix(".pid")

    def _await_end(self) -> None:
        end = time.monotonic() + STOP_SECONDS
        while time.monotonic() < end and self.is_running:
            time.sleep(0.05)

    def _pid(self) -> int | None:
        """Return the process's number while that number is still its own."""
        if not self._note.exists():
            return None
        pid, started = json.loads(self._note.read_text())
        return int(pid) if _started(pid) == started else None


_LIBC = ctypes.CDLL(None, use_errno=True)
_PR_SET_PDEATHSIG = 1  # prctl(2)


def _die_with_parent() -> None:
    """Let the kernel end this process when the thread that started it ends: a test that is killed stops nothing."""
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _started(pid: int) -> str | None:
    """Return when a process was started, in ticks since boot; None when it is gone. A number is reused, a start never.

    Source: proc(5), field 22 of stat, counted after the name in parentheses; Z is a child nobody waited for yet.
    """
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[0] == "Z" else fields[19]


@dataclass
class Plane:
    """One Kubernetes control plane."""

    name: str
    folder: Path
    server: str
    api: kubeapi.Api
    etcd: Process
    apiserver: Process
    authority: certificates.Authority | None = None
    others: dict[str, Process] = field(default_factory=dict)
    outlives: bool = True
    """Whether its programs go on when the command that started them ends."""

    def issue(self, folder: str, name: str) -> Path:
        """Return a folder with a certificate of this cluster's authority for localhost."""
        assert self.authority is not None, f"{self.name} was started by another run, which alone can issue certificates"
        return self.authority.issue(self.folder / folder, name)

    @property
    def kubeconfig(self) -> Path:
        """Return the file with an administrator's credentials."""
        return self.folder / "kubeconfig"

    def await_ready(self) -> None:
        """Return once the API server says it is ready. Raises: AssertionError with its log when it ends."""

        def ready() -> bool:
            self.etcd.check()
            self.apiserver.check()
            return bool(self.api.request("GET", "/readyz") == "ok")

        kubeapi.until(ready, seconds=START_SECONDS, what=f"the API server of {self.name}")

    def start(self, process: Process) -> Process:
        """Start a program that belongs to this cluster; it is stopped with it."""
        self.others[process.name] = process
        process.outlives = self.outlives
        process.start()
        return process

    def program(self, name: str, *arguments: str, environment: Mapping[str, str] | None = None) -> Process:
        """Start a program of the workshop with this cluster's kubeconfig in KUBECONFIG."""
        command = (str(workshop.program(name)), *arguments)
        environment = {"KUBECONFIG": str(self.kubeconfig), **(environment or {})}
        return self.start(Process(name, command, self.folder / f"{name}.log", environment))

    def controller_manager(self, *controllers: str) -> Process:
        """Start kube-controller-manager with all controllers, or only the named ones."""
        return self.program(
            "kube-controller-manager",
            f"--kubeconfig={self.kubeconfig}",
            "--leader-elect=false",
            "--secure-port=0",
            f"--service-account-private-key-file={self.folder / 'service-account.key'}",
            f"--root-ca-file={self.folder / 'ca.crt'}",
            f"--controllers={','.join(controllers or ('*',))}",
            # Foreground deletion is what Crossplane waits for; the default backs off for seconds on two cores.
            "--concurrent-gc-syncs=4",
            # Of the storage classes with its provisioner alone: an empty folder for each claim.
            "--enable-hostpath-provisioner=true",
            "--kube-api-qps=200",
            "--kube-api-burst=400",
        )

    def scheduler(self, *arguments: str) -> Process:
        """Start kube-scheduler with its default profile."""
        return self.program(
            "kube-scheduler",
            f"--kubeconfig={self.kubeconfig}",
            "--leader-elect=false",
            "--secure-port=0",
            "--kube-api-qps=200",
            "--kube-api-burst=400",
            *arguments,
        )

    def kubectl(self, *arguments: str) -> str:
        """Return what kubectl prints. Raises: AssertionError with its words when it fails."""
        done = subprocess.run(
            [str(workshop.program("kubectl")), f"--kubeconfig={self.kubeconfig}", *arguments],
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, f"kubectl {' '.join(arguments)}: {done.stderr}"
        return done.stdout


@contextmanager
def running(folder: Path, name: str = "control-plane", *, arguments: Sequence[str] = ()) -> Iterator[Plane]:
    """Yield a fresh control plane: etcd and the API server, which takes `arguments` besides its own.

    More is started by the methods of what is yielded.
    """
    plane = prepare(folder, name)
    plane.apiserver.command = [*plane.apiserver.command, *arguments]
    plane.outlives = plane.etcd.outlives = plane.apiserver.outlives = False
    try:
        plane.etcd.start()
        plane.apiserver.start()
        plane.await_ready()
        yield plane
    finally:
        stop(plane)


def stop(plane: Plane) -> None:
    """Stop everything of a control plane, clients first; what goes wrong with one, Ctrl-C too, keeps no other."""
    with contextlib.ExitStack() as stack:
        for process in [plane.etcd, plane.apiserver, *plane.others.values()]:
            stack.callback(process.stop)


def prepare(folder: Path, name: str) -> Plane:
    """Return a control plane with certificates, credentials and command lines, not started."""
    folder.mkdir(parents=True, exist_ok=True)
    etcd_port, peer_port, port = free_ports(3)
    authority = certificates.authority(name)
    authority.issue(folder, f"{name} API server")
    _service_account_key(folder / "service-account.key")
    (folder / "tokens.csv").write_text(f"{TOKEN},{TOKEN},{TOKEN},system:masters\n")
    server = f"https://127.0.0.1:{port}"
    (folder / "kubeconfig").write_text(kubeconfig(server, folder / "ca.crt", TOKEN))
    return Plane(
        name=name,
        folder=folder,
        server=server,
        api=kubeapi.Api(server, TOKEN, folder / "ca.crt"),
        etcd=Process("etcd", _etcd(folder, etcd_port, peer_port), folder / "etcd.log"),
        apiserver=Process("kube-apiserver", _apiserver(folder, etcd_port, port), folder / "kube-apiserver.log"),
        authority=authority,
    )


def save(plane: Plane) -> None:
    """Write down how a control plane was started, for another run."""
    processes = [plane.etcd, plane.apiserver, *plane.others.values()]
    noted = {
        "name": plane.name,
        "server": plane.server,
        "processes": [[one.name, list(one.command), str(one.log), dict(one.environment)] for one in processes],
    }
    (plane.folder / "plane.json").write_text(json.dumps(noted))


def load(folder: Path) -> Plane:
    """Return a control plane that another run started. Raises: FileNotFoundError when none did."""
    noted = json.loads((folder / "plane.json").read_text())
    etcd, apiserver, *others = (
        Process(name, command, Path(log), env) for name, command, log, env in noted["processes"]
    )
    return Plane(
        name=noted["name"],
        folder=folder,
        server=noted["server"],
        api=kubeapi.Api(noted["server"], TOKEN, folder / "ca.crt"),
        etcd=etcd,
        apiserver=apiserver,
        others={one.name: one for one in others},
    )


def kubeconfig(server: str, authority: Path, token: str) -> str:
    """Return a kubeconfig with everything inline, as a Secret of an InferenceCluster holds it."""
    return yaml.safe_dump(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "default",
            "contexts": [{"name": "default", "context": {"cluster": "default", "user": "default"}}],
            "clusters": [
                {"name": "default", "cluster": {"server": server, "certificate-authority-data": base64_of(authority)}}
            ],
            "users": [{"name": "default", "user": {"token": token}}],
        }
    )


def free_ports(count: int) -> list[int]:
    """Return ports of loopback nobody listens on, all different."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


def await_port(process: Process, port: int, *, seconds: float = START_SECONDS) -> None:
    """Return once something listens on the port. Raises: AssertionError when the process ends, TimeoutError."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        process.check()
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        time.sleep(0.2)
    raise TimeoutError(f"{process.name} did not listen on {port} within {seconds:.0f} s:\n{process.tail()}")


def _etcd(folder: Path, port: int, peer_port: int) -> list[str]:
    client, peer = f"http://127.0.0.1:{port}", f"http://127.0.0.1:{peer_port}"
    return [
        str(workshop.program("etcd")),
        f"--data-dir={folder / 'etcd'}",
        f"--listen-client-urls={client}",
        f"--advertise-client-urls={client}",
        f"--listen-peer-urls={peer}",
        f"--initial-advertise-peer-urls={peer}",
        f"--initial-cluster=default={peer}",
        # A test's data need not survive a power cut.
        "--unsafe-no-fsync",
        "--log-level=warn",
    ]


def _apiserver(folder: Path, etcd_port: int, port: int) -> list[str]:
    return [
        str(workshop.program("kube-apiserver")),
        f"--etcd-servers=http://127.0.0.1:{etcd_port}",
        "--bind-address=127.0.0.1",
        "--advertise-address=127.0.0.1",
        f"--secure-port={port}",
        f"--tls-cert-file={folder / 'tls.crt'}",
        f"--tls-private-key-file={folder / 'tls.key'}",
        f"--token-auth-file={folder / 'tokens.csv'}",
        "--authorization-mode=RBAC",
        "--service-account-issuer=https://kubernetes.default.svc",
        f"--service-account-key-file={folder / 'service-account.key'}",
        f"--service-account-signing-key-file={folder / 'service-account.key'}",
        f"--service-cluster-ip-range={SERVICE_RANGE}",
        # The endpoint reconciler refuses loopback addresses; nothing here uses the service `kubernetes`.
        "--endpoint-reconciler-type=none",
        "--enable-priority-and-fairness=false",
    ]


def _service_account_key(path: Path) -> None:
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    path.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
        )
    )


def base64_of(path: Path) -> str:
    """Return a file in base64, as Kubernetes documents carry certificates."""
    return base64.b64encode(path.read_bytes()).decode()


def _clean_environment() -> dict[str, str]:
    # A KUBECONFIG or a proxy of whoever runs the tests must not lead a program elsewhere.
    hidden = {"KUBECONFIG", "HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy", "ALL_PROXY"}
    return {key: value for key, value in os.environ.items() if key not in hidden}
