"""The story, one test per step: `hatch run e2e test`, or `pytest tests/e2e/test_story.py`.

It is played on what `hatch run e2e up` brought up, and otherwise on a machine of its own that is taken down afterwards.
A step begins where the last one ended, so nothing after a failed step is played.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.e2e import machine, story
from tests.support import live

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def say(request: pytest.FixtureRequest) -> machine.Say:
    """Return a way to say what happens while it happens, past pytest's capturing."""
    capture = request.config.pluginmanager.getplugin("capturemanager")
    spoken = machine.begun()

    def aloud(line: str) -> None:
        with capture.global_and_fixture_disabled():
            spoken(line)

    return aloud


@pytest.fixture(scope="module")
def played(say: machine.Say) -> Iterator[story.Story]:
    live.needs("e2e", "go")
    say("")
    try:
        found, is_ours = machine.attach(), False
    except FileNotFoundError:
        is_ours = True
        try:
            found = machine.up(say)
        except BaseException:
            machine.down(say)
            raise
    try:
        yield story.Story(found, say)
    finally:
        if is_ours:
            machine.down(say)


@pytest.mark.parametrize("step", story.STEPS, ids=story.names())
def test_step(played: story.Story, step: story.Step) -> None:
    if played.stopped_at is not None:
        pytest.skip(f"the story stopped at {played.stopped_at}")
    played.play(step)
