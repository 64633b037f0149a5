"""The class of a pool as its cluster changes it: taints of its DeviceTaintRules, its Kubernetes version and gates.

Source: resource.k8s.io DeviceTaintRule of Kubernetes 1.36. Known divergence: a rule that selects a single device or the
devices of a single node is none of the pool, whose nodes are alike; only rules about a driver's devices are known here.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TypeAlias

from kubecel import caches
from modelplane.devices import versions
from modelplane.devices.model import Claim, Device, DeviceTaint, DeviceTaintEffect, NodeClass, Request

Rules: TypeAlias = tuple[tuple[str, DeviceTaint], ...]
"""Taints, each with the driver of the devices that have it; empty is every driver."""


@caches.kept(1024)
def on_cluster(node_class: NodeClass, rules: Rules, minor: int, *, lists_are_on: bool = False) -> NodeClass:
    """Return the class on a cluster with these rules and version, the same object for the same arguments."""
    devices = tuple(_published(_tainted(device, rules), lists_are_on=lists_are_on) for device in node_class.devices)
    if minor < versions.SHARING:
        devices = tuple(_whole(_alone(device), minor) for device in devices)
    return replace(node_class, devices=devices, kubernetes_minor=minor, lists_are_on=lists_are_on)


@caches.kept(1024)
def without_nodes(node_class: NodeClass, why: str) -> NodeClass:
    """Return the class in a pool of which no node is there yet, for a scheduler that must see a device first.

    Devices that are not claimed through DRA are counted without being seen.
    """
    devices = tuple(
        replace(device, unpublished=device.unpublished or why) if device.claim is Claim.DRA else device
        for device in node_class.devices
    )
    return replace(node_class, devices=devices)


def _published(device: Device, *, lists_are_on: bool) -> Device:
    """Return the device as the cluster has it. An API server without the gate refuses a slice with lists.

    Attributes of devices that nobody claims are no business of the cluster.
    """
    if lists_are_on or not device.has_lists or device.claim is not Claim.DRA:
        return device
    gate = f"the feature gate {versions.LISTS_GATE} of Kubernetes 1.{versions.LISTS}"
    return replace(device, unpublished=f"publishes lists, which need {gate}; the cluster does not declare it")


def _whole(device: Device, minor: int) -> Device:
    """Return the device as an API server stores it that knows no counters: as it is, or not at all."""
    if not device.draws:
        return device
    needs = f"consumes shared counters, which needs Kubernetes 1.{versions.PARTS}, and the cluster runs 1.{minor}"
    return replace(device, unpublished=needs)


def _alone(device: Device) -> Device:
    """Return the device as an API server stores it that knows no sharing: one pod has it."""
    return replace(device, allow_multiple_allocations=False, policies=()) if device.is_shared else device


def _tainted(device: Device, rules: Rules) -> Device:
    more = tuple(taint for driver, taint in rules if driver in ("", device.driver) and taint not in device.taints)
    return replace(device, taints=(*device.taints, *more)) if more and device.claim is Claim.DRA else device


def evicting(
    node_class: NodeClass, held: Iterable[str], requests: tuple[Request, ...]
) -> tuple[str, DeviceTaint] | None:
    """Return the first held device with a taint that ends pods none of whose requests tolerates it, and the taint."""
    names = frozenset(held)
    tolerations = [one for request in requests for each in request.each() for one in each.tolerations]
    for device in node_class.devices:
        for taint in device.taints:
            if taint.effect is not DeviceTaintEffect.NO_EXECUTE or device.name not in names:
                continue
            if not any(toleration.covers(taint) for toleration in tolerations):
                return device.name, taint
    return None
