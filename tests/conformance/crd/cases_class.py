"""Refused InferenceClasses."""

from __future__ import annotations

from typing import Any

from modelplane.structural import Cause
from tests.conformance.crd.case import Case, dotted, one
from tests.conformance.crd.documents import GONE, VALID, Path

Json = Any

_DEVICE = ("spec", "devices", 0)
_SETS = ("spec", "sharedCounters")
_TAKES = (*_DEVICE, "consumesCounters")
_SET: Json = {"name": "gpu", "count": 8, "counters": {"memory": {"value": "80Gi"}, "memory-slice-0": {"value": 1}}}
_PART: Json = {"counterSet": "gpu", "counters": {"memory": {"value": "10Gi"}}, "placements": [["memory-slice-0"]]}


def parted(name: str, sets: Json, takes: Json, at: Path, says: str | Cause) -> Case:
    """Return a case of a class whose first device draws from counters."""
    return Case(name, "InferenceClass", ((_SETS, sets), (_TAKES, takes)), dotted(at), says)


CLASS: tuple[Case, ...] = (
    one("class-no-devices", "InferenceClass", ("spec", "devices"), [], Cause.INVALID),
    one(
        "class-device-twice",
        "InferenceClass",
        ("spec", "devices", 1),
        VALID["InferenceClass"]["spec"]["devices"][0],
        Cause.DUPLICATE,
    ),
    one(
        "class-dra-without-class",
        "InferenceClass",
        (*_DEVICE, "deviceClassName"),
        GONE,
        'a device with "claim: DRA" needs deviceClassName',
        at=dotted(_DEVICE),
    ),
    one(
        "class-plugin-without-name",
        "InferenceClass",
        (*_DEVICE, "claim"),
        "DevicePlugin",
        'a device with "claim: DevicePlugin" needs resourceName',
        at=dotted(_DEVICE),
    ),
    one("class-claim", "InferenceClass", (*_DEVICE, "claim"), "Dra", Cause.NOT_SUPPORTED),
    one("class-driver", "InferenceClass", (*_DEVICE, "driver"), "GPU", Cause.INVALID),
    parted(
        "class-unknown-counter-set",
        [_SET],
        [_PART, {**_PART, "counterSet": "nic"}],
        ("spec",),
        "every counterSet in devices[].consumesCounters must be the name of an entry of sharedCounters",
    ),
    parted(
        "class-counter-set-unused",
        [_SET, {**_SET, "name": "nic"}],
        [_PART],
        ("spec",),
        "every entry of sharedCounters must be named by some devices[].consumesCounters",
    ),
    Case(
        "class-tainted-synthetic",
        "InferenceClass",
        (
            ((*_DEVICE, "taints"), [{"key": "example.com/sick", "effect": "NoSchedule"}]),
            ((*_DEVICE, "claim"), "Synthetic"),
        ),
        dotted(_DEVICE),
        'taints goes with "claim: DRA" only',
    ),
    Case(
        "class-parted-synthetic",
        "InferenceClass",
        ((_SETS, [_SET]), (_TAKES, [_PART]), ((*_DEVICE, "claim"), "Synthetic")),
        dotted(_DEVICE),
        'consumesCounters goes with "claim: DRA" only',
    ),
    parted(
        "class-counter-name",
        [{**_SET, "counters": {"memorySlice0": {"value": 1}}}],
        [_PART],
        (*_SETS, 0, "counters"),
        "counter names must be lower-case letters, digits",
    ),
    parted("class-counters-none", [{**_SET, "counters": {}}], [_PART], (*_SETS, 0, "counters"), Cause.INVALID),
    parted("class-counter-set-count", [{**_SET, "count": 65}], [_PART], (*_SETS, 0, "count"), Cause.INVALID),
    parted("class-counter-set-twice", [_SET, _SET], [_PART], (*_SETS, 1), Cause.DUPLICATE),
    parted("class-draws-twice", [_SET], [_PART, _PART], (*_TAKES, 1), Cause.DUPLICATE),
    parted(
        "class-placement-twice",
        [_SET],
        [{**_PART, "placements": [["memory-slice-0", "memory-slice-0"]]}],
        (*_TAKES, 0, "placements", 0, 1),
        Cause.DUPLICATE,
    ),
    parted(
        "class-placement-empty",
        [_SET],
        [{**_PART, "placements": [[]]}],
        (*_TAKES, 0, "placements", 0),
        Cause.INVALID,
    ),
    one("class-count-zero", "InferenceClass", (*_DEVICE, "count"), 0, Cause.INVALID),
    one(
        "class-attribute-none",
        "InferenceClass",
        (*_DEVICE, "attributes", "a"),
        {},
        "an attribute has exactly one value",
    ),
    one(
        "class-attribute-two",
        "InferenceClass",
        (*_DEVICE, "attributes", "a"),
        {"string": "x", "int": 1},
        "an attribute has exactly one value",
    ),
    one(
        "class-attribute-value-and-list",
        "InferenceClass",
        (*_DEVICE, "attributes", "a"),
        {"string": "x", "strings": ["x"]},
        "an attribute has exactly one value",
    ),
    one(
        "class-attribute-empty-list",
        "InferenceClass",
        (*_DEVICE, "attributes", "a"),
        {"ints": []},
        Cause.INVALID,
        at=dotted((*_DEVICE, "attributes", "a", "ints")),
    ),
    one(
        "class-attribute-list-of-no-version",
        "InferenceClass",
        (*_DEVICE, "attributes", "a"),
        {"versions": ["9.0.0", "9.0"]},
        Cause.INVALID,
        at=dotted((*_DEVICE, "attributes", "a", "versions", 1)),
    ),
    one(
        "class-policy-of-a-device-of-one-pod",
        "InferenceClass",
        (*_DEVICE, "capacity"),
        {"memory": {"value": "80Gi", "requestPolicy": {"default": "10Gi"}}},
        'requestPolicy goes with "allowMultipleAllocations: true" only',
        at=dotted(_DEVICE),
    ),
    Case(
        "class-shared-synthetic",
        "InferenceClass",
        (((*_DEVICE, "allowMultipleAllocations"), True), ((*_DEVICE, "claim"), "Synthetic")),
        dotted(_DEVICE),
        'allowMultipleAllocations goes with "claim: DRA" and without consumesCounters',
    ),
    Case(
        "class-policy-of-values-and-range",
        "InferenceClass",
        (
            ((*_DEVICE, "allowMultipleAllocations"), True),
            (
                (*_DEVICE, "capacity"),
                {
                    "memory": {
                        "value": "80Gi",
                        "requestPolicy": {
                            "default": "10Gi",
                            "validValues": ["10Gi"],
                            "validRange": {"min": "10Gi"},
                        },
                    }
                },
            ),
        ),
        dotted((*_DEVICE, "capacity", "memory", "requestPolicy")),
        "a policy has validValues or validRange; remove one",
    ),
    Case(
        "class-policy-without-default",
        "InferenceClass",
        (
            ((*_DEVICE, "allowMultipleAllocations"), True),
            (
                (*_DEVICE, "capacity"),
                {"memory": {"value": "80Gi", "requestPolicy": {"validRange": {"min": "10Gi"}}}},
            ),
        ),
        dotted((*_DEVICE, "capacity", "memory", "requestPolicy")),
        "validValues and validRange need a default",
    ),
    one(
        "class-attribute-int-text",
        "InferenceClass",
        (*_DEVICE, "attributes", "a"),
        {"int": "1"},
        Cause.TYPE,
        at=dotted((*_DEVICE, "attributes", "a", "int")),
    ),
    one(
        "class-attribute-long",
        "InferenceClass",
        (*_DEVICE, "attributes", "a"),
        {"string": "x" * 65},
        Cause.TOO_LONG,
        at=dotted((*_DEVICE, "attributes", "a", "string")),
    ),
    one(
        "class-version",
        "InferenceClass",
        (*_DEVICE, "attributes", "a"),
        {"version": "9.0"},
        "write 9.0.0 instead of 9.0",
        at=dotted((*_DEVICE, "attributes", "a", "version")),
    ),
    one(
        "class-attribute-key",
        "InferenceClass",
        (*_DEVICE, "attributes", "gpu-type"),
        {"string": "x"},
        'attribute names must be letters, digits and "_"',
        at=dotted((*_DEVICE, "attributes")),
    ),
    one(
        "class-capacity-key",
        "InferenceClass",
        (*_DEVICE, "capacity", "1memory"),
        {"value": "1Gi"},
        'capacity names must be letters, digits and "_"',
        at=dotted((*_DEVICE, "capacity")),
    ),
    one(
        "class-capacity-value",
        "InferenceClass",
        (*_DEVICE, "capacity", "memory"),
        {"value": "141GB"},
        Cause.INVALID,
        at=dotted((*_DEVICE, "capacity", "memory", "value")),
    ),
    one("class-capacity-bare", "InferenceClass", (*_DEVICE, "capacity", "memory"), "141Gi", Cause.TYPE),
    one(
        "class-too-many-names",
        "InferenceClass",
        (*_DEVICE, "attributes"),
        {f"a{i}": {"int": i} for i in range(32)},
        "attributes and capacity may have 32 entries together",
        at=dotted(_DEVICE),
    ),
    one(
        "class-cost",
        "InferenceClass",
        ("spec", "cost", "perNodeHour"),
        "$88",
        "perNodeHour must be a plain decimal number",
    ),
    one("class-cost-number", "InferenceClass", ("spec", "cost", "perNodeHour"), 88.49, Cause.TYPE),
    one("class-currency", "InferenceClass", ("spec", "cost", "currency"), "usd", Cause.INVALID),
    one(
        "class-gke-without-block",
        "InferenceClass",
        ("spec", "provisioning", "gke"),
        GONE,
        '"provider: GKE" goes with a block gke',
        at="spec.provisioning",
    ),
    one(
        "class-eks-block",
        "InferenceClass",
        ("spec", "provisioning", "eks"),
        {"instanceType": "p5.48xlarge"},
        '"provider: EKS" goes with a block eks',
        at="spec.provisioning",
    ),
    one(
        "class-aks-block",
        "InferenceClass",
        ("spec", "provisioning", "aks"),
        {"vmSize": "Standard_ND96isr_H100_v5"},
        '"provider: AKS" goes with a block aks',
        at="spec.provisioning",
    ),
)
