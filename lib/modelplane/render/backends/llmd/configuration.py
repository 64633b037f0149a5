"""The configuration of the endpoint picker: plugins, and profiles in which they have weights.

A serializer writes the text as JSON, which is YAML. Text of a user is part of it only as a value.
Source: llm-d-router v0.10.0 (apix/config/v1alpha1, the plugins of stability Beta). Unknown fields stop its start.
"""

from __future__ import annotations

import json
from typing import Any, TypeAlias

from modelplane.render import picking
from modelplane.render.backends.llmd import metrics
from modelplane.workload.model import EndpointPicker, EngineType, Replica, Role

Json: TypeAlias = Any

FILE = "config.yaml"
_API_VERSION = "llm-d.ai/v1alpha1"
_UNCACHED_TOKENS = 16

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
    asked = replica.endpoint_picker or picking.NOTHING_ASKED
    scorers = asked.scorers or _default(replica)
    picks = asked.picker or picking.BEST
    plugins = [{"type": kind} for kind, _ in scorers] + [{"type": picks}]
    if not replica.is_disaggregated:
        plugins.append({"type": "single-profile-handler"})
        return picking.configuration(_API_VERSION, plugins, [picking.profile("default", (), scorers, picks)])
    # What the decider asks of the cache does not depend on whether a scorer asks, too.
    plugins.insert(0, {"type": "approx-prefix-cache-producer"})
    plugins += [{"type": f"{role}-filter"} for role in (Role.PREFILL, Role.DECODE)]
    plugins += picking.prefill_handler(_uncached_tokens(replica.engine, asked))
    profiles = [picking.profile(str(role), (f"{role}-filter",), scorers, picks) for role in (Role.PREFILL, Role.DECODE)]
    return picking.configuration(_API_VERSION, plugins, profiles)


def _default(replica: Replica) -> picking.Scorers:
    if not metrics.is_readable(replica.engine):
        return _UNREAD
    return _APART if replica.is_disaggregated else _UNIFIED


def _uncached_tokens(engine: EngineType, asked: EndpointPicker) -> int | None:
    """Return from how many uncached tokens on a prefill worker is called. Only decode workers of vLLM can prefill."""
    if engine is not EngineType.VLLM:
        return None
    return _UNCACHED_TOKENS if asked.uncached_tokens is None else asked.uncached_tokens
