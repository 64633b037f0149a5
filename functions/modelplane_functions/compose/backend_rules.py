"""BackendRules: the validation of the platform's preferences between backends.

Reads: the rules themselves. Emits: nothing. Reports: the number of rules and those that do not compile; condition
Accepted.

Deployments read the rules when their backend is chosen. A rule that is refused here counts as no match there, and the
other rules count as they are.
"""

from __future__ import annotations

from modelplane.api import backend_rules
from modelplane.errors import InvalidInput
from modelplane.render.backends import preference
from modelplane.workload.rule import Rule
from modelplane_functions.exchange import Condition, Observed, Outcome, Ready, Truth

_SETTLED_SECONDS = 3600


def compose(observed: Observed) -> Outcome:
    """Return whether every rule compiles, and which do not."""
    rules, faults = backend_rules.decode(observed.composite)
    invalid = {rule.text: message for rule in rules if (message := _mistake(rule)) is not None}
    problems = [*faults, *(f"rule {name}: {message}" for name, message in invalid.items())]
    return Outcome(
        status={
            "rules": len(rules),
            "invalid": [{"name": name, "message": message} for name, message in sorted(invalid.items())],
        },
        conditions=(_accepted(len(rules), problems),),
        ready=Ready.FALSE if problems else Ready.TRUE,
        ttl_seconds=_SETTLED_SECONDS,
    )


def _mistake(rule: Rule) -> str | None:
    try:
        preference.compiled(rule)
    except InvalidInput as error:
        return error.message
    return None


def _accepted(count: int, problems: list[str]) -> Condition:
    if problems:
        message = f"{'; '.join(problems)}; what is refused counts as no match, and the other rules count"
        return Condition("Accepted", Truth.FALSE, "InvalidRule", message)
    return Condition("Accepted", Truth.TRUE, "Valid", f"{count} {'rule compiles' if count == 1 else 'rules compile'}")
