# Generated from apis/modelendpoints/definition.yaml by schemas/generate.py; do not edit.

from __future__ import annotations

from pydantic import Field
from modelplane_schemas.wire import Document, ObjectMeta, Wire
from typing import Literal


class Model(Wire):
    """
    The model the endpoint serves.
    """

    name: str | None = Field(
        default=None,
        description="Model name that the endpoint accepts. The gateway rewrites it in the request where it can.",
    )


class HealthCheck(Wire):
    """
    Health check by the gateway. It is used for failover by priority, when all endpoints have the same check. Otherwise the service reports that it is not used.
    """

    path: str | None = Field(default=None, description="Path of the check. Default: /health.")
    interval: str | None = Field(default=None, description="Time between checks, for example 10s. Default: 10s.")
    timeout: str | None = Field(default=None, description="Timeout of one check, for example 5s. Default: 5s.")


class Condition(Wire):
    last_transition_time: str
    message: str | None = None
    reason: str
    status: str
    type: str
    observed_generation: int | None = None


class SecretRef(Wire):
    """
    Secret of the same namespace that holds the credential.
    """

    name: str = Field(description="Name of the Secret.")
    key: str | None = Field(default=None, description="Key inside the Secret. Default: credential.")


class CaCertificateRef(Wire):
    kind: Literal["ConfigMap", "Secret"] | None = Field(
        default=None, description="Kind of the object. Default: ConfigMap."
    )
    name: str = Field(description="Name of the object.")


class CompositionRef(Wire):
    name: str


class CompositionSelector(Wire):
    match_labels: dict[str, str]


class ResourceRef(Wire):
    api_version: str
    kind: str
    name: str | None = None


class InForceModel(Wire):
    """
    The model the endpoint serves.
    """

    name: str | None = Field(default=None, description="Model name that the endpoint accepts.")


class InForceHealthCheck(Wire):
    """
    Health check by the gateway.
    """

    path: str | None = Field(default=None, description="Path of the check.")
    interval: str | None = Field(default=None, description="Time between checks.")
    timeout: str | None = Field(default=None, description="Timeout of one check.")


class InForceAuthSecretRef(Wire):
    """
    Secret of the same namespace that holds the credential.
    """

    name: str | None = Field(default=None, description="Name of the Secret.")
    key: str | None = Field(default=None, description="Key inside the Secret.")


class InForceTlsCaCertificateRef(Wire):
    kind: str | None = Field(default=None, description="Kind of the object.")
    name: str | None = Field(default=None, description="Name of the object.")


class Auth(Wire):
    """
    Credentials that the gateway adds to requests. They replace the client's own.
    """

    secret_ref: SecretRef
    scheme: Literal["Bearer", "Header"] | None = Field(
        default=None, description="Scheme of the credential. Default: Bearer."
    )
    header: str | None = Field(default=None, description="Header that carries the credential with scheme Header.")


class Tls(Wire):
    """
    Verification of the endpoint's certificate.
    """

    ca_certificates: str | None = Field(
        default=None,
        description="Certificates of the authorities that may sign the endpoint's certificate, in PEM, in place of caCertificateRefs. Nothing else may stand there: no private key.",
    )
    ca_certificate_refs: list[CaCertificateRef] | None = Field(
        default=None,
        description="ConfigMaps or Secrets of the same namespace with ca.crt. Default is the system's certificate authorities.",
    )
    insecure_skip_verify: bool | None = Field(
        default=None, description="Accept any certificate. Use it for tests only. Default: false."
    )
    sni: str | None = Field(default=None, description="Server name for TLS (SNI). Default is the host of url.")


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


class InForceAuth(Wire):
    """
    Credentials that the gateway adds to requests.
    """

    secret_ref: InForceAuthSecretRef | None = None
    scheme: str | None = Field(default=None, description="Scheme of the credential.")
    header: str | None = Field(default=None, description="Header that carries the credential.")


class InForceTls(Wire):
    """
    Verification of the endpoint's certificate.
    """

    ca_certificates: str | None = Field(default=None, description="Certificates of authorities, in PEM.")
    ca_certificate_refs: list[InForceTlsCaCertificateRef] | None = Field(
        default=None, description="ConfigMaps or Secrets of the same namespace with ca.crt."
    )
    insecure_skip_verify: bool | None = Field(default=None, description="True when any certificate is accepted.")
    sni: str | None = Field(default=None, description="Server name for TLS (SNI).")


class Spec(Wire):
    """
    Address of the endpoint and its protocol settings.
    """

    url: str = Field(
        description="Scheme, host, optional port and optional path prefix, for example https://api.together.xyz. The path of the API (/v1/...) is appended. A trailing /v1 is accepted and has the same meaning.",
    )
    api: list[Literal["OpenAI", "Anthropic"]] | None = Field(
        default=None, description='Protocols that the endpoint supports. Default: ["OpenAI"].'
    )
    model: Model | None = None
    host: str | None = Field(default=None, description="Host header sent to the endpoint. Default is the host of url.")
    auth: Auth | None = None
    tls: Tls | None = None
    drain: bool | None = Field(
        default=None,
        description="Drain the endpoint. True removes it from every ModelService while running requests finish. It can be deleted afterwards without a failed request. The endpoint of a replica that is removed is drained automatically.",
    )
    health_check: HealthCheck | None = None
    crossplane: Crossplane | None = None


class InForce(Wire):
    """
    The spec that the gateway's objects were last made from. It stays in force, and ModelServices route to it, while the current spec contains a mistake.
    """

    url: str | None = Field(default=None, description="Destination of requests.")
    host: str | None = Field(default=None, description="Host header sent to the endpoint.")
    api: list[str] | None = Field(default=None, description="Protocols that the endpoint supports.")
    model: InForceModel | None = None
    auth: InForceAuth | None = None
    tls: InForceTls | None = None
    health_check: InForceHealthCheck | None = None


class Status(Wire):
    """
    Observed state.
    """

    backend_name: str | None = Field(default=None, description="Name of the gateway's Backend for the endpoint.")
    credential_name: str | None = Field(
        default=None, description="Name of the HTTPRouteFilter that sets the credential."
    )
    ready: bool | None = Field(default=None, description="True when the endpoint may receive requests.")
    in_force: InForce | None = None
    conditions: list[Condition] | None = Field(default=None, description="Conditions of the resource.")


class ModelEndpoint(Document):
    """
    ModelEndpoint is an address that answers model requests. A ModelDeployment composes one for each replica that serves. Write one by hand for a service outside the fleet.
    """

    api_version: Literal["modelplane.ai/v1alpha1"] = "modelplane.ai/v1alpha1"
    kind: Literal["ModelEndpoint"] = "ModelEndpoint"
    metadata: ObjectMeta = Field(description="Name, namespace and labels.")
    spec: Spec
    status: Status | None = None
