"""Cases of the whole grammar of device requests: what the clusters of a random fleet admit, as it is rendered."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings

from modelplane import names
from modelplane.api import inference_cluster
from modelplane.devices.model import Claim, Mode, Relation
from modelplane.placement import binding
from modelplane.placement.decision import DeviceAssignment, PlacedReplica, PlacedRole, State
from modelplane.placement.snapshot import Cluster, Pool
from modelplane.render.backends import selection
from modelplane.topology.shape import Topology
from modelplane.workload.model import EngineType, Model, RoleSpec, Workload
from tests.conformance.scheduler import fleets, hardware, judge
from tests.support import device_questions, grammar_fleets, published
from tests.support.grammar_fleets import Drawn, Standing, World

Document = dict[str, Any]

STEPS = 16
PARTS, SHARES = "parts of devices", "shared devices"
MINOR = 36
TEMPLATE = {"spec": {"containers": [{"name": "engine", "image": "vllm/vllm-openai:v0.23.0"}]}}


def device_classes() -> Iterator[Document]:
    """Yield the DeviceClasses of all cases."""
    for name in device_questions.CLASSES:
        expression = f'{device_questions.MARK} == "{name}"'
        yield {
            "apiVersion": "resource.k8s.io/v1",
            "kind": "DeviceClass",
            "metadata": {"name": name},
            "spec": {"selectors": [{"cel": {"expression": expression}}]},
        }


def drawn(number: int, start: int, *, newest: bool) -> list[Drawn]:
    """Return random fleets, the same for the same numbers."""
    found: list[Drawn] = []

    @seed(start)
    @settings(
        max_examples=number,
        phases=[Phase.generate],
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(grammar_fleets.fleets((MINOR,), newest=newest))
    def collect(one: Drawn) -> None:
        found.append(one)

    collect()
    return found


@dataclass
class Case(judge.Case):
    """A case in rounds. `words` says for each round what the pods of a role of a replica use of the grammar."""

    words: list[dict[str, frozenset[str]]] = field(default_factory=list)

    def pods_in(self, at: int) -> Iterator[tuple[frozenset[str], bool]]:
        """Yield what each pod that comes in a round uses, and whether it has a node."""
        for name, is_bound in self.rounds[at].bound.items():
            yield self.words[at][name.rsplit("-", 2)[0]], is_bound


def case(number: int, fleet: Drawn) -> Case:
    """Return a case in two rounds: what stands after some steps, and what stands after as many more."""
    world = World(fleet.clusters, fleet.wanted, random.Random(number))  # noqa: S311  chance, not secrecy
    made = Case(number, [], machines=[one for each in fleet.clusters for one in _machines(number, each, fleet)])
    stood: list[Document] = []
    for _ in range(2):
        for _ in range(STEPS):
            world.step(fleet.edits)
        world.propose_all()
        for name in world.base:
            world.admit(name)
        stands = [one for name in world.base for one in _rendered(number, world, name)]
        made.rounds.append(
            judge.Round([one for one in stood if one not in stands], [one for one in stands if one not in stood])
        )
        made.words.append(dict(pair for name in world.base for pair in _words(world, name, fleet)))
        stood = stands
    return made


def _words(world: World, name: str, fleet: Drawn) -> Iterator[tuple[str, frozenset[str]]]:
    behind = {pool.name: fleet.published[pool.class_name] for pool in world.base[name].pools}
    for one in world.admitted(name):
        for held in one.replica.holdings:
            words = {*_asked(one.wanted.part(held.role)), *_there(behind[held.pool])}
            if len(one.wanted.parts) > 1:
                words.add("two roles")
            yield f"{one.name}-{held.role}", frozenset(words)


def _asked(part: grammar_fleets.Part) -> Iterator[str]:
    each = [one for request in part.requests for one in request.each()]
    relations = {one.relation for one in part.constraints}
    found = {
        "firstAvailable": any(one.alternatives for one in part.requests),
        "mode All": any(one.mode is Mode.ALL for one in each),
        "tolerations": any(one.tolerations for one in each),
        "capacity requests": any(one.capacity for one in each),
        "distinctAttribute": Relation.DISTINCT in relations,
        "matchAttribute": Relation.MATCH in relations,
        "sizes 3, 5, 6": any(one.count in (3, 5, 6) for one in each),
        "gangs": part.span > 1,
    }
    yield from (word for word, holds in found.items() if holds)


def _there(behind: grammar_fleets.Published) -> Iterator[str]:
    kinds = behind.node_class.devices
    found = {
        PARTS: any(one.draws for one in kinds),
        SHARES: any(one.is_shared for one in kinds),
        "tainted devices": any(one.taints for one in kinds),
        "lists": any(one.has_lists for one in kinds),
        "DeviceTaintRules": bool(behind.rules),
    }
    yield from (word for word, holds in found.items() if holds)


def _machines(number: int, cluster: Cluster, fleet: Drawn) -> Iterator[Document]:
    where = judge.where(number, cluster.name)
    for pool in cluster.pools:
        behind = fleet.published[pool.class_name]
        for at in range(pool.nodes.usable):
            name = f"{where}-{pool.name}-{at}"
            labels = {names.LABEL_POOL: pool.name, hardware.CLUSTER_LABEL: where, "kubernetes.io/hostname": name}
            yield hardware.node(name, labels, {"devices": []})
            yield from published.slices(behind.node_class, name)
            for each, (driver, taint) in enumerate(behind.rules):
                yield {
                    "apiVersion": "resource.k8s.io/v1beta2",
                    "kind": "DeviceTaintRule",
                    "metadata": {"name": f"{name}-{each}"},
                    # A rule is of the whole API server; the slices of a node are a pool of its name.
                    "spec": {
                        "deviceSelector": {"pool": name, **({"driver": driver} if driver else {})},
                        "taint": published.taint(taint),
                    },
                }


def _rendered(number: int, world: World, name: str) -> Iterator[Document]:
    cluster = world.base[name]
    pools = {pool.name: pool for pool in cluster.pools}
    facts = inference_cluster.decode_facts(
        fleets.cluster(name, *({"name": one, "className": one, "nodeCount": 1} for one in pools))
    )
    classes = {pool.name: pool.node_class for pool in cluster.pools if pool.node_class is not None}
    for one in world.admitted(name):
        placed = PlacedReplica(one.name, name, "KServe", State.NEW, tuple(_roles(one, pools)))
        replica = binding.bind(_workload(number, one), placed, classes, priority=0)
        for manifest in selection.backend("KServe").render(replica, facts):
            yield {**manifest.resource, "where": judge.where(number, name)}


def _workload(number: int, one: Standing) -> Workload:
    roles = []
    for role, part in zip(grammar_fleets.ROLES, one.wanted.parts, strict=False):
        topology = Topology(1, part.span, 1, 1, expert=False)
        roles.append(RoleSpec(role, part.pods, topology, part.requests, part.constraints, TEMPLATE))
    model = Model("model", "hf://Qwen/Qwen3-8B")
    return Workload(f"s{number}", f"d{one.deployment}", model, EngineType.VLLM, tuple(roles))


def _roles(one: Standing, pools: dict[str, Pool]) -> Iterator[PlacedRole]:
    for held in one.replica.holdings:
        node_class = pools[held.pool].node_class
        assert node_class is not None
        option = grammar_fleets.option_of(held, one.wanted, node_class)
        assert all(kind.claim is Claim.DRA for kind in node_class.devices)
        picks = tuple(
            DeviceAssignment(pick.request, pick.device, pick.count, pick.alternative) for pick in option.picks
        )
        yield PlacedRole(held.role, held.pool, held.pods, 1, held.nodes_per_worker, held.shape, picks)
