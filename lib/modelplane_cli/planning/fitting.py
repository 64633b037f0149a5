"""The answer of `fit`: a model from the catalogue or a file, and the hardware of documents or of well-known GPUs."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Context, Decimal
from typing import Any, TypeAlias

from modelplane.errors import InvalidInput, Unsupported
from modelplane.sizing import architecture, cache, catalogue, fit, need, precision
from modelplane.sizing.fields import CONTEXT_MAX, shown
from modelplane.sizing.fit import Fitting, Hardware, Load, Refusal
from modelplane.sizing.model import Cache, CacheKind, Model
from modelplane.sizing.need import Need
from modelplane.topology.shape import Topology
from modelplane_cli.planning.gpus import Offer

Json: TypeAlias = Any

_CONFIG = "config.json"
_QUANTIZATION = "hf_quant_config.json"
_BYTES_MAX = 16 * 2**20
_TOKENS = re.compile(r"([0-9]{1,10})([kKmM]?)")
_CENT = Decimal("0.0001")
_EXACT = Context(prec=80)
"""A price has at most 32 digits."""


@dataclass(frozen=True, slots=True)
class Question:
    """The arguments of the command as they were written."""

    model: str
    context: str | None = None
    concurrency: str | None = None
    precision: str | None = None
    cache: str = "bf16"


def answer(question: Question, offers: Sequence[Offer]) -> dict[str, Json]:
    """Return the answer about some devices as JSON.

    Raises: InvalidInput for a model or a load that is wrong, and for a model without a formula.
    """
    name, config, source = _model(question.model)
    try:
        model = architecture.read(config)
        bits = precision.published(config, model) if question.precision is None else precision.asked(question.precision)
    except (InvalidInput, Unsupported) as error:
        raise InvalidInput(f"{name if name.isprintable() else repr(name)}: {error}") from None
    load = _load(question, model)
    wanted = Need(model, bits, cache.element_bytes(question.cache))
    return {
        "model": _described(name, source, model, bits.name),
        "load": {"context": load.context, "concurrency": load.concurrency},
        "weights": _weights(wanted),
        "cache": _cache(wanted, load, question.cache),
        "classes": sorted((_class(wanted, load, offer) for offer in offers), key=_order),
    }


# --- the question -----------------------------------------------------------------------------------------------------


def _model(given: str) -> tuple[str, Mapping[str, Json], str]:
    """Return the name, the config.json and the source of a model."""
    if os.path.exists(given) or given.endswith(".json") or given.startswith((".", "/")):
        file = os.path.join(given, _CONFIG) if os.path.isdir(given) else given
        return file, _quantized(file, _read(file)), file
    entry = catalogue.find(given)
    return entry.name, entry.config, entry.source


def _read(file: str) -> Mapping[str, Json]:
    """Return the object of a file. Raises: InvalidInput with the file, and the line where it has one."""
    written = file if file.isprintable() else repr(file)
    if not os.path.isfile(file):
        raise InvalidInput(f"{written}: no such file")
    try:
        with open(file, "rb") as opened:
            raw = opened.read(_BYTES_MAX + 1)
    except OSError as error:
        raise InvalidInput(f"{written}: cannot be read: {error.strerror}") from None
    return _parsed(written, raw)


def _quantized(file: str, config: Mapping[str, Json]) -> Mapping[str, Json]:
    """Return the config.json with the quantization that stands in a file beside it, if it has none itself."""
    other = os.path.join(os.path.dirname(file), _QUANTIZATION)
    if not os.path.isfile(other) or config.get("quantization_config") is not None:
        return config
    try:
        return precision.beside(config, _read(other))
    except InvalidInput as error:
        said = str(error)
        raise InvalidInput(said if said.startswith(other) else f"{other}: {said}") from None


def _parsed(file: str, raw: bytes) -> Mapping[str, Json]:
    if len(raw) > _BYTES_MAX:
        raise InvalidInput(f"{file}: is larger than {_BYTES_MAX // 2**20} MiB, which no config.json is")
    try:
        found = json.loads(raw)
    except json.JSONDecodeError as error:
        raise InvalidInput(f"{file}:{error.lineno}: is not JSON: {error.msg}") from None
    except UnicodeDecodeError:
        raise InvalidInput(f"{file}: is not UTF-8 text") from None
    except ValueError:
        raise InvalidInput(f"{file}: has a number of more than 4300 digits") from None
    except RecursionError:
        raise InvalidInput(f"{file}: is nested too deeply") from None
    if not isinstance(found, dict):
        raise InvalidInput(f"{file}: must be an object with the fields of a config.json, not {shown(found)}")
    return found


def _load(question: Question, model: Model) -> Load:
    context = model.context if question.context is None else _tokens("--context", question.context, CONTEXT_MAX)
    if context > model.context:
        raise InvalidInput(f"--context {context} is more than the model's {model.context} tokens (its longest context)")
    requests = 1
    if question.concurrency is not None:
        requests = _tokens("--concurrency", question.concurrency, fit.CONCURRENCY_MAX)
    return Load(context, requests)


def _tokens(flag: str, text: str, most: int) -> int:
    found = _TOKENS.fullmatch(text)
    number = int(found[1]) * 1024 ** " km".index(found[2].lower() or " ") if found else 0
    if not 1 <= number <= most:
        raise InvalidInput(f"{flag} must be a whole number from 1 to {most}, such as 8192 or 32k, not {shown(text)}")
    return number


# --- the model --------------------------------------------------------------------------------------------------------


def _described(name: str, source: str, model: Model, bits: str) -> dict[str, Json]:
    parameters = model.parameters()
    return {
        "name": name,
        "source": source,
        "architecture": model.kind,
        "attention": model.attention,
        "parameters": sum(parameters.values()),
        "activeParameters": model.active,
        "layers": len(model.layers),
        "heads": model.heads,
        "kvHeads": model.kv_heads,
        "experts": model.experts,
        "context": model.context,
        "precision": bits,
        "notes": list(model.notes),
    }


def _weights(wanted: Need) -> dict[str, Json]:
    parameters = wanted.model.parameters()
    parts = [
        {
            "part": str(part),
            "parameters": parameters[part],
            "bitsPerParameter": _decimal(wanted.precision.bits(part), precision.GRAIN),
            "bytes": amount,
        }
        for part, amount in wanted.weights().items()
        if parameters[part]
    ]
    return {"bytes": sum(part["bytes"] for part in parts), "formula": "parameters x bits / 8", "parts": parts}


def _cache(wanted: Need, load: Load, name: str) -> dict[str, Json]:
    """Return the cache on one device that holds all layers."""
    (stage,) = wanted.stages(1)
    kinds = {place: wanted.kinds[place].cache for place, _ in stage.counts}
    counts: dict[Cache, int] = {}
    for place, count in stage.counts:
        counts[kinds[place]] = counts.get(kinds[place], 0) + count
    layers = [
        _layers(one, count, load, wanted.element) for one, count in counts.items() if one.kind is not CacheKind.NONE
    ]
    growing = (CacheKind.FULL, CacheKind.LATENT)
    request = wanted.sequence(stage, 1, load.context)
    return {
        "precision": name,
        "blockTokens": cache.BLOCK,
        "bytesPerToken": sum(
            count * cache.token_bytes(one, 1, wanted.element) for one, count in counts.items() if one.kind in growing
        ),
        "bytesPerRequest": request,
        "bytes": request * load.concurrency,
        "layers": layers,
    }


def _layers(one: Cache, count: int, load: Load, element: int) -> dict[str, Json]:
    return {
        "kind": str(one.kind),
        "layers": count,
        "window": one.window or None,
        "bytesPerToken": count * cache.token_bytes(one, 1, element),
        "bytesPerRequest": count * cache.sequence_bytes(one, load.context, 1, element),
        "formula": _formula(one, count, element),
    }


def _formula(one: Cache, count: int, element: int) -> str:
    if one.state is not None:
        state = one.state
        return (
            f"{count} layers x ({state.convolved} channels x {state.kernel - 1} x 2 bytes + {state.heads} heads x "
            f"{state.per_head} x {state.element_bytes} bytes) a request"
        )
    if one.kind is CacheKind.LATENT:
        index = f" + {one.beside} bytes of index" if one.beside else ""
        packed = f"{cache.token_bytes(one, 1, element) - one.beside} bytes packed"
        vector = packed if one.is_sparse and element == 1 else f"({one.key} + {one.value}) x {element} bytes"
        return f"{count} layers x ({vector}{index}) a token, on every device of a tensor group"
    until = {CacheKind.SLIDING: f", of the last {one.window}", CacheKind.CHUNKED: f", of a chunk of {one.window}"}
    size = f"{one.heads} heads x ({one.key} + {one.value}) x {element} bytes"
    return f"{count} layers x {size} a token{until.get(one.kind, '')}"


def _decimal(amount: int, unit: int) -> str:
    return f"{Decimal(amount) / Decimal(unit):.3f}".rstrip("0").rstrip(".")


# --- the classes ------------------------------------------------------------------------------------------------------


def _class(wanted: Need, load: Load, offer: Offer) -> dict[str, Json]:
    hardware = Hardware(offer.memory, offer.count, offer.is_part)
    found = list(fit.answers(wanted, load, hardware))
    holding = sorted((one for one in found if isinstance(one, Fitting)), key=fit.order)
    return {
        "name": offer.name,
        "device": offer.device,
        "devicesPerNode": offer.count,
        "memoryBytes": offer.memory,
        "usableBytes": need.usable(offer.memory),
        "currency": None if offer.price is None else offer.currency,
        "pools": [{"cluster": cluster, "pool": pool} for cluster, pool in offer.pools],
        "topologies": [_holding(one, offer) for one in holding],
        "refused": [
            {**_topology(one.topology), "reason": one.reason}
            for one in sorted((one for one in found if isinstance(one, Refusal)), key=_nearest)
        ],
    }


def _nearest(one: Refusal) -> tuple[bool, int]:
    """Return the sort key of refusals: those for want of memory first, and of these the nearest miss."""
    return (not one.missing, one.missing)


def _holding(one: Fitting, offer: Offer) -> dict[str, Json]:
    return {
        **_topology(one.topology),
        "weightsBytesPerDevice": one.weights,
        "cacheBytesPerDevice": one.cache,
        "engineBytesPerDevice": one.reserve,
        "freeBytesPerDevice": one.free,
        "maxContext": one.context_max,
        "maxConcurrency": one.concurrency_max,
        "costPerHour": _cost(one.topology, offer),
    }


def _cost(topology: Topology, offer: Offer) -> str | None:
    """Return the share of the nodes' price that the devices have."""
    if offer.price is None:
        return None
    cost = _EXACT.divide(_EXACT.multiply(Decimal(offer.price), Decimal(topology.devices)), Decimal(offer.count))
    return f"{cost.quantize(_CENT, context=_EXACT):f}"


def _topology(topology: Topology) -> dict[str, Json]:
    return {**topology.documented(), "devices": topology.devices, "nodes": topology.nodes}


def _order(one: Mapping[str, Json]) -> tuple[bool, bool, Decimal, int, str, str]:
    """Return the sort key: what holds it first, then by price, then by the memory of its smallest topology."""
    best = one["topologies"][0] if one["topologies"] else None
    cost = best["costPerHour"] if best else None
    memory = best["devices"] * one["memoryBytes"] if best else 0
    return (best is None, cost is None, Decimal(cost or 0), memory, one["name"], one["device"])
