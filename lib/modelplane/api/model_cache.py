"""ModelCache and ModelCacheCopy, encoded and decoded.

A ModelCacheCopy is composed for each cluster and key. The status of the ModelCache lists all copies, so that others
read one object.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeAlias

from modelplane import names, seen, units
from modelplane.api.fields import Field
from modelplane.workload import cached
from modelplane.workload.cached import SecretKey, Source

Json: TypeAlias = Any

KIND = "ModelCache"
COPY_KIND = "ModelCacheCopy"
DEFAULT_REVISION, DEFAULT_TOKEN_KEY = "main", "HF_TOKEN"
SHARED, SINGLE_NODE = "ReadWriteMany", "ReadWriteOnce"


class Preference(StrEnum):
    """Wish of a deployment about the clusters that hold its files: to prefer them, or no others."""

    PREFER = "Prefer"
    REQUIRE = "Require"


class Phase(StrEnum):
    """The phase of a copy. RETAINED stands in the status of a ModelCache alone."""

    PENDING = "Pending"
    STAGING = "Staging"
    READY = "Ready"
    FAILED = "Failed"
    RETAINED = "Retained"


@dataclass(frozen=True, slots=True)
class Storage:
    """The volume of a copy; what is empty is the cluster's to say.

    With a `node_group` of KServe the files are on the disks of its nodes, and in no claim.
    """

    class_name: str = ""
    access_mode: str = ""
    node_group: str = ""


@dataclass(frozen=True, slots=True)
class Cache:
    """A ModelCache. `labels` select its clusters; None follows the replicas that name it."""

    source: Source
    size: str
    labels: Mapping[str, str] | None = None
    preference: Preference = Preference.REQUIRE
    storage: Storage = Storage()
    is_retained: bool = False
    attempt: str = ""

    @property
    def key(self) -> str:
        """Return the identity of its files, which those on the disks of nodes do not share with those in a claim."""
        group = self.storage.node_group
        return names.digest(self.source.key, group) if group else self.source.key

    @property
    def uri(self) -> str:
        """Return the URI by which KServe knows files on the disks of nodes, empty for those in a claim."""
        return self.source.node_uri if self.storage.node_group else ""


@dataclass(frozen=True, slots=True)
class Copy:
    """A ModelCacheCopy: the files of a cache on one cluster. `commit` is empty if it resolves the revision itself."""

    namespace: str
    name: str
    cache: str
    cluster: str
    key: str
    source: Source
    size: str
    storage: Storage = Storage()
    is_retained: bool = False
    commit: str = ""
    attempt: str = ""

    @property
    def claim(self) -> str:
        """Return the name of its claim."""
        return cached.claim_name(self.cache, self.key)


@dataclass(frozen=True, slots=True)
class ClusterStorage:
    """The storage of a cluster for weights (InferenceCluster spec.storage); what is empty is not said."""

    class_name: str = ""
    access_mode: str = SHARED
    image: str = ""
    hub_endpoint: str = ""


@dataclass(frozen=True, slots=True)
class Told:
    """The reported state of a copy."""

    phase: Phase = Phase.PENDING
    reason: str = ""
    message: str = ""
    claim_uid: str = ""
    access_mode: str = ""
    commit: str = ""


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of status.clusters of a ModelCache."""

    cluster: str
    key: str
    told: Told


def decode(resource: Mapping[str, Json]) -> Cache:
    """Return the cache. Raises: InvalidInput with the path from the document's root (the author's fault)."""
    root = Field(resource)
    spec = root.at("spec")
    selector = spec.at("clusterSelector")
    labels = selector.at("matchLabels")
    return Cache(
        source=decode_source(spec.at("source")),
        size=_size(spec.at("size")),
        labels={key: labels.at(key).text("") for key in sorted(labels.members())} if selector.is_set else None,
        preference=spec.at("placement").choice(Preference, Preference.REQUIRE),
        storage=_storage(spec.at("storage")),
        is_retained=_retained(spec.at("retention")),
        attempt=root.at("metadata", "annotations", names.ANNOTATION_STAGE_AGAIN).text("")[: names.LABEL_MAX],
    )


def decode_source(field: Field) -> Source:
    """Return the source. Raises: InvalidInput where it has not exactly one block."""
    given = [key for key in ("huggingFace", "s3", "gcs") if field.at(key).is_set]
    if len(given) != 1:
        raise field.wrong(f"must have exactly one of huggingFace, s3 and gcs, found {' and '.join(given) or 'none'}")
    block = field.at(given[0])
    if given[0] != "huggingFace":
        name = block.at("credentialsSecretRef", "name").optional()
        return Source(block.at("uri").text(), secret=None if name is None else SecretKey(name))
    token = block.at("tokenSecretRef")
    secret = SecretKey(token.at("name").text(), token.at("key").text(DEFAULT_TOKEN_KEY)) if token.is_set else None
    return Source(
        uri=f"hf://{block.at('repo').text()}",
        revision=block.at("revision").text(DEFAULT_REVISION),
        include=block.at("include").texts(),
        exclude=block.at("exclude").texts(),
        secret=secret,
    )


def encode_source(source: Source) -> dict[str, Json]:
    """Return spec.source."""
    if source.scheme != "hf":
        reference = {} if source.secret is None else {"credentialsSecretRef": {"name": source.secret.name}}
        return {"s3" if source.scheme == "s3" else "gcs": {"uri": source.uri, **reference}}
    block: dict[str, Json] = {"repo": source.uri.partition("://")[2], "revision": source.revision}
    for key, patterns in (("include", source.include), ("exclude", source.exclude)):
        if patterns:
            block[key] = list(patterns)
    if source.secret is not None:
        block["tokenSecretRef"] = {"name": source.secret.name, "key": source.secret.key}
    return {"huggingFace": block}


def decode_cluster_storage(cluster: Mapping[str, Json]) -> ClusterStorage:
    """Return the storage of an InferenceCluster. Raises: InvalidInput with the path from the document's root."""
    storage = Field(cluster).at("spec", "storage")
    return ClusterStorage(
        storage.at("weightsClassName").text(""),
        storage.at("accessMode").text(SHARED),
        storage.at("stagingImage").text(""),
        storage.at("hubEndpoint").text(""),
    )


def decode_copy(resource: Mapping[str, Json]) -> Copy:
    """Return the copy. Raises: InvalidInput with the path from the document's root; a composed one never causes it."""
    root = Field(resource)
    spec = root.at("spec")
    key = spec.at("key").text()
    if not cached.is_key(key):
        raise spec.at("key").wrong("must be 16 hexadecimal digits")
    return Copy(
        namespace=root.at("metadata", "namespace").text(),
        name=root.at("metadata", "name").text(),
        cache=spec.at("cacheRef", "name").text(),
        cluster=spec.at("clusterName").text(),
        key=key,
        source=decode_source(spec.at("source")),
        size=_size(spec.at("size")),
        storage=_storage(spec.at("storage")),
        is_retained=_retained(spec.at("retention")),
        commit=spec.at("commit").text(""),
        attempt=spec.at("attempt").text(""),
    )


def encode_retention(*, is_retained: bool) -> str:
    """Return `spec.retention`."""
    return "Retain" if is_retained else "Delete"


def encode_copy(copy: Copy) -> dict[str, Json]:
    """Return the ModelCacheCopy."""
    spec: dict[str, Json] = {
        "cacheRef": {"name": copy.cache},
        "clusterName": copy.cluster,
        "key": copy.key,
        "source": encode_source(copy.source),
        "size": copy.size,
        "retention": encode_retention(is_retained=copy.is_retained),
    }
    spec |= {key: text for key, text in (("commit", copy.commit), ("attempt", copy.attempt)) if text}
    volume = copy.storage
    given = {"className": volume.class_name, "accessMode": volume.access_mode, "nodeGroup": volume.node_group}
    storage = {key: text for key, text in given.items() if text}
    if storage:
        spec["storage"] = storage
    labels = {
        names.LABEL_MODEL_CACHE: copy.cache,
        names.LABEL_CLUSTER: copy.cluster,
        names.LABEL_NAMESPACE: copy.namespace,
    }
    return {
        "apiVersion": names.API_VERSION,
        "kind": COPY_KIND,
        "metadata": {"name": copy.name, "namespace": copy.namespace, "labels": labels},
        "spec": spec,
    }


def decode_told(status: Json) -> Told:
    """Return the reported state of a copy; what cannot be read is as if it were not reported."""
    phase = seen.text(seen.at(status, "phase"))
    return Told(
        phase=next((one for one in Phase if one.value == phase), Phase.PENDING),
        reason=seen.text(seen.at(status, "reason")),
        message=seen.text(seen.at(status, "message")),
        claim_uid=seen.text(seen.at(status, "claimUid")),
        access_mode=seen.text(seen.at(status, "accessMode")),
        commit=commit if cached.is_commit(commit := seen.text(seen.at(status, "commit"))) else "",
    )


def encode_told(copy: Copy, told: Told) -> dict[str, Json]:
    """Return the status of a copy."""
    status: dict[str, Json] = {"phase": str(told.phase), "claimName": copy.claim}
    given = {
        "reason": told.reason,
        "message": told.message,
        "claimUid": told.claim_uid,
        "accessMode": told.access_mode,
        "commit": told.commit,
    }
    return status | {key: text for key, text in given.items() if text}


def encode_entry(cache: str, entry: Entry) -> dict[str, Json]:
    """Return an entry of status.clusters."""
    told = entry.told
    block: dict[str, Json] = {"name": entry.cluster, "key": entry.key, "phase": str(told.phase)}
    block["claimName"] = cached.claim_name(cache, entry.key)
    given = {"accessMode": told.access_mode, "reason": told.reason, "message": told.message}
    return block | {key: text for key, text in given.items() if text}


def entries(resource: Mapping[str, Json] | None) -> Iterator[Entry]:
    """Yield the copies that the status of a ModelCache lists; an entry that cannot be read is passed over."""
    for one in seen.objects(seen.at(resource, "status", "clusters")):
        cluster, key = seen.text(one.get("name")), seen.text(one.get("key"))
        if cluster and cached.is_key(key):
            yield Entry(cluster, key, decode_told(one))


def used_by(replica: Mapping[str, Json], cache: str) -> frozenset[str] | None:
    """Return the keys of a cache that a ModelReplica uses or may use, None if it uses the cache by an unknown key.

    These are the key of its spec and those that its pods may mount.
    """
    reference, key = seen.at(replica, "spec", "modelCacheRef"), seen.at(replica, "spec", "cacheKey")
    name = seen.at(reference, "name")
    told = seen.at(replica, "status", "mountedCaches")
    texts = (one.partition("/") for one in (told if isinstance(told, list | tuple) else ()) if isinstance(one, str))
    rendered = frozenset(found for of, _, found in texts if of == cache)
    if key is None or (isinstance(name, str) and name not in ("", cache)):
        return rendered
    is_read = name == cache and isinstance(key, str) and cached.is_key(key)
    return rendered | {key} if is_read else None


def _size(field: Field) -> str:
    text = field.text()
    units.quantity(text)
    return text


def _storage(field: Field) -> Storage:
    return Storage(field.at("className").text(""), field.at("accessMode").text(""), field.at("nodeGroup").text(""))


def _retained(field: Field) -> bool:
    return field.text("Delete") == "Retain"
