"""A control plane with Envoy Gateway and the AI gateway, on which our composers run in place of Crossplane."""

from __future__ import annotations

import copy
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from modelplane.render import ai_gateway
from modelplane_functions import registry
from modelplane_functions.exchange import Outcome, Ready, Truth
from tests.conformance.aigateway.proxy import Proxy
from tests.conformance.tools import workshop
from tests.e2e import envoy_gateway
from tests.support import controlplane, installation, kubeapi, routing
from tests.support.exchange import settle

Json = Any
CONTROLLER = "ai-gateway-controller"
FOLDER = workshop.REPOSITORY / "examples" / "ai-gateway"
_WEBHOOK = f"envoy-ai-gateway-gateway-pod-mutator.{ai_gateway.NAMESPACE}"
_SETTLE_SECONDS = 60
_LABEL = "test.modelplane.ai/of"


def example() -> dict[str, list[Json]]:
    """Return the documents of the example by kind."""
    found: dict[str, list[Json]] = {}
    for one in installation.documents(*sorted(FOLDER.glob("*.yaml"))):
        found.setdefault(one["kind"], []).append(one)
    return found


EXAMPLE = example()


class World:
    """The objects of a fleet, composed and applied step by step; requests go through `proxy`."""

    def __init__(self, plane: controlplane.Plane) -> None:
        self.plane, self.api = plane, plane.api
        (self.port,) = controlplane.free_ports(1)
        self.gateway = _installed(EXAMPLE["InferenceGateway"][0], self.port)
        self.store: list[Json] = [self.gateway]
        self._children: dict[str, dict[str, Json]] = {}
        self.proxy: Proxy | None = None
        self._others: list[Proxy] = []

    def install(self, **settings: Any) -> None:
        """Start the controllers: the AI gateway first, which ends when one of Envoy Gateway's ports is taken.

        `settings` are parts of Envoy Gateway's configuration.
        """
        installation.definitions(self.plane, "gateway-api", "inference-extension", "envoy-gateway", "ai-gateway")
        tenants = (routing.NAMESPACE, "other", "team-a")
        for name in (ai_gateway.NAMESPACE, envoy_gateway.NAMESPACE, "modelplane-system", *tenants):
            installation.namespace(self.plane, name)
        hooks = dict(ai_gateway.hooks())
        (extension, webhook) = controlplane.free_ports(2)
        self._start_ai_gateway(extension, webhook)
        hooks["service"] = {"ip": {"address": "127.0.0.1", "port": extension}}
        envoy_gateway.start(self.plane, extensionManager=hooks, **settings)
        self.compose(self.gateway)

    def open(self, hosts: Iterable[str]) -> None:
        """Start the proxy of the gateway, for which these names lead to this machine."""
        self.proxy = Proxy(self.plane, "default", self.port, hosts=hosts)

    def open_another(self, hosts: Iterable[str]) -> Proxy:
        """Start another proxy of the gateway on the same port, of which the kernel chooses one for each connection."""
        name = f"proxy-{len(self._others) + 2}"
        self._others.append(Proxy(self.plane, "default", self.port, hosts=hosts, name=name))
        return self._others[-1]

    def put(self, *documents: Json) -> None:
        """Add or replace documents of our kinds, or apply others."""
        for document in documents:
            if not document["apiVersion"].startswith("modelplane.ai/"):
                self.api.apply(document)
                continue
            identity = _identity(document)
            self.store = [each for each in self.store if _identity(each) != identity] + [copy.deepcopy(document)]

    def serve(self, document: Json) -> Outcome:
        """Compose a service until it is ready, and return its last answer; its document gets the status."""
        self.put(document)
        outcome = self.compose(document)
        assert outcome.ready is Ready.TRUE, [
            f"{each.type}: {each.reason}: {each.message}" for each in outcome.conditions
        ]
        return outcome

    def compose(self, document: Json, *, steps: int = 0) -> Outcome:
        """Compose and apply a document until it is ready (or `steps` times), and return the last answer."""
        last: list[Outcome] = []

        def step() -> bool:
            outcome = self._step(document)
            last[:] = [outcome]
            self.keep()
            return outcome.ready is Ready.TRUE

        if steps:
            for _ in range(steps):
                step()
            return last[0]
        try:
            kubeapi.until(step, seconds=_SETTLE_SECONDS, what=f"{document['metadata']['name']} to be ready")
        except (AssertionError, TimeoutError) as error:
            said = [f"{each.type}: {each.reason}: {each.message}" for each in last[0].conditions]
            raise AssertionError(f"{error}\n" + "\n".join(said)) from None
        return last[0]

    def observed(self, document: Json) -> dict[str, Json]:
        """Return the children of a document as the API server holds them."""
        known = self._children.get(_identity(document), {})
        found = {
            key: self.api.get(one["apiVersion"], one["kind"], one["metadata"]["name"], one["metadata"].get("namespace"))
            for key, one in known.items()
        }
        return {key: one for key, one in found.items() if one is not None}

    def _step(self, document: Json) -> Outcome:
        children = self.observed(document)
        current = next(each for each in self.store if _identity(each) == _identity(document))
        compose = registry.composer(document["apiVersion"], document["kind"]).load()
        outcome = settle(compose, copy.deepcopy(current), children=children, store=[*self.store, *self._routes()])
        assert outcome.fatal is None, outcome.fatal
        conditions = [routing.condition(each.type, is_true=each.status is Truth.TRUE) for each in outcome.conditions]
        current["status"] = {**outcome.status, "conditions": conditions}
        wanted = {key: dict(child.resource) for key, child in outcome.children.items()}
        for key, resource in wanted.items():
            self.api.apply(_plain(resource))
            self._children.setdefault(_identity(document), {})[key] = resource
        for key in set(children) - set(wanted):
            self.api.delete(children[key])
            del self._children[_identity(document)][key]
        return outcome

    def _routes(self) -> list[Json]:
        return [
            {"apiVersion": "gateway.networking.k8s.io/v1", "kind": "HTTPRoute", **each}
            for each in self.api.all_of("gateway.networking.k8s.io/v1", "HTTPRoute")
        ]

    def keep(self) -> None:
        """Be the kubelet and the cloud: proxies are there, their Services have addresses, files are mounted."""
        for one in self.api.all_of("apps/v1", "Deployment", envoy_gateway.NAMESPACE):
            one |= {"apiVersion": "apps/v1", "kind": "Deployment"}
            count = one["spec"].get("replicas", 1)
            status = dict.fromkeys(("replicas", "readyReplicas", "availableReplicas", "updatedReplicas"), count)
            status["observedGeneration"] = one["metadata"]["generation"]
            self.api.merge(one, {"status": status}, subresource="status")
        for one in self.api.all_of("v1", "Service", envoy_gateway.NAMESPACE):
            if one["spec"].get("type") == "LoadBalancer" and not one["status"].get("loadBalancer"):
                one |= {"apiVersion": "v1", "kind": "Service"}
                ingress = [{"ip": routing.GATEWAY_ADDRESS}]
                self.api.merge(one, {"status": {"loadBalancer": {"ingress": ingress}}}, subresource="status")
        for one in (*((self.proxy,) if self.proxy else ()), *self._others):
            one.sync()

    def _start_ai_gateway(self, extension: int, webhook: int) -> None:
        certificates = self.plane.issue("ai-gateway", CONTROLLER)
        shutil.copy(self.plane.folder / "ca.crt", certificates / "ca.crt")
        self.api.apply(_webhook(webhook))
        process = self.plane.start(
            controlplane.Process(
                CONTROLLER,
                (
                    str(workshop.program(CONTROLLER)),
                    f"--port=127.0.0.1:{extension}",
                    *("--enableLeaderElection=false", f"--webhookPort={webhook}", f"--tlsCertDir={certificates}"),
                    *("--endpointPrefixes=openai:,cohere:/cohere,anthropic:", "--logLevel=debug"),
                ),
                self.plane.folder / f"{CONTROLLER}.log",
                {
                    "KUBECONFIG": str(self.plane.kubeconfig),
                    "POD_NAMESPACE": ai_gateway.NAMESPACE,
                    "DISABLE_PPROF": "true",
                },
            )
        )
        controlplane.await_port(process, extension, seconds=_SETTLE_SECONDS)


def _installed(document: Json, port: int) -> Json:
    """Return an InferenceGateway whose charts others have installed, on a port of this machine."""
    made = copy.deepcopy(document)
    made["spec"] |= {"envoyGateway": {"install": False}, "aiGateway": {"install": False}}
    made["spec"]["gateway"]["port"] = port
    made["status"] = {}
    return made


def _webhook(port: int) -> Json:
    """Return the webhook as the chart has it, which no Pod of this test meets."""
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "MutatingWebhookConfiguration",
        "metadata": {"name": _WEBHOOK},
        "webhooks": [
            {
                "name": f"ai-gateway-controller.{ai_gateway.NAMESPACE}.svc.cluster.local",
                "clientConfig": {"url": f"https://127.0.0.1:{port}/mutate"},
                "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}],
                "sideEffects": "None",
                "admissionReviewVersions": ["v1"],
                "failurePolicy": "Fail",
            }
        ],
    }


def _plain(resource: Mapping[str, Json]) -> Json:
    return copy.deepcopy(dict(resource))


def _identity(document: Json) -> str:
    metadata = document["metadata"]
    return f"{document['kind']}/{metadata.get('namespace', '')}/{metadata['name']}"


def started(folder: Path) -> Any:
    """Return the context of a control plane in `folder`."""
    return controlplane.running(folder, "fleet")
