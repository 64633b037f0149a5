"""Attacks by what leaves the house: URLs, hosts, headers, template text, and mistakes in an endpoint that serves."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from tests.attack import documents as of
from tests.attack import judge
from tests.attack.documents import TEAM
from tests.attack.plane import Plane, Refused
from tests.attack.play import Play, after, must

Json = Any
PUBLIC = "https://api.together.xyz/v1"
PUBLIC_ADDRESS = "http://93.184.215.14:8000"
GATEWAY_ADDRESS = "203.0.113.10"  # as `surroundings` reports it
URLS = (
    *("http://vllm.other.svc:8000", "http://vllm.other.svc.cluster.local", "http://10-0-0-7.other.pod.cluster.local"),
    *("https://kubernetes.default", "https://kubernetes.default.svc", "http://10.96.0.1:443", "http://localhost:8000"),
    *("http://169.254.169.254/latest/meta-data", "http://metadata.google.internal", "http://[fd00:ec2::254]"),
    *("http://[fe80::1]", "http://[fe80::1%25eth0]", "http://[::1]", "http://[::ffff:7f00:1]", "http://[::127.0.0.1]"),
    *("http://[64:ff9b::a9fe:a9fe]", "http://[64:ff9b:1::7f00:1]", "http://[2002:7f00:1::]", "http://127.1"),
    *("http://2130706433", "http://0x7f000001", "http://0177.0.0.1", "http://0.0.0.0", "http://user@127.0.0.1"),
    *(f"http://{GATEWAY_ADDRESS}/other/llama", f"http://[::ffff:{GATEWAY_ADDRESS}]/other/llama"),
    *("http://169.254.169.254.nip.io", "http://LOCALHOST.", "http://first-0.other.modelplane.internal"),
)
HEADERS = (
    *("Host", "host", "HOST", ":authority", "X-Forwarded-Host", "Forwarded", "x-envoy-original-path"),
    *("Transfer-Encoding", "Content-Length", "Connection", "X-HTTP-Method-Override"),
)
STEERS = {header.lower() for header in HEADERS}
INSIDE = (GATEWAY_ADDRESS, "models.example.com")


def urls(play: Play) -> str:
    """Each URL that leads inside, as an endpoint by hand with a service over it, through the schema and past it."""
    taken = 0
    for url in URLS:
        for past_schema in (False, True):
            plane = play.settled(of.gateway())
            plane.guards.append(lambda made: judge.leads_outside(made, inside=INSIDE))
            try:
                plane.create(of.endpoint("inside", url), past_schema=past_schema)
            except Refused:
                continue
            plane.create(of.service("inside", selector={"endpoint": "inside"}))
            plane.settle()
            must(("ModelEndpoint", TEAM, "inside") in plane.fatal, f"{url} is not refused")
            taken += 1
    return f"{len(URLS)} forms of addresses refused, {taken} of them by the function after the schema"


def clients_host(play: Play) -> str:
    """Endpoints by address without a host, replicas, standbys, behind a gateway with and without a host name."""
    for gateway in (of.gateway(), of.gateway(gateway={"hostname": "*.models.example.com"})):
        service = of.service("mixed", selector={"endpoint": "by-address"})
        service["spec"]["endpoints"].append({"selector": {"matchLabels": {"endpoint": "by-v6"}}, "priority": 1})
        plane = play.settled(
            *(of.node_class(), of.cluster(), gateway, of.deployment(), of.service(), service),
            *(of.endpoint("by-address", PUBLIC_ADDRESS), of.endpoint("by-v6", "http://[2606:2800:21f:cb07::1]:80")),
        )
        routes = [one["metadata"]["name"] for one in plane.of_kind("HTTPRoute")]
        must(routes == ["first", "mixed"], f"not every service has its route: {routes}")
        judge.host_is_ours(plane)
    return "every route rewrites the Host"


def header_host(play: Play) -> str:
    """A credential is put into a header that steers or frames a request."""
    for header in HEADERS:
        for past_schema in (False, True):
            plane = play.settled(of.gateway())
            auth = {"header": header, "secretRef": {"name": "key", "key": "credential"}}
            try:
                plane.create(of.endpoint("steered", PUBLIC, auth=auth), past_schema=past_schema)
            except Refused:
                continue
            plane.create(of.service("steered", selector={"endpoint": "steered"}))
            plane.settle()
            for one in plane.of_kind("HTTPRouteFilter"):
                sent = ((one["spec"].get("credentialInjection") or {}).get("header") or "authorization").lower()
                must(sent not in STEERS, f"a Secret is sent as {sent}")
    return f"{len(HEADERS)} headers refused"


def template_action_in_a_key(play: Play) -> str:
    """A template action stands in every map whose keys an author chooses, through the schema and past it."""
    action = '{{ env "HOME" }}'
    volume = {"name": "v", "csi": {"driver": "csi.example.com", "volumeAttributes": {action: "x"}}}
    in_volume, in_label, in_note = of.template(), of.template(), of.template()
    in_volume["spec"]["volumes"] = [volume]
    in_label["metadata"] = {"labels": {action: "x"}}
    in_note["metadata"] = {"annotations": {action: "x"}}
    in_limits = of.template(resources={"limits": {action: "1"}})
    in_value = of.template(env=[{"name": "A", "value": action}], args=[action])
    for template in (in_volume, in_label, in_note, in_limits, in_value):
        for past_schema in (False, True):
            plane = play.settled(of.node_class(), of.cluster())
            made = of.deployment("text", replicas=1, workers={"topology": {"tensor": 8}, "template": template})
            try:
                plane.create(made, past_schema=past_schema)
            except Refused:
                continue
            plane.settle()
            _no_action(plane)
    return "no key has one; in values it is written as text"


def _no_action(plane: Plane) -> None:
    for standing in plane.remote.values():
        for (kind, _, name), one in standing.items():
            for text, is_key in judge.every_text(one.manifest):
                must(not (is_key and "{{" in text), f"{kind} {name} has the key {text}")
                runs = kind == "LLMInferenceService" and "{{ env" in text
                must(not runs, f"{kind} {name} has the action {text}")


def token_keys(play: Play) -> str:
    """`jwksUri` leads inside."""
    plane = play.settled(of.gateway(), of.endpoint("saas", PUBLIC))
    refused = 0
    for url in URLS:
        inside = url.replace("http://", "https://")
        auth = {"jwt": {"issuer": "https://issuer.example.com", "jwksUri": inside}}
        made = play.settled(of.gateway(), of.endpoint("saas", PUBLIC))
        try:
            made.create(of.service("asked", selector={"endpoint": "saas"}, auth=auth))
        except Refused:
            refused += 1
            continue
        made.settle()
        for policy in made.of_kind("SecurityPolicy"):
            for provider in (policy["spec"].get("jwt") or {}).get("providers") or ():
                host = urlsplit(provider["remoteJWKS"]["uri"]).hostname or ""
                must(not judge.is_internal(host, INSIDE), f"keys are read from {host}")
        must(not made.get("HTTPRoute", TEAM, "asked"), f"the service is open although {inside} cannot be asked")
    must(plane.get("ModelEndpoint", TEAM, "saas"), "no endpoint to protect")
    return f"{len(URLS)} addresses refused, {refused} by the schema"


def mistyped_key(play: Play) -> str:
    """`auth.secretRef.key` of an endpoint that serves is mistyped, then mended."""
    auth = {"secretRef": {"name": "key", "key": "credential"}}
    plane = play.settled(
        of.gateway(), of.endpoint("saas", PUBLIC, auth=auth), of.service("saas", selector={"endpoint": "saas"})
    )
    plane.guards.append(_Served(plane))

    def mistyped(made: Plane) -> None:
        made.edit(
            "ModelEndpoint", TEAM, "saas", lambda one: one["spec"]["auth"]["secretRef"].update(key="tokn"),
            past_schema=True,
        )  # fmt: skip

    for ended in after(plane, mistyped, keep=False):
        must(("ModelEndpoint", TEAM, "saas") in ended.fatal, "the mistake is not told")
    return "the route keeps the endpoint, the mistake is told"


class _Served:
    """The service's route leads to its endpoint after every step."""

    def __init__(self, plane: Plane) -> None:
        must(judge.backends_of(plane.get("HTTPRoute", TEAM, "saas")) == {"saas"}, "the service does not serve")

    def __call__(self, plane: Plane) -> None:
        must(judge.backends_of(plane.get("HTTPRoute", TEAM, "saas")) == {"saas"}, "the endpoint left its route")
