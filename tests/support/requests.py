"""RunFunction requests as Crossplane sends them, and its loop over requirements."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import grpc
from crossplane.function.proto.v1 import run_function_pb2 as fnv1
from crossplane.function.proto.v1 import run_function_pb2_grpc as grpcv1

# Source: Crossplane v2.4.0 internal/xfn (MaxRequirementsIterations and SupportedCapabilities).
MAX_ITERATIONS = 5
CAPABILITIES = (
    fnv1.CAPABILITY_CAPABILITIES,
    fnv1.CAPABILITY_REQUIRED_RESOURCES,
    fnv1.CAPABILITY_CREDENTIALS,
    fnv1.CAPABILITY_CONDITIONS,
    fnv1.CAPABILITY_REQUIRED_SCHEMAS,
)

Store = Sequence[Mapping[str, Any]]


def request(composite: Mapping[str, Any], *, children: Mapping[str, Mapping[str, Any]] | None = None) -> Any:
    """Return a request about `composite` with observed `children` by composition key."""
    message = fnv1.RunFunctionRequest(meta=fnv1.RequestMeta(tag="test", capabilities=CAPABILITIES))
    message.observed.composite.resource.update(dict(composite))
    for key, child in (children or {}).items():
        message.observed.resources[key].resource.update(dict(child))
    return message


def call(channel: grpc.Channel, message: Any, *, timeout_seconds: float = 120) -> Any:
    """Return the response to one call."""
    stub = grpcv1.FunctionRunnerServiceStub(channel)  # type: ignore[no-untyped-call]  # generated
    return stub.RunFunction(message, timeout=timeout_seconds)


def settle(run: Callable[[Any], Any], message: Any, store: Store) -> tuple[Any, int]:
    """Return the response whose requirements are stable, and how many calls that took.

    Raises: AssertionError with Crossplane's own words when they do not become stable.
    """
    wanted = fnv1.Requirements()
    for turn in range(MAX_ITERATIONS + 1):
        response = run(message)
        fatal = any(result.severity == fnv1.SEVERITY_FATAL for result in response.results)
        if fatal or response.requirements == wanted:
            return response, turn + 1
        wanted = response.requirements
        fetched = {name: _matching(selector, store) for name, selector in wanted.resources.items()}
        again = fnv1.RunFunctionRequest()
        again.CopyFrom(message)
        again.ClearField("required_resources")
        for name, items in fetched.items():
            again.required_resources[name].SetInParent()
            for item in items:
                again.required_resources[name].items.add().resource.update(dict(item))
        again.context.CopyFrom(response.context)
        message = again
    raise AssertionError(f"requirements didn't stabilize after the maximum number of iterations ({MAX_ITERATIONS})")


def _matching(selector: Any, store: Store) -> list[Mapping[str, Any]]:
    found = [item for item in store if _selects(selector, item)]
    return sorted(found, key=lambda item: (item["metadata"].get("namespace", ""), item["metadata"]["name"]))


def _selects(selector: Any, item: Mapping[str, Any]) -> bool:
    metadata = item["metadata"]
    if (item["apiVersion"], item["kind"]) != (selector.api_version, selector.kind):
        return False
    if selector.HasField("namespace") and metadata.get("namespace") != selector.namespace:
        return False
    if selector.WhichOneof("match") == "match_name":
        return bool(metadata["name"] == selector.match_name)
    labels = metadata.get("labels") or {}
    return all(labels.get(key) == value for key, value in selector.match_labels.labels.items())
