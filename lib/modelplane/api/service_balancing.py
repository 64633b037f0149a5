"""Choice of an endpoint for the requests of a ModelService, decoded."""

from __future__ import annotations

import re

from modelplane import names
from modelplane.api.fields import Field
from modelplane.errors import InvalidInput
from modelplane.routing import headers
from modelplane.routing.balancing import Affinity, AffinityType, Balancing, Ejection, Locality
from modelplane.routing.model import ApiKeys, Jwt

_SOME = re.compile(r"[1-9]")
_KEYS = (names.LABEL_REGION, names.LABEL_ZONE)


def decode(spec: Field, proof: ApiKeys | Jwt | None) -> Balancing:
    """Return the choices in a service's spec. Raises: InvalidInput (the author's fault)."""
    affinity = _affinity(spec.at("affinity"), proof)
    window = spec.at("slowStart")
    if window.is_set and affinity is not None:
        raise window.wrong(
            "has no effect with affinity, which decides by a hash how many sessions a replica has; write one of them"
        )
    return Balancing(
        affinity,
        _locality(spec.at("locality"), proof),
        _time(window.at("window"), "60s") if window.is_set else "",
        _ejection(spec.at("ejection")),
    )


def _affinity(field: Field, proof: ApiKeys | Jwt | None) -> Affinity | None:
    if not field.is_set:
        return None
    type_ = field.at("type").choice(AffinityType, AffinityType.HEADER)
    if type_ is not AffinityType.HEADER:
        return Affinity(type_)
    return Affinity(type_, _header(field.at("header"), Affinity().header, proof))


def _locality(field: Field, proof: ApiKeys | Jwt | None) -> Locality | None:
    if not field.is_set:
        return None
    key = field.at("topologyKey").text(names.LABEL_REGION)
    if key not in _KEYS:
        raise field.at("topologyKey").wrong(f"must be {' or '.join(_KEYS)}, which endpoints have from their clusters")
    return Locality(key, _header(field.at("header"), Locality().header, proof))


def _header(field: Field, default: str, proof: ApiKeys | Jwt | None) -> str:
    name = field.text(default)
    try:
        headers.check_choice(name)
    except InvalidInput as error:
        raise error.under(*field.path) from None
    kept = proof.header if isinstance(proof, ApiKeys) else "Authorization" if isinstance(proof, Jwt) else ""
    if name.lower() == kept.lower():
        raise field.wrong(
            f"{name} carries the client's key or token, which the gateway removes before it chooses an endpoint; write "
            f"another header, for example {default}"
        )
    return name


def _ejection(field: Field) -> Ejection | None:
    if not field.is_set:
        return None
    tuned = Ejection()
    return Ejection(
        field.at("consecutive5xxErrors").count(tuned.server_errors, least=1, most=1000),
        field.at("consecutiveGatewayErrors").count(tuned.gateway_errors, least=1, most=1000),
        field.at("consecutiveLocalOriginFailures").count(tuned.local_failures, least=1, most=1000),
        _time(field.at("interval"), tuned.interval),
        _time(field.at("baseEjectionTime"), tuned.time),
        field.at("maxEjectionPercent").count(tuned.percent, least=1, most=100),
    )


def _time(field: Field, default: str) -> str:
    """Return a duration above zero: with none, Envoy would take its own default or refuse the whole policy."""
    text = field.text(default)
    if not _SOME.search(text):
        raise field.wrong(f"must be longer than 0s; write for example {default}")
    return text
