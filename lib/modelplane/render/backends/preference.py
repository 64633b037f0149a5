"""The rules that decide between backends which can run a deployment equally well: CEL over its spec, with priorities.

A rule must never decide whether a backend can run something, and one rule must never disturb another: a rule that does
not compile, or cannot be evaluated on a deployment, counts as no match and is reported.

Source of the shipped numbers: AI Runway v0.7, whose providers publish them. A backend without a matching rule has 0.
Its rule for deployments without an accelerator has no counterpart, because a nodeSelector is required here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from modelplane.errors import InvalidInput
from modelplane.workload.rule import Rule

if TYPE_CHECKING:
    from kubecel.environment import Measurement
    from kubecel.rules import Rule as Compiled

Json: TypeAlias = Any


RULE_COST_MAX: Final = 20_000
"""The cost at which the evaluation of one rule ends, in the units of the API server. Useful rules cost some tens."""
COST_MAX: Final = 100_000
"""The cost at which the evaluation of all rules on one deployment ends, about a second. The platform writes the rules,
and an ML team the lists that they go through."""

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
    """The preference for a backend and the rule that gives it; `text` is empty when no rule holds."""

    priority: int = 0
    text: str = ""


@dataclass(frozen=True, slots=True)
class Preferences:
    """The preferences for backends on one deployment, and a message for each of the platform's rules that fails."""

    held: tuple[Rule, ...] = ()
    failures: tuple[str, ...] = ()

    def of(self, backend: str) -> Preferred:
        """Return the highest preference for the backend; of equal ones, that of the first rule by name."""
        found = [Preferred(rule.priority, rule.text) for rule in self.held if rule.backend == backend]
        return min(found, key=lambda one: (-one.priority, one.text), default=Preferred())

    def order(self, backends: Iterable[str]) -> tuple[str, ...]:
        """Return the backends, the most preferred first and equals by name."""
        return tuple(sorted(set(backends), key=lambda name: (-self.of(name).priority, name)))


def on(spec: Mapping[str, Json], rules: Iterable[Rule] = ()) -> Preferences:
    """Return the preferences on a deployment's spec by the shipped rules and the platform's `rules`."""
    held, failures, left = [], [], COST_MAX
    for rule in (*SHIPPED, *rules):
        try:
            found = compiled(rule).measure(spec, limit=min(left, RULE_COST_MAX))
            left = max(0, left - found.cost)
            if _value(found):
                held.append(rule)
        except InvalidInput as error:
            if rule.source:
                failures.append(f"rule {rule.text} of BackendRules {rule.source} counts as no match: {error.message}")
    return Preferences(tuple(held), tuple(sorted(failures)))


def _value(found: Measurement) -> bool:
    """Return whether the rule holds. Raises: InvalidInput for a rule that cannot be evaluated on the spec."""
    if found.error is not None:
        raise InvalidInput(found.error)
    if not isinstance(found.value, bool):
        raise InvalidInput("it does not return a bool")
    return found.value


def compiled(rule: Rule) -> Compiled:
    """Return the compiled rule. Raises: InvalidInput with line and column."""
    from kubecel import errors, rules  # noqa: PLC0415 - the engine loads only where backends are compared

    try:
        return rules.compile(rule.when, subject="spec")
    except errors.InvalidExpression as error:
        place = f"line {error.line}, column {error.column}: " if error.line is not None else ""
        raise InvalidInput(f"it does not compile: {place}{error.diagnosis}") from None
