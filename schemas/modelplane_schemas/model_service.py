# Generated from apis/modelservices/definition.yaml by schemas/generate.py; do not edit.

from __future__ import annotations

from pydantic import Field
from modelplane_schemas.wire import Wire
from typing import Any, Literal


class GatewayRef(Wire):
    """
    The InferenceGateway. Default is the only one, else the one named default.
    """

    name: str = Field(..., description="Name of the InferenceGateway.")


class MatchExpression(Wire):
    key: str = Field(..., description="The label's key.")
    operator: Literal["In", "NotIn", "Exists", "DoesNotExist"] = Field(..., description="How the label is compared.")
    values: list[str] | None = Field(None, description="Values for In and NotIn.")


class Selector(Wire):
    """
    Which ModelEndpoints of the same namespace belong to the group, by their labels.
    """

    match_labels: dict[str, str] | None = Field(
        None, alias="matchLabels", description="Labels that must all be present with exactly this value."
    )
    match_expressions: list[MatchExpression] | None = Field(
        None, alias="matchExpressions", description="Conditions on labels that must all hold."
    )


class Endpoint(Wire):
    selector: Selector = Field(
        ..., description="Which ModelEndpoints of the same namespace belong to the group, by their labels."
    )
    weight: int | None = Field(
        1,
        description="Share of the group among those of the same priority, divided evenly among its endpoints. 0 drains it.",
    )
    priority: int | None = Field(
        0, description="0 comes first. A higher number receives requests only when all lower ones are unhealthy."
    )


class Timeouts(Wire):
    """
    When a request is given up.
    """

    request: str | None = Field(
        "0s",
        description="Longest time of a whole request with its answer. 0s means no limit, so that streams are not cut.",
    )
    idle: str | None = Field("3600s", description="Longest silence on a stream.")


class Retries(Wire):
    """
    When a request is tried again. Only causes that cannot run a generation twice are offered.
    """

    attempts: int | None = Field(2, description="Further attempts. 0 means none.")
    on: list[str] | None = Field(
        ["connect-failure", "503"],
        description='Causes, or status codes in quotes. Write the key in quotes too ("on"): YAML reads it as a truth value otherwise.',
    )


class RateLimit(Wire):
    """
    Limit of requests to this service, counted by each proxy of the gateway.
    """

    requests: int = Field(..., description="Requests per unit.")
    unit: Literal["Second", "Minute", "Hour"] = Field(..., description="Unit of time.")


class SecretRef(Wire):
    """
    Secret of the same namespace. Each key is a client's name, each value that client's key without "Bearer ".
    """

    name: str = Field(..., description="Name of the Secret.")


class ApiKeys(Wire):
    """
    Callers send a key in the Authorization header. It never reaches an endpoint.
    """

    secret_ref: SecretRef = Field(
        ...,
        alias="secretRef",
        description="Secret of the same namespace. Each key is a client's name, each value that client's key without \"Bearer \".",
    )
    header: str | None = Field("Authorization", description="Header that carries the key.")


class Jwt(Wire):
    """
    Callers send a JSON Web Token.
    """

    issuer: str = Field(..., description="Issuer of the tokens.")
    audiences: list[str] | None = Field(None, description="Accepted audiences. Empty means any.")
    jwks_uri: str = Field(..., alias="jwksUri", description="Where the issuer's keys are read.")


class Auth(Wire):
    """
    Who may call.
    """

    api_keys: ApiKeys | None = Field(
        None,
        alias="apiKeys",
        description="Callers send a key in the Authorization header. It never reaches an endpoint.",
    )
    jwt: Jwt | None = Field(None, description="Callers send a JSON Web Token.")


class Spec(Wire):
    """
    The URL, what stands behind it, and how requests are treated.
    """

    gateway_ref: GatewayRef | None = Field(
        None,
        alias="gatewayRef",
        description="The InferenceGateway. Default is the only one, else the one named default.",
    )
    host: str | None = Field(
        None,
        description="Host name of the service: <anything>.<namespace>.<hostname of the gateway>, or one the gateway grants to this namespace. Without it the service is reached under the path /<namespace>/<name>.",
    )
    endpoints: list[Endpoint] = Field(..., description="Groups of endpoints.")
    timeouts: Timeouts | None = Field({}, description="When a request is given up.", validate_default=True)
    retries: Retries | None = Field(
        {},
        description="When a request is tried again. Only causes that cannot run a generation twice are offered.",
        validate_default=True,
    )
    rate_limit: RateLimit | None = Field(
        None, alias="rateLimit", description="Limit of requests to this service, counted by each proxy of the gateway."
    )
    auth: Auth | None = Field(None, description="Who may call.")


class Endpoints(Wire):
    """
    Counts of endpoints.
    """

    matched: int | None = Field(None, description="Endpoints that match a group.")
    ready: int | None = Field(None, description="Of these, ready ones.")


class Backend(Wire):
    endpoint: str | None = Field(None, description="The ModelEndpoint.")
    backend_name: str | None = Field(None, alias="backendName", description="The gateway's Backend.")
    group: int | None = Field(None, description="Which entry of spec.endpoints, from 0.")
    weight: int | None = Field(None, description="Weight in the route.")
    priority: int | None = Field(None, description="Priority of its group.")
    ready: bool | None = Field(None, description="It may receive requests.")


class Status(Wire):
    """
    Where the service is and what answers.
    """

    address: str | None = Field(None, description="Address of the gateway.")
    url: str | None = Field(None, description="Base URL for clients; they append /v1/...")
    gateway: str | None = Field(None, description="The InferenceGateway that was chosen.")
    endpoints: Endpoints | None = Field(None, description="Counts of endpoints.")
    backends: list[Backend] | None = Field(None, description="The endpoints of the route.")


class ModelService(Wire):
    """
    ModelService is one URL in front of any number of ModelEndpoints of its namespace, with weights and priorities.
    """

    api_version: str | None = Field(None, alias="apiVersion")
    kind: str | None = None
    metadata: dict[str, Any] | None = None
    spec: Spec = Field(..., description="The URL, what stands behind it, and how requests are treated.")
    status: Status | None = Field(None, description="Where the service is and what answers.")