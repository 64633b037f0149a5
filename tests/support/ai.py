"""A ModelService on a gateway of type EnvoyAI, and the AI gateway's controller as far as a service sees it."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from modelplane_functions.compose import model_service
from modelplane_functions.exchange import Outcome, Truth
from tests.support import routing
from tests.support.exchange import settle

Json = Any
HOSTNAME = "*.models.example.com"
HOST = f"{routing.NAMESPACE}.models.example.com"


def gateway(name: str = "default", **spec: Json) -> dict[str, Json]:
    """Return a gateway of type EnvoyAI that runs."""
    made = routing.inference_gateway(
        name, type="EnvoyAI", gateway={"hostname": HOSTNAME, **spec.pop("gateway", {})}, **spec
    )
    made["status"]["type"] = "EnvoyAI"
    return made


def provider(name: str, *, header: str = "", **spec: Json) -> dict[str, Json]:
    """Return an endpoint outside the fleet with a key, and its own model name."""
    auth: dict[str, Json] = {"secretRef": {"name": f"{name}-key"}}
    if header:
        auth |= {"scheme": "Header", "header": header}
    return routing.model_endpoint(name, **{"auth": auth, "model": {"name": f"{name}-model"}, **spec})


def generated(route: Mapping[str, Json]) -> dict[str, Json]:
    """Return the HTTPRoute that the AI gateway makes of a route, accepted by its gateway.

    Source: Envoy AI Gateway v1.0.0 (`newHTTPRoute`).
    """
    spec = route["spec"]
    rewrite = {"group": "gateway.envoyproxy.io", "kind": "HTTPRouteFilter"}
    rules: list[Json] = [
        {
            "matches": [
                {"headers": match["headers"], "path": {"type": "PathPrefix", "value": "/"}} for match in rule["matches"]
            ],
            "filters": [{"type": "ExtensionRef", "extensionRef": {**rewrite, "name": "ai-eg-host-rewrite"}}],
            "backendRefs": [
                {"group": rewrite["group"], "kind": "Backend", "name": each["name"], "weight": each["weight"]}
                for each in rule["backendRefs"]
            ],
        }
        for rule in spec["rules"]
    ]
    rest = {"name": "route-not-found", "matches": [{"path": {"type": "PathPrefix", "value": "/"}}]}
    made: dict[str, Json] = {
        "apiVersion": "gateway.networking.k8s.io/v1",
        "kind": "HTTPRoute",
        "metadata": {key: route["metadata"][key] for key in ("name", "namespace", "labels")},
        "spec": {"parentRefs": spec["parentRefs"], "hostnames": spec["hostnames"], "rules": [*rules, rest]},
    }
    overlap = routing.condition("RouteRulesOverlap", message="the rule route-not-found of another route")
    status = routing.healthy(made)
    for parent in status["parents"]:
        parent["conditions"].append(overlap)
    return {**made, "status": status}


class Running:
    """A service that serves two replicas and, as a standby, a provider with a key: what no broken input may harm."""

    def __init__(self, *groups: Json, store: list[Json] | None = None, **spec: Json) -> None:
        self.service = routing.model_service(
            *(groups or (routing.group(deployment="llama"), routing.group(endpoint="together", priority=1))), **spec
        )
        self.service["metadata"]["uid"] = "uid-service"
        self.store: list[Json] = store or [
            gateway(),
            routing.replica_endpoint("llama-0", "llama", model={"name": "llama-3"}),
            routing.replica_endpoint("llama-1", "llama", cluster="west", model={"name": "llama-3"}),
            provider("together"),
        ]
        self.children: dict[str, Json] = {}
        self.made: list[Json] = []
        self.settle()

    def settle(self) -> Outcome:
        """Apply until nothing changes, as Crossplane, the AI gateway and Envoy Gateway would."""
        for _ in range(12):
            outcome = self.step()
            if outcome is not None:
                return outcome
        raise AssertionError("the service does not come to rest")

    def step(self) -> Outcome | None:
        """Apply one answer; return it if it changed nothing."""
        outcome = self.compose()
        children = routing.observed(outcome)
        conditions = [routing.condition(c.type, is_true=c.status is Truth.TRUE) for c in outcome.conditions]
        status = {**outcome.status, "conditions": conditions}
        made = [generated(child) for child in children.values() if child["kind"] == "AIGatewayRoute"]
        if (children, status, made) == (self.children, self.service.get("status"), self.made):
            return outcome
        self.children, self.service["status"], self.made = children, status, made
        return None

    def compose(self) -> Outcome:
        """Return the answer to what is observed now."""
        return settle(
            model_service.compose,
            copy.deepcopy(self.service),
            children=self.children,
            store=[*self.store, *self.made],
        )

    def named(self, name: str) -> Json:
        """Return the document of this name."""
        return next(each for each in self.store if each["metadata"]["name"] == name)

    def without(self, *names: str) -> None:
        """Remove documents."""
        self.store = [each for each in self.store if each["metadata"]["name"] not in names]

    @property
    def route(self) -> Json:
        """Return the spec of the route."""
        return self.children["ai-route"]["spec"]

    def of_kind(self, kind: str) -> list[Json]:
        """Return the children of a kind, by name."""
        return sorted(
            (each for each in self.children.values() if each["kind"] == kind), key=lambda one: str(one["metadata"])
        )
