"""The answer of `modelplane render -o json`: Kubernetes objects in the form of `kubectl get -o json`."""

from __future__ import annotations

from typing import Literal

from pydantic import ConfigDict

from modelplane_cli.output.models.base import Part


class Metadata(Part):
    """The metadata of an object."""

    model_config = ConfigDict(extra="allow")

    name: str
    """Name of the object."""


class Resource(Part):
    """An object. `modelplane schema KIND` prints the schema of a kind of modelplane.ai."""

    model_config = ConfigDict(extra="allow")

    api_version: str
    """Group and version."""
    kind: str
    """Kind of the object."""
    metadata: Metadata
    """Metadata of the object."""


class Rendering(Part):
    """The list of all resulting objects."""

    api_version: Literal["v1"]
    """Of the list."""
    kind: Literal["List"]
    """Of the list."""
    items: list[Resource]
    """The objects."""
