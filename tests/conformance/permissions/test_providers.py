"""What a provider reads for the author of its kinds: nothing that the author may not read.

The persons here may write the kinds of the providers, and have none of Crossplane's roles for people.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.conformance.permissions import fleet, people
from tests.conformance.permissions.acts import change
from tests.conformance.permissions.fleet import HELM, KUBERNETES
from tests.conformance.permissions.providers import ADMINISTRATORS, HELM_LEGACY, KUBERNETES_LEGACY
from tests.support import controlplane, kubeapi

GROUP = "rbac.authorization.k8s.io"
TEAM, OTHER, SYSTEM = people.TEAM, people.OTHER, people.SYSTEM
CONFIG_MAP = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "probe"}}


def grant(plane: controlplane.Plane, user: str, role: str, *rules: dict[str, Any], namespace: str | None) -> None:
    """Give a user a role of a namespace, or of all."""
    prefix = "" if namespace else "Cluster"
    metadata = {"name": role} | ({"namespace": namespace} if namespace else {})
    kind = {"apiVersion": f"{GROUP}/v1", "metadata": metadata}
    reference = {"apiGroup": GROUP, "kind": f"{prefix}Role", "name": role}
    subjects = [{"apiGroup": GROUP, "kind": "User", "name": user}]
    plane.api.apply({**kind, "kind": f"{prefix}Role", "rules": list(rules)})
    plane.api.apply({**kind, "kind": f"{prefix}RoleBinding", "roleRef": reference, "subjects": subjects})


def rule(group: str, *resources: str, verbs: tuple[str, ...] = ("*",), names: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return a rule of a role."""
    found: dict[str, Any] = {"apiGroups": [group], "resources": list(resources), "verbs": list(verbs)}
    return found | ({"resourceNames": list(names)} if names else {})


def author(plane: controlplane.Plane, name: str) -> kubeapi.Api:
    """Return a user who may write Objects and Releases of the team, and those without a namespace, but no Secret."""
    grant(
        plane,
        name,
        f"{name}-in-the-team",
        rule("kubernetes.m.crossplane.io", "objects", "providerconfigs"),
        rule("helm.m.crossplane.io", "releases"),
        namespace=TEAM,
    )
    grant(
        plane,
        name,
        f"{name}-everywhere",
        rule("kubernetes.crossplane.io", "objects", "providerconfigs"),
        rule("helm.crossplane.io", "releases"),
        namespace=None,
    )
    user = plane.api.impersonating(name)
    kubeapi.until(lambda: user.create(fleet.wrapped("b", "own"), dry_run=True), seconds=30, what="the role")
    kubeapi.until(lambda: user.create(legacy_object(), dry_run=True), seconds=30, what="the role")
    return user


def legacy_object(*references: tuple[str, str, str, str | None], version: str = "v1alpha2") -> Any:
    """Return an Object without a namespace."""
    found = fleet.referring("mine", *references)
    del found["metadata"]["namespace"], found["spec"]["providerConfigRef"]["kind"]
    return {**found, "apiVersion": KUBERNETES_LEGACY.replace("v1alpha1", version)}


@pytest.fixture(scope="module")
def plain(plane: controlplane.Plane) -> kubeapi.Api:
    return author(plane, "plain-author")


REFERENCES = {
    "secret-of-another-namespace": ("patchesFrom", "v1", "Secret", SYSTEM),
    "secret-of-its-namespace": ("patchesFrom", "v1", "Secret", TEAM),
    "finalizer-on-a-secret": ("dependsOn", "v1", "Secret", OTHER),
    "config-map-of-another-namespace": ("patchesFrom", "v1", "ConfigMap", OTHER),
    "object-of-another-namespace": ("patchesFrom", KUBERNETES, "Object", OTHER),
    "older-object": ("patchesFrom", KUBERNETES_LEGACY, "Object", None),
    "kind-that-is-spelt-otherwise": ("patchesFrom", "v1", "secret", TEAM),
}


@pytest.mark.parametrize("name", REFERENCES)
def test_an_object_copies_nothing_that_its_author_may_not_read(plain: kubeapi.Api, name: str) -> None:
    with pytest.raises(kubeapi.Refused, match="'modelplane-object-references'"):
        plain.create(fleet.referring("mine", REFERENCES[name]), dry_run=True)
    fine = ("dependsOn", KUBERNETES, "Object", TEAM)
    with pytest.raises(kubeapi.Refused, match="'modelplane-object-references'"):
        plain.create(fleet.referring("mine", fine, REFERENCES[name]), dry_run=True)
    assert plain.create(fleet.referring("mine", fine, fine, fine), dry_run=True)


@pytest.mark.parametrize("version", ["v1alpha1", "v1alpha2"])
def test_an_object_without_a_namespace_copies_no_secret(plain: kubeapi.Api, version: str) -> None:
    with pytest.raises(kubeapi.Refused, match="may not read and update the Secrets"):
        plain.create(legacy_object(("patchesFrom", "v1", "Secret", TEAM), version=version), dry_run=True)
    own = ("dependsOn", KUBERNETES_LEGACY, "Object", None)
    assert plain.create(legacy_object(own, own, version=version), dry_run=True)


def test_nobody_sends_elsewhere_what_the_references_of_another_copy(plain: kubeapi.Api) -> None:
    with pytest.raises(kubeapi.Refused, match="'modelplane-object-references'"):
        change(*ADMINISTRATORS, {"spec": {"providerConfigRef": {"name": "mine"}}})(plain)


def test_who_may_read_and_update_the_secrets_of_a_namespace_may_copy_them(plane: controlplane.Plane) -> None:
    user = author(plane, "author-with-secrets")
    secret, elsewhere = ("patchesFrom", "v1", "Secret", TEAM), ("patchesFrom", "v1", "Secret", OTHER)
    grant(plane, "author-with-secrets", "reads", rule("", "secrets", verbs=("get", "create")), namespace=TEAM)
    probe = {**CONFIG_MAP, "kind": "Secret", "metadata": {"name": "probe", "namespace": TEAM}}
    kubeapi.until(lambda: user.create(probe, dry_run=True), seconds=30, what="the role")
    with pytest.raises(kubeapi.Refused, match="may not read and update the Secrets"):
        user.create(fleet.referring("mine", secret), dry_run=True)
    grant(plane, "author-with-secrets", "reads", rule("", "secrets", verbs=("get", "update")), namespace=TEAM)
    many = fleet.referring("mine", *[secret] * 5, ("dependsOn", KUBERNETES, "Object", TEAM))
    assert kubeapi.until(lambda: user.create(many, dry_run=True), seconds=30, what="the role")
    for references in ([elsewhere], [secret, elsewhere]):
        with pytest.raises(kubeapi.Refused, match="may not read and update the Secrets"):
            user.create(fleet.referring("mine", *references), dry_run=True)


def values(kind: str, field: str, namespace: str | None) -> Any:
    """Return a Release with something out of a Secret or a ConfigMap."""
    found = fleet.release("mine", TEAM)
    reference = {"name": "a"} | ({"namespace": namespace} if namespace else {})
    source = {kind: reference}
    asked = found["spec"]["forProvider"]
    if field == "pullSecretRef":
        asked["chart"] = {**asked["chart"], field: reference}
    else:
        asked[field] = [{"name": "b", "valueFrom": source} if field == "set" else source]
    if namespace:
        del found["metadata"]["namespace"], found["spec"]["providerConfigRef"]["kind"]
        found["apiVersion"] = HELM_LEGACY
    return found


@pytest.mark.parametrize("namespace", [None, OTHER], ids=["of-a-namespace", "of-none"])
@pytest.mark.parametrize("field", ["valuesFrom", "patchesFrom", "set", "pullSecretRef"])
def test_a_release_takes_nothing_that_its_author_may_not_read(
    plain: kubeapi.Api, plane: controlplane.Plane, field: str, namespace: str | None
) -> None:
    document = values("secretKeyRef", field, namespace)
    with pytest.raises(kubeapi.Refused, match="may not read the Secrets where this Release"):
        plain.create(document, dry_run=True)
    assert people.CROSSPLANE_EDITOR.on(plane).create(document, dry_run=True)
    if field != "pullSecretRef":
        with pytest.raises(kubeapi.Refused, match="may not read the ConfigMaps where this Release"):
            plain.create(values("configMapKeyRef", field, namespace), dry_run=True)


def test_a_release_without_references_is_its_authors(plain: kubeapi.Api) -> None:
    assert plain.create(fleet.release("mine", TEAM), dry_run=True)


def test_a_configuration_names_only_a_secret_that_its_author_may_read(plane: controlplane.Plane) -> None:
    configurer = people.CONFIGURER.on(plane)
    elsewhere = fleet.configuration(KUBERNETES, "ProviderConfig", TEAM, "Secret")
    elsewhere["spec"]["credentials"]["secretRef"]["namespace"] = SYSTEM
    for document in (
        fleet.credentials("mine"),
        elsewhere,
        fleet.configuration(KUBERNETES, "ProviderConfig", TEAM, "Secret"),
        fleet.configuration(KUBERNETES_LEGACY, "ProviderConfig", None, "Secret"),
    ):
        with pytest.raises(kubeapi.Refused, match="may not read the Secret that"):
            configurer.create(document, dry_run=True)
    reads = rule("", "secrets", verbs=("get",), names=("mine",))
    grant(plane, people.CONFIGURER.user, "reads-one", reads, namespace=TEAM)
    mine = fleet.credentials("mine", TEAM, "mine")
    assert kubeapi.until(lambda: configurer.create(mine, dry_run=True), seconds=30, what="the role")
    own = fleet.configuration(KUBERNETES, "ProviderConfig", TEAM, "Secret")
    assert configurer.create(own, dry_run=True)
    with pytest.raises(kubeapi.Refused, match="may not read the Secret that"):
        configurer.create(elsewhere, dry_run=True)


def test_provider_helm_takes_the_secret_of_the_configurations_namespace_whatever_is_written(
    plane: controlplane.Plane,
) -> None:
    """Its own policy refuses every kubeconfig, and is not applied everywhere."""
    binding = ("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicyBinding", "modelplane-provider-helm")
    kept = plane.api.get(*binding)
    configurer = people.CONFIGURER.on(plane)
    reads = rule("", "secrets", verbs=("get",), names=("mine",))
    grant(plane, people.CONFIGURER.user, "reads-one", reads, namespace=TEAM)
    elsewhere = fleet.configuration(HELM, "ProviderConfig", OTHER, "Secret")
    elsewhere["spec"]["credentials"]["secretRef"]["namespace"] = TEAM
    own = fleet.configuration(HELM, "ProviderConfig", TEAM, "Secret")
    injected = fleet.configuration(HELM, "ProviderConfig", TEAM, "InjectedIdentity")
    try:
        plane.api.request("DELETE", plane.api.path(*binding[:2], None, binding[2]))
        assert kubeapi.until(lambda: configurer.create(own, dry_run=True), seconds=30, what="the policy to be gone")
        with pytest.raises(kubeapi.Refused, match="the Secret of this namespace that the provider takes"):
            configurer.create(elsewhere, dry_run=True)
        with pytest.raises(kubeapi.Refused, match="by which a provider acts as itself"):
            configurer.create(injected, dry_run=True)
    finally:
        plane.api.apply({key: kept[key] for key in ("apiVersion", "kind", "spec")} | {"metadata": {"name": binding[2]}})
    kubeapi.until(lambda: _is_refused(configurer, own), seconds=30, what="the policy to be back")


def _is_refused(api: kubeapi.Api, document: Any) -> bool:
    try:
        api.create(document, dry_run=True)
    except kubeapi.Refused:
        return True
    return False
