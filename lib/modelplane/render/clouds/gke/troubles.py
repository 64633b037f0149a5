"""Advice on errors of Google Cloud and of its provider, by what their messages say.

Source of the texts: cloud.google.com/compute/docs/troubleshooting/troubleshooting-vm-creation and
/kubernetes-engine/docs/troubleshooting, and messages quoted in public issues: hashicorp-education/
learn-terraform-provision-gke-cluster #22 and GoogleCloudPlatform/k8s-config-connector #321 (quota),
tranquilitybase-io/tb-gcp #589 and kubernetes/k8s.io #9834 (stock), nkoson/gke-tutorial #8 (channel), crossplane/upjet
(replacement of an immutable field).
"""

from __future__ import annotations

from typing import Final

_QUOTA = (
    "ask Google Cloud for more quota of the resource that the message names in the region (IAM & Admin, Quotas), or "
    "lower the number of nodes; it is tried again"
)
_STOCK = (
    "Google Cloud has no such node free in the zone: name another zone of the region at the pool, use capacity that is "
    "set aside for the project (spec.provisioning.gke of the class), or wait; it is tried again"
)
_PERMISSION = (
    "give the identity of the ClusterProviderConfig the roles that docs/clouds-gke.md lists (container.admin, "
    "compute.networkAdmin, iam.serviceAccountAdmin, iam.serviceAccountKeyAdmin, iam.serviceAccountUser, "
    "resourcemanager.projectIamAdmin) in the project"
)
_SERVICE = "enable the API that the message names in the project (gcloud services enable), and wait a few minutes"
_KEYS = (
    "the organisation forbids keys of service accounts: write access: InjectedIdentity in spec.cluster.gke, and give "
    "the pods of provider-kubernetes and provider-helm an identity with roles/container.admin"
)
_REPLACE = (
    "the field cannot be changed in place: make a pool or cluster with another name and the new value, let replicas "
    "move there, then remove the old one"
)
_DEVICE = (
    "the zone does not offer the type, or machineType and acceleratorType of the class do not belong together: see "
    "gcloud compute accelerator-types list, and name other zones or correct the class"
)
_VERSION = (
    "GKE does not offer the version in the region: see gcloud container get-server-config, and write one of those"
)
_CONFLICT = "another range of the network has these addresses: write other nodeCidr, podCidr and serviceCidr"
_IN_USE = (
    "something that Crossplane did not make still uses it, mostly a load balancer, a firewall rule or an endpoint "
    "group named k8s-* or gke-* of a deleted cluster: delete that in the project; the deletion is tried again"
)
_LATER = "another operation of the cluster runs; it is tried again when that has ended"
_ACCOUNT = "the service account is being made; it is tried again"
_RESERVED = (
    "the name in spec.provisioning.gke of the class is not known in the zone, or has no nodes of the type left: "
    "correct it, name the zone that it is in, or lower the number of nodes"
)

_ADVICE: Final = (
    (("insufficient regional quota", "quota_exceeded", "quota exceeded", "quota '", "rate_limit_exceeded"), _QUOTA),
    (
        (
            "zone_resource_pool_exhausted",
            "gce_stockout",
            "does not have enough resources available",
            "resource_availability",
            "currently unavailable in the",
        ),
        _STOCK,
    ),
    (("service_disabled", "accessnotconfigured", "has not been used in project", "it is disabled"), _SERVICE),
    (("disableserviceaccountkeycreation", "key creation is not allowed"), _KEYS),
    (("requires replacing it", "cannot change the value of the argument"), _REPLACE),
    (
        (
            "reservation not found",
            "specified reservation",
            "reservations do not have enough",
            "no matching reservation",
        ),
        _RESERVED,
    ),
    (
        (
            "accelerator type",
            "acceleratortype",
            "machine type with name",
            "machine type is not",
            "does not exist in zone",
            "is not supported with accelerator",
            "guest accelerators",
        ),
        _DEVICE,
    ),
    (("no valid versions", "unsupported master version", "is unsupported", "not supported in location"), _VERSION),
    (("conflicts with existing subnetwork", "overlaps with", "invalid ipcidrrange"), _CONFLICT),
    (("resource_in_use_by_another_resource", "is already being used by", "resourceinusebyanotherresource"), _IN_USE),
    (
        ("operation_in_progress", "incompatible operation", "cluster is currently", "failed_precondition: operation"),
        _LATER,
    ),
    (("service account", "does not exist"), _ACCOUNT),
    (("permission_denied", "permission denied", "does not have permission", "required '", "error 403"), _PERMISSION),
)
"""The advice, tried in this order, because quota errors are also a 403 with PERMISSION_DENIED."""


def advice(message: str) -> str:
    """Return the remedy against an error of Google Cloud, empty if none is known."""
    said = message.lower()
    for words, help_ in _ADVICE:
        matches = all if help_ is _ACCOUNT else any
        if matches(word in said for word in words):
            return help_
    return ""
