"""What a version of Kubernetes lets a selector use.

Source: pkg/cel/environment/base.go of k8s.io/apiserver and cel/compile.go of k8s.io/dynamic-resource-allocation,
v0.34.0 to v0.37.2.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from kubecel.check import checker, signatures, typesystem


@dataclass(frozen=True, slots=True)
class Profile:
    """A Kubernetes 1.`minor` and the feature gates that change selectors.

    New expressions are admitted in the environment of the version before (so that a roll-back finds nothing it
    cannot run); evaluation uses everything this version knows.
    """

    minor: int = 36
    consumable_capacity: bool = True
    list_attributes: bool = False

    @property
    def admission_minor(self) -> int:
        """The version whose environment a new expression must compile in."""
        return self.minor - 1


V1_34: Final = Profile(34, consumable_capacity=False)
V1_35: Final = Profile(35, consumable_capacity=False)
V1_36: Final = Profile(36)
V1_37: Final = Profile(37)
PROFILES: Final[Mapping[str, Profile]] = {"1.34": V1_34, "1.35": V1_35, "1.36": V1_36, "1.37": V1_37}


# from here on stored expressions are run as if attributes could be lists, whatever the gate says
DYNAMIC_FROM: Final = 37


def attribute(profile: Profile, minor: int) -> typesystem.Type:
    """Return the type of an attribute's value."""
    return typesystem.DYN if profile.list_attributes or minor >= DYNAMIC_FROM else typesystem.ANY


@functools.cache
def declarations(profile: Profile, minor: int) -> checker.Declarations:
    """Return what the environment of Kubernetes 1.`minor` declares to a selector."""
    functions = signatures.functions(minor)
    if minor < min(profile.minor, DYNAMIC_FROM) and not profile.list_attributes:
        # a new expression may use what a gate adds only while the gate is on
        functions = {name: overloads for name, overloads in functions.items() if name != "includes"}
    of_device = {typesystem.DEVICE.name: fields(profile, minor)}
    return checker.Declarations(functions, {"device": typesystem.DEVICE}, of_device)


@functools.cache
def fields(profile: Profile, minor: int) -> Mapping[str, typesystem.Type]:
    """Return the fields of `device`."""
    value = attribute(profile, minor)
    found = {
        "driver": typesystem.STRING,
        "attributes": typesystem.map_of(typesystem.STRING, typesystem.map_of(typesystem.STRING, value)),
        "capacity": typesystem.map_of(typesystem.STRING, typesystem.map_of(typesystem.STRING, typesystem.QUANTITY)),
    }
    if profile.consumable_capacity or minor == profile.minor:
        found["allowMultipleAllocations"] = typesystem.BOOL
    return found
