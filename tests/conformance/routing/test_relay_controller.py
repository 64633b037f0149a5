"""Envoy Gateway's controller on a real API server: whose routes the relay takes.

The translator that reads files drops the labels of Namespaces, by which the relay's listeners choose.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.routing import fleet, relayed
from tests.conformance.routing.relayed import door, key_of, service
from tests.conformance.tools import workshop
from tests.e2e import envoy_gateway
from tests.support import controlplane, installation, kubeapi, live, routing

Json = Any
_SECONDS = 90
ROUTING = "gateway.networking.k8s.io/v1"


@pytest.mark.slow
def test_the_relay_takes_routes_of_a_namespace_for_its_own_hosts_alone(tmp_path: Path) -> None:
    live.needs("routing", "go")
    workshop.program("envoy-gateway")
    own = routing.replica_endpoint("a-0", "a")
    saas = routing.model_endpoint("saas", "https://api.example.com/openai/v1", auth={"secretRef": {"name": "saas"}})
    wanted = service(routing.group(deployment="a"), routing.group(endpoint="saas", priority=1))
    documents = fleet.objects(wanted, [own, saas], gateway=door("ml-team", "evil"))
    legs = [each for each in documents if each["kind"] == "HTTPRoute" and each["metadata"]["name"] != "llama"]
    # More specific than the leg, and so the winner wherever both are attached.
    hijack = {
        **legs[-1],
        "metadata": {"name": "hijack", "namespace": "evil"},
        "spec": {
            **legs[-1]["spec"],
            "rules": [
                {
                    "matches": [{"path": {"type": "PathPrefix", "value": "/v1/chat"}}],
                    "backendRefs": [{"group": "gateway.envoyproxy.io", "kind": "Backend", "name": "evil"}],
                }
            ],
        },
    }
    unnamed = {**hijack, "metadata": {"name": "unnamed", "namespace": "evil"}}
    unnamed["spec"] = {key: value for key, value in hijack["spec"].items() if key != "hostnames"}
    with controlplane.running(tmp_path) as plane:
        installation.definitions(plane, "gateway-api", "envoy-gateway")
        for name in ("ml-team", "evil", "modelplane-system"):
            installation.namespace(plane, name)
        envoy_gateway.start(plane)
        for each in (*documents, key_of("saas"), hijack, unnamed):
            plane.api.apply(each)
        for leg in legs:
            verdict = _await(plane.api, leg["metadata"]["name"], "ml-team", lambda told: told == ("True", "Accepted"))
            assert verdict == ("True", "Accepted")
        refused = _await(plane.api, "hijack", "evil", lambda told: told[0] == "False")
        assert refused in {("False", "NoMatchingListenerHostname"), ("False", "NotAllowedByListeners")}
        _await(plane.api, "unnamed", "evil", lambda told: told[0] == "True")
        status = plane.api.get(ROUTING, "Gateway", relayed.RELAY, "modelplane-system")["status"]
        attached = {each["name"]: each["attachedRoutes"] for each in status["listeners"]}
        # The route without a host is attached under the hosts of its own namespace, where no leg of another is.
        assert attached == {"ml-team": 2, "evil": 1}
        _is_reached_as_we_say(plane.api, documents)


def _is_reached_as_we_say(api: kubeapi.Api, documents: list[Json]) -> None:
    """The Service has the name and port of our Backends, and the pods have the labels of our NetworkPolicy."""
    deadline = time.monotonic() + _SECONDS
    while not (made := api.get("v1", "Service", relayed.RELAY, envoy_gateway.NAMESPACE)):
        found = [each["metadata"]["name"] for each in api.all_of("v1", "Service")]
        assert time.monotonic() < deadline, found
        time.sleep(0.5)
    assert made["spec"]["type"] == "ClusterIP"
    (port,) = made["spec"]["ports"]
    assert f"{made['metadata']['name']}.{envoy_gateway.NAMESPACE}.svc:{port['port']}" == relayed.HOP
    (policy,) = (each for each in documents if each["kind"] == "NetworkPolicy")
    assert policy["metadata"]["namespace"] == envoy_gateway.NAMESPACE
    allowed, _ = policy["spec"]["ingress"]
    assert [each["port"] for each in allowed["ports"]] == [port["targetPort"]]
    pods = {
        labels["gateway.envoyproxy.io/owning-gateway-name"]: labels
        for each in api.all_of("apps/v1", "Deployment")
        if (labels := each["spec"]["template"]["metadata"]["labels"])
        and each["metadata"]["namespace"] == envoy_gateway.NAMESPACE
    }
    source, itself = allowed["from"]
    assert itself["podSelector"] == policy["spec"]["podSelector"]
    for name, selector in (("default", source["podSelector"]), (relayed.RELAY, policy["spec"]["podSelector"])):
        assert selector["matchLabels"].items() <= pods[name].items()
        others = [labels for gateway, labels in pods.items() if gateway != name]
        assert not any(selector["matchLabels"].items() <= labels.items() for labels in others)


def _await(api: kubeapi.Api, name: str, namespace: str, is_it: Callable[[tuple[str, str]], bool]) -> tuple[str, str]:
    """Return the verdict on a route once it is as expected. Raises: AssertionError with the last one."""
    deadline = time.monotonic() + _SECONDS
    told = ("", "")
    while time.monotonic() < deadline:
        parents = (api.get(ROUTING, "HTTPRoute", name, namespace).get("status") or {}).get("parents") or ()
        for condition in (each for parent in parents for each in parent["conditions"]):
            if condition["type"] == "Accepted":
                told = (condition["status"], condition["reason"])
        if is_it(told):
            return told
        time.sleep(0.5)
    raise AssertionError(f"{name}: {told}")
