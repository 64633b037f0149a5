"""The InferencePool of a replica, and the objects that a gateway needs to reach its picker.

Source: inference extension v1.5 (inference.networking.k8s.io/v1), Istio 1.29 (networking.istio.io/v1).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from modelplane import names, seen
from modelplane.render import pods
from modelplane.render.backend import Problem
from modelplane.render.backends.llmd import launching, picker, rights
from modelplane.render.manifest import Manifest, Purpose
from modelplane.render.workers import manifests
from modelplane.workload.model import EngineType, Replica
from modelplane.workload.site import ClusterFacts

Json: TypeAlias = Any
Object = seen.Object

KEY = "pool"
KIND = "InferencePool"
ISTIO = "Istio"
FAIL_OPEN, FAIL_CLOSE = "FailOpen", "FailClose"


def required(replica: Replica) -> bool:
    """Return whether the replica has more than one worker to choose from."""
    return sum(bound.spec.workers for bound in replica.roles) > 1


def failure_mode(replica: Replica) -> str:
    """Return the failure mode: without an answer of the picker, a gateway uses any pod if every pod can answer alone.

    A prefill worker of vLLM is a complete engine. That of another engine may wait forever for a decode worker to fetch
    its result.
    """
    is_any = not replica.is_disaggregated or replica.engine is EngineType.VLLM
    return FAIL_OPEN if is_any else FAIL_CLOSE


def render(replica: Replica, facts: ClusterFacts) -> tuple[Manifest, ...]:
    """Return the pool of the pods that serve, and the other objects that the cluster's gateway needs."""
    spec = {
        # A headless pod of a gang lacks the label, whatever its role.
        "selector": {"matchLabels": {names.LABEL_REPLICA: replica.name, names.LABEL_SERVES: manifests.SERVES}},
        "targetPorts": [{"number": launching.PORT}],
        "endpointPickerRef": {
            "group": "",
            "kind": "Service",
            "name": picker.name(replica),
            "port": {"number": picker.PORT},
            "failureMode": failure_mode(replica),
        },
    }
    resource = _object(replica, f"{rights.POOLS}/v1", KIND, replica.name, spec)
    made = Manifest(KEY, resource, Purpose.ROUTE)
    return (made, _destination_rule(replica)) if facts.gateway_implementation == ISTIO else (made,)


def reference(replica: Replica) -> dict[str, Json]:
    """Return the reference to the pool for a rule of the route."""
    return {"group": rights.POOLS, "kind": KIND, "name": replica.name}


def observe(observed: Object | None) -> tuple[bool | None, list[Problem]]:
    """Return whether a gateway has accepted the pool, None while none has reported on it."""
    if observed is None:
        return None, []
    parents = seen.objects(seen.at(observed, "status", "parents"))
    verdicts = [tuple(_refusals(parent)) for parent in parents]
    is_taken = any(seen.verdict(seen.conditions(parent).get("Accepted")) is True for parent in parents)
    if is_taken and not all(verdicts):
        return True, []
    refused = [problem for found in verdicts for problem in found]
    if refused:
        return False, refused[:1]
    message = (
        "no gateway of the cluster has reported on the InferencePool yet; the gateway must support the inference "
        "extension"
    )
    return None, [Problem("PoolNotProcessed", message, about_route=True)]


def _refusals(parent: Object) -> Iterator[Problem]:
    found = seen.conditions(parent)
    for kind in ("Accepted", "ResolvedRefs"):
        condition = found.get(kind)
        if seen.verdict(condition) is False:
            reason = seen.text(seen.at(condition, "reason")) or kind
            message = seen.text(seen.at(condition, "message")) or "no message"
            yield Problem(reason, f"the cluster's gateway refused the InferencePool: {message}", about_route=True)


def _destination_rule(replica: Replica) -> Manifest:
    """Return the rule by which Istio speaks TLS with the picker, whose certificate is its own."""
    spec = {
        "host": f"{picker.name(replica)}.{replica.namespace}.svc.cluster.local",
        "trafficPolicy": {"tls": {"mode": "SIMPLE", "insecureSkipVerify": True}},
    }
    resource = _object(replica, "networking.istio.io/v1", "DestinationRule", picker.name(replica), spec)
    return Manifest("picker-tls", resource, Purpose.ROUTE)


def _object(replica: Replica, api_version: str, kind: str, name: str, spec: Mapping[str, Json]) -> dict[str, Json]:
    metadata = {"name": name, "namespace": replica.namespace, "labels": pods.base_labels(replica)}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, "spec": spec}
