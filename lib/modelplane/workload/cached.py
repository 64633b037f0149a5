"""Cached weights of a workload: the files of a ModelCache, their identity, and where a replica finds them.

The identity (key) is a digest of what decides the bytes: source, revision and patterns. Size, storage class and Secrets
do not change it.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from typing import TypeVar

from modelplane import names
from modelplane.workload.model import Model, Replica, Workload

CLAIM_SCHEME = "pvc"
NODE_SCHEME = "node-local"
"""The scheme of files that KServe keeps on the disks of nodes, before the URI by which it knows them; no author's."""
UNKNOWN_KEY = "0" * names.DIGEST_DIGITS
"""The key in place of one that is not known yet, where only the form of a workload is asked for."""

_COMMIT = re.compile(r"[0-9a-f]{40}\Z")
_KEY = re.compile(rf"[0-9a-f]{{{names.DIGEST_DIGITS}}}\Z")
_CLAIM = "modelcache"

Loads = TypeVar("Loads", Workload, Replica)


@dataclass(frozen=True, slots=True)
class SecretKey:
    """A key of a Secret on the cluster. Nobody here reads it."""

    name: str
    key: str = ""


@dataclass(frozen=True, slots=True)
class Source:
    """The source of files: a URI (hf:// s3:// gs://), and of a repository its revision and patterns of file names."""

    uri: str
    revision: str = ""
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    secret: SecretKey | None = None

    @property
    def scheme(self) -> str:
        """Return the scheme of the URI."""
        return self.uri.partition("://")[0]

    @property
    def commit(self) -> str:
        """Return the commit that the author names, empty if the revision is a tag or a branch."""
        return self.revision if is_commit(self.revision) else ""

    @property
    def node_uri(self) -> str:
        """Return the URI of a repository at its commit, as KServe's storage initializer reads it."""
        return f"{self.uri}:{self.revision}"

    @property
    def is_moving(self) -> bool:
        """Return whether the revision must be resolved: two clusters could find different files under it."""
        return bool(self.revision) and not self.commit

    @property
    def key(self) -> str:
        """Return the identity of the files."""
        parts = [self.uri, self.revision, sorted(set(self.include)), sorted(set(self.exclude))]
        return names.digest(json.dumps(parts))

    def __str__(self) -> str:
        """Return the source as one URI."""
        return f"{self.uri}@{self.revision}" if self.revision else self.uri


def is_commit(text: str) -> bool:
    """Return whether the text is a complete commit."""
    return _COMMIT.match(text) is not None


def is_key(text: str) -> bool:
    """Return whether the text can be a key."""
    return _KEY.match(text) is not None


def claim_name(cache: str, key: str) -> str:
    """Return the name of the claim that holds the files of a key; it is the same on every cluster."""
    return names.bounded(_CLAIM, cache, key[:8])


def is_cached(loads: Workload | Replica) -> bool:
    """Return whether the weights are those of a ModelCache."""
    return loads.model_cache is not None and bool(loads.cache_key)


def mounted(loads: Loads) -> Loads:
    """Return the workload or replica as backends render it: with the files of its cache in place of the model's URI.

    Without a key of a cache it is returned as it is, without the name of the cache.
    """
    if loads.model_cache is None:
        return loads
    if not loads.cache_key:
        return replace(loads, model_cache=None, cache_uri="")
    name = loads.deployment if loads.model is None else loads.model.name
    uri = f"{CLAIM_SCHEME}://{claim_name(loads.model_cache, loads.cache_key)}/{loads.cache_key}"
    if loads.cache_uri:
        uri = f"{NODE_SCHEME}://{loads.cache_uri}"
    return replace(loads, model=Model(name, uri), model_cache=None, cache_key="", cache_uri="")
