"""What is built from which module, and which definitions come from it.

A folder beside this file holds the go.mod and go.sum that pin one module. One module per project, because their
`replace` lines contradict each other.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
KUBERNETES = "v1.36.3"
_METRICS = "sigs.k8s.io/controller-runtime/pkg/metrics/server.DefaultBindAddress"


@dataclass(frozen=True, slots=True)
class Program:
    """One program: its name here, the Go package of its main function."""

    name: str
    package: str


@dataclass(frozen=True, slots=True)
class Module:
    """One pinned Go module and the programs built from it."""

    name: str
    programs: tuple[Program, ...]
    stamps: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()

    @property
    def folder(self) -> Path:
        """Return the folder of go.mod and go.sum."""
        return HERE / self.name


@dataclass(frozen=True, slots=True)
class Definitions:
    """CustomResourceDefinitions as files of a pinned module: `pin` is the folder that pins it.

    Without a pin `path` is a folder beside this file: definitions written here after a source that no proxy serves.
    """

    pin: str
    path: str
    files: tuple[str, ...]


def _kubernetes_stamps() -> tuple[str, ...]:
    # Kubernetes takes its version from the linker; without it the API server calls itself v0.0.0-master.
    major, minor, _ = KUBERNETES.removeprefix("v").split(".")
    variables = {"gitVersion": KUBERNETES, "gitMajor": major, "gitMinor": minor}
    return tuple(f"k8s.io/component-base/version.{name}={value}" for name, value in variables.items())


MODULES = (
    Module("etcd", (Program("etcd", "go.etcd.io/etcd/server/v3"),)),
    Module(
        "kubernetes",
        tuple(
            Program(name, f"k8s.io/kubernetes/cmd/{name}")
            for name in ("kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl")
        ),
        _kubernetes_stamps(),
    ),
    Module("kwok", (Program("kwok", "sigs.k8s.io/kwok/cmd/kwok"),)),
    Module(
        "provider-kubernetes",
        (Program("provider-kubernetes", "github.com/crossplane-contrib/provider-kubernetes/cmd/provider"),),
    ),
    Module(
        "provider-helm",
        (Program("provider-helm", "github.com/crossplane-contrib/provider-helm/cmd/provider"),),
        (
            # No flag moves it, and provider-kubernetes has 8080 on the same machine.
            f"{_METRICS}=127.0.0.1:0",
            # Charts that it has pulled are in /tmp/charts, whoever started it; here they are below its working folder.
            "github.com/crossplane-contrib/provider-helm/pkg/clients/helm.chartCache=charts",
        ),
    ),
    Module("kueue", (Program("kueue", "sigs.k8s.io/kueue/cmd/kueue"),)),
    Module("lws", (Program("lws", "sigs.k8s.io/lws/cmd"),)),
    Module(
        "envoy-gateway",
        tuple(Program(name, f"github.com/envoyproxy/gateway/cmd/{name}") for name in ("egctl", "envoy-gateway")),
        (
            # No flag moves these two, and provider-kubernetes has 8080 on the same machine.
            f"{_METRICS}=127.0.0.1:0",
            "github.com/envoyproxy/gateway/internal/provider/kubernetes.healthProbeBindAddress=127.0.0.1:0",
        ),
    ),
    Module(
        "ai-gateway",
        (
            Program("ai-gateway-controller", "github.com/envoyproxy/ai-gateway/cmd/controller"),
            Program("ai-gateway-extproc", "github.com/envoyproxy/ai-gateway/cmd/extproc"),
        ),
    ),
    # The commit of the image that Envoy Gateway v1.9.0 deploys.
    Module("ratelimit", (Program("ratelimit", "github.com/envoyproxy/ratelimit/src/service_cmd"),)),
    Module("kserve", (Program("llmisvc", "github.com/kserve/kserve/cmd/llmisvc"),)),
    # The controller of files on the disks of nodes; apart, because it needs a module that the other does not.
    Module("kserve-localmodel", (Program("localmodel", "github.com/kserve/kserve/cmd/localmodel"),)),
    Module("kuberay", (Program("kuberay", "github.com/ray-project/kuberay/ray-operator"),)),
    Module("kaito", (Program("kaito", "github.com/kaito-project/kaito/cmd/workspace"),)),
    Module(
        "keda",
        (
            Program("keda-operator", "github.com/kedacore/keda/v2/cmd/operator"),
            Program("keda-adapter", "github.com/kedacore/keda/v2/cmd/adapter"),
            Program("keda-webhooks", "github.com/kedacore/keda/v2/cmd/webhooks"),
        ),
    ),
    Module(
        "prometheus",
        tuple(Program(name, f"github.com/prometheus/prometheus/cmd/{name}") for name in ("prometheus", "promtool")),
        # What is scraped is listed in a file; the clients of the clouds would be most of the build.
        tags=("remove_all_sd",),
    ),
    Module("kube-state-metrics", (Program("kube-state-metrics", "k8s.io/kube-state-metrics/v2"),)),
    # The version that Crossplane's own check of signatures is built from.
    Module(
        "cosign",
        (
            Program("cosign", "github.com/sigstore/cosign/v3/cmd/cosign"),
            Program("crane", "github.com/google/go-containerregistry/cmd/crane"),
        ),
    ),
    Module("endpoint-picker", (Program("epp", "sigs.k8s.io/gateway-api-inference-extension/cmd/epp"),)),
)

# Source: the release manifests of each project, as far as its module carries them.
DEFINITIONS = {
    "kserve": Definitions(
        "kserve",
        "github.com/kserve/kserve",
        ("config/crd/full/llmisvc/serving.kserve.io_*.yaml",),
    ),
    "kserve-localmodel": Definitions(
        "kserve-localmodel",
        "github.com/kserve/kserve",
        ("config/crd/full/localmodel/serving.kserve.io_*.yaml",),
    ),
    # Nobody composes one; the controller of files on the disks of nodes watches them.
    "kserve-inferenceservices": Definitions(
        "kserve-localmodel",
        "github.com/kserve/kserve",
        ("config/crd/full/serving.kserve.io_inferenceservices.yaml",),
    ),
    "kuberay": Definitions("kuberay", "github.com/ray-project/kuberay/ray-operator", ("config/crd/bases/*.yaml",)),
    # Without its third kind, RAGEngine, which nobody composes.
    "kaito": Definitions(
        "kaito",
        "github.com/kaito-project/kaito",
        ("config/crd/bases/kaito.sh_inferencesets.yaml", "config/crd/bases/kaito.sh_workspaces.yaml"),
    ),
    "keda": Definitions("keda", "github.com/kedacore/keda/v2", ("config/crd/bases/*.yaml",)),
    # Written after the Go types: github.com/vllm-project/production-stack/operator is not served by the module proxy.
    "production-stack": Definitions("", "restated", ("production-stack.vllm.ai_*.yaml",)),
    # The same: neither NVIDIA/KAI-Scheduler nor volcano.sh/apis v1.15 is served.
    "kai": Definitions("", "restated", ("scheduling.run.ai_*.yaml",)),
    "volcano": Definitions("", "restated", ("scheduling.volcano.sh_*.yaml",)),
    "cert-manager": Definitions(
        "charts", "github.com/cert-manager/cert-manager", ("deploy/crds/cert-manager.io_*.yaml",)
    ),
    "ai-gateway": Definitions(
        "ai-gateway",
        "github.com/envoyproxy/ai-gateway",
        ("manifests/charts/ai-gateway-crds-helm/templates/aigateway.envoyproxy.io_*.yaml",),
    ),
    "lws": Definitions("lws", "sigs.k8s.io/lws", ("config/crd/bases/*.yaml",)),
    "kueue": Definitions("kueue", "sigs.k8s.io/kueue", ("config/components/crd/bases/*.yaml",)),
    "provider-kubernetes": Definitions(
        "provider-kubernetes",
        "github.com/crossplane-contrib/provider-kubernetes",
        # The kinds without ".m." are the legacy ones, which need a conversion webhook and which nobody composes.
        ("package/crds/kubernetes.m.crossplane.io_*.yaml",),
    ),
    "provider-helm": Definitions(
        "crds", "github.com/crossplane-contrib/provider-helm", ("package/crds/helm.m.crossplane.io_*.yaml",)
    ),
    # Of thousands of kinds those of the services that clusters are made of, without the legacy, cluster-scoped ones.
    "provider-aws": Definitions(
        "clouds",
        "github.com/upbound/provider-aws/v2",
        tuple(f"package/crds/{service}.aws.m.upbound.io_*.yaml" for service in ("ec2", "efs", "eks", "iam")),
    ),
    "provider-azure": Definitions(
        "clouds",
        "github.com/upbound/provider-azure/v2",
        (
            "package/crds/azure.m.upbound.io_resourcegroups.yaml",
            *(
                f"package/crds/{service}.azure.m.upbound.io_*.yaml"
                for service in ("authorization", "containerservice", "managedidentity", "network")
            ),
        ),
    ),
    # The experimental channel is what Envoy Gateway ships with its own chart.
    "gateway-api": Definitions(
        "crds", "sigs.k8s.io/gateway-api", ("config/crd/experimental/gateway.networking.*k8s.io_[!v]*.yaml",)
    ),
    "inference-extension": Definitions(
        "crds", "sigs.k8s.io/gateway-api-inference-extension", ("config/crd/bases/*.yaml",)
    ),
    "prometheus-operator": Definitions(
        "crds",
        "github.com/prometheus-operator/prometheus-operator",
        tuple(
            f"example/prometheus-operator-crd/monitoring.coreos.com_{plural}.yaml"
            for plural in ("podmonitors", "prometheusrules")
        ),
    ),
    "istio": Definitions("crds", "istio.io/api", ("kubernetes/customresourcedefinitions.gen.yaml",)),
    "envoy-gateway": Definitions(
        "crds",
        "github.com/envoyproxy/gateway",
        ("charts/gateway-helm/charts/crds/crds/generated/gateway.envoyproxy.io_*.yaml",),
    ),
}
