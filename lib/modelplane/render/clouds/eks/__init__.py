"""EKS: clusters of Amazon from nothing, or in subnets that exist.

May never happen here: a size that is taken back from an autoscaler or from a Capacity Block, a pool that is counted at
its largest size where nothing makes it grow, or a second device plugin beside the DRA driver.

Source: EKS user guide and API reference; provider-upjet-aws v2.5.0 and v2.6.0.
"""

from modelplane.render.clouds.eks.access import config, rights
from modelplane.render.clouds.eks.advice import advice
from modelplane.render.clouds.eks.assumption import assumed
from modelplane.render.clouds.eks.checks import problems
from modelplane.render.clouds.eks.cluster import cluster, facts, lifelines
from modelplane.render.clouds.eks.kinds import served
from modelplane.render.clouds.eks.network import network
from modelplane.render.clouds.eks.node_pool import node_pool, nodes
from modelplane.render.clouds.eks.stack import stack_needs

__all__ = [
    "advice", "assumed", "cluster", "config", "facts", "lifelines", "network", "node_pool", "nodes", "problems",
    "rights", "served", "stack_needs",
]  # fmt: skip
