"""A cloud that is played on a real API server: it reports managed resources as made, and lets deleted ones go late.

Like a provider it puts a finalizer on each managed resource, and removes it when the thing in the cloud is gone. What
went in which order is kept.
"""

from __future__ import annotations

import contextlib
import http.client
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from modelplane.render.provisioning import Provisioner
from modelplane.render.stack import releases
from tests.support import controlplane, kubeapi

Document = dict[str, Any]
FINALIZER = "finalizer.managedresource.crossplane.io"
EVERY_SECONDS = 0.5
ENDING_LOOKS = 4
"""How many looks it takes until something that is deleted is gone."""
_TIME = "2026-01-01T00:00:00Z"


class LiveCloud:
    """The cloud of one provisioner on the control plane."""

    def __init__(self, plane: controlplane.Plane, cloud: Provisioner) -> None:
        self.api, self.cloud = plane.api, cloud
        self.gone: list[tuple[str, str]] = []
        """Kind and name of what is gone, in order."""
        self._endings: dict[str, int] = {}
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Report nothing more."""
        self._ended.set()
        self._thread.join()

    def made(self) -> list[Document]:
        """Return the managed resources that exist."""
        return [found for one in self.cloud.served() for found in self.api.all_of(one.api_version, one.kind)]

    def installed(self) -> list[Document]:
        """Return the Releases that exist: provider-helm is played, too."""
        return list(self.api.all_of(releases.API_VERSION, releases.KIND))

    def _run(self) -> None:
        while not self._ended.wait(EVERY_SECONDS):
            with contextlib.suppress(OSError, kubeapi.Refused, http.client.HTTPException):
                for resource in (*self.made(), *self.installed()):
                    self._look(resource)

    def _look(self, resource: Document) -> None:
        metadata = resource["metadata"]
        if metadata.get("deletionTimestamp"):
            self._ends(resource)
        elif FINALIZER not in metadata.get("finalizers", ()):
            self.api.merge(resource, {"metadata": {"finalizers": [*metadata.get("finalizers", ()), FINALIZER]}})
        elif not resource.get("status", {}).get("conditions"):
            self.api.merge(resource, {"status": self._status(resource)}, subresource="status")

    def _ends(self, resource: Document) -> None:
        metadata = resource["metadata"]
        looks = self._endings[metadata["uid"]] = self._endings.get(metadata["uid"], 0) + 1
        if looks >= ENDING_LOOKS and FINALIZER in metadata.get("finalizers", ()):
            left = [one for one in metadata["finalizers"] if one != FINALIZER]
            self.gone.append((resource["kind"], metadata["name"]))
            self.api.merge(resource, {"metadata": {"finalizers": left or None}})

    def _status(self, resource: Document) -> Document:
        told = {"reason": "Available", "lastTransitionTime": _TIME, "status": "True"}
        conditions = [{"type": "Ready", **told}, {"type": "Synced", **told, "reason": "ReconcileSuccess"}]
        at_provider = _deployed(resource) if resource["kind"] == releases.KIND else self.cloud.assumed(resource)
        return {"conditions": conditions, **({"atProvider": at_provider} if at_provider else {})}


def _deployed(release: Document) -> Document:
    return {"state": "deployed", "revision": 1, "version": release["spec"]["forProvider"]["chart"]["version"]}


@contextmanager
def running(plane: controlplane.Plane, cloud: Provisioner) -> Iterator[LiveCloud]:
    """Yield the cloud while it plays."""
    found = LiveCloud(plane, cloud)
    try:
        yield found
    finally:
        found.close()
