"""Plans hand resources to the functions as they were read; what follows is what follows from whole requests."""

from __future__ import annotations

from pathlib import Path

import pytest

from modelplane_cli.checks import acceptance
from modelplane_cli.documents import reading
from modelplane_cli.planning.rehearsal import Rehearsal
from modelplane_cli.simulator import offline
from modelplane_cli.simulator.offline import Assume
from modelplane_cli.simulator.pipeline import Handed
from modelplane_functions import responder
from tests.bench import files
from tests.support import examples, rendering


def agree(path: Path) -> None:
    checked = acceptance.check(reading.read([str(path)]).documents, rendering.kinds(), "default")
    assert checked.objects
    rendered = offline.build(checked.objects, rendering.kinds(), responder.answer, Assume.READY)
    planned = Rehearsal(checked.objects, rendering.kinds(), Handed(responder.answer)).settle().world
    assert planned.settled.rounds == rendered.settled.rounds
    assert planned.objects() == rendered.objects()
    assert planned.settled.record.events == rendered.settled.record.events
    assert planned.settled.record.bugs == rendered.settled.record.bugs


@pytest.mark.parametrize("folder", examples.fleets())
def test_an_example_is_planned_as_it_is_rendered(folder: str) -> None:
    agree(examples.EXAMPLES / folder)


@pytest.mark.parametrize("seed", range(1, 4))
def test_a_generated_fleet_is_planned_as_it_is_rendered(tmp_path: Path, seed: int) -> None:
    files.main([str(tmp_path), "--clusters", "6", "--deployments", "8", "--seed", str(seed)])
    agree(tmp_path)
