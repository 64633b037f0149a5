"""Templates: what a tenant writes stays in its pod, and what the definitions refuse is refused here as well."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from modelplane.api import catalogue, template_reach, workload
from modelplane.api.fields import Field
from modelplane.errors import InvalidInput, dotted

Json = Any

ENGINE = {"name": "engine", "image": "vllm/vllm-openai:v0.23.0"}


def template(**metadata: Json) -> dict[str, Json]:
    return {"metadata": metadata, "spec": {"containers": [copy.deepcopy(ENGINE)]}}


def deployment(given: Json, *, in_prefill: bool = False) -> dict[str, Json]:
    role = {"nodeSelector": {"cel": "true"}, "workers": {"template": given}}
    spec = {**role, "workers": {"template": template()}, "prefill": role} if in_prefill else role
    return {"engine": {"type": "vllm"}, **spec}


def refusal(given: Json, **how: bool) -> InvalidInput:
    with pytest.raises(InvalidInput) as caught:
        workload.decode(deployment(given, **how), namespace="ml-team", deployment="llama")
    return caught.value


OWN = [
    *("team", "app", "cost-center", "example.com/team", "team.example.com/a.b_c", "prometheus.io/scrape"),
    *("app.kubernetes.io/version", "kubectl.kubernetes.io/default-container", "karpenter.sh/do-not-disrupt"),
    *("myk8s.io/x", "xkserve.io/x", "mynvidia.com/x"),
]
FOREIGN = [
    *("kueue.x-k8s.io/queue-name", "kai.scheduler/queue", "scheduling.volcano.sh/group", "queue", "applicationId"),
    *("sidecar.istio.io/inject", "linkerd.io/inject", "instrumentation.opentelemetry.io/inject-python"),
    *("k8s.v1.cni.cncf.io/networks", "cilium.io/x", "kubernetes.io/egress-bandwidth"),
    *("container.apparmor.security.beta.kubernetes.io/engine", "seccomp.security.alpha.kubernetes.io/pod"),
    *("scheduler.alpha.kubernetes.io/node-selector", "cluster-autoscaler.kubernetes.io/scale-down-disabled"),
    *(
        "app.kubernetes.io/name",
        "app.kubernetes.io/part-of",
        "kserve.io/component",
        "llm-d.ai/role",
        "serving.kserve.io/x",
    ),
    *("leaderworkerset.sigs.k8s.io/size", "pod-template-hash", "azure.workload.identity/use", "nvidia.com/x"),
    *("io.katacontainers.config.hypervisor.kernel", "io.kubernetes.cri-o.userns-mode", "cpu-quota.crio.io"),
    *("crossplane.io/composite", "argoproj.io/x", "vault.hashicorp.com/agent-inject", "iam.amazonaws.com/role"),
    *("inferenceset.kaito.sh/created-by", "production-stack.vllm.ai/x"),
    *("team/x", "modelplane.ai/pool"),
]


@pytest.mark.parametrize("what", ["labels", "annotations"])
@pytest.mark.parametrize("key", [*OWN, *FOREIGN])
def test_keys_that_others_read_are_refused_here_and_by_the_definitions(key: str, what: str) -> None:
    is_own = key in OWN
    assert template_reach.is_own_key(key) is is_own
    given = template(**{what: {key: "x"}})
    if is_own:
        workload.decode(deployment(given), namespace="ml-team", deployment="llama")
    else:
        assert dotted(refusal(given).path) == f"spec.workers.template.metadata.{what}.{key}"
    found = [problem for problem in _problems(given) if problem.path[-1] == what]
    assert bool(found) is not is_own, found


def test_every_reserved_domain_is_in_the_definitions() -> None:
    for domain in sorted(template_reach.RESERVED_DOMAINS):
        for key in (f"{domain}/x", f"deep.er.{domain}/x"):
            assert _problems(template(labels={key: "x"})), key
    for word in sorted(template_reach.RESERVED_WORDS):
        assert _problems(template(annotations={word: "x"})), word
    for key in sorted(template_reach.HARMLESS):
        assert not _problems(template(annotations={key: "x"})), key


def test_a_replicas_template_is_that_of_a_deployment() -> None:
    deployment, replica = (
        catalogue.definition(kind)["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
        for kind in ("ModelDeployment", "ModelReplica")
    )
    for path in ((), ("prefill",)):
        assert _schema(deployment, *path, "workers", "template") == _schema(replica, *path, "workers", "template")


def _schema(spec: Json, *path: str) -> Json:
    for key in path:
        spec = spec["properties"][key]
    return spec


def _problems(given: Json) -> list[Any]:
    document = {
        "apiVersion": "modelplane.ai/v1alpha1",
        "kind": "ModelDeployment",
        "metadata": {"name": "llama", "namespace": "ml-team"},
        "spec": deployment(given),
    }
    below = ("spec", "workers", "template")
    return [each for each in catalogue.structural_kind("ModelDeployment").problems(document) if each.path[:3] == below]


@pytest.mark.parametrize("kind", ["requests", "limits"])
@pytest.mark.parametrize("container", [0, 1])
@pytest.mark.parametrize(
    "resource",
    [
        *("nvidia.com/gpu", "nvidia.com/mig-1g.10gb", "rdma/hca", "example.com/fpga", "pods"),
        # The scheduler makes a claim for it, of any device of the DeviceClass.
        "deviceclass.resource.kubernetes.io/gpu.nvidia.com",
    ],
)
def test_devices_are_asked_for_where_they_are_counted(resource: str, container: int, kind: str) -> None:
    given = template()
    given["spec"]["containers"].append({"name": "sidecar", "image": "busybox:1"})
    given["spec"]["containers"][container]["resources"] = {kind: {resource: "8"}}
    error = refusal(given)
    assert dotted(error.path) == f"spec.workers.template.spec.containers[{container}].resources.{kind}.{resource}"
    assert "nodeSelector" in error.message
    assert _problems(given)
    assert dotted(refusal(given, in_prefill=True).path).startswith("spec.prefill.workers.template")


@pytest.mark.parametrize(
    ("place", "value"),
    [
        ("initContainers", [{"name": "i", "image": "busybox:1", "resources": {"limits": {"nvidia.com/gpu": "1"}}}]),
        ("ephemeralContainers", [{"name": "e", "image": "busybox:1"}]),
        ("resources", {"limits": {"nvidia.com/gpu": "1"}}),
        ("resourceClaims", [{"name": "more", "resourceClaimTemplateName": "more"}]),
        ("overhead", {"nvidia.com/gpu": "1"}),
    ],
)
def test_devices_come_by_no_other_part_of_a_pod(place: str, value: Json) -> None:
    given = template()
    given["spec"][place] = value
    assert dotted(refusal(given).path) == f"spec.workers.template.spec.{place}"


def test_a_container_takes_what_every_node_has() -> None:
    given = template()
    amounts = {"cpu": "1", "memory": "1Gi", "ephemeral-storage": "1Gi", "hugepages-2Mi": "4Mi", "hugepages-1Gi": "1Gi"}
    given["spec"]["containers"][0]["resources"] = {"requests": amounts, "limits": amounts}
    template_reach.check(Field(given))
    assert not _problems(given)


@pytest.mark.parametrize(
    ("change", "path"),
    [
        pytest.param({"resources": {"claims": [{"name": "gpu"}]}}, "containers[0].resources.claims", id="claims"),
        pytest.param(
            {"livenessProbe": {"httpGet": {"port": 80, "host": "10.0.0.1"}}},
            "livenessProbe.httpGet.host",
            id="kubelet-asks-for-us",
        ),
        pytest.param(
            {"lifecycle": {"preStop": {"httpGet": {"port": 80, "host": "x"}}}}, "preStop.httpGet.host", id="at-the-end"
        ),
        pytest.param({"startupProbe": {"tcpSocket": {"port": 80, "host": "x"}}}, "tcpSocket.host", id="by-tcp"),
        pytest.param(
            {"securityContext": {"seccompProfile": {"type": "Unconfined"}}}, "seccompProfile.type", id="seccomp"
        ),
        pytest.param(
            {"volumeMounts": [{"name": "a", "mountPath": "/a", "mountPropagation": "Bidirectional"}]},
            "mountPropagation",
            id="mounts",
        ),
        pytest.param({"ports": [{"containerPort": 80, "hostIP": "0.0.0.0"}]}, "hostIP", id="host-ip"),  # noqa: S104 - refused
    ],
)
def test_a_field_the_definition_does_not_have_is_refused_however_deep_it_stands(change: Json, path: str) -> None:
    given = template()
    given["spec"]["containers"][0].update(change)
    assert path in dotted(refusal(given).path)


@pytest.mark.parametrize(
    ("volume", "path"),
    [
        pytest.param({"csi": {"driver": "d", "volumeAttributes": {"{{ .Spec }}": "x"}}}, "{{ .Spec }}", id="csi-key"),
        pytest.param({"csi": {"driver": "d", "volumeHandle": "x"}}, "csi.volumeHandle", id="csi-handle"),
        pytest.param(
            {"ephemeral": {"volumeClaimTemplate": {"spec": {"volumeName": "x"}}}}, "volumeName", id="anybodys-volume"
        ),
        pytest.param(
            {"projected": {"sources": [{"clusterTrustBundle": {"path": "x"}}]}}, "clusterTrustBundle", id="projected"
        ),
        pytest.param(
            {
                "ephemeral": {
                    "volumeClaimTemplate": {
                        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"nvidia.com/gpu": "1"}}}
                    }
                }
            },
            "nvidia.com/gpu",
            id="claim",
        ),
    ],
)
def test_volumes_hold_no_more_than_is_offered(volume: Json, path: str) -> None:
    given = template()
    given["spec"]["volumes"] = [{"name": "a", **volume}]
    assert path in dotted(refusal(given).path)


def test_a_template_action_is_no_key_anywhere() -> None:
    """Of whatever may have keys of the author's own: a key that nobody has thought of yet too."""
    for path in (("metadata", "labels"), ("metadata", "annotations"), ("spec", "containers", 0, "resources", "limits")):
        given = template(labels={}, annotations={})
        given["spec"]["containers"][0]["resources"] = {"limits": {}}
        inner: Json = given
        for step in path:
            inner = inner[step]
        inner["a{{b}}"] = "1"
        refusal(given)
    with pytest.raises(InvalidInput, match="run as a template"):
        template_reach._check_actions(Field({"x": [{"y": {"{{": 1}}]}))


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"envFrom": [{}]}, "envFrom[0]"),
        ({"envFrom": [{"secretRef": {"name": "a"}, "configMapRef": {"name": "a"}}]}, "envFrom[0]"),
        ({"env": [{"name": "A", "valueFrom": {}}]}, "env[0].valueFrom"),
    ],
)
def test_what_a_rule_of_the_definition_refuses_is_refused_here(change: Json, path: str) -> None:
    """No API server holds it; a definition that is older or newer than this one may."""
    given = template()
    given["spec"]["containers"][0].update(change)
    assert dotted(refusal(given).path) == f"spec.workers.template.spec.containers[0].{path}"
