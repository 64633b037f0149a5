"""CloudNetwork: the network of a cluster that is created.

Reads: nothing but itself.
Emits: the managed resources of the network, none where the author of the cluster names an existing one.
Reports: phase, message and errors of the cloud; condition Provisioned.
"""

from __future__ import annotations

from modelplane.api import cloud_parts
from modelplane.render.clouds import selection
from modelplane_functions import provisioned
from modelplane_functions.exchange import Observed, Outcome


def compose(observed: Observed) -> Outcome:
    """Return the managed resources of the network."""
    source, site = cloud_parts.decode(observed.composite)
    cloud = selection.maker(source)
    return provisioned.outcome(observed, cloud, cloud.network(site), {})
