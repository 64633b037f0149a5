"""TLS with client certificates at the gateway of a cluster: its certificate, whom it lets in, and the steps to it.

The keys of both sides are made where they are used. The authorities alone cross between the clusters, and are read from
CertificateRequests. Which gateways may come in is read from the InferenceGateways.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from modelplane import names, seen
from modelplane.api import gateway as gateways
from modelplane.api import gateway_status
from modelplane.api.fields import Field
from modelplane.api.inference_cluster import MutualTls, ProviderConfigRef
from modelplane.render import certificates, mutual_tls, objects, routing
from modelplane.render.certificates import State
from modelplane.render.manifest import Manifest
from modelplane.routing import transport
from modelplane.routing.transport import Phase, Record, Step, Transport
from modelplane.workload import authorities
from modelplane_functions import claims, cluster_gateway, cluster_stack, hold
from modelplane_functions.exchange import Child, Condition, Json, Observed, Ready, Requirement, Resource, Truth

CONDITION = "MutualTLSReady"
GATEWAYS, BACKENDS = "gateways", "backends-of-gateway"
_OPEN = (Phase.MOVING, Phase.CLOSING)


@dataclass(frozen=True, slots=True)
class Wait:
    """The reason for which the gateway does not serve with TLS yet. It is `is_known` if somebody must act."""

    reason: str
    message: str
    is_known: bool = True


@dataclass(frozen=True, slots=True)
class ClusterTls:
    """The children of a cluster for TLS with client certificates, and what it says and records.

    `serving` is the transport that endpoints are told, None while there is none. `listeners` are those that the
    cluster's own Gateway has. `secret` and `trusted` are the certificate of the gateway and the authorities behind it.
    """

    serving: Transport | None = Transport.PLAINTEXT
    listeners: frozenset[Transport] = frozenset({Transport.PLAINTEXT})
    secret: str = ""
    trusted: str = ""
    children: Mapping[str, Child] = field(default_factory=dict)
    status: Mapping[str, Json] = field(default_factory=dict)
    conditions: tuple[Condition, ...] = ()
    is_settled: bool = True


def requirements(observed: Observed) -> dict[str, Requirement]:
    """Return the requests for the fleet's gateways, and while endpoints move for the Backends that lead to this one."""
    here = _Situation(observed)
    if not here.is_concerned:
        return {}
    needed = {GATEWAYS: Requirement(names.API_VERSION, "InferenceGateway")}
    if here.record.phase in _OPEN or here.changes:
        needed[BACKENDS] = Requirement(routing.ENVOY_VERSION, "Backend")
    return needed


def users(observed: Observed) -> int:
    """Return the number of these Objects that are counted as users of the provider configuration."""
    mine = (observed.children[key] for key in mutual_tls.KEYS if key in observed.children)
    return sum(bool(objects.condition(child, "Synced")) for child in mine)


def read(observed: Observed, provider: ProviderConfigRef | None) -> ClusterTls:
    """Return the step of now. Without access to the cluster what stands is kept by whoever keeps the rest of it."""
    here = _Situation(observed)
    if not here.is_concerned:
        return ClusterTls(status=here.recorded_off())
    wait = here.wait() if here.wanted is Transport.MUTUAL_TLS else here.wait_for_plain()
    step = transport.step(here.wanted, here.record, is_usable=wait is None, is_left=here.is_left)
    return ClusterTls(
        serving=step.serving,
        listeners=here.opened(step),
        secret=here.secret,
        trusted=here.trusted,
        children={} if provider is None else dict(here.children(provider)),
        status={"mutualTLS": here.encode(step)},
        conditions=(here.condition(step, wait),),
        is_settled=step.phase is Phase.SETTLED,
    )


class _Situation:
    """A cluster and what is observed of its gateway, its certificates and the fleet's gateways."""

    def __init__(self, observed: Observed) -> None:
        self.observed = observed
        self.facts = cluster_gateway.facts(observed)
        self.told = seen.at(observed.status, "mutualTLS")
        self.secret = mutual_tls.identity(self.facts).secret

    # --- what is wanted, and what was published ---

    @cached_property
    def mode(self) -> MutualTls:
        """Return whether TLS with client certificates is required: as the author says, as was decided, or by default.

        By default it is where the stack installs the gateway, on clusters that no earlier version has reported on.
        """
        asked = Field(self.observed.spec, ("spec",)).at("gateway", "mutualTLS")
        if asked.is_set:
            return asked.choice(MutualTls)
        recorded = seen.text(seen.at(self.told, "mode"))
        if recorded in {str(mode) for mode in MutualTls}:
            mode = MutualTls(recorded)
        else:
            is_new = self.observed.status.get("pools") is None
            mode = MutualTls.REQUIRED if is_new and cluster_stack.is_wanted(self.observed) else MutualTls.DISABLED
        is_adopted = cluster_stack.owns_gateway(self.observed) is False
        return MutualTls.DISABLED if is_adopted and self.record.serving is not Transport.MUTUAL_TLS else mode

    @cached_property
    def wanted(self) -> Transport:
        return Transport.MUTUAL_TLS if self.mode is MutualTls.REQUIRED else Transport.PLAINTEXT

    @cached_property
    def record(self) -> Record:
        """Return the published record. A lost one is made up from what stands, with every step still to take."""
        serving = _choice(Transport, seen.at(self.told, "serving"))
        phase = _choice(Phase, seen.at(self.told, "phase"))
        if serving is not None:
            return Record(serving, phase)
        published = hold.published(lambda: cluster_gateway.published(self.observed))
        if published is not None:
            is_mutual = bool(published.server_name)
            return Record(Transport.MUTUAL_TLS if is_mutual else Transport.PLAINTEXT)
        standing = cluster_stack.listeners(self.observed)
        if phase is None and Transport.PLAINTEXT in standing and mutual_tls.POLICY_KEY in self.observed.children:
            return Record(Transport.PLAINTEXT)
        return Record(None, phase)

    @cached_property
    def changes(self) -> bool:
        """Return whether endpoints use another transport than is wanted."""
        return self.record.serving not in (None, self.wanted)

    @cached_property
    def is_concerned(self) -> bool:
        """Return whether there is anything to do: not where TLS was never asked for, or is switched off and gone."""
        if self.mode is MutualTls.REQUIRED or self.record.serving is Transport.MUTUAL_TLS:
            return True
        return self.record.phase not in (None, Phase.SETTLED)

    def recorded_off(self) -> dict[str, Json]:
        """Return the record of a decision against it, where a later default could be another one."""
        if isinstance(self.told, Mapping) or cluster_stack.is_wanted(self.observed):
            return {"mutualTLS": {"mode": str(MutualTls.DISABLED)}}
        return {}

    # --- what is seen ---

    @cached_property
    def fleet(self) -> tuple[gateways.Client, ...]:
        found = (gateways.client(one) for one in self.observed.required.get(GATEWAYS, ()))
        return tuple(sorted(found, key=lambda one: one.name))

    @cached_property
    def clients(self) -> tuple[str, ...]:
        """Return the identities that come in. One that was let in stays while its gateway exists, or none is seen."""
        before = _texts(seen.at(self.told, "clients"))
        if not self.fleet:
            return before
        return tuple(one.identity for one in self.fleet if one.authorities or one.identity in before)

    @cached_property
    def client_authorities(self) -> str:
        before = authorities.bundle([seen.text(seen.at(self.told, "clientAuthorities"))])
        known = [one for one in self.fleet if one.identity in self.clients]
        now = authorities.bundle(one.authorities for one in known)
        return now if known and all(one.authorities for one in known) else authorities.bundle([now, before])

    @cached_property
    def trusted(self) -> str:
        """Return the authorities of the cluster's gateway: the current one, and those from before."""
        published = hold.published(lambda: cluster_gateway.published(self.observed))
        before = seen.text(seen.at(self.told, "authorities")) or ("" if published is None else published.authorities)
        request = objects.observed(self.observed.children.get(mutual_tls.REQUEST_KEY))
        return authorities.known(certificates.signed_by(request), before)

    @cached_property
    def gateway(self) -> Resource:
        return objects.observed(self.observed.children.get(cluster_gateway.KEY)) or {}

    @cached_property
    def certificate(self) -> State:
        return certificates.state(objects.observed(self.observed.children.get(certificates.LEAF_KEY)))

    @cached_property
    def is_left(self) -> bool:
        """Return whether no replica and no Backend of the control plane leads to the listener that is not wanted."""
        if BACKENDS not in self.observed.required or claims.REPLICAS not in self.observed.required:
            return False
        is_mutual = self.wanted is Transport.MUTUAL_TLS
        for replica in self.observed.required[claims.REPLICAS]:
            address = seen.at(replica, "status", "address")
            if seen.text(seen.at(address, "address")) and bool(seen.at(address, "serverName")) is not is_mutual:
                return False
        return not any(self._leads_here(one) for one in self.observed.required[BACKENDS])

    def _leads_here(self, backend: Resource) -> bool:
        mine = {
            _plain(seen.text(one.get("value"))) for one in seen.objects(seen.at(self.gateway, "status", "addresses"))
        }
        addressed = {
            _plain(seen.text(seen.at(one, "fqdn", "hostname")) or seen.text(seen.at(one, "ip", "address")))
            for one in seen.objects(seen.at(backend, "spec", "endpoints"))
        }
        uses_tls = seen.at(backend, "spec", "tls", "sni") == names.server_name(self.facts.name)
        return bool(mine & addressed) and uses_tls is not (self.wanted is Transport.MUTUAL_TLS)

    # --- what is waited for ---

    def wait(self) -> Wait | None:
        """Return the first thing that keeps the gateway from serving with TLS, None if nothing does."""
        return next(iter(self._waits()), None)

    def _waits(self) -> Iterator[Wait]:
        if not self.fleet:
            yield Wait("NoGateway", "no InferenceGateway exists that could show a certificate; create one")
        for one in self.fleet:
            if not one.presents:
                message = (
                    f"InferenceGateway {one.name} shows no certificate yet (see its ClientCertificateReady); set its "
                    "spec.clientCertificate.mode to Issued, or spec.gateway.mutualTLS to Disabled here"
                )
                yield Wait("GatewayWithoutCertificate", message)
        for key in mutual_tls.KEYS:
            child = self.observed.children.get(key)
            if child is not None and objects.condition(child, "Synced").get("status") == "False":
                why = seen.text(objects.condition(child, "Synced").get("message")) or "no reason was reported"
                yield Wait("NotApplied", f"{_named(child)} cannot be made on the cluster: {why}")
        if self.certificate.is_good is not True:
            yield Wait(self.certificate.reason, self.certificate.message, self.certificate.is_good is False)
        if not self.trusted:
            message = "waiting for the certificate of the authority of the cluster's gateway in its CertificateRequest"
            yield Wait("AuthorityUnknown", message, is_known=False)
        yield from self._unprotected()
        yield from self._without_listener()

    def _unprotected(self) -> Iterator[Wait]:
        if not self.is_protected:
            yield Wait("PolicyNotApplied", "waiting for the policy that refuses other clients", is_known=False)

    @cached_property
    def is_protected(self) -> bool:
        """Return whether what refuses others stands on the cluster as it is now."""
        kept = [self.observed.children.get(key) for key in (mutual_tls.CLIENTS_KEY, mutual_tls.POLICY_KEY)]
        return all(one is not None and objects.observed(one) is not None for one in kept)

    def _without_listener(self) -> Iterator[Wait]:
        where = names.qualified(self.facts.gateway_namespace, self.facts.gateway_name)
        found = self._listener(names.MUTUAL_TLS_LISTENER)
        if found is None or not mutual_tls.shows(found, self.secret):
            whose = cluster_stack.owns_gateway(self.observed)
            what = (
                f"Gateway {where} has no listener {names.MUTUAL_TLS_LISTENER} (protocol HTTPS, certificateRefs "
                f"{self.secret}); "
            )
            act = "its stack makes it" if whose or whose is None else "add it to the Gateway, which is not ours"
            yield Wait("ListenerMissing", what + act, is_known=whose is False)
            return
        if not mutual_tls.is_programmed(self.gateway, names.MUTUAL_TLS_LISTENER):
            message = f"listener {names.MUTUAL_TLS_LISTENER} of Gateway {where} is not programmed yet"
            yield Wait("ListenerNotProgrammed", message, is_known=False)
        policy = objects.observed(self.observed.children.get(mutual_tls.POLICY_KEY))
        verdict = gateway_status.policy(policy, "ClientTrafficPolicy")
        if verdict.is_good is not True:
            message = f"the policy that refuses other clients is not accepted: {verdict.message}"
            yield Wait("PolicyNotAccepted", message, verdict.is_good is False)
        if not seen.objects(seen.at(self.gateway, "status", "addresses")):
            yield Wait("NoGatewayAddress", f"Gateway {where} has no address yet", is_known=False)

    def wait_for_plain(self) -> Wait | None:
        """Return the reason for which no listener without TLS serves yet, None if one does."""
        others = (name for name in self._others() if mutual_tls.is_programmed(self.gateway, name))
        if next(others, None) is not None:
            return None
        where = names.qualified(self.facts.gateway_namespace, self.facts.gateway_name)
        return Wait("ListenerMissing", f"no other listener of Gateway {where} is programmed yet", is_known=False)

    def _listener(self, name: str) -> Resource | None:
        listed = seen.objects(seen.at(self.gateway, "spec", "listeners"))
        return next((one for one in listed if one.get("name") == name), None)

    def _others(self) -> list[str]:
        listed = seen.objects(seen.at(self.gateway, "spec", "listeners"))
        found = [seen.text(one.get("name")) for one in listed]
        return [name for name in found if name and name != names.MUTUAL_TLS_LISTENER]

    # --- what is emitted and said ---

    def opened(self, step: Step) -> frozenset[Transport]:
        """Return the listeners of the cluster's own Gateway. That of TLS waits for what refuses others."""
        standing = cluster_stack.listeners(self.observed)
        if self.is_protected or Transport.MUTUAL_TLS in standing:
            return step.listeners
        return step.listeners - {Transport.MUTUAL_TLS}

    def children(self, provider: ProviderConfigRef) -> Iterator[tuple[str, Child]]:
        made = list(mutual_tls.manifests(self.facts, self.clients, self.client_authorities))
        authority = objects.observed(self.observed.children.get(certificates.AUTHORITY_KEY))
        request = mutual_tls.request(authority)
        made += [] if request is None else [request]
        for manifest in made:
            yield manifest.key, self._wrapped(manifest, provider)
        for key in mutual_tls.KEYS:
            if key in self.observed.children and key not in {one.key for one in made}:
                yield key, Child(hold.held(self.observed.children[key]), Ready.TRUE)

    def _wrapped(self, manifest: Manifest, provider: ProviderConfigRef) -> Child:
        made = objects.wrap(
            manifest, provider_config=provider.encode(), namespace=names.SYSTEM_NAMESPACE, owner=self.observed.name
        )
        standing = self.observed.children.get(manifest.key)
        is_ready = standing is not None and objects.is_ready(standing)
        return Child(made, Ready.TRUE if is_ready else Ready.FALSE)

    def encode(self, step: Step) -> dict[str, Json]:
        """Return the record."""
        told: dict[str, Json] = {"mode": str(self.mode), "phase": str(step.phase)}
        if step.serving is not None:
            told["serving"] = str(step.serving)
        for key, value in (
            ("clients", list(self.clients)),
            ("clientAuthorities", self.client_authorities),
            ("authorities", self.trusted),
        ):
            if value:
                told[key] = value
        observed = objects.observed(self.observed.children.get(certificates.LEAF_KEY))
        if expiry := certificates.not_after(observed) or seen.text(seen.at(self.told, "notAfter")):
            told["notAfter"] = expiry
        return told

    def condition(self, step: Step, wait: Wait | None) -> Condition:
        """Return the condition MutualTLSReady."""
        kept = "" if step.serving is None else f"; requests go on as {step.serving}"
        if wait is not None:
            status = Truth.FALSE if wait.is_known else Truth.UNKNOWN
            return Condition(CONDITION, status, wait.reason, wait.message + kept)
        if step.phase is not Phase.SETTLED:
            message = (
                f"endpoints move to {self.wanted}; the other listener is closed when no ModelReplica and no Backend of "
                "the control plane leads to it"
            )
            return Condition(CONDITION, Truth.UNKNOWN, str(step.phase), message)
        if self.wanted is Transport.PLAINTEXT:
            message = "spec.gateway.mutualTLS is Disabled: whoever reaches the address of the gateway is served"
            return Condition(CONDITION, Truth.FALSE, "SwitchedOff", message)
        others = self._others()
        if others and cluster_stack.owns_gateway(self.observed) is False:
            message = (
                f"Gateway {names.qualified(self.facts.gateway_namespace, self.facts.gateway_name)} has other listeners "
                f"({', '.join(others)}), on which its routes are served to anybody; remove them, or their routes"
            )
            return Condition(CONDITION, Truth.FALSE, "OtherListeners", message)
        if self.certificate.warning:
            return Condition(CONDITION, Truth.TRUE, "RenewalFailing", f"{self.certificate.warning}{kept}")
        message = f"the gateway lets in {', '.join(self.clients)} and nobody else"
        return Condition(CONDITION, Truth.TRUE, "Required", message)


def _choice(kind: type[Transport] | type[Phase], value: Json) -> Json:
    return next((one for one in kind if one.value == value), None)


def _texts(value: Json) -> tuple[str, ...]:
    return tuple(one for one in value if isinstance(one, str)) if isinstance(value, list | tuple) else ()


def _plain(address: str) -> str:
    """Return an address in one spelling."""
    try:
        return str(ipaddress.ip_address(address))
    except ValueError:
        return address.lower().removesuffix(".")


def _named(child: Resource) -> str:
    manifest = objects.unwrap(child)
    metadata = seen.at(manifest, "metadata")
    name = names.qualified(seen.text(seen.at(metadata, "namespace")), seen.text(seen.at(metadata, "name")))
    return f"{seen.text(manifest.get('kind'))} {name}"
