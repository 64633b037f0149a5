"""The replicas of a cluster as its ledger treats them, and the answers to those that are not admitted."""

from __future__ import annotations

from dataclasses import dataclass, field

from modelplane.api.admissions import Record
from modelplane.api.quota_asks import Asked
from modelplane.placement.snapshot import ReplicaClaim
from modelplane_functions.allowed_namespaces import Allowed
from modelplane_functions.ending_pods import Endings


@dataclass(frozen=True, slots=True)
class Answer:
    """The reason why a replica (`namespace/name`) is not admitted with its current spec."""

    key: str
    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class Gate:
    """A claim that a quota has not granted: its question, the number of an open one, and the answer so far.

    `unreadable` says why the quota cannot answer. Without `is_asked` there is no question, or it is taken back.
    """

    asked: Asked
    number: int | None
    refusal: str
    unreadable: str
    is_asked: bool


@dataclass(slots=True)
class Standing:
    """All replicas of a cluster, sorted by how the ledger treats them.

    `endings` is what is known of the pods of deleted and changed ones, `allowed` who may place replicas here. `claims`
    are counted. `refused` and `pending` are answered without being counted. `named` name the cluster now. `leaving` are
    deleted, but their workload still exists; of those that are `lingering` too, only pods may be left. `ending` are the
    leaving ones and those that are being deleted. `changed` may have pods from before a change; of those that are
    `followed` too, the cluster has the changed workload. `kept` are the existing records. `offered` are the records to
    write once the claims are admitted. `uncontrolled` run and are counted, but they are not admitted. `blind` were
    admitted by a version that kept no records, and they cannot be read. `unknown` run what their spec does not say, and
    no record says it either. `gates` are claims that a quota has not granted, `asks` the questions to the quotas.
    """

    endings: Endings
    allowed: Allowed
    claims: list[ReplicaClaim] = field(default_factory=list)
    named: list[str] = field(default_factory=list)
    leaving: set[str] = field(default_factory=set)
    lingering: set[str] = field(default_factory=set)
    ending: set[str] = field(default_factory=set)
    changed: set[str] = field(default_factory=set)
    followed: set[str] = field(default_factory=set)
    kept: dict[str, Record] = field(default_factory=dict)
    offered: dict[str, Record] = field(default_factory=dict)
    uncontrolled: set[str] = field(default_factory=set)
    blind: set[str] = field(default_factory=set)
    unknown: set[str] = field(default_factory=set)
    refused: list[Answer] = field(default_factory=list)
    pending: list[Answer] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    gates: dict[str, Gate] = field(default_factory=dict)
    asks: dict[str, Asked] = field(default_factory=dict)
    last_ask: int = 0

    @property
    def looked_for(self) -> set[str]:
        """Return the replicas whose pods are listed."""
        return self.lingering | self.followed

    @property
    def frozen(self) -> str:
        """Return the reason why no other replica can be admitted, empty if nothing prevents it."""
        told = []
        if self.blind:
            told.append(f"{', '.join(sorted(self.blind))} cannot be read")
        if self.unknown:
            told.append(f"what {', '.join(sorted(self.unknown))} runs was rendered from another spec")
        if not told:
            return ""
        return (
            f"{', and '.join(told)}; its devices are unknown: correct or delete it, until then nobody else is admitted"
        )
