"""A relayed service, its inputs, and its children as they are observed after each step."""

from __future__ import annotations

import copy
from typing import Any

from modelplane.render import relay as rendering
from modelplane_functions.compose import model_service
from modelplane_functions.exchange import Outcome, Truth
from tests.support import routing
from tests.support.exchange import settle

Json = Any
OWN = routing.replica_endpoint("a-0", "a")
SAAS = routing.model_endpoint("saas", "https://api.example.com/openai/v1", auth={"secretRef": {"name": "saas"}})


class World:
    """A service, its inputs, and its children as observed."""

    def __init__(self) -> None:
        self.gateway = routing.inference_gateway(relay={"namespaces": ["ml-team"]})
        self.gateway["status"]["relay"] = {"name": "relay-default"}
        self.endpoints = [copy.deepcopy(OWN), copy.deepcopy(SAAS)]
        self.service = routing.model_service(routing.group(deployment="a"), routing.group(endpoint="saas", priority=1))
        self.service["metadata"]["uid"] = "uid-1"
        self.children: dict[str, Json] = {}

    def step(self) -> Outcome:
        outcome = settle(
            model_service.compose, self.service, children=self.children, store=[self.gateway, *self.endpoints]
        )
        self.service["status"] = {
            **outcome.status,
            "conditions": [
                routing.condition(each.type, is_true=each.status is Truth.TRUE) for each in outcome.conditions
            ],
        }
        self.children = routing.observed(outcome)
        return outcome

    def settled(self) -> Outcome:
        for _ in range(8):
            before = self.children
            outcome = self.step()
            if before == self.children:
                return outcome
        raise AssertionError("it does not come to rest")

    @property
    def asked(self) -> list[str]:
        """Return the Backends that the service's rule refers to."""
        return [ref["name"] for ref in self.children["route"]["spec"]["rules"][0]["backendRefs"]]

    @property
    def saas_route(self) -> str:
        """Return the key of the route of the leg with a credential."""
        key = next(key for key, child in self.children.items() if "credentialInjection" in child["spec"])
        return f"{rendering.prefix(rendering.leg_of(key))}route"
