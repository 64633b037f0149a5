"""Shortage of a pool for one role, as a reason and in words."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from modelplane.devices.matching import Miss, MissKind
from modelplane.placement.capacity import ledger
from modelplane.placement.capacity.dimensions import CPU, MEMORY
from modelplane.placement.capacity.ledger import Ledger, Trial
from modelplane.placement.decision import Reason
from modelplane.placement.packing.load import Answer
from modelplane.placement.scheduling.filters import Refusal
from modelplane.placement.snapshot import Accounting, PodShape, RoleDemand

SOME_ARRANGEMENTS = "fit only some arrangements"
"""The words of a refusal that a cluster may nevertheless bind, when its other pods stand well."""
_MISS_REASONS = {
    MissKind.SELECTOR_ERROR: Reason.SELECTOR_ERROR,
    MissKind.NO_MATCH: Reason.NO_MATCHING_DEVICE,
    MissKind.KEPT_AWAY: Reason.NO_MATCHING_DEVICE,
    MissKind.TOO_FEW: Reason.INSUFFICIENT_DEVICES,
    MissKind.UNDECIDED: Reason.INSUFFICIENT_DEVICES,
    MissKind.UNCLAIMABLE: Reason.BACKEND_UNAVAILABLE,
}
_DEVICES = "not enough devices"
_NODES = "not enough nodes"
_RESOURCES = "not enough cpu or memory on the nodes"


class Pods(Protocol):
    """Pods in gangs: the demand of a role or its holding."""

    @property
    def pods(self) -> int: ...  # noqa: D102 - said by the class

    @property
    def nodes_per_worker(self) -> int: ...  # noqa: D102 - said by the class


def of(trials: Iterable[Trial], role: RoleDemand) -> Refusal | None:
    """Return the reason why the role alone does not fit the pool with any option, None when it fits."""
    refusals = []
    for trial in trials:
        if trial.answer is Answer.FITS:
            return None
        refusals.append(short(trial, role))
    return refusals[0]


def missed(miss: Miss) -> Refusal:
    """Return the reason why no node of a class serves the role, not even an empty one."""
    reason = _MISS_REASONS[miss.kind]
    if reason is Reason.SELECTOR_ERROR:
        return Refusal(reason, miss.detail, f'selector of request "{miss.request}" fails')
    if reason is Reason.NO_MATCHING_DEVICE or reason is Reason.BACKEND_UNAVAILABLE:
        return Refusal(reason, miss.detail, miss.detail)
    if miss.kind is MissKind.UNDECIDED:
        return Refusal(reason, miss.detail, "search limit reached")
    return Refusal(reason, miss.detail, "node too small")


def short(trial: Trial, role: Pods) -> Refusal:
    """Return the first shortage that is found, the simplest first."""
    state, shape, after = trial.before, trial.shape, trial.after
    found = _too_large(state, shape) or _too_few_nodes(state, role)
    if found is not None:
        return found
    answer = trial.answer
    if answer is Answer.UNSURE:
        return _unsure(after, role, shape)
    if state.over_committed:
        detail = f"the pool is over-committed on its {state.nodes} nodes; it takes no replica until that ends"
        return Refusal(Reason.INSUFFICIENT_DEVICES, detail, _DEVICES)
    if not after.lacks_devices and ledger.fits(after.without(CPU, MEMORY)) is Answer.FITS:
        wants = f"want {role.pods} pods x {_resources(shape.cpu_millis, shape.memory_bytes)}"
        room = state.room(shape, _per_node(role))
        return Refusal(Reason.INSUFFICIENT_NODE_RESOURCES, f"{wants}, has room for {room}", _RESOURCES)
    if state.dimensions.accounting is Accounting.NODE:
        detail = f"want {role.pods} whole nodes, has {state.nodes - state.opened} of {state.nodes} free"
        return Refusal(Reason.INSUFFICIENT_NODES, detail, _NODES)
    return Refusal(Reason.INSUFFICIENT_DEVICES, _devices_detail(trial, role, answer), _DEVICES)


def _unsure(after: Ledger, role: Pods, shape: PodShape) -> Refusal:
    """Return that only some arrangements of the pool's pods leave room; it counts as what is short then."""
    detail = (
        f"want {_counted(role.pods, ('pod', 'pods'))} x {_taken(shape)}, which {SOME_ARRANGEMENTS} of the "
        f"other pods on the {after.nodes} nodes"
    )
    return Refusal(Reason.INSUFFICIENT_NODES, detail, "room depends on how pods are arranged")


def _taken(shape: PodShape) -> str:
    parts = [_claimed(shape)] if shape.devices else []
    parts += [text for text in (_resources(shape.cpu_millis, shape.memory_bytes),) if text]
    return " + ".join(parts)


def _claimed(shape: PodShape) -> str:
    """Return the devices of a pod in words, with what it takes of those that pods share."""
    said = []
    for device, count in shape.devices:
        taken = [(name, one) for name, one in shape.consumed if one and name.startswith(f"{device}/")]
        parts = " and ".join(f"{name.removeprefix(f'{device}/')} {_shared(one)}" for name, one in taken)
        said.append(f"{count} {device} ({parts})" if parts else f"{count} {device}")
    return " + ".join(said)


def scattered(role: Pods, shape: PodShape, room: int) -> Refusal:
    """Return that the pods would fit if others stood closer; `room` of them have room on the nodes as they are."""
    detail = (
        f"want {_counted(role.pods, ('pod', 'pods'))} x {_taken(shape)}, has room for {room}; "
        "what else is free lies beside pods that are not moved"
    )
    return Refusal(Reason.INSUFFICIENT_NODES, detail, "what is free lies beside pods that are not moved")


def _devices_detail(trial: Trial, role: Pods, answer: Answer) -> str:
    state, shape, after = trial.before, trial.shape, trial.after
    what = _claimed(shape) or "0 devices"
    if answer is Answer.UNDECIDED:
        return f"want {role.pods} pods x {what}; the search reached its limit before it found an answer"
    room = state.room(shape, _per_node(role))
    vector = state.dimensions.charge(shape)
    alone = any(2 * want > have for want, have in zip(vector, state.dimensions.capacity, strict=True))
    unit = ("node", "nodes") if alone or role.nodes_per_worker > 1 else ("pod", "pods")
    return f"want {_counted(role.pods, unit)} x {what}, has {_counted(room, unit)} x {what} free{_parts(after)}"


def _parts(after: Ledger) -> str:
    """Return what parts of physical devices lack, empty where the pool's devices are whole."""
    short = after.overdrawn()
    if short is not None:
        name, has, drawn = short
        nodes = _counted(after.nodes, ("node has", "nodes have"))
        return f" (its {nodes} {_shared(has)} of {name}, the pods would take {_shared(drawn)})"
    rules = after.dimensions.rules
    if rules is not None and rules.matter(item.vector for item in after.items):
        if any(item.vector[kind.axis] for kind in rules.shared for item in after.items):
            return " (the total is enough, but no device is sure to have that much left)"
        return " (the total is enough, but its physical devices cannot be partitioned that way)"
    return ""


def _shared(nano: int) -> str:
    whole = nano // 10**9
    return amount(whole) if whole % (1 << 20) == 0 else str(whole)


def _counted(number: int, unit: tuple[str, str]) -> str:
    return f"{number} {unit[0] if number == 1 else unit[1]}"


def _too_large(state: Ledger, shape: PodShape) -> Refusal | None:
    if state.dimensions.carries(shape):
        return None
    node = dict(zip(state.dimensions.names, state.dimensions.node, strict=True))
    if CPU in node and shape.cpu_millis > node[CPU]:
        wants, has = _resources(shape.cpu_millis, 0), _resources(node[CPU], 0)
        return Refusal(Reason.INSUFFICIENT_NODE_RESOURCES, f"a pod wants {wants}, a node has {has}", _RESOURCES)
    if MEMORY in node and shape.memory_bytes > node[MEMORY]:
        wants, has = _resources(0, shape.memory_bytes), _resources(0, node[MEMORY])
        return Refusal(Reason.INSUFFICIENT_NODE_RESOURCES, f"a pod wants {wants}, a node has {has}", _RESOURCES)
    return None


def _too_few_nodes(state: Ledger, role: Pods) -> Refusal | None:
    if role.nodes_per_worker <= state.nodes:
        return None
    detail = f"a worker spans {_counted(role.nodes_per_worker, ('node', 'nodes'))}, the pool has {state.nodes}"
    return Refusal(Reason.INSUFFICIENT_NODES, detail, _NODES)


def _per_node(role: Pods) -> int:
    return max(1, role.pods // max(1, role.nodes_per_worker))


def _resources(cpu_millis: int, memory_bytes: int) -> str:
    parts = []
    if cpu_millis:
        parts.append(f"cpu {cpu(cpu_millis)}")
    if memory_bytes:
        parts.append(f"memory {amount(memory_bytes)}")
    return " and ".join(parts)


def cpu(millis: int) -> str:
    """Return an amount of cpu, in cores if it is a whole number of them."""
    return f"{millis}m" if millis % 1000 else str(millis // 1000)


def amount(memory_bytes: int) -> str:
    """Return an amount of memory in the largest binary unit that shows it exactly."""
    for suffix, power in (("Ti", 40), ("Gi", 30), ("Mi", 20), ("Ki", 10)):
        if memory_bytes and memory_bytes % (1 << power) == 0:
            return f"{memory_bytes >> power}{suffix}"
    return str(memory_bytes)
