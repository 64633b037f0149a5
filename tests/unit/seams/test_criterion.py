"""A criterion added from outside: one field of the preference, with the words for a difference in it."""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple, get_type_hints

import pytest

from modelplane.placement.scheduling import preference
from modelplane.placement.scheduling.preference import Preference
from modelplane.placement.snapshot import Intent
from modelplane_cli.planning import decision, explanation
from modelplane_cli.planning.replicas import Deployment
from modelplane_cli.simulator.offline import World
from tests.support import planning as given
from tests.support import rendering

Json = Any
PLACE = Preference._fields.index("disliked_taints") + 1
MOON = {"a": 3, "b": 1, "c": 2}


def _moon(_intent: Intent, theirs: int, ours: int) -> str:
    return f"the moon is at {theirs} quarters there against {ours}"


def _with_moon() -> Any:
    """Return the preference with one field more."""
    fields = list(get_type_hints(Preference, include_extras=True).items())
    made: Any = NamedTuple
    return made("Moonlit", [*fields[:PLACE], ("moon", Annotated[int, _moon]), *fields[PLACE:]])


@pytest.fixture
def _moonlit(monkeypatch: pytest.MonkeyPatch) -> None:
    standing = preference.standing

    def lit(board: Any, name: str) -> Any:
        return (*standing(board, name), MOON[name])

    monkeypatch.setattr(preference, "standing", lit)
    monkeypatch.setattr(preference, "Preference", _with_moon())


def _world(replicas: int) -> World:
    clusters = [given.cluster(name, nodes=2) for name in MOON]
    return rendering.world([given.node_class(), *clusters, given.deployment(replicas=replicas, tensor=8)])


def _places(world: World) -> list[str]:
    deployment = world.store.get(rendering.ours("ModelDeployment", "llama", "ml-team")) or {}
    return [one["cluster"] for one in deployment["status"]["placements"]]


def test_without_it_names_decide() -> None:
    assert _places(_world(1)) == ["a"]


@pytest.mark.usefixtures("_moonlit")
def test_it_decides_where_all_before_it_is_alike() -> None:
    assert _places(_world(1)) == ["b"]
    assert _places(_world(2)) == ["b", "c"], "replicas of its own weigh more"


@pytest.mark.usefixtures("_moonlit")
def test_it_describes_its_own_difference() -> None:
    (standing,) = explanation.deployment(decision.of(_world(1).store, Deployment("ml-team", "llama"))).standings
    assert {rival.cluster: rival.why for rival in standing.rivals} == {
        "a": "the moon is at 3 quarters there against 1",
        "c": "the moon is at 2 quarters there against 1",
    }
