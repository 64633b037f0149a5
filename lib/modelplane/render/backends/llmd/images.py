"""The images of llm-d's router, at the pinned version or that of the cluster (`spec.stack.versions.llm-d-router`)."""

from __future__ import annotations

from modelplane.workload.site import ClusterFacts

COMPONENT = "llm-d-router"
VERSION = "v0.10.0"


def picker(facts: ClusterFacts) -> str:
    """Return the image of the endpoint picker."""
    return f"ghcr.io/llm-d/llm-d-router-endpoint-picker:{_version(facts)}"


def sidecar(facts: ClusterFacts) -> str:
    """Return the image of the routing sidecar."""
    return f"ghcr.io/llm-d/llm-d-router-disagg-sidecar:{_version(facts)}"


def _version(facts: ClusterFacts) -> str:
    return facts.versions.get(COMPONENT) or VERSION
