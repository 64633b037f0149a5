"""What a version of Kubernetes lets the allocator do, by the defaults of its feature gates.

Source: the gate table of kube-scheduler, 1.34 to 1.36. Versions 1.34 and 1.35 take pools in no fixed order; here they
are sorted as 1.36 sorts them, which is one of the orders they may take.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from modelplane.cel.profiles import V1_34 as CEL_1_34
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


def _before(language: Language) -> Profile:
    return Profile(
        language,
        taints=False,
        partitionable=False,
        consumable_capacity=False,
        binding_conditions=False,
        sorts_slices=False,
    )


V1_34: Final = _before(CEL_1_34)
V1_35: Final = _before(CEL_1_35)
PROFILES: Final[Mapping[str, Profile]] = {"1.34": V1_34, "1.35": V1_35, "1.36": V1_36}
