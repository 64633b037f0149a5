"""The configuration of the endpoint picker: plugins, and profiles in which they have weights.

The text is JSON, which is YAML, made by a serializer; no text of a user is part of it but as a value.
Source: llm-d-router v0.10.0 (apix/config/v1alpha1, the plugins of stability Beta). Unknown fields stop its start.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, TypeAlias

from modelplane.render.backends.llmd import metrics
from modelplane.workload.model import EndpointPicker, EngineType, Replica, Role

Json: TypeAlias = Any

FILE = "config.yaml"
_API_VERSION = "llm-d.ai/v1alpha1"
_PICKER = "max-score-picker"
_UNCACHED_TOKENS = 16
_NOTHING = EndpointPicker()

# Prefix cache before load, as llm-d's own guides have it. The scorers of engines whose metrics the picker cannot read
# count what it has sent by itself.
_UNIFIED = (("prefix-cache-scorer", 3), ("queue-scorer", 2), ("kv-cache-utilization-scorer", 2))
_APART = (("prefix-cache-scorer", 2), ("queue-scorer", 1))
_UNREAD = (("prefix-cache-scorer", 2), ("active-request-scorer", 1))


def text(replica: Replica) -> str:
    """Return the file that the picker reads."""
    return json.dumps(of(replica), indent=2, ensure_ascii=False) + "\n"


def of(replica: Replica) -> dict[str, Json]:
    """Return the EndpointPickerConfig."""
    asked = replica.endpoint_picker or _NOTHING
    scorers = asked.scorers or _default(replica)
    picker = asked.picker or _PICKER
    plugins = [{"type": kind} for kind, _ in scorers] + [{"type": picker}]
    if not replica.is_disaggregated:
        plugins.append({"type": "single-profile-handler"})
        return _config(plugins, [_profile("default", (), scorers, picker)])
    # What the decider asks of the cache does not depend on whether a scorer asks, too.
    plugins.insert(0, {"type": "approx-prefix-cache-producer"})
    plugins += [{"type": f"{role}-filter"} for role in (Role.PREFILL, Role.DECODE)]
    plugins += _handler(replica.engine, asked)
    profiles = [_profile(str(role), (f"{role}-filter",), scorers, picker) for role in (Role.PREFILL, Role.DECODE)]
    return _config(plugins, profiles)


def _default(replica: Replica) -> tuple[tuple[str, int], ...]:
    if not metrics.is_readable(replica.engine):
        return _UNREAD
    return _APART if replica.is_disaggregated else _UNIFIED


def _handler(engine: EngineType, asked: EndpointPicker) -> list[Json]:
    """Return what decides whether a prefill worker is asked: only vLLM's decode workers can prefill by themselves."""
    if engine is EngineType.VLLM:
        tokens = _UNCACHED_TOKENS if asked.uncached_tokens is None else asked.uncached_tokens
        decider: Json = {"type": "prefix-based-pd-decider", "parameters": {"nonCachedTokens": tokens}}
    else:
        decider = {"type": "always-disagg-pd-decider"}
    return [decider, {"type": "disagg-profile-handler", "parameters": {"deciders": {"prefill": decider["type"]}}}]


def _config(plugins: list[Json], profiles: list[Json]) -> dict[str, Json]:
    return {
        "apiVersion": _API_VERSION,
        "kind": "EndpointPickerConfig",
        "plugins": plugins,
        "schedulingProfiles": profiles,
    }


def _profile(name: str, filters: Sequence[str], scorers: Sequence[tuple[str, int]], picker: str) -> dict[str, Json]:
    used: list[Json] = [{"pluginRef": kind} for kind in filters]
    used += [{"pluginRef": kind, "weight": weight} for kind, weight in scorers]
    return {"name": name, "plugins": [*used, {"pluginRef": picker}]}
