"""Gated models that nobody gives a token: of engines that fetch their weights, and of caches that stage them.

A warning is sure as far as the documents say. What may bring a token or the files counts as one: other variables in an
environment of unknown content, a volume that is not empty at the start, another hub. Whether a Secret exists on a
cluster, and whether its token has access, only the cluster knows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, TypeAlias

from modelplane import names, seen
from modelplane.api import inference_cluster, model_cache, workload
from modelplane.errors import ModelplaneError
from modelplane.render import pods, starting
from modelplane.sizing import gated
from modelplane.sizing.gated import Gate
from modelplane.workload.model import RoleSpec
from modelplane_cli.checks.acceptance import Checked
from modelplane_cli.documents.reading import WARNING, Problem
from modelplane_cli.documents.yamltext import Path
from modelplane_cli.simulator.store import Key, controller_of

Json: TypeAlias = Any

_DEPLOYMENT: Final = "ModelDeployment"
_TOKENS: Final = frozenset({"HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "HF_TOKEN_PATH"})
"""The variables from which huggingface_hub takes a token."""
_ELSEWHERE: Final = frozenset({"HF_ENDPOINT", "HF_HUB_OFFLINE"})
"""The variables with which the engine does not ask the hub where the model is gated."""
_WORDS: Final = ("hf-token", "hf_token", "HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "hf auth", "huggingface-cli login")
"""Parts of a command line that brings a token by itself."""
_SECRET: Final = ("spec", "source", "huggingFace", "tokenSecretRef")
_EMPTY: Final = frozenset({"emptyDir", "configMap", "downwardAPI"})


def check(checked: Checked) -> list[Problem]:
    """Return a warning for each engine and each cache of the documents that people wrote.

    An LLMInference has none: its engine takes the token of a Secret that may exist.
    """
    has_mirror = any(_has_mirror(key, one) for key, one in checked.objects.items())
    return [
        checked.sources[key].problem(message, path, WARNING)
        for key, resource in sorted(checked.objects.items(), key=lambda entry: entry[0])
        if key.group == names.GROUP and controller_of(resource) is None
        for path, message in (*_engines(key, resource), *(() if has_mirror else _cache(key, resource)))
    ]


def _has_mirror(key: Key, resource: Mapping[str, Json]) -> bool:
    is_cluster = (key.group, key.kind) == (names.GROUP, inference_cluster.KIND)
    return is_cluster and bool(seen.at(resource, "spec", "storage", "hubEndpoint"))


def _cache(key: Key, resource: Mapping[str, Json]) -> Iterator[tuple[Path, str]]:
    if key.kind != model_cache.KIND:
        return
    repository = seen.text(seen.at(resource, "spec", "source", "huggingFace", "repo"))
    gate = gated.gate(repository)
    if gate is not None and seen.at(resource, *_SECRET) is None:
        message = (
            f"{_closed(repository, gate)}, and the cache names no Secret with a token; add "
            "tokenSecretRef with the name of a Secret in this namespace on each cluster, whose token may read it"
        )
        yield _SECRET[:-1], message


def _engines(key: Key, resource: Mapping[str, Json]) -> Iterator[tuple[Path, str]]:
    """Yield a warning for each role whose engine fetches a gated model. With a cache it is that of the cache."""
    spec = resource.get("spec") or {}
    if key.kind != _DEPLOYMENT or seen.at(spec, "modelCacheRef") is not None:
        return
    try:
        wanted = workload.decode(spec, namespace=key.namespace, deployment=key.name)
    except ModelplaneError:
        return  # refused by other checks
    if wanted.overrides:
        return  # a patch may add what is missing
    for role in wanted.roles:
        repository = starting.repository(wanted.engine, wanted.model, role)
        gate = gated.gate(repository or "")
        if repository is None or gate is None or _may_have(role):
            continue
        index, container = pods.engine_container(role)
        path: Path = (*role.role.path, "workers", "template", "spec", "containers", index)
        message = (
            f"{_closed(repository, gate)}, and the engine gets no HF_TOKEN: it cannot fetch the "
            "weights; add HF_TOKEN to env, with valueFrom.secretKeyRef to a Secret in this namespace on each cluster, "
            "or name a ModelCache in modelCacheRef"
        )
        yield ((*path, "env") if container.get("env") else path), message


def _closed(repository: str, gate: Gate) -> str:
    return f"{repository} is gated on the Hugging Face hub (seen in {gate.seen})"


def _may_have(role: RoleSpec) -> bool:
    """Return whether the engine's container gets a token or the files, or may get them."""
    _, container = pods.engine_container(role)
    if container.get("envFrom"):
        return True
    for variable in seen.objects(container.get("env")):
        name, value = seen.text(variable.get("name")), variable.get("value")
        if name in _TOKENS | _ELSEWHERE and (value or variable.get("valueFrom") is not None):
            return True
    words = " ".join(str(word) for part in ("command", "args") for word in container.get(part) or ())
    return any(word in words for word in _WORDS) or _mounts_files(role, container)


def _mounts_files(role: RoleSpec, container: Mapping[str, Json]) -> bool:
    """Return whether a volume is mounted that may hold a token or the weights."""
    volumes = {seen.text(one.get("name")): one for one in seen.objects(seen.at(role.template, "spec", "volumes"))}
    mounted = (seen.text(one.get("name")) for one in seen.objects(container.get("volumeMounts")))
    return any(not _EMPTY & set(volumes.get(name, _EMPTY)) for name in mounted)
