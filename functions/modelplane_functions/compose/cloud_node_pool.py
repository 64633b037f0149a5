"""CloudNodePool: one node pool of a cluster that is created.

Reads: nothing but itself.
Emits: the managed resources of the pool; a Usage, so that its cluster is deleted after it.
Reports: phase, message and errors of the cloud, the nodes that it reports; condition Provisioned.
"""

from __future__ import annotations

from modelplane.api import cloud_parts
from modelplane.render import provisioning
from modelplane.render.clouds import selection
from modelplane_functions import provisioned
from modelplane_functions.exchange import Observed, Outcome


def compose(observed: Observed) -> Outcome:
    """Return the managed resources of the pool, and the nodes that are observed."""
    source, site = cloud_parts.decode(observed.composite)
    pool, facts = cloud_parts.decode_pool(observed.composite)
    cloud = selection.maker(source)
    rendered = cloud.node_pool(site, pool, facts, observed.children)
    for cluster in cloud.cluster(site, {}):
        if cluster.key == provisioning.CLUSTER:
            rendered = provisioned.with_usage(rendered, provisioning.POOL, cluster.resource)
    nodes = cloud.nodes(pool, observed.children)
    return provisioned.outcome(observed, cloud, rendered, {"nodes": cloud_parts.encode_nodes(nodes)})
