"""The state of a service, an endpoint, a cluster or a cache as people read it, with the command that says more."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from modelplane_cli.output import folding, route_text, table
from modelplane_cli.output.screen import PIPE, Mood, Screen
from modelplane_cli.planning import inspection
from modelplane_cli.planning.cache_state import CacheState, Copy
from modelplane_cli.planning.inspection import ClusterState, EndpointState, ServiceState, State, Tenant
from modelplane_cli.planning.routes import RouteRow
from modelplane_cli.simulator.verdict import Failure

_SHOWN = 50
_OBSERVED = (
    "NODES OF", "DECLARED", "OBSERVED", "READY", "CORDONED", "ALLOCATABLE", "GROWABLE",
    "DEVICE", "OBSERVED", "ALLOCATABLE",
)  # fmt: skip
_POOLS = ("POOL", "CLASS", "NODES USED", "DEVICE", "FREE", "USED", "TOTAL")


def text(state: State, screen: Screen = PIPE) -> str:
    """Return the answer, the causes of what is not as wanted, and the parts of the object as tables."""
    return "".join(f"{line}\n" for line in _lines(state, screen))


def causes(found: Iterable[Failure], screen: Screen, indent: str = "  ") -> Iterator[str]:
    """Yield the lines of causes, each with the time since it is so where that is known."""
    for cause in found:
        said = f": {cause.message}" if cause.message else ""
        since = f", since {cause.since}" if cause.since else ""
        told = f"{inspection.subject(cause.about)} {cause.condition} is {cause.status} ({cause.reason}){said}{since}"
        for line in folding.paragraph(told, screen.width, start=f"{indent}! ", indent=f"{indent}  "):
            yield screen.painted(line, Mood.BAD)


def _lines(state: State, screen: Screen) -> Iterator[str]:
    yield from folding.fitted(f"{state.key}: {state.message}", screen.width)
    if isinstance(state, ServiceState):
        yield from _service(state, screen)
    elif isinstance(state, EndpointState):
        yield from _endpoint(state, screen)
    elif isinstance(state, CacheState):
        yield from _cache(state, screen)
    else:
        yield from _cluster(state, screen)


def _service(state: ServiceState, screen: Screen) -> Iterator[str]:
    yield from causes(state.causes, screen)
    row = RouteRow(None, state.route)
    if state.route.url:
        yield f"  {state.route.url}"
    for rule in state.rules:
        yield from folding.paragraph(rule, screen.width, start="  - ", indent="    ")
    groups = list(route_text.cells(row))
    if groups:
        yield from table.lines(route_text.HEADINGS, groups, indent="  ", screen=screen, alarms=("0",))
    yield from _told({cause: None for one in state.backends for cause in one.causes}, screen)
    shown = state.backends[:_SHOWN]
    rows = [
        (
            one.name,
            one.cluster or "outside the fleet",
            "yes" if one.is_ready else "no",
            route_text.percent(one.share),
            _next(one.causes, state.key.namespace),
        )
        for one in shown
    ]
    if rows:
        headings = ("ENDPOINT", "CLUSTER", "READY", "SHARE", "EXPLAINED BY")
        yield from table.lines(headings, rows, indent="  ", screen=screen, alarms=("no",))
    if len(state.backends) > len(shown):
        yield f"  and {len(state.backends) - len(shown)} more; -o json has them all"


def _endpoint(state: EndpointState, screen: Screen) -> Iterator[str]:
    yield from _told(state.backend.causes, screen)
    if state.backend.replica:
        yield f"  of ModelReplica {state.key.namespace}/{state.backend.replica} on cluster {state.backend.cluster}"
    for name, share in state.services:
        yield f"  ModelService {state.key.namespace}/{name} sends it {route_text.percent(share)} of its requests"
    said = _next(state.backend.causes, state.key.namespace)
    if said:
        yield f"  explained by: {said}"


def _cluster(state: ClusterState, screen: Screen) -> Iterator[str]:
    yield from causes(state.causes, screen)
    if state.capacity and all(cause.message != state.capacity for cause in state.causes):
        yield from folding.fitted(f"  {state.capacity}", screen.width)
    if state.taints:
        yield from folding.fitted(f"  taints: {', '.join(state.taints)}", screen.width)
    rows = []
    for use in state.pools:
        nodes = f"{use.nodes} (+{use.growable})" if use.growable else str(use.nodes)
        pool = (use.pool, use.class_name, f"{use.nodes_used} of {nodes}")
        devices = [(name, str(one.free), str(one.used), str(one.total)) for name, one in sorted(use.devices.items())]
        for position, counts in enumerate(devices or [("-", "-", "-", "-")]):
            rows.append((*(pool if position == 0 else ("", "", "")), *counts))
    if rows:
        yield from table.lines(_POOLS, rows, indent="  ", screen=screen)
    yield from _observed(state, screen)
    shown = state.tenants[:_SHOWN]
    if shown:
        cells = [(f"{one.namespace}/{one.name}", one.admission, *_said(one)) for one in shown]
        headings = ("REPLICA", "ADMISSION", "REASON", "MESSAGE")
        yield from table.lines(headings, cells, indent="  ", screen=screen, alarms=("Refused",))
    if len(state.tenants) > len(shown):
        yield f"  and {len(state.tenants) - len(shown)} more; -o json has them all"


def _cache(state: CacheState, screen: Screen) -> Iterator[str]:
    yield from causes(state.causes, screen)
    if state.source:
        yield from folding.fitted(f"  {state.source}", screen.width)
    if state.users:
        yield from folding.fitted(f"  used by: {', '.join(f'md/{name}' for name in state.users)}", screen.width)
    yield from _told({cause: None for one in state.copies for cause in one.causes}, screen)
    shown = state.copies[:_SHOWN]
    if shown:
        rows = [
            (one.cluster, one.phase, one.claim, _of_copy(one), _next(one.causes, state.key.namespace)) for one in shown
        ]
        headings = ("CLUSTER", "PHASE", "CLAIM", "MESSAGE", "EXPLAINED BY")
        yield from table.lines(headings, rows, indent="  ", screen=screen, alarms=("Failed",))
    if len(state.copies) > len(shown):
        yield f"  and {len(state.copies) - len(shown)} more; -o json has them all"


def _of_copy(one: Copy) -> str:
    said = ": ".join(filter(None, (one.reason, one.message)))
    return said if one.is_current else f"{said or one.phase} (of an earlier source)"


def _observed(state: ClusterState, screen: Screen) -> Iterator[str]:
    """Yield what is observed of nodes and devices, and what the queue leaves: numbers that are not added."""
    rows = []
    for pool in state.observed:
        growable = "-" if pool.growable is None else str(pool.growable)
        numbers = (pool.declared, pool.observed, pool.ready, pool.cordoned, pool.allocatable)
        nodes = (pool.pool, *map(str, numbers), growable)
        devices = [(one.name, str(one.observed), str(one.allocatable)) for one in pool.devices]
        for position, counts in enumerate(devices or [("-", "-", "-")]):
            rows.append((*(nodes if position == 0 else ("",) * len(nodes)), *counts))
    if rows:
        yield from table.lines(_OBSERVED, rows, indent="  ", screen=screen)
    if state.queue is not None:
        one = state.queue
        limit = "has no limit" if one.limit is None else f"allows {one.limit} devices, {one.left} are left of it"
        told = f"  queue {one.name} {limit}; {one.held} are held here. It is a bound and no free device"
        yield from folding.fitted(told, screen.width)


def _said(one: Tenant) -> tuple[str, str]:
    if one.reason or one.message:
        return one.reason, one.message
    return ("", "") if one.cause is None else (one.cause.reason, one.cause.message)


def _told(found: Iterable[Failure], screen: Screen) -> Iterator[str]:
    every = list(found)
    yield from causes(every[:_SHOWN], screen)
    if len(every) > _SHOWN:
        yield f"  and {len(every) - _SHOWN} more; -o json has them all"


def _next(found: Iterable[Failure], namespace: str) -> str:
    """Return the arguments with which `modelplane explain` says more of the deepest cause, empty without one."""
    deepest = next((cause.about for cause in found if cause.about.kind in inspection.SHORT), None)
    if deepest is None:
        return ""
    return f"{inspection.subject(deepest)} -n {namespace}" if deepest.namespace else inspection.subject(deepest)
