"""Profile of the serving stack: every component with its chart, version, order and proof.

This is the one place to add a component or to raise a version. The versions are those that were rendered with these
values; KServe v0.20.0 is built and tested with cert-manager 1.17, Gateway API 1.5, Envoy Gateway 1.8 and
LeaderWorkerSet 0.8, and the newer ones here are taken to be compatible.

Source: the charts of cert-manager v1.21.2, Envoy Gateway v1.9.1, LeaderWorkerSet (read at v0.9.0), KServe v0.20.0,
dra-driver-nvidia-gpu v0.4.1, Kueue v0.19.2. The charts of the Intel drivers, of prometheus-operator and
of dcgm-exporter could not be read; they are installed with their own values but for those that are set here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from modelplane.render.backends import selection
from modelplane.render.stack.part import (
    ATTEMPTS_WITH_WEBHOOK,
    Chart,
    Part,
    Sign,
    Unit,
    api,
    deployment,
    device_class,
)
from modelplane.workload.stack import Stack

Json: TypeAlias = Any

GATEWAY_NAMESPACE = "modelplane-envoy-gateway"
"""The namespace of Envoy Gateway and its proxies, and of nothing else: it ends when their balancers are gone."""
_KSERVE = "kserve"
"""The namespace of KServe, which its definitions name: no other will do."""
_PRIVILEGED = {"pod-security.kubernetes.io/enforce": "privileged"}

_GATEWAY_API = "gateway.networking.k8s.io"
_THERE_ALREADY = (
    "the cluster serves the Gateway API already, and a policy of it refuses the experimental definitions that Envoy "
    "Gateway brings; set spec.stack.components.gateway to External and bring a Gateway, or remove those definitions "
    "with their policy safe-upgrades.gateway.networking.k8s.io, or set it to Managed where they are experimental ones"
)


def _cert_manager(stack: Stack) -> Mapping[str, Json]:
    # The hook that waits for the webhook has one minute of patience by itself, which a new cluster exceeds.
    return {"crds": {"enabled": True, "keep": True}, "startupapicheck": {"timeout": "4m"}}


def _envoy_gateway(stack: Stack) -> Mapping[str, Json]:
    return {"config": {"envoyGateway": {"extensionApis": {"enableBackend": True}}}}


def _leader_worker_set(stack: Stack) -> Mapping[str, Json]:
    # Its own request of a whole CPU does not fit on a small node of the system pool.
    return {"enableCertManager": False, "resources": {"requests": {"cpu": "100m", "memory": "256Mi"}}}


def _kserve(stack: Stack) -> Mapping[str, Json]:
    gateway = f"{stack.gateway_namespace}/{stack.gateway_name}"
    ingress = {"enableGatewayApi": True, "kserveGateway": gateway, "createGateway": False}
    return {
        "kserve": {
            "createSharedResources": True,
            "llmisvc": {"createGIECRDs": True},
            "controller": {"gateway": {"ingressGateway": ingress}},
        }
    }


def _presets(stack: Stack) -> Mapping[str, Json]:
    # The definitions of serving runtimes belong to another chart.
    return {"kserve": {"servingruntime": {"enabled": False}, "llmisvcConfigs": {"enabled": True}}}


def _nvidia(stack: Stack) -> Mapping[str, Json]:
    return {
        # The chart refuses to render with GPUs and without this.
        "gpuResourcesEnabledOverride": True,
        "nvidiaDriverRoot": stack.driver_root,
        "resources": {"gpus": {"enabled": True}, "computeDomains": {"enabled": False}},
        "kubeletPlugin": {"tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}]},
    }


def _device_metrics(stack: Stack) -> Mapping[str, Json]:
    return {"kubernetesDRA": {"enabled": True}, "serviceMonitor": {"enabled": False}}


KUEUE_CONFIGURATION = """\
apiVersion: config.kueue.x-k8s.io/v1beta2
kind: Configuration
health: {healthProbeBindAddress: ":8081"}
metrics: {bindAddress: ":8443"}
webhook: {port: 9443}
leaderElection: {leaderElect: true, resourceName: c1f6bfd2.kueue.x-k8s.io}
manageJobsWithoutQueueName: false
managedJobsNamespaceSelector:
  matchLabels: {modelplane.ai/managed: "true"}
integrations:
  frameworks: [pod, deployment, leaderworkerset.x-k8s.io/leaderworkerset]
  labelKeysToCopy: [modelplane.ai/replica, app.kubernetes.io/name]
resources:
  deviceClassMappings:
  - {name: modelplane.ai/gpu, deviceClassNames: [gpu.nvidia.com]}
"""


def _kueue(stack: Stack) -> Mapping[str, Json]:
    # Its webhooks fail closed on pods; with this selector only on those of namespaces that are labelled for it.
    gate = {"name": "UnadmittedWorkloadsObservability", "enabled": True}
    return {
        "controllerManager": {"featureGates": [gate]},
        "managerConfig": {"controllerManagerConfigYaml": KUEUE_CONFIGURATION},
    }


_INTEL = "oci://ghcr.io/intel/intel-resource-drivers-for-kubernetes"
_KSERVE_CHARTS = "oci://ghcr.io/kserve/charts"

UNITS: dict[str, Unit] = {
    unit.name: unit
    for unit in (
        Unit(
            "certManager",
            parts=(
                Part(
                    "cert-manager",
                    Chart("oci://quay.io/jetstack/charts", "cert-manager", "v1.21.2"),
                    release="cert-manager",
                    namespace="cert-manager",
                    wave=1,
                    proof=deployment("cert-manager", "cert-manager-webhook"),
                    values=_cert_manager,
                ),
            ),
            looks=(api("v1", "cert-manager.io"),),
        ),
        Unit(
            "gateway",
            parts=(
                Part(
                    "envoy-gateway",
                    Chart("oci://docker.io/envoyproxy", "gateway-helm", "v1.9.1"),
                    release="eg",
                    namespace=GATEWAY_NAMESPACE,
                    wave=1,
                    proof=deployment(GATEWAY_NAMESPACE, "envoy-gateway"),
                    values=_envoy_gateway,
                    owns_namespace=True,
                ),
            ),
            looks=(api("v1alpha1", "gateway.envoyproxy.io"),),
            blockers=((api("v1", _GATEWAY_API), _THERE_ALREADY),),
            has_gateway=True,
        ),
        Unit(
            "leaderWorkerSet",
            parts=(
                Part(
                    "lws",
                    Chart("oci://registry.k8s.io/lws/charts", "lws", "0.10.0"),
                    release="lws",
                    namespace="lws-system",
                    wave=1,
                    proof=deployment("lws-system", "lws-controller-manager"),
                    values=_leader_worker_set,
                ),
            ),
            looks=(api("v1", "leaderworkerset.x-k8s.io"),),
        ),
        Unit(
            "dra",
            "gpu.nvidia.com",
            parts=(
                Part(
                    "dra-nvidia",
                    Chart("oci://registry.k8s.io/dra-driver-nvidia/charts", "dra-driver-nvidia-gpu", "0.4.1"),
                    release="dra-driver-nvidia-gpu",
                    namespace="nvidia-dra",
                    wave=1,
                    proof=device_class("gpu.nvidia.com"),
                    values=_nvidia,
                    wait=False,
                    is_critical=True,
                    namespace_labels=_PRIVILEGED,
                ),
            ),
            looks=(device_class("gpu.nvidia.com"),),
        ),
        *(
            Unit(
                "dra",
                driver,
                parts=(
                    Part(
                        key,
                        Chart(_INTEL, f"{chart}-resource-driver-chart", version),
                        release=key,
                        namespace=key,
                        wave=1,
                        proof=device_class(driver),
                        wait=False,
                        is_critical=True,
                        namespace_labels=_PRIVILEGED,
                    ),
                ),
                looks=(device_class(driver),),
            )
            for driver, key, chart, version in (
                ("gpu.intel.com", "dra-intel-gpu", "intel-gpu", "0.11.1"),
                ("gaudi.intel.com", "dra-intel-gaudi", "intel-gaudi", "0.7.2"),
            )
        ),
        Unit(
            "kserve",
            parts=(
                Part(
                    "kserve-crd",
                    Chart(_KSERVE_CHARTS, "kserve-llmisvc-crd-minimal", "v0.20.0"),
                    release="kserve-llmisvc-crd",
                    namespace=_KSERVE,
                    wave=2,
                    proof=api("v1alpha2", "serving.kserve.io"),
                    wait=False,
                    owns_definitions=True,
                ),
                Part(
                    "kserve",
                    Chart(_KSERVE_CHARTS, "kserve-llmisvc-resources", "v0.20.0"),
                    release="kserve-llmisvc-resources",
                    namespace=_KSERVE,
                    wave=3,
                    proof=deployment(_KSERVE, "llmisvc-controller-manager"),
                    values=_kserve,
                    after=("kserve-crd", "cert-manager", "lws", "envoy-gateway"),
                    wait_minutes=8,
                ),
                Part(
                    "kserve-presets",
                    Chart(_KSERVE_CHARTS, "kserve-runtime-configs", "v0.20.0"),
                    release="kserve-runtime-configs",
                    namespace=_KSERVE,
                    wave=4,
                    proof=Sign(
                        "serving.kserve.io/v1alpha2", "LLMInferenceServiceConfig", "kserve-config-llm-template", _KSERVE
                    ),
                    values=_presets,
                    after=("kserve",),
                    wait=False,
                    # They pass a webhook of the controller, whose certificate is injected seconds after it is ready.
                    attempts=ATTEMPTS_WITH_WEBHOOK,
                ),
            ),
            looks=(api("v1alpha2", "serving.kserve.io"), api("v1alpha1", "serving.kserve.io")),
        ),
        Unit(
            "metrics",
            parts=(
                Part(
                    "monitors",
                    Chart("oci://ghcr.io/prometheus-community/charts", "prometheus-operator-crds", "33.0.2"),
                    release="prometheus-operator-crds",
                    namespace="modelplane-metrics",
                    wave=1,
                    proof=api("v1", "monitoring.coreos.com"),
                    wait=False,
                    owns_definitions=True,
                    namespace_labels=_PRIVILEGED,
                ),
                Part(
                    "device-metrics",
                    Chart("https://nvidia.github.io/dcgm-exporter/helm-charts", "dcgm-exporter", "4.6.0-4.8.3"),
                    release="dcgm-exporter",
                    namespace="modelplane-metrics",
                    wave=2,
                    proof=Sign("apps/v1", "DaemonSet", "dcgm-exporter", "modelplane-metrics"),
                    values=_device_metrics,
                    wait=False,
                    namespace_labels=_PRIVILEGED,
                ),
            ),
            looks=(api("v1", "monitoring.coreos.com"),),
            required=False,
        ),
        Unit(
            "queue",
            "Kueue",
            parts=(
                Part(
                    "kueue",
                    Chart("oci://registry.k8s.io/kueue/charts", "kueue", "0.19.2"),
                    release="kueue",
                    namespace="kueue-system",
                    wave=5,
                    proof=deployment("kueue-system", "kueue-controller-manager"),
                    values=_kueue,
                    after_all=True,
                    owns_definitions=True,
                ),
            ),
            looks=(api("v1beta2", "kueue.x-k8s.io"), api("v1beta1", "kueue.x-k8s.io")),
        ),
    )
}
"""Every component, or variant of one, that can be installed, by its name in reports."""

OPERATOR = "operator"
"""The component of a backend that brings its own operator, which nothing here installs."""
WITH_VARIANTS = frozenset({"dra", "queue", OPERATOR})
"""The components that are nothing without a variant."""

COMPONENTS = ("certManager", "gateway", "leaderWorkerSet", "kserve", "dra", "metrics", "queue")
"""The components that an author may speak of."""


def unit(component: str, variant: str = "") -> Unit:
    """Return the component, or a variant of it. One that nothing is known to install has no parts."""
    made = Unit(component, variant, looks=_operator(variant) if component == OPERATOR else ())
    return UNITS.get(made.name, made)


def _operator(backend: str) -> tuple[Sign, ...]:
    """Return what shows that the operator of a backend is there: the versions of the backend's own kind."""
    known = selection.BACKENDS.get(backend)
    own = next((one for one in known.DEFINITIONS if one.is_own), None) if known else None
    return () if own is None else tuple(api(version, own.group) for version in (own.version, *own.older))


def parts() -> dict[str, Part]:
    """Return every part by its key."""
    return {part.key: part for one in UNITS.values() for part in one.parts}
