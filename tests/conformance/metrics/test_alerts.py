"""The alerts by promtool: the rules are valid, each fires on what it is for, and on nothing when all is well."""

from __future__ import annotations

import functools
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.conformance.metrics import stage
from tests.conformance.tools import workshop
from tests.support import examples, installation, live, rendered

REPOSITORY = stage.FOLDER.parents[1]
RULES = stage.FOLDER / "alerts.yaml"
SPEC = next(installation.documents(RULES))["spec"]
ALERTS = {rule["alert"]: rule for group in SPEC["groups"] for rule in group["rules"]}
RUNBOOK = "https://github.com/modelplane/modelplane/blob/main/"


@dataclass(frozen=True)
class Case:
    """Series by minute, and the labels with which an alert fires after an hour and a half, or nothing."""

    alert: str
    series: dict[str, str]
    labels: dict[str, str] | None = None


SERVICE = '{namespace="t",service="s"}'
DEPLOYMENT = '{namespace="t",deployment="d"}'
D = {"namespace": "t", "deployment": "d"}
S = {"namespace": "t", "service": "s"}
BUILD = {'modelplane_function_build_info{instance="a"}': "1x120"}


def phases(now: str) -> dict[str, str]:
    every = ("Pending", "Admitted", "Queued", "Starting", "Running", "Degraded", "Failed")
    of = 'namespace="t",replica="r",cluster="c",deployment="d"'
    series = {f'modelplane_replica_phase{{{of},phase="{one}"}}': f"{int(one == now)}x120" for one in every}
    return {**series, f"modelplane_replica_created{{{of}}}": "0x120"}


def endpoints(ready: int, matched: int) -> dict[str, str]:
    return {
        f"modelplane_service_ready_endpoints{SERVICE}": f"{ready}x120",
        f"modelplane_service_matched_endpoints{SERVICE}": f"{matched}x120",
    }


def condition(metric: str, labels: str, value: int) -> dict[str, str]:
    return {f"modelplane_{metric}_condition{{{labels}}}": f"{value}x120"}


@functools.cache
def _settled() -> list[Any]:
    return rendered.folder(examples.EXAMPLES / "quickstart").objects()


def changed(kind: str, metric: str, spec: dict[str, Any]) -> dict[str, str]:
    """Return the conditions of the quickstart's object of a kind as they are after an edit of its running spec."""
    objects = [{**one, "spec": {**one["spec"], **spec}} if one["kind"] == kind else one for one in _settled()]
    (found,) = (one for one in rendered.world(objects).objects() if one["kind"] == kind)
    assert found["status"]["readyReplicas"] >= 2, "what runs is kept"
    return {
        f'modelplane_{metric}_condition{{namespace="t",{metric}="d",type="{one["type"]}",reason="{one["reason"]}"}}': (
            f"{int(one['status'] == 'True')}x120"
        )
        for one in found["status"]["conditions"]
    }


def devices(free: int) -> dict[str, str]:
    return {
        'modelplane_cluster_free_devices{cluster="c"}': f"{free}x120",
        'modelplane_cluster_devices{cluster="c"}': "100x120",
    }


def calls(outcome: str, growth: int) -> dict[str, str]:
    return {f'modelplane_function_calls_total{{kind="K",outcome="{outcome}",instance="a"}}': f"0+{growth}x120"}


def buckets(metric: str, bounds: dict[str, int]) -> dict[str, str]:
    name = f"modelplane_function_{metric}_bucket"
    return {f'{name}{{kind="K",le="{bound}"}}': f"0+{growth}x120" for bound, growth in bounds.items()}


R = {"namespace": "t", "replica": "r", "cluster": "c", "deployment": "d"}
CASES = {
    "down": Case("ModelplaneServiceDown", endpoints(0, 2), S),
    "up": Case("ModelplaneServiceDown", endpoints(1, 2)),
    "nothing to be down": Case("ModelplaneServiceDown", endpoints(0, 0)),
    "matches nothing": Case("ModelplaneServiceMatchesNothing", endpoints(0, 0), S),
    "matches": Case("ModelplaneServiceMatchesNothing", endpoints(0, 1)),
    "some are ready": Case("ModelplaneServiceDegraded", endpoints(1, 2), S),
    "all are ready": Case("ModelplaneServiceDegraded", endpoints(2, 2)),
    "no place": Case(
        "ModelplaneReplicaUnscheduled",
        {f"modelplane_deployment_unscheduled_replicas{DEPLOYMENT}": "1x120"},
        {"namespace": "t", "deployment": "d"},
    ),
    "a place": Case(
        "ModelplaneReplicaUnscheduled", {f"modelplane_deployment_unscheduled_replicas{DEPLOYMENT}": "0x120"}
    ),
    "starts for too long": Case("ModelplaneReplicaNotServing", phases("Starting"), R),
    "runs": Case("ModelplaneReplicaNotServing", phases("Running")),
    "failed": Case("ModelplaneReplicaFailed", phases("Failed"), {**R, "phase": "Failed"}),
    "not failed": Case("ModelplaneReplicaFailed", phases("Degraded")),
    "a cache failed": Case(
        "ModelplaneCacheFailed",
        {'modelplane_cache_copy_phase{namespace="t",cache="m",cluster="c",phase="Failed"}': "1x120"},
        {"namespace": "t", "cache": "m", "cluster": "c", "phase": "Failed"},
    ),
    "a cache is staged": Case(
        "ModelplaneCacheFailed",
        {'modelplane_cache_copy_phase{namespace="t",cache="m",cluster="c",phase="Failed"}': "0x120"},
    ),
    "unreachable": Case(
        "ModelplaneClusterUnreachable",
        condition("cluster", 'cluster="c",type="ClusterReady",reason="Unreachable"', 0),
        {"cluster": "c", "type": "ClusterReady", "reason": "Unreachable"},
    ),
    "reachable": Case(
        "ModelplaneClusterUnreachable", condition("cluster", 'cluster="c",type="ClusterReady",reason="Reachable"', 1)
    ),
    "not counted": Case(
        "ModelplaneClusterNotCounted",
        condition("cluster", 'cluster="c",type="CapacityKnown",reason="ClassMissing"', 0),
        {"cluster": "c", "type": "CapacityKnown", "reason": "ClassMissing"},
    ),
    "counted": Case(
        "ModelplaneClusterNotCounted", condition("cluster", 'cluster="c",type="CapacityKnown",reason="Counted"', 1)
    ),
    "full": Case("ModelplaneFleetNearlyFull", devices(4), {}),
    "room": Case("ModelplaneFleetNearlyFull", devices(5)),
    "not programmed": Case(
        "ModelplaneGatewayNotProgrammed",
        condition("gateway", 'gateway="g",type="Programmed",reason="NoAddress"', 0),
        {"gateway": "g", "type": "Programmed", "reason": "NoAddress"},
    ),
    "programmed": Case(
        "ModelplaneGatewayNotProgrammed", condition("gateway", 'gateway="g",type="Programmed",reason="Programmed"', 1)
    ),
    "refused": Case(
        "ModelplaneInputRefused",
        condition("service", 'namespace="t",service="s",type="Accepted",reason="InvalidInput"', 0),
        {**S, "type": "Accepted", "reason": "InvalidInput"},
    ),
    "a deployment that is refused while it serves": Case(
        "ModelplaneInputRefused",
        changed("ModelDeployment", "deployment", {"nodeSelector": {"cel": "device.driver =="}}),
        {**D, "type": "ReplicasScheduled", "reason": "InvalidNodeSelector"},
    ),
    "a deployment that waits for room": Case(
        "ModelplaneInputRefused", changed("ModelDeployment", "deployment", {"replicas": 100})
    ),
    "an endpoint": Case(
        "ModelplaneInputRefused",
        condition("endpoint", 'namespace="t",endpoint="e",type="EndpointResolved",reason="InvalidInput"', 0),
        {"namespace": "t", "endpoint": "e", "type": "EndpointResolved", "reason": "InvalidInput"},
    ),
    "the short form": Case(
        "ModelplaneInputRefused",
        condition("llm_inference", 'namespace="t",llminference="l",type="Accepted",reason="NotSized"', 0),
        {"namespace": "t", "llminference": "l", "type": "Accepted", "reason": "NotSized"},
    ),
    "another condition": Case(
        "ModelplaneInputRefused", condition("service", 'namespace="t",service="s",type="Ready",reason="X"', 0)
    ),
    "rights are missing": Case(
        "ModelplaneNotReconciled",
        {
            **condition("deployment", 'namespace="t",deployment="d",type="Synced",reason="ReconcileError"', 0),
            **condition("deployment", 'namespace="t",deployment="d",type="ReplicasScheduled",reason="AllScheduled"', 1),
            **condition("service", 'namespace="t",service="s",type="Accepted",reason="InvalidInput"', 0),
        },
        {**D, "type": "Synced", "reason": "ReconcileError"},
    ),
    "only refused": Case(
        "ModelplaneNotReconciled",
        changed("ModelDeployment", "deployment", {"nodeSelector": {"cel": "device.driver =="}}),
    ),
    "written": Case(
        "ModelplaneNotReconciled",
        condition("replica", 'namespace="t",replica="r",type="Synced",reason="ReconcileSuccess"', 1),
    ),
    "paused": Case(
        "ModelplaneNotReconciled",
        condition("replica", 'namespace="t",replica="r",type="Synced",reason="ReconcilePaused"', 0),
    ),
    "no server": Case("ModelplaneFunctionDown", {"up": "1x120"}, {}),
    "a server": Case("ModelplaneFunctionDown", BUILD),
    "a bug": Case("ModelplaneFunctionFails", calls("UNKNOWN", 5), {"kind": "K", "outcome": "UNKNOWN"}),
    "mistakes of authors": Case("ModelplaneFunctionFails", calls("refused", 5)),
    "slow": Case(
        "ModelplaneFunctionSlow",
        buckets("call_duration_seconds", {"5": 90, "10": 100, "+Inf": 100}),
        {"kind": "K"},
    ),
    "quick": Case("ModelplaneFunctionSlow", buckets("call_duration_seconds", {"5": 100, "10": 100, "+Inf": 100})),
    "large": Case(
        "ModelplaneFunctionAnswerLarge",
        buckets("response_bytes", {"1048576": 9, "4194304": 10, "+Inf": 10}),
        {"kind": "K"},
    ),
    "small": Case("ModelplaneFunctionAnswerLarge", buckets("response_bytes", {"262144": 9, "1048576": 10, "+Inf": 10})),
}


@pytest.fixture(scope="module")
def promtool() -> Path:
    live.needs("metrics", "go")
    return workshop.program("promtool")


def run(promtool: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(promtool), *arguments], capture_output=True, text=True, timeout=120, check=False)


def test_the_rules_are_valid(promtool: Path, tmp_path: Path) -> None:
    rules = tmp_path / "rules.yaml"
    rules.write_text(yaml.safe_dump(SPEC))
    done = run(promtool, "check", "rules", "--lint=all", "--lint-fatal", str(rules))
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{len(ALERTS)} rules found" in done.stdout


def _question(case: Case) -> dict[str, Any]:
    rule = ALERTS[case.alert]
    expected = []
    if case.labels is not None:
        expected = [{"exp_labels": {**rule["labels"], **case.labels}}]
    return {
        "interval": "1m",
        "input_series": [{"series": name, "values": values} for name, values in case.series.items()],
        "alert_rule_test": [
            {
                "eval_time": "90m" if case.alert != "ModelplaneFunctionAnswerLarge" else "119m",
                "alertname": case.alert,
                "exp_alerts": expected,
            }
        ],
    }


def test_each_alert_fires_on_what_it_is_for_and_not_otherwise(promtool: Path, tmp_path: Path) -> None:
    """Labels are compared; the texts are those of the rule, which the next test reads."""
    rules = {"groups": [_without_texts(group) for group in SPEC["groups"]]}
    (tmp_path / "rules.yaml").write_text(yaml.safe_dump(rules))
    questions = [{"name": name, **_question(case)} for name, case in CASES.items()]
    asked = tmp_path / "asked.yaml"
    asked.write_text(yaml.safe_dump({"rule_files": ["rules.yaml"], "evaluation_interval": "1m", "tests": questions}))
    done = run(promtool, "test", "rules", str(asked))
    assert done.returncode == 0, done.stdout + done.stderr


def _without_texts(group: dict[str, Any]) -> dict[str, Any]:
    return {
        **group,
        "rules": [{key: said for key, said in rule.items() if key != "annotations"} for rule in group["rules"]],
    }


def test_the_cases_would_find_an_alert_that_never_fires(promtool: Path, tmp_path: Path) -> None:
    groups = [_without_texts(group) for group in SPEC["groups"]]
    broken = [{**group, "rules": [{**rule, "expr": "vector(1) > 2"} for rule in group["rules"]]} for group in groups]
    (tmp_path / "rules.yaml").write_text(yaml.safe_dump({"groups": broken}))
    firing = [{"name": name, **_question(case)} for name, case in CASES.items() if case.labels is not None]
    asked = tmp_path / "asked.yaml"
    asked.write_text(yaml.safe_dump({"rule_files": ["rules.yaml"], "evaluation_interval": "1m", "tests": firing}))
    done = run(promtool, "test", "rules", str(asked))
    assert done.returncode == 1
    missed = {case.alert for case in CASES.values() if case.labels is not None}
    assert all(f"alertname: {alert}" in done.stdout + done.stderr for alert in missed)


@pytest.mark.parametrize("alert", ALERTS)
def test_an_alert_has_both_cases_and_a_page(alert: str) -> None:
    rule = ALERTS[alert]
    assert {case.labels is None for case in CASES.values() if case.alert == alert} == {True, False}
    assert rule["labels"]["severity"] in ("critical", "warning", "info")
    page = REPOSITORY / rule["annotations"]["runbook_url"].removeprefix(RUNBOOK)
    text = page.read_text()
    assert f"`{alert}`" in text
    for part in ("## What it means", "## What to look at", "## What to do"):
        assert part in text, f"{page.name} has no {part!r}"


def test_every_page_is_of_an_alert() -> None:
    named = {rule["annotations"]["runbook_url"].rpartition("/")[2] for rule in ALERTS.values()}
    pages = {page.name for page in (REPOSITORY / "docs" / "runbook").glob("*.md")}
    assert pages - {"index.md"} == named
