"""What KServe would run differently is refused, and what works is not."""

from __future__ import annotations

from typing import Any

import pytest

from modelplane.errors import InvalidInput, dotted
from modelplane.render.backends import kserve
from modelplane.topology.shape import Topology
from modelplane.workload.model import EngineType, Model, Replica, Role, Workload
from tests.support import kserve as shapes
from tests.support import replicas as build


def _workload(replica: Replica) -> Workload:
    roles = tuple(bound.spec for bound in replica.roles)
    return Workload(replica.namespace, replica.deployment, replica.model, replica.engine, roles, replica.model_cache)


# --- what is refused --------------------------------------------------------------------------------------------------


def _pod(image: str = "vllm/vllm-openai:v1", engine: Any = None, **pod: Any) -> Replica:
    return build.replica(build.role(pod_template=build.template(image, engine=engine or {}, **pod)))


@pytest.mark.parametrize(
    ("replica", "path", "says"),
    [
        pytest.param(
            build.replica(build.role(topology=Topology(pipeline=2, data=2))),
            "spec.workers.topology.pipeline",
            "cannot both be above 1",
            id="pipeline and data",
        ),
        pytest.param(
            build.replica(build.role(), build.role(Role.PREFILL, topology=Topology(pipeline=2, data=2))),
            "spec.prefill.workers.topology.pipeline",
            "cannot both be above 1",
            id="pipeline and data of prefill",
        ),
        pytest.param(
            build.replica(build.role(topology=shapes.GANG), engine=EngineType.TRTLLM),
            "spec.workers.topology.pipeline",
            "cannot span the 2 nodes",
            id="TensorRT-LLM over nodes",
        ),
        pytest.param(
            build.replica(build.role(topology=Topology(data=2, data_local=2)), engine=EngineType.LLAMACPP),
            "spec.workers.topology.data",
            "workers.count",
            id="llama.cpp has no data parallelism",
        ),
        pytest.param(
            build.replica(build.role(), build.role(Role.PREFILL), engine=EngineType.TRTLLM),
            "spec.prefill",
            "use sglang or vllm",
            id="TensorRT-LLM disaggregated",
        ),
        pytest.param(
            build.replica(
                build.role(
                    topology=shapes.GANG,
                    pod_template=build.template(volumes=[{"name": "kserve-provision-location", "emptyDir": {}}]),
                ),
                model=Model("n", "gs://b/p"),
            ),
            "spec.workers.template.spec.volumes[0].name",
            "is where the weights",
            id="the volume of the download",
        ),
        pytest.param(
            build.replica(
                build.role(
                    pod_template=build.template(
                        engine={"volumeMounts": [{"name": "dshm", "mountPath": "/mnt/models/"}]}
                    )
                ),
                model=Model("n", "gs://b/p"),
            ),
            "spec.workers.template.spec.containers[0].volumeMounts[0].mountPath",
            "is where the weights",
            id="the mount of the download",
        ),
        pytest.param(
            build.replica(model=Model("n", "hf://a/b@v"), engine=EngineType.TRTLLM),
            "spec.model.uri",
            "does not support a revision",
            id="revision",
        ),
        pytest.param(
            _pod(sidecars=({"name": "main", "image": "x"},)),
            "spec.workers.template.spec.containers[1].name",
            "reserved",
            id="the name main",
        ),
        pytest.param(
            _pod(engine={"args": ["-tp", "4"]}),
            "spec.workers.template.spec.containers[0].args[0]",
            "says 4",
            id="contradiction",
        ),
        pytest.param(
            _pod(volumes=[{"name": "home", "persistentVolumeClaim": {"claimName": "c"}}]),
            "spec.workers.template.spec.volumes[0].name",
            "has a volume named",
            id="a volume that would get two sources",
        ),
        pytest.param(
            _pod(engine={"env": [{"name": "HOME", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}]}),
            "spec.workers.template.spec.containers[0].env[0].valueFrom",
            "plain value",
            id="a variable that would get two values",
        ),
        pytest.param(
            _pod(engine={"livenessProbe": {"exec": {"command": ["true"]}}}),
            "spec.workers.template.spec.containers[0].livenessProbe.exec",
            "httpGet",
            id="a probe that would get two handlers",
        ),
        pytest.param(
            _pod(engine={"lifecycle": {"preStop": {"sleep": {"seconds": 5}}}}),
            "spec.workers.template.spec.containers[0].lifecycle.preStop.sleep",
            "exec",
            id="a hook that would get two handlers",
        ),
        pytest.param(
            build.replica(build.role(pod_template=build.template("acme/x:1")), engine=EngineType.CUSTOM),
            "spec.workers.template.spec.containers[0].command",
            "start script",
            id="an unknown engine without a command",
        ),
    ],
)
def test_what_kserve_would_run_differently_is_refused(replica: Replica, path: str, says: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        kserve.check(_workload(replica))
    assert dotted(caught.value.path) == path
    assert says in caught.value.message


@shapes.every_shape
def test_every_supported_shape_is_accepted(replica: Replica) -> None:
    kserve.check(_workload(replica))


@pytest.mark.parametrize(
    "replica",
    [
        pytest.param(build.replica(build.role(topology=shapes.GANG), engine=EngineType.SGLANG), id="SGLang over nodes"),
        pytest.param(
            build.replica(
                build.role(
                    topology=shapes.GANG,
                    pod_template=build.template("acme/x:1", engine={"livenessProbe": {"exec": {"command": ["true"]}}}),
                ),
                engine=EngineType.CUSTOM,
            ),
            id="where no preset is merged an unknown engine keeps its entry point and probes",
        ),
        pytest.param(
            _pod(volumes=[{"name": "dshm", "emptyDir": {"medium": "Memory", "sizeLimit": "1Gi"}}]), id="own shm"
        ),
        pytest.param(_pod(engine={"env": [{"name": "HOME", "value": "/x"}]}), id="a plain value replaces"),
    ],
)
def test_what_works_is_not_refused(replica: Replica) -> None:
    kserve.check(_workload(replica))
    kserve.render(replica, shapes.FACTS)
