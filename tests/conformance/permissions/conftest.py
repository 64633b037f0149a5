"""One API server with every kind we compose, our roles and policies, and people who have them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import pytest

from modelplane.api import catalogue
from tests.conformance.permissions import fleet, people
from tests.conformance.tools import workshop
from tests.support import controlplane, installation, kubeapi, live, permissions

ACTIVE_SECONDS = 60
CONTRIB = "github.com/crossplane-contrib"


def added_up(plane: controlplane.Plane) -> bool:
    """Return whether each role that is the sum of others has all of their rules, and Kubernetes knows it."""
    found = {one["metadata"]["name"]: one for one in plane.api.all_of("rbac.authorization.k8s.io/v1", "ClusterRole")}
    for name in ("modelplane-tenant", "modelplane-platform", "crossplane", "crossplane-edit"):
        for part in permissions.aggregated(list(found.values()), name):
            if not all(rule in (found[name]["rules"] or []) for rule in part["rules"]):
                return False
    last = catalogue.definition(catalogue.kinds()[-1])["metadata"]["name"]
    return people.may(plane, people.CROSSPLANE, "update", last, None)


def legacy() -> Iterator[dict[str, Any]]:
    """Yield the definitions of the providers' kinds without a namespace, without the webhook that converts them."""
    kubernetes = workshop.source("provider-kubernetes", f"{CONTRIB}/provider-kubernetes") / "package" / "crds"
    helm = workshop.source("crds", f"{CONTRIB}/provider-helm") / "package" / "crds"
    files = [kubernetes / f"kubernetes.crossplane.io_{one}.yaml" for one in ("objects", "providerconfigs")]
    files += [helm / f"helm.crossplane.io_{one}.yaml" for one in ("providerconfigs", "releases")]
    for one in installation.documents(*files):
        yield {**one, "spec": {key: value for key, value in one["spec"].items() if key != "conversion"}}


@pytest.fixture(scope="session")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Iterator[controlplane.Plane]:
    """A control plane with roles and policies, on which Modelplane's own kinds are not installed yet."""
    live.needs("permissions", "go")
    with controlplane.running(tmp_path_factory.mktemp("permissions")) as plane:
        plane.controller_manager("clusterrole-aggregation-controller")
        installation.crossplane_definitions(plane)
        installation.definitions(plane, "provider-kubernetes", "provider-helm", "gateway-api", "envoy-gateway", "keda")
        installation.apply_definitions(plane, legacy())
        people.namespaces(plane)
        for one in permissions.documents(permissions.CONTROL_PLANE, permissions.ENVOY_GATEWAY):
            plane.api.apply(one)
        people.install(plane)
        yield plane


@pytest.fixture(scope="session")
def routes_before(bare: controlplane.Plane) -> str | None:
    """How a route is refused while the kinds of the policies' parameters are not served; None when it is taken."""
    route = fleet.route("before", gateway="somebodys")
    with contextlib.suppress(kubeapi.Refused):
        kubeapi.until(
            lambda: people.CROSSPLANE_EDITOR.on(bare).create(route, dry_run=True), seconds=ACTIVE_SECONDS, what="a role"
        )
    try:
        people.CROSSPLANE_EDITOR.on(bare).create(route, dry_run=True)
    except kubeapi.Refused as refused:
        return str(refused)
    return None


@pytest.fixture(scope="session")
def plane(bare: controlplane.Plane, routes_before: str | None) -> controlplane.Plane:
    """The same with our kinds and a small fleet on it, once the policies are in force."""
    assert routes_before is None, routes_before
    installation.apply_definitions(bare, [dict(catalogue.derived(kind)) for kind in catalogue.kinds()])
    people.rendered(bare)
    fleet.install(bare)
    probe = fleet.replica("probe")
    editor = people.CROSSPLANE_EDITOR.on(bare)

    def refused_by_policy() -> bool:
        try:
            editor.create(probe, dry_run=True)
        except kubeapi.Refused as refused:
            return "ValidatingAdmissionPolicy" in refused.message
        return False

    kubeapi.until(refused_by_policy, seconds=ACTIVE_SECONDS, what="the policies to be in force")
    kubeapi.until(lambda: added_up(bare), seconds=ACTIVE_SECONDS, what="the roles to be added up")
    return bare
