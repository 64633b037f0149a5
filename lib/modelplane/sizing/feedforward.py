"""Parameters of the feed-forward part of a layer: dense, or a mixture of experts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from modelplane.sizing.fields import Fields, shown
from modelplane.sizing.model import Layer, Rule

_EXPERTS = ("n_routed_experts", "num_local_experts", "num_experts")
_PER_TOKEN = ("num_experts_per_tok", "top_k_experts", "experts_per_token")


def added(layer: Layer, fields: Fields, hidden: int, position: int) -> Layer:
    """Return the layer with its feed-forward part: three matrices of the width of the architecture's field."""
    experts = fields.size(*_EXPERTS, default=0, least=0)
    if not experts or not _has_experts(fields, position):
        return replace(layer, mlp=3 * hidden * _dense(fields))
    width = _expert(fields)
    biases = (2 * width + hidden) if fields.text("model_type") == "gpt_oss" else 0
    shared = _shared(fields, width)
    return replace(
        layer,
        expert=3 * hidden * width + biases,
        experts=experts,
        active=_active(fields, experts),
        shared=3 * hidden * shared,
        other=layer.other + experts * (hidden + 1) + (hidden if fields.has("shared_expert_intermediate_size") else 0),
    )


def beside_experts(layer: Layer, fields: Fields, hidden: int) -> Layer:
    """Return a layer with experts and a dense part that work side by side (Gemma 4)."""
    if not layer.experts:
        return layer
    return replace(layer, mlp=3 * hidden * fields.size("intermediate_size"), other=layer.other + 4 * hidden)


def ungated(layer: Layer, fields: Fields, hidden: int, *, is_dense: bool) -> Layer:
    """Return a layer of two matrices instead of three (Nemotron-H), whose experts may work in a narrower space."""
    if is_dense:
        return replace(layer, mlp=2 * hidden * fields.size("intermediate_size"))
    experts, width = fields.size(*_EXPERTS), fields.size("moe_intermediate_size")
    narrow = fields.size("moe_latent_size", default=0, least=0)
    shared = fields.size("moe_shared_expert_intermediate_size", default=0, least=0)
    return replace(
        layer,
        expert=2 * (narrow or hidden) * width,
        experts=experts,
        active=_active(fields, experts),
        shared=2 * hidden * shared * fields.size("n_shared_experts", default=1, least=0) + 2 * hidden * narrow,
        other=layer.other + experts * (hidden + 1),
    )


def widest(fields: Fields, hidden: int, layers: tuple[Layer, ...]) -> int:
    """Return the elements that one token takes in the widest feed-forward layer, and around it.

    Source: vLLM, fused_moe: the buffers of a token are as wide as its experts' way in or out, and their middle.
    """
    dense = _dense(fields) if any(layer.mlp for layer in layers) else 0
    found = 3 * dense
    if any(layer.experts for layer in layers):
        active = max(layer.active for layer in layers)
        width, space = _expert(fields), fields.size("moe_latent_size", default=0, least=0) or hidden
        found = max(found, active * (max(2 * width, space) + width))
    return found + 2 * hidden


def rules(fields: Fields, layers: tuple[Layer, ...]) -> Iterator[Rule]:
    """Yield the demands of the engine on the tensor size."""
    if any(layer.mlp for layer in layers):
        yield Rule(_dense_field(fields), _dense(fields))
    if any(layer.experts for layer in layers):
        yield Rule("the width of an expert", _expert(fields), of_experts=True)


def _active(fields: Fields, experts: int) -> int:
    active = fields.size(*_PER_TOKEN)
    if active > experts:
        raise fields.wrong(f"is {active}, more than the {experts} experts", next(filter(fields.has, _PER_TOKEN)))
    return active


def _dense_field(fields: Fields) -> str:
    return "intermediate_size_mlp" if fields.has("intermediate_size_mlp") else "intermediate_size"


def _dense(fields: Fields) -> int:
    return fields.size(_dense_field(fields))


def _expert(fields: Fields) -> int:
    return fields.size("moe_intermediate_size", "intermediate_size")


def _shared(fields: Fields, width: int) -> int:
    """Return the width of all shared experts together."""
    if fields.text("model_type") == "llama4_text":
        return width
    if fields.has("shared_expert_intermediate_size"):
        return fields.size("shared_expert_intermediate_size", least=0)
    return width * fields.size("n_shared_experts", default=0, least=0)


def _has_experts(fields: Fields, position: int) -> bool:
    """Return whether the layer has experts."""
    if position < fields.size("first_k_dense_replace", default=0, least=0):
        return False
    for name in ("mlp_layer_types", "moe_layer_freq"):
        if isinstance(fields.data.get(name), list):
            entries = fields.items(name) or []
            if position >= len(entries):
                raise fields.wrong(f"has {len(entries)} entries, fewer than layers", name)
            if entries[position] not in (0, 1, "dense", "sparse"):
                raise fields.wrong(f"must be 0, 1, dense or sparse, not {shown(entries[position])}", name, position)
            return entries[position] in (1, "sparse")
    if position in (fields.items("mlp_only_layers") or ()):
        return False
    if fields.has("moe_layer_freq") and not isinstance(fields.data["moe_layer_freq"], list):
        return position % fields.size("moe_layer_freq") == 0
    step = fields.size("decoder_sparse_step", "interleave_moe_layer_step", default=1)
    return (position + 1) % step == 0
