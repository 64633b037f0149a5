"""A gateway, services of several namespaces that may use one host, and caches that are as old as they like.

A reader sees each kind as it was at some moment since it read it last. Its own object and children are the newest, as
Crossplane's are. Routes of a deleted service stay until they are collected.
"""

# Seeded schedules need no cryptography.
# ruff: noqa: S311

from __future__ import annotations

import copy
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from modelplane_functions.compose import inference_gateway, model_service
from modelplane_functions.exchange import Outcome, Truth
from tests.support import exchange, routing
from tests.support.exchange import Compose

Json = Any
NAMESPACES = ("red", "green", "blue")
HOSTS = ("chat.example.com", "code.example.com")
KINDS = ("InferenceGateway", "ModelService", "HTTPRoute", "ModelEndpoint")


@dataclass
class HostWorld:
    """Everything that exists, and every state that it was in."""

    seed: int
    gateway: Json
    services: dict[str, Json] = field(default_factory=dict)
    gateway_children: dict[str, Json] = field(default_factory=dict)
    children: dict[str, dict[str, Json]] = field(default_factory=dict)
    orphans: list[Json] = field(default_factory=list)
    drained: set[str] = field(default_factory=set)
    history: list[list[Json]] = field(default_factory=list)
    read_up_to: dict[tuple[str, str], int] = field(default_factory=dict)
    asked: dict[str, Any] = field(default_factory=dict)
    outcomes: dict[str, Outcome] = field(default_factory=dict)
    clock: int = 0
    rng: random.Random = field(init=False)

    def __post_init__(self) -> None:
        """Bring up the Gateway, as it is before anybody wants a host."""
        self.rng = random.Random(self.seed)
        for _ in range(4):
            self.reconcile_gateway(fresh=True)

    # --- time -----------------------------------------------------------------------------------------------------

    def now(self) -> str:
        """Return a time later than all before, as the API server writes it."""
        self.clock += 1
        return f"2026-01-01T{self.clock // 3600:02}:{self.clock // 60 % 60:02}:{self.clock % 60:02}Z"

    def remember(self) -> None:
        """Keep what readers may see from now on."""
        endpoints = [
            routing.model_endpoint("saas", namespace=name, ready=name not in self.drained) for name in NAMESPACES
        ]
        found = [self.gateway, *self.services.values(), *(route for _, route in self.routes()), *endpoints]
        self.history.append(copy.deepcopy(found))

    def sight(self, reader: str, *, fresh: bool) -> list[Json]:
        """Return what the caches of a reader hold, each kind from a moment of its own."""
        found: list[Json] = []
        newest = len(self.history) - 1
        for kind in KINDS:
            oldest = min(self.read_up_to.get((reader, kind), 0), newest)
            chosen = newest if fresh else self.rng.randint(oldest, newest)
            self.read_up_to[reader, kind] = chosen
            found += [one for one in self.history[chosen] if one["kind"] == kind]
        return found

    # --- what is there --------------------------------------------------------------------------------------------

    def routes(self, host: str = "") -> Iterator[tuple[str, Json]]:
        """Yield the routes (of a host) with their namespaces."""
        standing = [each["route"] for each in self.children.values() if "route" in each]
        for route in (*standing, *self.orphans):
            if not host or host in route["spec"].get("hostnames", ()):
                yield route["metadata"]["namespace"], route

    def answers(self, host: str) -> Json:
        """Return the route that takes the requests of a host, None without one. Source: Gateway API, precedence."""
        found = [
            route for _, route in self.routes(host) if any(one["conditions"] for one in route["status"]["parents"])
        ]
        return min(found, key=_age, default=None)

    @property
    def holders(self) -> dict[str, str]:
        """Return the namespaces of the record by host."""
        return {one["host"]: one["namespace"] for one in self.gateway["status"].get("hosts", ())}

    def reason(self, key: str) -> tuple[str, str]:
        """Return reason and message of the condition Accepted of a service."""
        found = next(one for one in self.outcomes[key].conditions if one.type == "Accepted")
        return found.reason, found.message

    # --- control loops --------------------------------------------------------------------------------------------

    def reconcile_gateway(self, *, fresh: bool = False, without: str = "") -> None:
        """Run the gateway's function; lists of the kind `without` come back empty."""
        self.remember()
        sight = [one for one in self.sight("gateway", fresh=fresh) if one["kind"] != without]
        outcome = self._outcome(inference_gateway.compose, self.gateway, self.gateway_children, sight)
        self.outcomes["gateway"] = outcome
        self.gateway = {**self.gateway, "status": copy.deepcopy(dict(outcome.status))}
        self.gateway_children = routing.observed(outcome)
        self.remember()

    def reconcile(self, key: str, *, fresh: bool = False) -> None:
        """Run the function of a service, and apply what it says."""
        if key not in self.services:
            return
        service = self.services[key]
        before = self.children.setdefault(key, {})
        self.remember()
        outcome = self.outcomes[key] = self._outcome(
            model_service.compose, service, before, self.sight(key, fresh=fresh)
        )
        conditions = [routing.condition(one.type, is_true=one.status is Truth.TRUE) for one in outcome.conditions]
        self.services[key] = {**service, "status": {**copy.deepcopy(dict(outcome.status)), "conditions": conditions}}
        made = routing.observed(outcome)
        for name, child in made.items():
            old = before.get(name, {"metadata": {"uid": f"{key}-{self.clock}-{name}", "creationTimestamp": self.now()}})
            child["metadata"] |= {each: old["metadata"][each] for each in ("uid", "creationTimestamp")}
        self.children[key] = made
        self.remember()

    def _outcome(self, compose: Compose, composite: Json, children: Json, store: list[Json]) -> Outcome:
        about = f"{composite['kind']}/{composite['metadata'].get('namespace', '')}/{composite['metadata']['name']}"
        made = exchange.calls(compose, composite, children=children, store=store, before=self.asked.get(about))
        self.asked[about] = made[-1].outcome.requirements
        return made[-1].outcome

    # --- changes --------------------------------------------------------------------------------------------------

    def write(self, namespace: str, name: str, host: str, *, seen: bool = False) -> str:
        """Create a service or change its host. `seen`: an earlier version of Modelplane has written its status."""
        key = f"{namespace}/{name}"
        if key in self.services:
            spec = {**self.services[key]["spec"], "host": host}
            self.services[key] = {**self.services[key], "spec": spec}
        else:
            made = routing.model_service(routing.group(endpoint="saas"), name=name, namespace=namespace, host=host)
            made["metadata"] |= {"creationTimestamp": self.now(), "uid": f"{key}-{self.clock}"}
            self.services[key] = made | ({"status": {"gateway": "default"}} if seen else {})
        self.remember()
        return key

    def delete(self, key: str) -> None:
        """Delete a service; its routes are collected later."""
        if key in self.services:
            del self.services[key]
            self.asked.pop(f"ModelService/{key}", None)
            self.orphans += [one for name, one in self.children.pop(key, {}).items() if name == "route"]
            self.remember()

    def collect(self) -> None:
        """Delete the routes that deleted services left."""
        self.orphans = []
        self.remember()

    def step(self) -> str:
        """Run one loop, chosen at random."""
        chosen = self.rng.choice(["gateway", "collect", *self.services, *self.services])
        if chosen == "gateway":
            self.reconcile_gateway()
        elif chosen == "collect":
            self.collect()
        else:
            self.reconcile(chosen)
        return chosen

    def settle(self) -> None:
        """Let every loop read what is newest, until nothing changes."""
        for _ in range(20):
            before = repr((self.gateway, self.services, self.children, self.orphans))
            self.collect()
            self.reconcile_gateway(fresh=True)
            for key in sorted(self.services):
                self.reconcile(key, fresh=True)
            if repr((self.gateway, self.services, self.children, self.orphans)) == before:
                return
        raise AssertionError("it does not come to rest")


def _age(route: Json) -> tuple[str, str, str]:
    metadata = route["metadata"]
    return metadata["creationTimestamp"], metadata["namespace"], metadata["name"]


def shared_gateway(**grants: Json) -> Json:
    """Return a gateway that lets all namespaces use all hosts, unless `grants` says otherwise."""
    hosts = [{"host": host, "namespaces": list(NAMESPACES)} for host in HOSTS]
    return routing.inference_gateway(address="", gateway={"hosts": hosts, **grants})
