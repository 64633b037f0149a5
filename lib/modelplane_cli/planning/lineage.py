"""The history of each replica, followed from moment to moment. Names are used again, and a move takes several steps."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from modelplane_cli.planning.replicas import Deployment, ObservedReplica, ObservedReplicas, ReplicaId


@dataclass(frozen=True, slots=True)
class Fate:
    """One replica that was there at the beginning, and where it is now.

    `now` is the replica itself, or its replacement, or None when there is neither. `interrupted`:
    for a while it served no longer and its successor did not yet serve.
    """

    was: ObservedReplica
    now: ObservedReplica | None
    interrupted: bool

    @property
    def moved(self) -> bool:
        """Return whether it has a replacement."""
        return self.now is not None and self.now.id != self.was.id

    @property
    def rewritten(self) -> bool:
        """Return whether it was written anew where it is, which restarts it."""
        return self.now is not None and self.now.id == self.was.id and self.now.written != self.was.written


@dataclass(slots=True)
class _Thread:
    """The replicas that carry on one place, the oldest first."""

    was: ObservedReplica | None
    carriers: dict[ReplicaId, None] = field(default_factory=dict)
    interrupted: bool = False


class Lineage:
    """Threads from the replicas of a beginning, and from those that are new since."""

    def __init__(self, moments: Iterable[ObservedReplicas]) -> None:
        rest = iter(moments)
        first = next(rest)
        self._now: ObservedReplicas = first
        self._threads = [_Thread(replica, {replica.id: None}) for replica in first.values()]
        self._thread_of = {thread.was.id: thread for thread in self._threads if thread.was is not None}
        self._break_off()
        for moment in rest:
            self._advance(moment)

    @property
    def after(self) -> ObservedReplicas:
        """Return the replicas of the last moment."""
        return self._now

    def fates(self) -> Iterator[Fate]:
        """Yield what became of each replica of the beginning, by namespace and name."""
        for thread in self._threads:
            if thread.was is not None:
                yield Fate(thread.was, self._carrier(thread), thread.interrupted)

    def created(self) -> Iterator[ObservedReplica]:
        """Yield the replicas that stand in nobody's stead, by namespace and name."""
        for thread in self._threads:
            carrier = self._carrier(thread) if thread.was is None else None
            if carrier is not None:
                yield carrier

    def origin(self, replica: ReplicaId) -> ObservedReplica | None:
        """Return the replica of the beginning in whose stead one stands, None when it is new."""
        thread = self._thread_of.get(replica)
        return None if thread is None else thread.was

    def _advance(self, moment: ObservedReplicas) -> None:
        for gone in [id_ for id_ in self._now if id_ not in moment]:
            self._thread_of[gone].carriers.pop(gone)
        new = [replica for id_, replica in moment.items() if id_ not in self._now]
        for replica in sorted(new, key=lambda replica: (replica.replaces is None, replica.id)):
            thread = self._predecessor(replica) or self._orphan(replica.deployment)
            if thread is None:
                thread = _Thread(None)
                self._threads.append(thread)
            thread.carriers[replica.id] = None
            self._thread_of[replica.id] = thread
        self._now = moment
        self._break_off()

    def _predecessor(self, replica: ObservedReplica) -> _Thread | None:
        """Return the thread of the replica it says it replaces: the one of that name that is, or was last, there."""
        if replica.replaces is None:
            return None
        named = [
            thread
            for id_, thread in self._thread_of.items()
            if (id_.namespace, id_.name) == (replica.id.namespace, replica.replaces) and id_ != replica.id
        ]
        present = [thread for thread in named if thread.carriers]
        return next(reversed(present or named), None)

    def _orphan(self, deployment: Deployment) -> _Thread | None:
        """Return a thread of the deployment that nobody carries on: where one had to make way before the next."""
        for thread in self._threads:
            if thread.was is not None and not thread.carriers and thread.was.deployment == deployment:
                return thread
        return None

    def _carrier(self, thread: _Thread) -> ObservedReplica | None:
        """Return who stands for a thread: one that serves, else the oldest; one that is lost only at last."""
        living = [self._now[id_] for id_ in thread.carriers]
        return max(living, key=lambda replica: (not replica.lost, replica.serves), default=None)

    def _break_off(self) -> None:
        for thread in self._threads:
            if thread.was is not None and thread.was.serves and not thread.interrupted:
                thread.interrupted = not any(self._now[id_].serves for id_ in thread.carriers)
