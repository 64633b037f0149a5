"""The parts of the grammar of device requests that a version of Kubernetes lacks.

Source: the feature gates of kube-scheduler and kube-apiserver, 1.34 to 1.37. A feature that is off by default is
absent. Modes and alternatives need no more than 1.34, because an alternative is rendered as the chosen request.
"""

from __future__ import annotations

from collections.abc import Iterator

from modelplane.devices.model import Constraint, Relation, Request

OLDEST = 34
"""The first minor version with resource.k8s.io/v1."""
_SHARING = _TAINTS = 36


def lacking(request: Request, minor: int) -> str:
    """Return the part of the request that a version lacks, with the version that has it; empty if it has every part."""
    return _told(_of(request), minor)


def lacking_of_all(constraints: tuple[Constraint, ...], minor: int) -> str:
    """Return the part of the constraints that a version lacks, as `lacking` does."""
    wanted = ((_SHARING, "distinctAttribute") for one in constraints if one.relation is Relation.DISTINCT)
    return _told(wanted, minor)


def _told(needs: Iterator[tuple[int, str]], minor: int) -> str:
    for first, feature in needs:
        if first > minor:
            return f"{feature} needs Kubernetes 1.{first}, and the cluster runs 1.{minor}"
    return ""


def _of(request: Request) -> Iterator[tuple[int, str]]:
    if request.tolerations:
        yield _TAINTS, "a toleration of device taints"
    if request.capacity:
        yield _SHARING, "a capacity request"
