"""A fleet on a real control plane: etcd, the API server, Crossplane's core and our function server, as processes.

There are no workload clusters. What provider-kubernetes would report of them is what `modelplane render` assumes, so
that the fleet may be of any size. Every call of the function is counted from the server's log.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from modelplane import names
from modelplane_cli.simulator import assumption
from modelplane_cli.simulator.store import Store, key_of
from tests.support import controlplane, functionserver, installation, kubeapi

Document = dict[str, Any]
OBJECT = ("kubernetes.m.crossplane.io/v1alpha1", "Object")
CONTROLLERS = ("garbage-collector-controller", "namespace-controller")
EVERY_SECONDS = 0.2
IDLE_SHARE = 8
QUIET_SECONDS = 4.0
SETTLED_SECONDS = 300


@dataclass
class Calls:
    """Function calls by kind, and by kind and qualified name of the composite."""

    by_kind: Counter[str] = field(default_factory=Counter)
    by_object: Counter[tuple[str, str]] = field(default_factory=Counter)

    def of(self, kind: str) -> set[str]:
        """Return the qualified names of the composites of a kind that were called."""
        return {name for found, name in self.by_object if found == kind}


class LiveFleet:
    """The fleet: what is applied to it and what it does."""

    def __init__(self, plane: controlplane.Plane, server: functionserver.Server) -> None:
        self.plane, self.server = plane, server
        self._ended = threading.Event()
        self._known: dict[str, Any] = {}
        """The reported status by uid: an object that is made again under its name is another one."""
        self._reporter = threading.Thread(target=self._report, daemon=True)
        self._reporter.start()

    def close(self) -> None:
        """Report nothing more."""
        self._ended.set()
        self._reporter.join()

    # --- what is there ------------------------------------------------------------------------------------------------

    def apply(self, documents: Iterable[Document]) -> None:
        """Apply documents as their author does."""
        for document in documents:
            self.plane.api.apply(document)

    def all_of(self, kind: str) -> list[Document]:
        """Return the objects of one of our kinds."""
        return self.plane.api.all_of(names.API_VERSION, kind)

    def merge(self, document: Document, change: Any) -> None:
        """Change an object as its author does."""
        self.plane.api.merge(document, change)

    # --- what is called -----------------------------------------------------------------------------------------------

    def _answered(self) -> list[Document]:
        """Return the log lines of the answers that are still kept."""
        found = (json.loads(line) for line in list(self.server.lines) if line.startswith("{"))
        return [line for line in found if line.get("msg", line.get("event")) == "answered"]

    def after(self, event: Callable[[], object], *, quiet: float = QUIET_SECONDS) -> Calls:
        """Return the calls that follow an event, once none has come for some seconds."""
        self.server.lines.clear()
        event()
        self.rest(quiet=quiet)
        calls = Calls()
        for line in self._answered():
            name = f"{line['namespace']}/{line['name']}" if line.get("namespace") else line["name"]
            calls.by_kind[line["kind"]] += 1
            calls.by_object[line["kind"], name] += 1
        return calls

    def rest(self, *, quiet: float = QUIET_SECONDS, seconds: float = SETTLED_SECONDS) -> None:
        """Return once the function server has written nothing for `quiet` seconds.

        Each composite that waits is called again every half minute, so among many there is no quiet longer than that.
        """
        end = time.monotonic() + seconds
        count, since = -1, time.monotonic()
        while time.monotonic() - since < quiet:
            assert time.monotonic() < end, f"the function is still called after {seconds:.0f} s"
            now = len(self.server.lines)
            if now != count:
                count, since = now, time.monotonic()
            time.sleep(EVERY_SECONDS)

    # --- what provider-kubernetes would report ------------------------------------------------------------------------

    def _report(self) -> None:
        took = 0.0
        # Looking at everything must not be what keeps the API server busy.
        while not self._ended.wait(max(EVERY_SECONDS, took * IDLE_SHARE)):
            begun = time.monotonic()
            # An API server that is busy or stops is asked again, or the test ends.
            with contextlib.suppress(OSError, kubeapi.Refused, http.client.HTTPException):
                self._report_once()
            took = time.monotonic() - begun

    def _report_once(self) -> None:
        store = Store()
        documents = [one for kind in ("InferenceCluster", "ModelReplica", "ServingStack") for one in self.all_of(kind)]
        objects = {key_of(one): one for one in self.plane.api.all_of(*OBJECT)}
        for document in (*documents, *objects.values()):
            store.put(document)
        assumption.Ready(frozenset())(store)
        for key, before in objects.items():
            status = (store.get(key) or {}).get("status")
            uid = before["metadata"]["uid"]
            if status and status != self._known.get(uid):
                self.plane.api.merge(before, {"status": _timed(status)}, subresource="status")
                self._known[uid] = status


def _timed(status: Any) -> Any:
    times = {"lastTransitionTime": "2026-01-01T00:00:00Z"}
    return {**status, "conditions": [{**times, **one} for one in status.get("conditions", ())]}


@contextmanager
def running(folder: Path, *, command: Sequence[str] = functionserver.PRODUCTION) -> Iterator[LiveFleet]:
    """Yield an empty fleet, to which Crossplane serves our kinds. Cost: a minute until then."""
    with controlplane.running(folder) as plane:
        plane.controller_manager(*CONTROLLERS)
        installation.definitions(plane, "provider-kubernetes", "provider-helm", "gateway-api", "envoy-gateway")
        certificates = plane.issue("function", installation.FUNCTION)
        with functionserver.running(["--tls-server-certs-dir", str(certificates)], command=command) as server:
            installation.crossplane_core(plane)
            installation.function(plane, server.target)
            installation.our_api(plane)
            installation.namespace(plane, names.SYSTEM_NAMESPACE)
            fleet = LiveFleet(plane, server)
            try:
                yield fleet
            finally:
                fleet.close()
