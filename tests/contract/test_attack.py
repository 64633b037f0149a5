"""The attacks of `python -m tests.attack` that take a few seconds, each against a server as a process.

Those that take longer, or that measure time, are played by the command alone.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import grpc
import pytest

from tests.attack import documents, judge, lines, sharing, thefts
from tests.attack.plane import Plane
from tests.attack.play import Play
from tests.support import functionserver, nodes

FAST = [pytest.param(line, id=line.name) for line in lines.LINES if not line.is_slow]
_EIGHTY: documents.Json = {"memory": {"value": "80Gi"}}


def _part(gibibytes: int) -> nodes.Ask:
    return nodes.Ask(1, parts=(("memory", nodes.amount(f"{gibibytes}Gi")),))


BELIEVES_WHOEVER_ASKS = """
from modelplane_functions import __main__, claims
claims._Reader._control = lambda *given, **more: None
raise SystemExit(__main__.main())
"""


@pytest.fixture(scope="module")
def play(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Play]:
    with functionserver.running(["--insecure"]) as server, grpc.insecure_channel(server.target) as channel:
        yield Play(server, channel, tmp_path_factory.mktemp("attack"), thorough=False)


@pytest.mark.parametrize("line", FAST)
def test_nothing_is_taken(line: lines.Line, play: Play) -> None:
    assert line.play(play)


def test_a_server_that_believes_whoever_asks_is_robbed(tmp_path: Path) -> None:
    """The player sees a theft: without the check of who controls a replica, one that is written by hand runs."""
    command = (sys.executable, "-c", BELIEVES_WHOEVER_ASKS)
    with (
        functionserver.running(["--insecure"], command=command) as server,
        grpc.insecure_channel(server.target) as channel,
        pytest.raises(judge.Taken),
    ):
        thefts.two_at_once(Play(server, channel, tmp_path, thorough=False))


@pytest.mark.parametrize("theft", [sharing.parts_of_devices, sharing.all_of_a_node])
def test_shared_devices_are_robbed_from_a_server_that_believes_whoever_asks(
    theft: Callable[[Play], str], tmp_path: Path
) -> None:
    command = (sys.executable, "-c", BELIEVES_WHOEVER_ASKS)
    with (
        functionserver.running(["--insecure"], command=command) as server,
        grpc.insecure_channel(server.target) as channel,
        pytest.raises(judge.Taken),
    ):
        theft(Play(server, channel, tmp_path, thorough=False))


def test_the_judge_sees_what_is_over_capacity_and_what_is_gone(play: Play) -> None:
    def robbed(name: str) -> Plane:
        plane = play.fleet()
        plane.guards[:] = [judge.Standing(plane)]
        standing = plane.remote[documents.place()]
        workload = standing["LLMInferenceService", documents.TEAM, name]
        workload.manifest = {**workload.manifest, "spec": {**workload.manifest["spec"], "replicas": 2}}
        return plane

    plane = robbed("first-0")
    with pytest.raises(judge.Taken, match="which the nodes of"):
        judge.within_capacity(plane)
    with pytest.raises(judge.Taken, match="is not what ran"):
        plane.guards[0](plane)
    plane = play.fleet()
    plane.guards[:] = [judge.Standing(plane)]
    plane.delete("Backend", documents.TEAM, "first-0")
    with pytest.raises(judge.Taken, match="is gone"):
        plane.guards[0](plane)
    with pytest.raises(judge.Taken, match="points at Backend first-0"):
        judge.no_route_dangles(plane)


@pytest.mark.parametrize(
    ("pods", "fits"),
    [
        pytest.param([[nodes.Ask(4)], [nodes.Ask(4)]], True, id="whole devices"),
        pytest.param([[nodes.Ask(4)], [nodes.Ask(4)], [nodes.Ask(1)]], False, id="one too many"),
        pytest.param([[_part(20)]] * 32, True, id="four parts of each shared device"),
        pytest.param([[_part(20)]] * 33, False, id="one part too many"),
        pytest.param([[_part(20)]] * 4 + [[nodes.Ask(7)]], True, id="parts on one device and the others whole"),
        pytest.param([[_part(20)]] * 5 + [[nodes.Ask(7)]], False, id="a whole one where a part is taken"),
        pytest.param([[nodes.Ask(1, is_all=True)]], True, id="all devices of a node"),
        pytest.param([[nodes.Ask(1, is_all=True)], [_part(1)]], False, id="a part beside all"),
        pytest.param([[nodes.Ask(1, is_all=True)]] * 2, False, id="all twice"),
    ],
)
def test_the_judge_counts_parts_of_devices_and_all_of_a_node(pods: list[list[nodes.Ask]], *, fits: bool) -> None:
    node = nodes.devices(documents.node_class(capacity=_EIGHTY, allowMultipleAllocations=True))
    assert nodes.hold([node], [tuple(one) for one in pods]) is fits


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", "[::1]", "::ffff:10.0.0.1", "64:ff9b::a9fe:a9fe", "2002:7f00:1::", "a.b.svc", "kubernetes.default"],
)
def test_the_judge_knows_what_is_inside(host: str) -> None:
    assert judge.is_internal(host)
    assert not judge.is_internal("api.together.xyz")
    assert not judge.is_internal("2606:2800:21f:cb07::1")
