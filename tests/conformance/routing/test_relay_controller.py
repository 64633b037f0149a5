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
