"""A cluster whose gateway changes between plaintext and TLS with client certificates, event by event.

Each controller around the functions moves only when it is told: provider-kubernetes reports, the stack's listeners
change on the cluster, a replica reads the address of its cluster, a Backend follows its replica.
"""

from __future__ import annotations

import base64
import copy
from collections.abc import Set
from typing import Any

from modelplane import names
from modelplane.render import certificates, mutual_tls, objects
from modelplane.routing.transport import Transport
from modelplane_functions import cluster_stack
from modelplane_functions.compose import inference_cluster
from modelplane_functions.exchange import Outcome
from tests.support import exchange
from tests.support.cluster_world import Running, gateway_manifest, synced

Json = Any
ADDRESS = "gateway.a.example.com"
PLAIN, MUTUAL = Transport.PLAINTEXT, Transport.MUTUAL_TLS


def pem(name: str) -> str:
    """Return what looks like the certificate of an authority."""
    text = base64.b64encode(f"the authority of {name}".encode()).decode()
    return f"-----BEGIN CERTIFICATE-----\n{text}\n-----END CERTIFICATE-----\n"


def inference_gateway(name: str = "default", *, presents: bool = True) -> Json:
    """Return a gateway of the fleet that shows its certificate, or has none."""
    told = {"mode": "Issued", "identity": names.gateway_identity(name), "authorities": pem(name), "presented": True}
    return {
        "apiVersion": names.API_VERSION,
        "kind": "InferenceGateway",
        "metadata": {"name": name},
        "spec": {},
        "status": {"clientCertificate": told if presents else {"mode": "None"}},
    }


class TlsWorld:
    """A cluster with replicas that serve without TLS, and a stack that makes its Gateway."""

    def __init__(self, *, is_own: bool = True) -> None:
        self.world = Running(replicas=2)
        self.world.kinds = {"Release", "ServingStack", "ObservedObjectCollection"}
        if is_own:
            self.spec["stack"] = {"install": True, "components": {"gateway": "Managed"}}
        self.gateways = [inference_gateway()]
        self.backends: dict[str, Json] = {}
        self.listeners: Set[Transport] = frozenset({PLAIN})
        self.own_listeners: list[Json] | None = None if is_own else gateway_manifest()["spec"]["listeners"]
        self.certificate: Json = {"conditions": [_true("Ready")], "revision": 1, "notAfter": "2099-01-01T00:00:00Z"}
        self.accepts = True
        self.last: Outcome
        self.children: dict[str, Json] = self.world.children
        for _ in range(3):
            self.all()

    # --- what is there ---

    @property
    def cluster(self) -> Json:
        return self.world.cluster

    @property
    def spec(self) -> Json:
        return self.world.cluster["spec"]

    @property
    def record(self) -> Json:
        return self.cluster["status"].get("mutualTLS")

    def wants(self, mode: str | None) -> None:
        gateway = {key: value for key, value in self.spec.get("gateway", {}).items() if key != "mutualTLS"}
        self.spec["gateway"] = gateway if mode is None else {**gateway, "mutualTLS": mode}

    def condition(self) -> Any:
        return next((one for one in self.last.conditions if one.type == "MutualTLSReady"), None)

    def used(self) -> set[Transport]:
        """Return the transports that Backends use."""
        return {MUTUAL if "tls" in one["spec"] else PLAIN for one in self.backends.values()}

    # --- what happens ---

    def compose(self, *, without: tuple[str, ...] = ()) -> Outcome:
        """Let the function be called; of what it is given the kinds `without` are empty."""
        known = [*self.world.replicas, *self.world.classes, *self.gateways, *self.backends.values()]
        store = [one for one in copy.deepcopy(known) if one["kind"] not in without]
        self.last = exchange.settle(
            inference_cluster.compose, self.cluster, children=self.children, store=store, kinds=self.world.kinds
        )
        before = self.children
        self.children = {key: copy.deepcopy(dict(child.resource)) for key, child in self.last.children.items()}
        for key, child in self.children.items():
            if "status" in before.get(key, {}):
                child["status"] = before[key]["status"]
        self.cluster["status"] = copy.deepcopy(dict(self.last.status))
        return self.last

    def provider(self) -> None:
        """Let provider-kubernetes apply and report everything."""
        for key, child in self.children.items():
            if not objects.is_object(child):
                continue
            manifest = copy.deepcopy(child["spec"]["forProvider"]["manifest"])
            manifest |= self._reported(key, manifest)
            conditions = [*synced("True"), _true("Ready")]
            child["status"] = {"atProvider": {"manifest": manifest}, "conditions": conditions}

    def _reported(self, key: str, manifest: Json) -> Json:
        if key == "gateway":
            return self._gateway()
        if manifest["kind"] == certificates.CERTIFICATE:
            return {"status": copy.deepcopy(self.certificate)}
        if manifest["kind"] == certificates.REQUEST:
            return {"status": {"ca": base64.b64encode(pem(manifest["metadata"]["name"]).encode()).decode()}}
        if manifest["kind"] == "ClientTrafficPolicy" and self.accepts:
            return {"status": {"ancestors": [{"conditions": [_true("Accepted")]}]}}
        return {}

    def _gateway(self) -> Json:
        listed = self.own_listeners
        if listed is None:
            listed = [{"name": "http", "protocol": "HTTP", "port": 80}] if PLAIN in self.listeners else []
            listed += [mutual_tls.listener("modelplane-mtls-certificate")] if MUTUAL in self.listeners else []
        told = [{"name": one["name"], "conditions": [_true("Programmed")]} for one in listed]
        found = gateway_manifest(ADDRESS)
        return {"spec": {"listeners": listed}, "status": {**found["status"], "listeners": told}}

    def stack(self) -> None:
        """Let the stack's listeners change on the cluster."""
        standing = self.children.get(cluster_stack.KEY)
        if standing is not None:
            gateway = standing["spec"]["gateway"]
            is_open = {PLAIN: gateway.get("plaintext", True), MUTUAL: bool(gateway.get("certificate"))}
            if any(is_open.values()):
                self.listeners = frozenset(one for one, is_there in is_open.items() if is_there)

    def replica(self, number: int) -> None:
        """Let a replica read the address of its cluster."""
        told = self.cluster["status"].get("gateway")
        if told is not None:
            self.world.replicas[number]["status"] = {"address": copy.deepcopy(told)}

    def backend(self, number: int) -> None:
        """Let the Backend of a replica follow it."""
        address = self.world.replicas[number].get("status", {}).get("address")
        if address is None:
            return
        spec: Json = {"endpoints": [{"fqdn": {"hostname": address["address"], "port": address["port"]}}]}
        if "serverName" in address:
            spec["tls"] = {"sni": address["serverName"]}
        name = f"backend-{number}"
        self.backends[name] = {
            "apiVersion": "gateway.envoyproxy.io/v1alpha1",
            "kind": "Backend",
            "metadata": {"name": name, "namespace": "ml-team"},
            "spec": spec,
        }

    def all(self) -> None:
        """Let everybody move once."""
        self.compose()
        self.stack()
        self.provider()
        for number in range(len(self.world.replicas)):
            self.replica(number)
            self.backend(number)

    def settle(self) -> None:
        """Let everybody move until nothing changes."""
        for _ in range(12):
            self.all()
        self.compose()


def _true(kind: str) -> Json:
    return {"type": kind, "status": "True", "reason": kind}
