"""An API server over plain HTTPS with the standard library: apply, read, delete, wait.

Documents are plain JSON. Paths are found by discovery, so a definition that was just created can be used at once.
"""

from __future__ import annotations

import copy
import http.client
import json
import ssl
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote, urlencode, urlsplit

Document = Mapping[str, Any]
Answer = TypeVar("Answer")

APPLY = "application/apply-patch+yaml"
MERGE = "application/merge-patch+json"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
OWNER = "conformance"
REQUEST_SECONDS = 60


@dataclass
class Refused(Exception):
    """The API server said no: its status code, reason, message and the causes by field."""

    status: int
    reason: str
    message: str
    causes: list[dict[str, str]] = field(default_factory=list)

    def __str__(self) -> str:
        return f"{self.status} {self.reason}: {self.message}"


@dataclass(frozen=True, slots=True)
class Resource:
    """How a kind is addressed."""

    group_version: str
    plural: str
    namespaced: bool


class Api:
    """One API server, as one user. Safe for threads: each thread has its own connection."""

    def __init__(self, server: str, token: str, authority: Path) -> None:
        parts = urlsplit(server)
        self._host, self._port = parts.hostname or "127.0.0.1", parts.port or 443
        self._headers = {"Authorization": f"Bearer {token}", "Accept": "application/json"}
        self._tls = ssl.create_default_context(cafile=str(authority))
        self._local = threading.local()
        self._resources: dict[tuple[str, str], Resource] = {}

    def impersonating(self, user: str) -> Api:
        """Return the same server as another user sees it; a service account has its groups too."""
        other = copy.copy(self)
        other._headers = {**self._headers, "Impersonate-User": user}
        other._local = threading.local()
        return other

    # --- requests ----------------------------------------------------------------------------------------------------

    def request(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        content: str = "application/json",
        accept: str | None = None,
        query: Mapping[str, str] | None = None,
    ) -> Any:
        """Return the decoded answer (text where it is not JSON). Raises: Refused; OSError when nobody answers."""
        target = f"{path}?{urlencode(query)}" if query else path
        headers = {**self._headers, "Content-Type": content}
        if accept is not None:
            headers["Accept"] = accept
        data = None if body is None else json.dumps(body).encode()
        status, answer = self._exchange(method, target, data, headers)
        try:
            decoded = json.loads(answer)
        except ValueError:
            decoded = answer.decode(errors="replace")
        if status >= 400:
            raise _refusal(status, decoded)
        return decoded

    def _exchange(self, method: str, target: str, data: bytes | None, headers: dict[str, str]) -> tuple[int, bytes]:
        kept = getattr(self._local, "connection", None)
        for connection in (kept, None):
            if connection is None:
                connection = http.client.HTTPSConnection(  # noqa: PLW2901  a kept connection the server closed is replaced once
                    self._host, self._port, context=self._tls, timeout=REQUEST_SECONDS
                )
            try:
                connection.request(method, target, body=data, headers=headers)
                response = connection.getresponse()
                answer = response.read()
            except (http.client.HTTPException, OSError):
                connection.close()
                self._local.connection = None
                if connection is not kept:
                    raise
                continue
            self._local.connection = connection
            return response.status, answer
        raise AssertionError("unreachable: the second turn returns or raises")

    # --- addresses ---------------------------------------------------------------------------------------------------

    def resource(self, api_version: str, kind: str) -> Resource:
        """Return how a kind is addressed. Raises: Refused (404) for a kind the server does not serve."""
        known = self._resources.get((api_version, kind))
        if known is None:
            prefix = "/api/v1" if api_version == "v1" else f"/apis/{api_version}"
            for one in self.request("GET", prefix)["resources"]:
                if "/" not in one["name"]:
                    found = Resource(prefix, one["name"], one["namespaced"])
                    self._resources[(api_version, one["kind"])] = found
            known = self._resources.get((api_version, kind))
        if known is None:
            raise Refused(404, "NotFound", f"the server serves no {kind} in {api_version}")
        return known

    def path(self, api_version: str, kind: str, namespace: str | None = None, name: str | None = None) -> str:
        """Return the path of one object, or of all of a kind (in a namespace, or anywhere)."""
        resource = self.resource(api_version, kind)
        parts = [resource.group_version]
        if resource.namespaced and namespace:
            parts.append(f"namespaces/{quote(namespace)}")
        parts.append(resource.plural)
        if name is not None:
            parts.append(quote(name))
        return "/".join(parts)

    def path_of(self, document: Document) -> str:
        """Return the path of a document; a namespaced one without a namespace is in `default`."""
        meta = document["metadata"]
        return self.path(document["apiVersion"], document["kind"], meta.get("namespace", "default"), meta["name"])

    # --- verbs -------------------------------------------------------------------------------------------------------

    def apply(self, document: Document, *, owner: str = OWNER, dry_run: bool = False, subresource: str = "") -> Any:
        """Return the stored object after a forced server-side apply; unknown fields are refused."""
        query = {"fieldManager": owner, "fieldValidation": "Strict", "force": "true"}
        if dry_run:
            query["dryRun"] = "All"
        path = self.path_of(document) + (f"/{subresource}" if subresource else "")
        return self.request("PATCH", path, document, content=APPLY, query=query)

    def create(self, document: Document, *, dry_run: bool = False) -> Any:
        """Return the object as created; unknown fields are refused."""
        query = {"fieldValidation": "Strict"} | ({"dryRun": "All"} if dry_run else {})
        return self.request("POST", self.path_of(document).rsplit("/", 1)[0], document, query=query)

    def merge(self, document: Document, change: Any, *, subresource: str = "") -> Any:
        """Return the object after a JSON merge patch."""
        path = self.path_of(document) + (f"/{subresource}" if subresource else "")
        return self.request("PATCH", path, change, content=MERGE)

    def get(self, api_version: str, kind: str, name: str, namespace: str | None = None) -> Any:
        """Return one object, None when it is not there."""
        try:
            return self.request("GET", self.path(api_version, kind, namespace, name))
        except Refused as refused:
            if refused.status == 404:
                return None
            raise

    def all_of(self, api_version: str, kind: str, namespace: str | None = None, labels: str = "") -> list[Any]:
        """Return all objects of a kind; none for a kind that is not served."""
        query = {"labelSelector": labels} if labels else None
        try:
            found = self.request("GET", self.path(api_version, kind, namespace), query=query)
        except Refused as refused:
            if refused.status == 404:
                return []
            raise
        return [{"apiVersion": api_version, "kind": kind, **item} for item in found["items"]]

    def table(self, api_version: str, kind: str, namespace: str | None = None) -> tuple[list[str], list[list[Any]]]:
        """Return what `kubectl get -o wide` prints: the column names and the rows."""
        answer = self.request("GET", self.path(api_version, kind, namespace), accept=TABLE)
        columns = [column["name"] for column in answer["columnDefinitions"]]
        return columns, [row["cells"] for row in answer["rows"]]

    def delete(self, document: Document, *, propagation: str = "Background", seconds: int | None = None) -> None:
        """Ask for a deletion; an object that is already gone is fine."""
        body: dict[str, Any] = {"propagationPolicy": propagation}
        if seconds is not None:
            body["gracePeriodSeconds"] = seconds
        try:
            self.request("DELETE", self.path_of(document), body)
        except Refused as refused:
            if refused.status != 404:
                raise


def until(
    ask: Callable[[], Answer],
    *,
    seconds: float,
    what: str,
    every: float = 0.25,
    enough: Callable[[Answer], bool] = bool,
) -> Answer:
    """Return the first answer that is enough.

    Raises: TimeoutError, which names what was waited for and the last answer.
    """
    end = time.monotonic() + seconds
    last: object = None
    while time.monotonic() < end:
        try:
            answer = ask()
        except (OSError, Refused, http.client.HTTPException) as error:
            last = error
        else:
            if enough(answer):
                return answer
            last = answer
        time.sleep(every)
    raise TimeoutError(f"waited {seconds:.0f} s for {what}; last seen: {str(last)[:1500]}")


def condition(document: Document | None, kind: str) -> dict[str, Any]:
    """Return one condition of an object, empty when it has none of this type."""
    conditions = (document or {}).get("status", {}).get("conditions") or []
    return next((one for one in conditions if one["type"] == kind), {})


def _refusal(status: int, answer: Any) -> Refused:
    if isinstance(answer, dict):
        causes = (answer.get("details") or {}).get("causes") or []
        return Refused(status, answer.get("reason", ""), answer.get("message", ""), causes)
    return Refused(status, "", str(answer).strip())
