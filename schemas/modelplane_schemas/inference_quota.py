# Generated from apis/inferencequotas/definition.yaml by schemas/generate.py; do not edit.

from __future__ import annotations

from pydantic import Field
from modelplane_schemas.wire import Document, ObjectMeta, Wire
from typing import Literal


class Namespaces(Wire):
    """
    Namespaces that share the quota: each that is named, and each that has all of the labels. Whoever may label a Namespace decides about its labels.
    """

    names: list[str] | None = Field(default=None, description="Names of namespaces.")
    match_labels: dict[str, str] | None = Field(
        default=None,
        description="Labels that a Namespace must have, all of them. Crossplane must be allowed to read Namespaces.",
    )


class Borrowing(Wire):
    """
    Loan beyond the limits, from a quota that selects the namespaces of this one among others. What the lender has room for may be held; it serves those that stay within their own limits first.
    """

    from_: str = Field(
        validation_alias="from",
        serialization_alias="from",
        description="InferenceQuota that lends. It must have room for every replica of these namespaces, and borrows nothing itself.",
    )
    limit: dict[str, str] = Field(
        description="Amounts that may be held beyond each limit, by its name: that of an entry of devices, replicas or costPerHour.",
    )


class Summary(Wire):
    """
    Totals for people.
    """

    namespaces: int | None = Field(default=None, description="Namespaces that share the quota.")
    replicas: int | None = Field(default=None, description="Replicas that are counted, those with a grant included.")
    fullest: str | None = Field(
        default=None, description="The limit of which most is used, with its use, for example h100 14/16."
    )
    over: str | None = Field(default=None, description="Limits that are exceeded.")
    borrowed: str | None = Field(default=None, description="Loans beyond the limits, for example l4 2.")
    waiting: int | None = Field(default=None, description="Replicas that wait for room in the quota.")


class Limit(Wire):
    name: str = Field(description="Name of the limit: that of an entry of devices, replicas or costPerHour.")
    limit: str | None = Field(default=None, description="The limit.")
    used: str | None = Field(default=None, description="Amount that admitted replicas hold.")
    granted: str | None = Field(
        default=None, description="Amount that is granted to replicas which their clusters have not admitted yet."
    )
    borrowable: str | None = Field(
        default=None, description="Amount that may be borrowed beyond the limit now. Absent where nothing may be."
    )
    borrowed: str | None = Field(default=None, description="Part of what is used and granted that is borrowed.")
    over: str | None = Field(
        default=None,
        description="Amount that is used and granted above the limit, with what may be borrowed. Absent where it is not exceeded.",
    )


class Namespace(Wire):
    name: str = Field(description="Name of the namespace.")
    used: dict[str, str] | None = Field(
        default=None, description="Amounts that its admitted replicas hold, by the name of the limit."
    )
    granted: dict[str, str] | None = Field(
        default=None, description="Amounts that are granted to its replicas beside that, by the name of the limit."
    )
    refused: int | None = Field(default=None, description="Number of its replicas that wait for room.")


class Grant(Wire):
    cluster: str = Field(description="Cluster that asked.")
    replica: str = Field(description="The replica as namespace/name.")
    number: int = Field(description="Number of the question.")


class Refused(Wire):
    cluster: str = Field(description="Cluster that asked.")
    replica: str = Field(description="The replica as namespace/name.")
    number: int = Field(description="Number of the question.")
    limit: str | None = Field(default=None, description="Name of the limit that has no room.")
    message: str | None = Field(default=None, description="The limit, what is used, and what is wanted.")


class Condition(Wire):
    last_transition_time: str
    message: str | None = None
    reason: str
    status: str
    type: str
    observed_generation: int | None = None


class CostPerHour(Wire):
    """
    Price of what the replicas hold, per hour. A replica costs the part of its nodes that it holds, by the cost of their InferenceClass. A class without a cost in this currency takes no new replica of these namespaces.
    """

    amount: str = Field(description='Decimal number in quotes, for example "250.00".')
    currency: str | None = Field(default=None, description="ISO 4217 currency code. Default: USD.")


class CompositionRef(Wire):
    name: str


class CompositionSelector(Wire):
    match_labels: dict[str, str]


class ResourceRef(Wire):
    api_version: str
    kind: str
    name: str | None = None
    namespace: str | None = None


class Selector(Wire):
    cel: str = Field(
        description='Expression, for example device.attributes["gpu.nvidia.com"].architecture == "Hopper".'
    )


class Status(Wire):
    """
    Observed state of the quota.
    """

    summary: Summary | None = None
    limits: list[Limit] | None = Field(default=None, description="Use of each limit. The amounts are decimal numbers.")
    namespaces: list[Namespace] | None = Field(default=None, description="Use by namespace.")
    grants: list[Grant] | None = Field(
        default=None,
        description="Grants to replicas that wait for their admission. A grant answers one question of one cluster (its number). It stands until the cluster has admitted the replica or has taken the question back.",
    )
    refused: list[Refused] | None = Field(
        default=None,
        description="Questions that are refused as things stand. They are answered again when there is room.",
    )
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


class Device(Wire):
    name: str = Field(description="Name of the limit, shown in messages and in the status.")
    class_name: str | None = Field(default=None, description="InferenceClass whose devices count.")
    selectors: list[Selector] | None = Field(
        default=None,
        description="CEL expressions over a device, as in the nodeSelector of a ModelDeployment. A device that satisfies all of them counts, whatever its class.",
    )
    count: int = Field(description="Devices that may be held at the same time.")


class Limits(Wire):
    """
    Limits of what the namespaces hold together. A limit of 0 allows nothing; one that is left out does not limit.
    """

    devices: list[Device] | None = Field(
        default=None, description="Limits of devices. A device counts for every entry that selects it."
    )
    replicas: int | None = Field(default=None, description="ModelReplicas that may hold places at the same time.")
    cost_per_hour: CostPerHour | None = None


class Spec(Wire):
    """
    The namespaces that share the quota, and its limits.
    """

    namespaces: Namespaces
    limits: Limits | None = None
    borrowing: Borrowing | None = None
    max_priority: int | None = Field(
        default=None,
        description="Highest priority that counts for replicas of these namespaces. A higher one counts as this one.",
    )
    crossplane: Crossplane | None = None


class InferenceQuota(Document):
    """
    InferenceQuota limits what the replicas of some namespaces may take of the fleet together, wherever they are placed. A replica that is over a limit is not placed, and a smaller limit stops nothing that runs. Where several quotas select a namespace, all of them must have room.
    """

    api_version: Literal["modelplane.ai/v1alpha1"] = "modelplane.ai/v1alpha1"
    kind: Literal["InferenceQuota"] = "InferenceQuota"
    metadata: ObjectMeta = Field(description="Name, namespace and labels.")
    spec: Spec
    status: Status | None = None
