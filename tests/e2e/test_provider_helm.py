"""A serving stack that provider-helm really installs, on an API server whose pods run as far as their status goes.

The charts are those of the projects' own modules, put where the provider keeps what it has pulled. LeaderWorkerSet is
0.9.0, the newest whose module has its chart. No webhook answers, because no pod runs: what one refuses is the failure
from which releases recover here.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from modelplane import names
from modelplane.render import objects
from modelplane.render.stack import releases
from modelplane.workload.stack import Component, Mode
from modelplane_functions.compose import serving_stack as composer
from modelplane_functions.exchange import Outcome
from tests.conformance.scheduler import hardware
from tests.conformance.stack import charts
from tests.e2e import workload
from tests.e2e.provider_pair import OBJECT, Pair
from tests.support import controlplane, exchange, installation, kubeapi, live, permissions, stack_world

Json = Any
pytestmark = pytest.mark.slow

SECONDS = 420
LWS = "0.9.0"
PARTS = ("cert-manager", "dra-nvidia", "envoy-gateway", "kserve", "kserve-crd", "kserve-presets", "lws")
MANAGER = ("apps/v1", "Deployment", "lws-controller-manager", "lws-system")
WEBHOOKS = ("ValidatingWebhookConfiguration", "MutatingWebhookConfiguration")
COMPONENTS = (
    Component("certManager"),
    Component("dra", variants=("gpu.nvidia.com",)),
    Component("gateway"),
    Component("kserve"),
    Component("leaderWorkerSet", version=LWS),
)
# Drivers and proxies of real clusters need it, and every distribution allows it.
PRIVILEGED = ("--allow-privileged=true",)
ADMINISTRATOR = Path(permissions.EXAMPLES / "rbac-workload-stack.yaml")
_ROOM = {"cpu": "32", "memory": "128Gi", "pods": "110"}
NODE = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {
        "name": "system-0",
        "annotations": {workload.KWOK_ANNOTATION: "fake"},
        "labels": {"kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64"},
    },
    "status": {"allocatable": _ROOM, "capacity": _ROOM},
}


SPENT = "failed 5 times; it is not tried again until"
_ADMISSION = "admissionregistration.k8s.io/v1"
REFUSES = (
    {
        "apiVersion": _ADMISSION,
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": "no-drivers"},
        "spec": {
            "matchConstraints": {
                "resourceRules": [
                    {
                        "apiGroups": ["apps"],
                        "apiVersions": ["v1"],
                        "operations": ["CREATE"],
                        "resources": ["daemonsets"],
                    }
                ]
            },
            "validations": [{"expression": "false", "message": "no drivers today"}],
        },
    },
    {
        "apiVersion": _ADMISSION,
        "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": {"name": "no-drivers"},
        "spec": {"policyName": "no-drivers", "validationActions": ["Deny"]},
    },
)
"""What keeps a driver from being installed until it is removed."""


class Live:
    """A ServingStack whose children are written and read on a control plane with both providers."""

    def __init__(self, control: controlplane.Plane, cluster: controlplane.Plane, folder: Path) -> None:
        self.pair = Pair(control, cluster)
        self.charts = folder / "charts"
        self.components: tuple[Component, ...] = COMPONENTS
        self.composite = stack_world.composite(COMPONENTS)
        self.names: dict[str, tuple[str, str, str, str]] = {}

    @property
    def control(self) -> controlplane.Plane:
        return self.pair.control

    @property
    def cluster(self) -> controlplane.Plane:
        return self.pair.cluster

    def pulled(self, part: str, version: str = "") -> None:
        """Let the chart of a part be one that the provider has pulled."""
        charts.package(part, self.charts, version)

    def children(self) -> dict[str, Json]:
        """Return what was composed, as it is now."""
        found = {key: self.control.api.get(*identity) for key, identity in self.names.items()}
        return {key: one for key, one in found.items() if one is not None}

    def step(self) -> Outcome:
        """Return what the function decides, and let it be written as Crossplane writes it."""
        before = self.children()
        outcome = exchange.settle(composer.compose, copy.deepcopy(self.composite), children=copy.deepcopy(before))
        for key, child in outcome.children.items():
            resource = copy.deepcopy(dict(child.resource))
            resource.pop("status", None)
            for field in ("managedFields", "resourceVersion", "uid", "generation", "creationTimestamp"):
                resource["metadata"].pop(field, None)
            if (
                objects.is_removable(before.get(key, {}))
                or key not in before
                or resource["spec"] != before[key]["spec"]
            ):
                self.control.api.apply(resource)
            metadata = resource["metadata"]
            self.names[key] = (
                resource["apiVersion"], resource["kind"], metadata["name"], metadata.get("namespace", ""),
            )  # fmt: skip
        for key in before.keys() - outcome.children.keys():
            self.control.api.delete(before[key])
        self.composite["status"] = copy.deepcopy(dict(outcome.status))
        return outcome

    def until(self, phases: dict[str, str], *texts: str) -> Outcome:
        """Return the decision once the components have these phases, and a message has each of the texts."""
        told: list[Any] = []

        def reached() -> Outcome | None:
            outcome = self.step()
            entries = {one["name"]: one for one in outcome.status["components"]}
            told[:] = [(one["name"], one["phase"], one.get("message", "")) for one in entries.values()]
            is_so = all(entries.get(name, {}).get("phase") == phase for name, phase in phases.items())
            said = " ".join(str(one.get("message", "")) for one in entries.values())
            return outcome if is_so and all(text in said for text in texts) else None

        try:
            outcome = kubeapi.until(reached, seconds=SECONDS, what=f"{phases} {texts}", every=2)
        except TimeoutError as error:
            raise TimeoutError(f"{error}; {told}") from error
        assert outcome is not None
        return outcome

    def say(self, name: str, mode: Mode | None) -> None:
        """Let the author say by whom a component is installed."""
        told = [replace(one, mode=mode) if one.name == name else one for one in self.components]
        self.components = tuple(told)
        self.composite["spec"]["components"] = stack_world.composite(told)["spec"]["components"]

    def release(self, part: str) -> Json:
        return self.children()[f"{releases.RELEASE}{part}"]

    def answer_no_webhooks(self) -> None:
        """Remove the webhooks of charts that are installed: no pod answers them here."""
        for kind in WEBHOOKS:
            for one in self.cluster.api.all_of(_ADMISSION, kind):
                self.cluster.api.delete(one)


@pytest.fixture(name="live_stack", scope="module")
def _live_stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    live.needs("operators", "go")
    folder = tmp_path_factory.mktemp("provider-helm")
    with ExitStack() as stack:
        control = stack.enter_context(controlplane.running(folder / "control", "control"))
        cluster = stack.enter_context(controlplane.running(folder / "cluster", "cluster", arguments=PRIVILEGED))
        for plane in (control, cluster):
            installation.namespace(plane, names.SYSTEM_NAMESPACE)
        for one in permissions.documents(ADMINISTRATOR):
            cluster.api.apply(one)
        installation.crossplane_definitions(control)
        installation.provider_kubernetes(control)
        made = Live(control, cluster, folder / "helm")
        installation.provider_helm(control, folder / "helm")
        made.pair.connect(stack_world.CONFIG.name, account="modelplane-stack")
        access = control.api.get(OBJECT[0], stack_world.CONFIG.kind, stack_world.CONFIG.name)
        control.api.apply(dict(releases.config(access).resource))
        cluster.controller_manager(*workload.CONTROLLERS)
        cluster.scheduler()
        hardware.stand(cluster.api, copy.deepcopy(NODE))
        workload.kwok(cluster)
        yield made


def _deployed(made: Live, part: str) -> Json:
    release = made.release(part)
    assert release["status"]["atProvider"]["state"] == "deployed"
    return release


def test_a_stack_is_installed_fails_and_recovers(live_stack: Live) -> None:
    made = live_stack
    for part in ("cert-manager", "dra-nvidia", "envoy-gateway", "kserve-crd", "kserve", "kserve-presets"):
        made.pulled(part)
    for one in REFUSES:
        made.cluster.api.apply(one)
    # Nobody has pulled the chart of LeaderWorkerSet, and its repository cannot be reached or has another answer.
    outcome = made.until({"certManager": "Ready", "dra/gpu.nvidia.com": "Failed"}, "failed to pull chart", SPENT)
    entries = {one["name"]: one for one in outcome.status["components"]}
    assert "failed to pull chart" in entries["leaderWorkerSet"]["message"]
    assert entries["leaderWorkerSet"]["version"] == LWS
    assert "no drivers today" in entries["dra/gpu.nvidia.com"]["message"]
    condition = outcome.conditions[0]
    assert (condition.reason, str(condition.status)) == ("InstallFailed", "False")
    assert "no drivers today" in condition.message or "failed to pull chart" in condition.message
    for part in ("cert-manager", "kserve-crd"):
        _deployed(made, part)
    assert f"{releases.RELEASE}kserve" not in made.children(), "it waits for LeaderWorkerSet"
    assert outcome.status.get("upgrading") is None, "an installation is no upgrade"

    # As the message says: the cause is corrected, and the component taken out and put back.
    for one in reversed(REFUSES):
        made.cluster.api.delete(one)
    made.say("dra", Mode.DISABLED)
    kubeapi.until(lambda: not _step(made, "dra-nvidia"), seconds=SECONDS, what="the driver to go", every=2)
    made.say("dra", None)
    made.pulled("lws", LWS)
    made.until({"leaderWorkerSet": "Ready", "dra/gpu.nvidia.com": "Ready"})
    assert made.cluster.api.get(*MANAGER) is not None

    # The objects of KServe's chart for cert-manager go through its webhook, which no pod answers; within its attempts
    # the release recovers by itself.
    made.until({"kserve": "Failed"}, "failed calling webhook")
    made.answer_no_webhooks()
    made.until({}, "failed calling webhook", "llminferenceserviceconfig")
    _deployed(made, "kserve")
    made.answer_no_webhooks()
    made.until({"kserve": "Ready"})
    _deployed(made, "kserve-presets")
    assert made.cluster.api.all_of("serving.kserve.io/v1alpha2", "LLMInferenceServiceConfig", "kserve")


def test_a_value_of_a_running_stack_is_an_upgrade_and_one_at_a_time(live_stack: Live) -> None:
    made = live_stack
    made.until({"kserve": "Ready"})
    before = {part: made.release(part)["status"]["atProvider"]["revision"] for part in PARTS}
    made.composite["spec"]["gpuDriverRoot"] = "/run/nvidia/driver"
    made.until({"dra/gpu.nvidia.com": "Ready"})
    kubeapi.until(
        lambda: _revision(made, "dra-nvidia") == before["dra-nvidia"] + 1, seconds=SECONDS, what="the upgrade", every=2
    )
    made.until({"dra/gpu.nvidia.com": "Ready"})
    plugin = made.cluster.api.get("apps/v1", "DaemonSet", "dra-driver-nvidia-gpu-kubelet-plugin", "nvidia-dra")
    assert "/run/nvidia/driver" in str(plugin)
    after = {part: made.release(part)["status"]["atProvider"]["revision"] for part in PARTS}
    assert after == {**before, "dra-nvidia": before["dra-nvidia"] + 1}, "nothing else was touched"


def test_a_component_that_others_need_stays_until_they_are_gone_and_goes_then(live_stack: Live) -> None:
    made = live_stack
    made.say("leaderWorkerSet", Mode.DISABLED)
    for _ in range(5):
        assert _step(made, "lws"), "KServe needs it"
    assert made.cluster.api.get(*MANAGER) is not None
    made.say("kserve", Mode.DISABLED)
    made.until({"leaderWorkerSet": "Disabled", "kserve": "Disabled"})
    kubeapi.until(lambda: not _step(made, "lws"), seconds=SECONDS, what="LeaderWorkerSet to go", every=2)
    assert not _step(made, "kserve"), "KServe goes first"
    kubeapi.until(
        lambda: made.cluster.api.get(*MANAGER), seconds=60, what="its objects to go", enough=lambda left: left is None
    )
    assert _serves(made, "serving.kserve.io")
    assert made.cluster.api.get("apps/v1", "Deployment", "cert-manager-webhook", "cert-manager") is not None


def _step(made: Live, part: str) -> set[str]:
    """Look once more, and return the key of the release of a part, if it is there."""
    made.step()
    return {f"{releases.RELEASE}{part}"} & made.children().keys()


def _revision(made: Live, part: str) -> int:
    made.step()
    revision: int = made.release(part)["status"]["atProvider"]["revision"]
    return revision


def _serves(made: Live, group: str) -> bool:
    found = made.cluster.api.all_of(*installation.CRD)
    return any(one["spec"]["group"] == group for one in found)
