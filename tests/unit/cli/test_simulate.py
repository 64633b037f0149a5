"""`modelplane simulate`: drains, losses, scalings and additions, in steps."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from modelplane_cli.planning import headroom
from tests.support import planning as given

Json = Any


def world(*, replicas: int = 2, tensor: int = 8, **nodes: int) -> list[Json]:
    """Return clusters by name and number of nodes, and one deployment; `zone` is z1 for a and z2 for all others."""
    sizes = nodes or {"a": 2, "b": 2}
    clusters = [given.cluster(name, nodes=count, zone="z1" if name == "a" else "z2") for name, count in sizes.items()]
    return [given.node_class(), *clusters, given.deployment(replicas=replicas, tensor=tensor)]


def run(tmp_path: Path, objects: list[Json], *arguments: str) -> given.Run:
    return given.run("simulate", given.written(tmp_path, "now", *objects), "-n", "ml-team", "-o", "json", *arguments)


def places(plan: Json) -> dict[str, str]:
    return {one["name"]: one["cluster"] for row in plan["deployments"] for one in row["replicas"]}


def test_a_drain_places_successors_first_and_loses_nothing(tmp_path: Path) -> None:
    ran = run(tmp_path, world(replicas=3, a=3, b=3), "--drain", "a")
    assert (ran.code, ran.err) == (0, "")
    (step,) = ran.json["steps"]
    assert step["event"] == "drain a"
    moved = {one["replica"]: (one["from"]["cluster"], one["to"]["cluster"]) for one in step["moved"]}
    assert len(moved) == 2
    assert set(moved.values()) == {("a", "b")}
    assert (step["lost"], step["unplaced"]) == ([], [])
    assert set(places(ran.json["after"]).values()) == {"b"}
    for change in step["moved"]:
        old, new = f"ml-team/{change['replica']}", f"ml-team/{change['successor']}"
        order = [said for stage in step["stages"] for said in stage]
        assert order.index(f"{new} serves on b") < order.index(f"{old} is removed from a"), "a successor serves first"


def test_a_drain_moves_one_at_a_time(tmp_path: Path) -> None:
    ran = run(tmp_path, world(replicas=4, a=4, b=4), "--drain", "a")
    (step,) = ran.json["steps"]
    waiting = 0
    for stage in step["stages"]:
        for said in stage:
            waiting += ("is placed on" in said) - ("serves on" in said)
        assert waiting <= 1, step["stages"]


def test_a_drain_without_room_leaves_what_runs_and_says_who(tmp_path: Path) -> None:
    ran = run(tmp_path, world(replicas=2, a=1, b=1), "--drain", "a")
    assert ran.code == 1
    (step,) = ran.json["steps"]
    assert (step["moved"], step["lost"]) == ([], [])
    (stuck,) = step["unplaced"]
    assert (stuck["namespace"], stuck["name"], stuck["count"]) == ("ml-team", "llama", 1)
    assert places(ran.json["after"])[stuck["replicas"][0]] == "a", "it is kept where it is"
    assert "must move (cluster a has the taint drain=true:NoExecute)" in stuck["message"]


def test_a_drain_of_those_who_tolerate_it_moves_nobody(tmp_path: Path) -> None:
    objects = world()
    objects[-1]["spec"]["tolerations"] = [{"key": "drain", "operator": "Exists"}]
    ran = run(tmp_path, objects, "--drain", "a")
    assert ran.code == 0
    (step,) = ran.json["steps"]
    assert (step["changes"], step["unplaced"], step["stages"]) == ([], [], [])


def test_a_loss_is_lost_and_replaced_elsewhere(tmp_path: Path) -> None:
    ran = run(tmp_path, world(), "--lose", "a")
    assert ran.code == 0
    (step,) = ran.json["steps"]
    (lost,) = step["lost"]
    (moved,) = step["moved"]
    assert lost == moved, "it ceased to serve, and another stands in its stead"
    assert (lost["from"]["cluster"], lost["to"]["cluster"], lost["interrupted"]) == ("a", "b", True)
    assert lost["why"] == "cluster a is lost"
    assert step["unplaced"] == []
    assert step["stages"][0] == [f"ml-team/{lost['replica']} no longer serves on a"]


def test_a_loss_that_does_not_fit_is_unplaced(tmp_path: Path) -> None:
    ran = run(tmp_path, world(replicas=2, a=1, b=1), "--lose", "a")
    assert ran.code == 1
    (step,) = ran.json["steps"]
    (missing,) = step["unplaced"]
    assert (missing["name"], missing["count"]) == ("llama", 1)
    assert "clusters fit" in missing["message"]
    assert step["moved"] == []
    assert [one["change"] for one in step["lost"]] == ["lost"]
    assert ran.json["after"]["deployments"][0]["unschedulable"]["count"] == 1


def test_losing_everything_is_not_called_fine(tmp_path: Path) -> None:
    ran = run(tmp_path, world(a=2), "--lose", "a")
    assert ran.code == 1
    (step,) = ran.json["steps"]
    assert len(step["lost"]) == 2
    assert step["unplaced"][0]["count"] == 2


def test_a_label_loses_all_its_clusters_at_once(tmp_path: Path) -> None:
    ran = run(tmp_path, world(replicas=3, tensor=4, a=2, b=2, c=2), "--lose-label", "zone=z2")
    (step,) = ran.json["steps"]
    assert step["event"] == "lose all with zone=z2"
    assert {one["from"]["cluster"] for one in step["lost"]} == {"b", "c"}
    assert set(places(ran.json["after"]).values()) == {"a"}
    assert ran.code == 0


def test_nodes_that_are_lost_take_nothing_new_and_keep_what_they_have(tmp_path: Path) -> None:
    ran = run(
        tmp_path, world(replicas=2, tensor=8, a=2, b=2), "--lose-nodes", "a/gpu=1", "--lose-nodes", "a/gpu=1",
        "--scale", "llama=4",
    )  # fmt: skip
    first, second, scaled = ran.json["steps"]
    assert first["event"] == "1 node of a/gpu take nothing new"
    assert not (first["moved"] or first["lost"] or second["moved"] or second["lost"])
    assert sorted(places(ran.json["after"]).values()) == ["a", "b", "b"]
    assert sum(one["count"] for one in scaled["unplaced"]) == 1


@pytest.mark.parametrize(
    ("target", "changes", "count"),
    [
        pytest.param("llama=4", ["created", "created"], 0, id="up, in the namespace of -n"),
        pytest.param("ml-team/llama=1", ["removed"], 0, id="down"),
        pytest.param("ml-team/llama=0", ["removed", "removed"], 0, id="to zero"),
        pytest.param("ml-team/llama=6", ["created", "created"], 2, id="beyond the fleet"),
    ],
)
def test_scaling(tmp_path: Path, target: str, changes: list[str], count: int) -> None:
    ran = run(tmp_path, world(), "--scale", target)
    (step,) = ran.json["steps"]
    assert [one["change"] for one in step["changes"]] == changes
    assert step["lost"] == [], "what nobody wants any more is not lost"
    assert sum(one["count"] for one in step["unplaced"]) == count
    assert ran.code == (1 if count else 0)


def test_an_addition_is_applied_on_top(tmp_path: Path) -> None:
    more = given.written(tmp_path, "more", given.deployment("qwen", replicas=2, tensor=8), given.cluster("c"))
    ran = run(tmp_path, world(), "--add", more)
    (step,) = ran.json["steps"]
    assert {(one["deployment"], one["change"]) for one in step["changes"]} == {("qwen", "created")}
    assert len(places(ran.json["after"])) == 4
    assert ran.code == 0


def test_an_addition_over_what_is_there_keeps_what_runs(tmp_path: Path) -> None:
    more = given.written(tmp_path, "more", given.deployment(replicas=3, tensor=8))
    ran = run(tmp_path, world(), "--add", more)
    (step,) = ran.json["steps"]
    assert [one["change"] for one in step["changes"]] == ["created"]
    assert [one["state"] for one in ran.json["after"]["deployments"][0]["replicas"]] == ["retained", "retained", "new"]


def test_steps_follow_the_command_line(tmp_path: Path) -> None:
    ran = run(tmp_path, world(), "--scale", "llama=3", "--drain", "a", "--lose", "a")
    assert [step["event"] for step in ran.json["steps"]] == ["scale ml-team/llama to 3", "drain a", "lose a"]
    _, drain, lose = ran.json["steps"]
    assert drain["unplaced"], "three replicas of a whole node do not stand on the two nodes of b"
    assert [one["change"] for one in lose["lost"]] == ["lost"]


def test_who_moved_away_before_a_loss_is_not_lost_with_it(tmp_path: Path) -> None:
    ran = run(tmp_path, world(), "--drain", "a", "--lose", "a")
    assert ran.code == 0
    assert ran.json["steps"][1]["changes"] == []
    assert [(one["change"], one["interrupted"]) for one in ran.json["after"]["changes"]] == [("moved", False)]


@pytest.mark.parametrize(
    ("nodes", "replicas", "any_clusters", "largest"),
    [
        pytest.param({"a": 1, "b": 1}, 2, 0, None, id="full: no loss fits"),
        pytest.param({"a": 2, "b": 2}, 2, 1, (["b"], 16), id="either of two, not both"),
        pytest.param({"a": 1, "b": 1, "c": 1}, 1, 2, (["b", "c"], 16), id="any two of three"),
        pytest.param({"a": 4, "b": 1, "c": 1}, 3, 0, (["b", "c"], 16), id="the small ones, not the large one"),
    ],
)
def test_headroom(tmp_path: Path, nodes: dict[str, int], replicas: int, any_clusters: int, largest: Json) -> None:
    ran = run(tmp_path, world(replicas=replicas, **nodes), "--headroom")
    found = ran.json["headroom"]
    assert (found["anyClusters"], found["complete"]) == (any_clusters, True)
    assert (found["largest"] and (found["largest"]["clusters"], found["largest"]["devices"])) == largest
    assert [one["cluster"] for one in found["singles"]] == sorted(nodes)
    assert ran.code == (0 if any_clusters else 1)


def test_headroom_changes_nothing(tmp_path: Path) -> None:
    ran = run(tmp_path, world(), "--headroom")
    assert ran.json["steps"] == []
    assert all(one["change"] == "created" for one in ran.json["after"]["changes"]) or not ran.json["after"]["changes"]
    assert len(places(ran.json["after"])) == 2


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        pytest.param(("--drain", "bb"), "no InferenceCluster bb; did you mean b?", id="unknown cluster"),
        pytest.param(("--lose", "zzz"), "no InferenceCluster zzz; there are a, b", id="nothing like it"),
        pytest.param(("--lose-label", "zone"), "write KEY=VALUE", id="label without value"),
        pytest.param(("--lose-label", "zone=z9"), "zone is z1, z2", id="unknown value"),
        pytest.param(
            ("--lose-label", "nothing=1"), "none has nothing; their labels are modelplane.ai/region, zone", id="key"
        ),
        pytest.param(("--lose-nodes", "a=1"), "write CLUSTER/POOL=N", id="no pool"),
        pytest.param(("--lose-nodes", "a/gqu=1"), "no pool gqu of InferenceCluster a", id="unknown pool"),
        pytest.param(("--lose-nodes", "a/gpu=99"), "nodes, not 99", id="more nodes than there are"),
        pytest.param(("--scale", "llama"), "write NAMESPACE/NAME=N", id="no number"),
        pytest.param(("--scale", "llama=-1"), "write NAMESPACE/NAME=N", id="below zero"),
        pytest.param(("--scale", "lama=1"), "did you mean ml-team/llama?", id="unknown deployment"),
        pytest.param(("--add", "nowhere.yaml"), "nowhere.yaml: does not exist", id="no such file"),
        pytest.param((), "give an event", id="nothing happens"),
    ],
)
def test_what_cannot_be_understood_is_refused(tmp_path: Path, arguments: tuple[str, ...], said: str) -> None:
    ran = run(tmp_path, world(), *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err
    assert "Traceback" not in ran.err


def test_steps_for_people(tmp_path: Path) -> None:
    ran = given.run("simulate", given.written(tmp_path, "now", *world()), "--drain", "a")
    assert ran.out.startswith(
        "0 created, 1 moved, 0 interrupted, 0 lost\n\ndrain a: 1 moved, 0 lost or interrupted, 0 without a place\n"
    )
    changed, stages = ran.out.index("  moved "), ran.out.index("as the successor of llama-")
    assert changed < stages, "what changed comes before the order of it"
    assert ran.err == "", "progress is for terminals"


def test_a_drain_that_moves_nothing_prints_a_few_lines(tmp_path: Path) -> None:
    clusters = [given.cluster(f"c{number:02}") for number in range(60)]
    deployments = [given.deployment(f"m{number}", replicas=4) for number in range(5)]
    file = given.written(tmp_path, "now", given.node_class(), *clusters, *deployments)
    placed = set(places(given.run("plan", file, "-o", "json").json).values())
    idle = next(one["metadata"]["name"] for one in clusters if one["metadata"]["name"] not in placed)
    ran = given.run("simulate", file, "--drain", idle)
    assert (ran.code, ran.out.splitlines()) == (
        0,
        [
            "0 created, 0 moved, 0 interrupted, 0 lost",
            "",
            f"drain {idle}: 0 moved, 0 lost or interrupted, 0 without a place",
            "  no replica changes",
            "",
            "not shown: 20 replicas and 60 pools without a change; --all shows them",
        ],
    )
    whole = given.run("simulate", file, "--drain", idle, "--all").out
    assert all(f"m{number}-{index} " in whole for number in range(5) for index in range(4))
    assert all(f"\nc{number:02}  " in whole for number in range(60)), "idle pools included"


def test_a_trouble_is_told_once(tmp_path: Path) -> None:
    ran = given.run("simulate", given.written(tmp_path, "now", *world(a=1, b=1)), "--drain", "a")
    assert ran.code == 1
    (line,) = [line for line in ran.out.splitlines() if "must move (" in line]
    assert line.startswith("  ! ml-team/llama: ")
    assert "1 NOT PLACED" in ran.out.splitlines()[0]


def test_headroom_that_was_not_tried_is_not_claimed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(headroom, "WORLDS_MAX", 2)
    clusters = [given.cluster(name, nodes=1) for name in "abc"]
    file = given.written(tmp_path, "now", given.node_class(), *clusters, given.deployment(replicas=2))
    ran = given.run("simulate", file, "--headroom")
    assert "any one cluster may be lost\n" in ran.out, "which is all that was tried"
    assert "the search stopped after 3 losses; not all larger ones were tried" in ran.out


def test_headroom_of_many_clusters_is_told_in_short(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clusters = [given.cluster(f"c{number:03d}", nodes=1) for number in range(150)]
    file = given.written(tmp_path, "now", given.node_class(), *clusters, given.deployment(replicas=2))
    short = given.run("simulate", file, "--headroom")
    assert short.code == 0
    assert len(short.out.splitlines()) < 10
    assert "150 of 150 clusters can be lost, one at a time; -o json has them all" in short.out
    assert "any 2 clusters may be lost" in short.out
    found = given.run("simulate", file, "--headroom", "-o", "json").json["headroom"]
    assert len(found["singles"]) == 150
    assert len(found["largest"]["clusters"]) == 148, "all but those where the two replicas are, or would go"
    assert found["rehearsed"] < found["tried"]


def test_a_long_stage_is_read_line_by_line_and_by_number(tmp_path: Path) -> None:
    """Twelve replicas come at once: one to a line, 2 before 10, and a word on what is left out."""
    ran = given.run(
        "simulate", given.written(tmp_path, "now", *world(tensor=1)), "-n", "ml-team", "--scale", "ml-team/llama=14"
    )
    stage = ran.out.partition("    1. ")[2].partition("    2. ")[0].splitlines()
    said = [f"ml-team/llama-{number} is placed on" for number in range(2, 10)]
    assert [line.strip().rpartition(" ")[0] for line in stage[:8]] == said
    assert stage[8].strip() == "and 4 more at once; --all shows them"
    rows = [line.split()[2] for line in ran.out.splitlines() if line.startswith("  created")]
    assert rows == [f"llama-{number}" for number in range(2, 14)]
    whole = given.run("simulate", str(tmp_path), "-n", "ml-team", "--scale", "ml-team/llama=14", "--all").out
    assert "more at once" not in whole
    table = [line.split()[1] for line in whole.splitlines() if line.startswith("ml-team/llama ")]
    assert table == [f"llama-{number}" for number in range(14)]
