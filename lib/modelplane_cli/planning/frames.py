"""The fleet at one moment as a report shows it: plan, pools with what stands on their nodes, services, complaints.

Nothing is decided or counted here. The plan is that of `plan`, the pools and prices are those of `free` and `top`, the
nodes are those that each cluster recorded when it admitted a replica.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from modelplane import names
from modelplane.api import admissions, inference_cluster
from modelplane.api.fields import Field
from modelplane.placement.snapshot import Accounting, Cluster, Pool
from modelplane_cli.planning import capacity, causes, inspection, inspection_json, plan, price, situation, usage
from modelplane_cli.planning.capacity import PoolUse
from modelplane_cli.planning.inspection import Backend, ServiceState
from modelplane_cli.planning.plan import Plan
from modelplane_cli.planning.rehearsal import Act
from modelplane_cli.planning.replicas import Deployment, Observer
from modelplane_cli.planning.routes import SERVICE
from modelplane_cli.planning.simulation import Step
from modelplane_cli.planning.situation import Situation
from modelplane_cli.planning.usage import Top, Whose
from modelplane_cli.simulator.offline import World
from modelplane_cli.simulator.store import Key, Store
from modelplane_cli.simulator.verdict import Failure

Json: TypeAlias = Any
_DIGITS = 6


@dataclass(frozen=True, slots=True)
class Held:
    """Pods of one role of a replica on one node. `node` is the ledger's own number, None where it is not recorded.

    `devices` are those of all these pods together. `parts` names the kinds of which they hold parts.
    """

    replica: str
    role: str
    node: int | None
    pods: int
    devices: tuple[tuple[str, int], ...]
    parts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PoolPicture:
    """A pool with what stands on its nodes. `use` is None where the cluster does not declare the pool any more.

    `main` is the kind of device that the summary of a cluster counts, empty where the class is not known.
    """

    name: str
    use: PoolUse | None
    main: str
    shared: frozenset[str]
    held: tuple[Held, ...]


@dataclass(frozen=True, slots=True)
class ClusterPicture:
    """A cluster with its pools, and the conditions of it that are not as wanted."""

    cluster: Cluster
    pools: tuple[PoolPicture, ...]
    causes: tuple[Failure, ...]


@dataclass(frozen=True, slots=True)
class Frame:
    """A fleet at one moment, after an `event` (empty for the beginning). The plan compares it with the frame before."""

    event: str
    plan: Plan
    clusters: tuple[ClusterPicture, ...]
    top: Top
    services: tuple[ServiceState, ...]
    situation: Situation
    labels: Mapping[Deployment, Mapping[str, str]]
    step: Step | None = None

    @property
    def fits(self) -> bool:
        """Return whether everything desired is placed and nothing was interrupted by a decision."""
        return self.plan.fits if self.step is None else self.step.fits


def standing(world: World) -> Act:
    """Return the act in which nothing happens, for a world that is looked at as it was written."""
    return Act((Observer(world.store).replicas(frozenset()),), world)


def of(act: Act, made: Plan, event: str = "", step: Step | None = None) -> Frame:
    """Return the frame of the world that an act ended in. It holds no reference to that world, which goes on."""
    store = act.world.store
    services = store.of_kind(names.GROUP, SERVICE)
    return Frame(
        event=event,
        plan=made,
        clusters=tuple(_clusters(act.world)),
        top=usage.top(store, Whose.DEPLOYMENT),
        services=tuple(state for key in services if isinstance(state := inspection.of(act.world, key), ServiceState)),
        situation=situation.of(act.world, None),
        labels={one: _labels(store, one.key) for one in plan.deployments(store)},
        step=step,
    )


def _labels(store: Store, key: Key) -> Mapping[str, str]:
    found = ((store.get(key) or {}).get("metadata") or {}).get("labels") or {}
    return {str(name): str(value) for name, value in sorted(found.items())}


def _clusters(world: World) -> Iterator[ClusterPicture]:
    for cluster, uses in capacity.by_cluster(world.store):
        key = Key(names.GROUP, inference_cluster.KIND, "", cluster.name)
        status = Field((world.store.get(key) or {}).get("status") or {})
        found: dict[str, list[Held]] = {}
        for replica, record in sorted(admissions.decode(status).items()):
            for pool, held in _held(replica, record):
                found.setdefault(pool, []).append(held)
        declared = {pool.name: pool for pool in cluster.pools}
        pools = [_pool(declared[use.pool], use, found.pop(use.pool, ())) for use in uses]
        pools += [PoolPicture(name, None, "", frozenset(), tuple(held)) for name, held in sorted(found.items())]
        yield ClusterPicture(cluster, tuple(pools), causes.of(world, key))


def _pool(pool: Pool, use: PoolUse, held: Sequence[Held]) -> PoolPicture:
    devices = pool.node_class.devices if pool.node_class is not None else ()
    main = inference_cluster.accelerator(pool.node_class) if pool.node_class is not None else None
    shared = frozenset(device.name for device in devices if device.is_shared)
    return PoolPicture(pool.name, use, main or "", shared, tuple(held))


def _held(replica: str, record: admissions.Record) -> Iterator[tuple[str, Held]]:
    nodes = record.nodes if len(record.nodes) == len(record.held) else ((),) * len(record.held)
    for holding, places in zip(record.held, nodes, strict=True):
        counted = Counter(places) if len(places) == holding.pods else Counter({-1: holding.pods})
        parts = tuple(sorted({name.partition("/")[0] for name, _ in holding.shape.consumed}))
        for node, pods in sorted(counted.items()):
            devices = tuple((name, count * pods) for name, count in holding.shape.devices)
            known = node if node >= 0 else None
            yield holding.pool, Held(replica, str(holding.role), known, pods, devices, parts)


# --- as JSON ----------------------------------------------------------------------------------------------------------


def encode(frame: Frame) -> dict[str, Json]:
    """Return the frame as JSON. Its keys are a promise: some may be added, none changed."""
    step = frame.step
    return {
        "event": frame.event,
        "fits": frame.fits,
        "plan": plan.encode(frame.plan),
        "clusters": [_encode_cluster(one) for one in frame.clusters],
        "holders": usage.encode_top(frame.top, Whose.DEPLOYMENT)["rows"],
        "services": [_encode_service(one) for one in frame.services],
        "complaints": situation.encode(frame.situation)["complaints"],
        "labels": [
            {"namespace": one.namespace, "name": one.name, "labels": dict(labels)}
            for one, labels in frame.labels.items()
            if labels
        ],
        "stages": [] if step is None else [list(stage) for stage in step.stages],
    }


def encode_all(found: Sequence[Frame], *, is_rehearsed: bool, is_comparison: bool = False) -> dict[str, Json]:
    """Return the answer of `report`."""
    return {
        "rehearsed": is_rehearsed,
        "comparison": is_comparison,
        "frames": [encode(one) for one in found],
    }


def _encode_cluster(one: ClusterPicture) -> dict[str, Json]:
    cluster = one.cluster
    return {
        "name": cluster.name,
        "region": cluster.labels.get(names.LABEL_REGION, ""),
        "labels": dict(sorted(cluster.labels.items())),
        "taints": [f"{taint}:{taint.effect}" for taint in cluster.taints],
        "wholeNodes": cluster.accounting is Accounting.NODE,
        "causes": [inspection_json.encode_cause(cause) for cause in one.causes],
        "pools": [_encode_pool(pool) for pool in one.pools],
    }


def _encode_pool(one: PoolPicture) -> dict[str, Json]:
    use = one.use
    per_hour = None if use is None else price.of([use]).get(use.currency)
    return {
        "name": one.name,
        "declared": use is not None,
        "main": one.main or None,
        "devicesPerNode": {} if use is None else {name: device.per_node for name, device in use.devices.items()},
        "shared": sorted(one.shared),
        "cost": None
        if use is None or use.cost_per_node_hour is None or per_hour is None
        else {
            "currency": use.currency,
            "perNodeHour": str(use.cost_per_node_hour),
            "perHour": str(per_hour[0]),
            "perHourAllNodes": str(per_hour[1]),
        },
        "held": [_encode_held(held) for held in one.held],
    }


def _encode_held(one: Held) -> dict[str, Json]:
    return {
        "replica": one.replica,
        "role": one.role,
        "node": one.node,
        "pods": one.pods,
        "devices": dict(one.devices),
        "parts": list(one.parts),
    }


def _encode_service(one: ServiceState) -> dict[str, Json]:
    return {
        "namespace": one.key.namespace,
        "name": one.key.name,
        "message": one.message,
        "ready": one.is_as_wanted,
        "endpoints": [_encode_endpoint(backend) for backend in one.backends],
    }


def _encode_endpoint(one: Backend) -> dict[str, Json]:
    return {
        "name": one.name,
        "replica": one.replica or None,
        "cluster": one.cluster or None,
        "ready": one.is_ready,
        "share": round(float(one.share), _DIGITS),
    }
