"""Each person's verbs on every kind, as the API server's own authorizer says them."""

from __future__ import annotations

import pytest

from modelplane.api import catalogue
from tests.conformance.permissions import people
from tests.conformance.permissions.people import Person
from tests.support import controlplane

OURS = "modelplane.ai"
MODELS = {
    f"{one}.{OURS}" for one in ("llminferences", "modelcaches", "modeldeployments", "modelendpoints", "modelservices")
}
MADE = {f"{one}.{OURS}" for one in ("modelcachecopies", "modelreplicas")}
PARTS = {f"{one}.{OURS}" for one in ("cloudclusters", "cloudnetworks", "cloudnodepools", "servingstacks")}
"""The parts of a cluster, which nobody writes by hand."""
HARDWARE = {
    f"{one}.{OURS}"
    for one in ("backendrules", "inferenceclasses", "inferenceclusters", "inferencegateways", "inferencequotas")
}
STATUSES = {one.replace(".", "/status.", 1) for one in MODELS | HARDWARE | MADE | PARTS}
SCALE = f"modeldeployments/scale.{OURS}"
COMPOSED = {
    *(
        f"{one}.kubernetes.m.crossplane.io"
        for one in ("objects", "observedobjectcollections", "clusterproviderconfigs")
    ),
    *(f"{one}.helm.m.crossplane.io" for one in ("releases", "clusterproviderconfigs", "providerconfigs")),
    *(f"{one}.protection.crossplane.io" for one in ("clusterusages", "usages")),
    *(f"{one}.gateway.networking.k8s.io" for one in ("gatewayclasses", "gateways", "httproutes")),
    *(
        f"{one}.gateway.envoyproxy.io"
        for one in (
            "backends",
            "backendtrafficpolicies",
            "clienttrafficpolicies",
            "envoyproxies",
            "httproutefilters",
            "securitypolicies",
        )
    ),
}
SECRETS, PERMISSION = "secrets.", f"composed.{OURS}"
ALL = MODELS | HARDWARE | STATUSES | COMPOSED | MADE | PARTS | {SCALE, SECRETS, PERMISSION}
READ, WRITE = ("get", "list", "watch"), ("create", "update", "patch", "delete", "deletecollection")

# What each may read, and what each may write, among ALL; the rest it may not.
READS = {
    people.TENANT: MODELS | MADE,
    people.VIEWER: MODELS | MADE,
    people.KUBERNETES_VIEWER: MODELS | MADE,
    people.KUBERNETES_EDITOR: MODELS | MADE | {SECRETS},
    people.FLEET_VIEWER: MODELS | HARDWARE | COMPOSED | MADE | PARTS,
    people.PLATFORM: MODELS | HARDWARE | COMPOSED | MADE | PARTS,
}
WRITES = {
    people.TENANT: MODELS,
    people.VIEWER: set(),
    people.KUBERNETES_VIEWER: set(),
    people.KUBERNETES_EDITOR: {SECRETS},
    people.FLEET_VIEWER: set(),
    people.PLATFORM: MODELS | HARDWARE,
}
SCALES = {people.TENANT, people.PLATFORM}


def test_the_table_names_every_kind_of_ours() -> None:
    plurals = {f"{catalogue.definition(kind)['spec']['names']['plural']}.{OURS}" for kind in catalogue.kinds()}
    assert plurals == MODELS | HARDWARE | MADE | PARTS


@pytest.mark.parametrize("person", READS, ids=lambda person: person.name)
def test_what_a_person_may_read_and_write(plane: controlplane.Plane, person: Person) -> None:
    wrong = []
    for resource in sorted(ALL - {SCALE}):
        for verbs, allowed in ((READ, READS[person]), (WRITE, WRITES[person])):
            for verb in verbs:
                said = people.may(plane, person, verb, resource, people.TEAM)
                if said != (resource in allowed):
                    wrong.append(f"{person.name} {'may' if said else 'may not'} {verb} {resource}")
    assert wrong == []


@pytest.mark.parametrize("person", READS, ids=lambda person: person.name)
def test_who_scales(plane: controlplane.Plane, person: Person) -> None:
    for verb in ("update", "patch"):
        assert people.may(plane, person, verb, SCALE, people.TEAM) == (person in SCALES)
    assert people.may(plane, person, "get", SCALE, people.TEAM)


@pytest.mark.parametrize("person", [one for one in READS if not one.everywhere], ids=lambda person: person.name)
def test_nobody_sees_or_writes_another_namespace(plane: controlplane.Plane, person: Person) -> None:
    for resource in sorted(MODELS | MADE | {SCALE, SECRETS}):
        for verb in (*READ, *WRITE):
            for namespace in (people.OTHER, people.SYSTEM, None):
                assert not people.may(plane, person, verb, resource, namespace), (verb, resource, namespace)


def test_who_may_write_what_is_composed(plane: controlplane.Plane) -> None:
    """The permission that the policies ask for: Crossplane's, and of controllers for what they do everywhere."""
    held = {
        (person.name, verb)
        for person in (*people.BOUND, people.GARBAGE_COLLECTOR, people.NAMESPACE_CONTROLLER)
        for verb in ("create", "update", "delete")
        if people.may(plane, person, verb, PERMISSION, None)
    }
    everything = {("crossplane", verb) for verb in ("create", "update", "delete")}
    cleaning = {(people.GARBAGE_COLLECTOR.name, "update"), (people.GARBAGE_COLLECTOR.name, "delete")}
    assert held == everything | cleaning | {(people.NAMESPACE_CONTROLLER.name, "delete")}


def test_crossplane_may_do_what_composing_takes(plane: controlplane.Plane) -> None:
    """Reading and writing of everything composed, and blocking the deletion of an owner, as Crossplane grants it."""
    owners = {one.replace(".", "/finalizers.", 1) for one in MODELS | HARDWARE | MADE | PARTS}
    missing = [
        (verb, resource)
        for resource in sorted(MODELS | HARDWARE | STATUSES | COMPOSED | MADE | PARTS)
        for verb in (*READ, "create", "update", "patch", "delete")
        if not people.may(plane, people.CROSSPLANE, verb, resource, people.TEAM)
    ]
    missing += [("update", one) for one in owners if not people.may(plane, people.CROSSPLANE, "update", one, None)]
    assert missing == []


def test_crossplane_reads_namespaces_and_writes_none(plane: controlplane.Plane) -> None:
    """A cluster or gateway may allow namespaces by their labels."""
    allowed = {verb for verb in (*READ, *WRITE) if people.may(plane, people.CROSSPLANE, verb, "namespaces.", None)}
    assert allowed == set(READ)


def test_the_provider_deletes_what_it_made_for_a_collection_and_may_write_nothing_composed(
    plane: controlplane.Plane,
) -> None:
    assert people.may(plane, people.PROVIDER, "delete", "objects.kubernetes.m.crossplane.io", people.TEAM)
    for resource in ("observedobjectcollections.kubernetes.m.crossplane.io", *MADE, *PARTS):
        assert not people.may(plane, people.PROVIDER, "delete", resource, people.TEAM)
    assert not people.may(plane, people.PROVIDER, "create", PERMISSION, None)


def test_what_crossplane_lets_a_provider_do(plane: controlplane.Plane) -> None:
    """More than its work for Modelplane takes; the policies on its kinds keep that from their authors."""
    for namespace in (people.TEAM, people.SYSTEM, "kube-system"):
        for resource in (SECRETS, "configmaps."):
            for verb in (*READ, *WRITE):
                assert people.may(plane, people.PROVIDER, verb, resource, namespace), (verb, resource, namespace)
        assert people.may(plane, people.PROVIDER, "patch", "objects.kubernetes.m.crossplane.io", namespace)
    for resource in (
        "pods.",
        "serviceaccounts.",
        "clusterroles.rbac.authorization.k8s.io",
        f"inferenceclusters.{OURS}",
    ):
        assert not people.may(plane, people.PROVIDER, "get", resource, people.TEAM), resource
