"""The rules that decide between backends which can run a deployment equally well: CEL over its spec, with priorities.

Source of the numbers: AI Runway v0.7, whose providers publish them. A backend that no rule speaks of has 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

Json: TypeAlias = Any


@dataclass(frozen=True, slots=True)
class Rule:
    """A preference for one backend where `when` holds of the deployment's spec; `text` says so to people."""

    backend: str
    priority: int
    when: str
    text: str


_HAS_ENGINE = "has(spec.engine) && has(spec.engine.type)"
SHIPPED = (
    Rule("KAITO", 100, f"{_HAS_ENGINE} && spec.engine.type == 'llamacpp'", "llama.cpp"),
    Rule("Dynamo", 100, f"{_HAS_ENGINE} && spec.engine.type in ['sglang', 'trtllm']", "SGLang or TensorRT-LLM"),
    Rule("Dynamo", 90, "has(spec.prefill)", "prefill and decode apart"),
    Rule("Dynamo", 50, f"{_HAS_ENGINE} && spec.engine.type == 'vllm'", "vLLM"),
    Rule(
        "KubeRay",
        80,
        f"{_HAS_ENGINE} && spec.engine.type == 'vllm' && has(spec.workers.topology) && "
        "spec.workers.topology.tensor * spec.workers.topology.pipeline * spec.workers.topology.data > 1",
        "vLLM on several devices",
    ),
)


@dataclass(frozen=True, slots=True)
class Preferred:
    """The preference for a backend and its reason; the text is empty when no rule holds."""

    priority: int = 0
    text: str = ""


def of(backend: str, spec: Mapping[str, Json]) -> Preferred:
    """Return the highest preference for the backend among the rules that hold.

    A rule that cannot be evaluated on the spec does not hold.
    """
    found = [Preferred(rule.priority, rule.text) for rule in SHIPPED if rule.backend == backend and _holds(rule, spec)]
    return max(found, key=lambda one: one.priority, default=Preferred())


def _holds(rule: Rule, spec: Mapping[str, Json]) -> bool:
    from kubecel import errors, rules  # noqa: PLC0415 - the engine loads only where two backends are equal

    try:
        return rules.compile(rule.when, subject="spec").evaluate(spec)
    except errors.KubecelError:
        return False
