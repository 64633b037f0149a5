"""An explanation as people read it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from modelplane.placement import Standing
from modelplane.placement.decision import Admission, ClusterVerdict
from modelplane_cli.output import folding, table
from modelplane_cli.output.screen import PIPE, Screen
from modelplane_cli.planning.explanation import Answer, Backend

_REPLICAS_SHOWN = 20
_CLUSTERS_SHOWN = 5
_VERDICTS_SHOWN = 50


def text(answer: Answer, screen: Screen = PIPE) -> str:
    """Return the reasons of placements, the verdict of every cluster, and the change that would make one more fit."""
    return "".join(f"{part}\n" for line in _lines(answer, screen) for part in folding.fitted(line, screen.width))


def _lines(answer: Answer, screen: Screen) -> Iterator[str]:
    plan = answer.plan
    if not answer.about:
        yield f"ModelDeployment {answer.namespace}/{answer.name}: {plan.placed} of {plan.wanted} replicas placed"
    yield from _chosen(answer)
    yield from _standings(answer)
    for blocked in plan.blocked:
        if answer.about in ("", blocked.replica):
            yield f"  ! {blocked.replica} must move ({blocked.cause}) but cannot: {blocked.message}"
    yield ""
    yield "this replica, as if it were not placed:" if answer.about else "one more replica:"
    yield f"  {answer.message}"
    # Those that fit first: of a large fleet they are what somebody looks for.
    shown = sorted(answer.verdicts, key=lambda verdict: not verdict.fits)[:_VERDICTS_SHOWN]
    rows = [row for verdict in sorted(shown, key=lambda verdict: verdict.cluster) for row in _verdict(verdict)]
    yield from table.lines(("CLUSTER", "POOL", "VERDICT", "DETAIL"), rows, indent="  ", screen=screen)
    if len(answer.verdicts) > len(shown):
        yield f"  and {len(answer.verdicts) - len(shown)} more clusters; -o json has them all"
    closest = answer.closest
    if closest is not None:
        where = f"{closest.cluster}/{closest.pool}" if closest.pool else closest.cluster
        yield f"  closest is {where}: would fit if {closest.would_fit_if}"
    for beyond in answer.amendment.beyond:
        yield f"    {beyond}"
    if answer.otherwise is not None:
        other = answer.otherwise[0]
        where = f"{other.cluster}/{other.pool}" if other.pool else other.cluster
        yield f"  or without a move, {where}: would fit if {other.would_fit_if}"
    if answer.moves is not None and not answer.moves.decided:
        yield "  the search reached its limit; other moves of replicas, or fewer of them, may also make room"
    if answer.helpless:
        yield f"  {answer.helpless}"


def _chosen(answer: Answer) -> Iterator[str]:
    yield from _backend(answer.backend)
    if answer.scaling:
        yield f"  scaling: {answer.scaling}"


def _backend(backend: Backend | None) -> Iterator[str]:
    if backend is None:
        return
    name = f"backend {backend.choice.backend}"
    yield f"  {backend.choice.why}" if backend.choice.why.startswith(name) else f"  {name}: {backend.choice.why}"
    said = ", ".join(f"{one.backend} {one.message}" for one in backend.vote.ballots if one.refusal is None)
    if said:
        yield f"    the clusters' vote today: {said}"
    for one in backend.vote.ballots:
        if one.refusal is not None:
            yield f"    {one.backend} has {one.message}"
    yield from (f"    {failure}" for failure in backend.vote.failures)


def _standings(answer: Answer) -> Iterator[str]:
    standings = answer.standings
    for standing in standings[:_REPLICAS_SHOWN]:
        yield from _standing(standing)
        error = answer.errors.get(standing.replica.name)
        if error:
            yield f"    it is not ready: {error}"
    if len(standings) > _REPLICAS_SHOWN:
        yield f"  and {len(standings) - _REPLICAS_SHOWN} more; -o json has them all"
    # Nearly always the same for all of them.
    yield from _notes(answer, standings)


def _notes(answer: Answer, standings: Sequence[Standing]) -> Iterator[str]:
    for arguments in dict.fromkeys(filter(None, (answer.arguments.get(one.replica.name) for one in standings))):
        yield f"  engine arguments: {arguments}"
    for written in dict.fromkeys(filter(None, (answer.overrides.get(one.replica.name) for one in standings))):
        yield f"  overrides: {written}"


def _standing(standing: Standing) -> Iterator[str]:
    placed = standing.replica
    pools = "+".join(dict.fromkeys(role.pool for role in placed.roles))
    said = {
        Admission.ADMITTED: "admitted by the cluster",
        Admission.PENDING: "waiting for admission by the cluster",
        Admission.REFUSED: "refused by the cluster",
    }
    yield f"  {placed.name} is on {placed.cluster}/{pools}, {said[placed.admission]}"
    if placed.note:
        yield f"    {placed.note}"
    yield from (f"    {line}" for line in standing.alternatives)
    verdict = standing.fits
    if verdict is None:
        yield f"    cluster {placed.cluster} is not among the clusters it could be placed on today; what runs is kept"
    elif not verdict.fits:
        yield f"    it would not be placed there today ({verdict.reason}: {verdict.detail}); what runs is kept"
    # Those that would be chosen first: they are what surprises.
    rivals = sorted(standing.rivals, key=lambda rival: not rival.preferred)
    for rival in rivals[:_CLUSTERS_SHOWN]:
        order = "would be chosen before it today" if rival.preferred else "comes after it"
        kept = "; what is placed stays where it is" if rival.preferred else ""
        yield f"    {rival.cluster} also fits and {order}: {rival.why}{kept}"
    if len(rivals) > _CLUSTERS_SHOWN:
        yield f"    {len(rivals) - _CLUSTERS_SHOWN} more clusters also fit; -o json has them all"
    if len(standing.others) <= _CLUSTERS_SHOWN:
        for other in standing.others:
            yield f"    {other.cluster} would not take it: {other.reason}: {other.detail}"
    else:
        counts = Counter(str(other.reason) for other in standing.others).items()
        most_first = sorted(counts, key=lambda entry: (-entry[1], entry[0]))
        told = ", ".join(f"{count} {reason}" for reason, count in most_first)
        yield f"    {len(standing.others)} clusters would not take it: {told}"


def _verdict(verdict: ClusterVerdict) -> Iterator[tuple[str, str, str, str]]:
    yield (verdict.cluster, "", "fits" if verdict.fits else str(verdict.reason), "" if verdict.fits else verdict.detail)
    if len(verdict.pools) == 1 and verdict.pools[0].detail in ("", verdict.detail):
        return
    several = len({pool.role for pool in verdict.pools}) > 1
    for pool in verdict.pools:
        name = f"{pool.pool} ({pool.role})" if several else pool.pool
        yield ("", name, "fits" if pool.fits else str(pool.reason), pool.detail)
