"""What a fleet costs while nothing changes: function calls and API writes, counted for a while.

Crossplane applies what it composes anew at every reconcile; such a write that says what is there already costs a
request and changes nothing. What does change shows in the versions of the objects.
"""

from __future__ import annotations

import json
import re
import time
from collections import Counter
from dataclasses import dataclass
from typing import Any

from modelplane.api import catalogue
from tests.e2e import machine
from tests.e2e.machine import Machine, Say
from tests.e2e.view import KSERVE, OBJECT, ROUTE, View
from tests.support import controlplane

HOUR_SECONDS = 3600
# Source: kube-apiserver's /metrics. Patches are also counted as APPLY when they are server-side apply.
_REQUEST = re.compile(r"^apiserver_request_total\{(?P<labels>[^}]*)\} (?P<count>\S+)$", re.MULTILINE)
_LABEL = re.compile(r'(\w+)="([^"]*)"')
_WRITES = {"POST", "PUT", "PATCH", "APPLY", "DELETE", "DELETECOLLECTION"}
# What kubelets (here kwok) and leader election write has nothing to do with us; reviews are questions, not writes.
_OTHERS = {"leases", "nodes", "events", "subjectaccessreviews", "tokenreviews", "selfsubjectaccessreviews"}


@dataclass(frozen=True, slots=True)
class Count:
    """Counts at one moment: function calls by kind, writes by cluster and resource."""

    calls: Counter[str]
    writes: Counter[str]

    def since(self, before: Count) -> Count:
        """Return what came after `before`."""
        return Count(self.calls - before.calls, self.writes - before.writes)


def measure(found: Machine, seconds: float, say: Say) -> Count:
    """Say and return what happens within a stretch of time in which nobody changes anything."""
    before = count(found)
    time.sleep(seconds)
    seen = count(found).since(before)
    hour = HOUR_SECONDS / seconds
    say(f"  {seconds:.0f} s without a change, and what an hour of it comes to:")
    for title, counted in (("function calls", seen.calls), ("API writes", seen.writes)):
        say(f"    {title:<40} {counted.total():>6} {counted.total() * hour:>8.0f} /h")
        for name, number in sorted(counted.items()):
            say(f"      {name:<38} {number:>6} {number * hour:>8.0f} /h")
    return seen


def count(found: Machine) -> Count:
    """Return the counts since everything was started; a cluster that does not answer counts nothing."""
    writes: Counter[str] = Counter()
    for plane in found.planes.values():
        writes += writes_of(plane)
    return Count(_calls(found), writes)


def writes_of(plane: controlplane.Plane) -> Counter[str]:
    """Return the writes since a cluster was started, by cluster and resource."""
    writes: Counter[str] = Counter()
    for labels, number in _requests(plane.api.request("GET", "/metrics", accept="text/plain")):
        if labels.get("verb") in _WRITES and labels.get("resource") not in _OTHERS:
            group = labels.get("group") or "core"
            resource = "/".join(part for part in (labels.get("resource"), labels.get("subresource")) if part)
            writes[f"{plane.name} {group} {resource}"] += number
    return writes


def versions(view: View) -> dict[str, str]:
    """Return the version of every object of ours and of every workload, by where it is and its name."""
    found: dict[str, str] = {}
    for kind in catalogue.kinds():
        found |= {f"fleet {kind} {_name(one)}": _version(one) for one in view.ours(kind)}
    found |= {f"fleet Object {_name(one)}": _version(one) for one in view.fleet.all_of(*OBJECT)}
    for name, plane in view.machine.workloads.items():
        for api_version, kind in (KSERVE, ROUTE, ("v1", "Pod")):
            found |= {f"{name} {kind} {_name(one)}": _version(one) for one in plane.api.all_of(api_version, kind)}
    return found


def _name(document: dict[str, Any]) -> str:
    return str(document["metadata"]["name"])


def _version(document: dict[str, Any]) -> str:
    return str(document["metadata"]["resourceVersion"])


def _requests(text: str) -> list[tuple[dict[str, str], int]]:
    return [(dict(_LABEL.findall(one["labels"])), int(float(one["count"]))) for one in _REQUEST.finditer(text)]


def _calls(found: Machine) -> Counter[str]:
    calls: Counter[str] = Counter()
    for line in found.fleet.others[machine.FUNCTION].log.read_text().splitlines():
        if line.startswith("{") and (entry := json.loads(line)).get("msg") == "answered":
            calls[entry["kind"]] += 1
    return calls
