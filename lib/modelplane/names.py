"""Names: all labels, keys and derived names.

A derived name depends on namespace and name, so that equal names in two namespaces never collide. A name that exceeds
the limit of Kubernetes or of a backend is truncated and gets a digest.

A truncated name ends in "-" and 16 hexadecimal digits. No other name does, because a name that would end so gets a
digest too. So a truncated name never equals a complete one, and two truncated names are equal only if their digests
are. By the birthday bound the chance is one in 37 million among a million names with the same readable part (with five
digits, which earlier versions used, it was one in two among 1,200). A search for two colliding names needs four
thousand million tries; a search for a collision with an existing name needs four thousand million times as many.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence

_DNS_LABEL = re.compile("[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")

GROUP = "modelplane.ai"
API_VERSION = f"{GROUP}/v1alpha1"
SYSTEM_NAMESPACE = "modelplane-system"
INTERNAL_DOMAIN = "modelplane.internal"
# The names in the certificates of the clusters' gateways. Nothing resolves them.
GATEWAYS_DOMAIN = "modelplane-gateways.internal"
# The listener of a cluster's gateway that asks its clients for a certificate.
MUTUAL_TLS_LISTENER = "mutual-tls"

LABEL_DEPLOYMENT = f"{GROUP}/deployment"
LABEL_REPLICA = f"{GROUP}/replica"
LABEL_NAMESPACE = f"{GROUP}/namespace"
LABEL_CLUSTER = f"{GROUP}/cluster"
LABEL_POOL = f"{GROUP}/pool"
LABEL_ROLE = f"{GROUP}/role"
LABEL_SERVES = f"{GROUP}/serves"
LABEL_MANAGED = f"{GROUP}/managed"
LABEL_PICKER = f"{GROUP}/picker"
LABEL_API = f"{GROUP}/api"
LABEL_ENDPOINT = f"{GROUP}/endpoint"
LABEL_SERVICE = f"{GROUP}/service"
# Labels of an InferenceCluster that the endpoints on it have too: where it stands, and what it is for.
LABEL_REGION = f"{GROUP}/region"
LABEL_ZONE = f"{GROUP}/zone"
LABEL_TIER = f"{GROUP}/tier"
LABELS_OF_PLACE = (LABEL_REGION, LABEL_ZONE, LABEL_TIER)
LABEL_MODEL_CACHE = f"{GROUP}/model-cache"
LABEL_MODEL_CACHE_CLAIM = f"{GROUP}/model-cache-claim"
LABEL_SCALE_TARGET = f"{GROUP}/scale-target"

# On a ModelReplica: the name of the replica it succeeds, so that a move can be told from a surplus.
ANNOTATION_REPLACES = f"{GROUP}/replaces"
# On a ModelReplica: its deployment offers to move it, it succeeds one that leaves for another's sake, it asks for room.
ANNOTATION_MAY_LEAVE = f"{GROUP}/may-leave"
ANNOTATION_MAY_RECOVER = f"{GROUP}/may-recover"
ANNOTATION_MAKES_ROOM = f"{GROUP}/makes-room"
ANNOTATION_ASKS = f"{GROUP}/asks-for-room"
# On the ModelDeployment of an LLMInference: the size that was derived, and a digest of what it was derived from.
ANNOTATION_SIZE = f"{GROUP}/size"
# On a ModelCache: any other text stages again what has failed.
ANNOTATION_STAGE_AGAIN = f"{GROUP}/stage-again"
# On an Object that runs pods: the files of a ModelCache that these mount, as its name and their key.
ANNOTATION_MODEL_CACHE = f"{GROUP}/model-cache"
# On an InferenceCluster that is gone: nothing is uninstalled from it.
ANNOTATION_ABANDON = f"{GROUP}/abandon"
# On an Object: the part that what it carries plays for its replica (render.manifest.Purpose).
ANNOTATION_PURPOSE = f"{GROUP}/purpose"
ANNOTATION_RENDERED_FROM = f"{GROUP}/rendered-from"
ANNOTATION_OVERRIDES = f"{GROUP}/overrides"
ANNOTATION_ENGINE_ARGUMENTS = f"{GROUP}/engine-arguments"
ANNOTATION_CONFIGURATION = f"{GROUP}/configuration"

ENV_PREFIX = "MODELPLANE_"
ENV_LEADER_ADDRESS = "MODELPLANE_LEADER_ADDRESS"
ENV_RANK = "MODELPLANE_RANK"
ENV_WORLD_SIZE = "MODELPLANE_WORLD_SIZE"
ENV_POD_IP = f"{ENV_PREFIX}POD_IP"

LABEL_MAX = 63
# KServe appends up to 25 characters to a name and LeaderWorkerSet a group and a rank, each within 63 (see rendering).
REPLICA_NAME_MAX = 36
DIGEST_DIGITS = 16
_FORMER_DIGITS = 5
_CREDENTIAL = "credential"
_ENDS_IN_DIGEST = re.compile(rf"-[0-9a-f]{{{DIGEST_DIGITS}}}\Z")


def digest(*parts: str, digits: int = DIGEST_DIGITS) -> str:
    """Return a stable hexadecimal digest of `parts`; ("a", "bc") and ("ab", "c") have different digests."""
    return hashlib.sha256("\x00".join(parts).encode()).hexdigest()[:digits]


def is_label(text: str) -> bool:
    """Return whether a namespace or a pool can have the name: a label of RFC 1123, at most 63 characters."""
    return _DNS_LABEL.fullmatch(text) is not None


def place(labels: Mapping[str, object]) -> dict[str, str]:
    """Return the labels of a place among `labels`, without empty ones."""
    return {name: str(labels[name]) for name in LABELS_OF_PLACE if labels.get(name)}


def bounded(*parts: str, limit: int = LABEL_MAX) -> str:
    """Return `parts` joined by "-"; a longer name is truncated to `limit` characters with a digest of the whole."""
    return _bounded("-".join(parts), parts, limit)


def hashed(*parts: str, of: Sequence[str], limit: int = LABEL_MAX) -> str:
    """Return `parts` joined by "-", always with a digest of `parts` and `of`.

    So two owners can share a kind of object: the names of one are `bounded`, those of the other `hashed`.
    """
    return _cut("-".join(parts), (*parts, *of), limit)


def former(*parts: str, limit: int = LABEL_MAX) -> str:
    """Return the name that earlier versions used. Existing objects keep it, and new objects never get it."""
    whole = "-".join(parts)
    if len(whole) <= limit:
        return whole
    return f"{whole[: limit - _FORMER_DIGITS - 1].rstrip('-.')}-{digest(*parts, digits=_FORMER_DIGITS)}"


def _bounded(whole: str, parts: Sequence[str], limit: int) -> str:
    is_plain = len(whole) <= limit and _ENDS_IN_DIGEST.search(whole) is None
    return whole if is_plain else _cut(whole, parts, limit)


def _cut(whole: str, parts: Sequence[str], limit: int) -> str:
    return f"{whole[: limit - DIGEST_DIGITS - 1].rstrip('-.')}-{digest(*parts)}"


def backend(endpoint: str) -> str:
    """Return the name of the Backend of an endpoint."""
    return bounded(endpoint)


def credential_filter(endpoint: str) -> str:
    """Return the name of the filter that sets the credential of an endpoint."""
    return bounded(endpoint, _CREDENTIAL)


def former_credential_filter(endpoint: str) -> str:
    """Return the name that earlier versions gave to the filter that sets the credential of an endpoint."""
    return former(endpoint, _CREDENTIAL)


def qualified(namespace: str, name: str) -> str:
    """Return `namespace/name`, the identity of a namespaced object across the fleet."""
    return f"{namespace}/{name}"


def scale_selector(namespace: str, deployment: str) -> str:
    """Return the serialized label selector for the scale subresource; it matches no pod of the control plane.

    The value is a label value of at most 63 characters; a longer pair is truncated with a digest.
    """
    value = _bounded(f"{namespace}.{deployment}", (namespace, deployment), LABEL_MAX)
    return f"{LABEL_SCALE_TARGET}={value}"


def replica(deployment: str, index: int) -> str:
    """Return the name of replica number `index` of the deployment."""
    tail = f"-{index}"
    return f"{bounded(deployment, limit=REPLICA_NAME_MAX - len(tail))}{tail}"


def internal_host(namespace: str, replica_name: str) -> str:
    """Return the host name of a replica between gateways."""
    return f"{replica_name}.{namespace}.{INTERNAL_DOMAIN}"


def gateway_identity(gateway: str) -> str:
    """Return the identity of an InferenceGateway in its client certificate."""
    return f"spiffe://{GROUP}/gateway/{gateway}"


def cluster_identity(cluster: str) -> str:
    """Return the identity of the gateway of an InferenceCluster in its server certificate."""
    return f"spiffe://{GROUP}/cluster/{cluster}"


def server_name(cluster: str) -> str:
    """Return the host name in the server certificate of the gateway of an InferenceCluster."""
    return f"{cluster}.{GATEWAYS_DOMAIN}"
