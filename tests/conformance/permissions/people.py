"""The persons of docs/security.md as users of an API server, each with the roles that it would have.

Source: the roles of Crossplane are what its RBAC manager renders (v2.4.0, internal/controller/rbac/definition/roles.go
and provider/roles/roles.go) and what its chart ships (rbac-manager-managed-clusterroles.yaml), with the same verbs.
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
PROVIDER = ServiceAccount("provider-kubernetes", "crossplane:provider:system", everywhere=True)
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


def _roles() -> list[Document]:
    ours = [{"apiGroups": ["modelplane.ai"], "resources": [*_plurals(), *_plurals("/status")], "verbs": EVERYTHING}]
    providers = [
        {"apiGroups": [group], "resources": [*found, *(f"{one}/status" for one in found)], "verbs": EVERYTHING}
        for group, found in PROVIDERS.items()
    ]
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
    finalizers = [{"apiGroups": ["modelplane.ai"], "resources": _plurals("/finalizers"), "verbs": ["update"]}]
    aggregated = {"clusterRoleSelectors": [{"matchLabels": {"rbac.crossplane.io/aggregate-to-crossplane": "true"}}]}
    system = [{**rule, "verbs": ["get", "list", "watch", "update", "patch", "create"]} for rule in providers]
    configurations = [
        {
            "apiGroups": list(PROVIDERS),
            "resources": ["clusterproviderconfigs", "providerconfigs"],
            "verbs": EVERYTHING,
        }
    ]
    return [
        _role("crossplane-edit", [*ours, *providers, *built_in, *routing]),
        _role(
            "crossplane:rest:aggregate-to-crossplane",
            [*ours, *providers, *built_in, *finalizers],
            labels={"rbac.crossplane.io/aggregate-to-crossplane": "true"},
        ),
        {**_role("crossplane", []), "aggregationRule": aggregated},
        _role("crossplane:provider:system", [*system, {**built_in[0], "resources": ["secrets", "events"]}]),
        _role("writes-provider-configurations", configurations),
    ]


def _plurals(suffix: str = "") -> list[str]:
    return [f"{catalogue.definition(kind)['spec']['names']['plural']}{suffix}" for kind in catalogue.kinds()]


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
