# Generated from apis/inferencegateways/definition.yaml by schemas/generate.py; do not edit.

from __future__ import annotations

from pydantic import Field
from modelplane_schemas.wire import Wire
from typing import Any, Literal


class EnvoyGateway(Wire):
    """
    The Envoy Gateway installation.
    """

    install: bool | None = Field(True, description="Install it with Helm. False where it is already there.")
    version: str | None = Field(
        "v1.9.0",
        description="Version to install, or the version that is there; it decides which features a ModelService may use.",
    )


class CertificateRef(Wire):
    name: str = Field(..., description="Name of the Secret.")


class Tls(Wire):
    """
    Serve HTTPS.
    """

    certificate_refs: list[CertificateRef] = Field(
        ..., alias="certificateRefs", description="Secrets of the gateway's namespace with certificate and key."
    )


class Host(Wire):
    host: str = Field(..., description="The host name.")
    namespaces: list[str] = Field(..., description="Namespaces whose ModelServices may use it.")


class Gateway(Wire):
    """
    The Gateway object.
    """

    name: str | None = Field(None, description="Name of the Gateway. Default is the InferenceGateway's name.")
    namespace: str | None = Field("modelplane-system", description="Namespace of the Gateway on the control plane.")
    port: int | None = Field(None, description="Port of the listener. Default 80, or 443 with tls.")
    hostname: str | None = Field(
        None,
        description='Host name of the gateway, or *.domain. A ModelService may use host names <anything>.<its namespace>.<hostname without "*.">; others are granted in hosts.',
    )
    class_name: str | None = Field(
        None, alias="className", description="A GatewayClass that exists and is to be used instead of one of our own."
    )
    tls: Tls | None = Field(None, description="Serve HTTPS.")
    hosts: list[Host] | None = Field(
        None, description="Host names outside the gateway's own that named namespaces may use."
    )


class Spec(Wire):
    """
    How the gateway is made.
    """

    type: Literal["Envoy", "EnvoyAI"] | None = Field(
        "Envoy",
        description="Envoy is Envoy Gateway. EnvoyAI adds the AI gateway (provider schemas, model-name routing, token metering).",
    )
    envoy_gateway: EnvoyGateway | None = Field(
        {}, alias="envoyGateway", description="The Envoy Gateway installation.", validate_default=True
    )
    gateway: Gateway | None = Field({}, description="The Gateway object.", validate_default=True)


class GatewayRef(Wire):
    """
    The Gateway object.
    """

    namespace: str | None = Field(None, description="Its namespace.")
    name: str | None = Field(None, description="Its name.")


class Status(Wire):
    """
    Where the gateway is and what it can do.
    """

    address: str | None = Field(None, description="IP address or host name.")
    hostname: str | None = Field(None, description="Host name it serves.")
    port: int | None = Field(None, description="Port it serves.")
    scheme: Literal["http", "https"] | None = Field(None, description="http or https.")
    features: list[str] | None = Field(None, description="Features that ModelServices of this gateway may use, sorted.")
    gateway_ref: GatewayRef | None = Field(None, alias="gatewayRef", description="The Gateway object.")


class InferenceGateway(Wire):
    """
    InferenceGateway is the front door of the fleet on the control plane: it routes ModelServices to ModelEndpoints, with the settings that LLM traffic needs (long streams, large prompts).
    """

    api_version: str | None = Field(None, alias="apiVersion")
    kind: str | None = None
    metadata: dict[str, Any] | None = None
    spec: Spec = Field(..., description="How the gateway is made.")
    status: Status | None = Field(None, description="Where the gateway is and what it can do.")