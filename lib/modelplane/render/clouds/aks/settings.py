"""Settings of an AKS cluster: the defaults of spec.cluster.aks, and what follows from several of its fields."""

from __future__ import annotations

from typing import Final

from modelplane.render import asked_version, ranges
from modelplane.render.asked_version import AskedVersion
from modelplane.render.provisioning import Given, Site
from modelplane.render.ranges import Range

NETWORK_RANGE: Final = ("networkCidr", "range of the virtual network", "10.64.0.0/16")
NODE_RANGE: Final = ("nodeCidr", "range of the nodes", "10.64.0.0/20")
POD_RANGE: Final = ("podCidr", "range of the pods", "10.128.0.0/14")
SERVICE_RANGE: Final = ("serviceCidr", "range of the services", "10.96.0.0/16")

CHANNELS = ("patch", "stable", "rapid")
TIERS = ("Free", "Standard", "Premium")
PATCH, _STABLE = "patch", "stable"

_SYSTEM_SIZE = "Standard_D8ds_v5"
_DNS_ADDRESS = 10
LEAST_SERVICES = 27
"""The prefix of the smallest range of services."""


def location(site: Site) -> str:
    """Return the location."""
    return site.settings.at("location").text()


def group(site: Site) -> str:
    """Return the name of the existing resource group, empty if one is made."""
    return site.settings.at("resourceGroup").text("")


def subnet(site: Site) -> str:
    """Return the resource ID of the existing subnet, empty if one is made."""
    return site.settings.at("subnetId").text("")


def identity(site: Site) -> str:
    """Return the resource ID of the existing identity of the control plane, empty if one is made."""
    return site.settings.at("identityId").text("")


def address_range(site: Site, field: tuple[str, str, str]) -> Range:
    """Return a range of addresses, or its default. Raises: InvalidInput for another text."""
    key, word, default = field
    return ranges.read(site.settings.at(key), word, default)


def dns_address(services: Range) -> str:
    """Return the address of the DNS service, the tenth of the services. Raises: InvalidInput for a smaller range."""
    if services.size <= _DNS_ADDRESS:
        raise services.field.wrong(
            f"the {services.word} {services.text} is too small; write /{LEAST_SERVICES} or larger"
        )
    return str(services.addresses[_DNS_ADDRESS])


def tier(site: Site) -> str:
    """Return the tier of the control plane."""
    return site.settings.at("tier").text("Standard")


def system_size(site: Site) -> str:
    """Return the size of the nodes of the system pool."""
    return site.settings.at("systemVmSize").text(_SYSTEM_SIZE)


def version_field(site: Site) -> Given:
    """Return the field with the version."""
    return site.settings.at("kubernetesVersion")


def asked(site: Site) -> AskedVersion | None:
    """Return the version that the author asks for. Raises: InvalidInput for a text that is no version."""
    return asked_version.read(version_field(site))


def pin(site: Site) -> str:
    """Return the complete version at which control plane and nodes stay, empty if a channel upgrades them."""
    found = asked(site)
    return found.text if found is not None and found.is_exact else ""


def channel(site: Site) -> str:
    """Return the upgrade channel, empty with a pinned version, which a channel would upgrade."""
    if pin(site):
        return ""
    return site.settings.at("upgradeChannel").text(_STABLE if asked(site) is None else PATCH)
