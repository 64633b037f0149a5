"""Objects of a ModelCacheCopy on its cluster: a claim, and a Job that fetches the files into it.

The Job has a name with a digest of all it is made from, because a Job cannot be changed. It waits for no bound claim: a
claim of a class with WaitForFirstConsumer is bound when the pod is scheduled. It has no time to live, because a Job
that vanishes is made again and fetches again. It is deleted in the foreground: a finished pod that was left would keep
the claim for ever.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from modelplane import names
from modelplane.render import staging_program
from modelplane.render.manifest import Lifecycle, Manifest, Purpose, Readiness
from modelplane.workload.cached import Source

Json: TypeAlias = Any

CLAIM_KEY, NAMESPACE_KEY, STAGE = "claim", "namespace", "stage-"
DEFAULT_IMAGE = "kserve/storage-initializer:v0.20.0"
ROOT = "/cache"
RESOLVER, STAGER = "resolve", "stage"

_COMPLETE = (
    "has(object.status) && has(object.status.conditions) && "
    'object.status.conditions.exists(c, c.type == "Complete" && c.status == "True")'
)
# A pod that fails is tried again after up to six minutes: some hours of a source that is not reached.
_TRIES = 50
_SECONDS_MAX = 3 * 24 * 3600
_USER = 1000
_AWS = (("AWS_ACCESS_KEY_ID", False), ("AWS_SECRET_ACCESS_KEY", False))
_AWS_OPTIONAL = (("AWS_ENDPOINT_URL", True), ("AWS_DEFAULT_REGION", True))


@dataclass(frozen=True, slots=True)
class Volume:
    """The volume of a copy: its claim with the class and access mode, and the room in it."""

    claim: str
    size: str
    class_name: str
    access_mode: str


@dataclass(frozen=True, slots=True)
class Staging:
    """The files of one key for one cluster. `commit` is empty if the Job resolves the revision itself.

    `claim_uid` is the identity of the claim that is filled: another claim of the same name is filled anew. A different
    `attempt` or size makes another Job.
    """

    namespace: str
    cache: str
    cluster: str
    key: str
    source: Source
    volume: Volume
    commit: str = ""
    claim_uid: str = ""
    attempt: str = ""
    image: str = ""
    hub_endpoint: str = ""
    is_retained: bool = False


def namespace(staging: Staging) -> Manifest:
    """Return the namespace of the copy, which is never deleted."""
    return Manifest(
        NAMESPACE_KEY,
        {
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": {"name": staging.namespace, "labels": {names.LABEL_NAMESPACE: staging.namespace}},
        },
        Purpose.SHARED,
        lifecycle=Lifecycle.KEEP,
    )


def claim(staging: Staging) -> Manifest:
    """Return the claim. One that is retained outlives its copy."""
    volume = staging.volume
    spec = {
        "accessModes": [volume.access_mode],
        "storageClassName": volume.class_name,
        "resources": {"requests": {"storage": volume.size}},
    }
    resource = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": _metadata(staging, volume.claim),
        "spec": spec,
    }
    lifecycle = Lifecycle.KEEP if staging.is_retained else Lifecycle.OWN
    return Manifest(CLAIM_KEY, resource, Purpose.SUPPORT, lifecycle=lifecycle)


def job(staging: Staging) -> Manifest:
    """Return the Job that fills the claim; its key and its name have a digest of what it is made from."""
    spec: dict[str, Json] = {
        "backoffLimit": _TRIES,
        "activeDeadlineSeconds": _SECONDS_MAX,
        "podFailurePolicy": {"rules": _rules()},
        "template": {"metadata": {"labels": _labels(staging)}, "spec": _pod(staging)},
    }
    made_from = (json.dumps(spec, sort_keys=True), staging.volume.size, staging.claim_uid, staging.attempt)
    digest = names.digest(*made_from, digits=8)
    resource = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": _metadata(staging, names.bounded(staging.volume.claim, digest)),
        "spec": spec,
    }
    return Manifest(STAGE + digest, resource, Purpose.WORKLOAD, Readiness(_COMPLETE), outlives_pods=True)


def pod_labels(namespace_name: str, claim_name: str) -> dict[str, str]:
    """Return the labels that select the pods that fill a claim."""
    return {names.LABEL_NAMESPACE: namespace_name, names.LABEL_MODEL_CACHE_CLAIM: claim_name}


def _labels(staging: Staging) -> dict[str, str]:
    return {
        **pod_labels(staging.namespace, staging.volume.claim),
        names.LABEL_MODEL_CACHE: staging.cache,
        names.LABEL_CLUSTER: staging.cluster,
    }


def _metadata(staging: Staging, name: str) -> dict[str, Json]:
    return {"name": name, "namespace": staging.namespace, "labels": _labels(staging)}


def _rules() -> list[dict[str, Json]]:
    """Return when the Job gives up: on what another pod cannot mend. A pod that was displaced does not count."""
    return [
        {"action": "FailJob", "onExitCodes": {"operator": "In", "values": sorted(staging_program.EXITS)}},
        {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]},
    ]


def _pod(staging: Staging) -> dict[str, Json]:
    resolves = staging.source.is_moving and not staging.commit
    spec: dict[str, Json] = {
        "restartPolicy": "Never",
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": _USER,
            "runAsGroup": _USER,
            "fsGroup": _USER,
            "fsGroupChangePolicy": "OnRootMismatch",
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "containers": [_container(staging, STAGER, {"cpu": "2", "memory": "4Gi"}, {"memory": "16Gi"})],
        "volumes": [
            {"name": "cache", "persistentVolumeClaim": {"claimName": staging.volume.claim}},
            {"name": "tmp", "emptyDir": {"sizeLimit": "2Gi"}},
        ],
    }
    if resolves:
        spec["initContainers"] = [_container(staging, RESOLVER, {"cpu": "100m", "memory": "256Mi"}, {"memory": "1Gi"})]
    return spec


def _container(staging: Staging, mode: str, requests: Mapping[str, str], limits: Mapping[str, str]) -> dict[str, Json]:
    source = staging.source
    return {
        "name": mode,
        "image": staging.image or DEFAULT_IMAGE,
        "command": ["python3", "-I", "-c", staging_program.TEXT],
        "args": [
            *(mode, source.uri, staging.commit or source.revision, ROOT, staging.key),
            *(json.dumps(list(source.include)), json.dumps(list(source.exclude))),
        ],
        "env": list(_environment(staging)),
        "resources": {"requests": dict(requests), "limits": dict(limits)},
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
            "readOnlyRootFilesystem": True,
        },
        "volumeMounts": [{"name": "cache", "mountPath": ROOT}, {"name": "tmp", "mountPath": "/tmp"}],  # noqa: S108
    }


def _environment(staging: Staging) -> Iterator[dict[str, Json]]:
    secret = staging.source.secret
    yield {"name": "HOME", "value": "/tmp"}  # noqa: S108 - the pod's own emptyDir
    if staging.source.scheme == "hf":
        yield {"name": "HF_HOME", "value": f"{ROOT}/.hf"}
        yield {"name": "HF_HUB_DISABLE_TELEMETRY", "value": "1"}
        yield {"name": "HF_HUB_DISABLE_PROGRESS_BARS", "value": "1"}
        if staging.hub_endpoint:
            yield {"name": "HF_ENDPOINT", "value": staging.hub_endpoint}
        if secret is not None:
            yield _from_secret("HF_TOKEN", secret.name, secret.key, is_optional=False)
    elif secret is not None:
        for name, is_optional in (*_AWS, *_AWS_OPTIONAL):
            yield _from_secret(name, secret.name, name, is_optional=is_optional)
    elif staging.source.scheme == "s3":
        yield {"name": "awsAnonymousCredential", "value": "true"}


def _from_secret(name: str, secret: str, key: str, *, is_optional: bool) -> dict[str, Json]:
    reference = {"name": secret, "key": key, "optional": is_optional}
    return {"name": name, "valueFrom": {"secretKeyRef": reference}}
