"""The record of a settled world besides its objects: deletions, events, and internal errors."""

from __future__ import annotations

from dataclasses import dataclass, field

from modelplane_cli.simulator.store import Key


@dataclass(frozen=True, slots=True)
class Deletion:
    """An object that a function no longer desires, with the objects deleted along with it."""

    key: Key
    owner: Key
    with_it: tuple[Key, ...] = ()


@dataclass(frozen=True, slots=True)
class Event:
    """An event on a composite: `severity` is Normal, Warning or Fatal."""

    about: Key
    severity: str
    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class Bug:
    """An internal error of one of our functions."""

    about: Key
    message: str
    cause: BaseException | None = field(default=None, compare=False)

    def __str__(self) -> str:
        """Return one line."""
        return f"{self.about}: {self.message}"


@dataclass(slots=True)
class Record:
    """Deletions in order, and events and internal errors without duplicates."""

    deletions: list[Deletion] = field(default_factory=list)
    events: dict[Event, None] = field(default_factory=dict)
    bugs: dict[Bug, None] = field(default_factory=dict)
