# Generated from apis/inferencegateways/definition.yaml by schemas/generate.py; do not edit.

from __future__ import annotations

from pydantic import Field
from modelplane_schemas.wire import Document, ObjectMeta, Wire
from typing import Literal


class EnvoyGateway(Wire):
    """
    The Envoy Gateway installation.
    """

    install: bool | None = Field(
        default=None, description="Install it with Helm. False where it is already there. Default: true."
    )
    version: str | None = Field(
        default=None,
        description="Version to install, or the version that is there; it decides which features a ModelService may use. Default: v1.9.0.",
    )


class GatewayRef(Wire):
    """
    The Gateway object.
    """

    namespace: str | None = Field(default=None, description="Its namespace.")
    name: str | None = Field(default=None, description="Its name.")


class Condition(Wire):
    last_transition_time: str
    message: str | None = None
    reason: str
    status: str
    type: str
    observed_generation: int | None = None


class Host(Wire):
    host: str = Field(description="The host name.")
    namespaces: list[str] = Field(description="Namespaces whose ModelServices may use it.")


class NetworkPolicy(Wire):
    """
    A NetworkPolicy on the gateway's proxies, which holds whatever a name resolves to. It denies link-local and metadata addresses and deniedCIDRs; cluster DNS stays reachable.
    """

    enabled: bool | None = Field(default=None, description="Render it. Default: false.")
    namespace: str | None = Field(
        default=None,
        description="Namespace in which Envoy Gateway runs the proxies and itself. Default: envoy-gateway-system.",
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


class Status(Wire):
    """
    Where the gateway is and what it can do.
    """

    address: str | None = Field(default=None, description="IP address or host name.")
    hostname: str | None = Field(default=None, description="Host name it serves.")
    port: int | None = Field(default=None, description="Port it serves.")
    scheme: Literal["http", "https"] | None = Field(default=None, description="http or https.")
    features: list[str] | None = Field(
        default=None, description="Features that ModelServices of this gateway may use, sorted."
    )
    gateway_ref: GatewayRef | None = None
    conditions: list[Condition] | None = Field(default=None, description="Conditions of the resource.")


class Endpoints(Wire):
    """
    Where requests may leave to. ModelEndpoints that somebody writes, and keys of token issuers, may name public addresses and names; private networks and internal names are opened here. Loopback, link-local and metadata addresses, the API server and Services of other namespaces are never opened. Endpoints of replicas are composed, and ask nobody.
    """

    allowed_hosts: list[str] | None = Field(
        default=None, description="Host names, or *.domain, that may be named although they are internal."
    )
    allowed_cid_rs: list[str] | None = Field(
        default=None,
        validation_alias="allowedCIDRs",
        serialization_alias="allowedCIDRs",
        description="Networks whose addresses may be named although they are private, for example 10.20.0.0/16.",
    )
    denied_hosts: list[str] | None = Field(
        default=None, description="Host names, or *.domain, that may not be named, whatever is allowed."
    )
    denied_cid_rs: list[str] | None = Field(
        default=None,
        validation_alias="deniedCIDRs",
        serialization_alias="deniedCIDRs",
        description="Networks whose addresses may not be named, whatever is allowed: those of pods, Services, nodes and the API server, and the addresses of the clusters' gateways where these are public.",
    )
    only_allowed: bool | None = Field(
        default=None,
        description="Nothing may be named but what allowedHosts and allowedCIDRs list. Default: false.",
    )
    nat64_prefixes: list[str] | None = Field(
        default=None,
        description="Prefixes with which the network translates IPv6 into IPv4 (RFC 6052), besides 64:ff9b::/96. An address under one is judged by the IPv4 address it carries.",
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
        description="Secrets of the gateway's namespace with certificate and key."
    )


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
        description='Host name of the gateway, or *.domain. A ModelService may use host names <anything>.<its namespace>.<hostname without "*.">; others are granted in hosts.',
    )
    class_name: str | None = Field(
        default=None, description="A GatewayClass that exists and is to be used instead of one of our own."
    )
    tls: Tls | None = None
    hosts: list[Host] | None = Field(
        default=None, description="Host names outside the gateway's own that named namespaces may use."
    )


class Spec(Wire):
    """
    How the gateway is made.
    """

    type: Literal["Envoy", "EnvoyAI"] | None = Field(
        default=None,
        description="Envoy is Envoy Gateway. EnvoyAI adds the AI gateway (provider schemas, model-name routing, token metering). Default: Envoy.",
    )
    envoy_gateway: EnvoyGateway | None = None
    gateway: Gateway | None = None
    endpoints: Endpoints | None = None
    crossplane: Crossplane | None = None


class InferenceGateway(Document):
    """
    InferenceGateway is the front door of the fleet on the control plane: it routes ModelServices to ModelEndpoints, with the settings that LLM traffic needs (long streams, large prompts).
    """

    api_version: Literal["modelplane.ai/v1alpha1"] = "modelplane.ai/v1alpha1"
    kind: Literal["InferenceGateway"] = "InferenceGateway"
    metadata: ObjectMeta = Field(description="Name, namespace and labels.")
    spec: Spec
    status: Status | None = None
