"""What a person does on an API server, as a dry run: nothing is left behind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.conformance.permissions import people
from tests.support import kubeapi

Act = Callable[[kubeapi.Api], Any]
DRY = {"dryRun": "All"}
DRY_BODY = {"apiVersion": "meta.k8s.io/v1", "kind": "DeleteOptions", "dryRun": ["All"]}


def create(document: Any) -> Act:
    """Return the creation of an object."""
    return lambda api: api.create(document, dry_run=True)


def change(api_version: str, kind: str, name: str, patch: Any, *, namespace: str | None = people.TEAM) -> Act:
    """Return a merge patch of an object's spec or metadata, or (`status`) of its status."""

    def act(api: kubeapi.Api) -> Any:
        path = api.path(api_version, kind, namespace, name) + ("/status" if "status" in patch else "")
        return api.request("PATCH", path, patch, content=kubeapi.MERGE, query=DRY)

    return act


def delete(api_version: str, kind: str, name: str, namespace: str | None = people.TEAM) -> Act:
    """Return the deletion of an object."""
    return lambda api: api.request("DELETE", api.path(api_version, kind, namespace, name), DRY_BODY)
