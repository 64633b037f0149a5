"""Parameters of a vision encoder, from the widths of `vision_config`."""

from __future__ import annotations

from modelplane.sizing.fields import LAYERS_MAX, Fields


def parameters(whole: Fields) -> int:
    """Return the parameters of the encoder and of what joins it to the model, 0 without one."""
    fields = whole.inner("vision_config")
    if fields is None:
        return 0
    hidden = fields.size("hidden_size", "vt_hidden_size")
    wide = fields.size("intermediate_size", "vt_intermediate_size")
    depth = fields.size("depth", "num_hidden_layers", "vt_num_hidden_layers", most=LAYERS_MAX)
    is_gated = fields.text("model_type") == "gemma4_vision"
    layer = 4 * hidden * (hidden + 1) + (3 if is_gated else 2) * hidden * wide + wide + 5 * hidden
    patch = fields.size("patch_size", default=16, most=4096)
    channels = fields.size("in_channels", default=3, most=4096) * fields.size("temporal_patch_size", default=1, most=64)
    positions = fields.size("num_position_embeddings", "position_embedding_size", default=0, least=0)
    joined = _joined(fields, hidden)
    return depth * layer + hidden * channels * patch * patch + positions * hidden + joined


def _joined(fields: Fields, hidden: int) -> int:
    """Return the parameters of the projections into the width of the text (Qwen), one for each level that is used."""
    out = fields.size("out_hidden_size", "text_hidden_size", default=0, least=0)
    merged = hidden * fields.size("spatial_merge_size", default=2, most=64) ** 2
    levels = 1 + len(fields.items("deepstack_visual_indexes") or ())
    return levels * (merged * (merged + 1) + out * (merged + 1)) if out else 0
