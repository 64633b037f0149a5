"""The parts of a serving stack: every trap of provider-helm and of the charts, on every part of the profile."""

from __future__ import annotations

import itertools
import re
from typing import Any

import pytest

from modelplane.errors import InvalidInput
from modelplane.placement.snapshot import ANY_BACKEND
from modelplane.render import objects
from modelplane.render.backends.selection import BACKENDS
from modelplane.render.stack import choice, judge, needs, profile, releases, turn
from modelplane.render.stack.part import Part, api
from modelplane.workload.stack import Component, Mode, Phase, Reference, Stack

Json = Any
CONFIG = Reference("ClusterProviderConfig", "modelplane-a")
STACK = Stack("a", "a", CONFIG, CONFIG, limits_critical_pods=True)
PARTS = list(profile.parts().values())
every = pytest.mark.parametrize("part", PARTS, ids=lambda part: part.key)


def release(part: Part) -> Json:
    return releases.release(STACK, part)


def values(key: str) -> Json:
    return release(profile.parts()[key])["spec"]["forProvider"]["values"]


@every
def test_a_release_as_the_provider_rewrites_it_is_no_other_one(part: Part) -> None:
    """Seen with provider-helm v1.3.0: Go's spelling of durations, nothing false or empty, and a name of no Secret."""
    given = release(part)["spec"]["forProvider"]
    assert not any(value is False for value in given.values())
    assert re.fullmatch("[0-9]+m0s", given.get("waitTimeout", "5m0s"))
    kept = {key: value for key, value in given.items() if value}
    rewritten = {**kept, "chart": {**kept["chart"], "pullSecretRef": {"name": ""}}, "waitTimeout": "9m0s"}
    assert not turn.differs({"spec": {"forProvider": rewritten}}, release(part))


@every
def test_t1_a_release_is_tried_again(part: Part) -> None:
    assert release(part)["spec"]["rollbackLimit"] == (10 if part.key == "kserve-presets" else 5)


def test_t2_a_spent_budget_is_told_with_what_restarts_it() -> None:
    lws = profile.parts()["lws"]
    made = release(lws)
    made["status"] = {
        "failed": 5,
        "atProvider": {"state": "failed", "releaseDescription": 'Release "lws" failed:\n  context deadline exceeded'},
        "conditions": [{"type": "Ready", "status": "False"}, {"type": "Synced", "status": "True"}],
    }
    told = judge.part(lws, made, None)
    assert told.phase is Phase.FAILED
    assert told.message.startswith('Release "lws" failed: context deadline exceeded (failed 5 times; it is not tried')
    made["status"]["failed"] = 2
    assert judge.part(lws, made, None).message.endswith("(attempt 2 of 5)")
    made["status"] |= {"failed": 5, "atProvider": {"state": "pending-install"}}
    assert judge.part(lws, made, None).phase is Phase.FAILED, "left behind by a provider that was restarted"


@every
def test_t3_a_release_that_is_deployed_works_only_when_its_proof_does(part: Part) -> None:
    made = release(part)
    made["status"] = {"conditions": [{"type": "Ready", "status": "True"}, {"type": "Synced", "status": "True"}]}
    assert judge.part(part, made, None).phase is Phase.INSTALLING
    proof = releases.proof(STACK, part)
    assert proof["spec"]["managementPolicies"] == ["Observe"]
    seen = {**part.proof.resource, "status": {"conditions": [{"type": "Available", "status": "True"}]}}
    proof["status"] = {"atProvider": {"manifest": seen}, "conditions": [{"type": "Synced", "status": "True"}]}
    assert judge.part(part, made, proof).phase is Phase.READY
    if part.proof.condition:
        proof["status"]["atProvider"]["manifest"] = part.proof.resource
        assert judge.part(part, made, proof).phase is Phase.INSTALLING


def test_t4_releases_that_own_definitions_are_never_uninstalled() -> None:
    kept = {part.key for part in PARTS if not objects.is_removable(release(part))}
    assert kept == {"kserve-crd", "kueue", "monitors"}
    assert values("cert-manager")["crds"] == {"enabled": True, "keep": True}


def test_t5_the_definitions_of_envoy_gateway_come_with_its_own_chart() -> None:
    assert "gateway-crds-helm" not in {part.chart.name for part in PARTS}
    assert profile.parts()["envoy-gateway"].chart.name == "gateway-helm"


def test_t6_a_gateway_api_without_envoy_gateway_is_in_the_way() -> None:
    ((sign, why),) = profile.UNITS["gateway"].blockers
    assert sign.name == "v1.gateway.networking.k8s.io"
    assert "safe-upgrades.gateway.networking.k8s.io" in why
    assert "skipCRDs" not in release(profile.parts()["envoy-gateway"])["spec"]["forProvider"]


@every
def test_t7_no_release_takes_what_others_own(part: Part) -> None:
    given = release(part)["spec"]["forProvider"]
    assert not {"takeOwnership", "ssaForceConflicts"} & given.keys()


@every
def test_t8_a_namespace_is_always_set_and_made_before(part: Part) -> None:
    given = release(part)["spec"]["forProvider"]
    assert given["namespace"]
    assert given["skipCreateNamespace"] is True
    made = releases.namespace(STACK, part)["spec"]
    assert made["forProvider"]["manifest"]["metadata"]["name"] == given["namespace"]
    # Of these only the namespace of one part alone ends with it.
    assert ("managementPolicies" not in made) is (part.key == "envoy-gateway")


def test_t9_the_nvidia_driver_renders_with_gpus_and_not_in_the_default_namespace() -> None:
    part = profile.parts()["dra-nvidia"]
    assert values("dra-nvidia")["gpuResourcesEnabledOverride"] is True
    assert part.namespace != "default"
    assert values("dra-nvidia")["nvidiaDriverRoot"] == "/"
    other = Stack("a", "a", CONFIG, CONFIG, driver_root="/home/kubernetes/bin/nvidia")
    assert part.values(other)["nvidiaDriverRoot"] == "/home/kubernetes/bin/nvidia"
    assert not {"namespace", "nvidiaCtkPath"} & values("dra-nvidia").keys()


@every
def test_t10_nothing_that_runs_on_gpu_nodes_is_waited_for(part: Part) -> None:
    if part.proof.kind in ("DaemonSet", "DeviceClass"):
        assert "wait" not in release(part)["spec"]["forProvider"], "false is the default"


def test_t11_and_t12_kueue_comes_last_and_watches_labelled_namespaces_alone() -> None:
    kueue = profile.parts()["kueue"]
    assert kueue.after_all
    assert kueue.wave > max(part.wave for part in PARTS if part is not kueue)
    configuration = values("kueue")["managerConfig"]["controllerManagerConfigYaml"]
    assert "managedJobsNamespaceSelector:\n  matchLabels: {modelplane.ai/managed:" in configuration


def test_t13_certificates_are_checked_with_patience() -> None:
    assert values("cert-manager")["startupapicheck"]["timeout"] == "4m"
    assert release(profile.parts()["cert-manager"])["spec"]["forProvider"]["waitTimeout"] == "5m0s"


@every
def test_a_wait_ends_before_the_provider_does(part: Part) -> None:
    assert part.wait_minutes < 10


def test_t14_kserve_is_three_charts_in_its_own_namespace() -> None:
    parts = profile.UNITS["kserve"].parts
    assert [part.key for part in parts] == ["kserve-crd", "kserve", "kserve-presets"]
    assert {part.namespace for part in parts} == {"kserve"}
    assert len({part.chart.version for part in parts}) == 1
    assert values("kserve-presets")["kserve"]["servingruntime"] == {"enabled": False}


@every
def test_t15_a_version_is_always_pinned(part: Part) -> None:
    chart = release(part)["spec"]["forProvider"]["chart"]
    assert chart["version"]
    assert chart["repository"].startswith(("oci://", "https://"))


@every
def test_t16_critical_pods_have_a_quota_where_they_need_one(part: Part) -> None:
    assert part.is_critical == (part.proof.kind == "DeviceClass")
    scope = releases.quota(STACK, part)["spec"]["forProvider"]["manifest"]["spec"]["scopeSelector"]
    assert "system-node-critical" in scope["matchExpressions"][0]["values"]


def test_t17_an_abandoned_release_is_only_observed() -> None:
    made = releases.abandoned(release(profile.parts()["lws"]))
    assert made["spec"]["managementPolicies"] == ["Observe"]
    assert releases.is_abandoned(made)
    assert not objects.is_removable(made)


def test_t18_no_part_brings_the_gpu_operator() -> None:
    assert not any("operator" in part.chart.name for part in PARTS if part.key != "monitors")


@every
def test_names_fit_and_belong_to_nobody_else(part: Part) -> None:
    assert len(part.release) <= 53
    made = release(part)
    assert made["metadata"]["annotations"]["crossplane.io/external-name"] == part.release
    assert len(made["metadata"]["name"]) <= 63
    assert made["metadata"]["name"] != f"a-{part.key}", "an InferenceGateway named like a cluster has such names"


def test_the_profile_is_consistent() -> None:
    known = profile.parts()
    assert len(known) == sum(len(unit.parts) for unit in profile.UNITS.values())
    assert {name.partition("/")[0] for name in profile.UNITS} == set(profile.COMPONENTS)
    for part in PARTS:
        assert all(known[other].wave < part.wave for other in part.after)
    assert len({(part.release, part.namespace) for part in PARTS}) == len(PARTS)
    signs = [sign for unit in profile.UNITS.values() for sign in unit.looks]
    assert all(choice.key_of(sign) == choice.key_of(sign).lower() for sign in signs)


def test_no_definition_is_read_because_it_is_too_large() -> None:
    signs = itertools.chain.from_iterable(unit.looks for unit in profile.UNITS.values())
    assert {sign.kind for sign in (*signs, *(part.proof for part in PARTS))} <= {
        "APIService", "Deployment", "DaemonSet", "DeviceClass", "LLMInferenceServiceConfig"
    }  # fmt: skip


# --- needs ------------------------------------------------------------------------------------------------------------


def names(*backends: str, drivers: tuple[str, ...] = (), scheduler: str = "None", monitors: bool = False) -> list[str]:
    return [one.name for one in needs.of(backends, drivers, scheduler, has_monitors=monitors)]


def test_a_cluster_needs_what_its_backends_devices_and_scheduler_need() -> None:
    assert names("KServe") == ["certManager", "gateway", "kserve", "leaderWorkerSet"]
    assert names("Native") == names("LLMD") == ["gateway", "leaderWorkerSet"]
    assert names("KubeRay") == ["gateway", "operator"]
    assert names(ANY_BACKEND) == names("KServe")
    assert names("Native", drivers=("gpu.nvidia.com",)) == ["dra", "gateway", "leaderWorkerSet"]
    assert names("Native", scheduler="Kueue", monitors=True) == ["gateway", "leaderWorkerSet", "metrics", "queue"]


@pytest.mark.parametrize("backend", sorted(BACKENDS))
def test_every_backend_has_its_components_or_an_operator_that_is_looked_for(backend: str) -> None:
    found = {one.name: one for one in needs.of((backend,), (), "None", has_monitors=False)}
    assert "gateway" in found
    if backend not in needs.OF_BACKENDS:
        assert profile.unit("operator", backend).looks
        assert not profile.unit("operator", backend).parts


def test_what_was_needed_stays_and_what_the_author_says_wins() -> None:
    standing = (Component("dra", variants=("gpu.nvidia.com",)), Component("kserve"))
    found = needs.decided(
        needs.of(("Native",), ("gpu.intel.com",), "None", has_monitors=False),
        standing,
        {"kserve": Mode.DISABLED, "metrics": Mode.MANAGED, "dra": Mode.EXTERNAL, "queue": Mode.MANAGED},
        {"gateway": "v1.9.2"},
    )
    by_name = {one.name: one for one in found}
    assert by_name["dra"].variants == ("gpu.intel.com", "gpu.nvidia.com")
    assert by_name["dra"].mode is Mode.EXTERNAL
    assert by_name["kserve"].mode is Mode.DISABLED
    assert by_name["metrics"].mode is Mode.MANAGED
    assert by_name["gateway"].version == "v1.9.2"
    assert "queue" not in by_name, "of no scheduler there is none"


def test_a_variant_that_nothing_installs_goes_with_whoever_named_it() -> None:
    """A driver that was mistyped in a class was missing for ever, and the sixteenth was one too many for the stack."""
    standing = (
        Component("dra", variants=("gpu.nvidia.com", "gpu.nvidia.con")),
        Component("operator", variants=("KubeRay",)),
    )
    found = needs.decided(needs.of(("Native",), (), "None", has_monitors=False), standing, {}, {})
    assert {one.name: one.variants for one in found if one.variants} == {"dra": ("gpu.nvidia.com",)}


@pytest.mark.parametrize(
    ("versions", "said"),
    [
        pytest.param(
            {"kserv": "v0.20.0"}, "spec.stack.versions.kserv: is no component; the known ones are certManager"
        ),
        pytest.param({"kserve": "newest"}, "'newest' is not a version of a chart; write for example v1.2.3"),
        pytest.param({"kserve": "v1.2.3; rm"}, "is not a version"),
    ],
)
def test_versions_are_checked(versions: dict[str, str], said: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        needs.check(versions)
    assert said in str(refused.value)


@pytest.mark.parametrize("version", ["v0.20.0", "0.20.1", "4.6.0-4.8.3", "1.0.0-rc.1"])
def test_versions_that_charts_have_are_taken(version: str) -> None:
    needs.check({"kserve": version, "llm-d-router": "main"})


# --- turns ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changed", "broken", "before", "turn_of"),
    [
        pytest.param("", "", "", "", id="nothing"),
        pytest.param("bc", "", "", "b", id="the-first"),
        pytest.param("bc", "b", "b", "b", id="until-it-works"),
        pytest.param("c", "b", "b", "b", id="although-it-asks-for-nothing-any-more"),
        pytest.param("c", "", "b", "c", id="then-the-next"),
        pytest.param("c", "a", "", "", id="not-beside-what-is-broken"),
        pytest.param("ac", "a", "", "a", id="what-is-broken-may-be-mended"),
        pytest.param("abc", "ab", "", "a", id="the-first-of-what-is-broken"),
        pytest.param("c", "m", "", "c", id="nobody-waits-for-metrics"),
        pytest.param("c", "m", "m", "m", id="but-for-their-own-turn"),
    ],
)
def test_whose_turn_it_is(changed: str, broken: str, before: str, turn_of: str) -> None:
    working = {key: key not in broken for key in "abcm"}
    assert turn.whose("abcm", frozenset(changed), working, frozenset("abc"), before) == turn_of


def test_defaults_of_others_are_no_difference() -> None:
    lws = release(profile.parts()["lws"])
    found = {**lws, "spec": {**lws["spec"], "forProvider": {**lws["spec"]["forProvider"], "plainHTTP": False}}}
    assert not turn.differs(found, lws)
    assert turn.differs(found, releases.release(STACK, profile.parts()["lws"], "0.11.0"))
    assert turn.differs({}, lws)


def test_a_release_that_was_not_looked_at_since_its_change_does_not_work() -> None:
    lws = profile.parts()["lws"]
    made = release(lws)
    made["metadata"]["generation"] = 2
    ready = {"type": "Ready", "status": "True"}
    made["status"] = {"conditions": [ready, {"type": "Synced", "status": "True", "observedGeneration": 1}]}
    assert judge.part(lws, made, None).message == "Helm has not begun"
    made["status"] = {"atProvider": {"version": "0.9.0"}, "conditions": [ready, {"type": "Synced", "status": "True"}]}
    assert judge.part(lws, made, None).phase is Phase.INSTALLING


@pytest.mark.parametrize("child", [{}, {"status": []}, {"status": {"conditions": [3]}}, {"spec": 1, "status": "x"}])
def test_what_others_wrote_may_be_anything(child: Json) -> None:
    lws = profile.parts()["lws"]
    assert judge.part(lws, child, child).phase is not Phase.READY
    assert judge.found(child) is None
    assert not judge.works(child, api("v1", "x"))
    assert turn.differs(child, release(lws))
