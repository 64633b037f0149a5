"""Refused access and choice of endpoints of ModelServices, and refused addresses of clients of InferenceGateways."""

from __future__ import annotations

from typing import Any

from modelplane.structural import Cause
from tests.conformance.crd.case import Case, Fine, one

Json = Any
_KIND = "ModelService"
_GATEWAY = "InferenceGateway"


def _service(name: str, field: str, value: Json, says: str | Cause, at: str = "") -> Case:
    return one(f"service-{name}", _KIND, ("spec", field), value, says, at=f"spec.{field}{at and '.'}{at}")


ACCESS: tuple[Case, ...] = (
    one(
        "service-limit-per-client-without-auth",
        _KIND,
        ("spec", "rateLimit"),
        {"requests": 1, "unit": "Hour", "per": "Client"},
        "needs auth, which tells clients apart",
        at="spec",
    ),
    _service("limit-of-nothing", "rateLimit", {"requests": 0, "unit": "Hour"}, Cause.INVALID, "requests"),
    _service("limit-of-no-tokens", "rateLimit", {"requests": 1, "unit": "Hour", "tokens": 0}, Cause.INVALID, "tokens"),
    _service("limit-per-key", "rateLimit", {"requests": 1, "unit": "Hour", "per": "Key"}, Cause.NOT_SUPPORTED, "per"),
    _service("no-clients", "clients", {}, "write a network in allowedCIDRs or deniedCIDRs"),
    _service("everybody-denied", "clients", {"deniedCIDRs": ["0.0.0.0/0"]}, "must not deny every address"),
    _service(
        "network-allowed-and-denied",
        "clients",
        {"allowedCIDRs": ["10.0.0.0/8"], "deniedCIDRs": ["10.0.0.0/8"]},
        "is in allowedCIDRs and in deniedCIDRs",
    ),
    _service("network-without-length", "clients", {"allowedCIDRs": ["10.0.0.1"]}, Cause.INVALID, "allowedCIDRs.0"),
    _service("cors-for-nobody", "cors", {"allowOrigins": []}, Cause.INVALID, "allowOrigins"),
    _service("cors-without-scheme", "cors", {"allowOrigins": ["app.example"]}, Cause.INVALID, "allowOrigins.0"),
    _service("cors-with-path", "cors", {"allowOrigins": ["https://a.example/b"]}, Cause.INVALID, "allowOrigins.0"),
    _service("cors-cookies-for-all", "cors", {"allowOrigins": ["*"], "allowCredentials": True}, "write the origins"),
    _service("cors-method", "cors", {"allowOrigins": ["*"], "allowMethods": ["post"]}, Cause.INVALID, "allowMethods.0"),
    _service("size-of-nothing", "maxRequestSize", "0Mi", Cause.INVALID),
    _service("size-in-bytes", "maxRequestSize", "1000000", Cause.INVALID),
    _service("size-too-large", "maxRequestSize", "257Mi", Cause.INVALID),
    _service(
        "locality-by-cluster", "locality", {"topologyKey": "modelplane.ai/cluster"}, Cause.NOT_SUPPORTED, "topologyKey"
    ),
    _service("locality-by-host", "locality", {"header": "Host"}, "belongs to the protocol or to the gateway", "header"),
    _service(
        "affinity-by-our-header",
        "affinity",
        {"header": "X-Modelplane-Client"},
        "belongs to the protocol or to the gateway",
        "header",
    ),
    _service("affinity-by-cookie", "affinity", {"type": "Cookie"}, Cause.NOT_SUPPORTED, "type"),
    _service("slow-start-of-nothing", "slowStart", {"window": "0s"}, "must be longer than 0s", "window"),
    Case(
        "service-slow-start-with-affinity",
        _KIND,
        ((("spec", "slowStart"), {}), (("spec", "affinity"), {})),
        "spec",
        "slowStart has no effect with affinity",
    ),
    _service("ejection-after-nothing", "ejection", {"consecutive5xxErrors": 0}, Cause.INVALID, "consecutive5xxErrors"),
    _service("ejection-of-nobody", "ejection", {"maxEjectionPercent": 0}, Cause.INVALID, "maxEjectionPercent"),
    _service("ejection-for-no-time", "ejection", {"baseEjectionTime": "0m"}, "longer than 0s", "baseEjectionTime"),
    one(
        "gateway-addresses-from-nowhere",
        _GATEWAY,
        ("spec", "clients"),
        {},
        Cause.REQUIRED,
        at="spec.clients.addressFrom",
    ),
    one(
        "gateway-hops-of-a-connection",
        _GATEWAY,
        ("spec", "clients"),
        {"addressFrom": "Connection", "trustedHops": 1},
        "trustedHops counts proxies in X-Forwarded-For",
    ),
    one(
        "gateway-no-hops",
        _GATEWAY,
        ("spec", "clients"),
        {"addressFrom": "XForwardedFor", "trustedHops": 0},
        Cause.INVALID,
        at="spec.clients.trustedHops",
    ),
)

FINE: tuple[Fine, ...] = (
    Fine(
        "service-with-all-of-access",
        _KIND,
        (
            (("spec", "auth"), {"apiKeys": {"secretRef": {"name": "callers"}, "header": "x-api-key"}}),
            (("spec", "rateLimit"), {"requests": 60, "unit": "Minute", "per": "Client"}),
            (("spec", "clients"), {"allowedCIDRs": ["10.0.0.0/8", "2001:db8::/32"], "deniedCIDRs": ["10.9.0.0/16"]}),
            (("spec", "cors"), {"allowOrigins": ["https://app.example", "http://*.dev.example:8080"]}),
            (("spec", "maxRequestSize"), "8Mi"),
            (("spec", "locality"), {}),
            (("spec", "slowStart"), {}),
            (("spec", "ejection"), {}),
        ),
    ),
    Fine("service-with-affinity", _KIND, ((("spec", "affinity"), {}),)),
    Fine("service-for-every-page", _KIND, ((("spec", "cors"), {"allowOrigins": ["*"], "allowHeaders": ["*"]}),)),
    Fine(
        "gateway-behind-proxies", _GATEWAY, ((("spec", "clients"), {"addressFrom": "XForwardedFor", "trustedHops": 2}),)
    ),
)
