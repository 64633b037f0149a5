"""Names in Azure, with the limits of its kinds, and the names of the managed resources.

Source: Azure documentation of naming rules, and of AKS: a cluster has 63 characters, a DNS prefix 54, a node pool 12
lower-case letters and digits that begin with a letter, the resource group of its nodes 80.
"""

from __future__ import annotations

import re

from modelplane import names
from modelplane.render.provisioning import Site, part_name

CLUSTER_MAX = 63
PREFIX_MAX = 54
POOL_MAX = 12
GROUP_MAX = 80
SYSTEM_POOL = "system"
"""The name of the pool for controllers. No pool of an author may have it."""
ROTATION = "systemtmp"
"""The name of the pool that stands in for the system pool while that changes."""

_DIGEST_DIGITS = 8
_PLAIN = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?")
_POOL = re.compile(rf"[a-z][a-z0-9]{{0,{POOL_MAX - 1}}}")
_ENDS_IN_DIGEST = re.compile(rf"[a-z0-9]{{{POOL_MAX - _DIGEST_DIGITS}}}[0-9a-f]{{{_DIGEST_DIGITS}}}")
_NO_LETTER = re.compile(r"[^-a-z0-9]+")


def cloud_name(*parts: str, limit: int) -> str:
    """Return a name in the cloud: the parts joined by "-" if it takes them so, else a part of them and a digest."""
    whole = "-".join(parts)
    if _PLAIN.fullmatch(whole):
        return names.bounded(*parts, limit=limit)
    return names.hashed("c", _NO_LETTER.sub("-", whole), of=parts, limit=limit)


def cluster_name(site: Site) -> str:
    """Return the name of the cluster in AKS."""
    return site.external_name or cloud_name(site.cluster, limit=CLUSTER_MAX)


def group_name(site: Site) -> str:
    """Return the name of the resource group, the virtual network and the identity that are made.

    What has the name in the subscription is adopted, so it is none that another would choose.
    """
    return cloud_name("modelplane", site.cluster, limit=CLUSTER_MAX)


def pool_name(pool: str) -> str:
    """Return the name of a node pool in its cluster: its own, else four letters of it and a digest.

    A name that looks like one with a digest gets a digest too, so that no two pools have the same name.
    """
    is_taken = pool == ROTATION or _ENDS_IN_DIGEST.fullmatch(pool) is not None
    if _POOL.fullmatch(pool) and not is_taken:
        return pool
    head = re.sub(r"[^a-z0-9]", "", pool)
    begun = head if head[:1].isalpha() else f"p{head}"
    return begun[: POOL_MAX - _DIGEST_DIGITS].ljust(POOL_MAX - _DIGEST_DIGITS, "p") + names.digest(
        pool, digits=_DIGEST_DIGITS
    )


def resource(site: Site, *parts: str) -> str:
    """Return the name of a managed resource, or of a Secret with connection details."""
    return part_name(site.cluster, *parts)
