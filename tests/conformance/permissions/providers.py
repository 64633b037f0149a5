"""What would make a provider act as itself, or read for somebody who may not, and the uses of it that are fine.

Source: provider-kubernetes v1.2.1 (pkg/kube/client/client.go, internal/controller/namespaced/object/object.go) and
provider-helm v1.3.0 (pkg/clients/helm/helm.go).
"""

from __future__ import annotations

from typing import Any

from tests.conformance.permissions import fleet, people
from tests.conformance.permissions.acts import Act, change, create
from tests.conformance.permissions.fleet import HELM, KUBERNETES
from tests.conformance.permissions.people import Person

KUBERNETES_LEGACY, HELM_LEGACY = "kubernetes.crossplane.io/v1alpha1", "helm.crossplane.io/v1beta1"
OF_KUBERNETES = (
    (KUBERNETES, "ProviderConfig", people.TEAM),
    (KUBERNETES, "ClusterProviderConfig", None),
    (KUBERNETES_LEGACY, "ProviderConfig", None),
)
OF_HELM = (
    (HELM, "ProviderConfig", people.TEAM),
    (HELM, "ClusterProviderConfig", None),
    (HELM_LEGACY, "ProviderConfig", None),
)
CONFIGURATIONS = OF_KUBERNETES + OF_HELM
# Credentials and identity by which the provider is itself.
ITSELF = (
    ("InjectedIdentity", None),
    ("Environment", None),
    ("Filesystem", None),
    ("Secret", "InjectedIdentity"),
    ("Secret", "Filesystem"),
)
ADMINISTRATORS = (KUBERNETES, "Object", "of-an-administrator")
COPIED: Any = {"spec": {"forProvider": {"manifest": {"data": {"copied": "b"}}}}}


def named(kind: tuple[str, str, str | None], credentials: str, identity: str | None = None) -> str:
    """Return how an attack with a configuration is called."""
    group = kind[0].partition("/")[0]
    return "-".join(one for one in (group, kind[1], credentials, identity) if one)


ATTACKS: dict[str, Act] = {
    "administrator-in-a-namespace": create(fleet.configuration(*OF_HELM[0], "InjectedIdentity")),
    # A kubeconfig may name the file with the token of the provider's own account.
    "administrator-by-a-kubeconfig": create(fleet.configuration(*OF_HELM[0], "Secret")),
    "administrator-by-a-kubeconfig-everywhere": create(fleet.configuration(*OF_HELM[1], "Secret")),
    "administrator-by-an-older-kind": create(fleet.configuration(*OF_HELM[2], "Secret")),
    **{
        named(kind, *sources): create(fleet.configuration(*kind, *sources))
        for kind in CONFIGURATIONS
        for sources in ITSELF
    },
    # What a role calls another kind is not known to a policy.
    "reference-to-another-kind": create(fleet.referring("mine", ("patchesFrom", "v1", "Node", None))),
    "reference-to-another-kind-without-a-copy": create(
        fleet.referring("mine", ("dependsOn", "coordination.k8s.io/v1", "Lease", people.TEAM))
    ),
    "reference-beside-a-fine-one": create(
        fleet.referring(
            "mine", ("dependsOn", KUBERNETES, "Object", people.TEAM), ("patchesFrom", "apps/v1", "Secret", people.TEAM)
        )
    ),
    "reference-of-an-administrator-copies-elsewhere": change(
        *ADMINISTRATORS, {"spec": {"providerConfigRef": {"name": "other"}}}
    ),
}

FINE: dict[str, tuple[Person, Act]] = {
    **{
        f"configuration-with-a-kubeconfig-{number}": (
            people.CROSSPLANE_EDITOR,
            create(fleet.configuration(*kind, "Secret", "Secret")),
        )
        for number, kind in enumerate(OF_KUBERNETES)
    },
    **{
        f"configuration-without-credentials-{number}": (
            people.CROSSPLANE_EDITOR,
            create(fleet.configuration(*kind, "None")),
        )
        for number, kind in enumerate(CONFIGURATIONS)
    },
    "crossplane-lends-provider-helm-its-rights": (
        people.CROSSPLANE,
        create(fleet.configuration(HELM, "ProviderConfig", people.SYSTEM, "InjectedIdentity")),
    ),
    "provider-notes-its-use-of-a-configuration": (
        people.PROVIDER,
        change(
            KUBERNETES,
            "ClusterProviderConfig",
            fleet.CREDENTIALS,
            {"metadata": {"finalizers": ["in-use.crossplane.io"]}},
            namespace=None,
        ),
    ),
    "reference-to-a-secret-that-its-author-may-write": (
        people.CROSSPLANE_EDITOR,
        create(fleet.referring("b", ("patchesFrom", "v1", "Secret", people.OTHER))),
    ),
    "reference-to-an-object": (
        people.CROSSPLANE_EDITOR,
        create(fleet.referring("b", ("dependsOn", KUBERNETES, "Object", people.TEAM))),
    ),
    "provider-writes-what-it-copied": (people.PROVIDER, change(*ADMINISTRATORS, COPIED)),
    "note-on-an-object-with-references": (
        people.CROSSPLANE_EDITOR,
        change(*ADMINISTRATORS, {"metadata": {"labels": {"a": "b"}}}),
    ),
    "references-are-taken-away": (
        people.CROSSPLANE_EDITOR,
        change(*ADMINISTRATORS, {"spec": {"references": None}}),
    ),
}
