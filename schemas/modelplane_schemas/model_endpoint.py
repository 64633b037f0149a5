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


class Model1(Wire):
    """
    The model the endpoint serves.
    """

    name: str | None = Field(None, description="Name the endpoint knows it by.")


class SecretRef1(Wire):
    """
    Secret of the same namespace that holds the credential.
    """

    name: str | None = Field(None, description="Name of the Secret.")
    key: str | None = Field(None, description="Key inside the Secret.")


class Auth1(Wire):
    """
    Credentials the gateway adds to requests.
    """

    secret_ref: SecretRef1 | None = Field(
        None, alias="secretRef", description="Secret of the same namespace that holds the credential."
    )
    scheme: str | None = Field(None, description="How the credential is sent.")
    header: str | None = Field(None, description="Header that carries the credential.")


class CaCertificateRef1(Wire):
    kind: str | None = Field(None, description="Kind of the object.")
    name: str | None = Field(None, description="Name of the object.")


class Tls1(Wire):
    """
    How the endpoint's certificate is checked.
    """

    ca_certificate_refs: list[CaCertificateRef1] | None = Field(
        None, alias="caCertificateRefs", description="ConfigMaps or Secrets of the same namespace with ca.crt."
    )
    insecure_skip_verify: bool | None = Field(
        None, alias="insecureSkipVerify", description="Any certificate is accepted."
    )
    sni: str | None = Field(None, description="Server name asked for.")


class HealthCheck1(Wire):
    """
    How the gateway checks it.
    """

    path: str | None = Field(None, description="Path of the check.")
    interval: str | None = Field(None, description="Time between checks.")
    timeout: str | None = Field(None, description="Time one check may take.")


class InForce(Wire):
    """
    The spec that the gateway's objects were made from last. It is what runs, and what a ModelService routes to, while a mistake in the spec waits to be mended.
    """

    url: str | None = Field(None, description="Where requests go.")
    host: str | None = Field(None, description="Host header sent to the endpoint.")
    api: list[str] | None = Field(None, description="Protocols the endpoint speaks.")
    model: Model1 | None = Field(None, description="The model the endpoint serves.")
    auth: Auth1 | None = Field(None, description="Credentials the gateway adds to requests.")
    tls: Tls1 | None = Field(None, description="How the endpoint's certificate is checked.")
    health_check: HealthCheck1 | None = Field(None, alias="healthCheck", description="How the gateway checks it.")


class Status(Wire):
    """
    What became of it.
    """

    backend_name: str | None = Field(None, alias="backendName", description="Name of the gateway's Backend for it.")
    credential_name: str | None = Field(
        None, alias="credentialName", description="Name of the HTTPRouteFilter that sets its credential."
    )
    ready: bool | None = Field(None, description="It may receive requests.")
    in_force: InForce | None = Field(
        None,
        alias="inForce",
        description="The spec that the gateway's objects were made from last. It is what runs, and what a ModelService routes to, while a mistake in the spec waits to be mended.",
    )


class ModelEndpoint(Wire):
    """
    ModelEndpoint is one place that answers model requests. A ModelDeployment composes one for each replica that serves; write one by hand for a service outside the fleet.
    """

    api_version: str | None = Field(None, alias="apiVersion")
    kind: str | None = None
    metadata: dict[str, Any] | None = None
    spec: Spec = Field(..., description="Where the endpoint is and how to talk to it.")
    status: Status | None = Field(None, description="What became of it.")