"""Advice on errors of Azure and of its provider, by what their messages say.

Source of the texts: learn.microsoft.com/troubleshoot/azure/azure-kubernetes/error-codes, blog.aks.azure.com of
2025-12-06 (capacity), and messages quoted in public issues: 1ChristianAlex/motordesk #14 and Azure/AKS #5808 (quota),
hashicorp/terraform-provider-azurerm #31129 (spot) and #30424 (rotation).
"""

from __future__ import annotations

from typing import Final

_QUOTA = (
    "ask Azure for more quota of the family of sizes that the message names in the location (Subscriptions, Usage + "
    "quotas), or lower the number of nodes; a surge node of an upgrade counts too; it is tried again"
)
_STOCK = (
    "Azure has no such node free under these constraints: name another zone at the pool or none, use capacity that is "
    "set aside (capacityReservationGroupId of the class), or wait; it is tried again"
)
_SKU = (
    "the subscription may not use the size in the location or zone: see az vm list-skus --location LOCATION --size "
    "SIZE --all, and name another zone, another class, or ask Azure to lift the restriction"
)
_PERMISSION = (
    "give the identity of the ClusterProviderConfig the roles that docs/clouds-aks.md lists in the subscription or "
    "resource group: Contributor, and Role Based Access Control Administrator for the role of the cluster's identity"
)
_LINKED = (
    "the identity of the ClusterProviderConfig, or that of the cluster, may not use the resource that the message "
    "calls a linked scope: give it Network Contributor on the subnet, or the role that the message names on that "
    "resource"
)
_PROVIDER = "register it once in the subscription (az provider register --namespace NAMESPACE), and wait a few minutes"
_REPLACE = (
    "the field cannot be changed in place: make a pool or cluster with another name and the new value, let replicas "
    "move there, then remove the old one"
)
_VERSION = (
    "AKS does not offer the version in the location, or skips a minor: see az aks get-versions --location LOCATION, "
    "and go one minor at a time"
)
_ADDRESSES = "the subnet has too few addresses for all nodes and surge nodes: use a larger one, or fewer nodes"
_OVERLAP = "ranges of the cluster and of the virtual network overlap: write other podCidr and serviceCidr"
_IN_USE = (
    "something that Crossplane did not make still uses it, mostly a load balancer or network interface of a deleted "
    "cluster or of another: delete that in the resource group; the deletion is tried again"
)
_DISK = "an ephemeral boot disk does not fit the size: write osDiskType: Managed or a smaller diskSizeGiB in the class"
_LATER = "another operation of the cluster runs; it is tried again when that has ended"
_TIMEOUT = (
    "nodes did not reach the API server or their packages in time: look at the firewall, routes and DNS of the subnet, "
    "which must let them out to the addresses that AKS lists"
)

_ADVICE: Final = (
    (("insufficientvcpuquota", "quotaexceeded", "exceeding approved", "exceeding quota limits", "vcpu quota"), _QUOTA),
    (
        ("skunotavailable", "notavailableforsubscription", "is not allowed in your subscription", "vmsizenotsupported"),
        _SKU,
    ),
    (
        (
            "overconstrainedzonalallocationrequest",
            "overconstrainedallocationrequest",
            "zonalallocationfailed",
            "allocationfailed",
            "sufficient capacity",
        ),
        _STOCK,
    ),
    (("linkedauthorizationfailed", "linkedinvalidpropertyid", "linked scope"), _LINKED),
    (("missingsubscriptionregistration", "not registered to use namespace"), _PROVIDER),
    (("authorizationfailed", "does not have authorization", "statuscode=403", "unexpected status 403"), _PERMISSION),
    (("requires replacing it", "temporary_name_for_rotation", "cannot change the value of the argument"), _REPLACE),
    (("k8sversionnotsupported", "agentpoolk8sversionnotsupported", "is not supported in this region"), _VERSION),
    (("insufficientsubnetsize", "subnetisfull", "does not have enough available ip addresses"), _ADDRESSES),
    (("cidroverlap", "overlapexistingsubnets", "netcfgsubnetrangesoverlap"), _OVERLAP),
    (("inusesubnetcannotbedeleted", "subnet is in use", "cannotdeletevnet", "resourcegroupdeletionblocked"), _IN_USE),
    (("ephemeral", "cache size"), _DISK),
    (("operationnotallowed", "anotheroperationinprogress", "etagmismatch", "conflict"), _LATER),
    (("vmextensionprovisioning", "vmextensionerror", "outboundconnfail"), _TIMEOUT),
)
"""The advice, tried in this order: a lack of quota is often told within another error."""


def advice(message: str) -> str:
    """Return the remedy against an error of Azure, empty if none is known."""
    said = message.lower()
    for texts, remedy in _ADVICE:
        if any(text in said for text in texts):
            return remedy
    return ""
