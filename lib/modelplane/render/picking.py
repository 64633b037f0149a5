"""The configuration of llm-d's endpoint picker, which the backend LLMD runs and KServe has as its scheduler.

The two read different versions of it, with the same plugins.
Source: llm-d-router v0.9.0 and v0.10.0 (apix/config/v1alpha1).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final, TypeAlias

from modelplane.workload.model import EndpointPicker

Json: TypeAlias = Any
Scorers: TypeAlias = tuple[tuple[str, int], ...]
"""Plugins that judge the workers, each with its weight."""

BEST: Final = "max-score-picker"
"""The plugin that picks the worker with the highest score."""
NOTHING_ASKED: Final = EndpointPicker()


def configuration(api_version: str, plugins: Sequence[Json], profiles: Sequence[Json]) -> dict[str, Json]:
    """Return the EndpointPickerConfig."""
    return {
        "apiVersion": api_version,
        "kind": "EndpointPickerConfig",
        "plugins": list(plugins),
        "schedulingProfiles": list(profiles),
    }


def profile(name: str, filters: Iterable[str], scorers: Scorers, picks: str) -> dict[str, Json]:
    """Return a profile: the workers that pass the filters are judged by the scorers, and `picks` takes one."""
    used: list[Json] = [{"pluginRef": kind} for kind in filters]
    used += [{"pluginRef": kind, "weight": weight} for kind, weight in scorers]
    return {"name": name, "plugins": [*used, {"pluginRef": picks}]}


def prefill_handler(uncached_tokens: int | None) -> list[Json]:
    """Return the plugins that decide whether a prefill worker is called.

    It is called for prompts with that many uncached tokens or more, always without a number.
    """
    decider: Json = {"type": "always-disagg-pd-decider"}
    if uncached_tokens is not None:
        decider = {"type": "prefix-based-pd-decider", "parameters": {"nonCachedTokens": uncached_tokens}}
    return [decider, {"type": "disagg-profile-handler", "parameters": {"deciders": {"prefill": decider["type"]}}}]
