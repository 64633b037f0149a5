"""The admission policies: attacks that are refused whoever makes them, and what must go on working.

Every attack is made by a person with Crossplane's own role for people, whom RBAC lets do all of it: only a policy can
refuse.
"""

from __future__ import annotations

import copy
from typing import Any

import pytest

from tests.conformance.permissions import fleet, people, providers
from tests.conformance.permissions.acts import DRY, Act, change, create, delete
from tests.conformance.permissions.fleet import ENVOY, KUBERNETES, ROUTING
from tests.conformance.permissions.people import Person
from tests.support import controlplane, installation, kubeapi, permissions

OURS = "modelplane.ai/v1alpha1"
POLICY = "ValidatingAdmissionPolicy"
SHIPPED = permissions.documents(permissions.CONTROL_PLANE, permissions.ENVOY_GATEWAY)
POLICIES = sorted(permissions.of_kind(SHIPPED, POLICY))
# Each has a test of its own, with its message; they depend on what another object says, or on who asks.
BY_THEMSELVES = {"modelplane-adopted-credentials", "modelplane-gateway-routes", "modelplane-release-values"}


def forged(document: Any) -> Any:
    owner = {"apiVersion": OURS, "kind": "ModelReplica", "metadata": {"name": "llama-0", "uid": "0-0"}}
    return fleet.owned(document, owner)


GROWN = [{**fleet.replica("llama-0")["spec"]["devices"][0], "count": 9}]
REPLICA = (OURS, "ModelReplica", "llama-0")
ENDPOINT = (OURS, "ModelEndpoint", "llama-0")
OBJECT = (KUBERNETES, "Object", "llama-0-service")
COLLECTION = (KUBERNETES, "ObservedObjectCollection", "llama-0-pods")
MEMBER = (KUBERNETES, "Object", "llama-0-pods-0123456")
REFERENCES = {"resourceRefs": [{"apiVersion": "v1", "kind": "Secret", "name": "a"}]}
PAUSED = {"metadata": {"annotations": {"crossplane.io/paused": "true"}}}
OWN_CONFIG = {"spec": {"providerConfigRef": {"kind": "ProviderConfig", "name": "own"}}}
SYSTEM = people.SYSTEM

ATTACKS: dict[str, Act] = {
    # ModelReplicas: admission believes what they say.
    "replica-by-hand": create(fleet.replica("by-hand")),
    "replica-by-hand-with-an-owner": create(forged(fleet.replica("by-hand"))),
    "replica-grows": change(*REPLICA, {"spec": {"devices": GROWN}}),
    "replica-loses-its-label": change(*REPLICA, {"metadata": {"labels": {"modelplane.ai/cluster": None}}}),
    "replica-says-it-runs": change(*REPLICA, {"status": {"phase": "Running"}}),
    "replica-loses-its-owner": change(*REPLICA, {"metadata": {"ownerReferences": None}}),
    "replica-is-paused": change(*REPLICA, PAUSED),
    "replica-is-deleted": delete(*REPLICA),
    # The statuses that decide.
    "ledger": change(OURS, "InferenceCluster", fleet.CLUSTER, {"status": {"admitted": []}}, namespace=None),
    "gateway-address": change(OURS, "InferenceGateway", fleet.GATEWAY, {"status": {"address": "a"}}, namespace=None),
    "deployment-status": change(OURS, "ModelDeployment", "llama", {"status": {"replicas": 9}}),
    "endpoint-status": change(*ENDPOINT, {"status": {"conditions": []}}),
    "remote-status": change(*OBJECT, {"status": {"atProvider": {"manifest": {"status": {}}}}}),
    # What is composed.
    "endpoint-elsewhere": change(*ENDPOINT, {"spec": {"url": "https://other.example.com"}}),
    "endpoint-with-a-forged-owner": create(forged(fleet.ours("ModelEndpoint", "forged"))),
    "deployment-of-an-inference": change(OURS, "ModelDeployment", "qwen", {"spec": {"replicas": 7}}),
    "object-runs-something-else": change(*OBJECT, {"spec": {"forProvider": {"manifest": {"data": {"a": "b"}}}}}),
    "object-is-paused": change(*OBJECT, PAUSED),
    "object-with-own-credentials": change(*OBJECT, OWN_CONFIG),
    "object-is-deleted": delete(*OBJECT),
    "credentials-elsewhere": change(
        KUBERNETES,
        "ClusterProviderConfig",
        fleet.CREDENTIALS,
        {"spec": {"credentials": {"secretRef": {"name": "other"}}}},
        namespace=None,
    ),
    "credentials-are-deleted": delete(KUBERNETES, "ClusterProviderConfig", fleet.CREDENTIALS, None),
    "backend-elsewhere": change(ENVOY, "Backend", "llama-0", {"spec": {"endpoints": None}}),
    "route-elsewhere": change(ROUTING, "HTTPRoute", "llama", {"spec": {"hostnames": ["other.example.com"]}}),
    "route-is-deleted": delete(ROUTING, "HTTPRoute", "llama"),
    "composed-by-a-reference": change(OURS, "ModelService", "llama", {"spec": {"crossplane": REFERENCES}}),
    # Whose credentials.
    "object-on-a-cluster": create(fleet.wrapped("mine", fleet.CREDENTIALS)),
    "object-moves-to-a-cluster": change(
        KUBERNETES,
        "Object",
        "of-the-team",
        {"spec": {"providerConfigRef": {"kind": "ClusterProviderConfig", "name": fleet.CREDENTIALS}}},
    ),
    "credentials-of-a-cluster-to-come": create(fleet.credentials("modelplane-next")),
    "collection-on-a-cluster": create(fleet.collection("mine", fleet.CREDENTIALS)),
    "collection-of-other-pods": change(*COLLECTION, {"spec": {"observeObjects": {"namespace": people.OTHER}}}),
    "member-of-a-collection-by-hand": create(fleet.member("mine", fleet.CREDENTIALS)),
    "member-that-writes": change(*MEMBER, {"spec": {"managementPolicies": ["*"]}}),
    "pods-by-hand": change(*MEMBER, {"status": {"atProvider": {"manifest": {"status": {}}}}}),
    "collection-status": change(*COLLECTION, {"status": {"conditions": []}}),
    "release-as-an-administrator": create(fleet.release("mine", SYSTEM)),
    **providers.ATTACKS,
}


@pytest.mark.parametrize("attack", ATTACKS)
def test_refused_by_policy_where_a_role_allows_it(plane: controlplane.Plane, attack: str) -> None:
    with pytest.raises(kubeapi.Refused) as refused:
        ATTACKS[attack](people.CROSSPLANE_EDITOR.on(plane))
    assert POLICY in refused.value.message, refused.value


def test_every_policy_is_needed_by_an_attack(plane: controlplane.Plane) -> None:
    named = set()
    for attack in ATTACKS.values():
        with pytest.raises(kubeapi.Refused) as refused:
            attack(people.CROSSPLANE_EDITOR.on(plane))
        named.add(refused.value.message.split(f"{POLICY} '")[1].split("'")[0])
    assert sorted(named | BY_THEMSELVES) == POLICIES


@pytest.mark.parametrize("attack", ATTACKS)
@pytest.mark.parametrize("person", [people.TENANT, people.KUBERNETES_EDITOR, people.PLATFORM], ids=lambda one: one.name)
def test_refused_to_the_persons_we_have_roles_for(plane: controlplane.Plane, person: Person, attack: str) -> None:
    with pytest.raises(kubeapi.Refused) as refused:
        ATTACKS[attack](person.on(plane))
    assert refused.value.status in {403, 422}


@pytest.mark.parametrize("attack", sorted(ATTACKS.keys() - {"remote-status", "pods-by-hand", "collection-status"}))
def test_crossplane_may(plane: controlplane.Plane, attack: str) -> None:
    """What is refused to people is what composing takes; a schema may still refuse it."""
    try:
        ATTACKS[attack](people.CROSSPLANE.on(plane))
    except kubeapi.Refused as refused:
        assert POLICY not in refused.message, refused
        assert refused.status != 403, refused


# --- what goes on working ---------------------------------------------------------------------------------------------


def own(kind: str, name: str = "own") -> Any:
    return fleet.ours(kind, name)


FINE: dict[str, tuple[Person, Act]] = {
    **{
        f"tenant-writes-{kind}": (people.TENANT, create(own(kind)))
        for kind in ("ModelDeployment", "ModelService", "ModelEndpoint", "LLMInference")
    },
    "tenant-changes": (people.TENANT, change(OURS, "ModelDeployment", "llama", {"spec": {"replicas": 3}})),
    "tenant-pauses-its-own": (people.TENANT, change(OURS, "ModelDeployment", "llama", PAUSED)),
    "tenant-deletes": (people.TENANT, delete(OURS, "ModelDeployment", "llama")),
    "platform-adds-a-cluster": (people.PLATFORM, create(own("InferenceCluster", "next"))),
    "platform-drains": (
        people.PLATFORM,
        change(OURS, "InferenceCluster", fleet.CLUSTER, {"spec": {"taints": []}}, namespace=None),
    ),
    "object-with-own-configuration": (people.CROSSPLANE_EDITOR, create(fleet.wrapped("b", "own", "ProviderConfig"))),
    "object-with-a-shared-configuration": (people.CROSSPLANE_EDITOR, create(fleet.wrapped("b", "shared"))),
    "own-object-changes": (
        people.CROSSPLANE_EDITOR,
        change(KUBERNETES, "Object", "of-the-team", {"spec": {"forProvider": {"manifest": {"data": {"a": "b"}}}}}),
    ),
    "route-on-another-gateway": (people.CROSSPLANE_EDITOR, create(fleet.route("b", gateway="another"))),
    "release-with-own-configuration": (people.CROSSPLANE_EDITOR, create(fleet.release("b", people.TEAM))),
    **providers.FINE,
    "provider-notes-what-it-created": (
        people.PROVIDER,
        change(
            *OBJECT,
            {
                "metadata": {
                    "annotations": {"crossplane.io/external-create-pending": "now", "crossplane.io/external-name": "a"},
                    "finalizers": ["finalizer.managedresource.crossplane.io"],
                }
            },
        ),
    ),
    "provider-says-what-it-saw": (people.PROVIDER, change(*OBJECT, {"status": {"conditions": []}})),
    "provider-makes-a-member": (people.PROVIDER, create(fleet.member("b", fleet.CREDENTIALS))),
    "provider-says-what-pods-it-saw": (people.PROVIDER, change(*MEMBER, {"status": {"conditions": []}})),
    "provider-says-that-it-listed-pods": (people.PROVIDER, change(*COLLECTION, {"status": {"conditions": []}})),
    "provider-deletes-a-member": (people.PROVIDER, delete(*MEMBER)),
    "garbage-collector-deletes": (people.GARBAGE_COLLECTOR, delete(*REPLICA)),
    "garbage-collector-deletes-in-the-foreground": (
        people.GARBAGE_COLLECTOR,
        change(*REPLICA, {"metadata": {"finalizers": None, "ownerReferences": None}}),
    ),
    "namespace-controller-deletes": (people.NAMESPACE_CONTROLLER, delete(*OBJECT)),
}


@pytest.mark.parametrize("name", FINE)
def test_allowed(plane: controlplane.Plane, name: str) -> None:
    person, act = FINE[name]
    act(person.on(plane))


@pytest.mark.parametrize("policies", [("*",), ("Observe", "Create"), ("Observe", "Delete")], ids=" ".join)
def test_a_provider_makes_no_member_that_writes(plane: controlplane.Plane, policies: tuple[str, ...]) -> None:
    with pytest.raises(kubeapi.Refused, match="are for what Modelplane composes"):
        people.PROVIDER.on(plane).create(fleet.member("b", fleet.CREDENTIALS, *policies), dry_run=True)
    with pytest.raises(kubeapi.Refused, match="are for what Modelplane composes"):
        people.PROVIDER.on(plane).create(fleet.wrapped("b", fleet.CREDENTIALS), dry_run=True)


def test_a_tenant_scales_what_an_inference_composed(plane: controlplane.Plane) -> None:
    path = plane.api.path(OURS, "ModelDeployment", people.TEAM, "qwen") + "/scale"
    scaled = people.TENANT.on(plane).request("PATCH", path, {"spec": {"replicas": 2}}, content=kubeapi.MERGE, query=DRY)
    assert scaled["spec"]["replicas"] == 2


def test_a_tenant_replaces_a_document_without_what_crossplane_wrote_into_it(plane: controlplane.Plane) -> None:
    """`kubectl replace` sends the file as it is: the references are gone, and Crossplane writes them again."""
    written = copy.deepcopy(fleet.ours("ModelService", "replaced"))
    stored = plane.api.apply(written)
    plane.api.merge(stored, {"spec": {"crossplane": REFERENCES}})
    stored = plane.api.get(OURS, "ModelService", "replaced", people.TEAM)
    assert stored["spec"]["crossplane"]["resourceRefs"]
    written["metadata"]["resourceVersion"] = stored["metadata"]["resourceVersion"]
    tenant = people.TENANT.on(plane)
    tenant.request("PUT", tenant.path_of(written), written, query=DRY)
    # An update that leaves them as they are is nobody's business either.
    change(OURS, "ModelService", "replaced", {"metadata": {"labels": {"a": "b"}}})(tenant)
    with pytest.raises(kubeapi.Refused, match="resourceRefs is Crossplane's"):
        more = {"resourceRefs": [*REFERENCES["resourceRefs"], {"apiVersion": "v1", "kind": "Secret", "name": "b"}]}
        change(OURS, "ModelService", "replaced", {"spec": {"crossplane": more}})(tenant)


# --- who may use what another kind names ------------------------------------------------------------------------------


@pytest.fixture
def narrow(plane: controlplane.Plane) -> kubeapi.Api:
    """A user of the team who may write Objects and routes in its namespace, and of ours only what a tenant may."""
    rbac = {"apiVersion": "rbac.authorization.k8s.io/v1"}
    groups = ["kubernetes.m.crossplane.io", "gateway.networking.k8s.io"]
    rules = [{"apiGroups": groups, "resources": ["objects", "httproutes"], "verbs": ["*"]}]
    metadata = {"name": "narrow", "namespace": people.TEAM}
    reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "narrow"}
    subjects = [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "narrow"}]
    plane.api.apply({**rbac, "kind": "Role", "metadata": metadata, "rules": rules})
    plane.api.apply({**rbac, "kind": "RoleBinding", "metadata": metadata, "roleRef": reference, "subjects": subjects})
    user = plane.api.impersonating("narrow")
    kubeapi.until(lambda: user.create(fleet.wrapped("b", "own"), dry_run=True), seconds=30, what="the role")
    return user


def refused(api: kubeapi.Api, document: Any) -> str:
    """Return how a document is refused. It takes a while until a new kind is known there."""

    def ask() -> str:
        try:
            api.create(document, dry_run=True)
        except kubeapi.Refused as refusal:
            return refusal.message
        return ""

    return kubeapi.until(ask, seconds=120, what="the policy to know the kind of its parameter")


def test_an_adopted_configuration_is_used_by_crossplane_and_the_platform(
    plane: controlplane.Plane, narrow: kubeapi.Api
) -> None:
    words = refused(narrow, fleet.wrapped("b", fleet.ADOPTED))
    assert "an InferenceCluster uses this provider configuration" in words
    assert narrow.create(fleet.wrapped("b", fleet.ADOPTED, "ProviderConfig"), dry_run=True)
    for person in (people.CROSSPLANE, people.CROSSPLANE_EDITOR):
        assert person.on(plane).create(fleet.wrapped("b", fleet.ADOPTED), dry_run=True)


@pytest.mark.parametrize("namespace", [SYSTEM, people.TEAM], ids=["the-fleets", "of-the-same-name"])
def test_a_route_on_the_fleets_gateway_is_composed(
    plane: controlplane.Plane, narrow: kubeapi.Api, namespace: str
) -> None:
    if namespace == people.TEAM:
        assert narrow.create(fleet.route("b", gateway=fleet.GATEWAY, namespace=None), dry_run=True)
        return
    assert "write a ModelService" in refused(narrow, fleet.route("b", gateway=fleet.GATEWAY))
    assert people.CROSSPLANE_EDITOR.on(plane).create(fleet.route("b", gateway=fleet.GATEWAY), dry_run=True)


def test_a_route_on_the_relay_is_composed(plane: controlplane.Plane, narrow: kubeapi.Api) -> None:
    assert "write a ModelService" in refused(narrow, fleet.route("b", gateway=fleet.RELAY))
    assert narrow.create(fleet.route("b", gateway=fleet.RELAY, namespace=None), dry_run=True)
    assert people.CROSSPLANE_EDITOR.on(plane).create(fleet.route("b", gateway=fleet.RELAY), dry_run=True)


def test_the_ai_gateway_puts_routes_of_what_is_composed_on_the_fleets_gateway(
    plane: controlplane.Plane, narrow: kubeapi.Api
) -> None:
    """Of the AIGatewayRoutes that it reads, those on the fleet's gateway are composed."""
    installation.definitions(plane, "ai-gateway")
    for one in permissions.documents(permissions.AI_GATEWAY):
        plane.api.apply(one)
    rbac = {"apiVersion": "rbac.authorization.k8s.io/v1"}
    rules = [
        {"apiGroups": ["aigateway.envoyproxy.io"], "resources": ["aigatewayroutes"], "verbs": ["*"]},
        {"apiGroups": ["gateway.networking.k8s.io"], "resources": ["httproutes"], "verbs": ["*"]},
    ]
    account = {"kind": "ServiceAccount", "name": "ai-gateway-controller", "namespace": "envoy-ai-gateway-system"}
    user = {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "narrow"}
    reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "routes"}
    metadata = {"name": "routes", "namespace": people.TEAM}
    plane.api.apply({**rbac, "kind": "Role", "metadata": metadata, "rules": rules})
    bound = {"metadata": metadata, "roleRef": reference, "subjects": [account, user]}
    plane.api.apply({**rbac, "kind": "RoleBinding", **bound})
    ai_gateway = plane.api.impersonating("system:serviceaccount:envoy-ai-gateway-system:ai-gateway-controller")
    kubeapi.until(
        lambda: ai_gateway.create(fleet.route("b", gateway=fleet.GATEWAY), dry_run=True), seconds=30, what="the role"
    )
    assert "write a ModelService" in refused(narrow, fleet.route("b", gateway=fleet.GATEWAY))
    for api in (narrow, ai_gateway):
        assert "write a ModelService" in refused(api, fleet.ai_route("b", gateway=fleet.GATEWAY))
    assert narrow.create(fleet.ai_route("b", gateway="own", namespace=None), dry_run=True)
    assert people.CROSSPLANE.on(plane).create(fleet.ai_route("b", gateway=fleet.GATEWAY), dry_run=True)


def test_routes_are_taken_while_our_kinds_are_not_installed(routes_before: str | None) -> None:
    assert routes_before is None


def test_kubernetes_finds_nothing_wrong_in_the_expressions(plane: controlplane.Plane) -> None:
    """A policy whose parameter's kind is not served yet is looked at again when it changes."""
    plane.controller_manager("validatingadmissionpolicy-status-controller")
    api_version, kind = "admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicy"

    def checked() -> list[Any]:
        found = plane.api.all_of(api_version, kind)
        assert all("typeChecking" in one.get("status", {}) for one in found), [one["metadata"]["name"] for one in found]
        return found

    def patient() -> list[Any]:
        try:
            return checked()
        except AssertionError as error:
            raise OSError(str(error)) from error

    found = kubeapi.until(patient, seconds=120, what="the type checker")
    warnings = {
        one["metadata"]["name"]: one["status"]["typeChecking"].get("expressionWarnings")
        for one in found
        if one["metadata"]["name"].startswith("modelplane-")
    }
    assert warnings == dict.fromkeys(POLICIES)


# --- scalers ----------------------------------------------------------------------------------------------------------

KEDA, SCALED_OBJECT = "keda.sh/v1alpha1", "ScaledObject"
LABELLED = {"metadata": {"labels": {"scaledobject.keda.sh/name": "llama"}, "finalizers": ["finalizer.keda.sh"]}}
PAUSE = {"metadata": {"annotations": {"autoscaling.keda.sh/paused": "true"}}}


@pytest.fixture
def keda(plane: controlplane.Plane) -> kubeapi.Api:
    """Who writes scalers as KEDA does, and holds nothing of ours."""
    rbac = {"apiVersion": "rbac.authorization.k8s.io/v1"}
    rules = [
        {"apiGroups": ["keda.sh"], "resources": ["scaledobjects"], "verbs": ["*"]},
        {"apiGroups": ["autoscaling"], "resources": ["horizontalpodautoscalers"], "verbs": ["*"]},
    ]
    reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "keda"}
    subjects = [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "keda"}]
    metadata = {"name": "keda"}
    plane.api.apply({**rbac, "kind": "ClusterRole", "metadata": metadata, "rules": rules})
    plane.api.apply(
        {**rbac, "kind": "ClusterRoleBinding", "metadata": metadata, "roleRef": reference, "subjects": subjects}
    )
    owner = plane.api.get(OURS, "ModelDeployment", "llama", people.TEAM)
    for document in (fleet.scaled_object("llama"), fleet.autoscaler("llama")):
        plane.api.apply(fleet.owned(document, {"apiVersion": OURS, "kind": "ModelDeployment", **owner}))
    user = plane.api.impersonating("keda")
    kubeapi.until(lambda: user.create(fleet.scaled_object("b"), dry_run=True), seconds=30, what="the role")
    return user


@pytest.mark.parametrize("patch", [LABELLED, PAUSE], ids=["labelled by KEDA", "paused"])
def test_a_composed_scaler_is_labelled_and_paused(keda: kubeapi.Api, patch: Any) -> None:
    assert change(KEDA, SCALED_OBJECT, "llama", patch)(keda)


SCALER_ATTACKS = {
    "replicas": change(KEDA, SCALED_OBJECT, "llama", {"spec": {"maxReplicaCount": 900}}),
    "its label": change(KEDA, SCALED_OBJECT, "llama", {"metadata": {"labels": {"modelplane.ai/deployment": "other"}}}),
    "told to Crossplane": change(KEDA, SCALED_OBJECT, "llama", PAUSED),
    "deleted": delete(KEDA, SCALED_OBJECT, "llama"),
    "replicas of an autoscaler": change(
        "autoscaling/v2", "HorizontalPodAutoscaler", "llama", {"spec": {"maxReplicas": 900}}
    ),
}


@pytest.mark.parametrize("attack", SCALER_ATTACKS)
def test_a_composed_scaler_is_crossplanes_to_change(plane: controlplane.Plane, keda: kubeapi.Api, attack: str) -> None:
    with pytest.raises(kubeapi.Refused) as found:
        SCALER_ATTACKS[attack](keda)
    assert POLICY in found.value.message, found.value
    assert SCALER_ATTACKS[attack](people.CROSSPLANE.on(plane))
