"""The weights on a PersistentVolumeClaim, mounted where the engine looks for them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

from modelplane.render import pods, weights
from modelplane.workload.model import Model

Json: TypeAlias = Any

SCHEME = "pvc"
NAME = "model-weights"


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
