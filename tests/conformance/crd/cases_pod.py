"""Refused ModelDeployments: the pod template."""

from __future__ import annotations

from modelplane.structural import Cause
from tests.conformance.crd.case import Case, dotted, one
from tests.conformance.crd.documents import GONE

_WORKERS = ("spec", "workers")
_TEMPLATE = (*_WORKERS, "template")
_POD = (*_TEMPLATE, "spec")
_ENGINE = (*_POD, "containers", 0)
_LONG = "x" * 70000

POD: tuple[Case, ...] = (
    one("no-containers", "ModelDeployment", (*_POD, "containers"), [], Cause.INVALID),
    one(
        "no-engine",
        "ModelDeployment",
        (*_ENGINE, "name"),
        "main",
        "exactly one container must be named engine",
        at=dotted((*_POD, "containers")),
    ),
    one("two-engines", "ModelDeployment", (*_POD, "containers", 1), {"name": "engine", "image": "b"}, Cause.DUPLICATE),
    one("no-image", "ModelDeployment", (*_ENGINE, "image"), GONE, Cause.REQUIRED),
    one("image-with-space", "ModelDeployment", (*_ENGINE, "image"), "vllm latest", Cause.INVALID),
    one("pull-policy", "ModelDeployment", (*_ENGINE, "imagePullPolicy"), "always", Cause.NOT_SUPPORTED),
    one("args-text", "ModelDeployment", (*_ENGINE, "args"), "--model=x", Cause.TYPE),
    one(
        "args-number",
        "ModelDeployment",
        (*_ENGINE, "args"),
        ["--port", 8000],
        Cause.TYPE,
        at=dotted((*_ENGINE, "args", 1)),
    ),
    one(
        "args-too-long",
        "ModelDeployment",
        (*_ENGINE, "args"),
        [_LONG],
        Cause.TOO_LONG,
        at=dotted((*_ENGINE, "args", 0)),
    ),
    one(
        "label-prefix",
        "ModelDeployment",
        (*_TEMPLATE, "metadata", "labels"),
        {"modelplane.ai/deployment": "other"},
        "the label prefix modelplane.ai/ is reserved",
    ),
    one(
        "label-value",
        "ModelDeployment",
        (*_TEMPLATE, "metadata", "labels"),
        {"a": "-"},
        Cause.INVALID,
        at=dotted((*_TEMPLATE, "metadata", "labels", "a")),
    ),
    one(
        "label-key",
        "ModelDeployment",
        (*_TEMPLATE, "metadata", "labels"),
        {"a b": "c"},
        "label keys must be a name of letters",
    ),
    one(
        "annotation-prefix",
        "ModelDeployment",
        (*_TEMPLATE, "metadata", "annotations"),
        {"modelplane.ai/x": "y"},
        "the annotation prefix modelplane.ai/ is reserved",
    ),
    one(
        "annotation-key",
        "ModelDeployment",
        (*_TEMPLATE, "metadata", "annotations"),
        {"/x": "y"},
        "annotation keys must be a name of letters",
    ),
    one(
        "env-reserved",
        "ModelDeployment",
        (*_ENGINE, "env"),
        [{"name": "MODELPLANE_RANK", "value": "0"}],
        "environment names that start with MODELPLANE_",
        at=dotted((*_ENGINE, "env", 0)),
    ),
    one(
        "env-name",
        "ModelDeployment",
        (*_ENGINE, "env"),
        [{"name": "1A"}],
        Cause.INVALID,
        at=dotted((*_ENGINE, "env", 0, "name")),
    ),
    one(
        "env-twice",
        "ModelDeployment",
        (*_ENGINE, "env"),
        [{"name": "A"}, {"name": "A"}],
        Cause.DUPLICATE,
        at=dotted((*_ENGINE, "env", 1)),
    ),
    one(
        "env-number",
        "ModelDeployment",
        (*_ENGINE, "env"),
        [{"name": "A", "value": 1}],
        Cause.TYPE,
        at=dotted((*_ENGINE, "env", 0, "value")),
    ),
    one(
        "env-both",
        "ModelDeployment",
        (*_ENGINE, "env"),
        [{"name": "A", "value": "b", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}}],
        "write at most one of value and valueFrom",
        at=dotted((*_ENGINE, "env", 0)),
    ),
    one(
        "env-from-nothing",
        "ModelDeployment",
        (*_ENGINE, "env"),
        [{"name": "A", "valueFrom": {}}],
        "write exactly one of secretKeyRef",
        at=dotted((*_ENGINE, "env", 0, "valueFrom")),
    ),
    one(
        "env-secret-without-key",
        "ModelDeployment",
        (*_ENGINE, "env"),
        [{"name": "A", "valueFrom": {"secretKeyRef": {"name": "b"}}}],
        Cause.REQUIRED,
        at=dotted((*_ENGINE, "env", 0, "valueFrom", "secretKeyRef", "key")),
    ),
    one(
        "envfrom-nothing",
        "ModelDeployment",
        (*_ENGINE, "envFrom"),
        [{"prefix": "A_"}],
        "write exactly one of configMapRef and secretRef",
        at=dotted((*_ENGINE, "envFrom", 0)),
    ),
    one(
        "envfrom-reserved",
        "ModelDeployment",
        (*_ENGINE, "envFrom"),
        [{"prefix": "MODELPLANE_", "secretRef": {"name": "a"}}],
        "use another prefix",
        at=dotted((*_ENGINE, "envFrom", 0)),
    ),
    one(
        "quantity",
        "ModelDeployment",
        (*_ENGINE, "resources"),
        {"requests": {"memory": "64GB"}},
        Cause.INVALID,
        at=dotted((*_ENGINE, "resources", "requests", "memory")),
    ),
    one(
        "quantity-negative",
        "ModelDeployment",
        (*_ENGINE, "resources"),
        {"limits": {"cpu": "-1"}},
        Cause.INVALID,
        at=dotted((*_ENGINE, "resources", "limits", "cpu")),
    ),
    one(
        "quantity-bool",
        "ModelDeployment",
        (*_ENGINE, "resources"),
        {"limits": {"cpu": True}},
        Cause.TYPE,
        at=dotted((*_ENGINE, "resources", "limits", "cpu")),
    ),
    one(
        "quantity-fraction",
        "ModelDeployment",
        (*_ENGINE, "resources"),
        {"limits": {"cpu": 0.5}},
        Cause.TYPE,
        at=dotted((*_ENGINE, "resources", "limits", "cpu")),
    ),
    one(
        "port-zero",
        "ModelDeployment",
        (*_ENGINE, "ports"),
        [{"containerPort": 0}],
        Cause.INVALID,
        at=dotted((*_ENGINE, "ports", 0, "containerPort")),
    ),
    one(
        "port-twice",
        "ModelDeployment",
        (*_ENGINE, "ports"),
        [{"containerPort": 8000}, {"containerPort": 8000, "protocol": "TCP"}],
        Cause.DUPLICATE,
        at=dotted((*_ENGINE, "ports", 1)),
    ),
    one(
        "mount-without-path",
        "ModelDeployment",
        (*_ENGINE, "volumeMounts"),
        [{"name": "a"}],
        Cause.REQUIRED,
        at=dotted((*_ENGINE, "volumeMounts", 0, "mountPath")),
    ),
    one(
        "probe-two",
        "ModelDeployment",
        (*_ENGINE, "startupProbe"),
        {"httpGet": {"port": 8000}, "exec": {"command": ["true"]}},
        "write at most one of httpGet, tcpSocket, exec and grpc",
    ),
    one(
        "probe-period",
        "ModelDeployment",
        (*_ENGINE, "livenessProbe"),
        {"periodSeconds": 0},
        Cause.INVALID,
        at=dotted((*_ENGINE, "livenessProbe", "periodSeconds")),
    ),
    one(
        "probe-large",
        "ModelDeployment",
        (*_ENGINE, "livenessProbe"),
        {"periodSeconds": 2**31},
        Cause.INVALID,
        at=dotted((*_ENGINE, "livenessProbe", "periodSeconds")),
    ),
    one(
        "lifecycle-nothing",
        "ModelDeployment",
        (*_ENGINE, "lifecycle"),
        {"preStop": {}},
        "write exactly one of exec, httpGet and sleep",
        at=dotted((*_ENGINE, "lifecycle", "preStop")),
    ),
    one(
        "capability",
        "ModelDeployment",
        (*_ENGINE, "securityContext"),
        {"capabilities": {"add": ["SYS_ADMIN"]}},
        Cause.NOT_SUPPORTED,
        at=dotted((*_ENGINE, "securityContext", "capabilities", "add", 0)),
    ),
    one(
        "volume-nothing",
        "ModelDeployment",
        (*_POD, "volumes"),
        [{"name": "a"}],
        "write exactly one of emptyDir, configMap",
        at=dotted((*_POD, "volumes", 0)),
    ),
    one(
        "volume-host",
        "ModelDeployment",
        (*_POD, "volumes"),
        [{"name": "a", "hostPath": {"path": "/"}}],
        "hostPath and others are not offered",
        at=dotted((*_POD, "volumes", 0)),
    ),
    one(
        "volume-two",
        "ModelDeployment",
        (*_POD, "volumes"),
        [{"name": "a", "emptyDir": {}, "image": {"reference": "b"}}],
        "write exactly one of emptyDir",
        at=dotted((*_POD, "volumes", 0)),
    ),
    one(
        "volume-mode",
        "ModelDeployment",
        (*_POD, "volumes"),
        [{"name": "a", "configMap": {"name": "b", "defaultMode": 755}}],
        Cause.INVALID,
        at=dotted((*_POD, "volumes", 0, "configMap", "defaultMode")),
    ),
    one(
        "projected-nothing",
        "ModelDeployment",
        (*_POD, "volumes"),
        [{"name": "a", "projected": {"sources": [{}]}}],
        "write exactly one of configMap, secret, downwardAPI",
        at=dotted((*_POD, "volumes", 0, "projected", "sources", 0)),
    ),
    one(
        "access-mode",
        "ModelDeployment",
        (*_POD, "volumes"),
        [
            {
                "name": "a",
                "ephemeral": {
                    "volumeClaimTemplate": {
                        "spec": {"accessModes": ["RWX"], "resources": {"requests": {"storage": "1Gi"}}}
                    }
                },
            }
        ],
        Cause.NOT_SUPPORTED,
        at=dotted((*_POD, "volumes", 0, "ephemeral", "volumeClaimTemplate", "spec", "accessModes", 0)),
    ),
    *(
        one(
            f"{what}-{name}",
            "ModelDeployment",
            (*_TEMPLATE, "metadata", f"{what}s"),
            {key: "x"},
            f"{what} keys under domains of controllers",
        )
        for what in ("label", "annotation")
        for name, key in (
            ("queue", "kueue.x-k8s.io/queue-name"),
            ("mesh", "sidecar.istio.io/inject"),
            ("network", "k8s.v1.cni.cncf.io/networks"),
            ("runtime", "io.katacontainers.config.hypervisor.kernel"),
            ("word", "pod-template-hash"),
            ("half-a-domain", "team/x"),
        )
    ),
    *(
        one(
            f"{where}-{name}",
            "ModelDeployment",
            (*_ENGINE, "resources", where),
            {resource: "1"},
            "containers take cpu, memory, ephemeral-storage and hugepages-*",
        )
        for where in ("requests", "limits")
        for name, resource in (("gpu", "nvidia.com/gpu"), ("rdma", "rdma/hca"), ("storage", "storage"))
    ),
    one(
        "claimed-gpu",
        "ModelDeployment",
        (*_POD, "volumes"),
        [
            {
                "name": "a",
                "ephemeral": {
                    "volumeClaimTemplate": {
                        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"nvidia.com/gpu": "1"}}}
                    }
                },
            }
        ],
        "a volume takes storage and nothing else",
        at=dotted((*_POD, "volumes", 0, "ephemeral", "volumeClaimTemplate", "spec", "resources", "requests")),
    ),
    one(
        "csi-key-that-runs",
        "ModelDeployment",
        (*_POD, "volumes"),
        [{"name": "a", "csi": {"driver": "d.example.com", "volumeAttributes": {"{{ .Spec }}": "x"}}}],
        "a key must not hold",
        at=dotted((*_POD, "volumes", 0, "csi", "volumeAttributes")),
    ),
)
