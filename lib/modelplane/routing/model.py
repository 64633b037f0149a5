"""Endpoints, the service in front of them, and the gateway of both.

Durations are texts as in the API (`3600s`), because routing does not compute with them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from modelplane.labels import LabelSelector
from modelplane.routing.access import ClientAddresses, Clients, Cors
from modelplane.routing.balancing import Balancing
from modelplane.routing.egress import Rules
from modelplane.routing.features import GatewayType
from modelplane.routing.limits import Limiter, RateLimit
from modelplane.routing.url import AddressKind, Place, Url
from modelplane.workload.tenancy import Tenants


class Api(StrEnum):
    """The protocol of an endpoint."""

    OPENAI = "OpenAI"
    ANTHROPIC = "Anthropic"


class AuthScheme(StrEnum):
    """The scheme of a credential. In both cases the Secret holds the whole value of the header."""

    BEARER = "Bearer"
    HEADER = "Header"


@dataclass(frozen=True, slots=True)
class Credential:
    """The header that a gateway sets, and the Secret in the endpoint's namespace with its whole value."""

    secret: str
    header: str
    scheme: AuthScheme


@dataclass(frozen=True, slots=True)
class CertificateRef:
    """A ConfigMap or Secret in the endpoint's namespace with certificate authorities under the key `ca.crt`."""

    kind: str
    name: str


@dataclass(frozen=True, slots=True)
class Tls:
    """The check of a certificate: for the name `sni`, against `authorities`, or those of the system if empty.

    `bundle` are authorities in PEM, in place of references to them.
    """

    sni: str
    authorities: tuple[CertificateRef, ...] = ()
    insecure_skip_verify: bool = False
    bundle: str = ""


@dataclass(frozen=True, slots=True)
class HealthCheck:
    """An active check of the endpoint; `interval` and `timeout` are durations."""

    path: str
    interval: str
    timeout: str


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An endpoint that answers model requests.

    `host` is the Host header that the gateway sends to it. `model` is the name of its model, None if it is unknown.
    `is_composed` is True if a ModelDeployment composed it for a replica.
    """

    namespace: str
    name: str
    url: Url
    host: str
    apis: tuple[Api, ...] = (Api.OPENAI,)
    model: str | None = None
    credential: Credential | None = None
    tls: Tls | None = None
    health: HealthCheck | None = None
    is_composed: bool = False
    place: Mapping[str, str] = field(default_factory=dict, hash=False)
    """The labels of its place (region, zone, tier)."""

    @property
    def address_kind(self) -> AddressKind:
        """Return the kind of its address: a name or an IP address."""
        return self.url.kind


@dataclass(frozen=True, slots=True)
class Group:
    """A group of endpoints with one selector. `weight` is its share among the groups of its `priority` (0 first).

    Each of its endpoints serves `max_requests` at a time, 0 for any number.
    """

    selector: LabelSelector
    weight: int = 1
    priority: int = 0
    max_requests: int = 0


@dataclass(frozen=True, slots=True)
class Timeouts:
    """The timeouts of a service; `request` "0s" means no limit."""

    request: str = "0s"
    idle: str = "3600s"


@dataclass(frozen=True, slots=True)
class Retries:
    """The number of retries, and the causes and status codes that trigger one."""

    attempts: int = 2
    triggers: tuple[str, ...] = ("connect-failure",)
    status_codes: tuple[int, ...] = (503,)


@dataclass(frozen=True, slots=True)
class ApiKeys:
    """API keys, which clients send in `header`. The Secret has one entry per client, with its name and key."""

    secret: str
    header: str = "Authorization"


@dataclass(frozen=True, slots=True)
class Jwt:
    """JSON Web Tokens of `issuer`, checked with the keys at `jwks_uri`, whose address is `keys_at`."""

    issuer: str
    jwks_uri: str
    keys_at: Place
    audiences: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Service:
    """A service: one URL in front of any number of endpoints of its namespace. Without `host` it has a path."""

    namespace: str
    name: str
    groups: tuple[Group, ...]
    host: str = ""
    gateway: str = ""
    timeouts: Timeouts = Timeouts()
    retries: Retries = Retries()
    rate_limit: RateLimit | None = None
    auth: ApiKeys | Jwt | None = None
    clients: Clients | None = None
    cors: Cors | None = None
    max_request_size: str = ""
    """The largest body of a request as a quantity, empty without a limit."""
    balancing: Balancing = field(default_factory=Balancing)
    uid: str = ""

    @property
    def path(self) -> str:
        """Return the path of the service."""
        return "/" if self.host else f"/{self.namespace}/{self.name}"


@dataclass(frozen=True, slots=True)
class ProxyPolicy:
    """A network policy on the gateway's proxies, which run in `namespace` beside the controller that programs them."""

    namespace: str


@dataclass(frozen=True, slots=True)
class Relay:
    """An internal gateway behind the fleet's, which sends requests on with what each kind of endpoint needs.

    Services of `namespaces` may use it. `name` is that of its objects, `host` that of the Service of its `replicas`
    proxies. It `is_ready` once it was programmed.
    """

    name: str
    namespaces: tuple[str, ...]
    host: str
    proxy_namespace: str
    replicas: int = 2
    is_ready: bool = False


@dataclass(frozen=True, slots=True)
class AiGateway:
    """The AI gateway beside Envoy Gateway: its `version`, and whether it is installed or is there already."""

    version: str
    install: bool = True


@dataclass(frozen=True, slots=True)
class Holder:
    """The namespace that holds a host which several may use.

    `service` is the one for which it was first, `route` the uid of the accepted route with the host, empty while there
    is none. `leaving`: neither a service that asks for the host nor a route was seen. `waiting` other namespaces ask.
    """

    host: str
    namespace: str
    service: str = ""
    route: str = ""
    leaving: bool = False
    waiting: int = 0


@dataclass(frozen=True, slots=True)
class Gateway:
    """The gateway on the control plane through which all requests enter the fleet.

    `gateway_name` and `gateway_namespace` name the Gateway object. `certificates` are Secrets of that namespace; with
    any of them the gateway serves HTTPS. An empty `class_name` means a composed GatewayClass. `grants` has the
    namespaces by host. `egress` are the egress rules, and `proxy_policy` enforces them in the network.
    """

    name: str
    type: GatewayType
    gateway_name: str
    gateway_namespace: str
    port: int
    version: str
    install: bool = True
    hostname: str = ""
    class_name: str = ""
    certificates: tuple[str, ...] = ()
    grants: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)
    egress: Rules = field(default_factory=Rules)
    proxy_policy: ProxyPolicy | None = None
    tenants: Tenants | None = None
    """The namespaces whose services may have a route on it, None for all."""
    relay: Relay | None = None
    client_addresses: ClientAddresses | None = None
    """The source of the addresses of clients, None while nobody has said that these are known."""
    place: Mapping[str, str] = field(default_factory=dict, hash=False)
    """The labels of its place (region, zone, tier)."""
    client_certificate: str = ""
    """The Secret, beside the Gateway, of the certificate that it shows to endpoints; empty for none."""
    holders: Mapping[str, Holder] = field(default_factory=dict, hash=False)
    """The holders of the hosts that several namespaces may use, as its status records them."""
    ai: AiGateway | None = None
    """The AI gateway, None where there is none: on type Envoy it may stand for other gateways."""
    limiter: Limiter | None = None
    """The rate limit service, None where the platform names no Redis for it."""

    @property
    def is_tls(self) -> bool:
        """Return whether the listener serves HTTPS."""
        return bool(self.certificates)
