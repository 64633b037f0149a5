"""What the steps of the story are made of: waiting, changing, looking, and asserting that nothing changes."""

from __future__ import annotations

import copy
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

from modelplane import names
from modelplane.api import catalogue
from modelplane.render import pod_collection
from tests.conformance.tools import workshop
from tests.e2e import machine
from tests.e2e.machine import Machine, Say
from tests.e2e.view import KSERVE, NAMESPACE, OURS, View
from tests.support import controlplane, kubeapi

Document = dict[str, Any]

DEPLOYMENT = "qwen3-8b"
SERVICE = "qwen3-8b"
# The cluster that is stopped, and that runs a replica at the end of the story.
LAST = "eks-eu"
# One reconcile after another across three clusters on a loaded machine; nothing here measures speed.
PATIENCE_SECONDS = 420
# Long enough for every controller involved to have acted on a change.
HOLD_SECONDS = 15


class Stage:
    """A fleet, and what is done to it and asked of it."""

    def __init__(self, found: Machine, say: Say) -> None:
        self.machine, self.say = found, say
        self.view = View(found)
        self.api = found.fleet.api

    def _until(
        self, ask: Callable[[], Any], what: str, *, show: Callable[[], str] | None = None, every: float = 1
    ) -> None:
        try:
            kubeapi.until(ask, seconds=PATIENCE_SECONDS, what=what, every=every)
        except TimeoutError as error:
            raise TimeoutError(f"{error}; {show()}" if show else str(error)) from error

    def _is_true(self, kind: str, name: str, condition: str) -> bool:
        return kubeapi.condition(self.view.one(kind, name), condition).get("status") == "True"

    def _admitted(self) -> list[str]:
        found = []
        for one in self.view.ours("InferenceCluster"):
            found += [name for name in one.get("status", {}).get("admitted", []) if f"/{DEPLOYMENT}-" in name]
        return found

    def _bound(self, count: int) -> bool:
        """Return whether each of that many replicas has pods, all on a node and with the devices they claim."""
        pods = [
            self.view.pods(one["spec"]["clusterName"], name) for name, one in self.view.replicas(DEPLOYMENT).items()
        ]
        return len(pods) == count and all(
            group and all(pod["spec"].get("nodeName") and pod["status"].get("resourceClaimStatuses") for pod in group)
            for group in pods
        )

    def _running_replicas(self) -> set[str]:
        """Return the names of the replicas that any pod belongs to."""
        pods = [pod for cluster in self.machine.workloads for pod in self.view.pods(cluster)]
        return {pod["metadata"]["labels"]["modelplane.ai/replica"] for pod in pods}

    def _modelplane(self, *arguments: str, code: int = 0, of: controlplane.Plane | None = None) -> Any:
        """Return what the command answers about the live control plane, or the cluster `of`.

        Raises: AssertionError with its words.
        """
        return json.loads(self._printed(*arguments, code=code, of=of).stdout)

    def _said(self, *arguments: str, code: int = 0) -> str:
        """Return what the command prints about the live control plane. Raises: AssertionError with its words."""
        return self._printed(*arguments, code=code).stdout

    def _printed(
        self, *arguments: str, code: int = 0, of: controlplane.Plane | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Return what the command printed, messages too. Raises: AssertionError with its words."""
        done = subprocess.run(
            self._live(*arguments),
            env=self._environment(of),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE_SECONDS,
            check=False,
        )
        said = f"{done.returncode}: {done.stderr}{done.stdout}"
        assert done.returncode == code, f"modelplane {' '.join(arguments)}: {said}"
        return done

    def _live(self, *arguments: str) -> list[str]:
        """Return the command line of the command about the live control plane."""
        return [sys.executable, "-m", "modelplane_cli", *arguments, "--context", "default"]

    def _environment(self, plane: controlplane.Plane | None = None) -> dict[str, str]:
        """Return the environment in which kubectl finds the control plane, or another cluster."""
        return {
            **os.environ,
            "KUBECONFIG": str((plane or self.machine.fleet).kubeconfig),
            "PATH": f"{workshop.program('kubectl').parent}:{os.environ['PATH']}",
        }

    def _counted(self, cluster: str) -> set[str]:
        """Return the replicas (namespace/name) whose holdings a cluster counts, as it says."""
        admissions = self.view.one("InferenceCluster", cluster)["status"]["admissions"]
        return {replica for one in admissions for replica in one["replicas"]}

    def _looks(self) -> list[Document]:
        """Return the collections by which clusters look for the pods of deleted replicas."""
        return self.api.all_of(pod_collection.API_VERSION, pod_collection.KIND, names.SYSTEM_NAMESPACE)

    def _ownerless(self, replica: str) -> Document:
        """Return a pod of a replica that no controller deletes and no node runs."""
        labels = {names.LABEL_REPLICA: replica}
        return {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": f"{replica}-ownerless", "namespace": NAMESPACE, "labels": labels},
            "spec": {
                "containers": [{"name": "main", "image": "registry.k8s.io/pause:3.10"}],
                "nodeSelector": {"no-such": "node"},
                "automountServiceAccountToken": False,
            },
        }

    def _present(self) -> list[str]:
        """Return the names of all replicas and of what they run, also of those on their way out."""
        services = [plane.api.all_of(*KSERVE) for plane in self.machine.workloads.values()]
        objects = [*self.view.ours("ModelReplica"), *(one for found in services for one in found)]
        return [one["metadata"]["name"] for one in objects]

    def _serve(self, count: int) -> None:
        self._until(lambda: len(self.view.serving(DEPLOYMENT)) == count, f"{count} serving replicas", show=self._why)

    def _scale(self, count: int) -> None:
        scale = {"spec": {"replicas": count}}
        self.api.merge(self.view.one("ModelDeployment", DEPLOYMENT), scale, subresource="scale")

    def _taint(self, cluster: str, taints: list[Document]) -> None:
        self.api.merge(self.view.one("InferenceCluster", cluster), {"spec": {"taints": taints}})

    def _change_deployment(self, spec: Document) -> None:
        self.api.merge(self.view.one("ModelDeployment", DEPLOYMENT), {"spec": spec})

    def _hold(self) -> None:
        """Assert for a while that nothing that ran has gone or been replaced."""
        before = self.view.running()
        end = time.monotonic() + HOLD_SECONDS
        while time.monotonic() < end:
            now = self.view.running()
            clusters = {name for name, plane in self.machine.workloads.items() if not plane.apiserver.is_running}
            lost = {key for key, uid in before.items() if now.get(key) != uid and key.split()[0] not in clusters}
            assert not lost, f"gone or replaced: {sorted(lost)}"
            time.sleep(1)
        self.say(f"  {len(before)} objects held for {HOLD_SECONDS} s")

    def _deleted(self, document: Document) -> bool:
        self.api.delete(document)
        return True

    def _refused(self, document: Document, propagation: str = "Background") -> str:
        """Return with which words a deletion is refused. Raises: AssertionError when it is not."""
        try:
            self.api.delete(document, propagation=propagation)
        except kubeapi.Refused as refused:
            return refused.message
        raise AssertionError(f"{document['kind']} {document['metadata']['name']} could be deleted")

    def _whole_node(self, name: str) -> Document:
        return self._other_model(name, {"tensor": 8})

    def _over_two_nodes(self, name: str) -> Document:
        return self._other_model(name, {"tensor": 4, "pipeline": 2})

    def _other_model(self, name: str, topology: Document) -> Document:
        """Return a deployment of one replica on the cluster with eight GPUs per node."""
        (model,) = machine.of("ModelDeployment")
        other = copy.deepcopy(model)
        other["metadata"]["name"] = name
        other["spec"] |= {"replicas": 1, "clusterSelector": {"matchLabels": {"modelplane.ai/region": "eu-west-1"}}}
        other["spec"]["workers"]["topology"] = topology
        return other

    def _gone(self, document: Document) -> bool:
        meta = document["metadata"]
        return self.api.get(OURS, document["kind"], meta["name"], meta.get("namespace")) is None

    def _left(self) -> str:
        return ", ".join(self.view.left())

    def _why(self) -> str:
        """Return every condition of ours that is not True, for a step that waits in vain."""
        lines = []
        for kind in catalogue.kinds():
            for one in self.view.ours(kind):
                for found in one.get("status", {}).get("conditions", []):
                    if found["status"] != "True" and found["type"] != "StatusStale":
                        said = f"{found['type']}={found['status']} {found['reason']}: {found.get('message', '')}"
                        lines.append(f"{kind} {one['metadata']['name']}: {said}")
        return "\n    ".join(["conditions:", *lines])
