"""A replica's LLMInferenceService given to KServe's controller: what it makes of scheduler, weights and their caches.

No engine, scheduler or download runs: kwok runs the pods.
Source: KServe v0.20.0, built from its module and run as a process with its webhooks.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
import yaml

from modelplane import names
from modelplane.render.backends import kserve
from modelplane.render.backends.kserve import scheduling
from modelplane.render.progress import Phase
from modelplane.workload.model import EndpointPicker, Model, Replica, Role
from modelplane.workload.site import ClusterFacts
from tests.conformance.tools import workshop
from tests.e2e import handed
from tests.e2e.handed import NAMESPACE, SECONDS
from tests.e2e.workload import KSERVE, KSERVE_NAMESPACE
from tests.support import controlplane, installation, kubeapi
from tests.support import replicas as build

Document = dict[str, Any]

pytestmark = pytest.mark.slow

FACTS = ClusterFacts("kserve", "modelplane", names.SYSTEM_NAMESPACE)
OPERATOR = handed.To(kserve, FACTS, lambda _: "workload")
S3 = Model("llama", "s3://models/llama/v1")
DOWNLOAD = "storage-initializer"


@pytest.fixture(scope="module")
def plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[controlplane.Plane]:
    for plane in handed.running(tmp_path_factory, "kserve", "kserve"):
        controlplane.save(plane)
        command = (sys.executable, "-m", "tests.e2e.gateways", str(plane.folder))
        environment = {"PYTHONPATH": str(workshop.REPOSITORY)}
        plane.start(controlplane.Process("gateways", command, plane.folder / "gateways.log", environment))
        yield plane


def _replica(name: str, *, workers: int = 1, model: Model | None = S3, **pod: Any) -> Replica:
    role = build.role(workers=workers, devices=(), pod_template=build.template(**pod))
    return build.replica(role, name=name, namespace=NAMESPACE, model=model)


def _apart(replica: Replica) -> Replica:
    return replace(replica, roles=(*replica.roles, build.role(Role.PREFILL, devices=())))


def _deployment(plane: controlplane.Plane, name: str, what: str, enough: Callable[[Document], bool] = bool) -> Document:
    return kubeapi.until(
        lambda: plane.api.get("apps/v1", "Deployment", name, NAMESPACE) or {},
        seconds=SECONDS, what=what, enough=enough,
    )  # fmt: skip


def _told(deployment: Document) -> Any:
    """Return the configuration that a scheduler is started with, empty if there is no scheduler."""
    for container in deployment.get("spec", {}).get("template", {}).get("spec", {}).get("containers", ()):
        if container["name"] == "main" and "--config-text" in container["args"]:
            return yaml.safe_load(container["args"][container["args"].index("--config-text") + 1])
    return {}


def _scheduler(name: str) -> str:
    return f"{name}-kserve-router-scheduler"


def _pods(plane: controlplane.Plane, replica: Replica) -> set[str]:
    found = plane.api.all_of("v1", "Pod", NAMESPACE, f"{names.LABEL_REPLICA}={replica.name}")
    return {pod["metadata"]["uid"] for pod in found if "deletionTimestamp" not in pod["metadata"]}


def test_a_second_worker_brings_a_scheduler_and_restarts_no_pod(plane: controlplane.Plane) -> None:
    one = replace(_replica("grows", model=Model("llama", "hf://a/b")), endpoint_picker=EndpointPicker())
    document = OPERATOR.apply(plane, one)
    OPERATOR.until(plane, one, document, Phase.RUNNING)
    before = _pods(plane, one)
    assert len(before) == 1
    assert plane.api.get("apps/v1", "Deployment", _scheduler("grows"), NAMESPACE) is None

    two = handed.workers(one, 2)
    OPERATOR.apply(plane, two)
    assert OPERATOR.until(plane, two, document, Phase.RUNNING).workers == {Role.DECODE: 2}
    assert before < _pods(plane, two)
    told = _told(_deployment(plane, _scheduler("grows"), "a scheduler"))
    assert told == scheduling.configuration(two)
    pool = plane.api.get("inference.networking.k8s.io/v1", "InferencePool", scheduling.pool_name("grows"), NAMESPACE)
    labels = ",".join(f"{key}={value}" for key, value in pool["spec"]["selector"]["matchLabels"].items())
    chosen = plane.api.all_of("v1", "Pod", NAMESPACE, labels)
    assert {pod["metadata"]["uid"] for pod in chosen} == _pods(plane, two)

    # KServe would keep what the scheduler was started with if the service did not say its configuration.
    for asked in (EndpointPicker(picker="random-picker"), EndpointPicker()):
        OPERATOR.apply(plane, replace(two, endpoint_picker=asked))
        wanted = scheduling.configuration(replace(two, endpoint_picker=asked))
        _deployment(plane, _scheduler("grows"), "another configuration", lambda one, it=wanted: _told(one) == it)  # type: ignore[misc]
    assert before < _pods(plane, two)


@pytest.mark.parametrize("is_apart", [False, True])
def test_for_vllm_the_configuration_is_kserves_own(plane: controlplane.Plane, is_apart: bool) -> None:  # noqa: FBT001
    replica = replace(_replica(f"default-{int(is_apart)}", workers=2), endpoint_picker=EndpointPicker())
    replica = _apart(replica) if is_apart else replica
    (service,) = (one.resource for one in kserve.render(replica, FACTS) if one.key == "workload")
    document = handed.plain(service)
    document["spec"]["router"]["scheduler"] = {}
    plane.api.apply(document)
    theirs = _told(_deployment(plane, _scheduler(replica.name), "KServe's own configuration", _told))
    ours = scheduling.configuration(replica)
    assert {one["name"]: _weights(one) for one in theirs["schedulingProfiles"]} == {
        one["name"]: _weights(one) for one in ours["schedulingProfiles"]
    }
    assert _by_type(theirs) == _by_type(ours)


def _weights(profile: Document) -> dict[str, int | None]:
    return {one["pluginRef"]: one.get("weight") for one in profile["plugins"]}


def _by_type(configuration: Document) -> dict[str, Any]:
    return {one["type"]: one.get("parameters") for one in configuration["plugins"]}


def test_s3_is_downloaded_with_the_secrets_of_the_service_account(plane: controlplane.Plane) -> None:
    about = {"namespace": NAMESPACE, "name": "s3-models"}
    data = {"AWS_ACCESS_KEY_ID": "k", "AWS_SECRET_ACCESS_KEY": "s"}
    annotations = {"serving.kserve.io/s3-endpoint": "s3.example.com"}
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {**about, "annotations": annotations}}
    plane.api.apply({**secret, "stringData": data})
    plane.api.apply(
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": about, "secrets": [{"name": "s3-models"}]}
    )
    OPERATOR.apply(plane, _replica("stored", serviceAccountName="s3-models"))
    spec = _deployment(plane, "stored-kserve", "the Deployment of the replica")["spec"]["template"]["spec"]
    (download,) = spec["initContainers"]
    assert (download["name"], download["args"]) == (DOWNLOAD, ["s3://models/llama/v1", "/mnt/models"])
    env = {one["name"]: one for one in download["env"]}
    for key in data:
        assert env[key]["valueFrom"]["secretKeyRef"] == {"name": "s3-models", "key": key}
    assert env["AWS_ENDPOINT_URL"]["value"] == "https://s3.example.com"
    (engine,) = spec["containers"]
    assert _mounted(engine) == _mounted(download)
    assert "/mnt/models" in engine["args"]


def _mounted(container: Document) -> str:
    (found,) = (mount["name"] for mount in container["volumeMounts"] if mount["mountPath"] == "/mnt/models")
    return str(found)


@pytest.fixture
def cached(plane: controlplane.Plane) -> None:
    """Let KServe look for LocalModelCaches, and give it one of a folder in S3 and one of a repository."""
    root = workshop.source("kserve", KSERVE) / "config" / "crd" / "full" / "localmodel"
    files = sorted(root.glob("serving.kserve.io_localmodel*caches.yaml"))
    installation.apply_definitions(plane, list(installation.documents(*files)))
    configuration = plane.api.get("v1", "ConfigMap", "inferenceservice-config", KSERVE_NAMESPACE)
    said = configuration["data"]["localModel"].replace('"enabled": false', '"enabled": true')
    plane.api.merge(configuration, {"data": {"localModel": said}})
    for name, uri in (("in-s3", "s3://models/llama"), ("of-hub", "hf://a/b")):
        spec = {"sourceModelUri": uri, "modelSize": "1Gi", "nodeGroups": ["gpus"]}
        about = {"apiVersion": "serving.kserve.io/v1alpha1", "kind": "LocalModelCache", "metadata": {"name": name}}
        plane.api.apply({**about, "spec": spec})


@pytest.mark.usefixtures("cached")
def test_a_local_model_cache_is_mounted_where_kserve_loads_the_weights(plane: controlplane.Plane) -> None:
    for name, model, claims in (
        ("cached", S3, ["in-s3-gpus"]),
        ("hub", Model("llama", "hf://a/b"), []),
    ):
        OPERATOR.apply(plane, _replica(name, model=model))
        spec = _deployment(plane, f"{name}-kserve", "the Deployment of the replica")["spec"]["template"]["spec"]
        found = [one["persistentVolumeClaim"]["claimName"] for one in spec["volumes"] if "persistentVolumeClaim" in one]
        assert found == claims
        assert "initContainers" not in spec
    (engine,) = _deployment(plane, "cached-kserve", "it")["spec"]["template"]["spec"]["containers"]
    (mount,) = (one for one in engine["volumeMounts"] if one["mountPath"] == "/mnt/models")
    assert mount["subPath"].endswith("/v1")
