# Generated from apis/modelendpoints/definition.yaml by schemas/generate.py; do not edit.

from __future__ import annotations

from pydantic import Field
from modelplane_schemas.wire import Wire
from typing import Any, Literal


class Model(Wire):
    """
    The model the endpoint serves.
    """

    name: str | None = Field(
        None, description="Name the endpoint knows it by; the gateway rewrites it in the request where it can."
    )


class SecretRef(Wire):
    """
    Secret of the same namespace that holds the credential.
    """

    name: str = Field(..., description="Name of the Secret.")
    key: str | None = Field("credential", description="Key inside the Secret.")


class Auth(Wire):
    """
    Credentials the gateway adds to requests; a client's own are replaced.
    """

    secret_ref: SecretRef = Field(
        ..., alias="secretRef", description="Secret of the same namespace that holds the credential."
    )
    scheme: Literal["Bearer", "Header"] | None = Field("Bearer", description="How the credential is sent.")
    header: str | None = Field(None, description="Header that carries the credential with scheme Header.")


class CaCertificateRef(Wire):
    kind: Literal["ConfigMap", "Secret"] | None = Field("ConfigMap", description="Kind of the object.")
    name: str = Field(..., description="Name of the object.")


class Tls(Wire):
    """
    How the endpoint's certificate is checked.
    """

    ca_certificate_refs: list[CaCertificateRef] | None = Field(
        None,
        alias="caCertificateRefs",
        description="ConfigMaps or Secrets of the same namespace with ca.crt. Default is the system's authorities.",
    )
    insecure_skip_verify: bool | None = Field(
        False, alias="insecureSkipVerify", description="Accept any certificate. For tests only."
    )
    sni: str | None = Field(None, description="Server name asked for. Default is the host of url.")


class HealthCheck(Wire):
    """
    How the gateway checks it. Used where endpoints stand by for each other (priority) and all have the same; the service says where it is not.
    """

    path: str | None = Field("/health", description="Path of the check.")
    interval: str | None = Field("10s", description="Time between checks, for example 10s.")
    timeout: str | None = Field("5s", description="Time one check may take, for example 5s.")


class Spec(Wire):
    """
    Where the endpoint is and how to talk to it.
    """

    url: str = Field(
        ...,
        description="Scheme, host, optional port and optional path prefix, for example https://api.together.xyz. The path of the API (/v1/...) is appended; a trailing /v1 is accepted and means the same.",
    )
    api: list[Literal["OpenAI", "Anthropic"]] | None = Field(["OpenAI"], description="Protocols the endpoint speaks.")
    model: Model | None = Field(None, description="The model the endpoint serves.")
    host: str | None = Field(None, description="Host header sent to the endpoint. Default is the host of url.")
    auth: Auth | None = Field(
        None, description="Credentials the gateway adds to requests; a client's own are replaced."
    )
    tls: Tls | None = Field(None, description="How the endpoint's certificate is checked.")
    drain: bool | None = Field(
        None,
        description="True takes the endpoint out of every ModelService while requests under way are finished; then it can be deleted without a failed request. A replica that goes is drained this way by itself.",
    )
    health_check: HealthCheck | None = Field(
        None,
        alias="healthCheck",
        description="How the gateway checks it. Used where endpoints stand by for each other (priority) and all have the same; the service says where it is not.",
    )


class Status(Wire):
    """
    What became of it.
    """

    backend_name: str | None = Field(None, alias="backendName", description="Name of the gateway's Backend for it.")
    ready: bool | None = Field(None, description="It may receive requests.")


class ModelEndpoint(Wire):
    """
    ModelEndpoint is one place that answers model requests. A ModelDeployment composes one for each replica that serves; write one by hand for a service outside the fleet.
    """

    api_version: str | None = Field(None, alias="apiVersion")
    kind: str | None = None
    metadata: dict[str, Any] | None = None
    spec: Spec = Field(..., description="Where the endpoint is and how to talk to it.")
    status: Status | None = Field(None, description="What became of it.")