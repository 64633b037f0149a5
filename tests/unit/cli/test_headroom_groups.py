"""Headroom by groups of clusters, against every loss made for real."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from modelplane_cli.planning import headroom, headroom_groups
from tests.support import planning as given
from tests.unit.cli import test_headroom as whole

Json = Any


def zones(**sizes: tuple[str, int]) -> list[Json]:
    """Return clusters by name, each with its zone and number of nodes."""
    return [given.cluster(name, nodes=nodes, zone=zone) for name, (zone, nodes) in sizes.items()]


def run(tmp_path: Path, objects: list[Json], *arguments: str) -> given.Run:
    return given.run("simulate", given.written(tmp_path, "now", *objects), "-n", "ml-team", *arguments)


@pytest.mark.parametrize("seed", (1, 2, 3, 5))
@pytest.mark.parametrize("by", ("zone", "class"))
def test_groups_are_as_every_loss_made_for_real(seed: int, by: str) -> None:
    world = whole.rehearsal(whole.fleet(seed))
    found = headroom_groups.of(headroom.Search(world, lambda _said: None), by)
    before = whole.missing(world, ())

    def fits(lost: tuple[str, ...]) -> bool:
        return all(count <= before.get(name, 0) for name, count in whole.missing(world, lost).items())

    clusters = {
        key.name: world.store.get(key) or {} for key in world.store.of_kind("modelplane.ai", "InferenceCluster")
    }
    members: dict[str, list[str]] = {}
    for name, one in sorted(clusters.items()):
        label = one["metadata"]["labels"]["zone"] if by == "zone" else one["spec"]["nodePools"][0]["className"]
        members.setdefault(label, []).append(name)
    assert {row.name: list(row.whole.clusters) for row in found.rows} == members
    for row in found.rows:
        inside = members[row.name]
        assert row.whole.fits is fits(tuple(inside)), row.name
        proven = 0
        while proven < len(inside) and all(fits(lost) for lost in combinations(inside, proven + 1)):
            proven += 1
        assert row.any_clusters == proven, row.name
    together = [size for size in range(1, len(members) + 1) if _all_fit(members, size, fits)]
    assert found.any_groups == max(together, default=0)


def _all_fit(members: dict[str, list[str]], size: int, fits: Callable[[tuple[str, ...]], bool]) -> bool:
    chosen = list(combinations(members, size))
    found: list[bool] = [fits(tuple(sorted(name for group in groups for name in members[group]))) for groups in chosen]
    return len(found) == math.comb(len(members), size) and all(found)


def test_a_region_that_can_be_lost_and_one_that_cannot(tmp_path: Path) -> None:
    """Two replicas of a node each: west has room for both, east not for those of west."""
    objects = [
        given.node_class(),
        *zones(a=("west", 2), b=("west", 2), c=("east", 1)),
        given.deployment(replicas=2, tensor=8),
    ]
    ran = run(tmp_path, objects, "--headroom", "--by", "zone", "-o", "json")
    found = ran.json["headroom"]["groups"]
    rows = {row["group"]: (row["fits"], row["anyClusters"], row["devices"]) for row in found["rows"]}
    assert rows == {"west": (False, 1, 32), "east": (True, 1, 8)}
    assert (found["by"], found["anyGroups"], found["complete"], found["ungrouped"]) == ("zone", 0, True, [])
    assert found["largest"] == {"groups": ["east"], "clusters": ["c"], "devices": 8}
    assert ran.code == 1
    text = run(tmp_path, objects, "--headroom", "--by", "zone").out
    assert text.splitlines()[0].split("  ")[0] == "ZONE"
    assert "no headroom by zone: the loss of west leaves something without a place\n" in text
    assert "the largest loss that fits: east (8 devices)\n" in text


def test_region_is_the_label_of_the_platform(tmp_path: Path) -> None:
    clusters = [given.cluster(name, nodes=1) for name in ("a", "b", "c")]
    for one, region in zip(clusters, ("eu", "us", None), strict=True):
        one["metadata"]["labels"] = {"modelplane.ai/region": region} if region else {}
    ran = run(tmp_path, [given.node_class(), *clusters, given.deployment(replicas=1)], "--headroom", "--by", "region")
    assert ran.code == 0
    assert ran.out.splitlines()[0].startswith("REGION")
    assert "any 2 of them may be lost\n" in ran.out
    assert "in no group, because they have no label modelplane.ai/region: c\n" in ran.out


def test_a_cluster_with_two_classes_is_in_both_groups(tmp_path: Path) -> None:
    cluster = given.cluster("a", nodes=1)
    cluster["spec"]["nodePools"].append({**cluster["spec"]["nodePools"][0], "name": "other", "className": "other-8x"})
    objects = [given.node_class(), given.node_class("other-8x"), cluster, given.cluster("b", nodes=2)]
    found = run(tmp_path, [*objects, given.deployment(replicas=1)], "--headroom", "--by", "class", "-o", "json").json
    rows = {row["group"]: row["clusters"] for row in found["headroom"]["groups"]["rows"]}
    assert rows == {"h100-8x": ["a", "b"], "other-8x": ["a"]}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        pytest.param(
            ("--headroom", "--by", "tier"),
            "--by tier: no InferenceCluster has the label tier; their labels are modelplane.ai/region, zone",
            id="a label that no cluster has",
        ),
        pytest.param(("--lose", "a", "--by", "class"), "give --headroom too", id="groups of nothing"),
    ],
)
def test_what_cannot_be_grouped_is_refused(tmp_path: Path, arguments: tuple[str, ...], said: str) -> None:
    ran = run(tmp_path, [given.node_class(), *zones(a=("west", 1)), given.deployment(replicas=1)], *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err


def test_what_was_not_tried_inside_a_group_is_not_claimed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(headroom, "WORLDS_MAX", 2)
    objects = [given.node_class(), *(given.cluster(name, nodes=1) for name in "abc"), given.deployment(replicas=2)]
    ran = run(tmp_path, objects, "--headroom", "--by", "class")
    row = next(line for line in ran.out.splitlines() if line.startswith("h100-8x")).split()
    assert row[1:6] == ["3", "24", "no", "1+", "8+"]
    assert "the search stopped before all larger losses were tried" in ran.out
