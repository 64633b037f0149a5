"""What a version of Kubernetes lets the allocator do, by the defaults of its feature gates.

Source: the gate table of kube-scheduler, 1.35 and 1.36. Version 1.35 takes pools in no fixed order; here they are
sorted as 1.36 sorts them, which is one of the orders it may take. Capacity that a request asks for is not looked at
there. Known divergence: 1.35 goes astray where an alternative after the first asks for all devices and there are
several; here it is served as in 1.36. Version 1.34 is not modelled: it takes devices from pools of which slices for
other nodes are missing, and ends the scheduling of the pod at a pool that is invalid.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from modelplane.cel.profiles import V1_35 as CEL_1_35
from modelplane.cel.profiles import V1_36 as CEL_1_36
from modelplane.cel.profiles import Profile as Language


@dataclass(frozen=True, slots=True)
class Profile:
    """A Kubernetes version: the language of its selectors, and which features its allocator has on."""

    language: Language
    admin_access: bool = True
    first_available: bool = True
    taints: bool = True
    partitionable: bool = True
    consumable_capacity: bool = True
    binding_conditions: bool = True
    sorts_slices: bool = True


V1_36: Final = Profile(CEL_1_36)


V1_35: Final = Profile(
    CEL_1_35,
    taints=False,
    partitionable=False,
    consumable_capacity=False,
    binding_conditions=False,
    sorts_slices=False,
)
PROFILES: Final[Mapping[str, Profile]] = {"1.35": V1_35, "1.36": V1_36}
