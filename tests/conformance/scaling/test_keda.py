"""The composed ScaledObject, and KEDA, which acts on it: its operator, its metrics server and its admission webhook.

From zero to several and back, on a server of metrics that is lost in between. Only times are shortened.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from modelplane import names
from tests.conformance.scaling import metrics, promql, stage
from tests.conformance.tools import workshop
from tests.support import controlplane, fleet, installation, kubeapi, live

KINDS = frozenset({"ScaledObject"})
WISH = {"min": 1, "max": 3, "target": {"requests": 16}, "scaleToZero": {"after": "1m"}}
ENVIRONMENT = {"WATCH_NAMESPACE": "", "POD_NAMESPACE": "keda", "KEDA_CLUSTER_OBJECT_NAMESPACE": "keda"}
COOLDOWN_SECONDS = 10


def service() -> stage.Document:
    """Return a service whose route outlives the replicas."""
    labels = ({names.LABEL_DEPLOYMENT: stage.NAME}, {"provider": "example"})
    return {
        "apiVersion": names.API_VERSION,
        "kind": "ModelService",
        "metadata": {"name": "chat", "namespace": stage.NAMESPACE},
        "spec": {"endpoints": [{"selector": {"matchLabels": one}} for one in labels]},
    }


@pytest.fixture(scope="module")
def plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[controlplane.Plane]:
    """A control plane with KEDA as its manifests start it, and the HPA controller."""
    live.needs("scaling", "go")
    with stage.plane(tmp_path_factory.mktemp("keda"), "keda") as found:
        certificates = found.issue("keda-certificates", "keda-operator")
        health, rpc, adapter, http, webhooks, probe = controlplane.free_ports(6)
        operator = found.program(
            "keda-operator",
            f"--cert-dir={certificates}",
            f"--ca-dir={certificates}",
            "--enable-prometheus-metrics=false",
            f"--health-probe-bind-address=127.0.0.1:{health}",
            f"--metrics-service-bind-address=127.0.0.1:{rpc}",
            environment=ENVIRONMENT,
        )
        controlplane.await_port(operator, rpc)
        served = found.program(
            "keda-adapter",
            f"--secure-port={adapter}",
            "--bind-address=127.0.0.1",
            f"--port={http}",
            f"--metrics-service-address=localhost:{rpc}",
            f"--client-ca-file={certificates / 'ca.crt'}",
            f"--tls-cert-file={certificates / 'tls.crt'}",
            f"--tls-private-key-file={certificates / 'tls.key'}",
            f"--cert-dir={certificates}",
            f"--lister-kubeconfig={found.kubeconfig}",
            f"--authentication-kubeconfig={found.kubeconfig}",
            f"--authorization-kubeconfig={found.kubeconfig}",
            environment=ENVIRONMENT,
        )
        controlplane.await_port(served, adapter)
        stage.external_metrics(found, adapter)
        _admission(found, certificates, webhooks, probe)
        stage.autoscaling(found)
        yield found


def _admission(found: controlplane.Plane, certificates: Path, port: int, probe: int) -> None:
    hook = found.program(
        "keda-webhooks",
        f"--cert-dir={certificates}",
        f"--port={port}",
        "--metrics-bind-address=0",
        f"--health-probe-bind-address=127.0.0.1:{probe}",
        environment=ENVIRONMENT,
    )
    controlplane.await_port(hook, port)
    folder = workshop.source("keda", "github.com/kedacore/keda/v2") / "config" / "webhooks"
    (document,) = [
        one
        for one in installation.documents(*sorted(folder.glob("*.yaml")))
        if one["kind"] == "ValidatingWebhookConfiguration"
    ]
    found.api.apply(installation.called_by_url(document, port, certificates))


def engines(running: float | None) -> dict[str, str]:
    """Return the series of engines with so many requests, half of them on each of two clusters; none for None."""
    if running is None:
        return {}
    own = f'modelplane_ai_namespace="{stage.NAMESPACE}",modelplane_ai_deployment="{stage.NAME}"'
    places = [f'{own},modelplane_ai_cluster="{one}",pod="{one}"' for one in ("gke-us", "gke-eu")]
    return {f"vllm:num_requests_running{{{one}}}": promql.gauge(running / 2) for one in places} | {
        f"vllm:num_requests_waiting{{{one}}}": promql.gauge(0) for one in places
    }


def gateway(per_second: float) -> dict[str, str]:
    """Return the series of the gateway with so many requests, and with those of another service."""

    def series(name: str) -> str:
        return f'{{envoy_cluster_name="httproute/{stage.NAMESPACE}/{name}/rule/0"}}'

    return {
        f"envoy_cluster_upstream_rq_active{series('chat')}": promql.gauge(0),
        f"envoy_cluster_upstream_rq_total{series('chat')}": promql.counter(per_second),
        f"envoy_cluster_upstream_rq_total{series('chatter')}": promql.counter(9),
    }


def _soon(resource: dict[str, Any]) -> None:
    resource["spec"]["cooldownPeriod"] = resource["spec"]["initialCooldownPeriod"] = COOLDOWN_SECONDS


def test_from_zero_to_several_and_back(plane: controlplane.Plane) -> None:
    load = metrics.Load({**engines(None), **gateway(1)})
    with metrics.serve(load) as port:
        stage.deployment(plane, WISH)
        one = stage.Stage(plane, KINDS, stage.around(f"http://127.0.0.1:{port}", [service()]), _soon)

        # It loads its weights: somebody asks, and no engine answers yet. What cannot be read takes nothing away.
        one.until(lambda: one.scaler("scaled-object") is not None, seconds=30, what="a ScaledObject")
        one.stays(1, seconds=COOLDOWN_SECONDS * 2)

        # It serves, and nobody asks.
        load.series = {**engines(0), **gateway(0)}
        one.until(one.wants(0), seconds=90, what="sleep")

        # At zero there is no engine, so its metric has no series; only the gateway's counts.
        load.series = gateway(0)
        one.until(
            lambda: _told(one) == ("True", "ScalerReady"), seconds=30, what="a scaler that is well while it sleeps"
        )
        one.stays(0, seconds=30)

        # A server of metrics that is down wakes nobody.
        load.fails = True
        one.stays(0, seconds=30)
        load.fails = False

        load.series = gateway(0.5)
        one.until(one.wants(1), seconds=60, what="the request that wakes it")
        one.stays(1, seconds=25)

        load.series = {**engines(40), **gateway(2)}
        one.until(one.wants(3), seconds=150, what="more replicas")

        # All of the metrics are lost, and then those of the engines alone, while requests go on.
        load.fails = True
        one.stays(3, seconds=COOLDOWN_SECONDS * 2)
        load.fails = False
        load.series = gateway(2)
        one.stays(3, seconds=COOLDOWN_SECONDS * 2)

        load.series = {**engines(0), **gateway(0)}
        one.until(one.wants(0), seconds=90, what="sleep again")
        assert one.seen == [1, 0, 1, 3, 0]

        # Without the wish the scaler goes, and the number of replicas stays.
        plane.api.merge(one.deployment(), {"spec": {"replicas": 2, "scaling": None}})
        one.until(lambda: one.scaler("scaled-object") is None, seconds=60, what="the end of the ScaledObject")
        one.stays(2, seconds=10)


def _told(one: stage.Stage) -> tuple[str, str]:
    told = next(each for each in one.step().conditions if each.type == "ScalerReady")
    return told.status.value, told.reason


def _written_by_hand(kind: str, version: str, name: str) -> stage.Document:
    target = {"apiVersion": names.API_VERSION, "kind": "ModelDeployment", "name": "other"}
    metadata = {"name": name, "namespace": stage.NAMESPACE}
    metrics_of: dict[str, stage.Document] = {
        "ScaledObject": {"triggers": [{"type": "cron", "metadata": _CRON}]},
        "HorizontalPodAutoscaler": {"maxReplicas": 3},
    }
    return {
        "apiVersion": version,
        "kind": kind,
        "metadata": metadata,
        "spec": {"scaleTargetRef": target, **metrics_of[kind]},
    }


_CRON = {"timezone": "Etc/UTC", "start": "0 1 * * *", "end": "0 2 * * *", "desiredReplicas": "2"}


@pytest.mark.parametrize("scaling", [
    pytest.param({"max": 6, "target": {"requests": 16, "kvCacheUsage": 80, "tokensPerSecond": 900, "cpu": "500m"}},
                 id="every target"),
    pytest.param({"min": 2, "max": 6, "target": {"waitingRequests": 4}, "scaleToZero": {}}, id="to zero"),
    pytest.param({"max": 6, "schedule": [{"start": "0 8 * * 1-5", "end": "0 18 * * 1-5", "replicas": 3}]}, id="clock"),
])  # fmt: skip
def test_the_webhook_takes_what_is_composed(plane: controlplane.Plane, scaling: stage.Document) -> None:
    from modelplane_functions.compose import model_deployment  # noqa: PLC0415 - one call of it
    from tests.support import exchange  # noqa: PLC0415

    document = fleet.model_deployment("accepted")
    document["spec"]["scaling"] = scaling
    outcome = exchange.settle(
        model_deployment.compose, document, store=stage.around("http://t", [_serving("accepted")]), kinds=KINDS
    )
    plane.api.create(dict(outcome.children["scaled-object"].resource), dry_run=True)


def _serving(name: str) -> stage.Document:
    found = service()
    found["spec"]["endpoints"][0]["selector"]["matchLabels"] = {names.LABEL_DEPLOYMENT: name}
    return found


def test_the_webhook_refuses_a_second_scaler(plane: controlplane.Plane) -> None:
    """The real one backs our own check up, and it is not ours alone that keeps two scalers apart."""
    plane.api.create(_written_by_hand("ScaledObject", "keda.sh/v1alpha1", "first"))

    def refused() -> str:
        try:
            plane.api.create(_written_by_hand("ScaledObject", "keda.sh/v1alpha1", "second"), dry_run=True)
        except kubeapi.Refused as error:
            return str(error)
        return ""

    said = kubeapi.until(refused, seconds=30, what="a refusal")
    assert "already managed by the ScaledObject 'first'" in said
