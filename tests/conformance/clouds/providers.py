"""The providers whose definitions are had from their modules: one entry for each.

Google's cannot be had from its module, so its kinds are held to a list of fields instead, without an API server.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from modelplane.render.clouds import aks as aks_cloud
from modelplane.render.clouds import eks as eks_cloud
from modelplane.render.provisioning import Served
from tests.conformance.tools import workshop
from tests.support import aks, eks, installation

Document = dict[str, Any]

_KIND = re.compile(r"^    kind: (\w+)$", re.MULTILINE)
_NAMES_END = 2000
"""The characters of a definition within which its kind stands."""


@dataclass(frozen=True, slots=True)
class Provider:
    """A provider: its definitions in the workshop, the kinds that are composed, and what a random site leads to."""

    definitions: str
    served: Callable[[], tuple[Served, ...]]
    resources: Callable[[random.Random], list[Document]]

    def documents(self) -> Iterator[Document]:
        """Yield the definitions of the kinds that are composed; the others are many megabytes that nobody needs."""
        kinds = {(one.api_version.partition("/")[0], one.kind) for one in self.served()}
        groups = {group for group, _ in kinds}
        for path in workshop.definitions(self.definitions):
            group = path.name.partition("_")[0]
            if (
                group in groups
                and (found := _KIND.search(path.read_text()[:_NAMES_END]))
                and (group, found[1]) in kinds
            ):
                yield from installation.documents(path)


def _of_eks(dice: random.Random) -> list[Document]:
    where, pools = eks.random_site(dice)
    return [dict(one.resource) for _, one in eks.everything(where, pools)]


def _of_aks(dice: random.Random) -> list[Document]:
    where, pools = aks.accepted_site(dice)
    return [dict(one.resource) for one in aks.everything(where, pools)]


PROVIDERS = {
    "AKS": Provider("provider-azure", aks_cloud.served, _of_aks),
    "EKS": Provider("provider-aws", eks_cloud.served, _of_eks),
}
