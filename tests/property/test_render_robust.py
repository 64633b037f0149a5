"""No document brings the command down: it is refused with its place, or answered; never a bug, never a traceback."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from modelplane_cli.checks import acceptance, references
from modelplane_cli.documents import reading, yamltext
from modelplane_cli.output import manifests, outline, tree
from modelplane_cli.simulator import offline, verdict
from modelplane_cli.simulator.offline import Assume
from modelplane_functions import responder
from tests.support import rendering

Json = Any

# Values that are wrong in most places and right in some, so that both answers are met.
VALUES: st.SearchStrategy[Json] = st.sampled_from(
    [None, True, 0, 1, -1, 3, 2**31, 0.5, "", "a", "x" * 300, "Ä", "0", "1Gi", "{{", [], {}, [{}], ["a"], {"a": "b"}]
)
KEYS = st.sampled_from(["name", "namespace", "replicas", "zzz", "status", "crossplane", "__proto__", ""])


def paths(value: Json, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    found = [path] if path else []
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        found += paths(inner, (*path, key))
    return found


def at(value: Json, path: tuple[str | int, ...]) -> Json:
    for part in path:
        value = value[part]
    return value


@st.composite
def broken_worlds(draw: st.DrawFn) -> list[Json]:
    """An example with up to three fields set to something else, removed, or added."""
    objects = copy.deepcopy(rendering.example(draw(st.sampled_from(rendering.EXAMPLES))))
    for _ in range(draw(st.integers(1, 3))):
        target = draw(st.sampled_from(objects))
        path = draw(st.sampled_from(paths(target)))
        try:
            holder = at(target, path[:-1])
            match draw(st.sampled_from(["set", "remove", "add"])):
                case "set":
                    holder[path[-1]] = copy.deepcopy(draw(VALUES))
                case "remove":
                    del holder[path[-1]]
                case "add":
                    holder[draw(KEYS)] = copy.deepcopy(draw(VALUES))
        except (KeyError, IndexError, TypeError):
            continue  # an earlier change took the place away
    return objects


def answered(objects: list[Json]) -> None:
    lines = yamltext.Lines(1)
    given = [reading.Document(data, "fuzz", index, lambda: lines) for index, data in enumerate(objects, 1)]
    checked = acceptance.check([one for one in given if isinstance(one.data, dict)], rendering.kinds(), "default")
    for problem in checked.problems:
        assert problem.message
        assert "\n" not in str(problem)
    if reading.has_errors(checked.problems):
        return
    world = offline.build(checked.objects, rendering.kinds(), responder.answer, Assume.READY)
    assert not world.settled.record.bugs, [str(bug) for bug in world.settled.record.bugs]
    assert outline.text(tree.trees(world))
    assert manifests.to_yaml(world.objects())
    assert all(str(failure) for failure in verdict.failures(world))
    assert all(str(missing) for missing in references.missing_secrets(world))


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(broken_worlds())
def test_no_edit_of_an_example_is_a_bug(objects: list[Json]) -> None:
    answered(objects)


@st.composite
def broken_observations(draw: st.DrawFn) -> list[Json]:
    """A running world with fields of observed objects changed, as a foreign controller or a bad dump may have them."""
    store = rendering.world(rendering.example("quickstart")).store
    objects = [copy.deepcopy(found) for key in store if (found := store.get(key)) is not None]
    for _ in range(draw(st.integers(1, 4))):
        target = draw(st.sampled_from([one for one in objects if one.get("status")]))
        target["metadata"].get("annotations", {}).pop("render.modelplane.ai/assumed", None)
        path = draw(st.sampled_from([path for path in paths(target) if path[0] in ("status", "spec")] or [("status",)]))
        try:
            holder = at(target, path[:-1])
            if draw(st.booleans()):
                holder[path[-1]] = copy.deepcopy(draw(VALUES))
            else:
                del holder[path[-1]]
        except (KeyError, IndexError, TypeError):
            continue
    return objects


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(broken_observations())
def test_no_observed_state_is_a_bug(objects: list[Json]) -> None:
    answered(objects)


@settings(max_examples=300, deadline=None)
@given(st.text() | st.binary().map(lambda raw: raw.decode("latin-1")))
def test_no_text_is_a_bug(text: str) -> None:
    try:
        for parsed in yamltext.read(text):
            parsed.lines().of(("a", 0, "b"))
    except yamltext.TextError as error:
        assert error.line >= 0
        assert error.message
