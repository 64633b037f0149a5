"""A mistyped name that keeps a replica from its place is corrected in the document that has it.

Each case is a fleet in which the name meant exists; the command runs again on the corrected documents.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support import jsonpatch
from tests.support import planning as given
from tests.support.edits import CLUSTER, HOPPER, Objects, cel, explained, expression, fleet, labelled, pool, spec

CORRECTED: dict[str, tuple[Callable[[], Objects], str, str]] = {
    "a class mistyped in a pool": (
        lambda: fleet(a=pool(className="h100-8", nodeCount=2), b=pool(className="h100-x8", nodeCount=2)),
        "/spec/nodePools/0/className",
        "pool gpu were of class h100-8x, which exists",
    ),
    "a cluster mistyped": (
        lambda: [given.cluster("gke-us"), *fleet(md=spec(clusterSelector={"matchLabels": {CLUSTER: "gke-uss"}}))],
        "/spec/clusterSelector/matchLabels/modelplane.ai~1cluster",
        "clusterSelector asked for the cluster gke-us, which exists",
    ),
    "a cluster mistyped in an expression": (
        lambda: [
            given.cluster("gke-us"),
            *fleet(
                md=spec(
                    clusterSelector={"matchExpressions": [{"key": CLUSTER, "operator": "In", "values": ["x", "gke-u"]}]}
                )
            ),
        ],
        "/spec/clusterSelector/matchExpressions/0/values/1",
        "clusterSelector asked for the cluster gke-us, which exists",
    ),
    "a label mistyped": (
        lambda: fleet(a=labelled("a", tier="gold"), md=spec(clusterSelector={"matchLabels": {"teir": "gold"}})),
        "/spec/clusterSelector/matchLabels",
        "clusterSelector asked for the label tier, which clusters have",
    ),
    "a label mistyped in an expression": (
        lambda: fleet(a=labelled("a", tier="gold"), md=expression("In", "gold", key="teir")),
        "/spec/clusterSelector/matchExpressions/0/key",
        "clusterSelector asked for the label tier, which clusters have",
    ),
    "an attribute mistyped": (
        lambda: fleet(md=cel(HOPPER.replace("architecture", "architechture"))),
        "/spec/nodeSelector/cel",
        f"the selector were {HOPPER}",
    ),
}


@pytest.mark.parametrize(("world", "path", "words"), CORRECTED.values(), ids=CORRECTED.keys())
def test_a_name_that_nothing_has_is_corrected(
    tmp_path: Path, world: Callable[[], Objects], path: str, words: str
) -> None:
    objects = world()
    before = explained(tmp_path, objects)
    assert not before["placed"]
    (change,) = before["closest"]["change"]
    assert (change["op"], change["path"]) == ("replace", path)
    assert before["closest"]["wouldFitIf"] == words
    assert (before["noChange"], before["closest"]["notInDocuments"]) == (None, [])
    file = str(tmp_path / "now.yaml")
    planned = given.run("plan", file, "-o", "json").json
    scale = f"{before['namespace']}/{before['name']}=2"
    simulated = given.run("simulate", file, "--scale", scale, "-o", "json").json["after"]
    assert planned["deployments"][0]["unschedulable"]["closest"] == before["closest"], "a plan says the same"
    (row,) = simulated["deployments"]
    assert row["unschedulable"]["closest"]["change"] == before["closest"]["change"], "and so does what would happen"
    assert explained(tmp_path, jsonpatch.apply(objects, before["closest"]["change"]))["placed"]


def test_a_correction_that_does_not_help_is_not_told(tmp_path: Path) -> None:
    """The class named alike exists, and the pools have too few nodes of it."""
    few = pool(className="h100-8", nodeCount=0)
    found = explained(tmp_path, fleet(a=few, b=few))
    assert found["closest"] is None
    assert "InferenceClass h100-8 of pool gpu does not exist" in found["noChange"]
