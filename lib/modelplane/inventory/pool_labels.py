"""Labels that select exactly the nodes of a pool.

Those of clouds and tools that make node pools come first, then what else tells the nodes apart. Where no labels do, the
pool keeps its default, modelplane.ai/pool, and somebody must label the nodes.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from modelplane.inventory.model import Node
from modelplane.names import LABEL_POOL

POOL_LABELS = (
    LABEL_POOL,
    "cloud.google.com/gke-nodepool",
    "eks.amazonaws.com/nodegroup",
    "kubernetes.azure.com/agentpool",
    "agentpool",
    "karpenter.sh/nodepool",
    "alpha.eksctl.io/nodegroup-name",
    "doks.digitalocean.com/node-pool",
    "oke.oraclecloud.com/pool.name",
    "crusoe.ai/nodepool.name",
)
"""Labels with the name of a node pool, by clouds and tools."""
_NEXT = (
    "node.kubernetes.io/instance-type",
    "nvidia.com/gpu.product",
    "amd.com/gpu.product-name",
    "cloud.google.com/gke-accelerator",
    "cloud.google.com/gke-tpu-accelerator",
)
_NEVER = ("beta.kubernetes.io/", "failure-domain.beta.kubernetes.io/", "kubernetes.io/", "csi.", "topology.")
_TRIED_MAX = 12
_TOGETHER_MAX = 2
_VALUE_MAX = 63
INSTANCE_TYPE = _NEXT[0]


def pool_name(node: Node) -> tuple[str, str]:
    """Return the label with the name of the node's pool and that name, empty texts without one."""
    return next(((label, node.labels[label]) for label in POOL_LABELS if node.labels.get(label)), ("", ""))


def selecting(members: Sequence[Node], every: Sequence[Node]) -> dict[str, str] | None:
    """Return the labels that all members have and no other node has all of, None if there are none."""
    shared = dict(members[0].labels)
    for node in members[1:]:
        shared = {key: value for key, value in shared.items() if node.labels.get(key) == value}
    mine = {node.name for node in members}
    others = [node for node in every if node.name not in mine]
    known = [label for label in (*POOL_LABELS, *_NEXT) if shared.get(label)]
    rest = [key for key in sorted(shared) if key not in known and shared[key] and not key.startswith(_NEVER)]
    usable = [key for key in (*known, *rest) if len(shared[key]) <= _VALUE_MAX]
    # Labels that also all other nodes have select nothing, and would only use up the tries.
    telling = [key for key in usable if key in known or any(one.labels.get(key) != shared[key] for one in others)]
    for together in range(1, _TOGETHER_MAX + 1):
        for keys in combinations(telling[: _TRIED_MAX if together > 1 else None], together):
            if not any(all(one.labels.get(key) == shared[key] for key in keys) for one in others):
                return {key: shared[key] for key in keys}
    return None
