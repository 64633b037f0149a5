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
    Timeouts of requests.
    """

    request: str | None = Field(
        default=None,
        description="Maximum duration of a whole request with its answer. 0s means no limit, so that streams are not cut. Default: 0s.",
    )
    idle: str | None = Field(default=None, description="Maximum idle time of a stream. Default: 3600s.")


class Retries(Wire):
    """
    Retries of failed requests. Only causes that cannot run a generation twice are supported.
    """

    attempts: int | None = Field(default=None, description="Maximum number of retries. 0 means none. Default: 2.")
    on: list[str] | None = Field(
        default=None,
        description='Causes, or status codes in quotes. Write the key in quotes too ("on"), because YAML reads it as a Boolean otherwise. Default: ["connect-failure", "503"].',
    )


class Clients(Wire):
    """
    Networks of clients. Without it, every network may call. The InferenceGateway must say from where it knows the addresses of clients (spec.clients.addressFrom).
    """

    allowed_cid_rs: list[str] | None = Field(
        default=None,
        validation_alias="allowedCIDRs",
        serialization_alias="allowedCIDRs",
        description="Networks that may call, for example 10.20.0.0/16. Empty means all that are not denied.",
    )
    denied_cid_rs: list[str] | None = Field(
        default=None,
        validation_alias="deniedCIDRs",
        serialization_alias="deniedCIDRs",
        description="Networks that may not call although they are inside an allowed one.",
    )


class Cors(Wire):
    """
    Pages that may call the service from a browser. The gateway answers a browser's question (OPTIONS) itself, before it asks for a key.
    """

    allow_origins: list[str] = Field(
        description='Origins of the pages, for example https://app.example.com or https://*.example.com. "*" is every page.',
    )
    allow_methods: list[str] | None = Field(
        default=None, description="Methods that a page may use. Default GET, POST and OPTIONS."
    )
    allow_headers: list[str] | None = Field(
        default=None,
        description="Headers that a page may send. Default Authorization and Content-Type. The header of apiKeys is always allowed.",
    )
    expose_headers: list[str] | None = Field(default=None, description="Headers of answers that a page may read.")
    max_age: str | None = Field(
        default=None, description="Time for which a browser keeps the answer to its question. Default: 3600s."
    )
    allow_credentials: bool | None = Field(default=None, description="Let pages send cookies. Default: false.")


class Locality(Wire):
    """
    Endpoints at the client's place come first. Others receive its requests while those there are unhealthy, by weight.
    """

    topology_key: Literal["modelplane.ai/region", "modelplane.ai/zone"] | None = Field(
        default=None,
        description="Label of a place. Endpoints of replicas have it from their InferenceCluster. Of the InferenceGateway it is the place of requests that name none. Default: modelplane.ai/region.",
    )
    header: str | None = Field(
        default=None,
        description="Header in which clients name their place, as the label has it. Default: x-client-region.",
    )


class Affinity(Wire):
    """
    Requests of a session go to the same endpoint, whose cache of the conversation they use. A session moves when its endpoint is gone or unhealthy.
    """

    type: Literal["Header", "ClientAddress", "PrefixHash"] | None = Field(
        default=None,
        description="The part of a request that tells sessions apart: a header, the client's address, or the beginning of the prompt, which a gateway of type Envoy does not read and refuses. Default: Header.",
    )
    header: str | None = Field(
        default=None,
        description="Header with the session, for type: Header. Requests without it go anywhere. Default: x-session-id.",
    )


class SlowStart(Wire):
    """
    An endpoint that is new or was unhealthy receives its share little by little.
    """

    window: str | None = Field(default=None, description="Time until it has its whole share. Default: 60s.")


class Ejection(Wire):
    """
    Failures after which an endpoint is left out for a while. A service whose endpoints stand by for each other (priority, locality) always has it, with these defaults. An answer of 429 is no failure.
    """

    consecutive5xx_errors: int | None = Field(
        default=None,
        validation_alias="consecutive5xxErrors",
        serialization_alias="consecutive5xxErrors",
        description="Answers of 500 to 599 in a row. Default: 3.",
    )
    consecutive_gateway_errors: int | None = Field(
        default=None, description="Answers of 502, 503 and 504 in a row. Default: 2."
    )
    consecutive_local_origin_failures: int | None = Field(
        default=None, description="Connections in a row that fail. Default: 1."
    )
    interval: str | None = Field(default=None, description="Time between two looks. Default: 2s.")
    base_ejection_time: str | None = Field(
        default=None,
        description="Time for which it is left out, multiplied by the number of times that it was. Default: 20s.",
    )
    max_ejection_percent: int | None = Field(
        default=None,
        description="Largest part of the endpoints that may be left out at once. Default: 100.",
    )


class Endpoints(Wire):
    """
    Counts of endpoints.
    """

    matched: int | None = Field(default=None, description="Endpoints that match a group.")
    ready: int | None = Field(default=None, description="Matching endpoints that are ready.")


class Backend(Wire):
    endpoint: str | None = Field(default=None, description="The ModelEndpoint.")
    backend_name: str | None = Field(default=None, description="The gateway's Backend.")
    group: int | None = Field(default=None, description="Index of the entry in spec.endpoints, from 0.")
    weight: int | None = Field(default=None, description="Weight in the route.")
    priority: int | None = Field(default=None, description="Priority of its group.")
    ready: bool | None = Field(default=None, description="True when the endpoint may receive requests.")


class Condition(Wire):
    last_transition_time: str
    message: str | None = None
    reason: str
    status: str
    type: str
    observed_generation: int | None = None


class Budget(Wire):
    tokens: int = Field(description="Input and output tokens per unit.")
    unit: Literal["Day", "Week", "Month", "Year"] = Field(
        description="Unit of time, in UTC. A month has 30 days and a year 365, counted from 1970-01-01."
    )


class Client(Wire):
    names: list[str] = Field(
        description="Names of clients, as the Secret of apiKeys has them, or subjects (sub) of tokens. Never keys."
    )
    requests: int | None = Field(default=None, description="Requests per unit.")
    tokens: int | None = Field(
        default=None,
        description="Input and output tokens per unit. They are known when an answer has ended, so that the request after it is the first to be refused. It needs a gateway that reads the usage in answers; a gateway of type Envoy refuses it.",
    )
    budgets: list[Budget] | None = Field(
        default=None, description="Limits of tokens for longer times, one for each unit. They need what tokens needs."
    )


class Jwt(Wire):
    """
    Clients send a JSON Web Token.
    """

    issuer: str = Field(description="Issuer of the tokens.")
    audiences: list[str] | None = Field(default=None, description="Accepted audiences. Empty means any.")
    jwks_uri: str = Field(description="URL of the issuer's keys.")


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
    operator: Literal["In", "NotIn", "Exists", "DoesNotExist"] = Field(description="Operator that compares the label.")
    values: list[str] | None = Field(default=None, description="Values for In and NotIn.")


class SecretRef(Wire):
    """
    Secret of the same namespace. Each key is a client's name. Each value is that client's key without "Bearer ".
    """

    name: str = Field(description="Name of the Secret.")


class Status(Wire):
    """
    Observed state of the service, with its URL and its endpoints.
    """

    address: str | None = Field(default=None, description="Address of the gateway.")
    url: str | None = Field(default=None, description="Base URL for clients; they append /v1/...")
    model: str | None = Field(
        default=None, description="Model name that clients write in requests, on a gateway of type EnvoyAI."
    )
    gateway: str | None = Field(default=None, description="The selected InferenceGateway.")
    endpoints: Endpoints | None = None
    backends: list[Backend] | None = Field(default=None, description="The endpoints of the route.")
    conditions: list[Condition] | None = Field(default=None, description="Conditions of the resource.")


class RateLimit(Wire):
    """
    Limits of requests to this service, and of their tokens. Each proxy of the gateway counts requests for itself, unless the rate limit service counts: with countedBy: Gateway, tokens, budgets or clients. These need spec.rateLimit in the InferenceGateway. Above a limit clients get 429.
    """

    requests: int | None = Field(default=None, description="Requests per unit.")
    unit: Literal["Second", "Minute", "Hour"] | None = Field(
        default=None, description="Unit of time of requests and tokens."
    )
    per: Literal["Service", "Client"] | None = Field(
        default=None,
        description="The requests that are counted together: all of the service, or those of each client. A client is a key's name in the Secret of apiKeys, or the subject (sub) of a token. Default: Service.",
    )
    tokens: int | None = Field(
        default=None,
        description="Input and output tokens per unit. They are known when an answer has ended, so that the request after it is the first to be refused. It needs a gateway that reads the usage in answers; a gateway of type Envoy refuses it.",
    )
    budgets: list[Budget] | None = Field(
        default=None, description="Limits of tokens for longer times, one for each unit. They need what tokens needs."
    )
    counted_by: Literal["Proxy", "Gateway"] | None = Field(
        default=None,
        description="Proxy: each proxy of the gateway counts requests for itself. Gateway: the rate limit service counts for all of them. Default is Proxy for a limit of requests alone, else Gateway.",
    )
    clients: list[Client] | None = Field(
        default=None,
        description="Other limits for some clients, with per: Client. A client that is named has these, for itself, and none of those above.",
    )


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
    ModelEndpoints of the same namespace that belong to the group, by their labels.
    """

    match_labels: dict[str, str] | None = Field(
        default=None, description="Labels that must all be present with exactly this value."
    )
    match_expressions: list[MatchExpression] | None = Field(
        default=None, description="Label requirements that must all be met."
    )


class ApiKeys(Wire):
    """
    Clients send a key in the Authorization header. It is never forwarded to an endpoint.
    """

    secret_ref: SecretRef
    header: str | None = Field(default=None, description="Header that carries the key. Default: Authorization.")


class Endpoint(Wire):
    selector: Selector
    weight: int | None = Field(
        default=None,
        description="Share of the group among the groups of the same priority. It is divided evenly among the endpoints of the group. 0 drains the group. Default: 1.",
    )
    priority: int | None = Field(
        default=None,
        description="Priority of the group. 0 comes first. A higher number receives requests only when all groups with lower numbers are unhealthy. Endpoints of different credentials or paths need the relay of the InferenceGateway (spec.relay). Default: 0.",
    )
    max_requests: int | None = Field(
        default=None,
        description="Requests that each endpoint of the group serves at a time. Further requests go to the next priority. The proxies of the relay share the number, and each counts for itself. Needs the relay of the InferenceGateway (spec.relay). Default is any number.",
    )


class Auth(Wire):
    """
    Authentication of clients.
    """

    api_keys: ApiKeys | None = None
    jwt: Jwt | None = None


class Spec(Wire):
    """
    The URL, its endpoints, and the treatment of requests.
    """

    gateway_ref: GatewayRef | None = None
    host: str | None = Field(
        default=None,
        description="Host name of the service: <anything>.<namespace>.<hostname of the gateway>, or one that the gateway grants to this namespace. Without it, the service is reached under the path /<namespace>/<name>. On a gateway of type EnvoyAI all services of a namespace share <namespace>.<hostname of the gateway>, and one with auth has <name>.<namespace>.<hostname of the gateway> to itself.",
    )
    endpoints: list[Endpoint] = Field(description="Groups of endpoints.")
    timeouts: Timeouts | None = None
    retries: Retries | None = None
    rate_limit: RateLimit | None = None
    clients: Clients | None = None
    cors: Cors | None = None
    max_request_size: str | None = Field(
        default=None,
        description="The largest body of a request, from 1Ki to 256Mi, for example 8Mi; a larger one is answered with 413. The gateway holds each request until it has all of it. Without it, a body of any size is passed on as it arrives.",
    )
    locality: Locality | None = None
    affinity: Affinity | None = None
    slow_start: SlowStart | None = None
    ejection: Ejection | None = None
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
