"""ServingStack: the software that makes a cluster able to serve, installed in an order.

Reads: its own observed children.
Emits: Objects that look for what the cluster has already; for each component that is to be installed its namespace, a
provider-helm Release and an Object that shows whether it works; the cluster's Gateway; Usages for the order of
deletion.
Reports: the mode, version and phase of each component; condition StackReady.

A part is composed when what it needs is seen to work, and from then on always: only its author's word (Disabled or
External) removes it. One part at a time gets another version. What belongs to somebody else is only read.
"""

from __future__ import annotations

from collections.abc import Iterator

from modelplane import seen
from modelplane.api import serving_stack
from modelplane.render import objects
from modelplane.render.stack import plan as planning
from modelplane.render.stack import releases, report
from modelplane.render.stack.plan import Plan, Situation
from modelplane.workload.stack import Phase, Report
from modelplane_functions import hold
from modelplane_functions.exchange import Child, Condition, Event, Observed, Outcome, Ready, Severity, Truth

_WAITING_SECONDS, _SETTLED_SECONDS = 30, 300
_TRUTH = {True: Truth.TRUE, False: Truth.FALSE, None: Truth.UNKNOWN}


def compose(observed: Observed) -> Outcome:
    """Return the releases of the stack, and the state of its components.

    Raises: InvalidInput when what the InferenceCluster handed over cannot be read. Everything is held then.
    """
    stack = serving_stack.decode(observed.composite)
    here = Situation(stack, observed.children)
    plan = planning.plan(here)
    told = report.reports(here, plan.upgrading)
    verdict = report.verdict(here, told)
    is_ready = verdict.is_ready is True
    return Outcome(
        children=dict(_children(observed, plan)),
        status=serving_stack.encode_status(told, plan.upgrading, _users(observed)),
        conditions=(Condition("StackReady", _TRUTH[verdict.is_ready], verdict.reason, verdict.message),),
        events=tuple(_events(observed, told)),
        ready=Ready.TRUE if is_ready else Ready.FALSE,
        ttl_seconds=_SETTLED_SECONDS if is_ready and not plan.upgrading else _WAITING_SECONDS,
    )


def _children(observed: Observed, plan: Plan) -> Iterator[tuple[str, Child]]:
    for key, resource in sorted(plan.made.items()):
        yield key, Child(resource, _ready(key, plan))
    for key in sorted(plan.kept):
        held = hold.held(observed.children[key])
        yield key, Child(releases.taken_back(held, plan.back[key]) if key in plan.back else held, _ready(key, plan))
    for key in sorted(plan.left):
        yield key, Child(releases.abandoned(hold.held(observed.children[key])), _ready(key, plan))


def _ready(key: str, plan: Plan) -> Ready:
    return Ready.TRUE if key in plan.working else Ready.FALSE


def _users(observed: Observed) -> int:
    """Return how many Objects are counted as users of the provider configuration.

    The provider counts an Object before it writes a first condition.
    """
    looked = (child for child in observed.children.values() if objects.is_object(child))
    return sum(bool(objects.condition(child, "Synced")) for child in looked)


def _events(observed: Observed, told: tuple[Report, ...]) -> Iterator[Event]:
    """Yield one event for each component whose phase is another one, and is worth telling."""
    before = {
        seen.text(one.get("name")): seen.text(one.get("phase"))
        for one in seen.objects(observed.status.get("components"))
    }
    for one in told:
        if str(one.phase) == before.get(one.name) or one.phase not in (Phase.READY, Phase.FAILED):
            continue
        severity = Severity.WARNING if one.phase is Phase.FAILED else Severity.NORMAL
        about = f"{one.name} {one.version}".rstrip()
        yield Event(severity, f"Component{one.phase}", f"{about}: {one.message}" if one.message else about)
