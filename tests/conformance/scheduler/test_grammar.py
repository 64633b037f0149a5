"""The whole grammar of device requests before kube-scheduler: every pod of a replica that a cluster admits gets a node.

Replicas propose, are admitted, edited, scaled and drained in any order; the pods that stand then come in an order drawn
by chance, under default scoring. They are requests with ranked alternatives, mode All, tolerations of device taints,
distinctAttribute, parts of shared devices, parts of physical ones (MIG), sizes that do not divide eight, two roles, and
gangs beside single pods. With feature gates they are also attributes that are lists, and DeviceTaintRules.

In a second round some replicas go and others come. Whole nodes beside smaller pods are an estimate of where the cluster
puts each (`placement/DESIGN.md`), so some of those may wait; the share is held below a bound. None of those with parts
of shared devices may.

MODELPLANE_CASES says how many fleets (default 560 by default gates, and a quarter as many with the others).
"""

from __future__ import annotations

import os

import pytest

from tests.conformance.scheduler import grammar, judge
from tests.support import controlplane

CASES = int(os.environ.get("MODELPLANE_CASES", "560"))
SEED = int(os.environ.get("MODELPLANE_SEED", "1"))
FIRST, BATCH = 700_000, 80
WAITING_MAX = 0.03
Pod = tuple[frozenset[str], bool]
"""What a pod uses of the grammar, and whether it has a node."""

pytestmark = pytest.mark.slow


def judged(plane: controlplane.Plane, number: int, *, newest: bool) -> list[grammar.Case]:
    found = []
    fleets = grammar.drawn(number, SEED, newest=newest)
    for first in range(0, len(fleets), BATCH):
        batch = [grammar.case(FIRST + first + at, one) for at, one in enumerate(fleets[first : first + BATCH])]
        judge.judge_rounds(plane, batch)
        found += batch
    return found


def test_every_admitted_pod_gets_its_node(plane: controlplane.Plane, tables: list[str]) -> None:
    check("default gates", judged(plane, CASES, newest=False), tables)


def test_every_admitted_pod_gets_its_node_with_lists_and_rules(newest: controlplane.Plane, tables: list[str]) -> None:
    check("with lists and DeviceTaintRules", judged(newest, CASES // 4, newest=True), tables)


def check(name: str, cases: list[grammar.Case], tables: list[str]) -> None:
    first, second = ([pod for one in cases for pod in one.pods_in(at)] for at in range(2))
    told = f"{name}, {table(len(cases), first, second)}"
    tables.append(told)
    assert len(first) > 2 * len(cases), told
    assert all(is_bound for _, is_bound in first), told
    assert all(is_bound for words, is_bound in second if grammar.SHARES in words), told
    assert sum(not is_bound for _, is_bound in second) <= WAITING_MAX * len(second), told


def table(fleets: int, *rounds: list[Pod]) -> str:
    """Return how many pods of each kind came in the rounds, and how many of those waited."""
    words = sorted({word for each in rounds for pod, _ in each for word in pod})
    rows = [("all", frozenset[str]()), *((word, frozenset({word})) for word in words)]
    lines = [f"{fleets} fleets", f"{'pods with':20}" + "  round  wait" * len(rounds)]
    for name, wanted in rows:
        those = [[is_bound for has, is_bound in each if wanted <= has] for each in rounds]
        lines.append(f"{name:20}" + "".join(f"{len(each):7}{each.count(False):6}" for each in those))
    return "\n".join(lines)
