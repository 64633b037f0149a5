"""What is routed: endpoints, the service in front of them, and the gateway that carries both.

Durations keep the text of the API (`3600s`): routing hands them on and never computes with them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from modelplane.routing.egress import Rules
from modelplane.routing.features import GatewayType
from modelplane.routing.selection import Selector
from modelplane.routing.url import AddressKind, Place, Url


class Api(StrEnum):
    """The protocol an endpoint speaks."""

    OPENAI = "OpenAI"
    ANTHROPIC = "Anthropic"


class AuthScheme(StrEnum):
    """How a credential is sent; in both cases the Secret holds the whole value of the header."""

    BEARER = "Bearer"
    HEADER = "Header"


@dataclass(frozen=True, slots=True)
class Credential:
    """The header a gateway sets, and the Secret of the endpoint's namespace that holds its whole value."""

    secret: str
    header: str
    scheme: AuthScheme


@dataclass(frozen=True, slots=True)
class CertificateRef:
    """An object with authorities under the key `ca.crt`: a ConfigMap or a Secret of the endpoint's namespace."""

    kind: str
    name: str


@dataclass(frozen=True, slots=True)
class Tls:
    """How a certificate is checked: for the name `sni`, against `authorities` (the system's when empty)."""

    sni: str
    authorities: tuple[CertificateRef, ...] = ()
    insecure_skip_verify: bool = False


@dataclass(frozen=True, slots=True)
class HealthCheck:
    """An active check of the endpoint; `interval` and `timeout` are durations."""

    path: str
    interval: str
    timeout: str


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One place that answers model requests.

    `host` is the Host header sent to it, whatever the client sent. `model` is the name it knows its model by, None
    where it is not told. `is_composed`: a ModelDeployment made it for one of its replicas.
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

    @property
    def address_kind(self) -> AddressKind:
        """Return whether Envoy resolves a name or connects to an address."""
        return self.url.kind


@dataclass(frozen=True, slots=True)
class Group:
    """Endpoints of one selector; `weight` is the group's share among those of its `priority` (0 first)."""

    selector: Selector
    weight: int = 1
    priority: int = 0


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Durations; `request` "0s" means no limit."""

    request: str = "0s"
    idle: str = "3600s"


@dataclass(frozen=True, slots=True)
class Retries:
    """Further attempts, and the causes and status codes that lead to one."""

    attempts: int = 2
    triggers: tuple[str, ...] = ("connect-failure",)
    status_codes: tuple[int, ...] = (503,)


@dataclass(frozen=True, slots=True)
class RateLimit:
    """`requests` per `unit` (Second, Minute, Hour), counted by each proxy of the gateway."""

    requests: int
    unit: str


@dataclass(frozen=True, slots=True)
class ApiKeys:
    """Callers send a key in `header`; the Secret has one entry per client: its name, its key."""

    secret: str
    header: str = "Authorization"


@dataclass(frozen=True, slots=True)
class Jwt:
    """Callers send a JSON Web Token of `issuer`, checked with the keys at `jwks_uri`, which leads to `keys_at`."""

    issuer: str
    jwks_uri: str
    keys_at: Place
    audiences: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Service:
    """One URL in front of any number of endpoints of its namespace. `host` empty: reached by path."""

    namespace: str
    name: str
    groups: tuple[Group, ...]
    host: str = ""
    gateway: str = ""
    timeouts: Timeouts = Timeouts()
    retries: Retries = Retries()
    rate_limit: RateLimit | None = None
    auth: ApiKeys | Jwt | None = None

    @property
    def path(self) -> str:
        """Return the path under which the service is asked for."""
        return "/" if self.host else f"/{self.namespace}/{self.name}"


@dataclass(frozen=True, slots=True)
class ProxyPolicy:
    """A network policy on the gateway's proxies, which run in `namespace` beside the controller that programs them."""

    namespace: str


@dataclass(frozen=True, slots=True)
class Gateway:
    """The fleet's front door on the control plane.

    `gateway_name` and `gateway_namespace` name the Gateway object; `certificates` are Secrets of that namespace, and
    HTTPS is served when there are any. `class_name` empty: a GatewayClass of our own. `grants` gives namespaces by
    host. `egress` says where requests may leave to, and `proxy_policy` holds the proxies to it in the network.
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

    @property
    def is_tls(self) -> bool:
        """Return whether the listener serves HTTPS."""
        return bool(self.certificates)
