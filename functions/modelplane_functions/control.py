"""The ModelDeployment that controls a ModelReplica: who the replica says it is, and what the deployment says itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from modelplane import names
from modelplane.api import intent, replica
from modelplane.api import workload as workloads
from modelplane.api.fields import Field
from modelplane.errors import InvalidInput
from modelplane.placement.snapshot import Toleration
from modelplane.workload.model import Workload
from modelplane_functions.exchange import Resource

Json: TypeAlias = Any


@dataclass(frozen=True, slots=True)
class Said:
    """The parts of a ModelDeployment that its replicas are compared with."""

    workload: Workload
    tolerations: tuple[Toleration, ...]


def deployment_of(resource: Resource) -> str | None:
    """Return the key (`namespace/name`) of the deployment that a replica names, None where it cannot be read."""
    root = Field(resource)
    try:
        name = root.at("spec", "deploymentRef", "name").text()
        return names.qualified(root.at("metadata", "namespace").text(), name)
    except InvalidInput:
        return None


def controller(resource: Resource) -> Mapping[str, Json]:
    """Return the owner reference of the controller, empty without one."""
    for reference in resource["metadata"].get("ownerReferences") or ():
        if isinstance(reference, Mapping) and reference.get("controller") is True:
            return reference
    return {}


def is_ours(reference: Mapping[str, Json]) -> bool:
    """Return whether an owner is of a kind of Modelplane."""
    return str(reference.get("apiVersion", "")).partition("/")[0] == names.GROUP


def referred(deployment: Resource) -> frozenset[str]:
    """Return the replicas in the deployment's resource references, which Crossplane writes.

    Crossplane writes the reference before it creates the child. A replica without a reference was created by another
    client, or it is newer than the cached deployment.
    """
    try:
        references = list(Field(deployment).at("spec", "crossplane", "resourceRefs").items())
        noted = [one.at("name").value for one in references if one.at("kind").value == replica.KIND]
    except InvalidInput:
        return frozenset()
    return frozenset(name for name in noted if isinstance(name, str))


def said(deployment: Resource) -> Said:
    """Return the parts that its replicas are compared with.

    Raises: InvalidInput for a deployment that cannot be read.
    """
    metadata, spec = deployment["metadata"], Field(deployment).at("spec")
    namespace, name = str(metadata.get("namespace")), str(metadata["name"])
    workload = workloads.decode(spec.members(), namespace=namespace, deployment=name)
    return Said(workload, intent.decode_tolerations(spec.at("tolerations")))
