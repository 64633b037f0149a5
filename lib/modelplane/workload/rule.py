"""Rule: a preference between the backends that can run a workload, as the platform or Modelplane states it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rule:
    """A preference for one backend where `when` holds for the deployment's spec.

    `text` names the rule to people. `source` is the object that holds it, empty for a shipped rule.
    """

    backend: str
    priority: int
    when: str
    text: str
    source: str = ""
