"""Pod template of a role, checked for fields that a tenant may not use.

A provider with administrator rights creates the pods on the workload cluster, so a template must never give its author
more than a pod of the Kubernetes "baseline" Pod Security Standard has. The API server already refuses most of this, but
offline documents and older definitions are checked only here.

Source: Kubernetes Pod Security Standards, level baseline (IPC_LOCK is added because RDMA needs locked
memory, SYS_NICE because engines pin threads; both act inside the container).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from modelplane import names
from modelplane.api.fields import Field

Json: TypeAlias = Any

ENGINE = "engine"
# What a template may hold; the definition of the kind has the same lists. A field that is not here is no field of
# ours, and one of Kubernetes' own could give its author more than is meant (nodeName, priorityClassName, hostNetwork,
# ...).
POD_FIELDS = frozenset(
    {
        *("containers", "imagePullSecrets", "securityContext", "serviceAccountName"),
        *("terminationGracePeriodSeconds", "volumes"),
    }
)
CONTAINER_FIELDS = frozenset(
    {
        *(
            "args",
            "command",
            "env",
            "envFrom",
            "image",
            "imagePullPolicy",
            "lifecycle",
            "livenessProbe",
            "name",
            "ports",
        ),
        *("readinessProbe", "resources", "securityContext", "startupProbe", "volumeMounts", "workingDir"),
    }
)
POD_SECURITY_FIELDS = frozenset(
    {
        *("fsGroup", "fsGroupChangePolicy", "runAsGroup", "runAsNonRoot", "runAsUser", "seccompProfile"),
        "supplementalGroups",
    }
)
CONTAINER_SECURITY_FIELDS = frozenset(
    {
        *(
            "allowPrivilegeEscalation",
            "capabilities",
            "readOnlyRootFilesystem",
            "runAsGroup",
            "runAsNonRoot",
            "runAsUser",
        ),
        "seccompProfile",
    }
)
_VOLUME_SOURCES = frozenset(
    {"emptyDir", "configMap", "secret", "persistentVolumeClaim", "projected", "ephemeral", "csi", "image"}
)
_CAPABILITIES = frozenset(
    {
        *("AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "IPC_LOCK", "KILL", "MKNOD", "NET_BIND_SERVICE"),
        *("SETFCAP", "SETGID", "SETPCAP", "SETUID", "SYS_CHROOT", "SYS_NICE"),
    }
)
# Extended resources that are accelerators; asked for here they would be allocated behind the ledger's back.
_ACCELERATORS = ("nvidia.com/gpu", "nvidia.com/mig-", "amd.com/gpu", "gpu.intel.com/", "habana.ai/", "google.com/tpu")


def decode(template: Field) -> Mapping[str, Json]:
    """Return the template as plain JSON, unchanged.

    Raises: InvalidInput if no pod can be made of it, or if it has a field that a tenant may not use.
    """
    _reserved(template.at("metadata", "labels"), f"{names.GROUP}/", "labels")
    _reserved(template.at("metadata", "annotations"), f"{names.GROUP}/", "annotations")
    pod = template.at("spec")
    _check_fields(pod, POD_FIELDS)
    _check_fields(pod.at("securityContext"), POD_SECURITY_FIELDS)
    containers = tuple(pod.at("containers").items())
    _check_names(pod.at("containers"), containers)
    for container in containers:
        _check_container(container)
    for volume in pod.at("volumes").items():
        _check_volume(volume)
    return template.members()


def engine_image(template: Mapping[str, Json]) -> str:
    """Return the image of the engine container of a decoded template."""
    return next(str(c["image"]) for c in template["spec"]["containers"] if c["name"] == ENGINE)


def _check_fields(field: Field, known: frozenset[str]) -> None:
    for key in sorted(field.members()):
        if key not in known:
            raise field.at(key).wrong(f"is not offered in a template; allowed are {', '.join(sorted(known))}")


def _check_names(field: Field, containers: tuple[Field, ...]) -> None:
    seen: set[str] = set()
    for container in containers:
        name = container.at("name").text()
        if name in seen:
            raise container.at("name").wrong(f'"{name}" is used twice; container names must be unique')
        seen.add(name)
    if ENGINE not in seen:
        found = ", ".join(sorted(seen)) or "none"
        raise field.wrong(f'exactly one container must be named "{ENGINE}" (found: {found}); the others are sidecars')


def _check_container(container: Field) -> None:
    _check_fields(container, CONTAINER_FIELDS)
    container.at("image").text()
    for variable in container.at("env").items():
        name = variable.at("name").text()
        if name.startswith(names.ENV_PREFIX):
            raise variable.at("name").wrong(
                f'"{name}" is reserved: variables {names.ENV_PREFIX}* are set by Modelplane'
            )
    for port in container.at("ports").items():
        if port.at("hostPort").is_set:
            raise port.at("hostPort").wrong("is not offered; clients reach replicas through their cluster's gateway")
    for kind in ("requests", "limits"):
        for resource in sorted(container.at("resources", kind).members()):
            if resource.startswith(_ACCELERATORS):
                raise container.at("resources", kind, resource).wrong(
                    "must be requested in nodeSelector; remove it here"
                )
    _check_security(container.at("securityContext"))


def _check_security(security: Field) -> None:
    _check_fields(security, CONTAINER_SECURITY_FIELDS)
    for capability in security.at("capabilities", "add").items():
        if capability.text().removeprefix("CAP_") not in _CAPABILITIES:
            allowed = ", ".join(sorted(_CAPABILITIES))
            raise capability.wrong(f'"{capability.value}" is not offered; allowed are {allowed}')


def _check_volume(volume: Field) -> None:
    name = volume.at("name").text()
    sources = sorted(set(volume.members()) - {"name"})
    refused = [source for source in sources if source not in _VOLUME_SOURCES]
    if refused:
        allowed = ", ".join(sorted(_VOLUME_SOURCES))
        raise volume.at(refused[0]).wrong(f'is not offered as the source of volume "{name}"; allowed are {allowed}')
    if len(sources) != 1:
        raise volume.wrong(f'volume "{name}" must have exactly one source, not {len(sources)}')


def _reserved(entries: Field, prefix: str, what: str) -> None:
    for key in sorted(entries.members()):
        if key.startswith(prefix):
            raise entries.at(key).wrong(f"{what} {prefix}* are reserved; use a prefix of your own")
