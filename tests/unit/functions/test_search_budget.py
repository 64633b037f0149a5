"""A deployment whose devices are too dear to search for on all classes of its clusters is refused; one class is not."""

from __future__ import annotations

import copy
from typing import Any

from tests.support import hostile

Json = Any


def fleet(classes: int) -> list[Json]:
    """Return clusters of as many classes, each with a pool of its own, and a deployment of which no search decides."""
    wanted = [{"name": one.name, "count": one.count, "selectors": [{"cel": "true"}]} for one in hostile.undecided()]
    class_, cluster, deployment = hostile.world(nodeSelector={"devices": wanted})
    class_["spec"]["devices"] = hostile.kinds(of_each=35)
    made: list[Json] = []
    for number in range(classes):
        name = f"c{number:02}"
        made += (hostile.changed(class_, ("metadata", "name"), name), _of(cluster, name))
    return [*made, deployment]


def _of(cluster: Json, name: str) -> Json:
    found = copy.deepcopy(cluster)
    found["metadata"]["name"] = name
    for pool in (*found["spec"]["nodePools"], *found["status"]["pools"]):
        pool["className"] = name
    return found


def test_many_dear_classes_are_refused_together() -> None:
    response = hostile.answered(fleet(30), "ModelDeployment")
    assert [one.reason for one in response.conditions] == ["OverBudget"]
    (fatal,) = [one.message for one in response.results if one.severity == 1]
    assert "spec.nodeSelector: the search for its devices takes" in fatal
    assert 'InferenceClass "c00" 4096, "c01" 4096, "c02" 4096' in fatal
    assert "what runs is kept as it is" in fatal
    assert not response.desired.resources


def test_few_dear_classes_are_each_told() -> None:
    response = hostile.answered(fleet(2), "ModelDeployment")
    assert "OverBudget" not in {one.reason for one in response.conditions}
    assert any("undecided" in one.message for one in response.conditions)
