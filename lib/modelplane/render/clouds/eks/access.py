"""Access to a cluster: the Secret with a kubeconfig, the configurations of providers that read it, and who may enter.

The token in the kubeconfig lives fifteen minutes at most and is renewed every five. provider-kubernetes reads the
Secret at each reconcile, but a watch keeps the token that it began with. With access WebIdentity the providers sign
each request with the identity of their own pod instead.

Source: provider-upjet-aws v2.6.0, internal/controller/namespaced/eks/clusterauth (lifetime and refresh);
provider-kubernetes v1.4.1, pkg/kube/client/aws (the identity, which is only read from the pod).
"""

from __future__ import annotations

from collections.abc import Iterator

from modelplane import names
from modelplane.render import cloud, provisioning
from modelplane.render.clouds.eks import kinds, settings
from modelplane.render.manifest import Manifest
from modelplane.render.provisioning import Site

AUTH = "cluster-auth"
_ENTRY, _POLICY = "entry-", "admin-"
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
            site, kinds.ACCESS_ENTRY, kinds.Part(f"{_ENTRY}{digest}", ("entry", digest)), {**entry, "type": "STANDARD"}
        )
        policy = f"arn:{settings.partition(site)}:eks::aws:cluster-access-policy/{_ADMIN}"
        scope = {"policyArn": policy, "accessScope": {"type": "cluster"}}
        yield kinds.made(
            site, kinds.ACCESS_POLICY, kinds.Part(f"{_POLICY}{digest}", ("admin", digest)), {**entry, **scope}
        )


def rights() -> tuple[str, ...]:
    """Return the beginnings of the keys of entries and of what they allow: a role off the list has no way in."""
    return (_ENTRY, _POLICY)


def config(site: Site) -> Manifest:
    """Return the configuration of provider-kubernetes for the cluster."""
    is_own = settings.access(site) == settings.WEB_IDENTITY
    return cloud.provider_config(
        site.cluster,
        namespace=names.SYSTEM_NAMESPACE,
        secret=_secret(site),
        key=_KUBECONFIG,
        identity={"type": "AWSWebIdentityCredentials", "source": "InjectedIdentity"} if is_own else None,
    )


def _secret(site: Site) -> str:
    return provisioning.part_name(site.cluster, _KUBECONFIG)
