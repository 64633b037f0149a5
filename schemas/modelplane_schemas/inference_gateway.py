# Generated from apis/inferencegateways/definition.yaml by schemas/generate.py; do not edit.

from __future__ import annotations

from pydantic import Field
from modelplane_schemas.wire import Document, ObjectMeta, Wire
from typing import Literal


class AllowedNamespaces(Wire):
    """
    Namespaces whose ModelServices may have a route on the gateway: each that is named, and each that has all of the labels. Left out, every namespace may. A service that has a route keeps it. Whoever may label a Namespace decides about its labels.
    """

    names: list[str] | None = Field(default=None, description="Names of namespaces.")
    match_labels: dict[str, str] | None = Field(
        default=None,
        description="Labels that a Namespace must have, all of them. Crossplane must be allowed to read Namespaces.",
    )


class EnvoyGateway(Wire):
    """
    The Envoy Gateway installation.
    """

    install: bool | None = Field(
        default=None,
        description="Install Envoy Gateway with Helm. Use false when it is already installed. Default: true.",
    )
    version: str | None = Field(
        default=None,
        description="Version to install, or the installed version. It decides which features a ModelService may use. Default: v1.9.0.",
    )


class AiGateway(Wire):
    """
    The Envoy AI Gateway installation, for type EnvoyAI. On type Envoy it is installed beside, for other InferenceGateways of type EnvoyAI on the same control plane.
    """

    install: bool | None = Field(
        default=None,
        description="Install Envoy AI Gateway with Helm. Use false when it is already installed; Envoy Gateway must be configured for it then (its extensionManager). Default: true.",
    )
    version: str | None = Field(
        default=None, description="Version to install, or the installed version. Default: v1.0.0."
    )


class ClientCertificate(Wire):
    """
    The certificate that the gateway shows to endpoints which ask their clients for one, such as the gateways of clusters (InferenceCluster spec.gateway.mutualTLS).
    """

    mode: Literal["Issued", "None"] = Field(
        description="Issued lets cert-manager on the control plane issue and renew one, for spiffe://modelplane.ai/gateway/NAME. None shows none, and clusters that require one refuse the gateway. Left out, a gateway that was made by a version without this field shows none, and every other one has one issued; status.clientCertificate.mode records it.",
    )


class Relay(Wire):
    """
    An internal gateway behind this one, through which services fail over between endpoints that differ in credential, path or kind of address, or that are full. Left out, there is none, and such services are refused. Services that one rule can hold do not use it. A gateway of type EnvoyAI needs none, and is refused with one.
    """

    namespaces: list[str] = Field(
        description="Namespaces whose ModelServices may use the relay. A namespace that is removed keeps the services that use it until they are gone.",
    )
    replicas: int | None = Field(
        default=None,
        description="Proxies of the relay. All requests of the services that use it pass through them. Default: 2.",
    )


class Clients(Wire):
    """
    The addresses of clients. Left out, the gateway may see a load balancer or a node instead, and a ModelService that decides by addresses (clients, affinity) is refused.
    """

    address_from: Literal["Connection", "XForwardedFor", "ProxyProtocol"] = Field(
        description="Connection: the load balancer keeps the client's address, and so does the Service of the proxies (externalTrafficPolicy Local). XForwardedFor: proxies before the gateway append it to the header. ProxyProtocol: the load balancer sends it before the request, always.",
    )
    trusted_hops: int | None = Field(
        default=None,
        description="Number of proxies before the gateway that append to X-Forwarded-For. Default 1. What clients wrote is left of theirs.",
    )


class StatusClientCertificate(Wire):
    """
    The certificate that the gateway shows to endpoints.
    """

    mode: Literal["Issued", "None"] | None = Field(
        default=None, description="The decision whether it has one, which stays."
    )
    identity: str | None = Field(default=None, description="The URI in the certificate.")
    authorities: str | None = Field(
        default=None,
        description="Certificates, in PEM, of the authority that signs it and of those that did before. Clusters trust them.",
    )
    presented: bool | None = Field(default=None, description="True when the proxies show it.")
    not_after: str | None = Field(
        default=None, description="The time at which the certificate expires unless it is renewed."
    )


class GatewayRef(Wire):
    """
    The Gateway object.
    """

    namespace: str | None = Field(default=None, description="Namespace of the Gateway.")
    name: str | None = Field(default=None, description="Name of the Gateway.")


class Host(Wire):
    host: str = Field(description="The host name.")
    namespace: str = Field(description="The namespace that holds it.")
    service: str | None = Field(
        default=None, description="The ModelService (or HTTPRoute) by which the namespace has it."
    )
    route: str | None = Field(
        default=None, description="The uid of the HTTPRoute that answers, once the gateway has accepted it."
    )
    leaving: bool | None = Field(
        default=None, description="True when nothing of the namespace was seen with the host; the next in line gets it."
    )
    waiting: int | None = Field(default=None, description="Number of other namespaces that ask for it.")


class StatusRateLimit(Wire):
    """
    The rate limit service.
    """

    ready: bool | None = Field(
        default=None, description="True once Envoy Gateway knows it, so that services may have limits that it counts."
    )


class StatusRelay(Wire):
    """
    The relay, once it can be used.
    """

    name: str | None = Field(default=None, description="Name of its Gateway and of its Service.")
    host: str | None = Field(default=None, description="Host name of its Service.")


class Condition(Wire):
    last_transition_time: str
    message: str | None = None
    reason: str
    status: str
    type: str
    observed_generation: int | None = None


class GatewayHost(Wire):
    host: str = Field(description="The host name.")
    namespaces: list[str] = Field(description="Namespaces whose ModelServices may use it.")


class NetworkPolicy(Wire):
    """
    A NetworkPolicy for the gateway's proxies, which applies to resolved addresses. It denies link-local and metadata addresses and deniedCIDRs. Cluster DNS stays reachable.
    """

    enabled: bool | None = Field(default=None, description="Render the NetworkPolicy. Default: false.")
    namespace: str | None = Field(
        default=None,
        description="Namespace of the Envoy Gateway controller and its proxies. Default: envoy-gateway-system.",
    )


class Namespace(Wire):
    namespace: str = Field(description="Name of the namespace.")
    tokens: int = Field(description="Input and output tokens per unit.")
    unit: Literal["Hour", "Day", "Week", "Month", "Year"] = Field(
        description="Unit of time, in UTC. A month has 30 days and a year 365, counted from 1970-01-01."
    )


class CompositionRef(Wire):
    name: str


class CompositionSelector(Wire):
    match_labels: dict[str, str]


class ResourceRef(Wire):
    api_version: str
    kind: str
    name: str | None = None
    namespace: str | None = None


class CertificateRef(Wire):
    name: str = Field(description="Name of the Secret.")


class PasswordSecretRef(Wire):
    """
    The key of a Secret with the password, or USER:PASSWORD.
    """

    name: str = Field(description="Name of the Secret.")
    key: str = Field(description="Key in the Secret.")


class Authentication(Wire):
    """
    A ClusterTriggerAuthentication of KEDA, which refers to the credential. The credential is never read here.
    """

    name: str = Field(description="Name of the ClusterTriggerAuthentication.")
    modes: list[Literal["basic", "bearer", "custom", "tls"]] | None = Field(
        default=None,
        description="Uses of the authentication. Without tls here, KEDA ignores an authority of certificates in it.",
    )


class RedisTlsCertificateRef(Wire):
    """
    A Secret of type kubernetes.io/tls with the certificate that the service shows to Redis.
    """

    name: str = Field(description="Name of the Secret.")


class AuthorityRef(Wire):
    """
    A Secret with the authority of Redis under the key ca.crt.
    """

    name: str = Field(description="Name of the Secret.")


class Status(Wire):
    """
    Observed state of the gateway, with its address and features.
    """

    type: Literal["Envoy", "EnvoyAI"] | None = Field(default=None, description="Type of the Gateway that exists.")
    address: str | None = Field(default=None, description="IP address or host name.")
    hostname: str | None = Field(default=None, description="Host name of the gateway.")
    port: int | None = Field(default=None, description="Port of the gateway.")
    scheme: Literal["http", "https"] | None = Field(default=None, description="http or https.")
    features: list[str] | None = Field(
        default=None, description="Features that ModelServices of this gateway may use, sorted."
    )
    client_certificate: StatusClientCertificate | None = None
    gateway_ref: GatewayRef | None = None
    hosts: list[Host] | None = Field(
        default=None,
        description="The holder of each host that spec.gateway.hosts lets several namespaces use. Services of the other namespaces get no route with this host until the holder has left it.",
    )
    rate_limit: StatusRateLimit | None = None
    relay: StatusRelay | None = None
    conditions: list[Condition] | None = Field(default=None, description="Conditions of the resource.")


class Endpoints(Wire):
    """
    Rules for the destinations of requests. ModelEndpoints that are written by hand, and the key URLs of token issuers, may use public addresses and names. Private networks and internal names are opened here. Loopback, link-local and metadata addresses, the API server and Services of other namespaces are never opened. The rules do not apply to the composed endpoints of replicas.
    """

    allowed_hosts: list[str] | None = Field(
        default=None, description="Host names, or *.domain, that are allowed although they are internal."
    )
    allowed_cid_rs: list[str] | None = Field(
        default=None,
        validation_alias="allowedCIDRs",
        serialization_alias="allowedCIDRs",
        description="Networks whose addresses are allowed although they are private, for example 10.20.0.0/16.",
    )
    denied_hosts: list[str] | None = Field(default=None, description="Host names, or *.domain, that are always denied.")
    denied_cid_rs: list[str] | None = Field(
        default=None,
        validation_alias="deniedCIDRs",
        serialization_alias="deniedCIDRs",
        description="Networks whose addresses are always denied: those of pods, Services, nodes and the API server, and the addresses of the clusters' gateways when these are public.",
    )
    only_allowed: bool | None = Field(
        default=None,
        description="Deny everything that allowedHosts and allowedCIDRs do not list. Default: false.",
    )
    nat64_prefixes: list[str] | None = Field(
        default=None,
        description="Prefixes with which the network translates IPv6 into IPv4 (RFC 6052), in addition to 64:ff9b::/96. An address with such a prefix is checked as the IPv4 address that it contains.",
    )
    network_policy: NetworkPolicy | None = None


class Crossplane(Wire):
    """
    Configures how Crossplane will reconcile this composite resource
    """

    composition_ref: CompositionRef | None = None
    composition_selector: CompositionSelector | None = None
    composition_revision_ref: CompositionRef | None = None
    composition_revision_selector: CompositionSelector | None = None
    composition_update_policy: Literal["Automatic", "Manual"] | None = None
    resource_refs: list[ResourceRef] | None = None


class Tls(Wire):
    """
    Serve HTTPS.
    """

    certificate_refs: list[CertificateRef] = Field(
        description="Secrets in the gateway's namespace with certificate and key."
    )


class Prometheus(Wire):
    """
    The endpoint that answers for all clusters and for this gateway (Prometheus, Thanos, Mimir). KEDA asks it. For HPA, the adapter of external metrics does.
    """

    address: str = Field(
        description="Address as KEDA reaches it, for example http://thanos-query.monitoring:9090. It holds no credential.",
    )
    authentication: Authentication | None = None
    headers: dict[str, str] | None = Field(
        default=None, description="Headers that hold no secret, for example X-Scope-OrgID for Mimir."
    )
    polling_seconds: int | None = Field(
        default=None, description="Seconds between two questions for the same deployment. Default: 15."
    )


class RedisTls(Wire):
    """
    TLS to Redis. An empty block checks its certificate against the authorities of the image.
    """

    certificate_ref: RedisTlsCertificateRef | None = None
    authority_ref: AuthorityRef | None = None


class Gateway(Wire):
    """
    The Gateway object.
    """

    name: str | None = Field(default=None, description="Name of the Gateway. Default is the InferenceGateway's name.")
    namespace: str | None = Field(
        default=None, description="Namespace of the Gateway on the control plane. Default: modelplane-system."
    )
    port: int | None = Field(default=None, description="Port of the listener. Default 80, or 443 with tls.")
    hostname: str | None = Field(
        default=None,
        description='Host name of the gateway, or *.domain. A ModelService may use host names <anything>.<its namespace>.<hostname without "*.">. Other host names are granted in hosts.',
    )
    class_name: str | None = Field(default=None, description="An existing GatewayClass to use instead of a new one.")
    tls: Tls | None = None
    hosts: list[GatewayHost] | None = Field(
        default=None, description="Host names outside the gateway's own, with the namespaces that may use them."
    )


class Scaling(Wire):
    """
    Metrics and scaler of ModelDeployments with spec.scaling and this gateway. One place for the platform: no deployment names an address or a credential.
    """

    autoscaler: Literal["Auto", "KEDA", "HPA"] | None = Field(
        default=None,
        description="The scaler that is composed. Auto is KEDA where it is installed, else HPA; a scaler that exists stays. A change replaces the existing ones, and replicas stays as it is. Default: Auto.",
    )
    prometheus: Prometheus | None = None


class Redis(Wire):
    """
    The Redis, for example a Service of the control plane. Secrets are in the namespace of Envoy Gateway.
    """

    url: str = Field(description="HOST:PORT, without a password.")
    password_secret_ref: PasswordSecretRef | None = None
    tls: RedisTls | None = None


class RateLimit(Wire):
    """
    The rate limit service of Envoy Gateway, in which all proxies count together: limits of tokens, budgets, and other limits for some clients (spec.rateLimit of a ModelService). It keeps its counts in a Redis, which is not installed. Left out, each proxy counts requests for itself, and such limits are refused. It belongs to Envoy Gateway: write it alike in every InferenceGateway of the same installation. Where it is not installed by this InferenceGateway, Envoy Gateway must be configured for it. A service that was installed stays when the field is removed.
    """

    redis: Redis
    replicas: int | None = Field(default=None, description="Pods of the service. Default: 2.")
    when_unavailable: Literal["Allow", "Deny"] | None = Field(
        default=None,
        description="The answer to requests with a limit while the service or Redis does not answer. Allow lets them pass, uncounted. Deny answers 500. Default: Allow.",
    )
    namespaces: list[Namespace] | None = Field(
        default=None,
        description="Budgets of tokens over all services of a namespace together, on type EnvoyAI. Add at the end: removing one starts the counts of those after it anew.",
    )


class Spec(Wire):
    """
    Settings of the gateway.
    """

    type: Literal["Envoy", "EnvoyAI"] | None = Field(
        default=None,
        description="Type of the gateway. Envoy is Envoy Gateway: each ModelService has a URL. EnvoyAI adds Envoy AI Gateway: the model in a request chooses the service, so that a namespace has one URL; requests are translated between APIs, and tokens are counted. It needs gateway.hostname. The type of a Gateway that exists cannot be changed. Default: Envoy.",
    )
    allowed_namespaces: AllowedNamespaces | None = None
    envoy_gateway: EnvoyGateway | None = None
    ai_gateway: AiGateway | None = None
    gateway: Gateway | None = None
    client_certificate: ClientCertificate | None = None
    endpoints: Endpoints | None = None
    relay: Relay | None = None
    rate_limit: RateLimit | None = None
    clients: Clients | None = None
    scaling: Scaling | None = None
    crossplane: Crossplane | None = None


class InferenceGateway(Document):
    """
    InferenceGateway is the entry point of the fleet on the control plane. It routes ModelServices to ModelEndpoints with settings for LLM traffic (long streams, large prompts).
    """

    api_version: Literal["modelplane.ai/v1alpha1"] = "modelplane.ai/v1alpha1"
    kind: Literal["InferenceGateway"] = "InferenceGateway"
    metadata: ObjectMeta = Field(description="Name, namespace and labels.")
    spec: Spec
    status: Status | None = None
