"""The certificate that the fleet's gateway shows to the clusters' gateways, and the authority that signs it.

The gateway shows it to every endpoint that asks its clients for a certificate, because Envoy Gateway has one for all
upstreams of a Gateway. So a gateway of an earlier version gets one only if its author says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from modelplane import names, seen
from modelplane.api.fields import Field
from modelplane.api.gateway import ClientMode
from modelplane.render import certificates
from modelplane.render import gateway as rendering
from modelplane.render.certificates import Identity
from modelplane.routing.model import Gateway
from modelplane.workload import authorities
from modelplane_functions import hold
from modelplane_functions.exchange import Child, Condition, Json, Kind, Observed, Ready, Requirement, Truth

CONDITION = "ClientCertificateReady"
_KIND, _REQUEST = "certificates", "authority"
_KINDS = {_KIND: Kind(certificates.API_VERSION, certificates.CERTIFICATE)}


@dataclass(frozen=True, slots=True)
class Shown:
    """The children of the certificate, what is asked for it and said of it, and the Secret that the proxies show.

    Without `secret` they show none.
    """

    children: Mapping[str, Child] = field(default_factory=dict)
    kinds: Mapping[str, Kind] = field(default_factory=dict)
    status: Mapping[str, Json] = field(default_factory=dict)
    conditions: tuple[Condition, ...] = ()
    secret: str = ""


def requirements(observed: Observed) -> dict[str, Requirement]:
    """Return the request for the CertificateRequest of the authority, once it has one."""
    request = certificates.request_of(observed.children.get(certificates.AUTHORITY_KEY))
    if request is None or observed.served.get(_KIND) is False:
        return {}
    metadata = request["metadata"]
    wanted = Requirement(
        certificates.API_VERSION, certificates.REQUEST, name=metadata["name"], namespace=metadata["namespace"]
    )
    return {_REQUEST: wanted}


def read(observed: Observed, gateway: Gateway) -> Shown:
    """Return the certificate that the gateway shows. What is shown stays while anything about it is unknown."""
    standing = {key: observed.children[key] for key in certificates.KEYS if key in observed.children}
    is_shown = bool(_shown(observed))
    mode = _mode(observed)
    if mode is ClientMode.NONE:
        # The proxies let go of the certificate first.
        kept = hold.hold(standing, lambda _: Ready.TRUE) if is_shown else {}
        told = _off(gateway, standing or is_shown)
        return Shown(kept, status={"mode": str(mode)}, conditions=told)
    identity = Identity(gateway.gateway_name, gateway.gateway_namespace, names.gateway_identity(gateway.name))
    before = _before(observed)
    if not standing and observed.served.get(_KIND) is not True:
        return Shown(kinds=_KINDS, status={"mode": str(mode), **before}, conditions=(_missing(observed),))
    request = next(iter(observed.required.get(_REQUEST, ())), None)
    trusted = authorities.known(certificates.signed_by(request), before.get("authorities", ""))
    leaf = observed.children.get(certificates.LEAF_KEY)
    state = certificates.state(leaf)
    is_issued = bool(state.is_good and trusted)
    status: dict[str, Json] = {
        "mode": str(mode),
        "identity": identity.uri,
        "presented": is_shown and (is_issued or before.get("presented") is True),
    }
    if trusted:
        status["authorities"] = trusted
    if expiry := certificates.not_after(leaf) or before.get("notAfter"):
        status["notAfter"] = expiry
    return Shown(
        children={
            one.key: Child(one.resource, _ready(standing.get(one.key))) for one in certificates.manifests(identity)
        },
        kinds=_KINDS,
        status=status,
        conditions=(_ready_condition(identity, state, trusted, is_shown=is_shown),),
        secret=identity.secret if is_issued or is_shown else "",
    )


def _mode(observed: Observed) -> ClientMode:
    """Return whether the gateway has a certificate: as its author says, as was decided or as stands, else by default.

    A gateway that an earlier version has reported on has none.
    """
    asked = Field(observed.spec, ("spec",)).at("clientCertificate", "mode")
    if asked.is_set:
        return asked.choice(ClientMode)
    recorded = seen.text(seen.at(observed.status, "clientCertificate", "mode"))
    if recorded in {str(mode) for mode in ClientMode}:
        return ClientMode(recorded)
    if _shown(observed) or any(key in observed.children for key in certificates.KEYS):
        return ClientMode.ISSUED  # the record is lost, and what stands shows what it said
    return ClientMode.NONE if observed.status.get("gatewayRef") is not None else ClientMode.ISSUED


def _before(observed: Observed) -> dict[str, Json]:
    """Return the published certificate, as far as it can be read."""
    told = seen.at(observed.status, "clientCertificate")
    known: dict[str, Json] = {}
    if trusted := authorities.bundle([seen.text(seen.at(told, "authorities"))]):
        known["authorities"] = trusted
    if expiry := seen.text(seen.at(told, "notAfter")):
        known["notAfter"] = expiry
    if seen.at(told, "presented") is True:
        known["presented"] = True
    return known


def _shown(observed: Observed) -> str:
    """Return the Secret that the observed proxies show, empty if there is none."""
    proxy = observed.children.get(rendering.PROXY_KEY)
    return seen.text(seen.at(proxy, "spec", "backendTLS", "clientCertificateRef", "name"))


def _ready(child: Mapping[str, Json] | None) -> Ready:
    return Ready.FALSE if child is None else hold.ready_by_condition(child)


def _off(gateway: Gateway, stands: object) -> tuple[Condition, ...]:
    if not stands:
        return ()
    message = (
        f"spec.clientCertificate.mode is None: InferenceGateway {gateway.name} shows no certificate, and clusters with "
        "spec.gateway.mutualTLS Required refuse its requests"
    )
    return (Condition(CONDITION, Truth.FALSE, "SwitchedOff", message),)


def _missing(observed: Observed) -> Condition:
    is_known = observed.served.get(_KIND) is False
    message = (
        f"the control plane {'does not serve' if is_known else 'has not said whether it serves'} "
        f"{certificates.CERTIFICATE} of {certificates.API_VERSION}; install cert-manager, or set "
        "spec.clientCertificate.mode to None. Clusters with spec.gateway.mutualTLS Required wait for it, and all other "
        "traffic goes on"
    )
    return Condition(CONDITION, Truth.FALSE if is_known else Truth.UNKNOWN, "CertManagerMissing", message)


def _ready_condition(identity: Identity, state: certificates.State, trusted: str, *, is_shown: bool) -> Condition:
    if state.is_good is not True:
        goes_on = "; what is shown now stays" if is_shown else ""
        status = Truth.FALSE if state.is_good is False else Truth.UNKNOWN
        return Condition(CONDITION, status, state.reason, f"{state.message}{goes_on}")
    if not trusted:
        message = (
            f"waiting for the certificate of the authority {identity.authority} in its CertificateRequest; Crossplane "
            f"must be allowed to read {certificates.REQUEST} of {certificates.API_VERSION}"
        )
        return Condition(CONDITION, Truth.UNKNOWN, "AuthorityUnknown", message)
    if not is_shown:
        return Condition(CONDITION, Truth.UNKNOWN, "NotPresented", f"{state.message}; the proxies are told next")
    if state.warning:
        return Condition(CONDITION, Truth.TRUE, "RenewalFailing", f"{state.warning}; what is shown now stays")
    return Condition(CONDITION, Truth.TRUE, "Presented", f"the gateway is {identity.uri} to the clusters' gateways")
