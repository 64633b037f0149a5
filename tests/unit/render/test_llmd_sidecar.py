"""The sidecar that LLMD and KServe render starts, and calls the prefill workers of its replica and no others."""

from __future__ import annotations

from typing import Any

import pytest

from modelplane.workload.model import EngineType, Replica, Role
from modelplane.workload.site import ClusterFacts
from tests.support import kserve as kserve_shapes
from tests.support import llmd as shapes
from tests.support import llmd_sidecar, native, replicas

Json = Any

APART = {name: one for name, one in shapes.SHAPES.items() if one.is_disaggregated}
every_apart = pytest.mark.parametrize("replica", [pytest.param(one, id=name) for name, one in APART.items()])
every_site = pytest.mark.parametrize("facts", [kserve_shapes.FACTS, shapes.WATCHED], ids=["plain", "watched"])


def _container(replica: Replica, facts: ClusterFacts) -> Json:
    (found,) = shapes.templates(replica, Role.DECODE, facts)[0]["spec"]["initContainers"]
    return found


def _pods(replica: Replica, role: Role) -> list[Json]:
    """Return a pod of each template of a role, named after the role and its place: 0 serves."""
    return [
        {"metadata": {**template["metadata"], "name": f"{role}-{number}", "namespace": replica.namespace}}
        for number, template in enumerate(shapes.templates(replica, role))
    ]


@every_site
@every_apart
def test_it_starts_and_every_port_is_the_one_that_somebody_listens_on(replica: Replica, facts: ClusterFacts) -> None:
    container = _container(replica, facts)
    sidecar = llmd_sidecar.started(container["args"])
    (port,) = container["ports"]
    engine = native.engine(shapes.templates(replica, Role.DECODE, facts)[0])
    assert sidecar.port == port["containerPort"]
    assert {container[probe]["httpGet"]["port"] for probe in ("livenessProbe", "readinessProbe")} == {sidecar.port}
    assert sidecar.model_server_port in {one["containerPort"] for one in engine["ports"]}
    assert sidecar.port != sidecar.model_server_port
    assert not sidecar.is_secure, "the gateway and the probes speak HTTP to it"
    assert sidecar.is_traced is (facts.tracing is not None)


@every_apart
def test_it_may_call_what_serves_in_its_replica_and_no_other(replica: Replica) -> None:
    sidecar = llmd_sidecar.started(_container(replica, kserve_shapes.FACTS)["args"])
    pools = [one.resource for one in shapes.rendered(replica).values()]
    prefill = native.engine(shapes.templates(replica, Role.PREFILL)[0])
    pods = [*_pods(replica, Role.PREFILL), *_pods(replica, Role.DECODE)]
    (port,) = {
        one["containerPort"]
        for one in prefill["ports"]
        if one["containerPort"] == prefill["readinessProbe"]["httpGet"]["port"]
    }
    assert sidecar.targets(pools, pods) == {f"prefill-0:{port}", f"decode-0:{sidecar.port}"}
    stranger = {"metadata": {**pods[0]["metadata"], "namespace": "other", "name": "stranger"}}
    assert sidecar.targets(pools, [stranger]) == set()


@every_apart
def test_it_has_the_rights_that_it_uses_and_no_others(replica: Replica) -> None:
    sidecar = llmd_sidecar.started(_container(replica, kserve_shapes.FACTS)["args"])
    rules = shapes.rendered(replica)["sidecar-role"].resource["rules"]
    granted = {
        (group, resource, verb, name)
        for one in rules
        for group in one["apiGroups"]
        for resource in one["resources"]
        for verb in one["verbs"]
        for name in one.get("resourceNames", [""])
    }
    assert granted == sidecar.asks()


def test_the_one_of_kserve_starts_too() -> None:
    template = replicas.template("lmsysorg/sglang:v0.5.9")
    roles = (replicas.role(pod_template=template), replicas.role(Role.PREFILL, pod_template=template))
    spec = kserve_shapes.service(replicas.replica(*roles, engine=EngineType.SGLANG))
    (container,) = spec["template"]["initContainers"]
    words: list[str] = [*container["command"], *container.get("args", ())]
    sidecar = llmd_sidecar.started(words[1:], (llmd_sidecar.OLD_GROUP, llmd_sidecar.GROUP))
    assert (sidecar.port, sidecar.model_server_port, sidecar.connector) == (8000, 8001, "sglang")
    assert sidecar.is_protected


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--connector=nixlv2"], "unknown flag"),
        (["--kv-connector=nixl"], "must be one of"),
        (["--port=http"], "no port"),
        (["--tracing=yes"], "invalid argument"),
        (["--enable-ssrf-protection=true"], "--inference-pool flag is required"),
        (["--inference-pool=a/b/c"], "in format"),
        (["--enable-ssrf-protection=true", "--inference-pool=a/b", "--pool-group=x"], "pool-group must be"),
    ],
)
def test_what_it_refuses_is_refused(arguments: list[str], says: str) -> None:
    """A test of the stand-in."""
    with pytest.raises(llmd_sidecar.Refused, match=says):
        llmd_sidecar.started(arguments)
