"""Replicas whose rendering KServe is asked about."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from modelplane.render.backends import kserve
from modelplane.topology.shape import Topology
from modelplane.workload.model import EndpointPicker, EngineType, Model, Replica, Role
from modelplane.workload.site import ClusterFacts
from tests.support import kserve_examples as examples
from tests.support import replicas as build

FACTS = ClusterFacts("gke-us", "modelplane", "modelplane-system")
_GANG = Topology(tensor=8, pipeline=2)
_DATA = Topology(tensor=2, data=8, data_local=4, expert=True)
_SGLANG = "lmsysorg/sglang:v0.5.9"
_LONG = "a" * 33 + "-12"

# Text that Go's templating, a shell or a careless merge would not leave alone.
_HOSTILE = build.template(
    engine={
        "args": [
            "--chat-template",
            "{% for m in messages %}{{ m['content'] }}{{{ '\"' }}}{% endfor %}",
            "--x={{`a`}}",
            "<&>",
        ],
        "env": [{"name": "T", "value": "{{ .Spec }}"}, {"name": "HOME", "value": "/x"}],
    },
    metadata={"annotations": {"note": "{{ .GlobalConfig }}"}},
    volumes=[{"name": "dshm", "emptyDir": {"medium": "Memory", "sizeLimit": "3Gi"}}],
)
# Everything that `check` refuses because a preset's value would stay beside the author's.
UNMERGEABLE_TEMPLATE = build.template(
    engine={
        "livenessProbe": {"exec": {"command": ["true"]}},
        "lifecycle": {"preStop": {"sleep": {"seconds": 5}}},
        "env": [{"name": "HOME", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}],
    },
    volumes=[{"name": "home", "persistentVolumeClaim": {"claimName": "c"}}],
)


def _apart(decode: Topology) -> Replica:
    template = build.template(_SGLANG)
    return build.replica(
        build.role(topology=decode, pod_template=template),
        build.role(Role.PREFILL, workers=2, pod_template=template),
        engine=EngineType.SGLANG,
    )


def _picked(replica: Replica) -> Replica:
    """Return the replica with KServe's scheduler, which workers of one role have only where it is asked for."""
    return replace(replica, endpoint_picker=EndpointPicker())


REPLICAS: Mapping[str, Replica] = {
    "example, single node": examples.single_node()[0],
    "example, pipeline": examples.pipeline()[0],
    "example, disaggregated": examples.disaggregated()[0],
    "data parallel over nodes": build.replica(build.role(topology=_DATA)),
    "decode pipeline, prefill data parallel": build.replica(
        build.role(topology=_GANG), build.role(Role.PREFILL, topology=_DATA)
    ),
    "two pipelines under the longest name": build.replica(
        build.role(topology=_GANG), build.role(Role.PREFILL, topology=_GANG), name=_LONG
    ),
    "hostile text": build.replica(build.role(pod_template=_HOSTILE)),
    "hostile text in a gang": build.replica(build.role(topology=Topology(data=2), pod_template=_HOSTILE)),
    "SGLang": build.replica(
        build.role(topology=Topology(tensor=2), pod_template=build.template("lmsysorg/sglang:v0.5")),
        engine=EngineType.SGLANG,
    ),
    "several workers": _picked(build.replica(build.role(workers=3))),
    "several workers of another engine": _picked(
        build.replica(
            build.role(workers=2, topology=_GANG, pod_template=build.template(_SGLANG)), engine=EngineType.SGLANG
        )
    ),
    "several workers without a picker": build.replica(build.role(workers=3)),
    "SGLang apart": _apart(Topology(tensor=2)),
    "SGLang apart, decode pipeline": _apart(_GANG),
    "SGLang apart, decode data parallel": _apart(_DATA),
    "weights in an object store": build.replica(model=Model("n", "gs://bucket/path")),
    "weights in an object store, apart": build.replica(
        build.role(), build.role(Role.PREFILL, topology=_DATA), model=Model("n", "gs://bucket/path")
    ),
    "weights in an object store, pipeline": build.replica(
        build.role(topology=_GANG), model=Model("n", "gs://bucket/path")
    ),
    "weights in S3": build.replica(model=Model("n", "s3://bucket/path")),
    "weights on a volume": build.replica(model=Model("n", "pvc://c/p")),
    "custom engine": build.replica(
        build.role(pod_template=build.template("acme/x:1", engine={"command": ["run", "--x"]})),
        engine=EngineType.CUSTOM,
        model=None,
    ),
}
UNMERGEABLE = "what check refuses"
NO_STAND_IN = "a pipeline without our stand-in"


def objects() -> dict[str, list[Any]]:
    """Return what KServe is asked, by id: all objects of each replica, and two questions whose answer must be bad."""
    asked = {name: [m.resource for m in kserve.render(replica, FACTS)] for name, replica in REPLICAS.items()}
    refused = build.replica(build.role(pod_template=UNMERGEABLE_TEMPLATE))
    asked[UNMERGEABLE] = [m.resource for m in kserve.render(refused, FACTS)]
    asked[NO_STAND_IN] = [
        resource for resource in asked["example, pipeline"] if resource["kind"] != "LLMInferenceServiceConfig"
    ]
    return asked
