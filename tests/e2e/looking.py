"""The offline command over the live control plane: every answer that it can give, and a page that follows the fleet."""

from __future__ import annotations

import json
import signal
import subprocess
import urllib.request
from typing import Any

import yaml

from tests.e2e import machine
from tests.e2e.stage import DEPLOYMENT, LAST, PATIENCE_SECONDS, SERVICE, Stage
from tests.e2e.view import NAMESPACE
from tests.support import controlplane

Json = Any


class Looking(Stage):
    """The steps in which somebody only looks."""

    def command(self) -> None:
        """The offline command, pointed at the live control plane, sees what is there and what a change would do."""
        explained = self._modelplane("explain", f"md/{DEPLOYMENT}", "-n", NAMESPACE, "-o", "json")
        assert {one["cluster"] for one in explained["clusters"]} == set(self.machine.workloads)
        planned = self._modelplane("plan", "-o", "json")
        assert planned["changes"] == [], planned["changes"]
        assert _placed(planned) == self._there()
        explained = self._modelplane("explain", f"ms/{SERVICE}", "-n", NAMESPACE, "-o", "json")
        assert [one["ready"] for one in explained["endpoints"]] == [True, True], explained
        looked = self._modelplane("status", "-o", "json")
        assert looked["asWanted"], looked
        more = self.machine.fleet.folder / "more.yaml"
        (model,) = machine.of("ModelDeployment")
        more.write_text(json.dumps({**model, "spec": {**model["spec"], "replicas": 3}}))
        changes = self._modelplane("plan", str(more), "-o", "json")["changes"]
        self.say(f"  with a third replica: {changes}")
        assert len(changes) == 1, changes
        assert self._modelplane("validate", str(more), "-o", "json")["problems"] == []

    def figures(self) -> None:
        """What is free, who holds what, a drain and the objects of every function, over the live control plane."""
        rendered = self._modelplane("render", "-o", "json")["items"]
        replicas = [one for one in rendered if one["kind"] == "ModelReplica"]
        assert {one["metadata"]["name"]: one["spec"]["clusterName"] for one in replicas} == self._there()
        summaries = [one["status"]["summary"] for one in self.view.ours("InferenceCluster")]
        rows = self._modelplane("free", "-o", "json")["rows"]
        for said, key in (("total", "devices"), ("free", "free")):
            assert sum(row[said] for row in rows) == sum(one[key] for one in summaries), (rows, summaries)
        (row,) = self._modelplane("top", "-o", "json")["rows"]
        assert (row["namespace"], row["name"], row["placed"]) == (NAMESPACE, DEPLOYMENT, len(replicas))
        cluster = min(self._there().values())
        (step,) = self._modelplane("simulate", "--drain", cluster, "-o", "json")["steps"]
        self.say(f"  a drain of {cluster}: {step['moved']}")
        assert step["fits"], step
        assert {one["from"]["cluster"] for one in step["moved"]} == {cluster}
        assert self._there() == {one["metadata"]["name"]: one["spec"]["clusterName"] for one in replicas}

    def page(self) -> None:
        """The report is written of the live control plane, and one that is served follows a change within seconds."""
        path = self.machine.fleet.folder / "pages" / "fleet.html"
        self._said("report", "-o", str(path))
        assert DEPLOYMENT in path.read_text(encoding="utf-8")
        (port,) = controlplane.free_ports(1)
        command = self._live("report", "--serve", "--listen", f"127.0.0.1:{port}")
        log = path.with_suffix(".log")
        with (
            log.open("wb") as out,
            subprocess.Popen(
                command, env=self._environment(), stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT
            ) as server,
        ):
            try:
                address = f"http://127.0.0.1:{port}/report.json"
                self._until(
                    lambda: _shown(address) == self._there(), "the page to show the replicas", show=log.read_text
                )
                self._scale(3)
                self._serve(3)
                self._until(
                    lambda: len(_shown(address)) == len(self._there()) == 3, "the page to follow", show=log.read_text
                )  # fmt: skip
                self._scale(2)
                self._until(lambda: len(self._there()) == 2, "two replicas again", show=self._why)
                self._until(lambda: _shown(address) == self._there(), "the page to follow back", show=log.read_text)
            finally:
                server.send_signal(signal.SIGINT)
                assert server.wait(timeout=PATIENCE_SECONDS) == 0, log.read_text()

    def described(self) -> None:
        """A cluster is described by what it publishes: the classes that its nodes were made of are found again."""
        classes = machine.FOLDER / "classes.yaml"
        classes.write_text(yaml.safe_dump_all(machine.of("InferenceClass")))
        for name, plane in self.machine.workloads.items():
            (declared,) = (one for one in machine.of("InferenceCluster") if one["metadata"]["name"] == name)
            arguments = ("class", "from-cluster", str(classes), "--cluster", name, "-o", "json")
            (found,) = self._modelplane(*arguments, of=plane)["items"]
            self.say(f"  {name}: {found['spec']['nodePools']}")
            assert _nodes(found) == _nodes(declared), found
            (made, alone) = self._modelplane("class", "from-cluster", "--cluster", name, "-o", "json", of=plane)[
                "items"
            ]
            assert [pool["className"] for pool in alone["spec"]["nodePools"]] == [made["metadata"]["name"]], alone
        lying = machine.of("InferenceClass")
        for one in lying:
            one["spec"]["devices"][0]["capacity"]["memory"]["value"] = "1Ti"
        classes.write_text(yaml.safe_dump_all(lying))
        said = self._printed(
            "class", "from-cluster", str(classes), "--cluster", LAST, of=self.machine.planes[LAST], code=1
        )
        (lie,) = (line for line in said.stderr.splitlines() if line.startswith("lie: "))
        self.say(f"  {lie}")
        assert "capacity memory is declared as 1Ti" in lie, lie

    def _there(self) -> dict[str, str]:
        """Return the cluster of each replica of the deployment, by name."""
        return {name: one["spec"]["clusterName"] for name, one in self.view.replicas(DEPLOYMENT).items()}


def _nodes(cluster: Json) -> list[tuple[str, int]]:
    """Return the class and the number of nodes of each pool. One that grows stands as large as it may become."""
    pools = cluster["spec"]["nodePools"]
    return sorted((pool["className"], pool.get("nodeCount", pool.get("maxNodeCount"))) for pool in pools)


def _placed(plan: Json) -> dict[str, str]:
    """Return the cluster of each replica of the deployment, as a plan has it."""
    (deployment,) = (one for one in plan["deployments"] if one["name"] == DEPLOYMENT)
    return {one["name"]: one["cluster"] for one in deployment["replicas"]}


def _shown(address: str) -> dict[str, str]:
    """Return the cluster of each replica of the deployment, as the page has it; none while nobody answers."""
    try:
        with urllib.request.urlopen(address, timeout=PATIENCE_SECONDS) as answer:  # noqa: S310 - of loopback
            return _placed(json.loads(answer.read())["frames"][-1]["plan"])
    except OSError:
        return {}
