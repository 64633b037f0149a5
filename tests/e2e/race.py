"""Two deployments apply for the last whole node at the same moment, several times, and what every look must show."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

from modelplane import names
from tests.e2e.stage import HOLD_SECONDS, LAST, PATIENCE_SECONDS, Document, Stage
from tests.e2e.view import KSERVE, NAMESPACE, OURS

RACERS = ("race-a", "race-b")
POOL, DEVICE = "h100", "gpu"
# Whether both propose before the cluster has spoken is a matter of milliseconds. A round in which one came late shows
# little, so there are more until the cluster had to refuse one.
FEWEST_ROUNDS, MOST_ROUNDS = 2, 8
GLANCE_SECONDS = 0.1


@dataclass(frozen=True, slots=True)
class Look:
    """What is said of the racers at one moment: replicas by qualified name, what is free, and what KServe was given."""

    proposed: frozenset[str]
    admitted: frozenset[str]
    refused: Mapping[str, str]
    free: int
    services: frozenset[str]

    @property
    def is_quiet(self) -> bool:
        """Return whether no racer is there."""
        return not (self.proposed or self.admitted or self.refused or self.services)


class Race(Stage):
    """The race, as a step of the story."""

    def race(self) -> None:
        """Two deployments apply for the last whole node at the same moment: one gets it, the other is told why not."""
        contested = 0
        for number in range(1, MOST_ROUNDS + 1):
            free = self._look().free
            self._enter()
            contested += self._watch(HOLD_SECONDS if number == 1 else 0)
            for name in RACERS:
                self.api.delete(self._whole_node(name))
            self._until(
                partial(self._is_free_again, free),
                "the racers gone, and what they held free again",
                show=lambda: str(self._look()),
            )
            if contested and number >= FEWEST_ROUNDS:
                break
        self.say(f"  {number} rounds, in {contested} the cluster had to refuse one")
        assert contested, "the cluster never had to refuse a proposal: this was no race"

    def _enter(self) -> None:
        """Apply both at once: each has its connection, and waits for the other."""
        start = threading.Barrier(len(RACERS))

        def enter(model: Document) -> None:
            self.api.get(OURS, "ModelDeployment", model["metadata"]["name"], NAMESPACE)
            start.wait(timeout=PATIENCE_SECONDS)
            self.api.apply(model, owner="ml-team")

        with ThreadPoolExecutor(len(RACERS)) as pool:
            list(pool.map(enter, [self._whole_node(name) for name in RACERS]))

    def _watch(self, hold_seconds: float) -> bool:
        """Look until it is decided, and a while longer; return whether a look showed that the cluster refused one.

        Raises: AssertionError at the first look that shows a node given twice.
        """
        looks, decided = 0, None
        refused: dict[str, str] = {}
        end = time.monotonic() + PATIENCE_SECONDS
        while decided is None or time.monotonic() < decided + hold_seconds:
            look = self._look()
            assert len(look.admitted) <= 1 and len(look.services) <= 1 and look.free >= 0, f"given twice: {look}"
            refused |= look.refused
            looks += 1
            if decided is None and self._is_decided(look):
                decided = time.monotonic()
            assert time.monotonic() < end, f"not decided: {look}; {self._told()}"
            time.sleep(GLANCE_SECONDS)
        look = self._look()  # what was decided may be younger than the last look
        assert len(look.admitted) == len(look.services) == 1, look
        self.say(f"  {looks} looks; admitted {', '.join(look.admitted)}; refused {refused}")
        for name, told in self._told().items():
            self.say(f"  {name}: {told}")
        return bool(refused)

    def _is_decided(self, look: Look) -> bool:
        """Return whether one serves and the other was told why not: by its deployment, the cluster and its replica."""
        serving = [name for name in RACERS if self.view.serving(name)]
        if len(serving) != 1:
            return False
        (loser,) = set(RACERS) - set(serving)
        told = self._told()[loser]
        if not (told.startswith("False/") and LAST in told and "1 node x 8 gpu" in told):
            return False
        # A proposal that stands has the cluster's word, on the cluster and on itself.
        standing = look.proposed - look.admitted
        said = [self.view.says("ModelReplica", one.partition("/")[2], "Admitted") for one in standing]
        return standing <= look.refused.keys() and all(one.startswith("False/") and LAST in one for one in said)

    def _told(self) -> dict[str, str]:
        return {name: self.view.says("ModelDeployment", name, "ReplicasScheduled") for name in RACERS}

    def _is_free_again(self, free: int) -> bool:
        return self._look().is_quiet and self._look().free == free

    def _look(self) -> Look:
        status = self.view.one("InferenceCluster", LAST)["status"]
        (pool,) = (one for one in status["pools"] if one["name"] == POOL)
        replicas = [one for name in RACERS for one in self.view.replicas(name).values()]
        return Look(
            proposed=frozenset(
                names.qualified(NAMESPACE, one["metadata"]["name"])
                for one in replicas
                if one["spec"]["clusterName"] == LAST
            ),
            admitted=frozenset(one for one in status.get("admitted", []) if _is_racer(one)),
            refused={
                one["replica"]: f"{one['reason']}: {one['message']}"
                for one in status.get("refused", [])
                if _is_racer(one["replica"])
            },
            free=pool["free"][DEVICE],
            services=frozenset(
                one["metadata"]["name"]
                for one in self.machine.planes[LAST].api.all_of(*KSERVE, NAMESPACE)
                if one["metadata"]["name"].startswith("race-")
            ),
        )


def _is_racer(replica: str) -> bool:
    return replica.startswith(f"{NAMESPACE}/race-")
