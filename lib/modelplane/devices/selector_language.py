"""Environment of a device selector, by the version of Kubernetes and its feature gates.

Source: pkg/cel/environment/base.go of k8s.io/apiserver; cel/compile.go and the sizes of
k8s.io/dynamic-resource-allocation; v0.34.0 to v0.37.2.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from kubecel import caches, check
from kubecel.check import Type
from kubecel.environment import Environment, Results, Shape


@dataclass(frozen=True, slots=True)
class Profile:
    """A Kubernetes version 1.`minor` and the feature gates that change selectors.

    New expressions are admitted in the environment of the previous version, so that they also run after a roll-back.
    Evaluation uses the full environment of this version.
    """

    minor: int = 36
    consumable_capacity: bool = True
    list_attributes: bool = False

    @property
    def admission_minor(self) -> int:
        """Return the minor version in whose environment a new expression must compile."""
        return self.minor - 1


V1_34: Final = Profile(34, consumable_capacity=False)
V1_35: Final = Profile(35, consumable_capacity=False)
V1_36: Final = Profile(36)
V1_37: Final = Profile(37)
V1_36_LISTS: Final = Profile(36, list_attributes=True)
PROFILES: Final[Mapping[str, Profile]] = {"1.34": V1_34, "1.35": V1_35, "1.36": V1_36, "1.37": V1_37}


# From here on stored expressions are run as if attributes could be lists, whatever the gate says.
DYNAMIC_FROM: Final = 37
DEVICE: Final = check.object_type("kubernetes.DRADevice")

_ATTRIBUTES_MAX: Final = 32
_IDENTIFIER: Final = Shape(32)
_DOMAIN: Final = Shape(63)
_UNSIZED: Final = 0


# A name behind a dot leads to the bound of an attribute and to none of a capacity, as in Kubernetes.
_ATTRIBUTES: Final = Shape(_ATTRIBUTES_MAX, {}, _IDENTIFIER, Shape(64), any_field=True)
_CAPACITY: Final = Shape(_ATTRIBUTES_MAX, {}, _IDENTIFIER, Shape(_UNSIZED))
_SHAPE: Final = Shape(
    _UNSIZED,
    {
        "driver": Shape(63),
        "allowMultipleAllocations": Shape(1),
        "attributes": Shape(_ATTRIBUTES_MAX, {}, _DOMAIN, _ATTRIBUTES),
        "capacity": Shape(_ATTRIBUTES_MAX, {}, _DOMAIN, _CAPACITY),
    },
)


@caches.kept(caches.VERSIONS_MAX)
def environment(profile: Profile) -> Environment:
    """Return the environment in which a stored selector runs."""
    return _environment(profile, profile.minor)


@caches.kept(caches.VERSIONS_MAX)
def admission(profile: Profile) -> Environment:
    """Return the environment in which a new selector must compile."""
    return _environment(profile, profile.admission_minor)


def _environment(profile: Profile, minor: int) -> Environment:
    value = _attribute(profile, minor)
    # A new expression may use what a gate adds only while the gate is on.
    is_withheld = minor < min(profile.minor, DYNAMIC_FROM) and not profile.list_attributes
    return Environment(
        f"1.{minor}",
        variables={"device": DEVICE},
        objects={DEVICE.name: fields(profile, minor)},
        shapes={"device": _SHAPE},
        results=Results((check.BOOL, value), "bool or the unknown type"),
        withheld=frozenset({"includes"}) if is_withheld else frozenset(),
    )


def _attribute(profile: Profile, minor: int) -> Type:
    """Return the type of an attribute's value."""
    return check.DYN if profile.list_attributes or minor >= DYNAMIC_FROM else check.ANY


def fields(profile: Profile, minor: int) -> Mapping[str, Type]:
    """Return the fields of `device`."""
    value = _attribute(profile, minor)
    found = {
        "driver": check.STRING,
        "attributes": check.map_of(check.STRING, check.map_of(check.STRING, value)),
        "capacity": check.map_of(check.STRING, check.map_of(check.STRING, check.QUANTITY)),
    }
    if profile.consumable_capacity or minor == profile.minor:
        found["allowMultipleAllocations"] = check.BOOL
    return found
