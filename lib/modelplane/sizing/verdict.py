"""The verdict whether a model that an engine is started with fits its devices.

A "no" is sure: the weights alone, or the weights and one request that the engine demands room for, are more than the
engine may use of a device. A "yes" includes the estimate of the engine's own memory. Between both the verdict is open.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from kubecel import caches
from modelplane.sizing import architecture, catalogue, fit, precision
from modelplane.sizing.fit import Fitting, Hardware, Load, Refusal, gib
from modelplane.sizing.need import Need
from modelplane.sizing.precision import Precision
from modelplane.topology.shape import Topology

SURE_PERCENT: Final = 99
"""The share of the computed weights that is sure: they are those of the published files within 1%."""
_HEADS = "num_attention_heads"
_WHOLE = 10_000
_SIXTEEN_BITS = ("bf16", "fp16")
_ELEMENT = 2
"""Bytes of an element of the cache where the engine does not choose fewer."""


@dataclass(frozen=True, slots=True)
class Start:
    """The model that an engine loads, and the limits that its arguments say.

    `repository` is one of the catalogue. `quantized` is the precision that the engine makes of weights of 16 bits, None
    as they are published. `context` is the longest request in tokens, None for that of the model. `element` is the
    bytes of an element of the cache, None where the model decides. `share` is the hundredths of a percent of a device
    that the engine may use, None where the engine decides, and `share_most` the most that it then takes. `lessens` and
    `adds` are the flags with an effect that is not counted.
    """

    repository: str
    quantized: str | None = None
    context: int | None = None
    element: int | None = None
    share: int | None = None
    share_most: int = _WHOLE
    lessens: tuple[str, ...] = ()
    adds: tuple[str, ...] = ()
    context_flag: str = ""
    """The flag that limits the context, empty where the engine starts without room for one request."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The answer whether a model fits its devices: `holds` is None where that is open.

    `missing` is the bytes that a device lacks, and `instead` the flag that would do without more devices.
    """

    reason: str
    message: str
    holds: bool | None = None
    missing: int = 0
    instead: str = ""


def judge(start: Start, topology: Topology, memory: int | None, *, is_shared: bool = False) -> Verdict | None:
    """Return the verdict on devices with so many bytes of memory each, None for a model that is not known.

    `is_shared` is true where other pods have a part of each device: what the engine then finds is not known.
    """
    made = _wanted(start)
    if made is None:
        return None
    if memory is None:
        return Verdict("MemoryUnknown", f"{_title(start, made)}: the class of its devices declares no memory")
    return _refused(start, made, topology, memory) or _held(start, made, topology, memory, is_shared=is_shared)


def suited(start: Start, hardware: Hardware) -> Fitting | None:
    """Return the smallest topology on equal devices in nodes that holds the model, None where none does."""
    made = _wanted(start)
    if made is None:
        return None
    found = fit.answers(made, Load(_context(start, made), 1), _of(start, hardware))
    return min((one for one in found if isinstance(one, Fitting)), key=fit.order, default=None)


def splits(start: Start, hardware: Hardware) -> list[Fitting]:
    """Return the topologies without data ranks that hold the model on equal devices in nodes, the smallest first."""
    made = _wanted(start)
    if made is None:
        return []
    found = fit.answers(made, Load(_context(start, made), 1), _of(start, hardware))
    return sorted((one for one in found if isinstance(one, Fitting) and one.topology.data == 1), key=fit.order)


def broken(start: Start, topology: Topology) -> str:
    """Return the demand of the engine on the topology that it breaks, empty for one that breaks none that is known."""
    made = _wanted(start)
    return "" if made is None else _broken(made, topology)


def weights(start: Start) -> int | None:
    """Return the bytes of all weights of a model, None for one that is not known."""
    made = _wanted(start)
    return None if made is None else sum(made.weights().values())


def sized(start: Start) -> str:
    """Return the model, its precision and its weights in words."""
    made = _wanted(start)
    return start.repository if made is None else f"{_title(start, made)} has {gib(weights(start) or 0)} GiB of weights"


@caches.kept(256)
def _need(repository: str, quantized: str | None, element: int) -> Need | None:
    """Return the need of a model, None for one that is not in the catalogue; every entry of it has a formula."""
    entry = catalogue.published(repository)
    if entry is None:
        return None
    model = architecture.read(entry.config)
    bits = precision.published(entry.config, model)
    return Need(model, _asked(bits, quantized), element)


def _asked(published: Precision, quantized: str | None) -> Precision:
    return published if quantized is None or published.name not in _SIXTEEN_BITS else precision.asked(quantized)


def _wanted(start: Start) -> Need | None:
    return _need(start.repository, start.quantized, start.element or _ELEMENT)


def _least(start: Start, made: Need) -> Need:
    """Return the need with the smallest cache that is possible: that of quantized and sparse models may have a byte."""
    is_plain = made.precision.name in _SIXTEEN_BITS and not any(layer.cache.is_sparse for layer in made.kinds)
    if is_plain or start.element is not None:
        return made
    return _need(start.repository, start.quantized, 1) or made


def _context(start: Start, made: Need) -> int:
    return made.model.context if start.context is None else start.context


def _title(start: Start, made: Need) -> str:
    return f"{start.repository} at {made.precision.name}"


def _of(start: Start, hardware: Hardware) -> Hardware:
    return hardware if start.share is None else Hardware(hardware.memory, hardware.count, hardware.is_part, start.share)


# --- the sure no ------------------------------------------------------------------------------------------------------


def _refused(start: Start, made: Need, topology: Topology, memory: int) -> Verdict | None:
    """Return that the model surely does not fit, or that only flags with an unknown effect can make it fit."""
    found = _divided(start, made, topology) or _too_large(start, made, topology, memory)
    if found is None or not start.lessens:
        return found
    said = f"{found.message}; {_flags(start.lessens)} may lessen that"
    return Verdict("FlagsNotCounted", said, missing=found.missing)


def _divided(start: Start, made: Need, topology: Topology) -> Verdict | None:
    rule = next((one for one in made.model.rules if one.field == _HEADS), None)
    reason = "" if rule is None else rule.refusal(topology.tensor, expert=False)
    return Verdict("HeadsNotDivisible", f"{_title(start, made)}: {reason}", holds=False) if reason else None


def _too_large(start: Start, made: Need, topology: Topology, memory: int) -> Verdict | None:
    if topology.pipeline > len(made.order):
        return None
    room = memory * (start.share_most if start.share is None else start.share) // _WHOLE
    tensor, least = topology.tensor, _least(start, made)
    context = _context(start, made) if start.context_flag else 0
    sizes = [
        (made.weights_on_rank(stage, topology), least.sequence(stage, tensor, context) if context else 0)
        for stage in made.stages(topology.pipeline)
    ]
    where = f"on a device with {_split(topology)}, and the engine may use {gib(room)} of its {gib(memory)} GiB"
    loaded = max(size for size, _ in sizes)
    if loaded * SURE_PERCENT // 100 > room:
        said = f"{_title(start, made)} puts {gib(loaded)} GiB of weights {where}"
        return Verdict("WeightsTooLarge", said, holds=False, missing=loaded - room)
    loaded, cached = max(sizes, key=sum)
    if loaded * SURE_PERCENT // 100 + cached <= room:
        return None
    taken = f"{gib(loaded)} GiB of weights and {gib(cached)} GiB of cache for one request of {context} tokens"
    said = f"{_title(start, made)} puts {taken} {where}"
    instead = _shorter(start, made, topology, memory)
    return Verdict("ContextTooLong", said, holds=False, missing=loaded + cached - room, instead=instead)


def _shorter(start: Start, made: Need, topology: Topology, memory: int) -> str:
    """Return the flag with the longest context that fits, empty where none does."""
    hardware = _of(start, Hardware(memory, 1))
    low, high = 0, _context(start, made)
    while low < high:
        middle = (low + high + 1) // 2
        if isinstance(fit.holding(made, Load(middle, 1), hardware, topology), Fitting):
            low = middle
        else:
            high = middle - 1
    return f"{start.context_flag}={low}" if low else ""


# --- the yes, and what is open ----------------------------------------------------------------------------------------


def _held(start: Start, made: Need, topology: Topology, memory: int, *, is_shared: bool) -> Verdict:
    title, context = _title(start, made), _context(start, made)
    deeper = _deeper(made, topology)
    if deeper:
        return Verdict("NotComputed", f"{title}: {deeper}")
    found = fit.holding(made, Load(context, 1), _of(start, Hardware(memory, 1)), topology)
    if isinstance(found, Refusal):
        return Verdict("Tight", f"{title} {found.reason}: it may not start", missing=found.missing)
    said = (
        f"{title} takes {gib(found.weights)} GiB of weights, {gib(found.cache)} GiB of cache for one request of "
        f"{context} tokens and about {gib(found.reserve)} GiB of the engine on a device of {gib(memory)} GiB with "
        f"{_split(topology)}; {gib(found.free)} GiB are left for more requests"
    )
    demand = _broken(made, topology)
    if is_shared:
        return Verdict("DevicesShared", f"{said}; other pods have a part of the device")
    if demand:
        return Verdict("NotComputed", f"{said}; {demand}")
    if start.adds:
        return Verdict("FlagsNotCounted", f"{said}; {_flags(start.adds)} may add to that")
    return Verdict("Fits", said, holds=True)


def _broken(made: Need, topology: Topology) -> str:
    """Return the demand of the engine on the topology that it breaks, empty where it breaks none."""
    rules = precision.rules(made.model, made.precision)
    said = (rule.refusal(topology.tensor, expert=topology.expert) for rule in rules)
    return _deeper(made, topology) or next(filter(None, said), "")


def _deeper(made: Need, topology: Topology) -> str:
    """Return that the pipeline has more stages than the model has layers, empty where it has not."""
    layers = len(made.order)
    return f"pipeline {topology.pipeline} exceeds its {layers} layers" if topology.pipeline > layers else ""


def _flags(flags: tuple[str, ...]) -> str:
    return " and ".join(flags[:3]) + (f" and {len(flags) - 3} more flags" if len(flags) > 3 else "")


def _split(topology: Topology) -> str:
    """Return the sizes of the topology in words."""
    words = [f"tensor {topology.tensor}", f"pipeline {topology.pipeline}"]
    words += [f"data {topology.data}"] if topology.data > 1 else []
    return " x ".join(words)
