"""What `modelplane render -o json` answers: objects of Kubernetes, as `kubectl get -o json` lists them."""

from __future__ import annotations

from typing import Literal

from pydantic import ConfigDict

from modelplane_cli.output.models.base import Part


class Metadata(Part):
    """What every object has; the fields of its kind's own are in its schema."""

    model_config = ConfigDict(extra="allow")

    name: str
    """Name of the object."""


class Resource(Part):
    """One object; `modelplane schema KIND` prints the schema of ours."""

    model_config = ConfigDict(extra="allow")

    api_version: str
    """Group and version."""
    kind: str
    """Kind of the object."""
    metadata: Metadata
    """Its name, and more."""


class Rendering(Part):
    """Everything that would exist."""

    api_version: Literal["v1"]
    """Of the list."""
    kind: Literal["List"]
    """Of the list."""
    items: list[Resource]
    """The objects."""
