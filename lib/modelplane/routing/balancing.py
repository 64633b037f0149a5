"""Choice of an endpoint for a request beyond weights: place, session, warm-up and ejection.

Nothing of it is on unless its author asks, because each changes where the requests of a running service go. Hedging,
which sends a request twice when the first is slow, is not offered: both would run the generation.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from modelplane import names


class AffinityType(StrEnum):
    """The part of a request that keeps a session at one endpoint."""

    HEADER = "Header"
    CLIENT_ADDRESS = "ClientAddress"
    PREFIX_HASH = "PrefixHash"


@dataclass(frozen=True, slots=True)
class Affinity:
    """Requests with the same value go to the same endpoint; `header` counts for the type Header alone."""

    type: AffinityType = AffinityType.HEADER
    header: str = "x-session-id"


@dataclass(frozen=True, slots=True)
class Locality:
    """Endpoints at the place of the client come first: that in its `header`, else that of the gateway.

    A place is the value of the label `topology_key`.
    """

    topology_key: str = names.LABEL_REGION
    header: str = "x-client-region"


@dataclass(frozen=True, slots=True)
class Ejection:
    """The failures after which an endpoint is left out for a while; times are durations.

    Answers of 429 are no failures: a full engine is alive, and leaving it out would fill the others.
    """

    server_errors: int = 3
    gateway_errors: int = 2
    local_failures: int = 1
    interval: str = "2s"
    time: str = "20s"
    percent: int = 100


@dataclass(frozen=True, slots=True)
class Balancing:
    """The choices of a service. `slow_start` is a duration, empty without one."""

    affinity: Affinity | None = None
    locality: Locality | None = None
    slow_start: str = ""
    ejection: Ejection | None = None

    @property
    def shared_causes(self) -> tuple[str, ...]:
        """Return the fields that need all endpoints of a rule in one cluster of Envoy, which compares them."""
        return tuple(
            name
            for name, is_wanted in (
                ("locality", self.locality is not None),
                ("slowStart", bool(self.slow_start)),
                ("ejection", self.ejection is not None),
            )
            if is_wanted
        )
