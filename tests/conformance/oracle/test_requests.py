"""What is rendered for random device requests, asked of Kubernetes' own allocator in each version that we know.

MODELPLANE_REQUESTS is the number of random requests (default 1000). Each option of our matching is rendered as a claim,
and every version that has what the claim uses must allocate exactly the devices that the ledger counts. The laws of
`tests/property/test_request_laws` ask the same of our copy of the allocator.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings

from modelplane.devices import matching, sharing
from modelplane.devices.matching import Option
from modelplane.devices.model import Constraint, NodeClass, Request
from modelplane.render import claims
from tests.conformance.oracle import program
from tests.support import device_questions as asked
from tests.support import live, published

Json = dict[str, Any]
Question = tuple[NodeClass, tuple[Request, ...], tuple[Constraint, ...]]

REQUESTS = int(os.environ.get("MODELPLANE_REQUESTS", "1000"))
NEWER = 36
"""The minor version of Kubernetes that has lists and shared devices."""
SEED = int(os.environ.get("MODELPLANE_ORACLE_SEED", "7"))


def drawn(minor: int) -> list[Question]:
    """Return random questions about what the version has, the same for the same seed."""
    found: list[Question] = []

    @seed(SEED)
    @settings(
        max_examples=REQUESTS,
        phases=[Phase.generate],
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(asked.questions(newer=minor >= NEWER))
    def collect(one: Question) -> None:
        found.append(one)

    collect()
    return found


def rendered(question: Question, number: str) -> Iterator[tuple[Option, list[str], Json]]:
    """Yield each option, the versions that have what its claim uses, and the problem for the allocator."""
    node_class, requests, constraints = question
    for option in matching.match(node_class, requests, constraints).options:
        replica = asked.bound(node_class, requests, constraints, option)
        template = claims.of(replica, replica.roles[0], {}).template
        assert template is not None
        plain = matching.chosen(requests, constraints, asked.choice_of(requests, option))
        yield (
            option,
            list(asked.minors(node_class, *plain)),
            problem(node_class, template.resource["spec"]["spec"], number),
        )


def problem(node_class: NodeClass, spec: Json, number: str) -> Json:
    """Return a node of the class and one claim, as the oracle reads them."""
    slice_ = {
        "metadata": {"name": "devices"},
        "spec": {
            "driver": asked.DRIVER,
            "pool": {"name": "node-1", "generation": 1, "resourceSliceCount": 1},
            "nodeName": "node-1",
            "devices": [entry for device in node_class.devices for entry in published.devices(device)],
        },
    }
    classes = [
        {"metadata": {"name": name}, "spec": {"selectors": [{"cel": {"expression": f'{asked.MARK} == "{name}"'}}]}}
        for name in asked.CLASSES
    ]
    return {
        "id": number,
        "kind": "allocation",
        "listAttributes": node_class.lists_are_on,
        "node": {"metadata": {"name": "node-1"}},
        "slices": [slice_],
        "classes": classes,
        "claims": [{"metadata": {"name": "claim", "namespace": "n", "uid": "u"}, "spec": spec}],
        "allocated": {"devices": [], "shared": []},
    }


def consumed(results: list[Json]) -> tuple[tuple[str, int], ...]:
    return sharing.consumed(
        sharing.Part(one["device"].rpartition("-")[0], 1, sharing.read(one["consumedCapacity"].items()))
        for one in results
        if one.get("consumedCapacity")
    )


@pytest.mark.slow
@pytest.mark.parametrize("minor", program.MINORS)
def test_every_version_takes_what_is_counted(minor: int) -> None:
    live.needs("oracle", "go")
    rows = [
        (option, one)
        for number, question in enumerate(drawn(minor))
        for option, versions, one in rendered(question, str(number))
        if f"1.{minor}" in versions
    ]
    assert len(rows) > REQUESTS / 5
    replies = program.ask([one for _, one in rows], minor)
    wrong = []
    for (option, one), reply in zip(rows, replies, strict=True):
        results = reply["claims"][0]["devices"]["results"] if reply["result"] == "allocated" else []
        taken = Counter(entry["device"].rpartition("-")[0] for entry in results)
        if tuple(sorted(taken.items())) != option.counted or consumed(results) != option.consumed:
            wrong.append(
                f"{one['id']}: counted {option.counted}, {reply['result']} {dict(taken)} {reply.get('error', '')}"
            )
    assert wrong == []
