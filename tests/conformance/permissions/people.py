"""The persons of docs/security.md as users of an API server, each with the roles that it would have.

What Crossplane and its providers may do with our kinds and theirs is rendered by the RBAC manager of the pinned
Crossplane, which runs beside the API server. What its chart ships is restated here, with the same verbs (v2.4.0,
cluster/charts/crossplane/templates: clusterrole.yaml, rbac-manager-managed-clusterroles.yaml).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from modelplane.api import catalogue
from tests.support import controlplane, installation, kubeapi

Document = dict[str, Any]

RBAC = "rbac.authorization.k8s.io"
TEAM, OTHER = "team-a", "team-b"
SYSTEM = "modelplane-system"
PROVIDERS = {
    "kubernetes.m.crossplane.io": ("objects", "observedobjectcollections", "clusterproviderconfigs", "providerconfigs"),
    "kubernetes.crossplane.io": ("objects", "providerconfigs"),
    "helm.m.crossplane.io": ("releases", "clusterproviderconfigs", "providerconfigs"),
    "helm.crossplane.io": ("releases", "providerconfigs"),
}
# The revisions of the two providers, and the groups that each serves.
REVISIONS = {"provider-kubernetes-1": "kubernetes", "provider-helm-1": "helm"}
EVERYTHING = ["*"]


@dataclass(frozen=True, slots=True)
class Person:
    """One user. `role` is bound in the namespace TEAM, or everywhere."""

    name: str
    role: str
    everywhere: bool = False

    @property
    def user(self) -> str:
        """Return the name by which the API server knows the user."""
        return self.name

    def on(self, plane: controlplane.Plane) -> kubeapi.Api:
        """Return the API server as this person sees it."""
        return plane.api.impersonating(self.user)


@dataclass(frozen=True, slots=True)
class ServiceAccount(Person):
    """A program of Crossplane's namespace, or (with `namespace`) of another."""

    namespace: str = "crossplane-system"

    @property
    def user(self) -> str:
        """Return the name by which the API server knows the program."""
        return f"system:serviceaccount:{self.namespace}:{self.name}"


TENANT = Person("tenant", "modelplane-tenant")
VIEWER = Person("viewer", "modelplane-viewer")
KUBERNETES_VIEWER = Person("kubernetes-viewer", "view")
KUBERNETES_EDITOR = Person("kubernetes-editor", "edit")
FLEET_VIEWER = Person("fleet-viewer", "modelplane-fleet-viewer", everywhere=True)
PLATFORM = Person("platform", "modelplane-platform", everywhere=True)
# Who was given too much: Crossplane's own role for people, and write access to Gateway API's and Envoy Gateway's kinds.
CROSSPLANE_EDITOR = Person("crossplane-editor", "crossplane-edit", everywhere=True)
CONFIGURER = Person("configurer", "writes-provider-configurations", everywhere=True)
CROSSPLANE = ServiceAccount("crossplane", "crossplane", everywhere=True)
PROVIDER = ServiceAccount("provider-kubernetes", "crossplane:provider:provider-kubernetes-1:system", everywhere=True)
# Bound by Kubernetes itself.
GARBAGE_COLLECTOR = ServiceAccount("generic-garbage-collector", "", everywhere=True, namespace="kube-system")
NAMESPACE_CONTROLLER = ServiceAccount("namespace-controller", "", everywhere=True, namespace="kube-system")

BOUND = (
    TENANT,
    VIEWER,
    KUBERNETES_VIEWER,
    KUBERNETES_EDITOR,
    FLEET_VIEWER,
    PLATFORM,
    CROSSPLANE_EDITOR,
    CONFIGURER,
    CROSSPLANE,
    PROVIDER,
)


def install(plane: controlplane.Plane) -> None:
    """Create the roles that others ship, and bind every person to its own."""
    for one in _roles():
        plane.api.apply(one)
    for person in BOUND:
        plane.api.apply(_binding(person))


def rendered(plane: controlplane.Plane) -> None:
    """Start Crossplane's RBAC manager on our definitions and the two providers, and wait for what it renders."""
    for kind in catalogue.kinds():
        plane.api.apply(dict(catalogue.definition(kind)))
    for name, word in REVISIONS.items():
        revision = _revision(name)
        references = [
            {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "name": f"{plural}.{group}"}
            for group, plurals in PROVIDERS.items()
            if group.startswith(word)
            for plural in plurals
        ]
        plane.api.apply(revision)
        plane.api.merge(revision, {"status": {"objectRefs": references}}, subresource="status")
    plane.program("crossplane-rbac", "rbac", "start")
    names = [f"crossplane:provider:{name}:{kind}" for name in REVISIONS for kind in ("aggregate-to-edit", "system")]
    for kind in catalogue.kinds():
        name = catalogue.definition(kind)["metadata"]["name"]
        names += [f"crossplane:composite:{name}:{one}" for one in ("aggregate-to-crossplane", "aggregate-to-edit")]
    kubeapi.until(
        lambda: all(plane.api.get(f"{RBAC}/v1", "ClusterRole", one) for one in names),
        seconds=120,
        what="the RBAC manager",
    )


def _revision(name: str) -> Document:
    """Return a revision of a provider, paused: its package is not pulled."""
    package = f"xpkg.crossplane.io/crossplane-contrib/{name.removesuffix('-1')}:v0.0.0"
    return {
        "apiVersion": "pkg.crossplane.io/v1",
        "kind": "ProviderRevision",
        "metadata": {"name": name, "labels": {"pkg.crossplane.io/package": name.removesuffix("-1")}},
        "spec": {"desiredState": "Active", "image": package, "revision": 1},
    }


def _roles() -> list[Document]:
    """Return what Crossplane's chart ships, and two roles that nobody ships."""
    built_in = [
        {"apiGroups": [""], "resources": ["secrets"], "verbs": EVERYTHING},
        {
            "apiGroups": ["apiextensions.crossplane.io", "pkg.crossplane.io", "protection.crossplane.io"],
            "resources": EVERYTHING,
            "verbs": EVERYTHING,
        },
    ]
    routing = [
        {
            "apiGroups": ["gateway.networking.k8s.io", "gateway.envoyproxy.io"],
            "resources": EVERYTHING,
            "verbs": EVERYTHING,
        }
    ]
    configurations = [
        {
            "apiGroups": list(PROVIDERS),
            "resources": ["clusterproviderconfigs", "providerconfigs"],
            "verbs": EVERYTHING,
        }
    ]
    return [
        *_summed("crossplane-edit", "aggregate-to-edit", [*built_in, *routing]),
        *_summed("crossplane", "aggregate-to-crossplane", built_in),
        _role("writes-provider-configurations", configurations),
    ]


def _summed(name: str, word: str, rules: list[Any]) -> list[Document]:
    """Return a role that is the sum of those with a label, and its own part."""
    labels = {f"rbac.crossplane.io/{word}": "true"}
    summed = {**_role(name, []), "aggregationRule": {"clusterRoleSelectors": [{"matchLabels": labels}]}}
    return [summed, _role(f"{name}:own:{word}", rules, labels=labels)]


def _role(name: str, rules: list[Any], labels: Mapping[str, str] | None = None) -> Document:
    metadata = {"name": name, "labels": dict(labels or {})}
    return {"apiVersion": f"{RBAC}/v1", "kind": "ClusterRole", "metadata": metadata, "rules": rules}


def _binding(person: Person) -> Document:
    subject: Document = {"kind": "User", "name": person.user, "apiGroup": RBAC}
    return {
        "apiVersion": f"{RBAC}/v1",
        "kind": "ClusterRoleBinding" if person.everywhere else "RoleBinding",
        "metadata": {"name": f"of-{person.name}"} | ({} if person.everywhere else {"namespace": TEAM}),
        "roleRef": {"apiGroup": RBAC, "kind": "ClusterRole", "name": person.role},
        "subjects": [subject],
    }


def may(plane: controlplane.Plane, person: Person, verb: str, resource: str, namespace: str | None) -> bool:
    """Return whether RBAC allows something: `resource` is plural.group, with /subresource after the plural."""
    plural, _, group = resource.partition(".")
    plural, _, subresource = plural.partition("/")
    asked = {"verb": verb, "group": group, "resource": plural, "subresource": subresource, "version": "*"}
    review = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectAccessReview",
        "spec": {"resourceAttributes": asked | ({"namespace": namespace} if namespace else {})},
    }
    answer = person.on(plane).request("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", review)
    return bool(answer["status"]["allowed"])


def namespaces(plane: controlplane.Plane) -> None:
    """Create the namespaces of the persons."""
    for name in (TEAM, OTHER, SYSTEM, installation.CROSSPLANE_NAMESPACE):
        installation.namespace(plane, name)
