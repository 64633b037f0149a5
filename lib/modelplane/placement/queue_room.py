"""The room in the queue of a cluster whose scheduler has queues (Kueue, KAI, Volcano)."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class QueueRoom:
    """The quota of the queue of a cluster, in devices: at most `limit`, of which admitted replicas hold `held`.

    It is an upper bound and no free device: others may use the queue too.
    """

    name: str
    limit: int
    held: int

    def excess(self, more: int) -> str:
        """Return the reason why `more` devices are too many for the queue, empty if they are not."""
        if self.held + more <= self.limit:
            return ""
        held = f"{self.held} are held and {more} more are wanted"
        return f"queue {self.name} has a quota of {self.limit} devices, of which {held}"

    def without(self, devices: int) -> QueueRoom:
        """Return the room once so many devices are free."""
        return replace(self, held=max(0, self.held - devices))
