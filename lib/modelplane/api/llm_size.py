"""Size of an LLMInference: what is derived from its model and its devices, and the record of it.

A size is derived once. The composed ModelDeployment keeps it as an annotation until the author changes a field from
which it is derived: a later catalogue, another fleet or a later release must not restart what runs.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from modelplane import names, seen
from modelplane.workload import start_budget

Json: TypeAlias = Any

# Weights are loaded before the first answer. Without a known model, GPUs are asked for to hold them, so time grows with
# GPUs.
START_BASE_SECONDS, START_SECONDS_PER_GPU = 600, 300
PROBE_PERIOD_SECONDS = 10
_START_MAX_SECONDS = 2**31 - 1
_SIZE_MAX = 1024
_SELECTOR_MAX = 4096
_RECORD_MAX = 8192


@dataclass(frozen=True, slots=True)
class Size:
    """The devices of each of `pipeline` nodes, the selector that they match, and the time that a start may take."""

    tensor: int
    selector: str
    start_seconds: int
    pipeline: int = 1

    @property
    def gpus(self) -> int:
        """Return the GPUs of one replica."""
        return self.tensor * self.pipeline


def plain(gpu: int, driver: str) -> Size:
    """Return the size of a model that is not known: so many devices of the driver, of any memory."""
    return Size(gpu, of_driver(driver), START_BASE_SECONDS + START_SECONDS_PER_GPU * gpu)


def start_seconds(gpus: int, weights: int) -> int:
    """Return the time that the start of a model may take: never less than without knowing the bytes of its weights."""
    found = max(START_BASE_SECONDS + START_SECONDS_PER_GPU * gpus, start_budget.seconds(weights))
    return -(-found // PROBE_PERIOD_SECONDS) * PROBE_PERIOD_SECONDS  # what the deployment can show


def of_driver(driver: str, memory: str = "") -> str:
    """Return the selector of the driver's devices, with at least so much memory where a quantity is given."""
    found = f'device.driver == "{driver}"'
    if not memory:
        return found
    return f'{found} && device.capacity["{driver}"].memory.compareTo(quantity("{memory}")) >= 0'


def record(size: Size, written: str) -> str:
    """Return the record of a size that is derived from fields with the digest `written`."""
    found = {
        "from": written,
        "tensor": size.tensor,
        "pipeline": size.pipeline,
        "startSeconds": size.start_seconds,
        "selector": size.selector,
    }
    return json.dumps(found, separators=(",", ":"))


def recorded(text: Json, written: str) -> Size | None:
    """Return the size of a record, None where it cannot be read."""
    given = seen.text(text)
    if not given or len(given) > _RECORD_MAX:
        return None
    try:
        found = json.loads(given)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, Mapping) or found.get("from") != written:
        return None
    return _size(found.get("tensor"), found.get("pipeline"), found.get("selector"), found.get("startSeconds"))


def is_record_of_others(text: Json, written: str) -> bool:
    """Return whether a text is a record, and one of other fields than those with the digest `written`."""
    try:
        found = json.loads(seen.text(text)[:_RECORD_MAX])
    except (ValueError, RecursionError):
        return False
    told = found.get("from") if isinstance(found, Mapping) else None
    return isinstance(told, str) and len(told) == names.DIGEST_DIGITS and told != written


def shown(spec: Json, engine: Mapping[str, Json]) -> Size | None:
    """Return the size that the spec of a ModelDeployment and its engine's container show, None where they do not."""
    topology = seen.at(spec, "workers", "topology")
    tries = seen.count(seen.at(engine, "startupProbe", "failureThreshold"))
    return _size(
        seen.at(topology, "tensor"),
        1 if seen.at(topology, "pipeline") is None else seen.at(topology, "pipeline"),
        seen.at(spec, "nodeSelector", "cel"),
        None if tries is None else tries * PROBE_PERIOD_SECONDS,
    )


def _size(tensor: Json, pipeline: Json, selector: Json, start: Json) -> Size | None:
    sizes, seconds, text = [seen.count(tensor), seen.count(pipeline)], seen.count(start), seen.text(selector)
    if any(one is None or not 1 <= one <= _SIZE_MAX for one in sizes):
        return None
    if seconds is None or not 1 <= seconds <= _START_MAX_SECONDS or not 1 <= len(text) <= _SELECTOR_MAX:
        return None
    return Size(sizes[0] or 1, text, seconds, sizes[1] or 1)
