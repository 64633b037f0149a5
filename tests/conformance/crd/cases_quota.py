"""Refused InferenceQuotas."""

from __future__ import annotations

from modelplane.structural import Cause
from tests.conformance.crd.case import Case, one
from tests.conformance.crd.documents import GONE

_KIND = "InferenceQuota"
_LIMITS = ("spec", "limits")
_DEVICE = (*_LIMITS, "devices", 0)
_LOAN = ("spec", "borrowing", "limit")
_TWICE = [{"name": "a", "className": "h200-8x", "count": 1}] * 2

QUOTA: tuple[Case, ...] = (
    Case(
        "quota-without-a-limit",
        _KIND,
        ((_LIMITS, GONE), (("spec", "maxPriority"), GONE)),
        "spec",
        "write a limit in limits, or a maxPriority",
    ),
    one("quota-of-nobody", _KIND, ("spec", "namespaces"), GONE, Cause.REQUIRED),
    one("quota-of-an-empty-list", _KIND, ("spec", "namespaces"), {"names": []}, "write a namespace in names"),
    one("quota-namespace", _KIND, ("spec", "namespaces", "names", 0), "Team A", Cause.INVALID),
    one("quota-of-nothing", _KIND, _LIMITS, {}, "write at least one of devices, replicas and costPerHour"),
    one("quota-of-a-device-without-a-name", _KIND, (*_DEVICE, "name"), GONE, Cause.REQUIRED),
    one("quota-of-a-device-without-a-count", _KIND, (*_DEVICE, "count"), GONE, Cause.REQUIRED),
    one("quota-device-name", _KIND, (*_DEVICE, "name"), "H 200", Cause.INVALID),
    one("quota-of-a-device-called-replicas", _KIND, (*_DEVICE, "name"), "replicas", "write another name"),
    one(
        "quota-of-no-device",
        _KIND,
        (*_DEVICE, "className"),
        GONE,
        "write either className or selectors",
        at=".".join(map(str, _DEVICE)),
    ),
    one(
        "quota-of-a-class-and-selectors",
        _KIND,
        (*_DEVICE, "selectors"),
        [{"cel": "true"}],
        "write either className or selectors",
        at=".".join(map(str, _DEVICE)),
    ),
    one("quota-of-devices-twice", _KIND, (*_LIMITS, "devices"), _TWICE, Cause.DUPLICATE, at="spec.limits.devices.1"),
    one("quota-of-fewer-than-none", _KIND, (*_DEVICE, "count"), -1, Cause.INVALID),
    one("quota-of-negative-replicas", _KIND, (*_LIMITS, "replicas"), -1, Cause.INVALID),
    one("quota-amount", _KIND, (*_LIMITS, "costPerHour", "amount"), "1e3", "a plain decimal number in quotes"),
    one("quota-currency", _KIND, (*_LIMITS, "costPerHour", "currency"), "dollars", Cause.TOO_LONG),
    one("quota-that-borrows-from-nobody", _KIND, ("spec", "borrowing", "from"), GONE, Cause.REQUIRED),
    one("quota-that-borrows-nothing", _KIND, _LOAN, {}, Cause.INVALID),
    one("quota-that-borrows-from-no-name", _KIND, ("spec", "borrowing", "from"), "Production", Cause.INVALID),
    one("quota-that-borrows-less-than-nothing", _KIND, (*_LOAN, "h200"), "-1", "a plain decimal number in quotes"),
    one("quota-that-borrows-a-number", _KIND, (*_LOAN, "h200"), 8, Cause.TYPE),
    one("quota-priority", _KIND, ("spec", "maxPriority"), 2_000_000_000, Cause.INVALID),
)
