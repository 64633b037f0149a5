"""Names in Google Cloud, with the limits of its kinds, and the names of the managed resources.

A name has lower-case letters, digits and "-", and begins with a letter. Source: documentation of Google Cloud.
"""

from __future__ import annotations

import re

from modelplane import names
from modelplane.render.provisioning import Site, part_name

CLUSTER_MAX = 40
POOL_MAX = 40
ACCOUNT_MAX = 30
NETWORK_MAX = 63
SYSTEM_POOL = "system"
"""The name of the pool for controllers. No pool of an author may have it."""

_PLAIN = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?")
_NO_LETTER = re.compile(r"[^-a-z0-9]+")


def cloud_name(*parts: str, limit: int) -> str:
    """Return a name in the cloud: the parts joined by "-" if it takes them so, else a part of them and a digest."""
    whole = "-".join(parts)
    if _PLAIN.fullmatch(whole):
        return names.bounded(*parts, limit=limit)
    return names.hashed("c", _NO_LETTER.sub("-", whole), of=parts, limit=limit)


def cluster_name(site: Site) -> str:
    """Return the name of the cluster in GKE."""
    return site.external_name or cloud_name(site.cluster, limit=CLUSTER_MAX)


def network_name(site: Site) -> str:
    """Return the name of the network that is made, and of its subnetwork.

    A network of the project that has the name is adopted, so it is none that another would choose.
    """
    return cloud_name("modelplane", site.cluster, limit=NETWORK_MAX)


def pool_name(pool: str) -> str:
    """Return the name of a node pool in its cluster."""
    return cloud_name(pool, limit=POOL_MAX)


def account_id(site: Site, role: str) -> str:
    """Return the identifier of a service account of the cluster, within 6 and 30 characters."""
    return cloud_name(site.cluster, role, limit=ACCOUNT_MAX)


def resource(site: Site, *parts: str) -> str:
    """Return the name of a managed resource, of a Secret with connection details, or of what belongs to it."""
    return part_name(site.cluster, *parts)
