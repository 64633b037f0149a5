"""The documents of a change in place of those that stand, as `kubectl apply --prune` replaces them."""

from __future__ import annotations

from modelplane_cli.commands.stage import Objects
from modelplane_cli.planning.rehearsal import Rehearsal
from modelplane_cli.simulator import assumption
from modelplane_cli.simulator.store import Key, controller_of


def replace(rehearsal: Rehearsal, there: Objects, objects: Objects) -> None:
    """Replace what authors wrote by `objects`. The functions derive the composed objects."""
    kept = {key for key in objects if _is_wanted(key, objects)}
    for key in sorted(key for key in there if _is_wanted(key, there) and key not in kept):
        rehearsal.remove(key)
    for key in sorted(kept):
        rehearsal.apply(_written(objects, key), key)


def _is_wanted(key: Key, objects: Objects) -> bool:
    return controller_of(objects[key]) is None


def _written(objects: Objects, key: Key) -> dict[str, object]:
    """Return the part of an object that its author wrote. A status is kept only on an observed object."""
    resource = dict(objects[key])
    if key.group == "modelplane.ai" or not assumption.is_observation(resource):
        resource.pop("status", None)
    return resource
