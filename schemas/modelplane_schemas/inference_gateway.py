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
