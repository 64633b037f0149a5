"""The quotas of queues: what each scheduler's object allows, in devices, whatever the object is."""

from __future__ import annotations

from typing import Any

import pytest

from modelplane.render.schedulers import selection
from modelplane.workload.site import ClusterFacts, Quota

Json = Any
GPU = "modelplane.ai/gpu"


def _facts(scheduler: str, resource: str = GPU, holder: str = "") -> ClusterFacts:
    return ClusterFacts("a", "g", "n", scheduler=scheduler, queue="serving", quota=Quota(resource, holder))


def _cluster_queue(*resources: Json, cohort: str = "") -> Json:
    flavors = [{"name": f"f{index}", "resources": [{"name": "cpu", "nominalQuota": 512}, one]}
               for index, one in enumerate(resources)]  # fmt: skip
    return {"spec": {"resourceGroups": [{"flavors": flavors}], **({"cohortName": cohort} if cohort else {})}}


@pytest.mark.parametrize(
    ("holder", "limit"),
    [
        pytest.param(_cluster_queue({"name": GPU, "nominalQuota": 16}), 16, id="one flavor"),
        pytest.param(
            _cluster_queue({"name": GPU, "nominalQuota": "16"}, {"name": GPU, "nominalQuota": 8}), 24, id="two"
        ),
        pytest.param(
            _cluster_queue({"name": GPU, "nominalQuota": 16, "borrowingLimit": 8}), 16, id="nothing to borrow of"
        ),
        pytest.param(
            _cluster_queue({"name": GPU, "nominalQuota": 16, "borrowingLimit": 8}, cohort="c"), 24, id="borrowed"
        ),
        pytest.param(_cluster_queue({"name": GPU, "nominalQuota": 16}, cohort="c"), None, id="borrowed without limit"),
        pytest.param(_cluster_queue({"name": GPU, "nominalQuota": 0}), 0, id="nothing"),
        pytest.param(_cluster_queue({"name": "other", "nominalQuota": 1}), None, id="another resource"),
        pytest.param(_cluster_queue({"name": GPU, "nominalQuota": "many"}), None, id="no number"),
        pytest.param(_cluster_queue({"name": GPU, "nominalQuota": "1e99"}), None, id="a huge number"),
        pytest.param(_cluster_queue({"name": GPU}), None, id="none"),
        pytest.param({"spec": 7}, None, id="odd"),
    ],
)
def test_kueue_lends_what_is_nominal_and_what_may_be_borrowed(holder: Json, limit: int | None) -> None:
    assert selection.limit(_facts("Kueue", holder="q"), holder) == limit


@pytest.mark.parametrize(
    ("value", "limit"), [(24, 24), (24.7, 24), (0, 0), (-1, None), (None, None), ("24", None), (float("nan"), None)]
)
def test_kai_limits_gpus_in_devices(value: Json, limit: int | None) -> None:
    holder = {"spec": {"resources": {"gpu": {"quota": 1, "limit": value}}}}
    assert selection.limit(_facts("KAI", "gpu"), holder) == limit


@pytest.mark.parametrize(
    ("value", "limit"), [("24", 24), (24, 24), ("500m", 0), (None, None), (True, None), ([], None)]
)
def test_volcano_limits_by_capability(value: Json, limit: int | None) -> None:
    holder = {"spec": {"capability": {"deviceclass/gpu.nvidia.com": value}, "deserved": {GPU: "1"}}}
    assert selection.limit(_facts("Volcano", "deviceclass/gpu.nvidia.com"), holder) == limit


def test_the_object_with_the_quota_is_named_by_the_cluster() -> None:
    named = {name: selection.quota(_facts(name, holder="team")) for name in ("Kueue", "KAI", "Volcano", "None")}
    assert named["None"] is None
    found = {name: (one["kind"], one["metadata"]["name"]) for name, one in named.items() if one is not None}
    assert found == {"Kueue": ("ClusterQueue", "team"), "KAI": ("Queue", "serving"), "Volcano": ("Queue", "serving")}
    assert selection.quota(ClusterFacts("a", "g", "n", scheduler="KAI", queue="serving")) is None
