"""Access to a cluster: the Secret with a kubeconfig, the configurations of providers that read it, and who may enter.

The token in the kubeconfig lives fifteen minutes at most and is renewed every five. provider-kubernetes reads the
Secret at each reconcile, but a watch keeps the token that it began with. With access WebIdentity the providers sign
each request with the identity of their own pod instead.

Source: provider-upjet-aws v2.6.0, internal/controller/namespaced/eks/clusterauth (lifetime and refresh);
provider-kubernetes v1.4.1, pkg/kube/client/aws (the identity, which is only read from the pod).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

from modelplane import names
from modelplane.render import cloud, protection, provisioning
from modelplane.render.clouds.eks import kinds, settings
from modelplane.render.manifest import Manifest
from modelplane.render.provisioning import Site

Json: TypeAlias = Any

AUTH = "cluster-auth"
HELM_KEY = "helm-config"
_KUBECONFIG = "kubeconfig"
_REFRESH = "5m0s"
_ADMIN = "AmazonEKSClusterAdminPolicy"


def manifests(site: Site) -> Iterator[Manifest]:
    """Yield what writes the kubeconfig, and an entry for each role that may administrate the cluster."""
    fields = {"clusterNameRef": kinds.reference(site), "refreshPeriod": _REFRESH}
    yield kinds.made(site, kinds.CLUSTER_AUTH, kinds.Part(AUTH, (), secret=_secret(site)), fields)
    for arn in sorted(set(site.settings.at("adminRoleArns").texts())):
        # The name follows the role and not its place in the list.
        digest = names.digest(arn)
        entry = {"clusterNameRef": kinds.reference(site), "principalArn": arn}
        yield kinds.made(
            site, kinds.ACCESS_ENTRY, kinds.Part(f"entry-{digest}", ("entry", digest)), {**entry, "type": "STANDARD"}
        )
        policy = f"arn:{settings.partition(site)}:eks::aws:cluster-access-policy/{_ADMIN}"
        scope = {"policyArn": policy, "accessScope": {"type": "cluster"}}
        yield kinds.made(
            site, kinds.ACCESS_POLICY, kinds.Part(f"admin-{digest}", ("admin", digest)), {**entry, **scope}
        )


def configs(site: Site) -> tuple[Manifest, ...]:
    """Return the configurations of provider-kubernetes and of provider-helm for the cluster."""
    of_kubernetes = cloud.provider_config(
        site.cluster, namespace=names.SYSTEM_NAMESPACE, secret=_secret(site), key=_KUBECONFIG
    )
    spec: dict[str, Json] = dict(of_kubernetes.resource["spec"])
    if settings.access(site) == settings.WEB_IDENTITY:
        spec["identity"] = {"type": "AWSWebIdentityCredentials", "source": "InjectedIdentity"}
    config = {"kind": cloud.PROVIDER_CONFIG_KIND, "metadata": {"name": protection.name_of(site.cluster)}, "spec": spec}
    return (
        Manifest(of_kubernetes.key, {"apiVersion": "kubernetes.m.crossplane.io/v1alpha1", **config}),
        Manifest(HELM_KEY, {"apiVersion": "helm.m.crossplane.io/v1beta1", **config}),
    )


def _secret(site: Site) -> str:
    return provisioning.part_name(site.cluster, _KUBECONFIG)
