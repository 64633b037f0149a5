"""Settings of a GKE cluster: the defaults of spec.cluster.gke, and what follows from several of its fields."""

from __future__ import annotations

from typing import Final

from modelplane.render import asked_version, ranges
from modelplane.render.asked_version import AskedVersion
from modelplane.render.provisioning import Given, Site
from modelplane.render.ranges import Range

NODE_RANGE: Final = ("nodeCidr", "range of the nodes", "10.0.0.0/20")
POD_RANGE: Final = ("podCidr", "range of the pods", "10.16.0.0/14")
SERVICE_RANGE: Final = ("serviceCidr", "range of the services", "10.20.0.0/20")
POD_RANGE_NAME, SERVICE_RANGE_NAME = "pods", "services"

KEY, INJECTED_IDENTITY = "Key", "InjectedIdentity"
ACCESS = (KEY, INJECTED_IDENTITY)
CHANNELS = ("RAPID", "REGULAR", "STABLE", "EXTENDED")

_DEFAULT_CHANNEL = "REGULAR"
_NO_CHANNEL = "UNSPECIFIED"
_SYSTEM_MACHINE = "e2-standard-8"


def project(site: Site) -> str:
    """Return the Google Cloud project."""
    return site.settings.at("project").text()


def region(site: Site) -> str:
    """Return the region, which is the location of the cluster: its control plane is in three zones."""
    return site.settings.at("region").text()


def has_own_network(site: Site) -> bool:
    """Return whether the network is made for the cluster, because the author names none."""
    return not site.settings.at("network").is_set and not site.settings.at("subnetwork").is_set


def address_range(site: Site, field: tuple[str, str, str]) -> Range:
    """Return a range of addresses, or its default. Raises: InvalidInput for another text."""
    key, word, default = field
    return ranges.read(site.settings.at(key), word, default)


def asked_ranges(site: Site) -> tuple[Range, ...]:
    """Return the ranges that the cluster is made with; in an existing network only those that the author writes."""
    own = has_own_network(site)
    fields = (NODE_RANGE, POD_RANGE, SERVICE_RANGE) if own else (POD_RANGE, SERVICE_RANGE)
    return tuple(address_range(site, field) for field in fields if own or site.settings.at(field[0]).is_set)


def access(site: Site) -> str:
    """Return how the control plane gets in: with the key of an account of its own, or as the provider's own pod."""
    return site.settings.at("access").text(KEY)


def node_account(site: Site) -> str:
    """Return the address of the existing service account of nodes, empty if one is made."""
    return site.settings.at("nodeServiceAccount").text("")


def system_machine(site: Site) -> str:
    """Return the machine type of the system pool."""
    return site.settings.at("systemMachineType").text(_SYSTEM_MACHINE)


def version_field(site: Site) -> Given:
    """Return the field with the version."""
    return site.settings.at("kubernetesVersion")


def pin(site: Site) -> AskedVersion | None:
    """Return the version that control plane and nodes stay at, None if a release channel upgrades them.

    A minor alone is no pin: it is the least version, and the channel decides the rest.
    """
    asked = asked_version.read(version_field(site))
    return asked if asked is not None and asked.is_exact else None


def channel(site: Site) -> str:
    """Return the release channel. With a pinned version there is none, because the channel would upgrade it."""
    return _NO_CHANNEL if pin(site) is not None else site.settings.at("releaseChannel").text(_DEFAULT_CHANNEL)
