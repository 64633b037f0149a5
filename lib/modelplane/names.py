"""Every label, key and derived name, in one place.

Names derive from namespace and name, so that equal names in two namespaces never meet, and are cut with a hash where
Kubernetes or a backend limits their length.
"""

from __future__ import annotations

import hashlib

GROUP = "modelplane.ai"
API_VERSION = f"{GROUP}/v1alpha1"
SYSTEM_NAMESPACE = "modelplane-system"
INTERNAL_DOMAIN = "modelplane.internal"

LABEL_DEPLOYMENT = f"{GROUP}/deployment"
LABEL_REPLICA = f"{GROUP}/replica"
LABEL_NAMESPACE = f"{GROUP}/namespace"
LABEL_CLUSTER = f"{GROUP}/cluster"
LABEL_POOL = f"{GROUP}/pool"
LABEL_ROLE = f"{GROUP}/role"
LABEL_API = f"{GROUP}/api"
LABEL_ENDPOINT = f"{GROUP}/endpoint"
LABEL_SERVICE = f"{GROUP}/service"
LABEL_SCALE_TARGET = f"{GROUP}/scale-target"

# On a ModelReplica: the name of the replica it succeeds, so that a move can be told from a surplus.
ANNOTATION_REPLACES = f"{GROUP}/replaces"
# On an Object: the part that what it carries plays for its replica (render.manifest.Purpose).
ANNOTATION_PURPOSE = f"{GROUP}/purpose"
ANNOTATION_RENDERED_FROM = f"{GROUP}/rendered-from"
ANNOTATION_ENGINE_ARGUMENTS = f"{GROUP}/engine-arguments"

ENV_PREFIX = "MODELPLANE_"
ENV_LEADER_ADDRESS = "MODELPLANE_LEADER_ADDRESS"
ENV_RANK = "MODELPLANE_RANK"
ENV_WORLD_SIZE = "MODELPLANE_WORLD_SIZE"
ENV_POD_IP = f"{ENV_PREFIX}POD_IP"

LABEL_MAX = 63
# KServe appends up to 25 characters to a name and LeaderWorkerSet a group and a rank, each within 63 (see rendering).
REPLICA_NAME_MAX = 36
_HASH_DIGITS = 5


def digest(*parts: str, digits: int = _HASH_DIGITS) -> str:
    """Return a stable hexadecimal digest of `parts`; a separator keeps ("a", "bc") and ("ab", "c") apart."""
    return hashlib.sha256("\x00".join(parts).encode()).hexdigest()[:digits]


def bounded(*parts: str, limit: int = LABEL_MAX) -> str:
    """Return `parts` joined by "-", cut to `limit` characters with a hash of the whole when it is longer."""
    whole = "-".join(parts)
    if len(whole) <= limit:
        return whole
    return f"{whole[: limit - _HASH_DIGITS - 1].rstrip('-.')}-{digest(*parts)}"


def qualified(namespace: str, name: str) -> str:
    """Return `namespace/name`, the identity of a namespaced object across the fleet."""
    return f"{namespace}/{name}"


def scale_selector(namespace: str, deployment: str) -> str:
    """Return the serialised label selector for the scale subresource; it matches no pod of the control plane.

    The value is a label value (63 characters); a longer pair is cut with a hash.
    """
    value = f"{namespace}.{deployment}"
    if len(value) > LABEL_MAX:
        value = f"{value[: LABEL_MAX - _HASH_DIGITS - 1].rstrip('-.')}-{digest(namespace, deployment)}"
    return f"{LABEL_SCALE_TARGET}={value}"


def replica(deployment: str, index: int) -> str:
    """Return the name of the deployment's replica number `index`."""
    tail = f"-{index}"
    return f"{bounded(deployment, limit=REPLICA_NAME_MAX - len(tail))}{tail}"


def internal_host(namespace: str, replica_name: str) -> str:
    """Return the host name by which a replica is addressed between gateways."""
    return f"{replica_name}.{namespace}.{INTERNAL_DOMAIN}"
