"""The ends of things, as steps of the story: slow pods, protected clusters, and what must not be left behind."""

from __future__ import annotations

import time
from functools import partial

from tests.e2e import machine
from tests.e2e.stage import DEPLOYMENT, HOLD_SECONDS, LAST, SERVICE, Stage
from tests.e2e.view import NAMESPACE, OBJECT, USAGE


class Ending(Stage):
    """The steps in which something ends."""

    def slow(self) -> None:
        """A replica whose pods end slowly is counted and told of until the last has ended; another comes meanwhile.

        One pod has no owner, so the Objects of the workload are gone before it.
        """
        before = set(self.view.replicas(DEPLOYMENT))
        self._scale(3)
        self._serve(3)
        ((last, replica),) = ((n, one) for n, one in self.view.replicas(DEPLOYMENT).items() if n not in before)
        cluster = replica["spec"]["clusterName"]
        kwok, api = self.machine.planes[cluster].others["kwok"], self.machine.planes[cluster].api
        orphan = api.create(self._ownerless(last))
        kwok.stop()  # nothing says any more that a pod has ended
        self._scale(2)
        told = partial(self.view.says, "InferenceCluster", cluster, "CapacityKnown")
        self._until(lambda: f"{NAMESPACE}/{last} is deleted and stays counted" in told(), "to be told", show=told)
        time.sleep(HOLD_SECONDS)
        assert self.view.pods(cluster, last), "its pods have ended: nothing is proved"
        assert f"{NAMESPACE}/{last}" in self._counted(cluster), "its devices are given away while its pods hold them"
        self.say(f"  {told()}")
        self._scale(3)
        self._until(lambda: len(self.view.replicas(DEPLOYMENT)) == 3, "another replica", show=self._why)
        assert last not in self.view.replicas(DEPLOYMENT)
        kwok.start()
        self._until(lambda: len(self.view.pods(cluster, last)) == 1, "all its pods but one to end", show=told)
        self._until(self._looks, "its pods to be looked for", show=told)
        time.sleep(HOLD_SECONDS)
        assert f"{NAMESPACE}/{last}" in self._counted(cluster), "its devices are given away while a pod may hold them"
        api.delete(orphan)
        # Crossplane shows the message of before for a moment when a message changes.
        self._until(
            lambda: not self.view.pods(cluster, last) and "is deleted" not in told(), "its pods to end", show=told
        )
        self._until(lambda: not self._looks(), "nobody looking for pods any more")
        self._serve(3)
        self._scale(2)
        self._until(lambda: set(self.view.replicas(DEPLOYMENT)) == before, "the first two again")
        self._until(lambda: len(self.view.routed(SERVICE)) == 2, "two backends in the route")

    def protected(self) -> None:
        """A cluster under running replicas cannot be deleted, in whichever way, and whoever tries is told why."""
        where = {name: one["spec"]["clusterName"] for name, one in self.view.replicas(DEPLOYMENT).items()}
        # What was scaled away before is removed by several garbage collectors, one after another.
        self._until(lambda: self._running_replicas() == set(where), "only the pods of the replicas that stay")
        for document in machine.of("InferenceCluster"):
            name = document["metadata"]["name"]
            here = sorted(replica for replica, cluster in where.items() if cluster == name)
            usages = [one["spec"]["of"]["resourceRef"]["name"] for one in self.api.all_of(*USAGE)]
            assert (name in usages) == bool(here), f"{name} has {here}, protected are {usages}"
            for propagation in ("Background", "Foreground", "Orphan") if here else ():
                told = self._refused(document, propagation)
                assert all(f"{NAMESPACE}/{replica}" in told for replica in here), told
                self.say(f"  {propagation}: {told}")
            assert "deletionTimestamp" not in self.view.one("InferenceCluster", name)["metadata"]
        self._hold()

    def leftovers(self) -> None:
        """A deployment is deleted while a cluster does not answer: the cluster stays until its Objects have gone."""
        plane = self.machine.planes[LAST]
        (document,) = (one for one in machine.of("InferenceCluster") if one["metadata"]["name"] == LAST)
        assert LAST in self.view.serving(DEPLOYMENT).values(), self.view.serving(DEPLOYMENT)
        # One whose deletion waits for the cluster already would stay until the cluster answers again.
        self._until(lambda: not self._leaving(), "what was scaled away to be gone", show=self._left)
        plane.apiserver.stop()
        for model in machine.of("ModelDeployment"):
            self.api.delete(model)
        self._until(lambda: not self.view.ours("ModelReplica"), "the replicas to be gone", show=self._left)
        left = [
            one["metadata"]["name"] for one in self.api.all_of(*OBJECT) if one["metadata"]["namespace"] == NAMESPACE
        ]
        assert left, "nothing is left behind: nothing is proved"
        told = ""

        def told_of_objects() -> bool:
            nonlocal told
            told = self._refused(document)
            return "Objects without a replica" in told

        self._until(told_of_objects, f"to be told of {left}", show=lambda: told)
        self.say(f"  {told}")
        time.sleep(HOLD_SECONDS)
        assert self._refused(document)
        plane.apiserver.start()
        plane.await_ready()
        remaining = partial(self.api.all_of, *OBJECT, NAMESPACE)
        self._until(lambda: not remaining(), "the Objects to be gone", show=self._left)

    def _leaving(self) -> list[str]:
        """Return the replicas that are being deleted."""
        found = [one["metadata"] for one in self.view.ours("ModelReplica")]
        return [meta["name"] for meta in found if "deletionTimestamp" in meta]

    def delete(self) -> None:
        """Delete what was applied: nothing remains on any cluster."""
        order = ("ModelService", "ModelDeployment", "InferenceGateway", "InferenceCluster", "InferenceClass")
        for kind in order:
            for document in machine.of(kind):
                # A cluster is refused for as long as something stands there: until() asks again.
                self._until(partial(self._deleted, document), f"{kind} {document['metadata']['name']} to be deleted")
            for document in machine.of(kind):
                self._until(partial(self._gone, document), f"{kind} {document['metadata']['name']} gone")
        self._until(lambda: not self.view.left(), "nothing of any kind left", show=self._left)
