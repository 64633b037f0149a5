"""The permissions we ship allow what is composed and rendered and nothing more; nobody may write what is composed."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from modelplane.api import catalogue
from modelplane.render.schedulers import selection as schedulers
from modelplane.workload.tenancy import Tenants
from modelplane_cli.documents import live
from modelplane_functions import allowed_namespaces
from tests.support import composed as composed_objects
from tests.support import permissions, replicas
from tests.support.composed import examples, identity

REPOSITORY = Path(__file__).resolve().parents[3]
SHIPPED = permissions.documents(permissions.CONTROL_PLANE)
OURS = "modelplane.ai"
# Granted by Crossplane itself: its own kinds, ours, and those of its providers.
GRANTED = re.compile(r"(^|\.)(crossplane\.io|modelplane\.ai)$")
READ = frozenset({"get", "list", "watch"})
WRITE = frozenset({"create", "update", "patch", "delete", "deletecollection"})
COMPOSE = READ | {"create", "update", "patch", "delete"}
# The verbs that provider-kubernetes needs for each management policy of an Object; empty is all of them.
POLICIES = {"Observe": READ, "Create": {"create", "patch"}, "Update": {"patch"}, "Delete": {"delete"}}


CLOUD_GROUPS = ("aws.m.upbound.io", "gcp.m.upbound.io", "azure.m.upbound.io")


@functools.cache
def composed() -> frozenset[tuple[str, str]]:
    """Return group and plural of every object that a composer composes, in a golden outcome or of an example.

    Those of the providers of clouds are left out: Crossplane's RBAC manager gives it the kinds of each provider that is
    installed, and they stand in the namespace of the platform, which no tenant may write.
    """
    kinds = ((group, kind) for group, kind in composed_objects.kinds() if not group.endswith(CLOUD_GROUPS))
    return frozenset((group, plural(kind)) for group, kind in kinds)


@functools.cache
def remote() -> dict[tuple[str, str], frozenset[str]]:
    """Return what is done to every kind on a workload cluster: the verbs of the Objects of all examples."""
    found: dict[tuple[str, str], set[str]] = {}
    for settled in examples():
        for one in settled.objects():
            # A stack is installed by an administrator of the cluster, with credentials of its own.
            if identity(one) != ("kubernetes.m.crossplane.io", "Object") or is_of_a_stack(one):
                continue
            group, kind = identity(one["spec"]["forProvider"]["manifest"])
            verbs = found.setdefault((group, plural(kind)), set())
            for policy in one["spec"].get("managementPolicies", POLICIES):
                verbs |= POLICIES[policy]
            for looked_at in queue_of(one["spec"]["forProvider"]["manifest"]):
                found.setdefault(looked_at, set()).update(READ)
    return {key: frozenset(verbs) for key, verbs in found.items()}


def queue_of(manifest: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return group and plural of what is read of the queue of an object, while its pods wait."""
    queue = schedulers.queue(replicas.replica(), [manifest])
    read = [] if queue is None else [identity(queue.resource), identity(queue.entries)]
    return [(group, plural(kind)) for group, kind in read]


def is_of_a_stack(resource: Mapping[str, Any]) -> bool:
    """Return whether a ServingStack composes an object."""
    return any(owner["kind"] == "ServingStack" for owner in resource["metadata"]["ownerReferences"])


def handed_on() -> permissions.Allowed:
    """Return what the Roles on a workload cluster grant: only who holds the same can write them."""
    kinds = ("kubernetes.m.crossplane.io", "Object")
    objects = (one for settled in examples() for one in settled.objects() if identity(one) == kinds)
    manifests = (one["spec"]["forProvider"]["manifest"] for one in objects)
    return permissions.allowed(one for one in manifests if one["kind"] == "Role")


def plural(kind: str) -> str:
    """Return the resource name of a kind, as all of these projects form it."""
    lower = kind.lower()
    return re.sub("([^aeiou])y$", r"\1ie", lower + "e" if re.search("(s|sh|ch|x)$", lower) else lower) + "s"


def scoped(scope: str) -> frozenset[str]:
    """Return the plurals of our kinds of a scope."""
    definitions = [catalogue.definition(kind)["spec"] for kind in catalogue.kinds()]
    return frozenset(str(one["names"]["plural"]) for one in definitions if one["scope"] == scope)


def role(name: str) -> permissions.Allowed:
    return permissions.allowed([permissions.of_kind(SHIPPED, "ClusterRole")[name]])


def person(name: str) -> permissions.Allowed:
    return permissions.allowed(permissions.aggregated(SHIPPED, name))


def writable(allowed: permissions.Allowed) -> frozenset[tuple[str, str]]:
    return frozenset(key for key, verbs in allowed.items() if verbs - READ)


# --- Crossplane -------------------------------------------------------------------------------------------------------


def test_crossplane_may_write_every_composed_kind_and_no_other() -> None:
    shipped = role("modelplane-composed-kinds")
    foreign = {one for one in composed() if not GRANTED.search(one[0])}
    assert ("gateway.envoyproxy.io", "securitypolicies") in foreign, "nothing is proved: no outcome holds one"
    wanted = dict.fromkeys(foreign, COMPOSE)
    assert shipped == wanted | {(OURS, "composed"): frozenset({"create", "update", "delete"})}


def test_crossplane_may_read_where_cert_manager_publishes_and_write_nothing_of_it() -> None:
    assert role("modelplane-required-certificates") == {("cert-manager.io", "certificaterequests"): READ}


def test_crossplane_may_read_the_foreign_kind_that_is_required_and_write_nothing_of_it() -> None:
    wanted = allowed_namespaces.requirements((Tenants(labels=(("tier", "prod"),)),), ("ml-team",)).values()
    kinds = {(one.api_version.rpartition("/")[0], plural(one.kind)) for one in wanted}
    assert role("modelplane-required-kinds") == dict.fromkeys(kinds, READ)


@pytest.mark.parametrize(
    "name", ["modelplane-composed-kinds", "modelplane-required-kinds", "modelplane-required-certificates"]
)
def test_crossplanes_role_has_its_label(name: str) -> None:
    labels = permissions.of_kind(SHIPPED, "ClusterRole")[name]["metadata"]["labels"]
    assert labels == {"rbac.crossplane.io/aggregate-to-crossplane": "true"}


def test_an_administrator_is_made_only_where_envoy_gateway_is_installed() -> None:
    assert permissions.of_kind(SHIPPED, "ClusterRoleBinding").keys() == {"modelplane-provider-kubernetes"}
    assert role("modelplane-provider-kubernetes") == {("kubernetes.m.crossplane.io", "objects"): frozenset({"delete"})}
    optional = permissions.of_kind(permissions.documents(permissions.ENVOY_GATEWAY), "ClusterRoleBinding")
    assert [one["roleRef"]["name"] for one in optional.values()] == ["cluster-admin"]


def test_an_administrator_of_a_cluster_is_made_for_its_stack_alone() -> None:
    found = permissions.documents(permissions.EXAMPLES / "rbac-workload-stack.yaml")
    (binding,) = permissions.of_kind(found, "ClusterRoleBinding").values()
    assert binding["roleRef"]["name"] == "cluster-admin"
    assert [one["name"] for one in binding["subjects"]] == ["modelplane-stack"], "not the account of the workloads"
    least = permissions.of_kind(permissions.documents(*permissions.WORKLOAD), "ClusterRoleBinding").values()
    assert "cluster-admin" not in {one["roleRef"]["name"] for one in least}


def test_no_role_allows_a_wildcard() -> None:
    roles = [*SHIPPED, *permissions.documents(*permissions.WORKLOAD)]
    allowed = permissions.allowed(one for one in roles if one["kind"] in {"ClusterRole", "Role"})
    assert [key for key, verbs in allowed.items() if "*" in {*verbs, key[0], key[1].split("/")[0]}] == []


def test_the_function_gains_nothing_from_where_it_runs() -> None:
    """`package-runtime` is the container that Crossplane makes; what is written here is merged into it."""
    found = permissions.of_kind(SHIPPED, "DeploymentRuntimeConfig")["modelplane-function"]
    assert found["apiVersion"] == "pkg.crossplane.io/v1beta1"
    assert found["spec"].keys() == {"deploymentTemplate"}, "its service account has only what Crossplane gives it"
    template = found["spec"]["deploymentTemplate"]["spec"]["template"]
    (container,) = template["spec"]["containers"]
    assert template == {"spec": {"automountServiceAccountToken": False, "containers": [container]}}
    assert container == {
        "name": "package-runtime",
        "args": ["--metrics-address=:8080"],
        "securityContext": {
            "runAsNonRoot": True,
            "readOnlyRootFilesystem": True,
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
            "seccompProfile": {"type": "RuntimeDefault"},
        },
    }


# --- people -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", permissions.PERSONS)
def test_nobody_writes_what_is_composed(name: str) -> None:
    """These may be composed or not: admission.yaml tells one from the other."""
    both = {(OURS, one) for one in ("modeldeployments", "modelendpoints", "modelservices")}
    assert writable(person(name)) & composed() <= both
    assert [
        key for key in writable(person(name)) if key[1].endswith(("/status", "/finalizers")) or key[0] != OURS
    ] == []


def test_a_tenant_writes_the_namespaced_kinds_but_the_replica() -> None:
    wanted = {(OURS, one) for one in scoped("Namespaced") - {"modelreplicas", "modelcachecopies"}}
    assert writable(person("modelplane-tenant")) == wanted | {(OURS, "modeldeployments/scale")}
    assert all(person("modelplane-tenant")[one] == READ | WRITE for one in wanted)


def test_a_tenant_sees_its_namespace_and_nothing_else() -> None:
    wanted = {(OURS, one): READ for one in scoped("Namespaced")} | {
        (OURS, "modeldeployments/scale"): frozenset({"get"})
    }
    assert person("modelplane-viewer") == wanted
    assert person("modelplane-tenant").keys() == wanted.keys()


COMPOSED_ALONE = {"cloudclusters", "cloudnetworks", "cloudnodepools", "servingstacks"}
"""Parts of a cluster: people see them, and an InferenceCluster writes them."""


def test_the_platform_writes_the_hardware_too() -> None:
    hardware = {(OURS, one) for one in scoped("Cluster") - COMPOSED_ALONE}
    assert writable(person("modelplane-platform")) == writable(person("modelplane-tenant")) | hardware


def test_who_sees_the_fleet_may_read_all_that_the_command_reads_and_no_secret() -> None:
    sees = person("modelplane-fleet-viewer")
    assert writable(sees) == frozenset()
    command = {(group, name) for name, _, group in (one.partition(".") for one in live.COMPOSED)}
    ours = {(OURS, one) for one in scoped("Namespaced") | scoped("Cluster")} | {(OURS, "modeldeployments/scale")}
    context = {
        ("cert-manager.io", "certificaterequests"),
        ("", "events"),
        ("", "namespaces"),
        ("kubernetes.m.crossplane.io", "providerconfigusages"),
    }
    assert sees.keys() == command | ours | context


def test_the_command_reads_all_that_is_composed() -> None:
    command = {(group, name) for name, _, group in (one.partition(".") for one in live.COMPOSED)}
    unread = {("", "configmaps")}
    assert command == {one for one in composed() if one[0] != OURS} - unread


def test_kubernetes_own_roles_get_to_see_and_not_to_write() -> None:
    prefix = "rbac.authorization.k8s.io/aggregate-to-"
    given = {
        (name, label.removeprefix(prefix))
        for name, one in permissions.of_kind(SHIPPED, "ClusterRole").items()
        for label in one["metadata"].get("labels", {})
        if label.startswith(prefix)
    }
    assert given == {("modelplane:models:view", "view")}


# --- policies ---------------------------------------------------------------------------------------------------------


def test_the_policy_about_composed_objects_names_every_composed_kind_and_no_other() -> None:
    policy = permissions.of_kind(SHIPPED, "ValidatingAdmissionPolicy")["modelplane-composed"]
    judged = list(permissions.matched(policy))
    assert all(operations == {"CREATE", "UPDATE", "DELETE"} for _, _, operations in judged)
    assert {(group, resource) for group, resource, _ in judged} == composed()


def test_the_policies_about_providers_judge_each_kind_that_their_accounts_serve() -> None:
    policies = permissions.of_kind(SHIPPED, "ValidatingAdmissionPolicy")
    groups = ("kubernetes.m.crossplane.io", "helm.m.crossplane.io", "kubernetes.crossplane.io", "helm.crossplane.io")
    configurations = {(group, "providerconfigs") for group in groups}
    configurations |= {(group, "clusterproviderconfigs") for group in groups if ".m." in group}
    wanted = {
        "modelplane-provider-secrets": configurations,
        "modelplane-object-references": {(group, "objects") for group in groups if group.startswith("kubernetes")},
        "modelplane-release-values": {(group, "releases") for group in groups if group.startswith("helm")},
    }
    for name, kinds in wanted.items():
        judged = list(permissions.matched(policies[name]))
        assert {(group, resource) for group, resource, _ in judged} == kinds
        assert all(operations == {"CREATE", "UPDATE"} for _, _, operations in judged)
    (helm,) = permissions.of_kind(
        permissions.documents(permissions.ENVOY_GATEWAY), "ValidatingAdmissionPolicy"
    ).values()
    of_helm = {one for one in configurations if one[0].startswith("helm")}
    assert {one[:2] for one in permissions.matched(helm)} == of_helm | {("helm.m.crossplane.io", "releases")}


def test_every_policy_is_bound_and_denies() -> None:
    found = [*SHIPPED, *permissions.documents(permissions.ENVOY_GATEWAY)]
    policies = permissions.of_kind(found, "ValidatingAdmissionPolicy")
    bindings = permissions.of_kind(found, "ValidatingAdmissionPolicyBinding").values()
    assert {one["spec"]["policyName"] for one in bindings} == policies.keys() != set()
    assert all(one["spec"]["validationActions"] == ["Deny"] for one in bindings)
    with_parameter = {name for name, one in policies.items() if "paramKind" in one["spec"]}
    assert {name for name, one in policies.items() if one["spec"]["failurePolicy"] != "Fail"} == with_parameter


# --- the workload cluster ---------------------------------------------------------------------------------------------


def test_a_workload_cluster_grants_what_is_done_there_and_nothing_more() -> None:
    found = permissions.documents(*permissions.WORKLOAD)
    bound = permissions.of_kind(found, "ClusterRoleBinding").values()
    roles = permissions.of_kind(found, "ClusterRole")
    assert list(roles) == [one["roleRef"]["name"] for one in bound]
    wanted = {key: verbs | remote().get(key, frozenset()) for key, verbs in handed_on().items()}
    assert permissions.allowed(roles.values()) == {**remote(), **wanted}


def test_a_policy_of_workload_clusters_judges_every_kind_that_their_role_may_write() -> None:
    shipped = permissions.documents(*permissions.WORKLOAD)
    written = {
        key for key, verbs in permissions.allowed(permissions.of_kind(shipped, "ClusterRole").values()).items()
        if verbs & WRITE
    }  # fmt: skip
    policies = permissions.of_kind(shipped, "ValidatingAdmissionPolicy")
    judged = {(group, one): how for policy in policies.values() for group, one, how in permissions.matched(policy)}
    assert written == judged.keys()
    for key, operations in judged.items():
        assert operations >= {"CREATE", "UPDATE"} | ({"DELETE"} if key != ("", "namespaces") else set())
