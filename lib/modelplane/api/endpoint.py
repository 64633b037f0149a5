"""ModelEndpoint, decoded for routing."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from kubecel import interruption
from modelplane import names, seen
from modelplane.api import upstreams
from modelplane.api.fields import Field
from modelplane.errors import InvalidInput
from modelplane.routing import headers, hosts, url
from modelplane.routing.egress import Rules
from modelplane.routing.model import (
    Api,
    AuthScheme,
    CertificateRef,
    Credential,
    Endpoint,
    HealthCheck,
    Tls,
)
from modelplane.routing.plan import Candidate
from modelplane.routing.url import AddressKind, Scheme, Url
from modelplane.workload import authorities

Json: TypeAlias = Any

# Source: Envoy Gateway v1.9.0, InjectedCredentialKey. It reads this key of the Secret and no other.
CREDENTIAL_KEY = "credential"
_AUTHORIZATION = "Authorization"
_IN_FORCE = ("url", "host", "api", "model", "auth", "tls", "healthCheck")
_PLAIN = Rules()
# It stands in a request line of Envoy's own making.
_CHECK_PATH = re.compile(r"/[A-Za-z0-9._~!$&'()*+,;=:@%/?-]*\Z")


def decode(document: Mapping[str, Json]) -> Endpoint:
    """Return the endpoint of a ModelEndpoint.

    Raises: InvalidInput with the field's full path (the author's fault).
    """
    root = Field(document)
    namespace = root.at("metadata", "namespace").text()
    spec = root.at("spec")
    address = upstreams.read(spec.at("url"), namespace, url.parse)
    name = root.at("metadata", "name").text()
    host = _host(spec.at("host"), namespace, address)
    endpoint = Endpoint(
        namespace=namespace,
        name=name,
        url=address,
        # Behind an address alone may stand anybody, told apart by Host; so never the client's.
        host=host or names.internal_host(namespace, name),
        apis=_apis(spec.at("api")),
        model=spec.at("model", "name").optional(),
        credential=_credential(spec.at("auth")),
        tls=_tls(spec, namespace, address, host),
        health=_health(spec.at("healthCheck")),
        is_composed=is_composed(document),
        place=names.place(root.at("metadata", "labels").members()),
    )
    if endpoint.is_composed:
        _check_composed(endpoint, spec)
    return endpoint


def is_composed(document: Mapping[str, Json]) -> bool:
    """Return whether a ModelDeployment composed the endpoint, which only its controller reference decides."""
    return any(
        owner.at("controller").value is True
        and owner.at("kind").value == "ModelDeployment"
        and owner.at("apiVersion").text("").partition("/")[0] == names.GROUP
        for owner in Field(document).at("metadata", "ownerReferences").items()
    )


def check_egress(endpoint: Endpoint, rules: Sequence[Rules]) -> None:
    """Check that at least one of the gateways allows requests to the endpoint. Without gateways plain rules apply.

    Raises: InvalidInput with the field's full path (the author's fault).
    """
    if endpoint.is_composed:
        return
    refusals = [list(_refusals(endpoint, each)) for each in rules or (_PLAIN,)]
    if all(refusals):
        raise refusals[0][0]


def _refusals(endpoint: Endpoint, rules: Rules) -> Iterator[InvalidInput]:
    try:
        rules.check(endpoint.namespace, endpoint.url.kind, endpoint.url.host)
    except InvalidInput as error:
        yield error.under("spec", "url")
    try:
        rules.check_host(endpoint.host)
    except InvalidInput as error:
        yield error.under("spec", "host")


def _check_composed(endpoint: Endpoint, spec: Field) -> None:
    """Return when the endpoint leads to its own replica and to nothing beside it behind the same gateway."""
    own = names.internal_host(endpoint.namespace, endpoint.name)
    if endpoint.host != own:
        raise spec.at("host").wrong(
            f"must be {own} for an endpoint that a ModelDeployment composes; create another ModelEndpoint instead"
        )
    if endpoint.url.prefix:
        raise spec.at("url").wrong(
            "must have no path for an endpoint that a ModelDeployment composes; create another ModelEndpoint instead"
        )


def is_draining(document: Mapping[str, Json]) -> bool:
    """Return whether the endpoint must receive no further requests."""
    return seen.at(document, "spec", "drain") is True


def in_force(document: Mapping[str, Json]) -> dict[str, Json]:
    """Return the part of the spec that the objects of the gateway are made from; the status keeps it."""
    spec = Field(document).at("spec").members()
    return {key: spec[key] for key in _IN_FORCE if spec.get(key) is not None}


def candidate(document: Mapping[str, Json], rules: Rules = _PLAIN, *, is_carried: bool = False) -> Candidate:
    """Return the endpoint as a candidate of a service. An invalid endpoint is never an error.

    An endpoint that is invalid, or that the `rules` of its gateway refuse, is read from status.inForce. If that is
    invalid too, the candidate has only a problem. With `is_carried` the route of the service already includes the
    endpoint, so status.inForce stays although the rules have changed.
    """
    interruption.checkpoint()
    root = Field(document)
    name = root.at("metadata", "name").text()
    is_ready, backend_name, is_silent = _said(root)
    credential_name = _credential_name(root)
    try:
        endpoint, problem = decode(document), ""
        check_egress(endpoint, [rules])
    except InvalidInput as error:
        kept = _kept(root, None if is_carried else rules)
        if kept is None:
            is_unrecorded = is_ready and not root.at("status", "inForce").is_set
            return Candidate(name, ready=False, problem=str(error), is_silent=is_silent, is_unrecorded=is_unrecorded)
        endpoint, problem = kept, f"{error}; the existing configuration is kept as it is"
    return Candidate(name, is_ready, backend_name, endpoint, problem, is_silent, credential_name)


def _said(root: Field) -> tuple[bool, str, bool]:
    """Return whether the status says that the endpoint is ready, under which Backend, and whether it says neither."""
    status = root.at("status").value
    said: Mapping[str, Json] = status if isinstance(status, Mapping) else {}
    ready, name, own = said.get("ready"), said.get("backendName"), root.at("metadata", "name").text()
    # A status may be written by somebody else, and the Backend beside it belong to another endpoint.
    backend_name = name if name in (own, names.backend(own)) else ""
    is_silent = not isinstance(ready, bool) or (ready and not backend_name)
    return ready is True and bool(backend_name), backend_name, is_silent


def _credential_name(root: Field) -> str:
    """Return the filter that the status names, if it is one that is or was the endpoint's; else the one of before: the
    version that names it gives no other.
    """
    own = root.at("metadata", "name").text()
    status = root.at("status").value
    said = status.get("credentialName") if isinstance(status, Mapping) else None
    return names.credential_filter(own) if said == names.credential_filter(own) else names.former_credential_filter(own)


def _kept(root: Field, rules: Rules | None) -> Endpoint | None:
    """Return the endpoint as it runs, judged by the same rules as its spec; None where nothing is in force."""
    try:
        if not root.at("status", "inForce").members():
            return None
        kept = decode({"metadata": root.at("metadata").value, "spec": root.at("status", "inForce").value})
        if rules is not None:
            check_egress(kept, [rules])
        return kept
    except InvalidInput:
        return None


def _host(field: Field, namespace: str, address: Url) -> str | None:
    given = field.optional()
    if given is None:
        return address.host if address.kind is AddressKind.FQDN else None
    try:
        host = url.host_name(given)
        hosts.check_upstream(namespace, host)
    except InvalidInput as error:
        raise error.under(*field.path) from None
    return host


def _apis(field: Field) -> tuple[Api, ...]:
    found = [item.choice(Api) for item in field.items()]
    return tuple(sorted(set(found))) or (Api.OPENAI,)


def _credential(field: Field) -> Credential | None:
    if not field.is_set:
        return None
    key = field.at("secretRef", "key")
    if key.text(CREDENTIAL_KEY) != CREDENTIAL_KEY:
        raise key.wrong(
            f"must be {CREDENTIAL_KEY!r}: the gateway reads only this key of the Secret; its value must be the whole "
            'value of the header, for example "Bearer sk-..."'
        )
    scheme = field.at("scheme").choice(AuthScheme, AuthScheme.BEARER)
    header = _AUTHORIZATION
    if scheme is AuthScheme.HEADER:
        header = field.at("header").text()
        try:
            headers.check_credential(header)
        except InvalidInput as error:
            raise error.under(*field.at("header").path) from None
    return Credential(field.at("secretRef", "name").text(), header, scheme)


def _tls(spec: Field, namespace: str, address: Url, host: str | None) -> Tls | None:
    field = spec.at("tls")
    if address.scheme is not Scheme.HTTPS:
        if field.is_set:
            raise field.wrong("applies only to https; write spec.url with https://, or remove tls")
        return None
    sni = field.at("sni").optional() or (address.host if address.kind is AddressKind.FQDN else host)
    if sni is None:
        raise field.at("sni").wrong(
            "is required for https to an address, because the gateway would otherwise ask for the name that its client "
            "used; write the name in the endpoint's certificate"
        )
    try:
        # What terminates TLS may choose by this name where it sends requests. It has any number of labels.
        hosts.check_owner(namespace, sni.lower().removesuffix("."))
    except InvalidInput as error:
        raise error.under(*field.at("sni").path) from None
    skip = field.at("insecureSkipVerify").flag(default=False)
    refs = tuple(
        CertificateRef(ref.at("kind").text("ConfigMap"), ref.at("name").text())
        for ref in field.at("caCertificateRefs").items()
    )
    if skip and refs:
        raise field.wrong("caCertificateRefs have no effect with insecureSkipVerify; remove one of them")
    given = field.at("caCertificates")
    if given.is_set and (skip or refs):
        raise given.wrong("has no effect with caCertificateRefs or insecureSkipVerify; write one of the three")
    bundle = authorities.bundle([given.text()]) if given.is_set else ""
    if given.is_set and not bundle:
        raise given.wrong(
            'must be certificates in PEM and nothing else: blocks from "-----BEGIN CERTIFICATE-----" to "-----END '
            'CERTIFICATE-----"'
        )
    return Tls(sni, refs, skip, bundle)


def _health(field: Field) -> HealthCheck | None:
    if not field.is_set:
        return None
    path = field.at("path")
    if not _CHECK_PATH.match(path.text("/health")):
        raise path.wrong('must start with "/" and have only URL characters')
    return HealthCheck(path.text("/health"), field.at("interval").text("10s"), field.at("timeout").text("5s"))
