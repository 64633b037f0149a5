"""Merged by KServe v0.20.0 with the presets it ships, a rendered service still says what we wrote."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from modelplane.errors import InvalidInput
from modelplane.render import engines, pods
from modelplane.render.backends import kserve
from modelplane.render.backends.kserve import launching
from modelplane.workload import shared_memory
from modelplane.workload.model import EngineType, Replica, Role, Workload
from tests.conformance.kserve import cases, merging
from tests.support import replicas as build

Json = Any

_STALE = "run `python -m tests.conformance.kserve.merging` to record KServe's answers anew (needs Go)"
_HANDLERS = {"exec", "grpc", "httpGet", "tcpSocket"}
_PROBES = ("livenessProbe", "readinessProbe", "startupProbe")
every_replica = pytest.mark.parametrize("name", cases.REPLICAS)


@pytest.fixture(scope="module")
def answers() -> dict[str, Json]:
    return merging.answers()


@pytest.mark.parametrize("name", cases.objects())
def test_the_answer_is_to_todays_question(name: str, answers: dict[str, Json]) -> None:
    assert answers["digests"][name] == merging.digests()[name], _STALE


@every_replica
def test_kserve_admits_and_merges_what_we_render(name: str, answers: dict[str, Json]) -> None:
    assert "error" not in answers["answers"][name]


@every_replica
def test_merged_pods_are_well_formed(name: str, answers: dict[str, Json]) -> None:
    assert list(_faults(answers["answers"][name]["pods"])) == []


def test_the_check_above_can_fail_and_our_own_check_refuses_the_same(answers: dict[str, Json]) -> None:
    faults = list(_faults(answers["answers"][cases.UNMERGEABLE]["pods"]))
    assert {fault.split(" ")[1] for fault in faults} == {"home", "HOME", "livenessProbe", "preStop"}
    template = cases.UNMERGEABLE_TEMPLATE
    role = build.role(pod_template=template).spec
    with pytest.raises(InvalidInput):
        kserve.check(Workload("n", "d", None, build.replica().engine, (role,)))


def test_without_our_stand_in_a_pipeline_is_refused(answers: dict[str, Json]) -> None:
    assert answers["answers"][cases.NO_STAND_IN]["error"] == "ConfigNotFound: config-llm-worker-pipeline-parallel"


def _faults(found: Json) -> Iterator[str]:
    """Yield what the API server would refuse in a pod, or what stands there twice."""
    for where, pod in found.items():
        for volume in pod.get("volumes", ()):
            if len(volume) != 2:
                yield f"{where}: {volume['name']} has {len(volume) - 1} sources"
        volumes = {volume["name"] for volume in pod.get("volumes", ())}
        for container in (*pod["containers"], *pod.get("initContainers", ())):
            yield from _container_faults(where, container, volumes)


def _container_faults(where: str, container: Json, volumes: set[str]) -> Iterator[str]:
    for variable in container.get("env", ()):
        if variable.get("value") and "valueFrom" in variable:
            yield f"{where}: {variable['name']} has two values"
    for probe in _PROBES:
        if probe in container and len(_HANDLERS & container[probe].keys()) != 1:
            yield f"{where}: {probe} has {len(_HANDLERS & container[probe].keys())} handlers"
    for hook, handler in (container.get("lifecycle") or {}).items():
        if len(handler) != 1:
            yield f"{where}: {hook} has {len(handler)} handlers"
    mounts = container.get("volumeMounts", ())
    for mount in mounts:
        if mount["name"] not in volumes:
            yield f"{where}: {mount['name']} is mounted and not there"
    if len({mount["mountPath"] for mount in mounts}) != len(mounts):
        yield f"{where}: mounts overlap"


def _expected(replica: Replica) -> Iterator[tuple[str, Json, engines.CommandLine]]:
    """Yield each kind of pod with the author's own container and the command line it must end up with."""
    engine = launching.Engine(replica.namespace, replica.engine, replica.model, replica.is_disaggregated)
    for bound in replica.roles:
        _, container = pods.engine_container(bound.spec)
        for member in pods.members(bound.spec.topology):
            key = "worker" if member is engines.Member.WORKER else "template"
            line = engines.command_line(launching.launch(engine, bound.spec, member), container)
            yield f"{bound.spec.role}/{key}", container, line


def _main(pod: Json) -> Json:
    return next(container for container in pod["containers"] if container["name"] == "main")


@every_replica
def test_the_command_line_arrives_word_for_word(name: str, answers: dict[str, Json]) -> None:
    found = answers["answers"][name]["pods"]
    for where, container, line in _expected(cases.REPLICAS[name]):
        main = _main(found[where])
        assert (tuple(main["command"]), tuple(main["args"])) == (line.command, line.args), where
        assert main["image"] == container["image"]


@every_replica
def test_the_authors_variables_arrive_as_written(name: str, answers: dict[str, Json]) -> None:
    found = answers["answers"][name]["pods"]
    for where, container, _ in _expected(cases.REPLICAS[name]):
        env = {variable["name"]: variable for variable in _main(found[where]).get("env", ())}
        for variable in container.get("env", ()):
            assert env[variable["name"]] == variable, where


@every_replica
def test_what_we_decide_wins_over_the_presets(name: str, answers: dict[str, Json]) -> None:
    rendered = next(o for o in cases.objects()[name] if o["kind"] == "LLMInferenceService")["spec"]
    found = answers["answers"][name]["pods"]
    for where, _, _ in _expected(cases.REPLICAS[name]):
        role, _, key = where.partition("/")
        ours = (rendered["prefill"] if role == Role.PREFILL else rendered)[key]
        theirs = found[where]
        for field in ("nodeSelector", "tolerations", "affinity", "resourceClaims", "terminationGracePeriodSeconds"):
            assert theirs.get(field) == ours.get(field), f"{where}: {field}"
        for probe in _PROBES:
            given = _main(ours).get(probe)
            assert (given or {}).items() <= (_main(theirs).get(probe) or {}).items(), f"{where}: {probe}"
            assert given is not None or probe not in _main(theirs), f"{where}: {probe} comes from a preset"
        for setting, value in _main(ours)["securityContext"].items():
            # False is not written where it is the default.
            assert _main(theirs)["securityContext"].get(setting, False) == value, f"{where}: {setting}"
        shm = [volume for volume in theirs["volumes"] if volume["name"] == shared_memory.VOLUME]
        assert shm == [volume for volume in ours["volumes"] if volume["name"] == shared_memory.VOLUME], where


def test_annotations_are_text_too(answers: dict[str, Json]) -> None:
    assert answers["answers"]["hostile text"]["annotations"]["note"] == "{{ .GlobalConfig }}"


@every_replica
def test_pods_of_a_gang_read_their_place_before_the_author_may(name: str, answers: dict[str, Json]) -> None:
    for pod in answers["answers"][name]["pods"].values():
        ours = [v["name"] for v in _main(pod).get("env", ()) if v["name"].startswith("MODELPLANE_")]
        place = ["MODELPLANE_LEADER_ADDRESS", "MODELPLANE_RANK", "MODELPLANE_WORLD_SIZE", "MODELPLANE_POD_IP"]
        assert ours in ([], place)


@every_replica
def test_a_disaggregated_decode_pod_has_its_routing_sidecar(name: str, answers: dict[str, Json]) -> None:
    replica = cases.REPLICAS[name]
    found = answers["answers"][name]["pods"]
    sidecars = [c["name"] for c in found["decode/template"].get("initContainers", ())]
    assert ("llm-d-routing-sidecar" in sidecars) == replica.is_disaggregated
    if replica.is_disaggregated:
        words = _words(found["decode/template"])
        assert [word for word in words if word.startswith("--kv-connector")] == [_connector(replica)]
        assert f"--inference-pool={replica.namespace}/{_service(name)['metadata']['name']}-inference-pool" in words


def _connector(replica: Replica) -> str:
    return "--kv-connector=sglang" if replica.engine is EngineType.SGLANG else "--kv-connector=nixlv2"


def _words(pod: Json) -> list[str]:
    (sidecar,) = [one for one in pod["initContainers"] if one["name"] == "llm-d-routing-sidecar"]
    return [*sidecar["command"], *sidecar.get("args", ())]


def _service(name: str) -> Json:
    return next(one for one in cases.objects()[name] if one["kind"] == "LLMInferenceService")


@every_replica
def test_the_scheduler_is_told_what_we_wrote(name: str, answers: dict[str, Json]) -> None:
    ours = _service(name)["spec"]["router"].get("scheduler", {})
    assert answers["answers"][name]["scheduler"].get("config") == ours.get("config")


def test_a_closed_pool_is_otherwise_that_of_kserves_preset(answers: dict[str, Json]) -> None:
    preset, closed = (
        answers["answers"][name]["scheduler"]["pool"]["spec"] for name in ("several workers", "SGLang apart")
    )
    assert preset["endpointPickerRef"].pop("failureMode") == "FailOpen"
    assert closed["endpointPickerRef"].pop("failureMode") == "FailClose"
    assert closed == preset
