"""The answer of `modelplane top -o json`."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from modelplane_cli.output.models.base import Part


class Held(Part):
    """Devices of one kind."""

    class_: str = Field(alias="class")
    """InferenceClass of the nodes. Empty when the pool is gone."""
    device: str
    """Name of the device."""
    count: int
    """Number of devices that admitted replicas hold."""


class Holder(Part):
    """The holdings of one deployment or namespace."""

    namespace: str
    """The namespace."""
    name: str | None
    """Name of the ModelDeployment. Null for a namespace."""
    deployments: int
    """Number of ModelDeployments."""
    wanted: int
    """Desired replicas."""
    placed: int
    """Admitted replicas."""
    pods: int
    """Number of their pods."""
    devices: list[Held]
    """The devices by class and name."""
    cost: dict[str, str]
    """Cost per hour by currency, as decimal numbers in text."""


class Holdings(Part):
    """The holders of the devices of a fleet."""

    by: Literal["namespace", "deployment"]
    """The kind of holder."""
    rows: list[Holder]
    """The holders, the largest number of devices first."""
