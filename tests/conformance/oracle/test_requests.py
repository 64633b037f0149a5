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

from modelplane.devices import matching
from modelplane.devices.matching import Option
from modelplane.devices.model import Attribute, Constraint, Device, NodeClass, Request
from modelplane.render import claims
from tests.conformance.oracle import program
from tests.property import test_request_laws as asked
from tests.support import live

Json = dict[str, Any]
Question = tuple[NodeClass, tuple[Request, ...], tuple[Constraint, ...]]

REQUESTS = int(os.environ.get("MODELPLANE_REQUESTS", "1000"))
SEED = int(os.environ.get("MODELPLANE_ORACLE_SEED", "7"))


def drawn() -> list[Question]:
    """Return random questions, the same for the same seed."""
    found: list[Question] = []

    @seed(SEED)
    @settings(
        max_examples=REQUESTS,
        phases=[Phase.generate],
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(asked.questions())
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
        yield option, asked.minors(*plain), problem(node_class, template.resource["spec"]["spec"], number)


def problem(node_class: NodeClass, spec: Json, number: str) -> Json:
    """Return a node of the class and one claim, as the oracle reads them."""
    slice_ = {
        "metadata": {"name": "devices"},
        "spec": {
            "driver": asked.DRIVER,
            "pool": {"name": "node-1", "generation": 1, "resourceSliceCount": 1},
            "nodeName": "node-1",
            "devices": [entry for device in node_class.devices for entry in published(device)],
        },
    }
    classes = [
        {"metadata": {"name": name}, "spec": {"selectors": [{"cel": {"expression": f'{asked.MARK} == "{name}"'}}]}}
        for name in asked.CLASSES
    ]
    return {
        "id": number,
        "kind": "allocation",
        "node": {"metadata": {"name": "node-1"}},
        "slices": [slice_],
        "classes": classes,
        "claims": [{"metadata": {"name": "claim", "namespace": "n", "uid": "u"}, "spec": spec}],
        "allocated": {"devices": [], "shared": []},
    }


def published(device: Device) -> Iterator[Json]:
    for number in range(device.count):
        yield {
            "name": f"{device.name}-{number}",
            "attributes": {name: attribute(value) for name, value in device.attributes},
            "capacity": {name: {"value": text} for name, text in device.capacity},
            "taints": [
                {"key": one.key, "effect": str(one.effect), **({"value": one.value} if one.value else {})}
                for one in device.taints
            ],
        }


def attribute(value: Attribute) -> Json:
    return {str(value.kind): value.value}


@pytest.mark.slow
@pytest.mark.parametrize("minor", program.MINORS)
def test_every_version_takes_what_is_counted(minor: int) -> None:
    live.needs("oracle", "go")
    rows = [
        (option, one)
        for number, question in enumerate(drawn())
        for option, versions, one in rendered(question, str(number))
        if f"1.{minor}" in versions
    ]
    assert len(rows) > REQUESTS / 5
    replies = program.ask([one for _, one in rows], minor)
    wrong = []
    for (option, one), reply in zip(rows, replies, strict=True):
        results = reply["claims"][0]["devices"]["results"] if reply["result"] == "allocated" else []
        taken = Counter(entry["device"].rpartition("-")[0] for entry in results)
        if tuple(sorted(taken.items())) != option.counted:
            wrong.append(
                f"{one['id']}: counted {option.counted}, {reply['result']} {dict(taken)} {reply.get('error', '')}"
            )
    assert wrong == []
