"""The weights on a PersistentVolumeClaim, mounted where the engine looks for them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from modelplane.errors import InvalidInput
from modelplane.render import pods, weights
from modelplane.workload.model import Model, RoleSpec, Workload

Json: TypeAlias = Any

SCHEME = "pvc"
NAME = "model-weights"

_CLAIM_NAME = re.compile(r"[a-z0-9]([-a-z0-9.]*[a-z0-9])?\Z")


@dataclass(frozen=True, slots=True)
class Claim:
    """A PersistentVolumeClaim of the replica's namespace on the cluster, and a path within the volume (empty: all)."""

    name: str
    path: str


def of(model: Model | None) -> Claim | None:
    """Return the claim that holds the weights, None where they are elsewhere."""
    scheme, _, rest = ("" if model is None or model.uri is None else model.uri).partition("://")
    if scheme != SCHEME:
        return None
    name, _, path = rest.partition("/")
    return Claim(name, path.strip("/"))


def mount(spec: dict[str, Json], claim: Claim) -> None:
    """Add the claim to a pod and mount it into the engine's container, for reading alone."""
    engine = next(container for container in spec["containers"] if container["name"] == pods.ENGINE)
    entry: dict[str, Json] = {"name": NAME, "mountPath": weights.MOUNT, "readOnly": True}
    if claim.path:
        entry["subPath"] = claim.path
    engine["volumeMounts"].append(entry)
    source = {"claimName": claim.name, "readOnly": True}
    spec["volumes"].append({"name": NAME, "persistentVolumeClaim": source})


def check(workload: Workload, role: RoleSpec) -> None:
    """Check that the claim can exist, and that nothing else stands where it is mounted. Raises: InvalidInput."""
    claim = of(workload.model)
    if claim is None:
        return
    uri = ("spec", "model", "uri")
    if _CLAIM_NAME.match(claim.name) is None:
        raise InvalidInput(f'"{claim.name}" cannot be the name of a PersistentVolumeClaim', path=uri)
    if ".." in claim.path.split("/"):
        raise InvalidInput("the path within the volume cannot hold ..; write it from the volume's root", path=uri)
    index, container = pods.engine_container(role)
    path = pods.path_to_engine(role.role, index)
    _refuse_twice(role.template["spec"].get("volumes") or (), "name", NAME, (*path[:-2], "volumes"))
    mounts = [{**mount, "mountPath": mount["mountPath"].rstrip("/")} for mount in container.get("volumeMounts") or ()]
    _refuse_twice(mounts, "mountPath", weights.MOUNT, (*path, "volumeMounts"))


def _refuse_twice(entries: Iterable[Mapping[str, Json]], key: str, taken: str, path: tuple[str | int, ...]) -> None:
    for number, entry in enumerate(entries):
        if entry[key] == taken:
            raise InvalidInput(
                f'"{taken}" is where the weights of model.uri are mounted; use another', path=(*path, number, key)
            )
