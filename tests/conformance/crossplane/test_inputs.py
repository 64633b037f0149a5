"""Hold, don't drop, for every input in turn: the real core deletes nothing when one is gone, empty or wrong.

What a composite asks for is what the core reports it asked for, so an input that a composer gains is broken here
without a word in this file. Every object that answers a requirement is broken by itself, in every way below.

What a composite composed itself is no input, though it may be asked for too: the core would read the broken object as
the observed one, and no API server holds one without the fields that its definition requires.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.conformance.crossplane import test_core as core
from tests.support import crossplane, functionserver, live

Document = dict[str, Any]
Break = Callable[[Document], Document | None]


def _gone(_found: Document) -> None:
    return None


def _without(key: str) -> Break:
    return lambda found: {name: value for name, value in found.items() if name != key}


def _mistyped(key: str) -> Break:
    return lambda found: {**found, key: _otherwise(found.get(key))}


def _replaced(key: str, value: Any) -> Break:
    return lambda found: {**found, key: value}


def _unlabelled(found: Document) -> Document:
    return {**found, "metadata": {name: value for name, value in found["metadata"].items() if name != "labels"}}


def _otherwise(value: Any) -> Any:
    """Return a value of the same shape in which every leaf has another type."""
    if isinstance(value, dict):
        return {name: _otherwise(one) for name, one in value.items()}
    if isinstance(value, list):
        return [_otherwise(one) for one in value]
    return 7 if isinstance(value, str) else "seven"


BREAKS: dict[str, Break] = {
    "gone": _gone,
    "unlabelled": _unlabelled,
    "without-spec": _without("spec"),
    "with-an-empty-spec": _replaced("spec", {}),
    "with-a-spec-of-other-types": _mistyped("spec"),
    "with-a-list-for-a-spec": _replaced("spec", ["x"]),
    "without-status": _without("status"),
    "with-an-empty-status": _replaced("status", {}),
    "with-a-status-of-other-types": _mistyped("status"),
    "with-a-list-for-a-status": _replaced("status", ["x"]),
}


@pytest.fixture(scope="module")
def target() -> Iterator[str]:
    live.needs(core.SUITE, "go")
    crossplane.binary()
    with functionserver.running(["--insecure"]) as server:
        yield server.target


def answers(requirement: Document, document: Document) -> bool:
    """Return whether a document is one that a requirement asks for."""
    metadata = document["metadata"]
    if (document["apiVersion"], document["kind"]) != (requirement["apiVersion"], requirement["kind"]):
        return False
    if requirement.get("namespace", metadata.get("namespace")) != metadata.get("namespace"):
        return False
    if "matchName" in requirement:
        return bool(metadata["name"] == requirement["matchName"])
    wanted: Document = requirement.get("matchLabels", {}).get("labels", {})
    has: Document = metadata.get("labels", {})
    return wanted.items() <= has.items()


def inputs(target: str, composite: Document, children: list[Document], others: list[Document]) -> list[int]:
    """Return which of the others the composite looks at, by their place."""
    asked = core.reconcile(target, composite, observed=children, required=others).requirements
    own = {crossplane.identity(one) for one in children}
    return [
        place
        for place, one in enumerate(others)
        if crossplane.identity(one) not in own and any(answers(requirement, one) for requirement in asked)
    ]


@pytest.mark.slow
@pytest.mark.parametrize("how", BREAKS)
@pytest.mark.parametrize("example", core.EXAMPLES)
def test_law_one_broken_input_deletes_nothing(target: str, example: str, how: str) -> None:
    settled = core.world(example)
    broken = 0
    for composite in settled.composites():
        children, others = settled.children(composite), settled.others(composite)
        for place in inputs(target, composite, children, others):
            spoilt = BREAKS[how](copy.deepcopy(others[place]))
            left = [*others[:place], *([] if spoilt is None else [spoilt]), *others[place + 1 :]]
            name = f"{composite['kind']} {composite['metadata']['name']}: {crossplane.identity(others[place])} {how}"
            try:
                result = core.reconcile(target, composite, observed=children, required=left)
            except crossplane.CoreError as error:
                pytest.fail(f"{name}: a bug, not an answer: {error}")
            assert core.losses(result, children) == [], name
            broken += 1
    assert broken, "no composite looks at anything: this test would prove nothing"


def test_every_kind_that_looks_at_others_is_among_the_examples(target: str) -> None:
    looking = {
        composite["kind"]
        for example in core.EXAMPLES
        for composite in core.world(example).composites()
        if inputs(target, composite, core.world(example).children(composite), core.world(example).others(composite))
    }
    assert looking >= {"InferenceCluster", "ModelDeployment", "ModelReplica", "ModelService"}
