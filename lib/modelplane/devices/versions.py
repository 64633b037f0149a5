"""The parts of the grammar of device requests that a version of Kubernetes lacks.

Source: the feature gates of kube-scheduler and kube-apiserver, 1.34 to 1.37. A feature that is off by default is
absent. Modes and alternatives need no more than 1.34, because an alternative is rendered as the chosen request.
"""

from __future__ import annotations

from collections.abc import Iterator

from modelplane.devices import selector
from modelplane.devices.model import Constraint, NodeClass, Relation, Request
from modelplane.errors import InvalidSelector

OLDEST = 34
"""The first minor version with resource.k8s.io/v1."""
SHARING = PARTS = _TAINTS = 36
LISTS = 36
"""The first minor version with list-typed attributes, behind the feature gate."""
LISTS_GATE = "DRAListTypeAttributes"


def lacking(request: Request, node_class: NodeClass) -> str:
    """Return the part of the request that a node's cluster lacks, with the version or the feature gate that has it.

    The text is empty if the cluster has every part.
    """
    return _told(_of(request), node_class.kubernetes_minor) or _untold(request, node_class)


def lacking_of_all(constraints: tuple[Constraint, ...], minor: int) -> str:
    """Return the part of the constraints that a version lacks, as `lacking` does."""
    wanted = ((SHARING, "distinctAttribute") for one in constraints if one.relation is Relation.DISTINCT)
    return _told(wanted, minor)


def _told(needs: Iterator[tuple[int, str]], minor: int) -> str:
    for first, feature in needs:
        if first > minor:
            return f"{feature} needs Kubernetes 1.{first}, and the cluster runs 1.{minor}"
    return ""


def _untold(request: Request, node_class: NodeClass) -> str:
    """Return why the API server of a cluster would refuse a selector that others take, empty if it would not."""
    for text in request.selectors:
        if not node_class.lists_are_on:
            if selector.written(text).profile.list_attributes:
                return f"a selector over lists needs the feature gate {LISTS_GATE} of Kubernetes 1.{LISTS}: {text}"
            continue
        try:
            selector.compile(text, selector.V1_36_LISTS)
        except InvalidSelector as error:
            return f"with the feature gate {LISTS_GATE} {error.message}"
    return ""


def _of(request: Request) -> Iterator[tuple[int, str]]:
    if request.tolerations:
        yield _TAINTS, "a toleration of device taints"
    if request.capacity:
        yield SHARING, "a capacity request"
