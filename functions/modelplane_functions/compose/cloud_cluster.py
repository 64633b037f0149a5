"""CloudCluster: the control plane of a cluster that is created, its identities, and the access to it.

Reads: nothing but itself.
Emits: the managed resources of the cluster; Usages, so that its network is deleted after it.
Reports: phase, message and errors of the cloud, and the facts that its pools need; condition Provisioned.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from modelplane.api import cloud_parts
from modelplane.render import provisioning
from modelplane.render.clouds import selection
from modelplane_functions import provisioned
from modelplane_functions.exchange import Observed, Outcome

Json: TypeAlias = Any


def compose(observed: Observed) -> Outcome:
    """Return the managed resources of the cluster, and the facts that are observed of them."""
    source, site = cloud_parts.decode(observed.composite)
    cloud = selection.maker(source)
    rendered = cloud.cluster(site, observed.children)
    # All of it: without a route out the cluster cannot be emptied.
    for network in cloud.network(site):
        rendered = provisioned.with_usage(rendered, provisioning.CLUSTER, network.resource)
    # A fact that was published stays while the cloud is not read: pools are rendered with it.
    facts = {**cloud_parts.facts(observed.composite), **cloud.facts(site, observed.children)}
    status: dict[str, Json] = {"facts": facts} if facts else {}
    if "version" in facts:
        status["version"] = facts["version"]
    return provisioned.outcome(observed, cloud, rendered, status)
