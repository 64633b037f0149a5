"""Short names of kinds, and modules of commands. Nothing else, so that completion is instant."""

from __future__ import annotations

KINDS = {
    "md": "ModelDeployment",
    "mr": "ModelReplica",
    "ms": "ModelService",
    "me": "ModelEndpoint",
    "ic": "InferenceCluster",
    "mc": "ModelCache",
}
"""The kinds that `explain` takes, by their short names as in kubectl."""

_MODULES = {"class": "classes"}


def module(command: str) -> str:
    """Return the name of the module of a command, which is another one where Python has a meaning for the name."""
    return _MODULES.get(command, command)
