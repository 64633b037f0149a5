"""Provisioner: the interface of a cloud that makes a cluster from nothing.

A provisioner is an entry of `clouds.selection.CLOUDS`, like a cloud that only gives access. It renders managed
resources of a Crossplane provider, which are objects of the control plane: a network, a cluster, and a node pool for
each pool of the InferenceCluster. Each of the three is a composite of its own (CloudNetwork, CloudCluster,
CloudNodePool), so that no composite outgrows Crossplane's circuit breaker. All three read a `Site`, which is written
into their specs.

A managed resource that was composed once is kept until its composite is deleted, whatever a provisioner returns later.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, runtime_checkable

from modelplane import names, seen
from modelplane.errors import InvalidInput
from modelplane.render import external_names
from modelplane.render.cloud import PROVIDER_CONFIG_KIND
from modelplane.render.manifest import Manifest
from modelplane.workload.created import Given, Nodes, NodeTaint, PoolSpec, Site

__all__ = [
    "CLUSTER",
    "NETWORK",
    "POOL",
    "Given",
    "Identity",
    "NodeTaint",
    "Nodes",
    "PoolSpec",
    "Provisioner",
    "Served",
    "Site",
    "StackNeeds",
    "at_provider",
    "error",
    "is_ready",
    "managed",
    "part_name",
    "usage",
]

Json: TypeAlias = Any
Resource: TypeAlias = Mapping[str, Json]

NETWORK, CLUSTER, POOL = "network", "cluster", "pool"
"""The keys of the managed resources that others need: a cluster stands in its network, a pool in its cluster."""

_KEY_DIGITS = 8
_POLICIES_WITHOUT_DELETE = ("Observe", "Create", "Update", "LateInitialize")


@dataclass(frozen=True, slots=True)
class StackNeeds:
    """Needs of the serving stack: the place of GPU drivers on nodes, and whether critical pods need a quota."""

    gpu_driver_root: str = "/"
    needs_critical_quota: bool = False


@dataclass(frozen=True, slots=True)
class Served:
    """A kind of managed resource that the control plane must serve, and the package that brings it."""

    api_version: str
    kind: str
    package: str


@runtime_checkable
class Provisioner(Protocol):
    """The interface of a cloud that makes clusters. All functions are pure."""

    def served(self) -> tuple[Served, ...]:
        """Return the kinds that may be composed, sorted, each once."""

    def problems(self, site: Site, pools: tuple[PoolSpec, ...]) -> Iterator[InvalidInput]:
        """Yield everything that the cloud would refuse, before anything is made. No error is raised.

        The error of a recipe is one about the entry of the pool, and names the class and its field.
        """

    def network(self, site: Site) -> tuple[Manifest, ...]:
        """Return the managed resources of the network, none where the author names an existing one."""

    def cluster(self, site: Site, observed: Mapping[str, Resource]) -> tuple[Manifest, ...]:
        """Return identities, the cluster, its system pool, and what writes the Secret with the access to it."""

    def facts(self, site: Site, observed: Mapping[str, Resource]) -> dict[str, str]:
        """Return the facts that pools need of the observed resources of the cluster, published as status.facts.

        "version" is the Kubernetes version, "endpoint" the address of the API server, where known.
        """

    def node_pool(
        self, site: Site, pool: PoolSpec, facts: Mapping[str, str], observed: Mapping[str, Resource]
    ) -> tuple[Manifest, ...]:
        """Return the managed resources of a pool. One that needs an unknown fact is left out until it is known."""

    def nodes(self, pool: PoolSpec, observed: Mapping[str, Resource]) -> Nodes:
        """Return the nodes that the cloud reports for the pool."""

    def config(self, site: Site) -> Manifest:
        """Return the configuration of provider-kubernetes; that of provider-helm is made from it."""

    def lifelines(self) -> tuple[str, ...]:
        """Return the keys of the cluster's managed resources without which nothing can be uninstalled from it.

        They are what its API is reached with, and the nodes on which its controllers run.
        """

    def rights(self) -> tuple[str, ...]:
        """Return the beginnings of the keys of rights in the cluster, which are taken away once nobody asks for them.

        Everything else that was made stays until the cluster goes.
        """

    def stack_needs(self, site: Site) -> StackNeeds:
        """Return the needs of the serving stack."""

    def advice(self, message: str) -> str:
        """Return the remedy for an error of the cloud, empty if none is known."""

    def assumed(self, resource: Resource) -> dict[str, Json]:
        """Return the status.atProvider that a managed resource has once it is made, for an offline world."""


def part_name(cluster: str, *parts: str) -> str:
    """Return the name of a managed resource of a cluster: its own name, else one with a digest of all parts."""
    return names.hashed(cluster, *parts, of=()) if parts else names.bounded(cluster)


@dataclass(frozen=True, slots=True)
class Identity:
    """Kind and names of a managed resource.

    `key` is its composition key, unique within its composite. `secret` names the Secret for connection details.
    `external_name` is the name in the cloud where an author or this library chooses it; by it an existing object of the
    cloud is adopted.
    """

    key: str
    api_version: str
    kind: str
    name: str
    external_name: str = ""
    secret: str = ""


def managed(
    identity: Identity, for_provider: Resource, *, site: Site, init_provider: Resource | None = None
) -> Manifest:
    """Return a managed resource in the namespace of the control plane."""
    metadata: dict[str, Json] = {
        "name": identity.name,
        "namespace": names.SYSTEM_NAMESPACE,
        "labels": {names.LABEL_CLUSTER: site.cluster},
    }
    if identity.external_name:
        metadata["annotations"] = external_names.chosen(identity.external_name)
    spec: dict[str, Json] = {
        "providerConfigRef": {"kind": PROVIDER_CONFIG_KIND, "name": site.config},
        "forProvider": dict(for_provider),
    }
    if site.is_kept:
        spec["managementPolicies"] = list(_POLICIES_WITHOUT_DELETE)
    if init_provider:
        spec["initProvider"] = dict(init_provider)
    if identity.secret:
        spec["writeConnectionSecretToRef"] = {"name": identity.secret}
    resource = {"apiVersion": identity.api_version, "kind": identity.kind, "metadata": metadata, "spec": spec}
    return Manifest(identity.key, resource)


def fated(resource: Resource, *, is_kept: bool) -> dict[str, Json]:
    """Return a managed resource that is repeated, with the fate that `is_kept` gives it. Who only observes it goes on.

    Without policies a provider may do everything.
    """
    spec = resource["spec"]
    given = spec.get("managementPolicies")
    policies = tuple(map(str, given)) if isinstance(given, list | tuple) and given else ("*",)
    if is_kept and "*" in policies:
        policies = _POLICIES_WITHOUT_DELETE
    elif is_kept:
        policies = tuple(one for one in policies if one != "Delete")
    elif set(_POLICIES_WITHOUT_DELETE) == set(policies):
        policies = ("*",)
    elif "Update" in policies and "Delete" not in policies:
        policies = (*policies, "Delete")
    written = {} if policies == ("*",) else {"managementPolicies": list(policies)}
    return {**resource, "spec": {**{key: one for key, one in spec.items() if key != "managementPolicies"}, **written}}


def usage(of: Resource, by: Resource) -> Manifest:
    """Return the Usage that lets Crossplane delete `of` only after `by` is gone. Both are managed resources.

    It is composed with `by`. A deletion that was refused is repeated then.
    """
    used, user = of["metadata"]["name"], by["metadata"]["name"]
    return Manifest(
        f"usage-{by['kind'].lower()}-{of['kind'].lower()}-{names.digest(user, used, digits=_KEY_DIGITS)}",
        {
            "apiVersion": "protection.crossplane.io/v1beta1",
            "kind": "Usage",
            "metadata": {
                "name": names.hashed(user, "needs", used, of=(by["kind"], of["kind"])),
                "namespace": names.SYSTEM_NAMESPACE,
            },
            "spec": {
                "of": {"apiVersion": of["apiVersion"], "kind": of["kind"], "resourceRef": {"name": used}},
                "by": {"apiVersion": by["apiVersion"], "kind": by["kind"], "resourceRef": {"name": user}},
                "reason": f"{by['kind']} {user} stands on it",
                "replayDeletion": True,
            },
        },
    )


def is_ready(resource: Resource | None) -> bool:
    """Return whether an observed managed resource is ready and was written as it is now."""
    status = None if resource is None else resource.get("status")
    ready, synced = seen.condition(status, "Ready"), seen.condition(status, "Synced")
    return seen.verdict(ready) is True and seen.verdict(synced) is not False


def error(resource: Resource | None) -> str:
    """Return the error that the provider or the cloud reports of an observed managed resource, empty without one."""
    status = None if resource is None else resource.get("status")
    for kind in ("Synced", "LastAsyncOperation"):
        said = seen.condition(status, kind)
        if seen.verdict(said) is False:
            return seen.text(said.get("message")) or seen.text(said.get("reason")) or "no message"
    return ""


def at_provider(resource: Resource | None, *path: str) -> Json:
    """Return a value of status.atProvider of an observed managed resource, None if it has none."""
    return None if resource is None else seen.at(resource.get("status"), "atProvider", *path)
