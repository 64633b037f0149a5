"""The backend of a workload: the one its author names, else the one chosen before, else what most clusters prefer.

A choice once made is kept while it can run the workload and something runs with it: another would move everything.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from modelplane.devices.model import Claim
from modelplane.errors import InvalidInput, ModelplaneError, Unsupported
from modelplane.placement.snapshot import ANY_BACKEND, Ways
from modelplane.render import capability, installed, overrides
from modelplane.render.backend import Backend
from modelplane.render.backends import dynamo, kaito, kserve, kuberay, llmd, native, preference, vllmstack
from modelplane.render.backends.preference import Preferences
from modelplane.render.schedulers import selection as schedulers
from modelplane.workload import cached
from modelplane.workload.model import Workload
from modelplane.workload.rule import Rule

Json: TypeAlias = Any

BACKENDS: dict[str, Backend] = {
    "Dynamo": dynamo,
    "KAITO": kaito,
    "KServe": kserve,
    "KubeRay": kuberay,
    "LLMD": llmd,
    "Native": native,
    "VLLMStack": vllmstack,
}
"""Every backend by name; the order does not matter."""

NO_POOL: tuple[Ways, ...] = (frozenset(),)
"""The ways on a cluster without a matching pool."""


@dataclass(frozen=True, slots=True)
class Standing:
    """The choices that precede the vote of the clusters.

    `named` stands in the deployment, `current` was chosen before, and `is_placed` says whether any replica is there.
    Rules are asked of `spec`, the deployment's, with its engine; `rules` are the platform's own.
    """

    named: str | None = None
    current: str | None = None
    is_placed: bool = False
    spec: Mapping[str, Json] = field(default_factory=dict)
    rules: tuple[Rule, ...] = ()


@dataclass(frozen=True, slots=True)
class Offer:
    """The backends of a cluster in its order, and the ways in which devices of its matching pools are claimed, by role.

    Without `ways` nothing is claimed. `lacks` are the backends that the workload cannot use there, because the cluster
    does not serve what their objects need. `unqueued` are (backend, reason) of those whose pods its scheduler refuses.
    """

    backends: tuple[str, ...]
    ways: tuple[Ways, ...] = ()
    lacks: frozenset[str] = frozenset()
    unqueued: tuple[tuple[str, str], ...] = ()

    @property
    def unusable(self) -> frozenset[str]:
        """Return the backends that the workload cannot use there, whatever its pools have."""
        return self.lacks.union(name for name, _ in self.unqueued)

    @property
    def has_pools(self) -> bool:
        """Return whether every role finds a matching pool."""
        return all(self.ways)

    def is_served_by(self, claims: frozenset[Claim]) -> bool:
        """Return whether every role finds a matching pool whose devices can be claimed in one of these ways."""
        return all(any(way <= claims for way in ways) for ways in self.ways)


@dataclass(frozen=True, slots=True)
class Ballot:
    """The votes for one backend: the clusters that would take it, its preference, and why it got no vote."""

    backend: str
    votes: int
    preferred: preference.Preferred
    refusal: ModelplaneError | None = None

    @property
    def message(self) -> str:
        """Return one line that does not name the backend."""
        if self.refusal is not None:
            return f"no vote: {self.refusal}"
        rule = f", preferred by {self.preferred.priority} for {self.preferred.text}" if self.preferred.text else ""
        return f"{self.votes} {'vote' if self.votes == 1 else 'votes'}{rule}"


@dataclass(frozen=True, slots=True)
class Choice:
    """The chosen backend and the reason, or None and in `refusals` why each backend that was asked cannot.

    A choice that `is_guess` was made while no cluster with a matching pool took part: the first that does may offer
    another backend.
    """

    backend: str | None
    reason: str = ""
    why: str = ""
    refusals: Mapping[str, ModelplaneError] = field(default_factory=dict)
    ballots: tuple[Ballot, ...] = ()
    failures: tuple[str, ...] = ()
    is_guess: bool = False

    @property
    def message(self) -> str:
        """Return one line for each backend that was asked."""
        return "\n".join(f"{name}: {error}" for name, error in sorted(self.refusals.items()))


def backend(name: str) -> Backend:
    """Return the backend of that name.

    Raises: Unsupported for one that is known to the API and not offered yet.
    """
    found = BACKENDS.get(name)
    if found is None:
        offered = ", ".join(sorted(BACKENDS))
        raise Unsupported(f'backend "{name}" is not offered; use one of {offered}', reason="BackendUnavailable")
    return found


def claims(name: str) -> frozenset[Claim]:
    """Return the ways in which a backend can claim devices; every way for one that is not rendered."""
    found = BACKENDS.get(name)
    return frozenset(Claim) if found is None else found.CAPABILITIES.claims


def needs(name: str, workload: Workload) -> tuple[tuple[str, str], ...]:
    """Return the API versions that a cluster must serve for the workload, each with what installs it."""
    found = BACKENDS.get(name)
    return () if found is None else tuple(installed.needs(found, cached.mounted(_of_a_cache(workload))))


def lacks(workload: Workload, missing: frozenset[str]) -> frozenset[str]:
    """Return the backends that a cluster without these API versions cannot run the workload with."""
    if not missing:
        return frozenset()
    return frozenset(name for name in BACKENDS if any(version in missing for version, _ in needs(name, workload)))


def unqueued(workload: Workload, scheduler: str) -> tuple[tuple[str, str], ...]:
    """Return the backends whose pods the scheduler of a cluster cannot place, each with the reason."""
    return tuple(schedulers.refuses(workload, BACKENDS, scheduler).items())


def listed(names: Iterable[str]) -> dict[str, Backend]:
    """Return the backends among the names that are rendered, by name; all of them for a cluster that offers any."""
    known = tuple(names)
    return {name: one for name, one in sorted(BACKENDS.items()) if ANY_BACKEND in known or name in known}


def settled(workload: Workload, standing: Standing, offered: Sequence[Offer]) -> Choice | None:
    """Return the choice that needs no vote, None where the clusters vote. `offered` are the backends of all clusters.

    A named backend is taken or refused, never replaced. The current one stays while it can run the workload, and only
    where nothing runs does it give way to clusters of which none offers it.
    """
    if standing.named is not None:
        return _named(workload, standing.named)
    if standing.current is None or _refusal(workload, standing.current) is not None:
        return None
    is_offered = any(
        (standing.current in offer.backends or ANY_BACKEND in offer.backends) and standing.current not in offer.unusable
        for offer in offered
    )
    if standing.is_placed or is_offered or not offered:
        return Choice(standing.current, "Kept", f"backend {standing.current} was selected before and is kept")
    return None


def vote(workload: Workload, standing: Standing, offers: Iterable[Offer]) -> Choice:
    """Return the backend that most clusters would take; between equals the rules decide, then the name.

    Each cluster votes for the first of its backends that can run the workload and claim the devices of a matching pool.
    Clusters without such a pool vote only where none has one. Without clusters the rules decide among all backends.
    """
    offered = tuple(offers)
    voters = tuple(offer for offer in offered if offer.has_pools) or tuple(
        Offer(one.backends, lacks=one.lacks, unqueued=one.unqueued) for one in offered
    )
    is_guess = not any(offer.has_pools for offer in offered)
    preferences = preference.on(standing.spec, standing.rules)
    asked = sorted({name for offer in voters for name in _listed(offer)} or BACKENDS)
    # A fleet of a thousand clusters offers the same few lists: each backend is asked once.
    distinct = Counter(voters or [Offer((ANY_BACKEND,))])
    refusals = {
        name: _refusal(workload, name) or _uninstalled(workload, name, distinct) or _unclaimable(name, distinct)
        for name in asked
    }
    capable = [name for name in preferences.order(asked) if refusals[name] is None]
    votes: Counter[str] = Counter()
    for offer, count in distinct.items():
        first = _first(offer, capable)
        if first is not None:
            votes[first] += count
    ballots = tuple(Ballot(name, votes[name], preferences.of(name), refusals[name]) for name in asked)
    if not votes and any(offer.unqueued for offer in voters):
        # Each cluster then says why its scheduler refuses the pods, and what runs elsewhere is none of it.
        return vote(workload, standing, [replace(offer, unqueued=()) for offer in voters])
    if not votes:
        said = {name: error for name, error in refusals.items() if error is not None}
        return Choice(None, refusals=said, ballots=ballots, failures=preferences.failures)
    most = max(votes.values())
    tied = [name for name in preferences.order(votes) if votes[name] == most]
    why = _told(tied, preferences, f"{most} of {len(voters)}" if voters else "")
    return Choice(tied[0], "ByCapability", why, {}, ballots, preferences.failures, is_guess)


def _listed(offer: Offer) -> Iterable[str]:
    return BACKENDS if ANY_BACKEND in offer.backends else offer.backends


def _first(offer: Offer, capable: Sequence[str]) -> str | None:
    """Return the backend that a cluster votes for; `capable` are in the order of the rules."""
    order = capable if ANY_BACKEND in offer.backends else offer.backends
    able = (name for name in order if name in capable and name not in offer.unusable)
    return next((name for name in able if offer.is_served_by(claims(name))), None)


def _uninstalled(workload: Workload, name: str, offers: Iterable[Offer]) -> ModelplaneError | None:
    """Return the refusal of a backend that is installed on none of the clusters that offer it, else None."""
    if not all(name in offer.lacks for offer in offers if name in _listed(offer)):
        return None
    versions = " and ".join(version for version, _ in needs(name, workload))
    products = " and ".join(product for _, product in needs(name, workload))
    return Unsupported(
        f"is installed on no cluster that offers it: none serves {versions}; install {products} or later there, or "
        "offer another backend in spec.backends of an InferenceCluster",
        reason="BackendNotInstalled",
    )


def _unclaimable(name: str, offers: Iterable[Offer]) -> ModelplaneError | None:
    """Return the refusal of a backend that cannot claim the devices of any cluster that offers it, else None."""
    theirs = [offer for offer in offers if name in _listed(offer) and name not in offer.lacks]
    if any(offer.is_served_by(claims(name)) for offer in theirs):
        return None
    needed = {claim for offer in theirs for ways in offer.ways for way in ways for claim in way} - claims(name)
    words = " and ".join(sorted(needed))
    return Unsupported(
        f"cannot claim devices by {words}, as every matching pool of the clusters that offer it needs; set claim of "
        "the InferenceClass to another way, or offer another backend",
        reason="NoCapableBackend",
    )


def _named(workload: Workload, name: str) -> Choice:
    refusal = _refusal(workload, name)
    if refusal is None:
        return Choice(name, "Named", f"spec.backend names {name}")
    others = [other for other in sorted(BACKENDS) if other != name and _refusal(workload, other) is None]
    if others and isinstance(refusal, InvalidInput):
        said = f"{refusal.message}; {' and '.join(others)} can run the deployment as it is"
        refusal = InvalidInput(said, path=refusal.path)
    return Choice(None, refusals={name: refusal})


def _told(tied: Sequence[str], preferences: Preferences, share: str) -> str:
    """Return how the vote went: `share` of the clusters would take the winner, and as many each of the tied ones."""
    winner = tied[0]
    said = f"backend {winner} supports the workload" + (f", and {share} clusters would take it" if share else "")
    if len(tied) == 1:
        text = preferences.of(winner).text
        return said if share or not text else f"{said}; {winner} is preferred for {text}"
    others = " or ".join(sorted(tied[1:]))
    text = preferences.of(winner).text
    because = f"is preferred for {text}" if text else "comes first by name"
    return f"{said}; as many would take {others}, and {winner} {because}"


def _of_a_cache(workload: Workload) -> Workload:
    """Return the workload with the key of a cache, where it names a cache of which no key is known yet."""
    is_unknown = workload.model_cache is not None and not workload.cache_key
    return replace(workload, cache_key=cached.UNKNOWN_KEY) if is_unknown else workload


def check(workload: Workload, name: str) -> None:
    """Check that the backend of that name can run the workload. Raises: InvalidInput or Unsupported if it never can."""
    found = backend(name)
    capability.check_mounts(found.CAPABILITIES, workload)
    capability.check_cache(found.CAPABILITIES, workload)
    found.check(cached.mounted(_of_a_cache(workload)))
    overrides.check(workload, name, found.PATCHABLE if workload.overrides else frozenset())


def _refusal(workload: Workload, name: str) -> ModelplaneError | None:
    try:
        check(workload, name)
    except (InvalidInput, Unsupported) as error:
        return error
    return None
