"""What leaves the house, by the functions: who is refused, what is held, and what an upgrade keeps."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from modelplane import names
from modelplane.api import replica as replicas
from modelplane.errors import InvalidInput, dotted
from modelplane_functions import admissible
from modelplane_functions.compose import inference_gateway, model_endpoint, model_service
from modelplane_functions.exchange import Observed, Outcome, Truth
from tests.support import replica_world as world
from tests.support import routing
from tests.support.exchange import settle
from tests.support.serving import Running

Json = Any

# Each was taken once: another's Service and pod, the API server, metadata, IPv6 forms, another's path on the gateway.
TAKEN = [
    *("http://vllm.other.svc:8000", "http://10-0-0-7.other.pod.cluster.local:8000", "https://kubernetes.default"),
    *("http://10.96.0.1:443", "http://169.254.169.254/latest", "http://[fe80::1]", "http://[::ffff:7f00:1]"),
    *("http://[::127.0.0.1]", "http://[64:ff9b::a9fe:a9fe]", f"http://{routing.GATEWAY_ADDRESS}/other/llama"),
]


def endpoint(url: str, *gateways: Json, children: Json = None, **spec: Json) -> Outcome:
    document = routing.model_endpoint("own", url, status={}, **spec)
    return settle(model_endpoint.compose, document, children=children, store=gateways)


@pytest.mark.parametrize("url", TAKEN)
def test_an_endpoint_leads_to_nobody_inside(url: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        endpoint(url, routing.inference_gateway())
    assert dotted(caught.value.path) == "spec.url"


def test_an_endpoint_says_as_host_no_name_of_the_gateway() -> None:
    gateway = routing.inference_gateway(gateway={"hostname": "*.models.example"})
    with pytest.raises(InvalidInput, match="own gateway") as caught:
        endpoint("http://203.0.113.77", gateway, host="chat.other.models.example")
    assert dotted(caught.value.path) == "spec.host"


def test_one_gateway_that_opens_an_address_is_enough_and_a_service_asks_its_own() -> None:
    shut, open_ = routing.inference_gateway("default"), routing.inference_gateway("lab", address="203.0.113.11")
    open_["spec"]["endpoints"] = {"allowedCIDRs": ["10.1.0.0/16"]}
    with pytest.raises(InvalidInput, match=r"spec\.endpoints\.allowedCIDRs"):
        endpoint("http://10.1.0.5:8000", shut)
    assert "backend" in endpoint("http://10.1.0.5:8000", shut, open_).children
    private = routing.model_endpoint("own", "http://10.1.0.5:8000")
    for name, is_open in (("default", False), ("lab", True)):
        service = routing.model_service(routing.group(endpoint="own"), gatewayRef={"name": name})
        outcome = settle(model_service.compose, service, store=[shut, open_, private])
        assert ("route" in outcome.children) is is_open, name


def test_a_composed_endpoint_asks_nobody_and_leads_to_its_own_replica() -> None:
    composed = routing.replica_endpoint("llama-0", "llama", url="http://10.0.1.50")
    outcome = settle(model_endpoint.compose, composed, store=[])
    assert outcome.requirements == {}
    assert outcome.children["backend"].resource["spec"]["endpoints"] == [
        {"hostname": "llama-0.ml-team.modelplane.internal", "ip": {"address": "10.0.1.50", "port": 80}}
    ]


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"url": "http://10.0.1.50/other/llama"}, "spec.url"),
        ({"host": "llama-1.ml-team.modelplane.internal"}, "spec.host"),
        ({"host": "api.example.com"}, "spec.host"),
    ],
)
def test_who_says_to_be_composed_gets_no_further_than_one_replica(change: Json, path: str) -> None:
    forged = routing.replica_endpoint("llama-0", "llama", url="http://10.0.1.50")
    forged["spec"].update(change)
    with pytest.raises(InvalidInput) as caught:
        settle(model_endpoint.compose, forged, store=[])
    assert dotted(caught.value.path) == path


@pytest.mark.parametrize(
    "owners",
    [
        [{"apiVersion": names.API_VERSION, "kind": "ModelDeployment", "name": "llama"}],
        [{"apiVersion": names.API_VERSION, "kind": "ModelService", "name": "llama", "controller": True}],
        [
            {
                "apiVersion": "modelplane.ai.example.com/v1",
                "kind": "ModelDeployment",
                "name": "llama",
                "controller": True,
            }
        ],
    ],
)
def test_what_an_endpoint_says_of_itself_makes_it_no_composed_one(owners: Json) -> None:
    labelled = routing.replica_endpoint("llama-0", "llama", url="http://10.0.1.50")
    labelled["metadata"]["ownerReferences"] = owners
    with pytest.raises(InvalidInput, match="private network"):
        settle(model_endpoint.compose, labelled, store=[])


@pytest.mark.parametrize("priority", [0, 1])
@pytest.mark.parametrize("hostname", ["", "*.models.example"])
def test_a_clients_host_reaches_no_endpoint(hostname: str, priority: int) -> None:
    """By address or by name, behind a gateway with a host name or without one, alone or with a standby."""
    store = [
        routing.inference_gateway(gateway={"hostname": hostname} if hostname else {}),
        routing.model_endpoint("a", "http://203.0.113.77"),
        routing.model_endpoint("b", "http://[2001:db8::7]"),
    ]
    groups = [routing.group(endpoint="a"), routing.group(endpoint="b", priority=priority)]
    outcome = settle(model_service.compose, routing.model_service(*groups), store=store)
    backends = [each.resource["spec"]["endpoints"] for key, each in outcome.children.items() if "backend" in key]
    route = settle(
        model_service.compose, routing.model_service(*groups), children=routing.observed(outcome), store=store
    ).children["route"]
    (rule,) = route.resource["spec"]["rules"]
    if priority:
        own = outcome.children["rule-filter"].resource["spec"]["urlRewrite"]
        assert own == {"hostname": {"type": "Backend"}}
        found = [each["hostname"] for each in backends for each in each]
    else:
        found = [ref["filters"][0]["urlRewrite"]["hostname"] for ref in rule["backendRefs"]]
    assert sorted(found) == ["a.ml-team.modelplane.internal", "b.ml-team.modelplane.internal"]


@pytest.mark.parametrize(
    "uri", ["https://127.0.0.1/k", "https://[fe80::1]/k", "https://10.0.0.1/k", "https://kc.other.svc/k"]
)
def test_the_keys_of_a_token_issuer_are_read_from_nobody_inside(uri: str) -> None:
    running = Running()
    before = running.children
    running.service["spec"]["auth"] = {"jwt": {"issuer": "https://i.example", "jwksUri": uri}}
    with pytest.raises(InvalidInput) as caught:
        running.compose()
    assert dotted(caught.value.path) == "spec.auth.jwt.jwksUri"
    assert running.children == before


# --- what runs --------------------------------------------------------------------------------------------------------


def running_on_premises(*, recorded: bool, standby: bool = False) -> Running:
    """Return a service that serves a private endpoint which its gateway no longer allows, as after an upgrade."""
    running = Running(standby=standby)
    running.endpoint("default")["spec"]["endpoints"] = {"allowedCIDRs": ["10.0.0.0/8"]}
    private = routing.model_endpoint("own", "http://10.1.0.5", labels={names.LABEL_DEPLOYMENT: "llama"})
    if recorded:
        private["status"]["inForce"] = dict(private["spec"])
    running.store.append(private)
    running.settle()
    del running.endpoint("default")["spec"]["endpoints"]
    return running


@pytest.mark.parametrize("recorded", [False, True])
def test_hold_an_endpoint_that_runs_stays_in_the_route_when_it_would_be_refused_anew(recorded: bool) -> None:  # noqa: FBT001 - a table's column
    running = running_on_premises(recorded=recorded)
    route = copy.deepcopy(running.route)
    outcome = running.settle()
    assert running.route == route
    assert any(ref["name"] == "own" for ref in route["rules"][0]["backendRefs"])
    told = [each for each in outcome.conditions if each.status is Truth.FALSE or "private network" in each.message]
    assert any("own" in each.message and "kept as it is" in each.message for each in told)


def test_an_address_written_into_an_endpoint_that_runs_is_not_what_the_route_leads_to() -> None:
    running = Running()
    endpoint_ = running.endpoint("llama-1")
    del endpoint_["metadata"]["ownerReferences"]
    endpoint_["status"]["inForce"] = copy.deepcopy(endpoint_["spec"])
    running.settle()
    route = copy.deepcopy(running.route)
    endpoint_["spec"] |= {"url": "http://10.96.0.1", "host": "x.example.com"}
    running.settle()
    assert running.route == route


def test_hold_a_replica_that_runs_with_a_template_that_would_be_refused_anew() -> None:
    document, children = world.running()
    template = document["spec"]["workers"]["template"]
    template["metadata"] = {"annotations": {"sidecar.istio.io/inject": "true"}}
    outcome = world.compose(document, world.cluster(), children=children)
    assert outcome.children.keys() == children.keys()
    assert outcome.children["workload"].resource["spec"] == children["workload"]["spec"]
    assert "spec.workers.template.metadata.annotations.sidecar.istio.io/inject" in world.message(outcome, "Serving")
    assert replicas.decode(document).name, "it is still counted"
    admissible.check(Observed(document))
    assert not world.compose(document, world.cluster()).children, "a new one is not rendered"


# --- the network ------------------------------------------------------------------------------------------------------


def test_a_network_policy_stands_where_the_platform_asks_for_it() -> None:
    gateway = routing.inference_gateway(
        envoyGateway={"install": False},
        endpoints={"deniedCIDRs": ["10.96.0.0/12", "fd00:10:96::/112"], "networkPolicy": {"enabled": True}},
    )
    policy = inference_gateway.compose(Observed(gateway)).children["proxy-policy"].resource
    assert policy["metadata"]["namespace"] == "envoy-gateway-system"
    everywhere = [peer["ipBlock"] for peer in policy["spec"]["egress"][0]["to"]]
    assert [each["cidr"] for each in everywhere] == ["0.0.0.0/0", "::/0"]
    for network in ("169.254.0.0/16", "10.96.0.0/12"):
        assert network in everywhere[0]["except"]
    for network in ("fe80::/10", "fd00:10:96::/112"):
        assert network in everywhere[1]["except"]
    assert policy["spec"]["podSelector"]["matchLabels"] == {
        "gateway.envoyproxy.io/owning-gateway-name": "default",
        "gateway.envoyproxy.io/owning-gateway-namespace": "modelplane-system",
    }
    del gateway["spec"]["endpoints"]["networkPolicy"]
    assert "proxy-policy" not in inference_gateway.compose(Observed(gateway)).children


@pytest.mark.parametrize(
    ("endpoints", "path"),
    [
        ({"allowedCIDRs": ["10.0.0.1/8"]}, "allowedCIDRs[0]"),
        ({"allowedCIDRs": ["ten"]}, "allowedCIDRs[0]"),
        ({"deniedCIDRs": ["0.0.0.0/0"]}, "deniedCIDRs[0]"),
        ({"nat64Prefixes": ["2001:db8::/33"]}, "nat64Prefixes[0]"),
        ({"nat64Prefixes": ["10.0.0.0/8"]}, "nat64Prefixes[0]"),
    ],
)
def test_a_network_that_is_none_is_named(endpoints: Json, path: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        inference_gateway.compose(Observed(routing.inference_gateway(endpoints=endpoints)))
    assert dotted(caught.value.path) == f"spec.endpoints.{path}"
