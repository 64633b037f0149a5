# Generated from apis/modelservices/definition.yaml by schemas/generate.py; do not edit.

from __future__ import annotations

from pydantic import Field
from modelplane_schemas.wire import Document, ObjectMeta, Wire
from typing import Literal


class GatewayRef(Wire):
    """
    The InferenceGateway. Default is the only one, else the one named default.
    """

    name: str = Field(description="Name of the InferenceGateway.")


class Timeouts(Wire):
    """
    When a request is given up.
    """

    request: str | None = Field(
        default=None,
        description="Longest time of a whole request with its answer. 0s means no limit, so that streams are not cut. Default: 0s.",
    )
    idle: str | None = Field(default=None, description="Longest silence on a stream. Default: 3600s.")


class Retries(Wire):
    """
    When a request is tried again. Only causes that cannot run a generation twice are offered.
    """

    attempts: int | None = Field(default=None, description="Further attempts. 0 means none. Default: 2.")
    on: list[str] | None = Field(
        default=None,
        description='Causes, or status codes in quotes. Write the key in quotes too ("on"): YAML reads it as a truth value otherwise. Default: ["connect-failure", "503"].',
    )


class RateLimit(Wire):
    """
    Limit of requests to this service, counted by each proxy of the gateway.
    """

    requests: int = Field(description="Requests per unit.")
    unit: Literal["Second", "Minute", "Hour"] = Field(description="Unit of time.")


class Endpoints(Wire):
    """
    Counts of endpoints.
    """

    matched: int | None = Field(default=None, description="Endpoints that match a group.")
    ready: int | None = Field(default=None, description="Of these, ready ones.")


class Backend(Wire):
    endpoint: str | None = Field(default=None, description="The ModelEndpoint.")
    backend_name: str | None = Field(default=None, description="The gateway's Backend.")
    group: int | None = Field(default=None, description="Which entry of spec.endpoints, from 0.")
    weight: int | None = Field(default=None, description="Weight in the route.")
    priority: int | None = Field(default=None, description="Priority of its group.")
    ready: bool | None = Field(default=None, description="It may receive requests.")


class Condition(Wire):
    last_transition_time: str
    message: str | None = None
    reason: str
    status: str
    type: str
    observed_generation: int | None = None


class Jwt(Wire):
    """
    Callers send a JSON Web Token.
    """

    issuer: str = Field(description="Issuer of the tokens.")
    audiences: list[str] | None = Field(default=None, description="Accepted audiences. Empty means any.")
    jwks_uri: str = Field(description="Where the issuer's keys are read.")


class CompositionRef(Wire):
    name: str


class CompositionSelector(Wire):
    match_labels: dict[str, str]


class ResourceRef(Wire):
    api_version: str
    kind: str
    name: str | None = None


class MatchExpression(Wire):
    key: str = Field(description="The label's key.")
    operator: Literal["In", "NotIn", "Exists", "DoesNotExist"] = Field(description="How the label is compared.")
    values: list[str] | None = Field(default=None, description="Values for In and NotIn.")


class SecretRef(Wire):
    """
    Secret of the same namespace. Each key is a client's name, each value that client's key without "Bearer ".
    """

    name: str = Field(description="Name of the Secret.")


class Status(Wire):
    """
    Where the service is and what answers.
    """

    address: str | None = Field(default=None, description="Address of the gateway.")
    url: str | None = Field(default=None, description="Base URL for clients; they append /v1/...")
    gateway: str | None = Field(default=None, description="The InferenceGateway that was chosen.")
    endpoints: Endpoints | None = None
    backends: list[Backend] | None = Field(default=None, description="The endpoints of the route.")
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


class Selector(Wire):
    """
    Which ModelEndpoints of the same namespace belong to the group, by their labels.
    """

    match_labels: dict[str, str] | None = Field(
        default=None, description="Labels that must all be present with exactly this value."
    )
    match_expressions: list[MatchExpression] | None = Field(
        default=None, description="Conditions on labels that must all hold."
    )


class ApiKeys(Wire):
    """
    Callers send a key in the Authorization header. It never reaches an endpoint.
    """

    secret_ref: SecretRef
    header: str | None = Field(default=None, description="Header that carries the key. Default: Authorization.")


class Endpoint(Wire):
    selector: Selector
    weight: int | None = Field(
        default=None,
        description="Share of the group among those of the same priority, divided evenly among its endpoints. 0 drains it. Default: 1.",
    )
    priority: int | None = Field(
        default=None,
        description="0 comes first. A higher number receives requests only when all lower ones are unhealthy. Default: 0.",
    )


class Auth(Wire):
    """
    Who may call.
    """

    api_keys: ApiKeys | None = None
    jwt: Jwt | None = None


class Spec(Wire):
    """
    The URL, what stands behind it, and how requests are treated.
    """

    gateway_ref: GatewayRef | None = None
    host: str | None = Field(
        default=None,
        description="Host name of the service: <anything>.<namespace>.<hostname of the gateway>, or one the gateway grants to this namespace. Without it the service is reached under the path /<namespace>/<name>.",
    )
    endpoints: list[Endpoint] = Field(description="Groups of endpoints.")
    timeouts: Timeouts | None = None
    retries: Retries | None = None
    rate_limit: RateLimit | None = None
    auth: Auth | None = None
    crossplane: Crossplane | None = None


class ModelService(Document):
    """
    ModelService is one URL in front of any number of ModelEndpoints of its namespace, with weights and priorities.
    """

    api_version: Literal["modelplane.ai/v1alpha1"] = "modelplane.ai/v1alpha1"
    kind: Literal["ModelService"] = "ModelService"
    metadata: ObjectMeta = Field(description="Name, namespace and labels.")
    spec: Spec
    status: Status | None = None
