"""What a version of Kubernetes lets the allocator do: the defaults of its gates, and its ways of going about it.

Source: the gate tables of kube-scheduler, 1.34 to 1.37, and the allocator that each chooses for them: 1.34 the
experimental one (for its gate of device status), the others the incubating one. Versions before 1.36 take pools in no
fixed order; here they are sorted as 1.36 sorts them, which is one of the orders they may take.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from modelplane.devices.selector_language import V1_34 as CEL_1_34
from modelplane.devices.selector_language import V1_35 as CEL_1_35
from modelplane.devices.selector_language import V1_36 as CEL_1_36
from modelplane.devices.selector_language import V1_36_LISTS as CEL_1_36_LISTS
from modelplane.devices.selector_language import V1_37 as CEL_1_37
from modelplane.devices.selector_language import Profile as Language


class Distinct(StrEnum):
    """What the allocator makes of the constraint that devices differ in an attribute."""

    REFUSED = "refused"
    UNCHECKED = "the attribute is there, whatever its value"
    BY_REQUEST = "the last device of each request differs, as far as it is remembered"
    BY_DEVICE = "every device differs"


@dataclass(frozen=True, slots=True)
class Profile:
    """A Kubernetes version: the language of its selectors, which features are on, and where it differs from 1.36.

    `waits_for_pools`: an incomplete pool serves no devices, and what other nodes can use is looked at to tell; without
    it an invalid pool ends the scheduling of the pod where the search reaches it.
    `counters_for_all`: counter sets are read whatever nodes their slice is for.
    `keeps_alternative`: the search knows which alternative it tries after the first of all its devices.
    `undoes`: what was taken for a device that is then refused is given back, and counters are kept per driver too.
    `reports_tolerations`, `names_bound_node`: what the result says.
    `refuses_capacity`: a request for amounts ends the scheduling where they are off. `shows_sharing`: selectors see
    whether several may use a device even then.
    `narrows`: what devices have in common stays when one of them is put back; with lists among attributes, in 1.36.
    `exact_ranges`: steps of a capacity are counted in thousandths, and amounts that are too large end the scheduling.
    """

    language: Language
    admin_access: bool = True
    first_available: bool = True
    taints: bool = True
    partitionable: bool = True
    consumable_capacity: bool = True
    binding_conditions: bool = True
    sorts_slices: bool = True
    distinct: Distinct = Distinct.BY_REQUEST
    waits_for_pools: bool = True
    counters_for_all: bool = True
    keeps_alternative: bool = True
    undoes: bool = False
    reports_tolerations: bool = True
    names_bound_node: bool = True
    refuses_capacity: bool = False
    shows_sharing: bool = True
    exact_ranges: bool = False
    narrows: bool = False


V1_34: Final = Profile(
    CEL_1_34,
    taints=False,
    partitionable=False,
    consumable_capacity=False,
    binding_conditions=False,
    sorts_slices=False,
    distinct=Distinct.UNCHECKED,
    waits_for_pools=False,
    counters_for_all=False,
    keeps_alternative=False,
    reports_tolerations=False,
    refuses_capacity=True,
)
V1_35: Final = Profile(
    CEL_1_35,
    taints=False,
    partitionable=False,
    consumable_capacity=False,
    binding_conditions=False,
    sorts_slices=False,
    distinct=Distinct.REFUSED,
    shows_sharing=False,
    keeps_alternative=False,
    names_bound_node=False,
)
V1_36: Final = Profile(CEL_1_36)
V1_37: Final = Profile(CEL_1_37, distinct=Distinct.BY_DEVICE, counters_for_all=False, undoes=True, exact_ranges=True)
LISTS: Final[Mapping[str, Profile]] = {
    "1.36": replace(V1_36, language=CEL_1_36_LISTS, narrows=True),
    "1.37": replace(V1_37, language=replace(CEL_1_37, list_attributes=True)),
}
"""The versions in which attributes may be lists, with the gate for that on."""
PROFILES: Final[Mapping[str, Profile]] = {"1.34": V1_34, "1.35": V1_35, "1.36": V1_36, "1.37": V1_37}
