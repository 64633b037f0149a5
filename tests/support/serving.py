"""A ModelService that serves, and the ways in which one of its inputs can break."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from modelplane import names
from modelplane_functions.compose import model_service
from modelplane_functions.exchange import Outcome, Truth
from tests.support import routing
from tests.support.exchange import settle

Json = Any
KEYS = {"apiKeys": {"secretRef": {"name": "keys"}}}


class Running:
    """A service that serves two replicas and a service outside the fleet: the state that no broken input may harm."""

    def __init__(self, *, standby: bool = False, **spec: Json) -> None:
        self.service = routing.model_service(
            routing.group(deployment="llama", weight=95),
            routing.group(deployment="spare", weight=5, priority=int(standby)),
            **spec,
        )
        self.store: list[Json] = [
            routing.inference_gateway(),
            routing.replica_endpoint("llama-0", "llama"),
            routing.replica_endpoint("llama-1", "llama", cluster="west"),
            routing.replica_endpoint("spare-0", "spare", cluster="north"),
        ]
        self.children: dict[str, Json] = {}
        self.settle()

    def settle(self) -> Outcome:
        """Apply until nothing changes, as Crossplane and a healthy gateway would."""
        for _ in range(6):
            outcome = self.compose()
            children = routing.observed(outcome)
            conditions = [routing.condition(c.type, is_true=c.status is Truth.TRUE) for c in outcome.conditions]
            status = {**outcome.status, "conditions": conditions}
            if (children, status) == (self.children, self.service.get("status")):
                return outcome
            self.children, self.service["status"] = children, status
        raise AssertionError("the service does not come to rest")

    def compose(self) -> Outcome:
        return settle(model_service.compose, copy.deepcopy(self.service), children=self.children, store=self.store)

    def endpoint(self, name: str) -> Json:
        return next(each for each in self.store if each["metadata"]["name"] == name)

    def without(self, *names: str) -> None:
        self.store = [each for each in self.store if each["metadata"]["name"] not in names]

    @property
    def route(self) -> Json:
        return self.children["route"]["spec"]


def no_gateway(running: Running) -> None:
    running.without("default")


def second_gateway(running: Running) -> None:
    running.without("default")
    running.store += [routing.inference_gateway("one"), routing.inference_gateway("two")]


def gateway_of_an_unknown_name(running: Running) -> None:
    running.service["spec"]["gatewayRef"] = {"name": "absent"}


def gateway_that_cannot_be_read(running: Running) -> None:
    running.endpoint("default")["spec"]["envoyGateway"] = {"version": "newest"}


def gateway_whose_type_needs_a_host_name(running: Running) -> None:
    running.endpoint("default")["spec"]["type"] = "EnvoyAI"


def gateway_without_an_address(running: Running) -> None:
    running.endpoint("default")["status"] = {}


def gateway_without_a_status(running: Running) -> None:
    del running.endpoint("default")["status"]


def host_of_somebody_else(running: Running) -> None:
    running.service["spec"]["host"] = "chat.example.com"


def nothing_matches(running: Running) -> None:
    running.without("llama-0", "llama-1", "spare-0")


def nothing_is_ready(running: Running) -> None:
    for name in ("llama-0", "llama-1", "spare-0"):
        running.endpoint(name)["status"]["ready"] = False


def endpoints_lose_their_status(running: Running) -> None:
    for name in ("llama-0", "llama-1", "spare-0"):
        del running.endpoint(name)["status"]


def endpoints_cannot_be_read(running: Running) -> None:
    for name in ("llama-0", "llama-1", "spare-0"):
        running.endpoint(name)["spec"]["url"] = "http://localhost"


def an_endpoint_of_another_path(running: Running) -> None:
    labels = {names.LABEL_DEPLOYMENT: "llama"}
    running.store.append(routing.model_endpoint("new", "http://a.example/other", labels=labels))


def an_endpoint_of_another_model(running: Running) -> None:
    running.endpoint("llama-0")["spec"]["model"] = {"name": "a"}
    running.endpoint("llama-1")["spec"]["model"] = {"name": "b"}


def selectors_match_something_else(running: Running) -> None:
    running.service["spec"]["endpoints"] = [routing.group(deployment="typo")]


def too_many_priorities(running: Running) -> None:
    running.service["spec"]["endpoints"] = [
        routing.group(deployment=name, priority=level) for level, name in enumerate(("llama", "spare", "third"))
    ]


def networks_without_known_addresses(running: Running) -> None:
    running.service["spec"]["clients"] = {"allowedCIDRs": ["10.0.0.0/8"]}


def a_limit_of_tokens(running: Running) -> None:
    running.service["spec"]["rateLimit"] = {"requests": 1, "unit": "Hour", "tokens": 9}


def sessions_by_prompt(running: Running) -> None:
    running.service["spec"]["affinity"] = {"type": "PrefixHash"}


def places_and_priorities(running: Running) -> None:
    running.service["spec"]["locality"] = {}
    running.service["spec"]["endpoints"] = [
        routing.group(deployment=name, priority=level) for level, name in enumerate(("llama", "spare"))
    ]


ASKED_IN_VAIN: list[Callable[[Running], None]] = [
    networks_without_known_addresses,
    a_limit_of_tokens,
    sessions_by_prompt,
    places_and_priorities,
]
BREAKS: list[Callable[[Running], None]] = [
    no_gateway,
    second_gateway,
    gateway_of_an_unknown_name,
    gateway_that_cannot_be_read,
    gateway_whose_type_needs_a_host_name,
    gateway_without_an_address,
    gateway_without_a_status,
    host_of_somebody_else,
    nothing_matches,
    nothing_is_ready,
    endpoints_lose_their_status,
    endpoints_cannot_be_read,
    an_endpoint_of_another_path,
    an_endpoint_of_another_model,
    selectors_match_something_else,
    too_many_priorities,
    *ASKED_IN_VAIN,
]
