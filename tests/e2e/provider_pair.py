"""A control plane with provider-kubernetes, a cluster that it reaches as Modelplane does, and a replica of both."""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from modelplane import names
from modelplane.topology.shape import Topology
from modelplane_functions.exchange import Outcome
from tests.support import controlplane, installation, live, permissions, replica_world

Document = dict[str, Any]

OBJECT = ("kubernetes.m.crossplane.io/v1alpha1", "Object")
COLLECTION = (OBJECT[0], "ObservedObjectCollection")
_KINDS = {OBJECT[1], COLLECTION[1]}
NAMESPACE = "ml-team"
SECONDS = 90


class Pair:
    """A control plane with the provider, and a cluster that it reaches as Modelplane does."""

    def __init__(self, control: controlplane.Plane, cluster: controlplane.Plane) -> None:
        self.control, self.cluster = control, cluster

    def connect(self, configuration: str, account: str = "modelplane") -> None:
        request = {
            "apiVersion": "authentication.k8s.io/v1",
            "kind": "TokenRequest",
            "spec": {"expirationSeconds": 7200},
        }
        path = f"/api/v1/namespaces/modelplane/serviceaccounts/{account}/token"
        token = self.cluster.api.request("POST", path, request)["status"]["token"]
        text = controlplane.kubeconfig(self.cluster.server, self.cluster.folder / "ca.crt", token)
        metadata = {"name": "cluster", "namespace": names.SYSTEM_NAMESPACE}
        secret = {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "stringData": {"kubeconfig": text}}
        self.control.api.apply(secret)
        reference = {**metadata, "key": "kubeconfig"}
        self.control.api.apply(
            {
                "apiVersion": OBJECT[0],
                "kind": "ClusterProviderConfig",
                "metadata": {"name": configuration},
                "spec": {"credentials": {"source": "Secret", "secretRef": reference}},
            }
        )

    def write(self, outcome: Outcome) -> None:
        """Apply the Objects of an answer, as Crossplane does."""
        for one in outcome.children.values():
            if one.resource["kind"] in _KINDS:
                self.control.api.apply(copy.deepcopy(dict(one.resource)))

    def read(self, outcome: Outcome) -> dict[str, Document]:
        """Return the Objects of an answer as they are now, by key."""
        found = {}
        for key, one in outcome.children.items():
            if one.resource["kind"] in _KINDS:
                metadata = one.resource["metadata"]
                resource = self.control.api.get(
                    OBJECT[0], one.resource["kind"], metadata["name"], metadata["namespace"]
                )
                if resource is not None:
                    found[key] = resource
        return found


@contextlib.contextmanager
def running(tmp_path: Path) -> Iterator[Pair]:
    """Yield a pair whose cluster grants examples/rbac-workload.yaml and no more."""
    live.needs("operators", "go")
    with (
        controlplane.running(tmp_path / "control", "control") as control,
        controlplane.running(tmp_path / "cluster", "cluster") as cluster,
    ):
        for plane in (control, cluster):
            installation.namespace(plane, names.SYSTEM_NAMESPACE)
        installation.namespace(control, NAMESPACE)
        installation.definitions(cluster, "gateway-api")
        for one in permissions.documents(*permissions.WORKLOAD):
            cluster.api.apply(one)
        installation.provider_kubernetes(control)
        yield Pair(control, cluster)


class Replica:
    """A replica of Native whose Objects are the provider's; `topology` is of its worker, `queue` of its cluster."""

    def __init__(
        self,
        pair: Pair,
        kinds: tuple[str, ...] | None = None,
        topology: Topology | None = None,
        queue: Document | None = None,
    ) -> None:
        self.pair, self.kinds = pair, kinds
        self.cluster = replica_world.cluster()
        if queue is not None:
            self.cluster["spec"]["scheduler"] = queue
        value = replica_world.replica(replica_world.role(topology=topology or Topology()), backend="Native")
        self.workload = "leaderworkerset" if value.roles[0].spec.topology.is_gang else "deployment"
        self.document = replica_world.composite(value)
        self.children: dict[str, Document] = {}
        self.outcome = self.compose()

    def compose(self) -> Outcome:
        """Return the answer to what is there now, and let it be written."""
        members = self.pair.control.api.all_of(*OBJECT) if "pods" in self.children else []
        store = (copy.deepcopy(self.cluster), *members)
        found = replica_world.compose(self.document, *store, children=self.children, kinds=self.kinds)
        self.document["status"] = dict(found.status)
        self.pair.write(found)
        self.outcome = found
        return found

    def step(self) -> Outcome:
        self.children = self.pair.read(self.outcome)
        return self.compose()

    def remote(self) -> Document:
        manifest = self.children[self.workload]["spec"]["forProvider"]["manifest"]
        name = manifest["metadata"]["name"]
        found: Document = self.pair.cluster.api.get(manifest["apiVersion"], manifest["kind"], name, NAMESPACE)
        return found

    def edit(self, grace: int) -> None:
        change = {"spec": {"template": {"spec": {"terminationGracePeriodSeconds": grace}}}}
        self.pair.cluster.api.merge(self.remote(), change)

    def grace(self) -> int:
        found: int = self.remote()["spec"]["template"]["spec"]["terminationGracePeriodSeconds"]
        return found

    def delete(self) -> None:
        """Ask for the deletion of the Objects, as Crossplane does when the replica is deleted."""
        for child in self.pair.read(self.outcome).values():
            self.pair.control.api.delete(child)


def applied(replica: Replica) -> bool:
    """Return whether the provider has applied the workload, and look again."""
    replica.step()
    return replica.workload in {one["object"] for one in replica.document["status"].get("applied", ())}
