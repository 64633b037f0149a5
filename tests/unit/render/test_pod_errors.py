"""The first useful error of a replica's pods: which of several is told, in which words, and what is never told."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from modelplane.render import pod_errors
from modelplane.topology.shape import Topology
from modelplane.workload.model import Replica, Role
from tests.support import replicas as build

Json = Any


def pod(
    name: str = "llama-0-x", status: Json = None, *, spec: Json = None, role: str = "decode", **metadata: Json
) -> Json:
    labels = {"modelplane.ai/replica": "llama-0", "modelplane.ai/role": role}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "ml-team", "labels": labels, **metadata},
        "spec": spec or {},
        "status": status or {},
    }


def condition(kind: str, status: str, **fields: str) -> Json:
    return {"type": kind, "status": status, **fields}


def container(name: str = "main", **fields: Json) -> Json:
    return {"name": name, "ready": False, **fields}


def waiting(reason: str, message: str = "", **fields: Json) -> Json:
    return {"containerStatuses": [container(state={"waiting": {"reason": reason, "message": message}}, **fields)]}


def ended(code: int, reason: str = "Error", **fields: Json) -> Json:
    return {"terminated": {"exitCode": code, "reason": reason, **fields}}


SCHEDULED = condition("PodScheduled", "True")
UNSCHEDULABLE = {
    "conditions": [
        condition(
            "PodScheduled",
            "False",
            reason="Unschedulable",
            message="0/3 nodes are available: 3 cannot allocate all claims.",
        )
    ]
}
LOGS = "kubectl logs -n ml-team llama-0-x -c"

CASES: dict[str, tuple[Json, str, str]] = {
    "evicted": (
        {"phase": "Failed", "reason": "Evicted", "message": "The node was low on resource: memory."},
        "Evicted",
        "pod llama-0-x has failed, Evicted: The node was low on resource: memory.",
    ),
    "no node has the devices": (
        UNSCHEDULABLE,
        "Unschedulable",
        "pod llama-0-x is not scheduled: 0/3 nodes are available: 3 cannot allocate all claims.",
    ),
    "gated": (
        {"conditions": [condition("PodScheduled", "False", reason="SchedulingGated", message="gate kueue.x-k8s.io")]},
        "SchedulingGated",
        "pod llama-0-x is not scheduled: gate kueue.x-k8s.io",
    ),
    "image that cannot be pulled": (
        waiting("ImagePullBackOff", 'Back-off pulling image "vllm/vllm-openai:nonsense"'),
        "ImagePullBackOff",
        (
            "container main of pod llama-0-x cannot start, ImagePullBackOff: "
            'Back-off pulling image "vllm/vllm-openai:nonsense"'
        ),
    ),
    "Secret that is missing": (
        waiting("CreateContainerConfigError", 'secret "hf-token" not found'),
        "CreateContainerConfigError",
        'container main of pod llama-0-x cannot start, CreateContainerConfigError: secret "hf-token" not found',
    ),
    "crash loop": (
        waiting("CrashLoopBackOff", "back-off 5m0s", restartCount=7, lastState=ended(1)),
        "CrashLoopBackOff",
        (
            "container main of pod llama-0-x ended with exit code 1, restarted 7 times; "
            f"{LOGS} main --previous shows its output"
        ),
    ),
    "out of memory, between two restarts": (
        {"containerStatuses": [container(state={"running": {}}, restartCount=1, lastState=ended(137, "OOMKilled"))]},
        "OOMKilled",
        (
            "container main of pod llama-0-x ended with exit code 137 (OOMKilled), restarted 1 time; "
            f"{LOGS} main --previous shows its output"
        ),
    ),
    "a command that is not there": (
        {"containerStatuses": [container(state=ended(127))]},
        "ContainerEnded",
        (
            "container main of pod llama-0-x ended with exit code 127 (the command is not found); "
            f"{LOGS} main --previous shows its output"
        ),
    ),
    "download that fails": (
        {
            "initContainerStatuses": [
                container(
                    "storage-initializer",
                    state={"waiting": {"reason": "CrashLoopBackOff"}},
                    restartCount=3,
                    lastState=ended(1, message="token hf_secret is not valid"),
                )
            ],
            **waiting("PodInitializing"),
            "conditions": [SCHEDULED, condition("Initialized", "False", message="containers with incomplete status")],
        },
        "CrashLoopBackOff",
        (
            "init container storage-initializer of pod llama-0-x ended with exit code 1, restarted 3 times; "
            f"{LOGS} storage-initializer --previous shows its output"
        ),
    ),
    "unhealthy device, before the crash that follows from it": (
        waiting(
            "CrashLoopBackOff",
            lastState=ended(1),
            allocatedResourcesStatus=[
                {"name": "claim:gpu", "resources": [{"resourceID": "gpu.nvidia.com/a/gpu-3", "health": "Unhealthy"}]}
            ],
        ),
        "DeviceUnhealthy",
        "container main of pod llama-0-x has an unhealthy device: gpu.nvidia.com/a/gpu-3 (claim:gpu)",
    ),
    "download that goes on": (
        {
            "initContainerStatuses": [container("download", state={"running": {}})],
            **waiting("PodInitializing"),
            "conditions": [
                SCHEDULED,
                condition("Initialized", "False", message="containers with incomplete status: [download]"),
            ],
        },
        "Initializing",
        "pod llama-0-x waits for its init containers: containers with incomplete status: [download]",
    ),
    "claims that the node prepares": (
        {**waiting("ContainerCreating"), "conditions": [SCHEDULED, condition("PodReadyToStartContainers", "False")]},
        "PreparingPod",
        "pod llama-0-x waits until its node has prepared volumes; the events of the pod say more",
    ),
    "reason that no condition may have": (
        waiting("no such thing!", "odd"),
        "PodNotReady",
        "container main of pod llama-0-x cannot start, no such thing!: odd",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_the_error_of_one_pod(case: str) -> None:
    status, reason, message = CASES[case]
    found = pod_errors.explain(build.replica(), [pod(status=status)])
    assert found is not None
    assert (found.reason, found.message) == (reason, message)
    assert not (found.is_final or found.about_route or found.is_count)


@pytest.mark.parametrize(
    "quiet",
    [
        pod(),
        pod(status={**UNSCHEDULABLE, "phase": "Succeeded"}),
        pod(status={"conditions": [condition("Ready", "True")], **waiting("ImagePullBackOff")}),
        pod(status={"containerStatuses": [container(state={"running": {}})]}),
        pod(status={"initContainerStatuses": [container(ready=True, state=ended(0, "Completed"))]}),
        pod(status=UNSCHEDULABLE, deletionTimestamp="2026-01-01T00:00:00Z"),
        pod(status=UNSCHEDULABLE, namespace="other-team"),
        pod(status=UNSCHEDULABLE, labels={"modelplane.ai/replica": "llama-1"}),
        pod(status=waiting("ContainerCreating")),
    ],
    ids=["new", "done", "ready", "loading", "initialized", "deleted", "of-others", "of-another-replica", "creating"],
)
def test_a_pod_without_an_error_of_its_own_says_nothing(quiet: Json) -> None:
    assert pod_errors.explain(build.replica(), [quiet]) is None


def test_of_several_pods_the_first_cause_is_told_and_the_others_are_counted() -> None:
    pods = [
        pod("llama-0-a", waiting("CrashLoopBackOff", lastState=ended(1))),
        pod("llama-0-c", UNSCHEDULABLE),
        pod("llama-0-b", waiting("ImagePullBackOff", "no")),
        pod("llama-0-d", {"conditions": [SCHEDULED, condition("Initialized", "False")]}),
    ]
    for order in (pods, pods[::-1]):
        found = pod_errors.explain(build.replica(), order)
        assert found is not None and found.reason == "Unschedulable"
        assert found.message.startswith("pod llama-0-c is not scheduled: ")
        assert found.message.endswith(" (2 more of its pods report errors)")


def gang() -> Replica:
    return build.replica(build.role(Role.DECODE, topology=Topology(pipeline=2), workers=2))


def test_a_gang_that_is_not_whole_is_told_where_no_pod_has_an_error() -> None:
    some = [pod(f"llama-0-{index}") for index in range(3)]
    found = pod_errors.explain(gang(), some)
    assert found is not None
    assert (found.reason, found.message) == (
        "GangIncomplete",
        "3 of 4 pods of decode exist, and a worker of several nodes starts with all of its pods",
    )
    assert pod_errors.explain(gang(), []) is None
    assert pod_errors.explain(gang(), [*some, pod("llama-0-3")]) is None
    first = pod_errors.explain(gang(), [*some[:2], pod("llama-0-2", UNSCHEDULABLE)])
    assert first is not None and first.reason == "Unschedulable"


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("GET https://s3.example.com/a/b?X-Amz-Signature=abc&x=y: 403", "GET https://s3.example.com/a/b?... 403"),
        ("from https://user:secret@registry.example.com/v2/", "from https://...@registry.example.com/v2/"),
        ("two\n\tlines\x00", "two lines"),
        ("x" * 1000, "x" * (pod_errors.MESSAGE_MAX - 3) + "..."),
    ],
    ids=["signed-url", "password", "lines", "long"],
)
def test_a_message_is_one_bounded_line_without_secrets_of_urls(said: str, told: str) -> None:
    assert pod_errors.cut(said) == told
    found = pod_errors.explain(build.replica(), [pod(status=waiting("ErrImagePull", said))])
    assert found is not None and found.message.endswith(told)


def test_neither_the_words_of_a_container_nor_its_environment_are_told() -> None:
    spec = {"containers": [{"name": "main", "env": [{"name": "HF_TOKEN", "value": "hf_secret"}]}]}
    status = waiting("CrashLoopBackOff", lastState=ended(1, message="hf_secret is not valid"))
    found = pod_errors.explain(build.replica(), [pod(status=status, spec=spec)])
    assert found is not None and "hf_secret" not in found.message


def test_no_more_pods_are_looked_at_than_the_bound() -> None:
    many = [pod(f"llama-0-{index:03}") for index in range(pod_errors.PODS_MAX)]
    assert pod_errors.explain(build.replica(), [*many, pod("llama-0-999", UNSCHEDULABLE)]) is None
    assert pod_errors.explain(build.replica(), [*many[1:], pod("llama-0-999", UNSCHEDULABLE)]) is not None


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8) | st.sampled_from(["False", "True", "Failed"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=12,
)


def _paths(value: Json, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    steps = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(found for key, member in steps for found in _paths(member, (*path, key)))]


@given(data=st.data(), odd=_JSON)
def test_whatever_a_pod_says_nothing_is_raised_and_the_reason_fits_a_condition(data: st.DataObject, odd: Json) -> None:
    status = CASES[data.draw(st.sampled_from(sorted(CASES)))][0]
    whole = [pod(status=status), pod("llama-0-z", UNSCHEDULABLE)]
    path = data.draw(st.sampled_from([one for one in _paths(whole) if one]))
    broken = _replaced(whole, path, odd)
    found = pod_errors.explain(gang(), [one for one in broken if isinstance(one, dict)])
    if found is not None:
        assert found.reason.isascii() and found.reason.replace("_", "").isalnum()
        assert 0 < len(found.message) < 4 * pod_errors.MESSAGE_MAX


def _replaced(value: Json, path: tuple[Any, ...], odd: Json) -> Json:
    if not path:
        return odd
    if isinstance(value, list):
        return [_replaced(one, path[1:], odd) if at == path[0] else one for at, one in enumerate(value)]
    return {key: _replaced(one, path[1:], odd) if key == path[0] else one for key, one in value.items()}
