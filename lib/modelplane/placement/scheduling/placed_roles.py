"""The roles of a replica as a plan has them: pool, pods, nodes and devices."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from modelplane.placement.capacity import dimensions
from modelplane.placement.decision import DeviceAssignment, PlacedRole
from modelplane.placement.packing import load
from modelplane.placement.scheduling.assignment import RoleAssignment
from modelplane.placement.snapshot import Accounting, Cluster, Holding, PodShape


class PlacedRoles:
    """The placed roles of replicas on the clusters of one call; the nodes of equal pods are counted once."""

    def __init__(self, clusters: Mapping[str, Cluster]) -> None:
        self._clusters = clusters
        self._fewest: dict[tuple[int, Accounting, PodShape, int, int], int] = {}

    def assigned(
        self, cluster: str, assigned: Iterable[RoleAssignment], holdings: Iterable[Holding]
    ) -> tuple[PlacedRole, ...]:
        """Return the roles of a new assignment, with the devices that it picks."""
        rows = zip(holdings, assigned, strict=True)
        return tuple([self._role(cluster, holding, _picks(one)) for holding, one in rows])

    def held(self, cluster: str, holdings: Iterable[Holding]) -> tuple[PlacedRole, ...]:
        """Return the roles of a replica that stands, whose devices stay as they are."""
        return tuple([self._role(cluster, holding, ()) for holding in holdings])

    def _role(self, cluster: str, holding: Holding, picks: tuple[DeviceAssignment, ...]) -> PlacedRole:
        return PlacedRole(
            role=holding.role,
            pool=holding.pool,
            pods=holding.pods,
            nodes=self._nodes(cluster, holding),
            nodes_per_worker=holding.nodes_per_worker,
            shape=holding.shape,
            devices=picks,
        )

    def _nodes(self, cluster: str, holding: Holding) -> int:
        """Return the fewest nodes the pods stand on; as many as there are pods when the class is not known."""
        found = self._clusters.get(cluster)
        pool = next((p for p in found.pools if p.name == holding.pool), None) if found else None
        if found is None or pool is None or pool.node_class is None:
            return holding.pods
        key = (id(pool.node_class), found.accounting, holding.shape, holding.pods, holding.nodes_per_worker)
        nodes = self._fewest.get(key)
        if nodes is None:
            what = dimensions.of(pool.node_class, found.accounting)
            item = load.gang(what.charge(holding.shape), holding.pods, holding.nodes_per_worker)
            nodes = self._fewest[key] = load.fewest_nodes(what.capacity, item)
        return nodes


def _picks(assigned: RoleAssignment) -> tuple[DeviceAssignment, ...]:
    return tuple(
        DeviceAssignment(pick.request, pick.device, pick.count, pick.alternative) for pick in assigned.option.picks
    )
