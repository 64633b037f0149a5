"""Documents that must be refused, one or more per rule of the definitions, and documents that must be accepted."""

from __future__ import annotations

from tests.conformance.crd import (
    cases_access,
    cases_cache,
    cases_class,
    cases_cloud,
    cases_cluster,
    cases_deployment,
    cases_limits,
    cases_pod,
    cases_quota,
    cases_replica,
    cases_routing,
    cases_scaling,
)
from tests.conformance.crd.case import Case, Fine
from tests.conformance.crd.documents import GONE, VALID

_HW = ("spec", "nodeSelector")
_WORKERS = ("spec", "workers")
_TOPOLOGY = (*_WORKERS, "topology")
_TEMPLATE = (*_WORKERS, "template")
_POD = (*_TEMPLATE, "spec")
_ENGINE = (*_POD, "containers", 0)
_DEVICE = ("spec", "devices", 0)
_POOL = ("spec", "nodePools", 0)

REFUSED: tuple[Case, ...] = (
    *cases_deployment.DEPLOYMENT,
    *cases_pod.POD,
    *cases_replica.REPLICA,
    *cases_class.CLASS,
    *cases_cluster.CLUSTER,
    *cases_cloud.CLOUD,
    *cases_quota.QUOTA,
    *cases_routing.ROUTING,
    *cases_access.ACCESS,
    *cases_limits.LIMITS,
    *cases_cache.CACHE,
    *cases_scaling.SCALING,
)


ACCEPTED: tuple[Fine, ...] = (
    *(Fine(f"valid-{kind}", kind) for kind in VALID),
    *cases_access.FINE,
    *cases_limits.FINE,
    Fine(
        "pipeline-and-data-of-a-named-backend",
        "ModelDeployment",
        ((("spec", "backend"), "LLMD"), (_TOPOLOGY, {"pipeline": 2, "data": 2})),
    ),
    # Whether a backend can do both is the backend's to say, and a deployment may leave the choice to the clusters.
    Fine("pipeline-and-data", "ModelDeployment", ((_TOPOLOGY, {"pipeline": 2, "data": 2}),)),
    Fine(
        "pipeline-and-data-of-prefill",
        "ModelDeployment",
        (
            (("spec", "prefill", "nodeSelector"), {"cel": "true"}),
            (("spec", "prefill", "workers"), VALID["ModelDeployment"]["spec"]["workers"]),
            (("spec", "prefill", "workers", "topology"), {"pipeline": 2, "data": 2}),
        ),
    ),
    Fine("replica-pipeline-and-data", "ModelReplica", ((_TOPOLOGY, {"pipeline": 2, "data": 2}),)),
    Fine(
        "overrides",
        "ModelDeployment",
        (
            (
                ("spec", "overrides"),
                [
                    {"backend": "Native", "patch": {"spec": {"progressDeadlineSeconds": 3600, "anything": [{"a": 1}]}}},
                    {"backend": "KServe", "patch": {"spec": {"template": {"terminationGracePeriodSeconds": 120}}}},
                ],
            ),
        ),
    ),
    Fine(
        "installed-backends",
        "InferenceCluster",
        (
            (
                ("status", "backends"),
                [
                    {"name": "KServe"},
                    {
                        "name": "Native",
                        "installed": True,
                        "served": True,
                        "versions": [],
                        "missing": ["leaderworkerset.x-k8s.io/v1"],
                    },
                ],
            ),
        ),
    ),
    Fine("unknown-fields-are-dropped", "ModelDeployment", ((("spec", "replica"), 2), ((*_ENGINE, "privileged"), True))),
    Fine(
        "nulls-are-dropped",
        "ModelDeployment",
        ((("spec", "replicas"), None), ((*_ENGINE, "args"), None), ((*_WORKERS, "topology"), None)),
    ),
    Fine(
        "parted-devices",
        "InferenceClass",
        (
            (("spec", "sharedCounters"), [{"name": "gpu", "counters": {"memory-slice-0": {"value": 1}}}]),
            (("spec", "devices", 0, "consumesCounters"), [{"counterSet": "gpu", "placements": [["memory-slice-0"]]}]),
        ),
    ),
    Fine("whole-float", "ModelDeployment", ((("spec", "replicas"), 2.0),)),
    Fine(
        "integer-quantity", "ModelDeployment", (((*_ENGINE, "resources"), {"limits": {"cpu": 16, "memory": "64Gi"}}),)
    ),
    Fine("empty-probe", "ModelDeployment", (((*_ENGINE, "startupProbe"), {}),)),
    Fine("sidecar", "ModelDeployment", (((*_POD, "containers", 1), {"name": "log", "image": "busybox"}),)),
    Fine(
        "long-form",
        "ModelDeployment",
        (
            (
                _HW,
                {
                    "devices": [{"name": "gpu", "count": 8, "selectors": [{"cel": "true"}]}, {"name": "nic"}],
                    "constraints": [{"matchAttribute": "resource.kubernetes.io/pcieRoot", "requests": ["gpu", "nic"]}],
                },
            ),
        ),
    ),
    Fine("replica-unchanged", "ModelReplica", (), ()),
    Fine("retry-quoted", "ModelService", ((("spec", "retries"), {"on": ["connect-failure", "429"]}),)),
    Fine("pool-grows", "InferenceCluster", ((_POOL, {"name": "a", "className": "b", "maxNodeCount": 4}),)),
    Fine("synthetic", "InferenceClass", (((*_DEVICE, "claim"), "Synthetic"), ((*_DEVICE, "deviceClassName"), GONE))),
    Fine(
        "endpoint-with-everything-left-empty",
        "ModelEndpoint",
        (
            (
                ("spec",),
                {
                    "url": "http://10.0.1.50/ml-team/llama-0",
                    "host": "",
                    "auth": {"secretRef": {"name": "k", "key": "v"}, "header": ""},
                    "tls": {"caCertificateRefs": [], "insecureSkipVerify": False, "sni": ""},
                    "healthCheck": {"path": "/health", "interval": "10s", "timeout": "5s"},
                },
            ),
        ),
    ),
    Fine("gateway-with-a-relay", "InferenceGateway", ((("spec", "relay"), {"namespaces": ["a", "b"], "replicas": 3}),)),
    Fine("service-with-a-limit", "ModelService", ((("spec", "endpoints", 0, "maxRequests"), 64),)),
    Fine(
        "cluster-with-mutual-tls",
        "InferenceCluster",
        ((("spec", "gateway"), {"mutualTLS": "Required", "listener": "mutual-tls"}),),
    ),
    Fine(
        "endpoint-with-given-authorities",
        "ModelEndpoint",
        ((("spec",), {"url": "https://a.b", "tls": {"caCertificates": 2 * cases_routing.CERTIFICATE}}),),
    ),
    Fine(
        "gateway-with-certificate-only",
        "InferenceGateway",
        ((("spec", "gateway"), {"tls": {"certificateRefs": [{"name": "a"}]}}),),
    ),
    Fine(
        "endpoint-with-everything",
        "ModelEndpoint",
        (
            (
                ("spec",),
                {
                    "url": "https://[2001:db8::1]:8443/a/b/v1",
                    "api": ["OpenAI", "Anthropic"],
                    "host": "a.b",
                    "auth": {"secretRef": {"name": "k"}, "scheme": "Header", "header": "x-api-key"},
                    "tls": {"sni": "a.b", "caCertificateRefs": [{"name": "ca"}]},
                    "healthCheck": {},
                },
            ),
        ),
    ),
)
