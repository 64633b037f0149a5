"""The devices of a role's pods as the pods show them, by which pods from before a change are told apart."""

from __future__ import annotations

from dataclasses import dataclass

from modelplane.workload.model import Role


@dataclass(frozen=True, slots=True)
class Claimed:
    """The claims and the limits of the pods of one role, equal for all replicas of one spec.

    `templates` has the digests by which the claim template of a replica may be named, empty where nothing is claimed.
    `limits` are those of extended resources, sorted by name.
    """

    role: Role
    templates: tuple[str, ...] = ()
    limits: tuple[tuple[str, str], ...] = ()
