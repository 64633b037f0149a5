"""Prints what one change costs on a fleet at rest: calls of the function, bytes, processor time and changed objects.

The world is that of `modelplane render`: the functions of every kind, the way Crossplane calls them, and controllers
whose reports are assumed. A composite is called when something changed that it is, composes or asked for, as by the
watches of Crossplane v2.4; each request and each answer is made as protobuf. The fleets are those of
`tests.bench.files`.

`strangers` are ModelDeployments that were called without a replica on a cluster that the event touched, and that the
event was not about. `flat` compares with a tenth of the deployments on the same clusters. With --at-once every
deployment asks for the whole fleet in every call, as all did before they asked in two steps.
"""

from __future__ import annotations

import contextlib
import copy
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from crossplane.function.proto.v1 import run_function_pb2 as fnv1

from modelplane import names
from modelplane_cli.simulator import assumption, definitions, settle
from modelplane_cli.simulator.crossplane import Crossplane
from modelplane_cli.simulator.store import Key, Store
from modelplane_functions import responder, wire
from tests.bench import arguments, files, fleets
from tests.support import rendered, two_steps

Json = Any
NEW = 50
TENTH = 10


@dataclass
class Meter:
    """Counts the calls of the function and what they take. Units: seconds, bytes."""

    calls: Counter[str] = field(default_factory=Counter)
    called: set[tuple[str, str, str]] = field(default_factory=set)
    received: int = 0
    sent: int = 0
    seconds: float = 0.0

    def answer(self, request: fnv1.RunFunctionRequest) -> fnv1.RunFunctionResponse:
        """Return the function's answer to a request, which is counted."""
        about = wire.subject(request)
        self.calls[about.kind] += 1
        self.called.add((about.kind, about.namespace, about.name))
        self.received += request.ByteSize()
        started = time.process_time()
        response = responder.answer(request)
        self.seconds += time.process_time() - started
        self.sent += response.ByteSize()
        return response


class World:
    """A fleet at rest, to which something happens."""

    def __init__(self, clusters: int, deployments: int) -> None:
        self.meter = Meter()
        self.store = Store()
        for document in files.generated(clusters, deployments):
            self.put(document)
        self._crossplane = Crossplane(self.store, definitions.builtin(), self._answer)
        self._assume = assumption.Ready(frozenset())
        self.rest()

    def _answer(self, request: fnv1.RunFunctionRequest) -> fnv1.RunFunctionResponse:
        return self.meter.answer(request)

    def put(self, document: Json) -> None:
        """Write an object as its author does."""
        self.store.put(dict(rendered.stored(document)))

    def edit(self, key: Key, change: Callable[[Json], None]) -> None:
        """Change an object as its author does."""
        edited = copy.deepcopy(self.store.get(key))
        assert edited is not None, key
        change(edited)
        self.store.put(edited)

    def rest(self) -> None:
        """Let everything happen that follows from what did."""
        ended = settle.settle(self.store, self._crossplane, self._assume)
        assert not ended.record.bugs, list(ended.record.bugs)[:3]

    def of_kind(self, kind: str) -> list[Key]:
        """Return the objects of one of our kinds."""
        return sorted(self.store.of_kind(names.GROUP, kind))

    def standing(self) -> dict[str, set[str]]:
        """Return the clusters of each deployment that has replicas, by `namespace/name`."""
        found: dict[str, set[str]] = {}
        for key in self.of_kind("ModelReplica"):
            spec = (self.store.get(key) or {})["spec"]
            found.setdefault(f"{key.namespace}/{spec['deploymentRef']['name']}", set()).add(spec["clusterName"])
        return found

    def settled(self, replicas: int) -> Key:
        """Return a deployment of so many replicas, all of which are placed."""
        for key in self.of_kind("ModelDeployment"):
            one = self.store.get(key) or {}
            if one["spec"]["replicas"] == replicas and one["status"]["replicas"] == replicas:
                return key
        raise AssertionError(f"no deployment has {replicas} replicas")


@dataclass(frozen=True)
class Cost:
    """What followed from one event."""

    meter: Meter
    deployments: int
    strangers: int
    changed: int


Event = Callable[[World], set[str]]
"""Something that happens. It returns the deployments (`namespace/name`) that it is about, or that stand on it."""


def _scale(world: World) -> set[str]:
    key = world.settled(1)
    world.edit(key, lambda one: one["spec"].update(replicas=2))
    return {f"{key.namespace}/{key.name}"}


def _scale_back(world: World) -> set[str]:
    key = world.settled(2)
    world.edit(key, lambda one: one["spec"].update(replicas=1))
    return {f"{key.namespace}/{key.name}"}


def _edit_template(world: World) -> set[str]:
    key = world.settled(1)

    def change(one: Json) -> None:
        one["spec"]["workers"]["template"]["spec"]["containers"][0]["image"] = "vllm/vllm-openai:v0.24.0"

    world.edit(key, change)
    return {f"{key.namespace}/{key.name}"}


def _describe_class(world: World) -> set[str]:
    standing = world.standing()
    classes = {
        key.name: {pool["className"] for pool in (world.store.get(key) or {})["spec"]["nodePools"]}
        for key in world.of_kind("InferenceCluster")
    }
    used = Counter(name for clusters in standing.values() for one in clusters for name in classes[one])
    chosen = used.most_common(1)[0][0]
    key = next(key for key in world.of_kind("InferenceClass") if key.name == chosen)
    world.edit(key, lambda one: one["spec"].update(description="as of today"))
    return {name for name, clusters in standing.items() if any(chosen in classes[one] for one in clusters)}


def _add_cluster(world: World) -> set[str]:
    first = world.of_kind("InferenceCluster")[0]
    one = copy.deepcopy(world.store.get(first)) or {}
    metadata = {"name": "cluster-new", "labels": one["metadata"].get("labels", {})}
    spec = {key: value for key, value in one["spec"].items() if key != "crossplane"}
    world.put({"apiVersion": one["apiVersion"], "kind": one["kind"], "metadata": metadata, "spec": spec})
    return set()


def _fullest(world: World) -> Key:
    used = Counter(cluster for clusters in world.standing().values() for cluster in clusters)
    return next(key for key in world.of_kind("InferenceCluster") if key.name == used.most_common(1)[0][0])


def _drain(world: World) -> set[str]:
    taint = {"key": "drain", "value": "true", "effect": "NoExecute"}
    world.edit(_fullest(world), lambda one: one["spec"].update(taints=[taint]))
    return set()


def _lose(world: World) -> set[str]:
    world.store.remove(_fullest(world))
    return set()


def _arrive(world: World) -> set[str]:
    draw, before = fleets.Draw(7), len(world.of_kind("ModelDeployment"))
    made = [files.deployment(before + number, draw) for number in range(NEW)]
    for one in made:
        world.put(one)
    return {f"{one['metadata']['namespace']}/{one['metadata']['name']}" for one in made}


EVENTS: dict[str, Event] = {
    "one replica more": _scale,
    "one replica less": _scale_back,
    "an edited template": _edit_template,
    "a class is described anew": _describe_class,
    "one cluster more": _add_cluster,
    "a cluster is drained": _drain,
    "a cluster is lost": _lose,
    f"{NEW} new deployments": _arrive,
}


def cost(world: World, event: Event) -> Cost:
    """Return what follows from an event, once everything is at rest again."""
    meter = world.meter = Meter()
    before, versions = world.standing(), {key: world.store.version(key) for key in world.store}
    about = event(world)
    world.rest()
    after = world.standing()
    changed = {key for key in world.store if world.store.version(key) != versions.get(key)} | versions.keys() - set(
        world.store
    )
    touched = {key.name for key in changed if key.kind == "InferenceCluster"}
    called = {f"{space}/{name}" for kind, space, name in meter.called if kind == "ModelDeployment"}
    strangers = {one for one in called - about if not (before.get(one, set()) | after.get(one, set())) & touched}
    return Cost(meter, len(called), len(strangers), len(changed))


def main(given: Sequence[str] | None = None) -> int:
    """Print the table, called with `given` or as it is; return 0."""
    made = arguments.parser("fleet", __doc__, example="60 --deployments 300")
    arguments.add_sizes(made, default=[60])
    made.add_argument("--deployments", type=arguments.positive, default=300, help="how many (%(default)s)")
    made.add_argument("--at-once", action="store_true", help="let every deployment ask for the whole fleet")
    options = made.parse_args(given)
    with two_steps.at_once() if options.at_once else contextlib.nullcontext():
        for clusters in options.sizes:
            _table(clusters, options.deployments)
    return 0


def _table(clusters: int, deployments: int) -> None:
    few, many = (World(clusters, count) for count in (max(1, deployments // TENTH), deployments))
    placed = sum(len(one) for one in many.standing().values())
    print(
        f"{clusters} clusters, {deployments} deployments, {len(many.of_kind('ModelReplica'))} replicas ({placed} pairs)"
    )
    heads = ("calls", "MD", "MR", "IC", "others", "deployments", "strangers", "changed", "MB in", "CPU ms", "flat")
    print(f"{'event':<28}" + "".join(f"{head:>12}" for head in heads))
    for name, event in EVENTS.items():
        less, found = cost(few, event), cost(many, event)
        calls = found.meter.calls
        kinds = [calls[kind] for kind in ("ModelDeployment", "ModelReplica", "InferenceCluster")]
        cells = (
            calls.total(),
            *kinds,
            calls.total() - sum(kinds),
            found.deployments,
            found.strangers,
            found.changed,
            f"{found.meter.received / 1e6:.2f}",
            f"{found.meter.seconds * 1000:.0f}",
            f"{found.meter.seconds / less.meter.seconds:.2f}" if less.meter.seconds else "",
        )
        print(f"{name:<28}" + "".join(f"{cell:>12}" for cell in cells))


if __name__ == "__main__":
    raise SystemExit(main())
