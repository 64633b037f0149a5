"""A server of the Hugging Face hub's protocol, as far as a download needs it: revisions, files, ranges, refusals.

Source: huggingface_hub 2.4 and 0.32 (file_download.py, hf_api.py): what it asks for and which headers it reads.
"""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote, urlsplit

CHUNK = 256 * 1024


@dataclass
class Hub:
    """A hub with one repository. `branches` lead to commits; `token` opens it; a `gated` one wants accepted terms."""

    repo: str
    files: dict[str, bytes]
    branches: dict[str, str]
    token: str = ""
    is_gated: bool = False
    tells_sizes: bool = True
    seconds_per_chunk: float = 0.0
    asked: list[tuple[str, str, str]] = field(default_factory=list)
    """The requests: method, path, and range."""
    url: str = ""

    @property
    def commits(self) -> frozenset[str]:
        """Return the commits that exist."""
        return frozenset(self.branches.values())


@contextmanager
def serving(hub: Hub) -> Iterator[Hub]:
    """Serve the hub on a port of this machine while the context lasts."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"hub": hub}))
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    hub.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    hub: Hub
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        """Print nothing."""

    def do_HEAD(self) -> None:
        self._answer(has_body=False)

    def do_GET(self) -> None:
        self._answer(has_body=True)

    def _answer(self, *, has_body: bool) -> None:
        path = unquote(urlsplit(self.path).path)
        self.hub.asked.append((self.command, path, self.headers.get("Range", "")))
        parts = path.strip("/").split("/")
        is_api = parts[:2] == ["api", "models"]
        repo = "/".join(parts[2:4] if is_api else parts[:2])
        refusal = self._refusal(repo)
        if refusal is not None:
            self._refuse(*refusal)
            return
        revision = parts[5 if is_api else 3] if len(parts) > (5 if is_api else 3) else "main"
        commit = self.hub.branches.get(revision, revision)
        if commit not in self.hub.commits:
            self._refuse(404, "RevisionNotFound", f"Invalid rev id: {revision}")
        elif is_api and parts[4:5] == ["tree"]:
            self._send(json.dumps(self._tree()).encode(), {"Content-Type": "application/json"})
        elif is_api:
            self._send(json.dumps(self._info(commit)).encode(), {"Content-Type": "application/json"})
        else:
            self._file("/".join(parts[4:]), commit, has_body=has_body)

    def _refusal(self, repo: str) -> tuple[int, str, str] | None:
        given = self.headers.get("Authorization", "").removeprefix("Bearer ")
        if repo != self.hub.repo or (self.hub.token and not given):
            return 401, "RepoNotFound", "Repository not found"
        if self.hub.token and given != self.hub.token:
            return 401, "", "Invalid credentials in Authorization header"
        if self.hub.is_gated:
            return 403, "GatedRepo", "Access to model is restricted"
        return None

    def _info(self, commit: str) -> dict[str, object]:
        size = self.hub.tells_sizes
        siblings = [
            {"rfilename": name, **({"size": len(data)} if size else {})}
            for name, data in sorted(self.hub.files.items())
        ]
        return {"id": self.hub.repo, "modelId": self.hub.repo, "sha": commit, "siblings": siblings, "tags": []}

    def _tree(self) -> list[dict[str, object]]:
        files = sorted(self.hub.files.items())
        return [
            {"type": "file", "path": name, "size": len(data), "oid": hashlib.sha256(data).hexdigest()[:40]}
            for name, data in files
        ]

    def _file(self, name: str, commit: str, *, has_body: bool) -> None:
        data = self.hub.files.get(name)
        if data is None:
            self._refuse(404, "EntryNotFound", "Entry not found")
            return
        start = int(self.headers.get("Range", "bytes=0-").removeprefix("bytes=").partition("-")[0] or 0)
        digest = hashlib.sha256(data).hexdigest()
        headers = {"X-Repo-Commit": commit, "ETag": f'"{digest}"', "Accept-Ranges": "bytes"}
        if start:
            headers["Content-Range"] = f"bytes {start}-{len(data) - 1}/{len(data)}"
        self._send(data[start:], headers, status=206 if start else 200, has_body=has_body)

    def _refuse(self, status: int, code: str, message: str) -> None:
        headers = {"X-Error-Message": message} | ({"X-Error-Code": code} if code else {})
        self._send(json.dumps({"error": message}).encode(), headers, status=status)

    def _send(self, body: bytes, headers: dict[str, str], *, status: int = 200, has_body: bool = True) -> None:
        self.send_response(status)
        for key, value in {**headers, "Content-Length": str(len(body))}.items():
            self.send_header(key, value)
        self.end_headers()
        if not has_body or self.command == "HEAD":
            return
        try:
            for start in range(0, len(body), CHUNK):
                self.wfile.write(body[start : start + CHUNK])
                time.sleep(self.hub.seconds_per_chunk if len(body) > CHUNK else 0)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True
