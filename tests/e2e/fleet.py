"""What one change costs on a fleet on real Crossplane: function calls, API writes and processor time by event.

There are no workload clusters: what provider-kubernetes would report of them is what `modelplane render` assumes. The
fleet is that of `python -m tests.bench.files`, so its clusters and deployments may be as many as the machine bears.
"""

from __future__ import annotations

import copy
import shutil
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.bench import files, fleets
from tests.conformance.tools import workshop
from tests.e2e import steady
from tests.e2e.machine import Say
from tests.support import functionserver, kubeapi, livefleet
from tests.support.livefleet import Calls, LiveFleet

Json = Any
FOLDER = workshop.CACHE / "e2e-fleet"
PLACED_SECONDS = 1800
QUIET_SECONDS = 10
AT_ONCE = (functionserver.PRODUCTION[0], "-m", "tests.support.at_once_server")


@dataclass(frozen=True)
class Cost:
    """What followed from an event. Units: seconds of the processor, by process."""

    calls: Calls
    writes: int
    seconds: dict[str, float]


def measure(clusters: int, deployments: int, say: Say, *, at_once: bool = False) -> dict[str, Cost]:
    """Say and return what each event costs."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    command = AT_ONCE if at_once else functionserver.PRODUCTION
    with livefleet.running(FOLDER, command=command) as fleet:
        say("Crossplane serves our kinds")
        _fill(fleet, clusters, deployments)
        say(f"{clusters} clusters, {deployments} deployments, {len(fleet.all_of('ModelReplica'))} replicas are at rest")
        heads = ("calls", "MD", "MR", "IC", "others", "writes", "function s", "core s", "server s")
        say(f"{'event':<28}" + "".join(f"{head:>12}" for head in heads))
        found = {}
        for name, event in EVENTS.items():
            found[name] = _cost(fleet, event)
            say(_row(name, found[name]))
        return found


def _fill(fleet: LiveFleet, clusters: int, deployments: int) -> None:
    made = files.generated(clusters, deployments)
    for namespace in files.NAMESPACES:
        fleet.apply([{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}}])
    fleet.apply([_written(one) for one in made if one["kind"] != "ModelDeployment"])
    fleet.rest(seconds=PLACED_SECONDS)
    fleet.apply([_written(one) for one in made if one["kind"] == "ModelDeployment"])
    kubeapi.until(lambda: _all_serve(fleet), seconds=PLACED_SECONDS, what="every replica to serve", every=5)
    fleet.rest(seconds=PLACED_SECONDS)


def _all_serve(fleet: LiveFleet) -> bool:
    """Return whether every deployment has its replicas, unless it must wait, and all of them serve."""
    statuses = [one.get("status", {}) for one in fleet.all_of("ModelDeployment")]
    return all("replicas" in one and one["replicas"] == one["readyReplicas"] for one in statuses)


def _written(one: Json) -> Json:
    """Return a document without what a server says."""
    metadata = {key: one["metadata"][key] for key in ("name", "namespace", "labels") if key in one["metadata"]}
    return {**one, "metadata": metadata}


# --- events -----------------------------------------------------------------------------------------------------------


def _of_one_replica(fleet: LiveFleet) -> Json:
    """Return a deployment of one replica, which serves or at least has its place."""
    return next(
        one
        for one in fleet.all_of("ModelDeployment")
        if one["spec"]["replicas"] == one.get("status", {}).get("replicas") == 1
    )


def _more(fleet: LiveFleet) -> None:
    fleet.merge(_of_one_replica(fleet), {"spec": {"replicas": 2}})


def _edit(fleet: LiveFleet) -> None:
    one = _of_one_replica(fleet)
    template = copy.deepcopy(one["spec"]["workers"]["template"])
    template["spec"]["containers"][0]["image"] = "vllm/vllm-openai:v0.24.0"
    fleet.merge(one, {"spec": {"workers": {"template": template}}})


def _describe(fleet: LiveFleet) -> None:
    standing = {one["spec"]["clusterName"] for one in fleet.all_of("ModelReplica")}
    clusters = (one for one in fleet.all_of("InferenceCluster") if one["metadata"]["name"] in standing)
    used = Counter(pool["className"] for one in clusters for pool in one["spec"]["nodePools"])
    name = used.most_common(1)[0][0]
    one = next(one for one in fleet.all_of("InferenceClass") if one["metadata"]["name"] == name)
    fleet.merge(one, {"spec": {"description": "as of today"}})


def _add(fleet: LiveFleet) -> None:
    made = _written(files.generated(1, 0, seed=7)[0])
    fleet.apply([{**made, "metadata": {**made["metadata"], "name": "cluster-new"}}])


def _drain(fleet: LiveFleet) -> None:
    used = Counter(one["spec"]["clusterName"] for one in fleet.all_of("ModelReplica"))
    name = used.most_common(1)[0][0]
    one = next(one for one in fleet.all_of("InferenceCluster") if one["metadata"]["name"] == name)
    fleet.merge(one, {"spec": {"taints": [{"key": "drain", "value": "true", "effect": "NoExecute"}]}})


def _arrive(fleet: LiveFleet) -> None:
    draw = fleets.Draw(7)
    count = len(fleet.all_of("ModelDeployment"))
    fleet.apply([files.deployment(count + number, draw) for number in range(NEW)])


NEW = 10
EVENTS: dict[str, Callable[[LiveFleet], None]] = {
    "one replica more": _more,
    "an edited template": _edit,
    "a class is described anew": _describe,
    "one cluster more": _add,
    "a cluster is drained": _drain,
    f"{NEW} new deployments": _arrive,
}


# --- counts -----------------------------------------------------------------------------------------------------------


def _cost(fleet: LiveFleet, event: Callable[[LiveFleet], None]) -> Cost:
    writes, before = steady.writes_of(fleet.plane).total(), _seconds(fleet)
    calls = fleet.after(lambda: event(fleet), quiet=QUIET_SECONDS)
    after = _seconds(fleet)
    spent = {name: after[name] - before[name] for name in after}
    return Cost(calls, steady.writes_of(fleet.plane).total() - writes, spent)


def _seconds(fleet: LiveFleet) -> dict[str, float]:
    core, server = fleet.plane.others["crossplane"].child, fleet.plane.apiserver.child
    assert core is not None
    assert server is not None
    return {
        "function": fleet.server.cpu_seconds(),
        "core": _cpu_seconds(core.pid),
        "server": _cpu_seconds(server.pid),
    }


def _cpu_seconds(pid: int) -> float:
    """Return the processor time of a process. Source: proc(5), utime and stime in hundredths of a second."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / 100


def _row(name: str, cost: Cost) -> str:
    calls = cost.calls.by_kind
    kinds = [calls[kind] for kind in ("ModelDeployment", "ModelReplica", "InferenceCluster")]
    seconds = [f"{cost.seconds[one]:.2f}" for one in ("function", "core", "server")]
    cells = (calls.total(), *kinds, calls.total() - sum(kinds), cost.writes, *seconds)
    return f"{name:<28}" + "".join(f"{cell:>12}" for cell in cells)
